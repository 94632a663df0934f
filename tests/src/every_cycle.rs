//! Couples a source and a network one cycle at a time.
//!
//! The library's loop skips idle cycles; this one visits every cycle and shares no code with it. The results of both
//! must be equal.

use fsin::couple::Failure;
use fsin::network::{Injected, Network, Notices};
use trgen::{Next, Outbox, TrGen};

/// Couples them for `cycles` cycles; `look` receives the network and the notices at the end of each.
///
/// # Errors
/// When the network or the source fails.
pub fn every_cycle<N: Network>(
    source: &mut dyn TrGen,
    network: &mut N,
    cycles: u64,
    mut look: impl FnMut(&mut N, &Notices),
) -> Result<(), Failure> {
    let mut outbox = Outbox::new(network.nodes());
    let mut notices = Notices::default();
    for _ in 0..cycles {
        let now = network.clock();
        if matches!(source.next(), Next::At(cycle) if cycle <= now) {
            source.generate(now, &mut outbox)?;
        }
        outbox.offer(|message| network.inject(message) == Injected::Accepted);
        network.advance(now.next(), &mut notices)?;
        for message in &notices.sent {
            source.sent(now, message);
        }
        for delivery in &notices.delivered {
            source.delivered(now, delivery);
        }
        look(network, &notices);
    }
    Ok(())
}
