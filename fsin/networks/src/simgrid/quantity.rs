//! Data rates and times of SimGrid's platforms: `125MBps`, `1.25E8`, `50us`, `1.0E-4`.
//!
//! A bandwidth without a unit is in bytes a second, a time without one in seconds, as SimGrid's manual says.

/// Units of bandwidth, in bits a second.
const RATES: [(&str, u128); 2] = [("Bps", 8), ("bps", 1)];

/// Prefixes of units of bandwidth.
const PREFIXES: [(&str, u128); 14] = [
    ("", 1),
    ("k", 1_000),
    ("K", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
    ("T", 1_000_000_000_000),
    ("P", 1_000_000_000_000_000),
    ("E", 1_000_000_000_000_000_000),
    ("Ki", 1 << 10),
    ("Mi", 1 << 20),
    ("Gi", 1 << 30),
    ("Ti", 1 << 40),
    ("Pi", 1 << 50),
    ("Ei", 1 << 60),
];

/// Units of time, in ps.
const TIMES: [(&str, u128); 9] = [
    ("ps", 1),
    ("ns", 1_000),
    ("us", 1_000_000),
    ("ms", 1_000_000_000),
    ("s", 1_000_000_000_000),
    ("m", 60_000_000_000_000),
    ("h", 3_600_000_000_000_000),
    ("d", 86_400_000_000_000_000),
    ("w", 604_800_000_000_000_000),
];

/// \[b/s\] A bandwidth, to the nearest bit; `None` for another text.
pub(super) fn bandwidth(text: &str) -> Option<u64> {
    let (number, unit) = parts(text)?;
    let factor = match unit {
        "" => 8,
        _ => RATES.iter().find_map(|&(name, bits)| {
            let prefix = unit.strip_suffix(name)?;
            PREFIXES.iter().find(|(known, _)| *known == prefix).map(|(_, factor)| factor * bits)
        })?,
    };
    scaled(number, factor)
}

/// \[ps\] A time, to the nearest picosecond; `None` for another text.
pub(super) fn time(text: &str) -> Option<u64> {
    let (number, unit) = parts(text)?;
    let unit = if unit.is_empty() { "s" } else { unit };
    scaled(number, TIMES.iter().find(|(name, _)| *name == unit)?.1)
}

/// The number that a text begins with, as long as possible, and its unit.
fn parts(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let digits = |from: usize| from + text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut end = digits(0);
    if text[end..].starts_with('.') {
        end = digits(end + 1);
    }
    // An E is an exponent only before a number: `1EBps` has a prefix.
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let after = digits(end + 1 + sign);
        if after > end + 1 + sign {
            end = after;
        }
    }
    let (number, unit) = text.split_at(end);
    number.bytes().any(|byte| byte.is_ascii_digit()).then(|| (number, unit.trim_start()))
}

/// A decimal number times a factor, to the nearest integer.
fn scaled(number: &str, factor: u128) -> Option<u64> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent = exponent.parse::<i32>().ok()?;
    // Without an exponent, what stands beyond 18 decimals is less than a bit or a picosecond in any unit but the
    // largest.
    let part = part.get(..18).filter(|_| exponent <= 0).unwrap_or(part).trim_end_matches('0');
    let digits: u128 = format!("0{whole}{part}").parse().ok()?;
    let exponent = exponent.checked_sub(i32::try_from(part.len()).ok()?)?;
    let value = digits.checked_mul(factor)?;
    let ten = 10_u128.checked_pow(exponent.unsigned_abs());
    let scaled = match (exponent >= 0, ten) {
        _ if value == 0 => 0,
        (true, ten) => value.checked_mul(ten?)?,
        (false, Some(ten)) => value.checked_add(ten / 2)? / ten,
        (false, None) => 0,
    };
    u64::try_from(scaled).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_the_manual() {
        for (text, expected) in [
            ("125MBps", Some(1_000_000_000)),
            ("41.279125MBps", Some(330_233_000)),
            ("1Gbps", Some(1_000_000_000)),
            ("1 KiBps", Some(8192)),
            ("0.0000000000000000001e20bps", Some(10)),
            ("1.5e-2147483648bps", None),
            ("1.25E8", Some(1_000_000_000)),
            ("1EBps", Some(8_000_000_000_000_000_000)),
            ("1e3bps", Some(1000)),
            ("0.3bps", Some(0)),
            ("3Bit", None),
            ("MBps", None),
            ("1e99", None),
            ("99999999999999999999999999999999999999999", None),
            ("-1Bps", None),
        ] {
            assert_eq!(bandwidth(text), expected, "{text}");
        }
        for (text, expected) in [
            ("59.904us", Some(59_904_000)),
            ("1.0E-4", Some(100_000_000)),
            ("0", Some(0)),
            ("2m", Some(120_000_000_000_000)),
            ("1.6100000000000001E-4", Some(161_000_000)),
            ("1e-99", Some(0)),
            ("0.5ps", Some(1)),
            ("5 lightyears", None),
            ("", None),
            (".", None),
            ("é", None),
        ] {
            assert_eq!(time(text), expected, "{text}");
        }
    }
}
