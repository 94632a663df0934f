//! On processors other than x86-64 there is no arithmetic on `long double`: no datatype has that kind.

pub(super) fn apply(_number: usize, _left: &[u8], _right: &mut [u8]) {}

pub(super) fn multiply_complex(_left: &[u8], _right: &mut [u8]) {}

pub(super) fn order(_left: &[u8], _right: &[u8]) -> (bool, bool) {
    (false, false)
}
