//! Who gets an output that several inputs ask for.

/// Round robin: the first contender after the last winner, in the order of the inputs, cyclically.
///
/// `asks(input)` says whether an input contends. Returns `None` if nobody does.
pub fn round_robin(inputs: usize, last_winner: usize, asks: impl Fn(usize) -> bool) -> Option<usize> {
    (1..=inputs).map(|step| (last_winner + step) % inputs).find(|&input| asks(input))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_who_asks_is_served_in_turn() {
        let asks = |input: usize| [1, 2, 4].contains(&input);
        let mut last = 0;
        let mut served = Vec::new();
        for _ in 0..6 {
            last = round_robin(5, last, asks).unwrap();
            served.push(last);
        }
        assert_eq!(served, [1, 2, 4, 1, 2, 4]);
        assert_eq!(round_robin(5, 3, |_| false), None);
    }
}
