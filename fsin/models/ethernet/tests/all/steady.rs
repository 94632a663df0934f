//! Congestion controls with endless flows: means over time against those of other simulators, which are kept beside the
//! clone.

#![allow(clippy::print_stdout, reason = "what is compared, or skipped, is said aloud")]
#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::Mutex;

use crate::common::graph;
use crate::data_centre::{Row, rows};
use fsin_core::network::{Injected, Notices};
use fsin_ethernet::cc::{self, Acknowledged, Built, CongestionControl, Control, Signal};
use fsin_ethernet::switch::Switch;
use fsin_ethernet::{CONTROLS, Ethernet, Forwarding, Frames, Params, TieOrder, Transport, fast};
use trgen::catalog::Component;
use trgen::{Cycle, Message, NodeId};

/// \[ps\] A millisecond.
pub(crate) const MS: u64 = 1_000_000_000;

/// What is measured at the port of the receiver.
#[derive(Debug)]
pub(crate) struct Means {
    pub(crate) utilisation: f64,
    /// \[bytes\]
    pub(crate) queue: f64,
    pub(crate) marked: f64,
}

/// Sums up to an instant: \[ps\] time, busy time, \[bytes x ps\] queue, frames and marked frames.
fn sums(network: &mut dyn Ethernet, receiver: NodeId) -> [f64; 5] {
    network.settled();
    let details = network.details();
    let at = details
        .ports
        .iter()
        .position(|port| matches!(port.to.place, fsin_core::capture::Place::Host(node) if node == receiver));
    let (at, elapsed) = (at.unwrap(), details.elapsed as f64);
    let port = &details.ports[at];
    let class = details.by_class.as_ref().unwrap().ports[at].iter().find(|of| of.class == 0).unwrap();
    [elapsed, port.busy as f64, class.queue_mean * elapsed, port.frames as f64, class.marked as f64]
}

/// The means from one instant to another \[ps\], of `senders` endless flows that begin `apart` ps after each other.
pub(crate) fn means(params: &Params, senders: u64, apart: u64, (from, to): (u64, u64)) -> Means {
    let text: String = (0..=senders).map(|host| format!("H{host} -- S;\n")).collect();
    let topology = graph(&format!("graph {{\n{text}}}\n"));
    let receiver = NodeId::at(senders as usize);
    let mut network = fast::build(&*topology, params.clone(), 1).unwrap();
    let mut notices = Notices::default();
    let mut go = |network: &mut dyn Ethernet, until: u64| {
        while network.clock() < Cycle(until + 1) {
            network.advance(Cycle(until + 1), &mut notices).unwrap();
        }
    };
    for id in 0..senders {
        go(&mut *network, id * apart);
        let message = Message { id, source: NodeId(id as u32), destination: receiver, bytes: 1 << 40, class: 0 };
        assert_eq!(network.inject(message), Injected::Accepted);
    }
    go(&mut *network, from);
    let before = sums(&mut *network, receiver);
    go(&mut *network, to);
    let after = sums(&mut *network, receiver);
    let [time, busy, queue, frames, marked] = [0, 1, 2, 3, 4].map(|at| after[at] - before[at]);
    Means { utilisation: busy / time, queue: queue / time, marked: marked / frames }
}

/// A number of a row.
pub(crate) fn number(row: &Row, name: &str) -> f64 {
    row[name].parse().unwrap()
}

