//! Numbers in sentences.

use std::fmt::Display;

/// A count with its noun in singular or plural: `1 switch`, `2 switches`.
#[must_use]
pub fn counted<N: Display + From<u8> + PartialEq>(count: N, one: &str, many: &str) -> String {
    let noun = if count == N::from(1) { one } else { many };
    format!("{count} {noun}")
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_is_singular_and_nothing_else_is() {
        let said: Vec<String> = [0_usize, 1, 2, 21].map(|count| counted(count, "switch", "switches")).into();
        assert_eq!(said, ["0 switches", "1 switch", "2 switches", "21 switches"]);
    }
}
