//! Port numbers for networks of switches.
//!
//! A packet that leaves through a port arrives in the queues of the same port number at the other end: routers rely on
//! it. In a grid this holds by itself. In any other network the directed links must be numbered such that no two that
//! leave a node, and no two that enter a node, have the same number. With as many numbers as the maximum degree this is
//! always possible (König, Über Graphen und ihre Anwendung auf Determinantentheorie und Mengenlehre, Math. Ann. 77,
//! 1916): it is an edge colouring of the bipartite graph of senders and receivers.
//!
//! Decision: docs/decisions/0036-port-numbers.md.

/// No arc.
const NONE: u32 = u32::MAX;

/// A number below `ports` for each of these directed links between `nodes` nodes, whose in-degree and out-degree must
/// not exceed `ports`.
pub(super) fn colours(nodes: usize, ports: usize, arcs: &[(u32, u32)]) -> Vec<u32> {
    // By node and number: the arc with that number that leaves the node, and the one that enters it.
    let mut leaving = vec![NONE; nodes * ports];
    let mut entering = vec![NONE; nodes * ports];
    let mut colours = vec![0u32; arcs.len()];
    for (arc, &(from, to)) in arcs.iter().enumerate() {
        let free = |table: &[u32], node: u32| {
            let row = &table[node as usize * ports..][..ports];
            row.iter().position(|&used| used == NONE).expect("no node has more links than there are numbers")
        };
        let both = (0..ports).find(|&colour| {
            leaving[from as usize * ports + colour] == NONE && entering[to as usize * ports + colour] == NONE
        });
        let colour = both.unwrap_or_else(|| {
            let (at_sender, at_receiver) = (free(&leaving, from), free(&entering, to));
            // Arcs of these two numbers form paths. The one that enters `to` does not reach `from`: swap its numbers.
            let mut path = Vec::new();
            let mut next = entering[to as usize * ports + at_sender];
            while next != NONE {
                path.push(next);
                let (sender, receiver) = arcs[next as usize];
                next = match path.len() % 2 {
                    1 => leaving[sender as usize * ports + at_receiver],
                    _ => entering[receiver as usize * ports + at_sender],
                };
            }
            for (table, end) in [(&mut leaving, false), (&mut entering, true)] {
                for (arc, colour) in path.iter().flat_map(|&arc| [(arc, at_sender), (arc, at_receiver)]) {
                    let (sender, receiver) = arcs[arc as usize];
                    let node = if end { receiver } else { sender };
                    let place = &mut table[node as usize * ports + colour];
                    if *place == arc {
                        *place = NONE;
                    }
                }
            }
            for &arc in &path {
                let colour = &mut colours[arc as usize];
                *colour = if *colour as usize == at_sender { at_receiver } else { at_sender } as u32;
                let (sender, receiver) = arcs[arc as usize];
                leaving[sender as usize * ports + *colour as usize] = arc;
                entering[receiver as usize * ports + *colour as usize] = arc;
            }
            at_sender
        });
        colours[arc] = colour as u32;
        leaving[from as usize * ports + colour] = arc as u32;
        entering[to as usize * ports + colour] = arc as u32;
    }
    colours
}

#[cfg(test)]
mod tests {
    use super::*;
    use trgen::rng::{mix2, pick};

    #[test]
    fn no_two_links_of_a_node_share_a_number() {
        for seed in 0..200u64 {
            let nodes = 2 + pick(mix2(seed, 1), 30);
            let mut arcs = Vec::new();
            for link in 0..u64::from(pick(mix2(seed, 2), 150)) {
                let (a, b) = (pick(mix2(seed, 2 * link + 7), nodes), pick(mix2(seed, 2 * link + 8), nodes));
                if a != b {
                    arcs.extend([(a, b), (b, a)]);
                }
            }
            let ports = (0..nodes).map(|node| arcs.iter().filter(|&&(from, _)| from == node).count()).max().unwrap();
            let colours = colours(nodes as usize, ports, &arcs);
            for (one, (arc, colour)) in arcs.iter().zip(&colours).enumerate() {
                assert!((*colour as usize) < ports);
                for (other, more) in arcs.iter().zip(&colours).skip(one + 1) {
                    assert!(colour != more || (arc.0 != other.0 && arc.1 != other.1), "{arc:?} {other:?}");
                }
            }
        }
    }
}
