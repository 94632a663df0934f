//! Congestion control of the original.

use trgen::NodeId;
use trgen::catalog::{ErrorKind, SpecError};

use super::{Known, Translation, last, located, number};
use fsin_core::topology::{Port, Survey, Topology};

impl Translation {
    /// `global_cc` and `update_period`.
    pub(super) fn control(&mut self, words: &[Known]) -> Result<(), SpecError> {
        let (percent, periods) = (last(words, "global_cc"), last(words, "update_period"));
        let Some(known) = percent else {
            let meaningless = || {
                SpecError::new(
                    ErrorKind::Meaningless,
                    "`update_period` has no meaning without `global_cc`",
                    "leave it out",
                )
            };
            return periods.map_or(Ok(()), |known| Err(located(known, &meaningless())));
        };
        let given = number(known)?;
        if given <= 0.0 || given > 100.0 {
            let what = format!("`global_cc={}` is no percentage above 0", known.word.value);
            return Err(located(
                known,
                &SpecError::new(ErrorKind::TooLarge, what, "use more than 0 up to 100, or leave it out: no control"),
            ));
        }
        let topology = self.network_of()?;
        let (factor, supposed) = counted(&*topology);
        let percent = (given * factor * 1e9).round() / 1e9;
        if percent > 100.0 {
            self.notes.push((None, format!(
                    "global_cc={given}: the original's limit, {percent} % of the capacity counted once, is never exceeded: it is \
                     the same as no control, and left out"
                ).into()));
            return Ok(());
        }
        self.present = Some(known.word.clone());
        self.set("global-cc", percent.to_string());
        if factor != 1.0 {
            let doubt =
                if supposed { "; how it counts such a network is not known, and is taken to be the same" } else { "" };
            self.note(
                "global-cc",
                format!(
                    "global_cc={given}: the original counts capacity {} times; {percent} % here is the same{doubt}",
                    rounded(factor)
                ),
            );
        }
        let Some(periods) = periods.filter(|periods| periods.word.value != "0") else { return Ok(()) };
        let count: u64 = periods.word.value.parse().map_err(|_| {
            let what = format!("`update_period` takes a number, not `{}`", periods.word.value);
            located(periods, &SpecError::new(ErrorKind::Malformed, what, "write update_period=1"))
        })?;
        let diameter = u64::from(Survey::of(&*topology).diameter);
        self.present = Some(periods.word.clone());
        self.set("global-cc-period", count.saturating_mul(diameter).to_string());
        self.note(
            "global-cc-period",
            format!("update_period={count}: counted in diameters, {diameter} hops; it is cycles here"),
        );
        Ok(())
    }
}

/// A factor rounded to two decimals, for notes.
fn rounded(factor: f64) -> f64 {
    (factor * 100.0).round() / 100.0
}

/// The factor by which the original overcounts the capacity, and whether that factor is only assumed. The original
/// multiplies nodes by ports by ways, although the number of ports already is dimensions times ways, and it treats the
/// border of a mesh like the middle.
fn counted(topology: &dyn Topology) -> (f64, bool) {
    let ports = topology.shape().ports();
    let leads = |node: usize, port: usize| topology.neighbour(NodeId::at(node), Port::at(port)).is_some();
    let links = if topology.is_vertex_transitive() {
        topology.nodes() * (0..ports).filter(|&port| leads(0, port)).count()
    } else {
        (0..topology.nodes()).map(|node| (0..ports).filter(|&port| leads(node, port)).count()).sum()
    };
    if topology.switched().is_some() || !topology.is_grid() && links != topology.nodes() * ports {
        return (2.0, true);
    }
    // A network of one node has no link.
    (((topology.nodes() * ports * topology.ways()) as f64) / (links.max(1) as f64), false)
}
