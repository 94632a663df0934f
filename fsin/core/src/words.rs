//! Numbers and lists in sentences.

use std::fmt::Display;

/// A count with its noun in singular or plural: `1 switch`, `2 switches`.
#[must_use]
pub fn counted<N: Display + From<u8> + PartialEq>(count: N, one: &str, many: &str) -> String {
    let noun = if count == N::from(1) { one } else { many };
    format!("{count} {noun}")
}

/// Joins names: `a, b LAST c`, where `last` is the conjunction.
#[must_use]
pub fn joined(names: &[&str], last: &str) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::{counted, joined};

    #[test]
    fn a_conjunction_stands_before_the_last_name() {
        assert_eq!([&[][..], &["a"], &["a", "b", "c"]].map(|names| joined(names, "or")), ["", "a", "a, b or c"]);
    }

    #[test]
    fn one_is_singular_and_nothing_else_is() {
        let said: Vec<String> = [0_usize, 1, 2, 21].map(|count| counted(count, "switch", "switches")).into();
        assert_eq!(said, ["0 switches", "1 switch", "2 switches", "21 switches"]);
    }
}
