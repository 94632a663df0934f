//! The settings of an Ethernet, and the checks of their values.

use std::str::FromStr;
use std::sync::Arc;

use fsin_core::failures::Failures;
use fsin_core::interface::Interface;
use fsin_core::messages::Payload;
use fsin_core::route::RouteTable;
use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;

use crate::cc::{Control, Signal};
use crate::rules::frame::Frames;
use crate::rules::spray::balancer::{Balancing, Rule};
use crate::spread::Spread;
use crate::switch::Switch;
use crate::transport::{self, Connections, Row, Spraying, TRANSPORTS};

/// \[bytes\] What every data frame has around its data: preamble, header, LLC and check sequence.
const LEAST: u64 = 29;
/// \[bytes\] What a PAUSE frame has at least, and a permitted size of every frame.
const LEAST_FRAME: u64 = 30;

/// \[b/s\] Minimum and maximum data rate of a link.
pub const RATES: std::ops::RangeInclusive<u64> = 1_000..=10_000_000_000_000;

/// \[ps\] Longest propagation delay, and longest time of any other setting: an hour.
pub const MAX_TIME: u64 = 3_600 * SECOND;

/// \[frames\] Longest queue.
pub const MAX_QUEUE: u32 = 1 << 24;

/// \[ps\] Time-out of `roce` where links lose frames and none is set: a millisecond.
pub const RTO: u64 = 1_000_000_000;

/// \[ps\] A second.
const SECOND: u64 = 1_000_000_000_000;

/// When a switch begins to forward a frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Switching {
    /// After the last bit of the frame.
    StoreAndForward,
    /// After the header of the frame, if the next link is not faster than the one on which the frame arrives; else
    /// after its last bit.
    CutThrough,
}

/// Every kind of switching with its name.
pub const SWITCHING: [(&str, Switching); 2] =
    [("store-and-forward", Switching::StoreAndForward), ("cut-through", Switching::CutThrough)];

/// How a switch finds the port for a destination.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Forwarding {
    /// The switch learns ports from the sources of earlier frames. Frames to unknown destinations are flooded (IEEE
    /// 802.1D, 7.7 and 7.8).
    Learning,
    /// The switch has a table: the routes of the description of the network, or shortest paths.
    Static,
}

/// Every kind of forwarding with its name.
pub const FORWARDING: [(&str, Forwarding); 2] = [("learning", Forwarding::Learning), ("static", Forwarding::Static)];

/// What a host does about order, loss and acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Transport {
    /// The sender learns of the loss at once, and sends the frame again at once.
    Oracle,
    /// The sender learns of the loss at once. It sends the frame again at once the first time, and after a drawn time
    /// that doubles with each further loss (binary exponential backoff, IEEE 802.3, 4.2.3.2.5).
    Backoff,
    /// Nothing: the message is lost.
    None,
    /// A sliding window with acknowledgements, as TCP has (RFC 5681, RFC 6298, RFC 6582).
    Window,
    /// A connection for each message, whose frames are paced, and which goes back to a gap, as RoCE v2 has.
    Roce,
    /// A connection for each message, whose frames are sprayed over paths, with selective acknowledgements (Ultra
    /// Ethernet).
    Uec,
    /// A connection for each message, whose frames are sprayed over paths and pulled by the receiver (NDP).
    Ndp,
    /// A connection for each message, whose frames are sprayed over paths by the rules of a row from outside, which has
    /// this name.
    Own(&'static str),
}

impl Transport {
    /// Those of this crate.
    pub(crate) const STANDARD: [Self; 7] =
        [Self::Oracle, Self::Backoff, Self::None, Self::Window, Self::Roce, Self::Uec, Self::Ndp];

