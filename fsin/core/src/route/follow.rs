//! Routes of a routing function, as a table.

use trgen::catalog::{ErrorKind, SpecError};
use trgen::phrase;
use trgen::rng::mix2;

use super::proof::Network as _;
use super::{ByKey, Choice, Draw, Function, Hop, Masks, Paths, RouteTable, Routers, RoutingFunction as _, Tier, Visit};

/// Label of the draw of one of several hops at a router, less the router's number. Routing functions have small labels.
const HOPS: u32 = super::LANE - 1;

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

/// The route of every pair of endpoints; none of a pair that the function knows no route for. Where the function draws
/// for each packet, or leaves it several hops, one draw for each pair, by `seed`. Hops that may take every channel have
/// none of their own in the table.
///
/// # Errors
/// A function whose packets weigh routes by the queues that they see, or have an escape channel; a route that comes to
/// a router again.
pub fn follow(
    routers: &Routers<'_>,
    function: &Function,
    choice: Choice,
    masks: &Masks,
    seed: u64,
) -> Result<Followed, SpecError> {
    let (mut paths, mut drawn) = (Paths::default(), 0);
    let adaptive = || {
        let what = "the routing chooses routes by the queues that packets see, so that no pair has one route";
        let remedy = phrase!["use another ", ["routing"], ", such as dor, static, minimal or updown"];
        SpecError::new(ErrorKind::Unsupported, what, remedy).of("routing")
    };
    if choice.is_at_first_router() || matches!(choice, Choice::Weighed | Choice::ByFlits) {
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
            if hops.is_empty() && at.here == first {
                break;
            }
            if hops.iter().any(|hop| hop.tier != Tier::Free) {
                return Err(adaptive());
            }
            let bound = hops.len().max(1) as u32;
            let drawn = if bound > 1 { draw.draw(HOPS - at.here as u32, bound) } else { 0 };
            let Some(&hop) = hops.get(drawn as usize) else { return Err(adaptive()) };
            let next = routers.next(at.here, hop.port as usize);
            passed.push(at.here);
            let Some(next) = next.filter(|next| !passed.contains(next)) else {
                let what = format!(
                    "the route from {} to {} is not simple: it comes to a router again",
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
