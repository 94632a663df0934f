//! Permutations of the bits of a node's number. N is a power of two, b = log2 N. The transpose of a square grid needs no
//! power of two.

use super::fixed::Fixed;
use super::{Built, Entry, PatternContext, TO_ITSELF};
use crate::catalog::{Component, SpecError};
use crate::synthetic::expr::Call;

const DALLY: &str = "Dally and Towles, Principles and Practices of Interconnection Networks (2004), 3.2";
const DUATO: &str = "Duato, Yalamanchili, Ni, Interconnection Networks (2003), 9.2";

/// A pattern with fixed points, which are silent or send to themselves.
const fn entry(
    name: &'static str,
    aliases: &'static [&'static str],
    about: &'static str,
    source: &'static str,
    build: fn(&Call, PatternContext) -> Built,
) -> Entry {
    Entry { component: Component { name, about, parameters: &[TO_ITSELF], source }, aliases, build }
}

pub(super) static TRANSPOSE: Entry = entry(
    "transpose",
    &[],
    "on a square 2-D grid of any size (x,y) sends to (y,x); elsewhere bit j goes to bit (j + floor(b/2)) mod b, which is the \
     same on a square of a power of two of nodes",
    DALLY,
    |call, context| match square(context) {
        Some(side) => {
            let to_itself = context.sends_to_itself(call)?;
            Ok(Fixed::new(side * side, |i| i % side * side + i / side).sending(to_itself))
        }
        None => fixed(call, context, |i, b| rotate(i, b / 2, b)),
    },
);

/// It has no fixed points, and no parameter about them.
pub(super) static COMPLEMENT: Entry = Entry {
    component: Component { name: "complement", about: "inverts all bits", parameters: &[], source: DALLY },
    aliases: &["bitcomp", "bit-complement", "bit_complement"],
    build: |call, context| Ok(bits(call, context, |i, b| !i & mask(b))?),
};

pub(super) static BUTTERFLY: Entry =
    entry("butterfly", &[], "swaps the most and the least significant bit", DUATO, |call, context| {
        fixed(call, context, |i, b| {
            let (low, high) = (i & 1, i >> b.saturating_sub(1) & 1);
            // Exactly if the two end bits differ, both change.
            if low == high { i } else { i ^ 1 ^ (1 << (b - 1)) }
        })
    });

pub(super) static SHUFFLE: Entry = entry("shuffle", &[], "rotates the bits left by 1", DALLY, |call, context| {
    fixed(call, context, |i, b| rotate(i, 1, b))
});

/// INSEE calls it `inverse`.
pub(super) static REVERSAL: Entry = entry(
    "reversal",
    &["inverse", "bitrev", "bitreversal", "bit-reversal", "bit_reverse"],
    "reverses the order of the bits",
    DALLY,
    |call, context| fixed(call, context, |i, b| (0..b).fold(0, |reversed, j| reversed << 1 | i >> j & 1)),
);

/// The side of a square grid of two dimensions; `None` for other networks.
fn square(context: PatternContext) -> Option<u32> {
    match context.geometry.sizes() {
        &[x, y] if x == y => Some(x),
        _ => None,
    }
}

/// The b low bits.
const fn mask(b: u32) -> u32 {
    ((1u64 << b) - 1) as u32
}

/// The b low bits of `i`, rotated left by `by` <= b.
const fn rotate(i: u32, by: u32, b: u32) -> u32 {
    let wide = (i as u64) << by;
    (wide | wide >> b) as u32 & mask(b)
}

/// [`bits`] with fixed points.
fn fixed(call: &Call, context: PatternContext, destination: impl Fn(u32, u32) -> u32) -> Built {
    let to_itself = context.sends_to_itself(call)?;
    Ok(bits(call, context, destination)?.sending(to_itself))
}

/// Builds a pattern in which node i sends to `destination(i, b)`. The number of nodes must be a power of two.
fn bits(call: &Call, context: PatternContext, destination: impl Fn(u32, u32) -> u32) -> Result<Box<Fixed>, SpecError> {
    let nodes = context.nodes();
    if !nodes.is_power_of_two() {
        let (name, lower) = (call.name(), 1u64 << nodes.ilog2());
        return Err(call.refuse_all(
            &format!("`{name}` permutes the bits of a node's number and needs a power of two of nodes, not {nodes}"),
            format!("a network of {lower} or {} nodes, or a pattern for any number, such as `uniform`", lower * 2),
        ));
    }
    let b = nodes.ilog2();
    Ok(Fixed::new(nodes, |i| destination(i, b)))
}