    /// The name of its row in the [table](crate::TRANSPORTS).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Oracle => "oracle",
            Self::Backoff => "backoff",
            Self::None => "none",
            Self::Window => "window",
            Self::Roce => "roce",
            Self::Uec => "uec",
            Self::Ndp => "ndp",
            Self::Own(name) => name,
        }
    }

    /// True if receivers acknowledge frames, by which senders learn of losses.
    #[must_use]
    pub const fn acknowledges(self) -> bool {
        match self {
            Self::Window | Self::Roce | Self::Uec | Self::Ndp | Self::Own(_) => true,
            Self::Oracle | Self::Backoff | Self::None => false,
        }
    }

    /// True if switches with queues of two levels mark frames unless a setting says how.
    pub(crate) const fn marks_usually(self) -> bool {
        matches!(self, Self::Uec | Self::Own(_))
    }

    /// True if frames of a message take any path and arrive in any order.
    #[must_use]
    pub const fn sprays(self) -> bool {
        matches!(self, Self::Uec | Self::Ndp | Self::Own(_))
    }
}

/// Limit of what a connection of the transport `roce` has sent and that is not acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum InFlight {
    /// None.
    None,
    /// The largest product of round trip and rate of any pair of hosts.
    Bdp,
    /// That, times the share that the rate of the connection has of its link's.
    BdpScaled,
}

/// Every limit with its name.
pub const IN_FLIGHT: [(&str, InFlight); 3] =
    [("none", InFlight::None), ("bdp", InFlight::Bdp), ("bdp-scaled", InFlight::BdpScaled)];

/// Which statistics are kept of each port.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PortStats {
    /// Nothing.
    None,
    /// The port's frames, losses, queue length and utilisation.
    Figures,
    /// As [`Figures`](Self::Figures), and for how long the queue had each length.
    Histogram,
}

/// Every kind of statistics of ports with its name.
pub const PORT_STATS: [(&str, PortStats); 3] =
    [("none", PortStats::None), ("figures", PortStats::Figures), ("histogram", PortStats::Histogram)];

/// The order in which a switch takes frames that arrive at the same instant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TieOrder {
    /// By the numbers of the ports.
    Port,
    /// By a hash of seed, switch, instant and port.
    Hash,
}

/// The value of a word in a table of names.
fn named<T: Copy>(family: &'static str, table: &[(&str, T)], word: &str) -> Result<T, SpecError> {
    let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
    let found = table.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    found.ok_or_else(|| SpecError::unknown(family, word, &names))
}

impl FromStr for Switching {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        named("switching", &SWITCHING, text)
    }
}

impl FromStr for Forwarding {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        named("forwarding", &FORWARDING, text)
    }
}

impl FromStr for Transport {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let name = text.split(':').next().unwrap_or(text);
        let found = TRANSPORTS.find(name).map(Row::transport);
        let found = found.ok_or_else(|| TRANSPORTS.unknown(name))?;
        if name != text {
            transport::Built::parse(text)?;
        }
        Ok(found)
    }
}

impl FromStr for InFlight {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        named("in-flight", &IN_FLIGHT, text)
    }
}

impl FromStr for PortStats {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        named("port-stats", &PORT_STATS, text)
    }
}

