//! Checks that all ranks of a communicator call the same collectives in the same order, and fixes the algorithm of
//! each.

use super::{Algorithm, Choice, Collective};

/// A collective of a communicator, as the first rank called it.
#[derive(Clone, Debug)]
struct Call<P> {
    name: &'static str,
    /// Root rank, for collectives that have one.
    root: Option<usize>,
    algorithm: Algorithm,
    /// The first rank that made the call.
    rank: usize,
    /// Where that rank made it.
    place: P,
}

/// Compares the collectives of the ranks of one communicator, rank by rank in any order. `P` is the type of a call's
/// place (a line number, for instance), for error messages.
///
/// Sizes are not compared: ranks may pass any size where it has no meaning for them. The first rank that makes a call
/// fixes its algorithm for all ranks.
#[derive(Clone, Debug)]
pub struct Agreement<P> {
    choice: Choice,
    /// Number of ranks of the communicator.
    size: usize,
    /// The collectives called so far, in order.
    calls: Vec<Call<P>>,
    /// The first rank that ended. No rank may make more calls than it did.
    ended: Option<usize>,
}

/// Two ranks differ in a collective of their communicator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Disagreement<P> {
    /// Running number of the collective, from 0.
    pub index: usize,
    /// The call of the earlier rank: `bcast with root 0`, or `nothing`.
    pub expected: String,
    /// The earlier rank.
    pub expected_rank: usize,
    /// Place of the earlier rank's call; `None` if that rank has ended.
    pub expected_place: Option<P>,
    /// The call of the rank under examination.
    pub found: String,
}

impl<P> Default for Agreement<P> {
    fn default() -> Self {
        Self::new(Choice::default(), 0)
    }
}

impl<P> Agreement<P> {
    /// An agreement without calls, for a communicator of `size` ranks and the algorithms of `choice`.
    #[must_use]
    pub const fn new(choice: Choice, size: usize) -> Self {
        Self { choice, size, calls: Vec::new(), ended: None }
    }
}

impl<P: Clone> Agreement<P> {
    /// Records `collective` as the `index`-th collective of `rank` (from 0) and returns its algorithm.
    ///
    /// # Errors
    /// When an earlier rank made a different call there, one with another root, or none.
    pub fn call(
        &mut self,
        rank: usize,
        index: usize,
        collective: &Collective,
        place: impl FnOnce() -> P,
    ) -> Result<Algorithm, Disagreement<P>> {
        let (name, root) = (collective.name(), collective.root());
        let Some(call) = self.calls.get(index) else {
            if let Some(ended) = self.ended {
                return Err(Disagreement {
                    index,
                    expected: "nothing".to_owned(),
                    expected_rank: ended,
                    expected_place: None,
                    found: describe(name, root),
                });
            }
            let algorithm = self.choice.algorithm(collective, self.size);
            self.calls.push(Call { name, root, algorithm, rank, place: place() });
            return Ok(algorithm);
        };
        if call.name == name && call.root == root {
            return Ok(call.algorithm);
        }
        Err(self.differs(index, describe(name, root)))
    }

    /// Records that `rank` ends after `count` collectives.
    ///
    /// # Errors
    /// When an earlier rank made more calls.
    pub fn end(&mut self, rank: usize, count: usize) -> Result<(), Disagreement<P>> {
        if count < self.calls.len() {
            return Err(self.differs(count, "nothing".to_owned()));
        }
        self.ended.get_or_insert(rank);
        Ok(())
    }

    /// The error for a rank whose call `index` is `found` and not the one recorded.
    fn differs(&self, index: usize, found: String) -> Disagreement<P> {
        let call = &self.calls[index];
        Disagreement {
            index,
            expected: describe(call.name, call.root),
            expected_rank: call.rank,
            expected_place: Some(call.place.clone()),
            found,
        }
    }
}

/// A call in words.
fn describe(name: &str, root: Option<usize>) -> String {
    root.map_or_else(|| name.to_owned(), |root| format!("{name} with root {root}"))
}
