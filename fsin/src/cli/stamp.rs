//! Timestamps (RFC 3339).

use std::time::{Duration, SystemTime};

use time::format_description::well_known::Rfc3339;
use time::{Duration as Span, OffsetDateTime};

/// A time in UTC, rounded down to the second: `2020-02-29T12:00:00Z`. Times before 1970 are allowed; `None` for a year
/// that RFC 3339 cannot represent.
pub(crate) fn seconds(at: SystemTime) -> Option<String> {
    stamp(at, Span::SECOND)
}

/// A time in UTC, rounded down to the millisecond: `2020-02-29T12:00:00.000Z`. `None` as for [`seconds`].
fn milliseconds(at: SystemTime) -> Option<String> {
    stamp(at, Span::MILLISECOND)
}

/// Now, to the [millisecond](milliseconds).
pub(crate) fn now() -> Option<String> {
    milliseconds(SystemTime::now())
}

/// A time in UTC, rounded down to a multiple of `resolution`.
fn stamp(at: SystemTime, resolution: Span) -> Option<String> {
    let span = |span: Duration| Span::try_from(span).ok();
    let since = match at.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => span(after)?,
        Err(before) => span(before.duration()).map(|span| -span)?,
    };
    let (step, nanoseconds) = (resolution.whole_nanoseconds(), since.whole_nanoseconds());
    let rounded = OffsetDateTime::from_unix_timestamp_nanos(nanoseconds.div_euclid(step) * step).ok()?;
    rounded.format(&Rfc3339).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_before_1970_is_told_as_it_is() {
        let before = SystemTime::UNIX_EPOCH - Duration::from_millis(1500);
        assert_eq!(seconds(before).as_deref(), Some("1969-12-31T23:59:58Z"));
        assert_eq!(milliseconds(before).as_deref(), Some("1969-12-31T23:59:58.5Z"));
        let after = SystemTime::UNIX_EPOCH + Duration::from_nanos(1_582_977_600_123_456_789);
        assert_eq!(seconds(after).as_deref(), Some("2020-02-29T12:00:00Z"));
        assert_eq!(milliseconds(after).as_deref(), Some("2020-02-29T12:00:00.123Z"));
        assert_eq!(seconds(SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 40)), None);
    }
}
