//! Traffic by a measured communication matrix, and by stated rates.

use super::{Built, Entry, Pattern, PatternContext};
use crate::catalog::{Component, Parameter};
use crate::rng::Stream;
use crate::synthetic::alias::Alias;
use crate::synthetic::expr::Call;
use crate::synthetic::file::{Pairs, pairs};
use crate::units::NodeId;

pub(super) static MATRIX: Entry = Entry {
    component: Component {
        name: "matrix",
        about: "node i sends to node j with probability proportional to entry j of line i of a file of N lines of N \
                weights, or to the column weight, bytes or messages of a table source,destination,... (as trace-prep matrix \
                writes it); sums of lines play no part; what a node has for itself takes no network and is left out; a \
                node without others is silent",
        parameters: &[Parameter { name: "file", about: "path of the file", range: "a text file", default: "" }],
        source: "Vetter and Mueller, Communication Characteristics of Large-Scale Scientific Applications (2002)",
    },
    aliases: &[],
    build: matrix,
};

pub(super) static RATES: Entry = Entry {
    component: Component {
        name: "rates",
        about: "node i offers node j the load of line i, column j of a square matrix in a file, or of a table \
                source,destination,rate, in the unit of {load}, which has no meaning beside it",
        parameters: &[Parameter { name: "file", about: "path of the file", range: "a text file", default: "" }],
        source: "Dally, Towles, Principles and Practices of Interconnection Networks, 2004, section 3.2 (traffic matrix)",
    },
    aliases: &[],
    build: rates,
};

pub(super) static DEMANDS: Entry = Entry {
    component: Component {
        name: "demands",
        about: "the traffic that the file of the network states (SNDlib, TopoHub): each pair has its share of it, {load} is the \
                mean over the nodes that send, and {scale} a factor of the demands themselves",
        parameters: &[],
        source: "Orlowski et al., SNDlib 1.0: survivable network design library, Networks 55(3), 2010",
    },
    aliases: &[],
    build: demands,
};

/// Builds the pattern `demands`.
fn demands(call: &Call, context: PatternContext) -> Built {
    let Some(demands) = context.demands else {
        let remedy = "use a file of SNDlib or TopoHub as the network, graph:FILE, or state rates: rates(FILE)";
        return Err(call.refuse_all("the network has no demands of its own", remedy));
    };
    let sums: Vec<f64> = demands.iter().map(|row| row.iter().map(|(_, value)| value).sum()).collect();
    let total: f64 = sums.iter().sum();
    let senders = sums.iter().filter(|&&sum| sum > 0.0).count();
    let mut rows = Vec::with_capacity(demands.len());
    for row in demands {
        let kept: Vec<(u32, f64)> = row.iter().copied().filter(|&(_, value)| value > 0.0).collect();
        let values: Vec<f64> = kept.iter().map(|&(_, value)| value).collect();
        let choice = if values.is_empty() { None } else { Alias::new(&values) };
        rows.push(choice.map(|choice| Row { to: kept.iter().map(|&(to, _)| to).collect(), choice }));
    }
    let shares = sums.iter().map(|sum| if total > 0.0 { sum * senders as f64 / total } else { 0.0 }).collect();
    Ok(Box::new(Matrix { rows, rates: None, shares: Some(shares), remark: None }))
}

/// Builds the pattern `matrix`.
fn matrix(call: &Call, context: PatternContext) -> Built {
    let pairs = pairs(call, context, &["weight", "bytes", "messages"], "weight", None)?;
    let sums: Vec<f64> =
        pairs.of.iter().map(|row| row.iter().map(|(_, value)| value).sum()).filter(|&sum| sum > 0.0).collect();
    let (least, most) = sums.iter().fold((f64::MAX, 0.0_f64), |(least, most), &sum| (least.min(sum), most.max(sum)));
    let by = pairs.column.as_ref().map_or_else(String::new, |column| format!(" (column {column})"));
    let remark = (most > least * (1.0 + 1e-9)).then(|| {
        format!(
            "sums of lines of {}{by} are {least} to {most} and play no part: all nodes that send have the same load; \
             rates(FILE) states loads",
            pairs.file.shown()
        )
    });
    build(call, &pairs, remark, false)
}