#[test]
fn dctcp_keeps_the_queues_of_other_simulators() {
    let Some(rows) = rows("dc-dctcp.csv") else { return };
    let mut wrong = Vec::new();
    for row in rows {
        let segment = 1_448;
        let frames = Frames { mtu: segment, overhead: 54, gap: 0, ack: Some(54), min: 54, ..Frames::TCP };
        let step = (number(&row, "threshold_frames") as u64 + 1) * 1_502;
        let params = Params {
            link_rate: 10_000_000_000,
            propagation: 25_000_000,
            transport: Transport::Window,
            control: Some(Control::parse(&format!("dctcp:reduction={}", row["reduction"])).unwrap()),
            ack_every: number(&row, "ack_every") as u32,
            forwarding: Forwarding::Static,
            ties: TieOrder::Hash,
            frames,
            segment,
            segment_header: 0,
            window: 1 << 40,
            initial_window: 10,
            switch: Switch { marking: Some(format!("step:{step}").parse().unwrap()), ..Switch::default() },
            ..Params::default()
        };
        let Means { utilisation, queue, marked } =
            means(&params, number(&row, "senders") as u64, 37_000_000, (40 * MS, 100 * MS));
        let queue = queue / 1_502.0 - 1.0;
        let of_row = ["queue_mean_frames", "marked_share", "utilisation"].map(|name| number(&row, name));
        println!("{row:?}: queue {queue:.3}, marked {marked:.4}, utilisation {utilisation:.5}");
        let is_own = row["source"] == "own";
        let (share, part) = if is_own { (0.03, 0.08) } else { (0.05, 0.10) };
        let is_near = (queue - of_row[0]).abs() <= (part * of_row[0]).max(0.5)
            && (marked - of_row[1]).abs() <= share
            && (utilisation - of_row[2]).abs() <= 0.022;
        if !is_near {
            let names = ["threshold_frames", "senders", "reduction", "source"];
            wrong.push(names.map(|name| row[name].clone()).join(" "));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// \[ps\] From when to when means of DCQCN are taken.
const DCQCN: (u64, u64) = (100 * MS, 400 * MS);

/// \[ps\] Alpha of all connections of [`OnPaper`], summed over the time of the means.
static ALPHA: Mutex<f64> = Mutex::new(0.0);

/// DCQCN with the settings of SIGCOMM 2015, written once more from the rules alone, which keeps what alpha was.
#[derive(Debug)]
struct OnPaper {
    line_rate: u64,
    rate: u64,
    target: u64,
    alpha: f64,
    /// Increases by time and by bytes since the last decrease, and \[bytes\] sent since the last one by bytes.
    stages: [u64; 2],
    counted: u64,
    /// \[ps\] Next update of alpha and next increase by time; `None` before the first notification.
    due: Option<[u64; 2]>,
    is_marked: bool,
    /// \[ps\] Since when alpha has been what it is.
    since: u64,
}

impl OnPaper {
    const INTERVAL: u64 = 55_000_000;
    const G: f64 = 1.0 / 256.0;
    const RECOVERY: u64 = 5;

    fn new(line_rate: u64) -> Self {
        let (rate, target) = (line_rate, line_rate);
        Self { line_rate, rate, target, alpha: 1.0, stages: [0; 2], counted: 0, due: None, is_marked: false, since: 0 }
    }

    fn keep(&mut self, now: u64) {
        let (from, to) = (self.since.clamp(DCQCN.0, DCQCN.1), now.clamp(DCQCN.0, DCQCN.1));
        *ALPHA.lock().unwrap() += self.alpha * (to - from) as f64;
        self.since = now;
    }

    /// Everything that was due before `now`.
    fn pass(&mut self, now: u64) {
        while let Some([alpha_at, increase_at]) = self.due
            && alpha_at.min(increase_at) < now
        {
            if alpha_at <= increase_at {
                self.keep(alpha_at);
                let marked = if std::mem::take(&mut self.is_marked) { Self::G } else { 0.0 };
                self.alpha = (1.0 - Self::G) * self.alpha + marked;
                self.due = Some([alpha_at + Self::INTERVAL, increase_at]);
            } else {
                self.due = Some([alpha_at, increase_at + Self::INTERVAL]);
                self.increase(0);
            }
        }
    }

    fn increase(&mut self, by: usize) {
        self.stages[by] += 1;
        let [most, least] = [self.stages[0].max(self.stages[1]), self.stages[0].min(self.stages[1])];
        self.target += match (most < Self::RECOVERY, least < Self::RECOVERY) {
            (true, _) => 0,
            (_, true) => 40_000_000,
            _ => 400_000_000 * (least - Self::RECOVERY + 1),
        };
        self.target = self.target.min(self.line_rate);
        self.rate = self.rate / 2 + self.target / 2;
    }
}

impl CongestionControl for OnPaper {
    fn rate(&mut self, now: u64) -> u64 {
        self.pass(now);
        self.rate
    }

    fn sent(&mut self, now: u64, wire_bytes: u32) {
        if self.due.is_none() {
            return;
        }
        self.pass(now);
        self.counted += u64::from(wire_bytes);
        while self.counted >= 10_000_000 {
            self.counted -= 10_000_000;
            self.increase(1);
        }
    }

    fn acknowledged(&mut self, of: &Acknowledged<'_>) {
        if !of.is_marked {
            return;
        }
        self.pass(of.now);
        let alpha_at = match self.due {
            Some([alpha_at, _]) => {
                self.is_marked = true;
                alpha_at
            }
            None => of.now + Self::INTERVAL,
        };
        self.target = self.rate;
        self.rate = ((self.rate as f64 * (1.0 - self.alpha / 2.0)) as u64).max(100_000_000);
        (self.stages, self.counted) = ([0; 2], 0);
        self.due = Some([alpha_at, of.now + Self::INTERVAL]);
    }

    fn changes_at(&self) -> Option<u64> {
        self.due.map(|[_, increase_at]| increase_at)
    }
}

static ON_PAPER: cc::Row = cc::Row {
    component: Component { name: "on-paper", about: "dcqcn once more", parameters: &[], source: "SIGCOMM 2015" },
    aliases: &[],
    transports: &["roce"],
    needs: &[Signal::Marks],
    build: |_| Ok(Built::new(|of| Box::new(OnPaper::new(of.line_rate)))),
};

/// The mean queue, and alpha over time and senders. A second machine, written from the rules alone, has the same queue
/// to the byte, and tells alpha.
#[test]
fn dcqcn_keeps_the_queues_of_another_simulator() {
    let Some(rows) = rows("dc-dcqcn-steady.csv") else { return };
    let all = CONTROLS.standard().iter().copied().chain([&ON_PAPER]).collect();
    CONTROLS.install(all).unwrap();
    for row in rows {
        let params = |control: &str| Params {
            link_rate: 40_000_000_000,
            propagation: 1_000_000,
            transport: Transport::Roce,
            control: Some(Control::parse(control).unwrap()),
            cnp_interval: Some(50_000_000),
            forwarding: Forwarding::Static,
            ties: TieOrder::Hash,
            frames: Frames::HPCC,
            segment: 1_000,
            segment_header: 0,
            port_queue: 100_000,
            switch: Switch { marking: Some("red:5kB:200kB:0.01".parse().unwrap()), ..Switch::default() },
            ..Params::default()
        };
        let senders = number(&row, "senders") as u64;
        let Means { utilisation, queue, marked } = means(&params("dcqcn:preset=sigcomm2015"), senders, 0, DCQCN);
        *ALPHA.lock().unwrap() = 0.0;
        let again = means(&params("on-paper"), senders, 0, DCQCN);
        let alpha = *ALPHA.lock().unwrap() / (DCQCN.1 - DCQCN.0) as f64 / senders as f64;
        println!("{row:?}: queue {queue:.0}, marked {marked:.5}, utilisation {utilisation:.5}, alpha {alpha:.4}");
        assert_eq!(again.queue, queue, "{row:?}");
        let of_row = number(&row, "queue_mean_bytes");
        assert!((queue - of_row).abs() <= 0.05 * of_row, "{row:?}: queue {queue}");
        assert!((alpha - number(&row, "alpha_mean")).abs() <= 0.01, "{row:?}: alpha {alpha}");
    }
}
