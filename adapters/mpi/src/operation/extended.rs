//! Arithmetic on `long double` of x86-64: numbers of 80 bits in 16 bytes, which Rust does not have.

use std::arch::asm;

/// \[bytes\] Size of a number in memory, of which the first 10 are used.
pub(super) const SIZE: usize = 16;

/// A number in memory.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub(super) struct Extended([u8; SIZE]);

/// Defines `fn $name`, which computes a result with the instruction `$instruction` of two numbers: the first one
/// $instruction the second one.
macro_rules! arithmetic {
    ($($name:ident $instruction:literal)*) => { $(
        pub(super) fn $name(self, other: Self) -> Self {
            let mut result = Self([0; SIZE]);
            // SAFETY: reads and writes 10 bytes of values of 16 bytes, and leaves the stack of the unit as it was.
            unsafe {
                asm!(
                    "fld tbyte ptr [{a}]",
                    "fld tbyte ptr [{b}]",
                    $instruction,
                    "fstp tbyte ptr [{to}]",
                    a = in(reg) &raw const self,
                    b = in(reg) &raw const other,
                    to = in(reg) &raw mut result,
                    out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                    out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                    options(nostack),
                );
            }
            result
        }
    )* };
}

impl Extended {
    pub(super) const ZERO: Self = Self([0; SIZE]);

    /// The number at the beginning of `bytes`, which are at least 16.
    pub(super) fn read(bytes: &[u8]) -> Self {
        Self(bytes.first_chunk().copied().unwrap_or([0; SIZE]))
    }

    /// Writes the number to the beginning of `bytes`, which are at least 16.
    pub(super) fn write(self, bytes: &mut [u8]) {
        bytes[..SIZE].copy_from_slice(&self.0);
    }

    arithmetic! { plus "faddp" minus "fsubp" times "fmulp" }

    /// 1 or 0.
    pub(super) fn of(logical: bool) -> Self {
        let mut one = [0; SIZE];
        // The leading bit of the mantissa is explicit; the exponent is biased by 16383.
        (one[7], one[8], one[9]) = (0x80, 0xff, 0x3f);
        Self(if logical { one } else { [0; SIZE] })
    }

    /// True if it is greater than another number; false if one of them is no number.
    pub(super) fn exceeds(self, other: Self) -> bool {
        let greater: u8;
        // SAFETY: as above.
        unsafe {
            asm!(
                "fld tbyte ptr [{b}]",
                "fld tbyte ptr [{a}]",
                "fcomip st(0), st(1)",
                "fstp st(0)",
                "seta {greater}",
                a = in(reg) &raw const self,
                b = in(reg) &raw const other,
                greater = lateout(reg_byte) greater,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack),
            );
        }
        greater != 0
    }

    /// True unless it is 0.
    pub(super) fn is_true(self) -> bool {
        self.exceeds(Self::ZERO) || Self::ZERO.exceeds(self)
    }
}

/// Applies a predefined operation, by its number, to numbers in memory: `right` becomes `left op right`.
pub(super) fn apply(number: usize, left: &[u8], right: &mut [u8]) {
    for (left, right) in left.chunks_exact(SIZE).zip(right.chunks_exact_mut(SIZE)) {
        let (a, b) = (Extended::read(left), Extended::read(right));
        let result = match number {
            1 => {
                if a.exceeds(b) {
                    a
                } else {
                    b
                }
            }
            2 => {
                if b.exceeds(a) {
                    a
                } else {
                    b
                }
            }
            3 => a.plus(b),
            4 => a.times(b),
            5 => Extended::of(a.is_true() && b.is_true()),
            7 => Extended::of(a.is_true() || b.is_true()),
            9 => Extended::of(a.is_true() != b.is_true()),
            _ => b,
        };
        result.write(right);
    }
}

/// Multiplies complex numbers: real and imaginary part one after another.
pub(super) fn multiply_complex(left: &[u8], right: &mut [u8]) {
    for (left, right) in left.chunks_exact(2 * SIZE).zip(right.chunks_exact_mut(2 * SIZE)) {
        let (a, b) = (Extended::read(left), Extended::read(&left[SIZE..]));
        let (c, d) = (Extended::read(right), Extended::read(&right[SIZE..]));
        a.times(c).minus(b.times(d)).write(right);
        a.times(d).plus(b.times(c)).write(&mut right[SIZE..]);
    }
}

/// Whether the first number is less than the second, and whether it is greater.
pub(super) fn order(left: &[u8], right: &[u8]) -> (bool, bool) {
    let (a, b) = (Extended::read(left), Extended::read(right));
    (b.exceeds(a), a.exceeds(b))
}
