//! From readings to verdicts: pure functions of the reading, the ideal, the rule and the noise.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::readings::{Expect, Reading, Stretch};
use crate::time::{Time, duration_millis};

/// What is said of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It held.
    Holds,
    /// Nothing is promised; the fact is recorded.
    Observed,
    /// Asked for, or a runtime is not there.
    Skipped,
    /// The subject lacks a step.
    Unsupported,
    /// The machine disturbed the run, samples are too few, or the trace is full.
    Inconclusive,
    /// The probe itself failed.
    Error,
    /// The scenario did not end within its limit.
    Timeout,
    /// It did not hold.
    Broken,
}

impl Verdict {
    /// The word for it on the terminal and in files.
    pub const fn word(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Observed => "observed",
            Verdict::Skipped => "skipped",
            Verdict::Unsupported => "unsupported",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Error => "error",
            Verdict::Timeout => "timeout",
            Verdict::Broken => "broken",
        }
    }

    /// All of them, the best first.
    pub const ALL: [Verdict; 8] = [
        Verdict::Holds,
        Verdict::Observed,
        Verdict::Skipped,
        Verdict::Unsupported,
        Verdict::Inconclusive,
        Verdict::Error,
        Verdict::Timeout,
        Verdict::Broken,
    ];
}

/// The rule for "on time". Its derivation is printed wherever it is applied.
///
/// Late by up to `tolerance + 2 × resolution + max(0.1 % of the wait, at most 100 ms; slack)` counts as on time:
/// shared machines stall every program for 2 to 10 ms now and then (the tolerance), a clock can't tell two
/// readings within its resolution apart, and kernels let timers of ordinary threads be late by a part of the
/// wait (poll's slack, 0.1 %) or by a fixed slack. The form is that of the Linux Test Project's timer rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnTime {
    /// What the user grants, `--tolerance`.
    pub tolerance: Duration,
    /// The clock's resolution.
    pub resolution: Duration,
    /// The kernel's timer slack for the thread.
    pub slack: Duration,
}

impl OnTime {
    /// Virtual time: exact.
    pub const EXACT: OnTime =
        OnTime { tolerance: Duration::ZERO, resolution: Duration::ZERO, slack: Duration::ZERO };

    /// How far from the ideal counts as on it, for a reading that rests on waits of this length.
    pub fn allowed(&self, wait: Duration) -> Duration {
        if *self == OnTime::EXACT {
            return Duration::ZERO;
        }
        let share = (wait / 1000).min(Duration::from_millis(100));
        self.tolerance + 2 * self.resolution + share.max(self.slack)
    }

    /// The derivation in words.
    pub fn derivation(&self, wait: Duration) -> String {
        if *self == OnTime::EXACT {
            return "virtual time is exact".into();
        }
        format!(
            "{:.3} ms = tolerance {} + 2 × clock resolution {} ns + max(0.1 % of {:.0} ms, slack {} us)",
            duration_millis(self.allowed(wait)),
            humantime::format_duration(self.tolerance),
            self.resolution.as_nanos(),
            duration_millis(wait),
            self.slack.as_micros(),
        )
    }
}

/// What surrounded a run.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The stretches in which the machine was seen to hold the process up; none in virtual time.
    pub disturbed: Vec<Stretch>,
    /// Events that found no room.
    pub dropped: u64,
    /// When the run ended.
    pub end: Time,
}

/// A verdict and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// The expected value, for the result.
    pub ideal: Value,
    /// Why it isn't `holds`.
    pub reason: Option<String>,
}

/// Judges one reading. `ideal` is the virtual run's value of the same reading.
pub fn judge(reading: &Reading, ideal: &Value, rule: &OnTime, around: &Surroundings) -> Judgement {
    let verdict = |verdict, ideal: Value, reason| Judgement { verdict, ideal, reason };
    let held = |ideal: Value| verdict(Verdict::Holds, ideal, None);
    let off = |ideal: Value, why: String| {
        let (word, reason) = excuse(reading, around).map_or((Verdict::Broken, why.clone()), |excuse| {
            (Verdict::Inconclusive, format!("{why}, but {excuse}"))
        });
        verdict(word, ideal, Some(reason))
    };
    match &reading.expect {
        Expect::Nothing => verdict(Verdict::Observed, ideal.clone(), None),
        Expect::Skipped(why) => verdict(Verdict::Skipped, Value::Null, Some(why.clone())),
        Expect::Fact(expected) if reading.observed == *expected => held(expected.clone()),
        Expect::Fact(expected) if reading.observed.is_null() => off(expected.clone(), "it was not seen".into()),
        Expect::Fact(expected) => verdict(
            Verdict::Broken,
            expected.clone(),
            Some(format!("expected {expected}, saw {}", reading.observed)),
        ),
        Expect::Exact(expected) if reading.observed == *expected => held(expected.clone()),
        Expect::Exact(expected) => off(expected.clone(), format!("expected {expected}, saw {}", reading.observed)),
        Expect::SameAsIdeal if reading.observed == *ideal => held(ideal.clone()),
        Expect::SameAsIdeal => off(ideal.clone(), format!("expected {ideal}, saw {}", reading.observed)),
        Expect::AtLeast(least) => match reading.observed.as_f64() {
            Some(value) if value >= *least => held((*least).into()),
            Some(value) => {
                verdict(Verdict::Broken, (*least).into(), Some(format!("{value} is below the bound {least}")))
            }
            None => off((*least).into(), "it was not seen".into()),
        },
        Expect::MoreThan(bound) => match reading.observed.as_f64() {
            Some(value) if value > *bound => held((*bound).into()),
            Some(value) => off((*bound).into(), format!("{value} is not more than {bound}")),
            None => off((*bound).into(), "it was not seen".into()),
        },
        Expect::AtMost(most) => match reading.observed.as_f64() {
            Some(value) if value <= *most => held((*most).into()),
            Some(value) => off((*most).into(), format!("{value} is above the bound {most}")),
            None => off((*most).into(), "it was not seen".into()),
        },
        Expect::Ideal => match (reading.observed.as_f64(), ideal.as_f64()) {
            (Some(value), Some(wanted)) => {
                let wait = reading.longest_wait();
                if (value - wanted).abs() <= duration_millis(rule.allowed(wait)) {
                    held(ideal.clone())
                } else {
                    let why =
                        format!("{:+.3} ms off the ideal; allowed {}", value - wanted, rule.derivation(wait));
                    off(ideal.clone(), why)
                }
            }
            (None, None) => held(ideal.clone()),
            (None, Some(_)) => off(ideal.clone(), "it was not seen".into()),
            (Some(_), None) => off(ideal.clone(), "the ideal run did not show it".into()),
        },
    }
}

