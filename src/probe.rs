//! What a probe is: constant data about the cases and claims, a scenario to build and a judge to read the trace.

use serde::Serialize;

use crate::params::{ParamSpec, Params};
use crate::policy::PolicyName;
use crate::readings::Readings;
use crate::scenario::Scenario;
use crate::trace::Trace;

/// One probe: one file in `probes/`.
#[derive(Debug)]
pub struct Probe {
    /// Its name, the subcommand; equals the file's stem with hyphens.
    pub name: &'static str,
    /// Raised when the meaning of running it changes; `compare` refuses to mix versions.
    pub version: u32,
    /// One line.
    pub about: &'static str,
    /// Which part of the catalogue it belongs to.
    pub family: Family,
    /// Where the text says it.
    pub source: Source,
    /// Its numbers.
    pub params: &'static [ParamSpec],
    /// What is run.
    pub cases: &'static [Case],
    /// What is judged.
    pub claims: &'static [Claim],
    /// Fills a reading for every claim of the case that was run. Pure: it sees the trace and the parameters only.
    pub judge: fn(&Evidence<'_>, &mut Readings),
}

/// The parts of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Timers.
    Timers,
    /// Failures.
    Failures,
    /// Task queue and threads.
    Tasks,
    /// Connections.
    Connections,
}

impl Family {
    /// Its heading in lists.
    pub const fn heading(self) -> &'static str {
        match self {
            Family::Timers => "Timers",
            Family::Failures => "Failures",
            Family::Tasks => "Task queue and threads",
            Family::Connections => "Connections",
        }
    }
}

/// One of the four texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Text {
    /// Netty: task queue and timers, section 3.2.
    A,
    /// Netty: inside `execute()`.
    B,
    /// Netty: connections, threads, pipeline, options, futures.
    C,
    /// A hand-written loop, `EventLoopImpl`, section 12.1.
    D,
}

impl Text {
    /// What the text is.
    pub const fn title(self) -> &'static str {
        match self {
            Text::A => "A (Netty 3.2, task queue and timers)",
            Text::B => "B (Netty, inside execute())",
            Text::C => "C (Netty, connections, threads and pipeline)",
            Text::D => "D (Java 12.1, event loop and task queue)",
        }
    }
}

/// Where a text says something.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Source {
    /// Which text.
    pub text: Text,
    /// The heading of its section, as it stands there.
    pub section: &'static str,
}

impl Source {
    /// A section of a text.
    pub const fn new(text: Text, section: &'static str) -> Source {
        Source { text, section }
    }
}

/// One scenario of a probe.
#[derive(Debug)]
pub struct Case {
    /// Its name; `main` where there is one only.
    pub name: &'static str,
    /// One line.
    pub about: &'static str,
    /// Builds what is run.
    pub scenario: fn(&Params) -> Scenario,
    /// Where it can be run.
    pub time: CaseTime,
}

/// Where a case can be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CaseTime {
    /// In real and in virtual time.
    Both,
    /// In virtual time only: real time can't be made to do it.
    VirtualOnly,
}

/// One statement that holds or not.
#[derive(Debug)]
pub struct Claim {
    /// Its id in the catalogue.
    pub id: &'static str,
    /// The statement, one sentence.
    pub statement: &'static str,
    /// The case that shows it.
    pub case: &'static str,
    /// Under which policies it is judged.
    pub policies: Policies,
    /// Whether anything is promised.
    pub kind: Kind,
    /// The unit of its reading, where that is a number.
    pub unit: Option<Unit>,
    /// What the text's author measured or wrote. Shown; never a pass mark.
    pub text: Option<TextValue>,
    /// Whether the text is right.
    pub stance: Stance,
    /// Where the text says it, where that is not the probe's own source.
    pub source: Option<Source>,
}

/// Under which policies a claim is judged.
#[derive(Clone, Copy, Debug)]
pub struct Policies {
    /// Those that a run without `--policy` includes for it.
    pub named: &'static [PolicyName],
    /// Those that agree with them, judged when they are asked for.
    pub also: &'static [PolicyName],
}

impl Policies {
    /// Whether the claim is judged under this one.
    pub fn contain(&self, policy: PolicyName) -> bool {
        self.named.contains(&policy) || self.also.contains(&policy)
    }
}

/// Claims on which all loops agree; `netty` stands for them.
pub const BOTH: Policies = Policies {
    named: &[PolicyName::Netty],
    also: &[PolicyName::Netty41, PolicyName::Linkd, PolicyName::LinkdListed],
};
/// Claims of Netty, 4.2 and 4.1 alike.
pub const NETTY: Policies = Policies { named: &[PolicyName::Netty], also: &[PolicyName::Netty41] };
/// Claims of text D's loop, where its listing does what its words say.
pub const LINKD: Policies = Policies { named: &[PolicyName::Linkd], also: &[PolicyName::LinkdListed] };
/// Claims about the difference between text D's words and its listing.
pub const LINKD_AND_LISTED: Policies =
    Policies { named: &[PolicyName::Linkd, PolicyName::LinkdListed], also: &[] };

/// Whether a claim promises anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It holds or is broken.
    Judged,
    /// Nobody promises anything: the fact is recorded.
    Observed,
}

/// The unit of a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// A count.
    #[serde(rename = "1")]
    Count,
}

impl Unit {
    /// The word behind a number.
    pub const fn word(self) -> &'static str {
        match self {
            Unit::Ms => "ms",
            Unit::Us => "us",
            Unit::Count => "",
        }
    }
}

/// A text's own value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum TextValue {
    /// A number in the claim's unit.
    Number(f64),
    /// Words.
    Words(&'static str),
}

/// Whether the text is right, shown by the real thing or by the text itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "stance")]
pub enum Stance {
    /// As far as anyone measured, yes.
    Stands,
    /// No.
    Refuted {
        /// What the text claims.
        claims: &'static str,
        /// What is true, and how that is known.
        truth: &'static str,
    },
}

impl Stance {
    /// The word for it in results.
    pub const fn word(self) -> &'static str {
        match self {
            Stance::Stands => "stands",
            Stance::Refuted { .. } => "refuted",
        }
    }
}

impl Claim {
    /// What the fields below default to, for `..Claim::DEFAULT`.
    pub const DEFAULT: Claim = Claim {
        id: "",
        statement: "",
        case: "main",
        policies: BOTH,
        kind: Kind::Judged,
        unit: None,
        text: None,
        stance: Stance::Stands,
        source: None,
    };
}

/// What a judge sees.
#[derive(Debug)]
pub struct Evidence<'a> {
    /// The parameters of the run.
    pub params: &'a Params,
    /// The case.
    pub case: &'static str,
    /// The policy whose claims are judged.
    pub policy: PolicyName,
    /// What was done.
    pub scenario: &'a Scenario,
    /// What happened.
    pub trace: &'a Trace,
}

impl Probe {
    /// The policies that its claims name, in running order; `both` counts as `netty`.
    pub fn policies(&self) -> Vec<PolicyName> {
        let named = |policy: &PolicyName| self.claims.iter().any(|claim| claim.policies.named.contains(policy));
        PolicyName::ALL.into_iter().filter(named).collect()
    }

    /// The claims about a case under a policy.
    pub fn claims_of(&self, case: &'static str, policy: PolicyName) -> impl Iterator<Item = &'static Claim> {
        self.claims.iter().filter(move |claim| claim.case == case && claim.policies.contain(policy))
    }
}
