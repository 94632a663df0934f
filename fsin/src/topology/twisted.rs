//! Boxes of two or three dimensions that are more than tori: twisted tori, and the triangular torus of SpiNNaker.

use trgen::Geometry;
use trgen::catalog::Refusal;

use super::cayley::{Cayley, MAX_NODES, Step};
use super::{check_once, number};

const AXES: [&str; 3] = ["x", "y", "z"];

/// Sizes such as `8x4`.
fn sizes(spec: &str, words: &str, example: &str) -> Result<Geometry, Refusal> {
    let parsed: Vec<u32> = words.split('x').map(|word| number(spec, word, example)).collect::<Result<_, _>>()?;
    let geometry = Geometry::new(&parsed).filter(|geometry| geometry.nodes() <= MAX_NODES);
    geometry.filter(|_| parsed.iter().all(|size| (1..=32_767).contains(size))).ok_or_else(|| {
        Refusal::value(
            format!("the sizes in `{spec}` are out of range"),
            "every size is 1 to 32767, and all together 2^24 nodes",
        )
    })
}

/// Links both ways, or only in + direction.
fn check_ways(ways: usize) -> Result<(), Refusal> {
    if (1..=2).contains(&ways) {
        return Ok(());
    }
    Err(Refusal::value(format!("{ways} ways per dimension do not exist"), "use 1 or 2"))
}

/// Parses `16x8:8`, or `8x8x4:yx=4,zx=2`.
pub(super) fn parse(words: &str, ways: usize) -> Result<Cayley, Refusal> {
    const EXAMPLE: &str = "twisted:8x4:4";
    let spec = format!("twisted:{words}");
    let (before, skews) = words.split_once(':').unwrap_or((words, ""));
    let geometry = sizes(&spec, before, EXAMPLE)?;
    check_ways(ways)?;
    let n = geometry.sizes().len();
    if !(2..=3).contains(&n) {
        return Err(Refusal::value(
            format!("`{spec}` has {n} dimensions"),
            format!("use two or three, as in `{EXAMPLE}`"),
        ));
    }
    check_once(&spec, skews)?;
    let mut shifts = vec![vec![0i64; n]; n];
    for word in skews.split(',') {
        let (pair, skew) = word.split_once('=').unwrap_or(("yx", word));
        if n == 3 && !word.contains('=') {
            let what = format!("`{word}` in `{spec}` does not say which dimension shifts which");
            return Err(Refusal::value(what, format!("write yx={word} for x shifting when y wraps")));
        }
        let axis = |at: usize| AXES[..n].iter().position(|&axis| pair.get(at..=at) == Some(axis));
        let axes = (axis(0), axis(1), pair.len());
        let (Some(wrapping), Some(shifted), 2) = axes else {
            let what = format!("`{pair}` in `{spec}` does not name two dimensions");
            return Err(Refusal::value(what, format!("write yx=4 for x shifting by 4 when y wraps, or `{EXAMPLE}`")));
        };
        let skew = number(&spec, skew, EXAMPLE)?;
        let size = geometry.sizes()[shifted];
        if wrapping == shifted || skew > size {
            let what = format!("skew {word} in `{spec}` is out of range");
            return Err(Refusal::value(what, format!("use 0 to {size}, of a dimension other than the one that wraps")));
        }
        shifts[wrapping][shifted] = i64::from(skew % size);
    }
    let order = order(&shifts).ok_or_else(|| {
        let what = format!("in `{spec}` dimensions shift each other, so that their wraps have no order");
        Refusal::value(what, "leave out one of them: yx or xy, and no circle of three")
    })?;
    let unit = |dimension: usize| (0..n).map(|coordinate| i64::from(coordinate == dimension)).collect();
    let steps: Vec<Step> = (0..n).map(|dimension| Step { by: unit(dimension), is_across: false }).collect();
    Cayley::new(spec, geometry, (shifts, order), &steps, ways)
}

/// The coordinates, each before those that it shifts; `None` if they shift each other in a circle.
fn order(shifts: &[Vec<i64>]) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = Vec::new();
    while order.len() < shifts.len() {
        let free = |at: usize| (0..shifts.len()).all(|by| order.contains(&by) || shifts[by][at] == 0);
        let next = (0..shifts.len()).find(|&at| !order.contains(&at) && free(at))?;
        order.push(next);
    }
    Some(order)
}

/// Parses `12x12`: the triangular torus.
pub(super) fn spinnaker(words: &str, ways: usize) -> Result<Cayley, Refusal> {
    const EXAMPLE: &str = "spinnaker:12x12";
    let spec = format!("spinnaker:{words}");
    let geometry = sizes(&spec, words, EXAMPLE)?;
    check_ways(ways)?;
    if geometry.sizes().len() != 2 {
        return Err(Refusal::value(format!("`{spec}` has not two sizes"), format!("write it as in `{EXAMPLE}`")));
    }
    let steps = [[1, 0], [0, 1], [1, 1]].map(|by| Step { by: by.to_vec(), is_across: false });
    Cayley::new(spec, geometry, (vec![vec![0; 2]; 2], vec![0, 1]), &steps, ways)
}