/// All settings of an Ethernet.
#[derive(Clone, PartialEq, Debug)]
pub struct Params {
    /// \[b/s\] Data rate of links for which the topology gives none.
    pub link_rate: u64,
    /// \[ps\] Propagation delay of links for which the topology gives none.
    pub propagation: u64,
    /// \[frames\] Longest queue of an output, without the frame in transmission; with [`pause`](Self::pause), most
    /// frames of an input in the switch.
    pub port_queue: u32,
    /// When frames are forwarded.
    pub switching: Switching,
    /// How ports are found.
    pub forwarding: Forwarding,
    /// Learning: true if loops are cut by a spanning tree. Without it, frames may circulate for ever.
    pub spanning_tree: bool,
    /// \[ps\] Learning: time after which an address is forgotten if no frame comes from it (IEEE 802.1D, table 7-5: 300
    /// s).
    pub ageing: u64,
    /// Static: which of several shortest paths a frame takes.
    pub spread: Spread,
    /// Static: the routes of a file, in place of shortest paths.
    pub routes: Option<Arc<RouteTable>>,
    /// Share of the frames that are damaged on a link: 0 or more, and less than 1.
    pub per: f64,
    /// What hosts do about order, loss and acknowledgement.
    pub transport: Transport,
    /// Of the transports that spray: their parameters.
    pub spraying: Spraying,
    /// What opens the connections of a [transport](Self::transport) from outside.
    pub connections: Option<Connections>,
    /// Of the transports that spray: how a sender chooses the entropy of a frame.
    pub balancing: Balancing,
    /// \[ps\] Latency of a switch: from route computation to the output queue.
    pub switch_latency: u64,
    /// How a connection finds its window and its rate; `None`: as the transport does if none is named (`newreno` of
    /// `window`, `none` of `roce`).
    pub control: Option<Control>,
    /// Roce: limit of what a connection has sent and that is not acknowledged.
    pub in_flight: InFlight,
    /// Frames to an acknowledgement: 1 or 2 with windows.
    pub ack_every: u32,
    /// \[ps\] Roce: least time between two marks of a connection that are returned; `None`: that of the congestion
    /// control, or 0.
    pub cnp_interval: Option<u64>,
    /// \[ps\] Roce: time without an acknowledgement after which a connection goes back; 0: never; `None`: never where
    /// links are lossless, else [`RTO`].
    pub rto: Option<u64>,
    /// True if acknowledgements travel in the class of control frames, and not in that of their data; `None`: with
    /// `roce` alone.
    pub acks_in_control: Option<bool>,
    /// What switches do with classes: order, marks, shared buffers, flow control by class.
    pub switch: Switch,
    /// True for link-level flow control of all classes (IEEE 802.3, annex 31B).
    pub pause: bool,
    /// \[frames\] When the switch holds this many frames of an input, it pauses the sender.
    pub xoff: u32,
    /// \[frames\] When the switch holds only this many frames of an input, the sender may continue; less than
    /// [`xoff`](Self::xoff).
    pub xon: u32,
    /// \[bytes\] Window: maximum data of a message in a segment.
    pub segment: u32,
    /// \[bytes\] Window: headers of each segment, without those of Ethernet (IPv4 20, TCP 20).
    pub segment_header: u32,
    /// \[bytes\] Window: size of an acknowledgement, without the overhead of Ethernet.
    pub ack_bytes: u32,
    /// \[bytes\] Window: largest window, that of the receiver.
    pub window: u64,
    /// \[segments\] Window: its size at the beginning, and after a time without sending (RFC 5681, 3.1).
    pub initial_window: u32,
    /// Window: number of duplicate acknowledgements that start a fast retransmit (RFC 5681, 3.2).
    pub dup_acks: u32,
    /// \[ps\] Window: time-out before a round trip has been measured (RFC 6298, 2.1).
    pub rto_initial: u64,
    /// \[ps\] Window: shortest time-out (RFC 6298, 2.4).
    pub rto_min: u64,
    /// \[ps\] Window: longest time-out (RFC 6298, 2.5).
    pub rto_max: u64,
    /// Window: true if a message is complete when all its segments are acknowledged, and not when they have arrived.
    pub is_acked: bool,
    /// Sizes of frames.
    pub frames: Frames,
    /// The order of frames that arrive at the same instant.
    pub ties: TieOrder,
    /// How a host shares its link among its messages; [`Interface::Serial`] with windows, whose connections send
    /// whenever their windows allow it.
    pub interface: Interface,
    /// Which statistics are kept of each port; no other result depends on it.
    pub port_stats: PortStats,
    /// Failures and repairs of links; times count in ps.
    pub failures: Failures,
    /// Seed of all draws.
    pub seed: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            link_rate: 1_000_000_000,
            propagation: 500_000,
            port_queue: 1_000,
            switching: Switching::StoreAndForward,
            forwarding: Forwarding::Learning,
            spanning_tree: true,
            ageing: 300 * SECOND,
            spread: Spread::ONE,
            routes: None,
            per: 0.0,
            transport: Transport::Oracle,
            spraying: Spraying::default(),
            connections: None,
            balancing: Balancing { rule: Rule::Mixed, paths: 64, draws: true },
            switch_latency: 0,
            control: None,
            in_flight: InFlight::None,
            ack_every: 1,
            cnp_interval: None,
            rto: None,
            acks_in_control: None,
            switch: Switch::default(),
            pause: false,
            xoff: 500,
            xon: 250,
            segment: Frames::THESIS.mtu - 40,
            segment_header: 40,
            ack_bytes: 40,
            window: 65_535,
            initial_window: 3,
            dup_acks: 3,
            rto_initial: SECOND,
            rto_min: SECOND,
            rto_max: 60 * SECOND,
            is_acked: false,
            frames: Frames::THESIS,
            ties: TieOrder::Port,
            interface: Interface::Serial,
            port_stats: PortStats::Figures,
            failures: Failures::default(),
            seed: 1,
        }
    }
}

