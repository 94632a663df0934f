//! Groups of similar collectives, shown as one row: equal in kind, size and group, or in kind and size over several
//! groups.

use std::collections::BTreeMap;

use fsin_experiment::result::CollectiveTimes;

/// Similar collectives. Times are those of a call.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Alike<'a> {
    /// The first of them, with the properties that all share.
    pub(crate) first: &'a CollectiveTimes,
    /// Number of their groups.
    pub(crate) groups: usize,
    /// Number of calls.
    pub(crate) calls: u64,
    /// Number of collectives that have not ended.
    pub(crate) unended: u64,
    /// \[ns\] When the last of them ended.
    pub(crate) end: Option<f64>,
    /// \[ns\] Least time of a rank.
    pub(crate) least: Option<f64>,
    /// \[ns\] Greatest time of a rank.
    pub(crate) most: Option<f64>,
    /// \[ns\] Sum of the times of all ranks.
    pub(crate) of_ranks: f64,
    /// Number of times in `of_ranks`: one for each rank of each call.
    ranks: f64,
    /// \[bytes\] Of the calls that have ended.
    bytes: f64,
    /// Bus bandwidth over algorithm bandwidth; `None` before a call has ended.
    factor: Option<f64>,
    /// \[ns\] Sum of the times of their slowest ranks.
    slowest: f64,
    /// \[ns\] Sum of the times from the first begin to the end.
    span: f64,
    /// By rank that began last: the number of such collectives, and the sum of the times \[ns\] that the first rank had
    /// begun before it.
    pub(crate) late: BTreeMap<u64, (u64, f64)>,
    /// The link with the highest load between nodes of their groups, with its load.
    pub(crate) fullest: Option<(&'a str, f64)>,
    /// \[GB/s\] Least bound of the bus bandwidth.
    pub(crate) bound: Option<f64>,
}

/// The bottleneck of collectives.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum BoundBy<'a> {
    /// The rank that begins last.
    Rank(u64),
    /// A link, with its load.
    Link(&'a str, f64),
    /// The network; its links were not counted.
    Network,
    /// Unknown, since none has ended.
    Unknown,
}

impl<'a> Alike<'a> {
    fn of(first: &'a CollectiveTimes) -> Self {
        Self {
            first,
            groups: 1,
            calls: 0,
            unended: 0,
            end: None,
            least: None,
            most: None,
            of_ranks: 0.0,
            ranks: 0.0,
            bytes: 0.0,
            factor: None,
            slowest: 0.0,
            span: 0.0,
            late: BTreeMap::new(),
            fullest: None,
            bound: None,
        }
    }

    fn add(&mut self, one: &'a CollectiveTimes) {
        let calls = one.calls.max(1) as f64;
        self.calls += one.calls;
        let number = |number: Option<fsin_experiment::result::Number>| number.map(|number| number.as_f64());
        if let (Some(link), Some(load)) = (&one.fullest_link, one.fullest_link_load)
            && self.fullest.is_none_or(|(_, most)| load > most)
        {
            self.fullest = Some((link, load));
        }
        if let Some(bound) = one.bus_bandwidth_bound_gb_per_s {
            self.bound = Some(self.bound.map_or(bound, |least| least.min(bound)));
        }
        if let (Some(begin), Some(last), Some(rank)) =
            (number(one.first_begin_ns), number(one.last_begin_ns), one.last_rank)
            && last > begin
        {
            let (count, waited) = self.late.entry(rank).or_default();
            *count += 1;
            *waited += last - begin;
        }
        let [least, mean, most] = [one.time_min_ns, one.time_mean_ns, one.time_max_ns].map(number);
        let (Some(least), Some(mean), Some(most), Some(end)) = (least, mean, most, number(one.end_ns)) else {
            self.unended += 1;
            return;
        };
        self.end = Some(self.end.map_or(end, |last| last.max(end)));
        self.least = Some(self.least.map_or(least / calls, |known| known.min(least / calls)));
        self.most = Some(self.most.map_or(most / calls, |known| known.max(most / calls)));
        self.of_ranks += mean * one.ranks as f64;
        self.ranks += one.ranks as f64 * calls;
        self.bytes += one.bytes as f64 * calls;
        let factor = one.bus_bandwidth_gb_per_s.zip(one.algorithm_bandwidth_gb_per_s).map(|(bus, own)| bus / own);
        self.factor = self.factor.or(factor);
        self.slowest += most;
        self.span += number(one.first_begin_ns).map_or(most, |begin| end - begin);
    }

