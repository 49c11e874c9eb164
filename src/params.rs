//! The numbers of a probe: declared as constants, read from the command line, kept in the result.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;
use thiserror::Error;

use crate::time::duration_millis;

/// One parameter of a probe.
#[derive(Clone, Copy, Debug)]
pub struct ParamSpec {
    /// Its name: the option without the hyphens in front.
    pub name: &'static str,
    /// What it is, with its unit.
    pub about: &'static str,
    /// Its kind, bounds and default.
    pub kind: ParamKind,
    /// The default under `--quick`, where it differs.
    pub quick: Option<&'static str>,
}

/// The kind, bounds and default of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum ParamKind {
    /// A duration.
    Duration {
        /// The default.
        default: Duration,
        /// The least value allowed.
        least: Duration,
    },
    /// A whole number.
    Count {
        /// The default.
        default: u64,
        /// The least value allowed.
        least: u64,
        /// The greatest value allowed.
        most: u64,
    },
    /// One of these words.
    Word {
        /// The default.
        default: &'static str,
        /// What may be said.
        choices: &'static [&'static str],
    },
}

/// A duration of whole milliseconds, 0 or more.
pub const fn millis(name: &'static str, default: u64, about: &'static str) -> ParamSpec {
    let default = Duration::from_millis(default);
    ParamSpec { name, about, kind: ParamKind::Duration { default, least: Duration::ZERO }, quick: None }
}

/// A count between 1 and a million.
pub const fn count(name: &'static str, default: u64, about: &'static str) -> ParamSpec {
    ParamSpec { name, about, kind: ParamKind::Count { default, least: 1, most: 1_000_000 }, quick: None }
}

/// One of several words; the first is the default.
pub const fn word(name: &'static str, choices: &'static [&'static str], about: &'static str) -> ParamSpec {
    ParamSpec { name, about, kind: ParamKind::Word { default: choices[0], choices }, quick: None }
}

impl ParamSpec {
    /// The same with another default for `--quick`.
    pub const fn quick(mut self, value: &'static str) -> ParamSpec {
        self.quick = Some(value);
        self
    }

    /// The same, but it may not be zero.
    pub const fn positive(mut self) -> ParamSpec {
        if let ParamKind::Duration { default, .. } = self.kind {
            self.kind = ParamKind::Duration { default, least: Duration::from_nanos(1) };
        }
        self
    }

    /// Its default as one would write it on the command line.
    pub fn default_text(&self) -> String {
        self.default_value().text()
    }

    fn default_value(&self) -> ParamValue {
        match self.kind {
            ParamKind::Duration { default, .. } => ParamValue::Duration(default),
            ParamKind::Count { default, .. } => ParamValue::Count(default),
            ParamKind::Word { default, .. } => ParamValue::Word(default.into()),
        }
    }

    /// Reads a value.
    ///
    /// # Errors
    /// What is wrong with it and what would be right.
    pub fn parse(&self, text: &str) -> Result<ParamValue, ParamError> {
        let wrong = |problem: String| ParamError { name: self.name, text: text.into(), problem };
        match self.kind {
            ParamKind::Duration { least, .. } => {
                let value = parse_duration(text).map_err(&wrong)?;
                if value < least {
                    return Err(wrong("it must be longer than 0".into()));
                }
                Ok(ParamValue::Duration(value))
            }
            ParamKind::Count { least, most, .. } => match text.parse::<u64>() {
                Ok(value) if (least..=most).contains(&value) => Ok(ParamValue::Count(value)),
                _ => Err(wrong(format!("give a whole number from {least} to {most}"))),
            },
            ParamKind::Word { choices, .. } => match choices.iter().find(|choice| **choice == text) {
                Some(choice) => Ok(ParamValue::Word((*choice).into())),
                None => Err(wrong(format!("give one of {}", choices.join(", ")))),
            },
        }
    }
}

/// Reads a duration: humantime's notation (`300ms`, `1m 5s`), or `max` for the longest there is.
///
/// # Errors
/// What is wrong, in one sentence.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let longest = Duration::from_nanos(u64::MAX);
    if text == "max" {
        return Ok(longest);
    }
    match humantime::parse_duration(text) {
        Ok(value) if value <= longest => Ok(value),
        Ok(_) => Err("it is longer than 584 years; the longest there is is written max".into()),
        Err(humantime::DurationError::NumberOverflow) => {
            Err("the number is too large; the longest there is is written max".into())
        }
        Err(humantime::DurationError::UnknownUnit { .. }) => {
            Err("give a number and a unit, as in 300ms, 3s or 1m 30s".into())
        }
        Err(_) => Err("give a duration of 0 or more, as in 300ms, 3s or 1m 30s".into()),
    }
}

