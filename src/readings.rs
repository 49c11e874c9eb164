//! What a judge reads from a trace: for each claim a value, what it should be, and what it rests on.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::time::Time;

/// The readings of one run.
#[derive(Debug, Default)]
pub struct Readings {
    readings: Vec<Reading>,
    metrics: Vec<Metric>,
}

/// One reading.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The claim.
    pub id: &'static str,
    /// What was seen; null when there was nothing to see.
    pub observed: Value,
    /// What it should be.
    pub expect: Expect,
    /// The stretches of the run that it rests on; empty: the whole run.
    pub rests_on: Vec<Stretch>,
    /// Words for the reader.
    pub note: Option<String>,
}

/// What a reading should be.
#[derive(Clone, Debug, PartialEq)]
pub enum Expect {
    /// This, on any machine and whatever disturbs it: a thread, a kind of error.
    Fact(Value),
    /// This, unless the machine disturbed the run: a count or an order that depends on time.
    Exact(Value),
    /// Near the virtual run's reading of the same scenario, in ms.
    Ideal,
    /// The virtual run's reading of the same scenario exactly, unless the machine disturbed the run: a count or an
    /// order that follows the parameters.
    SameAsIdeal,
    /// Never below this, whatever disturbs the machine: early timers have no excuse.
    AtLeast(f64),
    /// More than this, unless the machine disturbed the run.
    MoreThan(f64),
    /// At most this, unless the machine disturbed the run.
    AtMost(f64),
    /// Nothing is promised.
    Nothing,
    /// Not judged, and why.
    Skipped(String),
}

/// From one instant to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Stretch {
    /// Its begin.
    #[serde(rename = "from_ms")]
    pub from: Time,
    /// Its end.
    #[serde(rename = "to_ms")]
    pub to: Time,
}

impl Stretch {
    /// Whether two stretches have an instant in common.
    pub fn touches(&self, other: &Stretch) -> bool {
        self.from <= other.to && other.from <= self.to
    }
}

/// A number that machines and versions are compared by.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Which way is better.
    pub better: Better,
    /// The value; absent where there were too few samples.
    pub value: Option<f64>,
}

/// Which way a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// Less is better.
    Lower,
    /// More is better.
    Higher,
    /// Neither.
    None,
}

impl Readings {
    /// A fact that no disturbance excuses.
    pub fn fact(
        &mut self,
        id: &'static str,
        observed: impl Into<Value>,
        expected: impl Into<Value>,
    ) -> &mut Reading {
        self.push(id, observed.into(), Expect::Fact(expected.into()))
    }

    /// A count or an order that depends on time.
    pub fn exact(
        &mut self,
        id: &'static str,
        observed: impl Into<Value>,
        expected: impl Into<Value>,
    ) -> &mut Reading {
        self.push(id, observed.into(), Expect::Exact(expected.into()))
    }

    /// A time in ms that should be the virtual run's.
    pub fn near(&mut self, id: &'static str, observed: Option<f64>) -> &mut Reading {
        self.push(id, number(observed), Expect::Ideal)
    }

    /// A count or an order that should be the virtual run's.
    pub fn same(&mut self, id: &'static str, observed: impl Into<Value>) -> &mut Reading {
        self.push(id, observed.into(), Expect::SameAsIdeal)
    }

    /// A number that is never below a bound.
    pub fn at_least(&mut self, id: &'static str, observed: Option<f64>, least: f64) -> &mut Reading {
        self.push(id, number(observed), Expect::AtLeast(least))
    }

    /// A number that is at most a bound.
    pub fn at_most(&mut self, id: &'static str, observed: Option<f64>, most: f64) -> &mut Reading {
        self.push(id, number(observed), Expect::AtMost(most))
    }

    /// A number that is more than a bound.
    pub fn more_than(&mut self, id: &'static str, observed: f64, bound: f64) -> &mut Reading {
        self.push(id, number(Some(observed)), Expect::MoreThan(bound))
    }

    /// A value about which nothing is promised.
    pub fn observed(&mut self, id: &'static str, observed: impl Into<Value>) -> &mut Reading {
        self.push(id, observed.into(), Expect::Nothing)
    }

    /// A claim that the parameters leave without a subject.
    pub fn skip(&mut self, id: &'static str, why: &str) -> &mut Reading {
        self.push(id, Value::Null, Expect::Skipped(why.into()))
    }

    /// A number for comparing machines and versions.
    pub fn metric(&mut self, name: &'static str, unit: &'static str, better: Better, value: Option<f64>) {
        self.metrics.push(Metric { name, unit, better, value: value.filter(|value| value.is_finite()) });
    }

    fn push(&mut self, id: &'static str, observed: Value, expect: Expect) -> &mut Reading {
        self.readings.push(Reading { id, observed, expect, rests_on: Vec::new(), note: None });
        let last = self.readings.len() - 1;
        &mut self.readings[last]
    }

    /// The readings of a claim, in the order in which they were made; the first is its headline.
    pub fn of(&self, id: &str) -> impl Iterator<Item = &Reading> {
        self.readings.iter().filter(move |reading| reading.id == id)
    }

    /// The ids read.
    pub fn ids(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.readings.iter().map(|reading| reading.id)
    }

    /// The metrics.
    pub fn metrics(&self) -> &[Metric] {
        &self.metrics
    }
}

impl Reading {
    /// It rests on what lies between these instants only.
    pub fn rests_on(&mut self, from: Time, to: Time) -> &mut Reading {
        self.rests_on.push(Stretch { from, to });
        self
    }

    /// The longest of the stretches it rests on: the wait that the rule for "on time" is applied to.
    pub fn longest_wait(&self) -> Duration {
        self.rests_on.iter().map(|rest| rest.to.since(rest.from)).max().unwrap_or_default()
    }

    /// Words for the reader.
    pub fn note(&mut self, note: impl Into<String>) -> &mut Reading {
        self.note = Some(note.into());
        self
    }
}

fn number(value: Option<f64>) -> Value {
    // Six decimals of a millisecond are nanoseconds: more digits would be noise of the division.
    value.map_or(Value::Null, |value| ((value * 1e6).round() / 1e6).into())
}
