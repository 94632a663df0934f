//! Figures of collectives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trgen::trace::timeline::CollectiveRecord;

use super::datum::Number;
use super::of_details::quantile;
use crate::collective_links::Confines;

/// A collective of an application.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize, Debug, JsonSchema)]
#[serde(default)]
pub struct CollectiveTimes {
    /// Kind, such as allreduce.
    pub kind: String,
    /// Algorithm by which it runs.
    pub algorithm: String,
    /// Name of the group of its ranks; null for all ranks.
    pub group: Option<String>,
    /// Number among the collectives of its group, from 0.
    pub number: u64,
    /// \[ranks\] That take part.
    pub ranks: u64,
    /// \[calls\] From begin to end: the iterations of a kernel.
    pub calls: u64,
    /// \[bytes\] Of a call: the vector of a rank; of allgather and gather the result, of scatter the vector of the
    /// root.
    pub bytes: u64,
    /// \[ns\] When its first rank began.
    pub first_begin_ns: Option<Number>,
    /// \[ns\] When the last of its ranks began; null unless all began.
    pub last_begin_ns: Option<Number>,
    /// \[ns\] When its last rank ended; null unless all ended.
    pub end_ns: Option<Number>,
    /// \[ns\] Least time of a rank, from its own begin to its own end; null unless all ended, as all times that follow.
    pub time_min_ns: Option<Number>,
    /// \[ns\] Mean of these times.
    pub time_mean_ns: Option<Number>,
    /// \[ns\] 99th percentile of these times.
    pub time_p99_ns: Option<Number>,
    /// \[ns\] Greatest of these times.
    pub time_max_ns: Option<Number>,
    /// Rank that began last, the first of several; null unless all began.
    pub last_rank: Option<u64>,
    /// \[GB/s\] Bytes of all calls over the greatest of these times.
    pub algorithm_bandwidth_gb_per_s: Option<f64>,
    /// \[GB/s\] The same times 2(n-1)/n for allreduce, (n-1)/n for allgather, reduce_scatter, alltoall, gather and
    /// scatter, 1 for bcast and reduce: comparable with the rate of a link.
    pub bus_bandwidth_gb_per_s: Option<f64>,
    /// \[GB/s\] What the bus bandwidth cannot exceed: the mean rate at which its nodes send; null where ranks share a
    /// node, and of networks without links.
    pub bus_bandwidth_bound_gb_per_s: Option<f64>,
    /// The link, by name, that carried most for its rate on the shortest paths between its nodes that carried anything;
    /// null where packets of links were not counted.
    pub fullest_link: Option<String>,
    /// \[share\] Of the run, in which that link carried something.
    pub fullest_link_load: Option<f64>,
}

/// \[ns\] A time in ps.
pub(super) const fn ns(ps: u64) -> Number {
    Number::of_ratio(ps, 1000)
}

impl CollectiveTimes {
    /// The figures of a collective with its bounds.
    pub(super) fn of(record: &CollectiveRecord, confines: &Confines) -> Self {
        let of_record = Self::from(record);
        // A collective that has not ended has no bounds yet.
        let (link, load) = confines.fullest.clone().filter(|_| of_record.end_ns.is_some()).unzip();
        Self { bus_bandwidth_bound_gb_per_s: confines.rate, fullest_link: link, fullest_link_load: load, ..of_record }
    }
}

impl From<&CollectiveRecord> for CollectiveTimes {
    fn from(record: &CollectiveRecord) -> Self {
        let begins = || record.parts.iter().map(|part| part.begin);
        let all_began = record.parts.len() == record.size as usize;
        let ends: Option<Vec<u64>> = record.parts.iter().map(|part| part.end).collect();
        let ends = ends.filter(|_| all_began);
        let mut times: Vec<u64> = ends.iter().flatten().zip(begins()).map(|(end, begin)| end - begin).collect();
        times.sort_unstable();
        let sum: u64 = times.iter().sum();
        let last = record.parts.iter().reduce(|last, part| if part.begin > last.begin { part } else { last });
        Self {
            kind: record.kind.name().to_owned(),
            algorithm: record.algorithm.to_owned(),
            group: record.group.clone(),
            number: record.number.into(),
            ranks: record.size.into(),
            calls: record.calls,
            bytes: record.bytes,
            first_begin_ns: begins().min().map(ns),
            last_begin_ns: begins().max().filter(|_| all_began).map(ns),
            end_ns: ends.as_ref().and_then(|ends| ends.iter().copied().max()).map(ns),
            time_min_ns: times.first().copied().map(ns),
            time_mean_ns: (!times.is_empty()).then(|| Number::of_ratio(sum, 1000 * times.len() as u64)),
            time_p99_ns: quantile(&times, 0.99).map(ns),
            time_max_ns: times.last().copied().map(ns),
            last_rank: last.filter(|_| all_began).map(|part| part.rank.into()),
            algorithm_bandwidth_gb_per_s: record.algorithm_bandwidth(),
            bus_bandwidth_gb_per_s: record.bus_bandwidth(),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trgen::trace::kind::CollectiveKind;
    use trgen::trace::timeline::Part;

    #[test]
    fn times_are_those_of_each_rank_from_its_own_begin() {
        let part = |rank, begin, end| Part { rank, begin, end: Some(end) };
        let mut record = CollectiveRecord {
            kind: CollectiveKind::AllReduce,
            algorithm: "ring",
            group: None,
            number: 0,
            size: 2,
            calls: 1,
            bytes: 1002,
            parts: vec![part(0, 400_000, 1_700_000), part(1, 600_000, 1_800_000)],
        };
        let row = CollectiveTimes::from(&record);
        let whole = |value: u64| Some(Number::Whole(value));
        assert_eq!((row.first_begin_ns, row.last_begin_ns, row.end_ns), (whole(400), whole(600), whole(1800)));
        assert_eq!((row.time_min_ns, row.time_mean_ns, row.time_max_ns), (whole(1200), whole(1250), whole(1300)));
        assert_eq!(row.algorithm_bandwidth_gb_per_s, Some(1002.0 / 1300.0));
        assert_eq!(row.bus_bandwidth_gb_per_s, row.algorithm_bandwidth_gb_per_s);
        record.parts.pop();
        let row = CollectiveTimes::from(&record);
        assert_eq!((row.first_begin_ns, row.last_begin_ns, row.end_ns), (whole(400), None, None));
        assert_eq!((row.time_max_ns, row.bus_bandwidth_gb_per_s), (None, None));
    }
}
