//! Units of time on axes, chosen for few digits before and after the point.

use fsin_experiment::sweep::Value;

/// \[s\] Units of time and their names, longest first.
const TIMES: [(f64, &str); 5] = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"), (1e-12, "ps")];

/// Factor from values of results to values on an axis.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Unit(f64);

impl Unit {
    /// The unit of a figure in the unit `own` whose maximum is `largest`, with the title of its axis. For times, it is the
    /// longest unit in which the maximum is at least one.
    pub(super) fn of(own: &str, title: &str, largest: f64) -> (String, Self) {
        let Some(&(of_own, _)) = TIMES.iter().find(|(_, name)| *name == own) else {
            return (title.to_owned(), Self(1.0));
        };
        let fits = |(seconds, _): &&(f64, &str)| largest * of_own >= *seconds;
        let (seconds, name) = TIMES.iter().find(fits).copied().unwrap_or((of_own, own));
        (title.replace(&format!("({own})"), &format!("({name})")), Self(of_own / seconds))
    }

    /// A value in this unit.
    pub(super) fn scaled(self, value: Value) -> Value {
        Value { mean: value.mean * self.0, ci95: value.ci95.map(|ci95| ci95 * self.0) }
    }

    /// The number by which a value of the results is multiplied.
    pub(super) const fn factor(self) -> f64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_the_unit_that_suits_them() {
        let of = |own: &str, title: &str, largest: f64| {
            let (title, unit) = Unit::of(own, title, largest);
            (title, (largest * unit.factor() * 1e6).round() / 1e6)
        };
        assert_eq!(of("s", "Time (s)", 0.0123), ("Time (ms)".to_owned(), 12.3));
        assert_eq!(of("s", "Time (s)", 4.2e-6), ("Time (µs)".to_owned(), 4.2));
        assert_eq!(of("s", "Time (s)", 3e-12), ("Time (ps)".to_owned(), 3.0));
        assert_eq!(of("s", "Time (s)", 3e-15), ("Time (s)".to_owned(), 0.0));
        assert_eq!(of("ps", "Time (ps)", 1.2e9), ("Time (ms)".to_owned(), 1.2));
        assert_eq!(of("ns", "Time (ns)", 2.5e6), ("Time (ms)".to_owned(), 2.5));
        assert_eq!(of("cycles", "Latency (cycles)", 4e9), ("Latency (cycles)".to_owned(), 4e9));
    }
}
