//! The division of switches into parts of equal work, as far as is known before the run.

use trgen::rng::{mix2, pick};

use crate::engine::Base;
use crate::rules::forwarding::Tables;
use crate::rules::frame::{Frame, NONE};
use crate::rules::wiring::Wiring;

/// What hosts, source and statistics do for a frame, in passages of a frame through a switch: measured in a tree of
/// three levels, where a frame passes 4.9 switches.
const WORK_OF_HOSTS: f64 = 2.6;

/// Number of destinations that are drawn, and of sources for each.
const DRAWS: u64 = 64;

/// By device: the part of a switch; the number of parts for a host. Parts are switches of consecutive numbers. The work
/// of a switch is the number of frames that pass it, if every host sends to all others as much. The first part is
/// smaller, or empty: its thread has the hosts too.
pub(super) fn sides(base: &mut Base, parts: usize) -> Vec<u32> {
    let Base { wiring, tables, .. } = base;
    let (frames, mut passages) = passages(wiring, tables);
    if passages.iter().all(|&passages| passages == 0) {
        passages.fill(1);
    }
    let of_switches = passages.iter().sum::<u64>() as f64;
    let of_hosts = WORK_OF_HOSTS * frames as f64;
    let first = ((of_switches + of_hosts) / parts as f64 - of_hosts).max(0.0);
    let span = (of_switches - first) / (parts - 1) as f64;
    let mut sides = vec![parts as u32; wiring.hosts];
    let mut before = 0.0;
    for passages in passages {
        let middle = before + 0.5 * passages as f64;
        let side = if middle < first { 0 } else { 1 + ((middle - first) / span) as u32 };
        sides.push(side.min(parts as u32 - 1));
        before += passages as f64;
    }
    sides
}

/// The number of frames drawn, and by switch how many of them pass it where switches know all addresses.
fn passages(wiring: &Wiring, tables: &mut Tables) -> (u64, Vec<u64>) {
    let (mut frames, mut passages) = (0, vec![0; wiring.switches]);
    for turn in 0..DRAWS {
        let destination = pick(mix2(0, turn), wiring.hosts as u32);
        let learnt = tables.learnt_of(wiring, destination as usize);
        for again in 0..DRAWS {
            let source = pick(mix2(1 + turn, again), wiring.hosts as u32);
            if source == destination {
                continue;
            }
            frames += 1;
            let mut switch = wiring.home(source as usize).0;
            // With dead links a path may be a loop.
            for _ in 0..wiring.switches {
                passages[switch] += 1;
                let port = match &learnt {
                    Some(ports) => Some(ports[switch]).filter(|&port| port != NONE),
                    None => {
                        let input = wiring.ports(wiring.hosts + switch).start;
                        let frame = Frame::between(source, destination);
                        tables.forward(wiring, input, &frame, true, 0, &mut Vec::new(), |_| 0)
                    }
                };
                let Some(link) = port.map(|port| &wiring.links[port as usize]).filter(|link| link.is_to_switch) else {
                    break;
                };
                switch = link.device as usize - wiring.hosts;
            }
        }
    }
    (frames, passages)
}

#[cfg(test)]
mod tests {
    use fsin_core::topology;

    use super::*;
    use crate::params::{Forwarding, Params};
    use crate::spread::Spread;

    fn base(spec: &str, forwarding: Forwarding) -> Base {
        let topology = topology::parse(spec, 2).unwrap();
        let spread = if forwarding == Forwarding::Static { Spread::ECMP } else { Spread::ONE };
        let params = Params { forwarding, spread, ..Params::default() };
        Base::new(crate::prepare(&*topology, &params).unwrap(), params)
    }

    /// By part, and hosts last: the number of devices.
    fn sizes(spec: &str, forwarding: Forwarding, parts: usize) -> Vec<usize> {
        let sides = sides(&mut base(spec, forwarding), parts);
        (0..=parts as u32).map(|part| sides.iter().filter(|&&side| side == part).count()).collect()
    }

    #[test]
    fn a_frame_passes_each_switch_of_its_path() {
        let expected = |hosts: usize, near: usize, far: f64| {
            // Of all destinations but the source, `near` others are at its switch; the rest is `far` switches away.
            let others = (hosts - 1) as f64;
            (near as f64 + (others - near as f64) * far) / others
        };
        for forwarding in [Forwarding::Static, Forwarding::Learning] {
            let Base { wiring, mut tables, .. } = base("fattree:4,2", forwarding);
            let (frames, passages) = passages(&wiring, &mut tables);
            let mean = passages.iter().sum::<u64>() as f64 / frames as f64;
            assert!((mean - expected(16, 3, 3.0)).abs() < 0.1, "{forwarding:?}: {mean}");
        }
    }

    #[test]
    fn the_thread_with_the_hosts_has_fewer_switches() {
        assert_eq!(sizes("star:8", Forwarding::Learning, 2), [0, 1, 8], "one switch");
        let [first, second, hosts] = sizes("fattree:8,3", Forwarding::Static, 2)[..] else { unreachable!() };
        assert!(0 < first && first < second && first + second == 192 && hosts == 512, "{first} {second} {hosts}");
        assert_eq!(sizes("fattree:8,3", Forwarding::Static, 4)[0], 0, "hosts are more than a quarter of the work");
    }
}
