//! What was understood of a description: its format, what decided which nodes are hosts, what was left out, and the
//! traffic that stands beside the network.

use std::collections::BTreeMap;

/// What a reader understood of a file, for those who look at its network and at results on it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Understood {
    /// The format.
    pub format: &'static str,
    /// What says which nodes are hosts.
    pub hosts: String,
    /// Switches of the file, without interfaces of hosts with several links.
    pub switches: usize,
    /// \[links, both ways\] Of the file; parallel ones each.
    pub links: usize,
    /// Where units of rates and delays come from; empty if the file has none of them.
    pub units: Vec<String>,
    /// Words that say nothing of the network, with how often each stands.
    pub decoration: BTreeMap<String, usize>,
    /// What a reader of results should know: what was dropped, taken otherwise than written, or stands behind the end.
    pub notes: Vec<String>,
    /// Options of `graph:` that would read the file otherwise, each with what it does.
    pub options: Vec<String>,
    /// Traffic of the file.
    pub demands: Option<Demands>,
    /// By number of a node in its file, where a format numbers its nodes: its endpoint, `None` for a switch. Lists of
    /// flows for that format count in these numbers.
    pub numbers: Option<Vec<Option<u32>>>,
}

/// Traffic that a file of a network states.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Demands {
    /// Number of demands in the file, of which several may be of one pair.
    pub count: usize,
    /// Source and destination as endpoints, and the value; each pair once, in ascending order.
    pub pairs: Vec<(u32, u32, f64)>,
    /// \[b/s\] What a value of 1 stands for; `None` if the file has no unit.
    pub unit: Option<f64>,
}

impl Demands {
    /// The sum of all values.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.pairs.iter().map(|&(_, _, value)| value).sum()
    }
}

impl Understood {
    /// The notes that every result on this network carries: those on the reading, then one on decoration.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = self.notes.clone();
        remarks.extend(self.ignored());
        remarks
    }

    /// One sentence on all decoration; `None` if there is none.
    #[must_use]
    pub fn ignored(&self) -> Option<String> {
        /// Largest number of words that are named.
        const MOST: usize = 12;
        let words = self.decoration.iter().take(MOST).map(|(word, count)| format!("{word} ({count})"));
        let more = self.decoration.len().saturating_sub(MOST);
        let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
        (!self.decoration.is_empty()).then(|| {
            format!("says nothing of the network and is left out: {}{rest}", words.collect::<Vec<_>>().join(", "))
        })
    }
}