    /// \[ns\] Mean time of a rank.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.ranks > 0.0).then(|| self.of_ranks / self.ranks)
    }

    /// \[GB/s\] Bytes over the times of the slowest ranks.
    pub(crate) fn algorithm_bandwidth(&self) -> Option<f64> {
        (self.slowest > 0.0).then(|| self.bytes / self.slowest)
    }

    /// \[GB/s\] The same by the factor of the kind.
    pub(crate) fn bus_bandwidth(&self) -> Option<f64> {
        Some(self.algorithm_bandwidth()? * self.factor?)
    }

    /// \[ns\] Sum of the times between the begins of the first and the last rank.
    pub(crate) fn waited(&self) -> f64 {
        self.late.values().map(|late| late.1).sum()
    }

    /// The bottleneck: the rank that begins last if the others wait for it most of the time, otherwise the link with
    /// the highest load between their nodes.
    pub(crate) fn bound_by(&self) -> BoundBy<'a> {
        if self.span <= 0.0 {
            return BoundBy::Unknown;
        }
        let latest = self.late.iter().reduce(|most, one| if one.1.1 > most.1.1 { one } else { most });
        match (latest, self.fullest) {
            (Some((&rank, _)), _) if 2.0 * self.waited() > self.span => BoundBy::Rank(rank),
            (_, Some((link, load))) => BoundBy::Link(link, load),
            _ => BoundBy::Network,
        }
    }
}

/// Groups collectives that are alike, in the order of their first begins: those of one group, or of all groups
/// (`by_group` false).
pub(crate) fn alike(all: &[CollectiveTimes], by_group: bool) -> Vec<Alike<'_>> {
    let mut found: Vec<Alike<'_>> = Vec::new();
    let mut members: Vec<Vec<Option<&str>>> = Vec::new();
    for one in all {
        let same = |known: &Alike<'_>| {
            let first = known.first;
            (&first.kind, &first.algorithm, first.ranks, first.bytes)
                == (&one.kind, &one.algorithm, one.ranks, one.bytes)
                && (!by_group || first.group == one.group)
        };
        let at = found.iter().position(same).unwrap_or_else(|| {
            found.push(Alike::of(one));
            members.push(Vec::new());
            found.len() - 1
        });
        found[at].add(one);
        let group = one.group.as_deref();
        if !members[at].contains(&group) {
            members[at].push(group);
            found[at].groups = members[at].len();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use fsin_experiment::result::Number;

    use super::*;

    fn one(group: &str, begin: u64, late: u64, end: u64) -> CollectiveTimes {
        let whole = |number| Some(Number::Whole(number));
        CollectiveTimes {
            kind: "allreduce".to_owned(),
            algorithm: "ring".to_owned(),
            group: Some(group.to_owned()),
            ranks: 2,
            calls: 1,
            bytes: 1000,
            first_begin_ns: whole(begin),
            last_begin_ns: whole(begin + late),
            end_ns: whole(end),
            time_min_ns: whole(end - begin - late),
            time_mean_ns: whole(end - begin - late / 2),
            time_max_ns: whole(end - begin),
            last_rank: Some(7),
            algorithm_bandwidth_gb_per_s: Some(1000.0 / (end - begin) as f64),
            bus_bandwidth_gb_per_s: Some(1000.0 / (end - begin) as f64),
            fullest_link: Some(format!("a to {group}")),
            fullest_link_load: Some(end as f64 / 1e4),
            ..CollectiveTimes::default()
        }
    }

    #[test]
    fn alike_ones_are_one_row_and_late_ranks_or_links_bound_them() {
        let all = [one("a", 0, 20, 100), one("b", 0, 0, 100), one("a", 100, 10, 400)];
        let rows = alike(&all, true);
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].calls, rows[0].least, rows[0].most), (2, Some(80.0), Some(300.0)));
        assert_eq!(rows[0].algorithm_bandwidth(), Some(2000.0 / 400.0));
        assert_eq!(rows[0].mean(), Some((90.0 + 295.0) / 2.0));
        assert_eq!(rows[0].late[&7], (2, 30.0));
        assert_eq!(rows[0].bound_by(), BoundBy::Link("a to a", 0.04));
        let rows = alike(&all, false);
        assert_eq!((rows.len(), rows[0].groups, rows[0].calls, rows[0].end), (1, 2, 3, Some(400.0)));
        let late = [one("a", 0, 60, 100)];
        assert_eq!(alike(&late, true)[0].bound_by(), BoundBy::Rank(7));
        let unended = CollectiveTimes { end_ns: None, time_max_ns: None, ..one("a", 0, 0, 9) };
        let begun = [CollectiveTimes { bus_bandwidth_gb_per_s: None, ..unended.clone() }, one("a", 0, 0, 100)];
        assert_eq!(alike(&begun, true)[0].bus_bandwidth(), Some(10.0), "the first has not ended");
        let unended = [unended];
        assert_eq!((alike(&unended, true)[0].unended, alike(&unended, true)[0].bound_by()), (1, BoundBy::Unknown));
    }
}