/// A value that a parameter doesn't take.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("--{name} \"{text}\": {problem}")]
pub struct ParamError {
    /// Which parameter.
    pub name: &'static str,
    /// What was given.
    pub text: String,
    /// What is wrong and what would be right.
    pub problem: String,
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamValue {
    /// A duration.
    Duration(Duration),
    /// A whole number.
    Count(u64),
    /// A word.
    Word(String),
}

impl ParamValue {
    /// As one would write it on the command line.
    pub fn text(&self) -> String {
        match self {
            ParamValue::Duration(value) => humantime::format_duration(*value).to_string(),
            ParamValue::Count(value) => value.to_string(),
            ParamValue::Word(value) => value.clone(),
        }
    }
}

/// The values of a probe's parameters for one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    values: BTreeMap<&'static str, ParamValue>,
}

impl Params {
    /// The defaults, or the quick ones.
    pub fn defaults(specs: &'static [ParamSpec], quick: bool) -> Params {
        let value = |spec: &ParamSpec| match spec.quick {
            Some(text) if quick => spec.parse(text).unwrap_or_else(|_| spec.default_value()),
            _ => spec.default_value(),
        };
        Params { values: specs.iter().map(|spec| (spec.name, value(spec))).collect() }
    }

    /// Sets one.
    pub fn set(&mut self, spec: &ParamSpec, value: ParamValue) {
        self.values.insert(spec.name, value);
    }

    /// A duration.
    ///
    /// # Panics
    /// When the probe declares no duration of that name: a defect of the probe, found by running any of its cases.
    pub fn duration(&self, name: &str) -> Duration {
        match self.values.get(name) {
            Some(ParamValue::Duration(value)) => *value,
            other => panic!("parameter {name} is no duration: {other:?}"),
        }
    }

    /// A count.
    ///
    /// # Panics
    /// As [`Params::duration`].
    pub fn count(&self, name: &str) -> u64 {
        match self.values.get(name) {
            Some(ParamValue::Count(value)) => *value,
            other => panic!("parameter {name} is no count: {other:?}"),
        }
    }

    /// A word.
    ///
    /// # Panics
    /// As [`Params::duration`].
    pub fn word(&self, name: &str) -> &str {
        match self.values.get(name) {
            Some(ParamValue::Word(value)) => value,
            other => panic!("parameter {name} is no word: {other:?}"),
        }
    }

    /// All of them as one would write them on the command line.
    pub fn texts(&self) -> impl Iterator<Item = (&'static str, String)> + '_ {
        self.values.iter().map(|(name, value)| (*name, value.text()))
    }
}

/// In files durations are numbers in milliseconds whose key ends in `_ms`; hyphens become underscores.
impl Serialize for Params {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.values.len()))?;
        for (name, value) in &self.values {
            let key = name.replace('-', "_");
            match value {
                ParamValue::Duration(value) => map.serialize_entry(&format!("{key}_ms"), &json_millis(*value))?,
                ParamValue::Count(value) => map.serialize_entry(&key, value)?,
                ParamValue::Word(value) => map.serialize_entry(&key, value)?,
            }
        }
        map.end()
    }
}

/// A duration as a JSON value in milliseconds: whole where it is whole.
pub fn json_millis(duration: Duration) -> Value {
    #[derive(serde::Serialize)]
    struct Wrapped(#[serde(with = "crate::time::millis")] Duration);
    serde_json::to_value(Wrapped(duration)).unwrap_or_else(|_| duration_millis(duration).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_take_units_and_max() {
        assert_eq!(parse_duration("1m 5s"), Ok(Duration::from_secs(65)));
        assert_eq!(parse_duration("max"), Ok(Duration::from_nanos(u64::MAX)));
        for wrong in ["", "-5ms", "300", "5 parsecs", "99999999999999999999s", "1000y", "abc"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
        assert!(parse_duration("300").unwrap_err().contains("300ms"));
    }

    #[test]
    fn counts_and_words_are_bounded() {
        let n = count("runs", 3, "");
        assert!(n.parse("0").is_err() && n.parse("-1").is_err() && n.parse("1000001").is_err());
        assert_eq!(n.parse("7"), Ok(ParamValue::Count(7)));
        let w = word("mode", &["a", "b"], "");
        assert!(w.parse("c").unwrap_err().to_string().contains("a, b"));
        assert!(millis("period", 5, "").positive().parse("0s").is_err());
    }

    #[test]
    fn files_carry_milliseconds() {
        const SPECS: &[ParamSpec] = &[millis("c-due", 150, ""), count("count", 3, ""), word("missed", &["x"], "")];
        let params = Params::defaults(SPECS, false);
        let json = serde_json::to_string(&params).unwrap();
        assert_eq!(json, r#"{"c_due_ms":150,"count":3,"missed":"x"}"#);
    }
}