/// Why a deviation may be the machine's doing.
fn excuse(reading: &Reading, around: &Surroundings) -> Option<String> {
    if around.dropped > 0 {
        return Some(format!("the trace was full: {} events are missing", around.dropped));
    }
    let whole = [Stretch { from: Time::ZERO, to: around.end }];
    let rests_on: &[Stretch] = if reading.rests_on.is_empty() { &whole } else { &reading.rests_on };
    let hit = around.disturbed.iter().find(|noise| rests_on.iter().any(|rest| rest.touches(noise)))?;
    Some(format!("the machine held the process up from {} to {} ms", hit.from, hit.to))
}

/// The verdict over several runs or readings: the worst, except that runs which can't tell don't spoil one that can.
pub fn over_runs(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
    let all: Vec<Verdict> = verdicts.into_iter().collect();
    let worst = all.iter().copied().max().unwrap_or(Verdict::Skipped);
    if worst == Verdict::Inconclusive && all.contains(&Verdict::Holds) { Verdict::Holds } else { worst }
}

/// The verdict over a claim's readings in one run, or over the claims of a result: the worst.
pub fn worst(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
    verdicts.into_iter().max().unwrap_or(Verdict::Skipped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readings::Readings;
    use serde_json::json;

    const RULE: OnTime = OnTime {
        tolerance: Duration::from_millis(10),
        resolution: Duration::from_nanos(1),
        slack: Duration::from_micros(50),
    };

    fn ms(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    fn around(disturbed: &[(u64, u64)]) -> Surroundings {
        let disturbed = disturbed.iter().map(|&(from, to)| Stretch { from: ms(from), to: ms(to) }).collect();
        Surroundings { disturbed, dropped: 0, end: ms(1000) }
    }

    fn one(read: impl FnOnce(&mut Readings)) -> Reading {
        let mut readings = Readings::default();
        read(&mut readings);
        readings.of("X").next().unwrap().clone()
    }

    fn verdict_of(reading: &Reading, ideal: Value, around: &Surroundings) -> Verdict {
        judge(reading, &ideal, &RULE, around).verdict
    }

    #[test]
    fn a_time_off_the_mark_is_broken_only_on_a_quiet_machine() {
        let late = one(|r| {
            r.near("X", Some(265.0)).rests_on(ms(100), ms(450));
        });
        assert_eq!(verdict_of(&late, json!(250), &around(&[])), Verdict::Broken);
        assert_eq!(verdict_of(&late, json!(250), &around(&[(440, 460)])), Verdict::Inconclusive);
        assert_eq!(verdict_of(&late, json!(250), &around(&[(451, 460)])), Verdict::Broken);
        assert_eq!(verdict_of(&late, json!(256), &around(&[])), Verdict::Holds);
    }

    #[test]
    fn early_has_no_excuse() {
        let early = one(|r| {
            r.at_least("X", Some(-0.000001), 0.0);
        });
        assert_eq!(verdict_of(&early, Value::Null, &around(&[(0, 1000)])), Verdict::Broken);
    }

    #[test]
    fn facts_have_no_excuse_but_counts_do() {
        let fact = one(|r| {
            r.fact("X", false, true);
        });
        let count = one(|r| {
            r.exact("X", 8, 9);
        });
        let noisy = around(&[(0, 1000)]);
        assert_eq!(verdict_of(&fact, Value::Null, &noisy), Verdict::Broken);
        assert_eq!(verdict_of(&count, Value::Null, &noisy), Verdict::Inconclusive);
        assert_eq!(verdict_of(&count, Value::Null, &around(&[])), Verdict::Broken);
    }

    #[test]
    fn a_full_trace_is_inconclusive() {
        let count = one(|r| {
            r.exact("X", 8, 9);
        });
        let full = Surroundings { dropped: 1, ..around(&[]) };
        assert_eq!(verdict_of(&count, Value::Null, &full), Verdict::Inconclusive);
    }

    #[test]
    fn virtual_time_allows_nothing() {
        let off = one(|r| {
            r.near("X", Some(250.000001));
        });
        assert_eq!(judge(&off, &json!(250), &OnTime::EXACT, &around(&[])).verdict, Verdict::Broken);
    }

    #[test]
    fn many_runs_are_as_bad_as_their_worst_but_a_quiet_one_speaks_for_the_disturbed() {
        use Verdict::*;
        assert_eq!(over_runs([Holds, Inconclusive]), Holds);
        assert_eq!(over_runs([Holds, Inconclusive, Broken]), Broken);
        assert_eq!(over_runs([Inconclusive]), Inconclusive);
        assert_eq!(worst([Holds, Inconclusive]), Inconclusive);
    }
}
