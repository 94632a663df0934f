//! Kinds of collective operations.

/// Kind of a collective, with the numbers of the schema of Chakra.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CollectiveKind {
    /// Every rank gets the combination of the vectors of all.
    AllReduce,
    /// The root gets that combination.
    Reduce,
    /// Every rank gets the contributions of all.
    AllGather,
    /// The root gets them.
    Gather,
    /// The root has a piece for every rank.
    Scatter,
    /// Every rank gets the vector of the root.
    Broadcast,
    /// Every rank has a piece for every rank.
    AllToAll,
    /// Every rank gets its piece of the combination.
    ReduceScatter,
    /// No rank leaves before every rank has entered.
    Barrier,
}

use CollectiveKind::{AllGather, AllReduce, AllToAll, Barrier, Broadcast, Gather, Reduce, ReduceScatter, Scatter};

impl CollectiveKind {
    /// The kind with this number (`comm_type`).
    #[must_use]
    pub const fn of_number(number: i64) -> Option<Self> {
        Some(match number {
            0 => AllReduce,
            1 => Reduce,
            2 => AllGather,
            3 => Gather,
            4 => Scatter,
            5 => Broadcast,
            6 => AllToAll,
            7 | 8 => ReduceScatter,
            9 => Barrier,
            _ => return None,
        })
    }

    /// The kind of an operation of MPI, by the name that [`name`](Self::name) gives; `None` for operations with blocks of
    /// any size, and scans.
    #[must_use]
    pub fn of_operation(name: &str) -> Option<Self> {
        let all = [AllReduce, Reduce, AllGather, Gather, Scatter, Broadcast, AllToAll, ReduceScatter, Barrier];
        all.into_iter().find(|kind| kind.name() == name)
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            AllReduce => "allreduce",
            Reduce => "reduce",
            AllGather => "allgather",
            Gather => "gather",
            Scatter => "scatter",
            Broadcast => "bcast",
            AllToAll => "alltoall",
            ReduceScatter => "reduce_scatter",
            Barrier => "barrier",
        }
    }

    /// The ratio of bus bandwidth and algorithm bandwidth with `ranks` ranks: 2(n-1)/n for an all-reduce, (n-1)/n for
    /// what moves every piece once, 1 for the vector of a root. The size over which the algorithm bandwidth is taken is
    /// the vector of a rank; for an all-gather and a gather it is the result, for a scatter that of the root.
    ///
    /// Source: `nccl-tests`, *Performance reported by NCCL tests*.
    #[must_use]
    pub fn bus_factor(self, ranks: u32) -> f64 {
        let others = f64::from(ranks.saturating_sub(1)) / f64::from(ranks.max(1));
        match self {
            AllReduce => 2.0 * others,
            AllGather | ReduceScatter | AllToAll | Gather | Scatter => others,
            Reduce | Broadcast | Barrier => 1.0,
        }
    }
}
