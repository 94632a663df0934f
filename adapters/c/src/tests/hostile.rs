//! Random sequences of calls, most of them wrong: an error each, and never a crash.

use super::*;

/// Numbers that repeat from run to run.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        // xorshift64.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    /// Mostly small, at times at the end of the range.
    fn number(&mut self, bound: u64) -> u64 {
        match self.below(20) {
            0 => u64::MAX - self.below(3),
            1 => (1 << self.below(64)) - 1,
            _ => self.below(bound),
        }
    }
}

const SETTINGS: &[&str] = &[
    "topology = \"torus:3x3\"",
    "network = \"wormhole\"\ntopology = \"mesh:3x3\"",
    "network = \"ethernet\"\ntopology = \"fattree:2,2\"",
    "network = \"flow\"\ntopology = \"torus:3x3\"",
    "network = \"constant-delay:delay=10ns\"\nnodes = 5",
    "network = \"zero\"\nnodes = 5",
    "network = \"loggops\"",
    "topology = \"torus:0\"",
    "load = 0.5",
    "seed = -1",
    "[network]",
    "\u{1}",
];

#[test]
fn sequences_of_calls_never_crash() {
    const SEQUENCES: u64 = 100_000;
    let mut draws = Draws(0x9e37_79b9_7f4a_7c15);
    let (mut served, mut refused, mut arrived) = (0u64, 0u64, 0u64);
    // Networks of earlier sequences, some of them closed.
    let mut networks = vec![0];
    for sequence in 0..SEQUENCES {
        if sequence % 100 == 0 {
            for network in networks.drain(1..) {
                fsin_close(network);
            }
        }
        if networks.len() < 4 {
            networks.push(open(SETTINGS[draws.below(SETTINGS.len() as u64) as usize]));
        }
        for _ in 0..=draws.below(4) {
            let network = match draws.below(10) {
                // Numbers that the networks of other tests do not reach.
                0 => 1 << 40 | draws.number(1000),
                _ => networks[draws.below(networks.len() as u64) as usize],
            };
            let node = |draws: &mut Draws| draws.number(9) as u32;
            let result = match draws.below(12) {
                0..4 => {
                    let (src, dst) = (node(&mut draws), node(&mut draws));
                    // The cost of a message follows its packets: those of the longest that are taken would take minutes.
                    let bytes = Some(draws.number(3000)).filter(|bytes| !(1 << 22..=1 << 40).contains(bytes));
                    let bytes = bytes.unwrap_or(1 << 22);
                    fsin_send(network, src, dst, bytes, draws.number(9), draws.number(9))
                }
                4 => fsin_schedule(network, draws.number(10_000_000), draws.number(9)),
                5..9 => {
                    // Little at a time: long messages would be simulated to their end.
                    let now = fsin_time(network);
                    let until = match draws.below(8) {
                        0 => now.wrapping_sub(1),
                        1 => draws.number(1_000_000),
                        2 => now.saturating_add(draws.below(200_000)),
                        _ => now.saturating_add(draws.below(20_000)),
                    };
                    let until = if until > now.saturating_add(1_000_000) { u64::MAX - 1 } else { until };
                    fsin_advance(network, until)
                }
                9 | 10 => {
                    // SAFETY: null is an error, and the other is the place of an event.
                    unsafe {
                        let mut event = std::mem::MaybeUninit::uninit();
                        let place = if draws.below(9) == 0 { std::ptr::null_mut() } else { event.as_mut_ptr() };
                        let polled = fsin_poll(network, place);
                        arrived += u64::from(polled == 1 && event.assume_init().kind == FSIN_DELIVERED);
                        polled
                    }
                }
                _ if draws.below(20) == 0 => fsin_close(network),
                _ => c_int::from(fsin_nodes(network) > 0) - 1,
            };
            if result == -1 {
                assert!(!error().is_empty());
                refused += 1;
            } else {
                served += 1;
            }
        }
    }
    assert!(served > SEQUENCES / 2 && refused > SEQUENCES / 4 && arrived > 1000, "{served}, {refused}, {arrived}");
}