impl Params {
    /// \[bytes\] Maximum data of a message in a frame.
    #[must_use]
    pub const fn payload(&self) -> u32 {
        match self.transport {
            Transport::Window => self.segment,
            _ => self.frames.mtu,
        }
    }

    /// \[ps\] Roce: least time between two marks of a connection that are returned.
    #[must_use]
    pub fn cnp_interval(&self) -> u64 {
        let of_control = self.control.as_ref().and_then(|control| control.built().cnp_interval);
        self.cnp_interval.or(of_control).unwrap_or(0)
    }

    /// \[ps\] Roce: time without an acknowledgement after which a connection goes back; `None` if there is none. By
    /// default there is one where frames can be lost: with PFC on all classes and headrooms that are not short, none
    /// is.
    pub(crate) fn rto(&self, is_short: bool) -> Option<u64> {
        let covers_all = match self.switch.pfc {
            Some(pfc) => self.switch.used & !pfc.classes == 0 && pfc.watchdog.is_none() && !is_short,
            None => self.can_pause(),
        };
        let is_lossless = covers_all && self.per == 0.0 && self.failures.is_empty();
        match self.rto {
            Some(0) => None,
            Some(rto) => Some(rto),
            None if is_lossless => None,
            None => Some(RTO),
        }
    }

    /// True if acknowledgements travel in the class of control frames.
    #[must_use]
    pub fn acks_in_control(&self) -> bool {
        self.acks_in_control.unwrap_or(self.transport == Transport::Roce || self.transport.sprays())
    }

    /// True if a congestion control needs a signal.
    #[must_use]
    pub fn needs(&self, signal: Signal) -> bool {
        self.control.as_ref().is_some_and(|control| control.needs(signal))
    }

    /// True if the largest product of round trip and rate is asked for.
    pub(crate) fn needs_reach(&self) -> bool {
        let control = self.control.as_ref().is_some_and(|control| control.built().needs_network);
        self.transport == Transport::Roce && (control || self.in_flight != InFlight::None)
    }

    /// Number of frames into which a message of `bytes` bytes is cut; a message of 0 bytes is one frame.
    #[must_use]
    pub const fn frames_of(&self, bytes: u64) -> u64 {
        Payload(self.payload()).packets_of(bytes)
    }

