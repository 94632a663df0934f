//! Permutations drawn from the seed before the run.

use super::fixed::Fixed;
use super::{Entry, TO_ITSELF};
use crate::catalog::Component;
use crate::rng::{Purpose, Stream, mix2, stream};
use crate::synthetic::draw::below;

pub(super) static RANDPERM: Entry = Entry {
    component: Component {
        name: "randperm",
        about: "a permutation of the nodes, drawn from the seed; its fixed points (one on average) are silent, or send to \
                themselves",
        parameters: &[TO_ITSELF],
        source: "BookSim 2, pattern randperm",
    },
    aliases: &[],
    build: |call, context| {
        let order = shuffled(context.nodes(), &mut setup(context.seed, "randperm"));
        Ok(Fixed::new(context.nodes(), |node| order[node as usize]).sending(context.sends_to_itself(call)?))
    },
};

pub(super) static BISECT: Entry = Entry {
    component: Component {
        name: "bisect",
        about: "the nodes in random pairs, drawn from the seed; partners send to each other; of an odd number one is silent",
        parameters: &[],
        source: "Hoefler, Schneider, Lumsdaine, Multistage Switches are not Crossbars (Cluster 2008), effective bisection",
    },
    aliases: &[],
    build: |_, context| {
        let nodes = context.nodes();
        let order = shuffled(nodes, &mut setup(context.seed, "bisect"));
        let mut partner: Vec<u32> = (0..nodes).collect();
        for pair in order.chunks_exact(2) {
            partner[pair[0] as usize] = pair[1];
            partner[pair[1] as usize] = pair[0];
        }
        Ok(Fixed::new(nodes, |node| partner[node as usize]))
    },
};

/// The stream of a network-wide choice. It depends on the name of the pattern, so that two patterns drawn for the same
/// run are independent.
pub(super) fn setup(seed: u64, name: &str) -> Stream {
    let key = name.bytes().fold(0, |key, byte| mix2(key, u64::from(byte)));
    stream(seed, key, Purpose::Setup)
}

/// 0 to `nodes`-1 in random order, every order equally likely.
pub(super) fn shuffled(nodes: u32, rng: &mut Stream) -> Vec<u32> {
    let mut order: Vec<u32> = (0..nodes).collect();
    for last in (1..nodes).rev() {
        order.swap(last as usize, below(last + 1, rng) as usize);
    }
    order
}
