//! Routes of a routing function, as a table.

use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::rng::mix2;

use super::proof::Network as _;
use super::{ByKey, Choice, Draw, Function, Hop, Masks, Paths, RouteTable, Routers, RoutingFunction as _, Tier, Visit};

/// The routes of a routing function.
#[derive(Debug)]
pub struct Followed {
    /// The routes.
    pub table: RouteTable,
    /// Number of pairs whose packets have several routes by the routing, of which the table has one.
    pub drawn: u64,
}

/// Draws of a pair of endpoints, which are the same for all its packets.
struct OfPair {
    by_key: ByKey,
    has_drawn: bool,
}

impl Draw for OfPair {
    fn draw(&mut self, label: u32, bound: u32) -> u32 {
        self.has_drawn |= bound > 1;
        self.by_key.draw(label, bound)
    }
}

/// The route of every pair of endpoints. Where the function draws for each packet, one draw for each pair, by `seed`.
/// Hops that may
/// take every channel have none of their own in the table.
///
/// # Errors
/// A function that leaves a choice to the network model; a route that comes to a router again.
pub fn follow(
    routers: &Routers<'_>,
    function: &Function,
    choice: Choice,
    masks: &Masks,
    seed: u64,
) -> Result<Followed, SpecError> {
    let (mut paths, mut drawn) = (Paths::default(), 0);
    let adaptive = || {
        let what = "the routing leaves a choice to each packet on its way, so that it has no one route";
        let remedy = phrase!["use a deterministic ", ["routing"], ", such as dor, static or minimal"];
        SpecError::new(ErrorKind::Unsupported, what, remedy).of("routing")
    };
    if choice == Choice::AtFirstRouter {
        return Err(adaptive());
    }
    let endpoints = routers.endpoints();
    let mut hops: Vec<Hop> = Vec::new();
    let mut passed: Vec<usize> = Vec::new();
    for (source, destination) in (0..endpoints).flat_map(|source| (0..endpoints).map(move |to| (source, to))) {
        let (first, home) = (routers.entry(source), routers.home(destination));
        let key = mix2(mix2(seed, source as u64), destination as u64);
        let mut draw = OfPair { by_key: ByKey(key), has_drawn: false };
        let (source, destination) = (source as u32, destination as u32);
        let mut at = Visit { source, destination, first, here: first, home, phase: 0 };
        passed.clear();
        while at.here != home {
            hops.clear();
            match function.only(&at, &mut draw) {
                Some(hop) => hops.push(hop),
                None => function.hops(&at, &mut draw, |hop| hops.push(hop)),
            }
            let &[hop] = &*hops else { return Err(adaptive()) };
            let next = routers.next(at.here, hop.port.into());
            passed.push(at.here);
            let Some(next) = next.filter(|next| !passed.contains(next) && hop.tier == Tier::Free) else {
                let what = format!(
                    "the route from {} to {} is not simple: it comes to a router again, or has an escape channel",
                    routers.endpoint_name(source as usize),
                    routers.endpoint_name(destination as usize)
                );
                return Err(
                    SpecError::new(ErrorKind::Unsupported, what, phrase!["use another ", ["routing"]]).of("routing")
                );
            };
            let mask = masks.of(hop);
            paths.hop(hop.port, (mask != masks.all()).then_some(mask))?;
            at = Visit { here: next, phase: function.hop(&at, next, &mut draw), ..at };
        }
        drawn += u64::from(draw.has_drawn);
        paths.end();
    }
    Ok(Followed { table: paths.finish(routers), drawn })
}
