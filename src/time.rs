//! Instants and durations: nanoseconds inside, milliseconds in files.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Nanoseconds since the scenario's start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The scenario's start.
    pub const ZERO: Time = Time(0);
    /// Never: about 584 years after the start.
    pub const MAX: Time = Time(u64::MAX);

    /// The instant `nanos` nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Time {
        Time(nanos)
    }

    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// This instant plus a duration; stops at [`Time::MAX`] instead of overflowing.
    pub fn after(self, duration: Duration) -> Time {
        Time(self.0.saturating_add(nanos(duration)))
    }

    /// How long after `earlier` this instant is; zero when it is not after it.
    pub fn since(self, earlier: Time) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// This instant minus `other` in milliseconds; negative when it is before it.
    pub fn millis_from(self, other: Time) -> f64 {
        if self >= other { to_millis(self.0 - other.0) } else { -to_millis(other.0 - self.0) }
    }
}

impl fmt::Display for Time {
    /// Milliseconds with two decimals, as the timeline prints them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.0 / 1_000_000, self.0 % 1_000_000 / 10_000)
    }
}

/// A duration's nanoseconds; stops at `u64::MAX`.
pub fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Nanoseconds as milliseconds.
pub fn to_millis(nanos: u64) -> f64 {
    nanos as f64 / 1e6
}

/// A duration as milliseconds.
pub fn duration_millis(duration: Duration) -> f64 {
    to_millis(nanos(duration))
}

/// Above this many nanoseconds a double can't hold every value, so files carry a string.
const EXACT_LIMIT: u64 = 1 << 53;

/// Nanoseconds as a JSON value in milliseconds: a number while that is exact, else a decimal string.
fn serialize_nanos<S: Serializer>(nanos: u64, serializer: S) -> Result<S::Ok, S::Error> {
    if nanos > EXACT_LIMIT {
        serializer.collect_str(&format_args!("{}.{:06}", nanos / 1_000_000, nanos % 1_000_000))
    } else if nanos.is_multiple_of(1_000_000) {
        serializer.serialize_u64(nanos / 1_000_000)
    } else {
        serializer.serialize_f64(to_millis(nanos))
    }
}

fn deserialize_nanos<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    use serde::de::Error;
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Millis {
        Whole(u64),
        Fraction(f64),
        Text(String),
    }
    match Millis::deserialize(deserializer)? {
        Millis::Whole(millis) => {
            millis.checked_mul(1_000_000).ok_or_else(|| D::Error::custom("more milliseconds than 2^64 ns hold"))
        }
        Millis::Fraction(millis) if millis >= 0.0 && millis * 1e6 <= EXACT_LIMIT as f64 => {
            Ok((millis * 1e6).round() as u64)
        }
        Millis::Fraction(millis) => Err(D::Error::custom(format!("{millis} is no duration in milliseconds"))),
        Millis::Text(text) => parse_decimal(&text)
            .ok_or_else(|| D::Error::custom(format!("\"{text}\" is no duration in milliseconds"))),
    }
}

/// "123.456789" (milliseconds, at most six decimals) as nanoseconds.
fn parse_decimal(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || fraction.len() > 6 || !digits(whole) || !digits(fraction) {
        return None;
    }
    let fraction: u64 = format!("{fraction:0<6}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(fraction)
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_nanos(self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Time, D::Error> {
        deserialize_nanos(deserializer).map(Time)
    }
}

/// Serde for durations in milliseconds: `#[serde(rename = "…_ms", with = "crate::time::millis")]`.
pub mod millis {
    use super::*;

    /// Writes a duration as milliseconds.
    pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_nanos(nanos(*duration), serializer)
    }

    /// Reads milliseconds as a duration.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        deserialize_nanos(deserializer).map(Duration::from_nanos)
    }
}

/// The same for a duration that may be absent.
pub mod millis_option {
    use super::*;

    /// Writes a duration as milliseconds, or null.
    pub fn serialize<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        match duration {
            Some(duration) => millis::serialize(duration, serializer),
            None => serializer.serialize_none(),
        }
    }

    /// Reads milliseconds or null.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        #[derive(Deserialize)]
        struct Wrapped(#[serde(with = "super::millis")] Duration);
        Ok(Option::<Wrapped>::deserialize(deserializer)?.map(|wrapped| wrapped.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_time_prints_two_decimals_cut_not_rounded() {
        assert_eq!(Time::from_nanos(450_999_999).to_string(), "450.99");
        assert_eq!(Time::ZERO.to_string(), "0.00");
    }

    #[test]
    fn arithmetic_saturates_and_differences_keep_their_sign() {
        assert_eq!(Time::MAX.after(Duration::from_secs(1)), Time::MAX);
        assert_eq!(Time::ZERO.since(Time::from_nanos(5)), Duration::ZERO);
        assert_eq!(Time::from_nanos(1_000_000).millis_from(Time::from_nanos(3_500_000)), -2.5);
    }

    #[test]
    fn large_times_are_strings_in_json() {
        assert_eq!(serde_json::to_string(&Time::from_nanos((1 << 53) + 1)).unwrap(), "\"9007199254.740993\"");
        assert_eq!(serde_json::to_string(&Time::from_nanos(2_500_000)).unwrap(), "2.5");
        assert_eq!(serde_json::to_string(&Time::from_nanos(3_000_000)).unwrap(), "3");
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["-1", "1e300", "\"abc\"", "\"1.1234567\"", "\"\"", "99999999999999999", "null"] {
            assert!(serde_json::from_str::<Time>(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn json_keeps_every_nanosecond(nanos: u64) {
            let text = serde_json::to_string(&Time::from_nanos(nanos)).unwrap();
            prop_assert_eq!(serde_json::from_str::<Time>(&text).unwrap(), Time::from_nanos(nanos));
        }
    }
}
