//! Division by a constant, as a multiplication.

/// A divisor from 1 to 65535, for dividends of 32 bits, implemented by a multiplication.
///
/// With m = floor((2^64 - 1) / d), the high word of (n + 1) m is floor(n / d): (n + 1) m / 2^64 is less than (n + 1) /
/// d, which is at most floor(n / d) + 1, and by no more than 2^-32, while (n + 1) / d is above floor(n / d) by 1 / d or
/// more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Divisor {
    /// The divisor.
    number: u32,
    /// The number m, floor((2^64 - 1) / d).
    reciprocal: u64,
}

impl Divisor {
    /// A divisor, which must not be 0.
    ///
    /// # Panics
    /// If it is 0.
    #[must_use]
    #[inline]
    pub const fn new(number: u16) -> Self {
        Self { number: number as u32, reciprocal: u64::MAX / number as u64 }
    }

    /// The divisor itself.
    #[must_use]
    #[inline(always)]
    pub const fn number(self) -> usize {
        self.number as usize
    }

    /// The quotient of `dividend`.
    #[must_use]
    #[inline(always)]
    pub const fn divide(self, dividend: u32) -> u32 {
        (((dividend as u64 + 1) as u128 * self.reciprocal as u128) >> 64) as u32
    }

    /// Remainder and quotient.
    #[must_use]
    #[inline(always)]
    pub const fn split(self, dividend: u32) -> (u32, u32) {
        let times = self.divide(dividend);
        (dividend - times * self.number, times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiplying_divides() {
        for number in 1..=u16::MAX {
            let (divisor, number) = (Divisor::new(number), u32::from(number));
            let most = u32::MAX / number * number;
            let dividends = [0, 1, number - 1, number, number + 1, most - 1, most, u32::MAX - 1, u32::MAX];
            for dividend in dividends.into_iter().chain((0..200).map(|at| at * 0x0147_ae15)) {
                assert_eq!(divisor.split(dividend), (dividend % number, dividend / number), "{dividend} by {number}");
            }
        }
    }
}