    /// \[frames\] Most frames that may still arrive from a link after the decision to pause the sender: the PAUSE frame
    /// waits for the longest frame and its gap, the sender ends the longest frame, the delay of the link passes twice,
    /// and all other frames are of the least size. `rate` is in b/s, `delay` in ps.
    #[must_use]
    pub(crate) fn headroom(&self, rate: u64, delay: u64) -> u64 {
        let Frames { pause, gap, .. } = self.frames;
        let bits = u64::from(8 * (2 * self.frames.longest() + pause) + 3 * gap);
        let bits = u128::from(bits) + (2 * u128::from(delay) * u128::from(rate)).div_ceil(u128::from(SECOND));
        let frame = u128::from(8 * self.frames.shortest() + gap);
        u64::try_from(bits.div_ceil(frame) + 1).unwrap_or(u64::MAX)
    }

    /// Refuses values out of range, and settings without effect. Checks that depend on the topology are made by
    /// [`check`](crate::check).
    ///
    /// # Errors
    /// The first value that cannot be used.
    pub fn check(&self) -> Result<(), SpecError> {
        let Frames { mtu, overhead, min, gap, ack, pause, .. } = self.frames;
        let most = u64::from(mtu);
        let ranges = [
            ("link-rate", self.link_rate, RATES),
            ("propagation", self.propagation, 0..=MAX_TIME),
            ("port-queue", self.port_queue.into(), 1..=MAX_QUEUE.into()),
            ("mtu", most, 1..=9_216),
            ("overhead", overhead.into(), LEAST..=1_024),
            ("min-frame", min.into(), LEAST_FRAME..=1_024),
            ("gap", gap.into(), 0..=8_192),
            ("ack-frame", ack.map_or(LEAST_FRAME, u64::from), LEAST_FRAME..=1_024),
            ("pause-bytes", pause.into(), LEAST_FRAME..=1_024),
            ("ageing", self.ageing, 1..=u64::MAX),
            ("xoff", self.xoff.into(), 1..=MAX_QUEUE.into()),
            ("xon", self.xon.into(), 0..=MAX_QUEUE.into()),
            ("segment", self.segment.into(), 1..=most),
            ("segment-header", self.segment_header.into(), 0..=most.saturating_sub(1)),
            ("ack-bytes", self.ack_bytes.into(), 0..=most),
            ("window", self.window, 1..=1 << 40),
            ("initial-window", self.initial_window.into(), 1..=1 << 20),
            ("dup-acks", self.dup_acks.into(), 1..=1 << 20),
            ("rto-initial", self.rto_initial, 1..=MAX_TIME),
            ("rto-min", self.rto_min, 1..=MAX_TIME),
            ("rto-max", self.rto_max, self.rto_min.max(self.rto_initial)..=MAX_TIME),
        ];
        for (key, value, range) in ranges {
            if !range.contains(&value) {
                return Err(SpecError::out_of_range(key, value, range));
            }
        }
        if !(0.0..1.0).contains(&self.per) {
            let what = phrase![["per" => self.per], " is out of range"];
            let remedy = "use 0 or more, and less than 1";
            return Err(SpecError::new(ErrorKind::OutOfRange, what, remedy).of("per").given(self.per));
        }
        if self.segment + self.segment_header > mtu {
            let what = phrase![["segment" => self.segment], " and ", ["segment-header" => self.segment_header], " do not fit in a frame"];
            let remedy = format!("use at most {mtu} bytes in all");
            return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("segment"));
        }
        if self.spread.is_several() && self.forwarding == Forwarding::Learning {
            let what = phrase![["spread" => self.spread.name()], ": switches that learn addresses know one path"];
            let remedy = phrase!["set ", ["forwarding" => "static"], ", or leave it out"];
            return Err(SpecError::new(ErrorKind::Meaningless, what, remedy).of("spread"));
        }
        if self.is_acked && !self.transport.acknowledges() {
            let what = phrase![["completion" => "acked"], ": ", ["transport" => self.transport.name()], " has no acknowledgements"];
            let remedy = phrase!["set ", ["transport" => transport::names(Transport::acknowledges).join(" or ")], ", or leave it out"];
            return Err(SpecError::new(ErrorKind::Meaningless, what, remedy).of("completion"));
        }
        let most = if self.transport == Transport::Window { 2 } else { 1 << 16 };
        if !(1..=most).contains(&self.ack_every) {
            return Err(SpecError::out_of_range("ack-every", u64::from(self.ack_every), 1..=most.into()));
        }
        for (key, value) in [("cnp-interval", self.cnp_interval), ("rto", self.rto)] {
            if value.is_some_and(|value| value > MAX_TIME) {
                return Err(SpecError::out_of_range(key, value.unwrap_or(0), 0..=MAX_TIME));
            }
        }
        if let Some(control) = &self.control {
            control.check(self.transport, self.has_marks())?;
        }
        let why = match self.interface {
            Interface::Serial => None,
            Interface::Interleaved(_) if !self.transport.acknowledges() => None,
            Interface::Interleaved(_) => {
                let name = self.transport.name();
                Some(phrase!["with ", ["transport" => name], " connections send whenever their windows allow it"])
            }
            Interface::PerPort => Some(phrase!["hosts have one link"]),
        };
        if let Some(why) = why {
            let what = phrase![["interface" => self.interface], ": ", why];
            let remedy = phrase!["use ", ["interface" => "serial"]];
            return Err(SpecError::new(ErrorKind::Meaningless, what, remedy).of("interface").given(self.interface));
        }
        if self.routes.is_some() && self.forwarding == Forwarding::Learning {
            let what = phrase![["routes"], ": switches that learn addresses take no routes from a file"];
            return Err(
                SpecError::new(ErrorKind::Conflict, what, phrase!["set ", ["forwarding" => "static"]]).of("routes")
            );
        }
        if self.routes.is_some() && self.spread.is_several() {
            let what =
                phrase![["spread" => self.spread.name()], " spreads shortest paths, and ", ["routes"], " gives others"];
            return Err(SpecError::new(ErrorKind::Conflict, what, "leave out one of them").of("spread"));
        }
        if self.pause && self.xon >= self.xoff {
            let what = phrase![["xon" => self.xon], " is not below ", ["xoff" => self.xoff]];
            return Err(SpecError::new(ErrorKind::Conflict, what, "use a smaller one").of("xon"));
        }
        self.check_spraying()?;
        self.check_switch()
    }

    /// True if one thread simulates the network whatever `threads` says: choices and marks depend on the present
    /// lengths of queues, which other threads would not have computed yet.
    #[must_use]
    pub fn is_of_one_thread(&self) -> bool {
        self.switch.trim.is_some() || self.spread.kept().is_some()
    }

    /// True if switches mark frames: by a setting, or as the transport needs.
    #[must_use]
    pub fn has_marks(&self) -> bool {
        self.switch.marking.is_some() || self.transport.marks_usually() && self.switch.trim.is_some()
    }

    /// True if ports to hosts mark frames.
    #[must_use]
    pub fn marks_at_hosts(&self) -> bool {
        let (_, has_credits) = self.congestion_of_uec();
        self.switch.marks_at_hosts.unwrap_or(self.transport != Transport::Uec || !has_credits)
    }

    /// Of the transport `uec`: whether the sender has a window, and whether the receiver gives credits.
    #[must_use]
    pub fn congestion_of_uec(&self) -> (bool, bool) {
        let of = self.control.as_ref().and_then(|control| control.built().of_uec);
        of.map_or((true, false), |of| (of.has_window, of.has_credits))
    }

    /// Binary logarithm of the share of the window below which NSCC adapts quickly.
    pub(crate) fn qa_gate(&self) -> u32 {
        self.control.as_ref().and_then(|control| control.built().of_uec).map_or(3, |of| of.qa_gate)
    }

    /// True if the initial base round trip of a connection is that of its pair of hosts.
    pub(crate) const fn base_rtt_of_pairs(&self) -> bool {
        self.spraying.base_of_pairs
    }

    /// Checks the settings of transports that spray, and the settings of switches that they need.
    fn check_spraying(&self) -> Result<(), SpecError> {
        let name = self.transport.name();
        if self.switch_latency > MAX_TIME {
            return Err(SpecError::out_of_range("switch-latency", self.switch_latency, 0..=MAX_TIME));
        }
        if self.spread.reads_queues() && self.switch.trim.is_none() {
            let what =
                phrase![["spread" => self.spread.name()], " grades queues by their room in bytes, and these have none"];
            let remedy = phrase!["set ", ["trim" => "coin"], ", or use ", ["spread" => "ecmp"]];
            return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("spread"));
        }
        let trims = self.switch.trim.is_some_and(|trim| trim.mode.trims());
        if !self.transport.sprays() {
            if !trims {
                return Ok(());
            }
            let what = phrase![["trim"], ": ", ["transport" => name], " makes nothing of what is left of a frame"];
            let remedy = phrase!["set ", ["transport" => transport::names(Transport::sprays).join(" or ")], ", or use ", ["trim" => "off"]];
            return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("trim"));
        }
        if self.transport == Transport::Ndp && !trims {
            let what = phrase![["transport" => name], ": a lost frame is sent again when its header arrives, and no switch trims"];
            let remedy = phrase!["set ", ["trim" => "coin"], ", and leave out ", ["buffer"]];
            return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("transport"));
        }
        if self.forwarding == Forwarding::Learning {
            let what = phrase![["transport" => name], " spreads frames over paths, and switches that learn addresses know one"];
            let remedy = phrase!["set ", ["forwarding" => "static"]];
            return Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("transport"));
        }
        if self.acks_in_control == Some(false) {
            let what = phrase![["ack-class" => "data"], ": ", ["transport" => name], " sends what is no data in the class of control"];
            return Err(SpecError::new(ErrorKind::Meaningless, what, "leave it out").of("ack-class"));
        }
        Ok(())
    }

    /// Checks the length \[frames\] of a port's queue that the topology gives.
    pub(crate) fn check_room(&self, room: u32) -> Result<(), SpecError> {
        if self.pause {
            let what = phrase![("a link with queue={room}, and "), ["pause"], ": an output drops nothing then"];
            let remedy = phrase!["leave out queue= of links, and set ", ["port-queue"], ", the room of each input"];
            return Err(SpecError::new(ErrorKind::Meaningless, what, remedy).of("topology"));
        }
        if self.switch.buffer.is_some() {
            let what = phrase![("a link with queue={room}, and "), ["buffer"], ": ports share what a switch has"];
            return Err(SpecError::new(ErrorKind::Meaningless, what, "leave out queue= of links").of("topology"));
        }
        if !(1..=MAX_QUEUE).contains(&room) {
            let what = format!("a link has queue={room}");
            return Err(SpecError::new(ErrorKind::OutOfRange, what, format!("use 1 to {MAX_QUEUE}")).of("topology"));
        }
        Ok(())
    }

    /// With flow control, checks that an input has room for all frames that may arrive. `rate` is in b/s, `delay` in
    /// ps.
    pub(crate) fn check_headroom(&self, rate: u64, delay: u64) -> Result<(), SpecError> {
        let needed = u64::from(self.xoff).saturating_add(self.headroom(rate, delay));
        if !self.pause || u64::from(self.port_queue) >= needed {
            return Ok(());
        }
        let what = phrase![
            ["port-queue" => self.port_queue],
            " is too short for ",
            ["pause"],
            (": beyond "),
            ["xoff" => self.xoff],
            (" a link of {rate} b/s and {delay} ps may bring {} frames more", needed - u64::from(self.xoff))
        ];
        let remedy = phrase!["use ", ["port-queue" => needed], " or more, or a smaller ", ["xoff"]];
        Err(SpecError::new(ErrorKind::Conflict, what, remedy).of("port-queue"))
    }
}