/// Builds the pattern `rates`.
fn rates(call: &Call, context: PatternContext) -> Built {
    let pairs =
        pairs(call, context, &["rate"], "rate", Some("leave it out: what a node sends itself takes no network"))?;
    build(call, &pairs, None, true)
}

/// The pattern in which each node draws its destination by weights: by source, destinations with their weights. What a
/// node has for itself takes no network and is left out; a node without other destinations is silent.
///
/// # Errors
/// What is wrong: a destination that is no node, a weight that is negative or not finite, an infinite sum.
pub fn weighted(rows: Vec<Vec<(u32, f64)>>) -> Result<Box<dyn Pattern>, String> {
    by_weights(rows, false)
}

/// The same, of nodes that may be their own destinations.
pub(super) fn by_weights(rows: Vec<Vec<(u32, f64)>>, to_itself: bool) -> Result<Box<dyn Pattern>, String> {
    let nodes = rows.len();
    let mut built = Vec::with_capacity(nodes);
    for (source, mut row) in rows.into_iter().enumerate() {
        if let Some((to, _)) = row.iter().find(|&&(to, _)| to as usize >= nodes) {
            return Err(format!("node {source} sends to {to}, and there are nodes 0 to {}", nodes.saturating_sub(1)));
        }
        if let Some((to, weight)) = row.iter().find(|(_, weight)| !(*weight >= 0.0 && weight.is_finite())) {
            return Err(format!("node {source} sends to {to} with weight {weight}"));
        }
        row.retain(|&(to, weight)| weight > 0.0 && (to_itself || to as usize != source));
        if row.is_empty() {
            built.push(None);
            continue;
        }
        let (to, values): (Vec<u32>, Vec<f64>) = row.into_iter().unzip();
        let choice = Alias::new(&values).ok_or_else(|| format!("the sum of node {source} is not finite"))?;
        built.push(Some(Row { to, choice }));
    }
    Ok(Box::new(Matrix { rows: built, rates: None, shares: None, remark: None }))
}

/// Builds a pattern by weights of pairs.
fn build(call: &Call, pairs: &Pairs, remark: Option<String>, has_rates: bool) -> Built {
    let mut rows = Vec::with_capacity(pairs.of.len());
    for (source, row) in pairs.of.iter().enumerate() {
        let values: Vec<f64> = row.iter().map(|&(_, value)| value).collect();
        if values.is_empty() {
            rows.push(None);
            continue;
        }
        let Some(choice) = Alias::new(&values) else {
            let what = format!("the sum of node {source} is not finite");
            return Err(pairs.file.refuse(call, None, &what, "smaller numbers"));
        };
        rows.push(Some(Row { to: row.iter().map(|&(to, _)| to).collect(), choice }));
    }
    let rates = has_rates.then(|| pairs.of.iter().map(|row| row.iter().map(|(_, rate)| rate).sum()).collect());
    Ok(Box::new(Matrix { rows, rates, shares: None, remark }))
}

/// The patterns `matrix` and `rates`.
#[derive(Debug)]
struct Matrix {
    /// The destinations of each node; `None` for silent nodes.
    rows: Vec<Option<Row>>,
    /// By node: the load that it offers; `None` for `matrix`.
    rates: Option<Vec<f64>>,
    /// By node: its load, of the mean of those that send; `None` if all have the same.
    shares: Option<Vec<f64>>,
    remark: Option<String>,
}

/// The destinations of one node.
#[derive(Debug)]
struct Row {
    /// Destinations with a weight above 0.
    to: Vec<u32>,
    /// Draws an index in `to`.
    choice: Alias,
}

impl Pattern for Matrix {
    fn nodes(&self) -> usize {
        self.rows.len()
    }

    fn destination(&mut self, source: NodeId, rng: &mut Stream) -> Option<NodeId> {
        let row = self.rows[source.index()].as_ref()?;
        Some(NodeId(row.to[row.choice.draw(rng)]))
    }

    fn is_silent(&self, source: NodeId) -> bool {
        self.rows[source.index()].is_none()
    }

    fn rates(&self) -> Option<&[f64]> {
        self.rates.as_deref()
    }

    fn relative_loads(&self) -> Option<&[f64]> {
        self.shares.as_deref()
    }

    fn remark(&self) -> Option<&str> {
        self.remark.as_deref()
    }
}
