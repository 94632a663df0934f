//! Routing: which virtual channels a packet may ask for, by name.
//!
//! A routing is a pair `MANAGEMENT:MODE`: how deadlock is avoided, and how an output is asked for. The rules themselves
//! stand in [`crate::router::request`].

use trgen::catalog::{Component, Refusal};

mod dor;

pub use dor::Order;

/// How a head asks for an output virtual channel, under bubble flow control.
///
/// Virtual channel 0 is the **escape** channel, in dimension order; the others are adaptive (except in oblivious mode,
/// where every channel is in dimension order).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Routing {
    /// Dimension order; the channel is drawn at injection and at every turn, and kept while going straight.
    BubbleOblivious,
    /// Any profitable adaptive channel that passes, drawn; else escape.
    BubbleRandom,
    /// The profitable adaptive channel with most space at the neighbour; else escape.
    BubbleShortest,
    /// Straight ahead in the same adaptive channel; else the next profitable dimensions in turn; else escape.
    BubbleSmart,
}

const PUENTE: &str = "Puente, Izu, Beivide et al., The adaptive bubble router, JPDC 61(9), 2001";

/// Every routing that `--routing` knows.
pub const ROUTINGS: &[Component] = &[
    Component {
        name: "bubble:oblivious",
        about: "dimension order; virtual channel drawn at injection and at every turn; bubble on every channel; V >= 1",
        parameters: &[],
        source: PUENTE,
    },
    Component {
        name: "bubble:random",
        about: "minimal adaptive on channels 1..V-1, drawn among those that pass; escape channel 0 with bubble; V >= 2",
        parameters: &[],
        source: PUENTE,
    },
    Component {
        name: "bubble:shortest",
        about: "minimal adaptive on the channel whose next queue has most space; escape channel 0 with bubble; V >= 2",
        parameters: &[],
        source: PUENTE,
    },
    Component {
        name: "bubble:smart",
        about: "minimal adaptive, straight ahead first, then the other dimensions; escape channel 0 with bubble; V >= 2",
        parameters: &[],
        source: PUENTE,
    },
];

impl Routing {
    /// The routing of this name.
    ///
    /// # Errors
    /// An unknown name.
    pub fn parse(name: &str) -> Result<Self, Refusal> {
        Ok(match name {
            "bubble:oblivious" => Self::BubbleOblivious,
            "bubble:random" => Self::BubbleRandom,
            "bubble:shortest" => Self::BubbleShortest,
            "bubble:smart" => Self::BubbleSmart,
            _ => {
                let known: Vec<&str> = ROUTINGS.iter().map(|component| component.name).collect();
                return Err(Refusal::unknown("routing", name, &known));
            }
        })
    }

    /// The name that parses to this routing.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BubbleOblivious => "bubble:oblivious",
            Self::BubbleRandom => "bubble:random",
            Self::BubbleShortest => "bubble:shortest",
            Self::BubbleSmart => "bubble:smart",
        }
    }

    /// Fewest virtual channels that it works with.
    #[must_use]
    pub const fn min_vcs(self) -> usize {
        match self {
            Self::BubbleOblivious => 1,
            Self::BubbleRandom | Self::BubbleShortest | Self::BubbleSmart => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_routing_parses_and_answers_to_its_name() {
        for component in ROUTINGS {
            assert_eq!(Routing::parse(component.name).unwrap().name(), component.name);
        }
        let refusal = Routing::parse("bubble:smrat").unwrap_err();
        assert_eq!(refusal.remedy(), "did you mean `bubble:smart`?");
    }
}
