//! Whether all ranks of a communicator call the same collectives in the same order, and by which algorithm.

use super::{Algorithm, Choice, Collective};

/// What is remembered of the k-th collective of a communicator: who called it first, as what, and where.
#[derive(Clone, Debug)]
struct Call<P> {
    name: &'static str,
    root: Option<usize>,
    algorithm: Algorithm,
    rank: usize,
    place: P,
}

/// Compares the collectives of the ranks of one communicator, rank by rank in any order. `P` says where a call stands,
/// for the message (a line number, for instance).
///
/// Sizes are not compared: ranks may give another size for what they do not look at. The rank that comes first to a call
/// decides its algorithm, which is then that of all.
#[derive(Clone, Debug)]
pub struct Agreement<P> {
    choice: Choice,
    /// Ranks of the communicator.
    size: usize,
    calls: Vec<Call<P>>,
    /// The first rank that ended, having made all the calls there are.
    ended: Option<usize>,
}

/// Two ranks differ in a collective of their communicator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Disagreement<P> {
    /// Running number of the collective, from 0.
    pub index: usize,
    /// What the earlier rank calls there: `bcast with root 0`, or `nothing`.
    pub expected: String,
    /// The earlier rank.
    pub expected_rank: usize,
    /// Where its call stands; `None` if it has ended.
    pub expected_place: Option<P>,
    /// What the rank under examination calls there.
    pub found: String,
}

impl<P> Default for Agreement<P> {
    fn default() -> Self {
        Self::new(Choice::default(), 0)
    }
}

impl<P> Agreement<P> {
    /// Nothing called yet on a communicator of `size` ranks, whose algorithms are chosen by `choice`.
    #[must_use]
    pub const fn new(choice: Choice, size: usize) -> Self {
        Self { choice, size, calls: Vec::new(), ended: None }
    }
}

impl<P: Clone> Agreement<P> {
    /// Notes that `rank` calls `collective` as its `index`-th (from 0); the algorithm of that call.
    ///
    /// # Errors
    /// When another rank calls something else there, another root, or nothing.
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

    /// Notes that `rank` ends after `count` collectives.
    ///
    /// # Errors
    /// When another rank has called more.
    pub fn end(&mut self, rank: usize, count: usize) -> Result<(), Disagreement<P>> {
        if count < self.calls.len() {
            return Err(self.differs(count, "nothing".to_owned()));
        }
        self.ended.get_or_insert(rank);
        Ok(())
    }

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

fn describe(name: &str, root: Option<usize>) -> String {
    root.map_or_else(|| name.to_owned(), |root| format!("{name} with root {root}"))
}
