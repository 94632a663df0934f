//! `MPI_Dims_create`: sizes of the dimensions of a grid that are as close to each other as possible.

use std::ffi::c_int;

use crate::abi::ERR_DIMS;
use crate::error::{Outcome, error};

/// Largest number of factors that a search tries, so that it ends soon for any number of nodes.
const STEPS: u32 = 1 << 22;

/// The search for factors of a number whose largest and smallest differ least.
struct Search {
    /// The divisors of the number, ascending.
    divisors: Vec<i64>,
    /// The best factors so far, ascending.
    best: Vec<i64>,
    /// Number of factors that may still be tried.
    steps: u32,
}

impl Search {
    /// Difference between the largest and the smallest factor so far.
    fn spread(&self) -> i64 {
        self.best.last().zip(self.best.first()).map_or(i64::MAX, |(last, first)| last - first)
    }

    /// Extends `chosen`, which are ascending, by `count` factors whose product is `rest`.
    fn extend(&mut self, chosen: &mut Vec<i64>, rest: i64, count: usize) {
        self.steps = self.steps.saturating_sub(1);
        let least = chosen.last().copied().unwrap_or(1);
        if count == 1 {
            if rest >= least && rest - chosen.first().unwrap_or(&rest) < self.spread() {
                self.best = chosen.iter().copied().chain([rest]).collect();
            }
            return;
        }
        // Descending, so that of two equally good results the one with the larger smallest factor is found first.
        for index in (0..self.divisors.len()).rev() {
            let factor = self.divisors[index];
            let fits = factor.checked_pow(count as u32).is_some_and(|product| product <= rest);
            if factor < least || self.steps == 0 {
                return;
            }
            if !fits || rest % factor != 0 {
                continue;
            }
            chosen.push(factor);
            self.extend(chosen, rest / factor, count - 1);
            chosen.pop();
        }
    }
}

/// `count` factors whose product is `number`, descending: the largest and the smallest differ as little as possible,
/// and the smallest is the largest possible then.
fn balanced(number: i64, count: usize) -> Vec<i64> {
    let small = (1..).take_while(|divisor| divisor * divisor <= number).filter(|divisor| number % divisor == 0);
    let mut divisors: Vec<i64> = small.flat_map(|divisor| [divisor, number / divisor]).collect();
    divisors.sort_unstable();
    divisors.dedup();
    let mut search = Search { divisors, best: Vec::new(), steps: STEPS };
    // More factors than a number of 31 bits can have are 1.
    let real = count.min(31);
    search.extend(&mut Vec::new(), number, real);
    let mut found = if search.best.is_empty() { vec![number] } else { search.best };
    found.reverse();
    found.resize(count, 1);
    found
}

/// Replaces the sizes that are 0, so that the product of all sizes is `nodes`. The new sizes are as close to each other
/// as possible, and in descending order.
pub(crate) fn complete(nodes: c_int, sizes: &mut [c_int]) -> Outcome {
    let given = sizes.iter().filter(|&&size| size != 0);
    let fixed = given.clone().try_fold(1_i64, |product, &size| product.checked_mul(size.into()));
    let Some(fixed) =
        fixed.filter(|&fixed| nodes >= 1 && given.clone().all(|&size| size > 0) && i64::from(nodes) % fixed == 0)
    else {
        return error(ERR_DIMS, format!("{nodes} nodes cannot be divided into these dimensions"));
    };
    let free = sizes.iter().filter(|&&size| size == 0).count();
    if free == 0 {
        return if fixed == i64::from(nodes) {
            Ok(())
        } else {
            error(ERR_DIMS, format!("the dimensions have {fixed} nodes, not {nodes}"))
        };
    }
    let found = balanced(i64::from(nodes) / fixed, free);
    for (size, found) in sizes.iter_mut().filter(|size| **size == 0).zip(found) {
        *size = found as c_int;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{balanced, complete};

    /// All ways to write a number as so many ascending factors of at least `least`.
    fn all(number: i64, count: usize, least: i64) -> Vec<Vec<i64>> {
        if count == 1 {
            return if number >= least { vec![vec![number]] } else { Vec::new() };
        }
        let factors = (least..=number).filter(|factor| number % factor == 0);
        factors
            .flat_map(|factor| {
                let rest = all(number / factor, count - 1, factor);
                rest.into_iter().map(move |mut rest| {
                    rest.insert(0, factor);
                    rest
                })
            })
            .collect()
    }

    #[test]
    fn sizes_are_as_close_to_each_other_as_possible() {
        for number in 1..=720 {
            for count in 1..=4 {
                let spread = |factors: &[i64]| factors[factors.len() - 1] - factors[0];
                let best = all(number, count, 1).iter().map(|factors| spread(factors)).min();
                let mut found = balanced(number, count);
                assert!(found.is_sorted_by(|a, b| a >= b), "{found:?}");
                found.reverse();
                assert_eq!(found.iter().product::<i64>(), number);
                assert_eq!(Some(spread(&found)), best, "{number} in {count}: {found:?}");
            }
        }
        assert_eq!(balanced(72, 2), [9, 8]);
        assert_eq!(balanced(360, 3), [10, 6, 6], "not 9 x 8 x 5, whose smallest size is smaller");
    }

    #[test]
    fn any_number_is_divided_soon() {
        for number in [i32::MAX, 2_095_133_040, 1 << 30, 1_396_755_360, 2_147_483_646] {
            for count in [1, 2, 3, 5, 12, 40] {
                let mut sizes = vec![0; count];
                complete(number, &mut sizes).unwrap();
                assert_eq!(sizes.iter().map(|&size| i64::from(size)).product::<i64>(), i64::from(number));
            }
        }
    }

    #[test]
    fn given_sizes_stay_and_must_divide() {
        let mut sizes = [0, 3, 0];
        complete(36, &mut sizes).unwrap();
        assert_eq!(sizes, [4, 3, 3]);
        for (nodes, mut sizes) in [(7, [2, 0, 0]), (0, [0; 3]), (-4, [0; 3]), (8, [2, 2, 1]), (8, [-2, 0, 0])] {
            assert!(complete(nodes, &mut sizes).is_err(), "{nodes} {sizes:?}");
        }
    }
}
