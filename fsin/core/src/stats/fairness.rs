//! Fairness of service among sources.

/// Fairness of accepted load over the nodes that send.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fairness {
    /// Accepted load of the worst-served source, as a share of the mean; 1 is fair, 0 is starved.
    pub min: f64,
    /// Jain's index (sum x)^2 / (n sum x^2): 1 is fair, 1/n is one source served alone. Source: Jain, Chiu, Hawe,
    /// DEC-TR-301, 1984.
    pub jain: f64,
}

/// Fairness of packets received by source. `senders` is the number of nodes that can send at all; the others are
/// silent, not starved. `None` if nothing was received.
#[must_use]
pub fn fairness(received_by_source: &[u64], senders: usize) -> Option<Fairness> {
    let served: Vec<u64> = received_by_source.iter().copied().filter(|&count| count > 0).collect();
    let sum: u128 = served.iter().map(|&count| u128::from(count)).sum();
    let squares: u128 = served.iter().map(|&count| u128::from(count) * u128::from(count)).sum();
    if sum == 0 || senders == 0 {
        return None;
    }
    let min = if served.len() < senders { 0 } else { served.iter().copied().min().unwrap_or(0) };
    let n = senders as f64;
    Some(Fairness { min: min as f64 * n / sum as f64, jain: (sum * sum) as f64 / (n * squares as f64) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_service_is_one_and_a_monopoly_is_one_nth() {
        assert_eq!(fairness(&[5, 5, 5, 5], 4), Some(Fairness { min: 1.0, jain: 1.0 }));
        assert_eq!(fairness(&[8, 0, 0, 0], 4), Some(Fairness { min: 0.0, jain: 0.25 }));
        assert_eq!(fairness(&[5, 0, 5, 0], 2), Some(Fairness { min: 1.0, jain: 1.0 }), "two are silent, not starved");
        assert_eq!(fairness(&[0, 0], 2), None);
    }
}
