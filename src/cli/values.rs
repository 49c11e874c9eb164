//! Values on the command line: how each kind is read, and what is said when it can't be.

use std::ffi::OsStr;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, Command};

use crate::params::{ParamKind, ParamSpec, ParamValue, parse_duration};
use crate::policy::PolicyName;

/// The greatest number of runs: more fill the memory with their traces.
const MOST_RUNS: usize = 100_000;

/// A parameter of a probe.
pub(super) fn param(spec: &'static ParamSpec) -> ValueParser {
    match spec.kind {
        ParamKind::Word { choices, .. } => PossibleValuesParser::new(choices).map(ParamValue::Word).into(),
        _ => ValueParser::new(move |text: &str| spec.parse(text).map_err(|error| error.problem)),
    }
}

/// A duration of 0 or more.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    parse_duration(text)
}

/// A duration above 0.
pub(super) fn positive_duration(text: &str) -> Result<Duration, String> {
    match parse_duration(text)? {
        Duration::ZERO => Err("it must be longer than 0".into()),
        value => Ok(value),
    }
}

/// A number of runs.
pub(super) fn runs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(runs) if (1..=MOST_RUNS).contains(&runs) => Ok(runs),
        _ => Err(format!("give a whole number from 1 to {MOST_RUNS}")),
    }
}

/// A seed.
pub(super) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("give a whole number from 0 to {}", u64::MAX))
}

/// A label: words for people, so anything but nothing.
pub(super) fn label(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        Err("give a name for this run or machine, as in --label laptop".into())
    } else {
        Ok(text.into())
    }
}

/// A policy's name, or `all`.
pub(super) fn policies() -> ValueParser {
    let names = PolicyName::ALL.map(PolicyName::word);
    PossibleValuesParser::new(names.into_iter().chain(["all"]))
        .map(|name| -> Vec<PolicyName> {
            let chosen = |policy: &PolicyName| name == "all" || name == policy.word();
            PolicyName::ALL.into_iter().filter(chosen).collect()
        })
        .into()
}

/// Claim ids, in capitals or not.
#[derive(Clone)]
pub(super) struct ClaimId {
    ids: PossibleValuesParser,
}

impl ClaimId {
    /// One of these.
    pub(super) fn of(ids: impl Iterator<Item = &'static str>) -> ClaimId {
        ClaimId { ids: PossibleValuesParser::new(ids) }
    }
}

impl TypedValueParser for ClaimId {
    type Value = String;

    fn parse_ref(&self, cmd: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        // In capitals before it is looked up, so that the nearest id is found as well.
        self.ids.parse_ref(cmd, arg, &value.to_ascii_uppercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_numbers_get_a_remedy() {
        for wrong in ["0", "-1", "x", "", "100001", "1.5"] {
            assert!(runs(wrong).unwrap_err().contains("from 1 to"), "{wrong}");
        }
        assert_eq!(runs("7"), Ok(7));
        assert!(seed("-1").is_err() && seed("18446744073709551616").is_err());
        assert_eq!(seed("18446744073709551615"), Ok(u64::MAX));
    }

    #[test]
    fn wrong_durations_get_a_remedy() {
        for wrong in ["abc", "-5ms", "10", ""] {
            assert!(duration(wrong).unwrap_err().contains("300ms"), "{wrong}");
        }
        assert!(positive_duration("0s").is_err());
        assert_eq!(duration("0s"), Ok(Duration::ZERO));
    }

    #[test]
    fn a_label_has_words() {
        assert!(label(" ").is_err());
        assert_eq!(label("my laptop"), Ok("my laptop".into()));
    }
}
