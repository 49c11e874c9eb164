//! The result document, `loopprobe.result/1`: what is written as JSON and what the terminal's text is made from.
//!
//! Paths in it are public: scripts rely on them. Numbers are finite, absent is null or left out. Durations are
//! milliseconds in keys that end in `_ms`, or carry a unit beside them. No host name, user name or path is in it.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::machine::Machine;
use crate::params::Params;
use crate::policy::PolicyName;
use crate::probe::{Kind, Source, Stance, TextValue, Unit};
use crate::readings::{Better, Stretch};
use crate::scenario::Scenario;
use crate::trace::Trace;
use crate::verdict::Verdict;

/// The schema's name and major version.
pub const SCHEMA: &str = "loopprobe.result/1";

/// A whole result file.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// What wrote it.
    pub tool: Tool,
    /// When the first probe began, RFC 3339 in UTC.
    pub started: String,
    /// The call, without the place of the output.
    pub command: Vec<String>,
    /// The user's name for this run or machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The machine; null when everything ran in virtual time.
    pub machine: Option<Machine>,
    /// False while there is more to come, or when it was cut short.
    pub complete: bool,
    /// One for each probe, case and policy.
    pub results: Vec<ProbeResult>,
    /// How many claims there are of each verdict.
    pub summary: Summary,
}

/// What wrote a document.
#[derive(Clone, Debug, Serialize)]
pub struct Tool {
    /// `loopprobe`.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
}

/// One probe's case under one policy.
#[derive(Clone, Debug, Serialize)]
pub struct ProbeResult {
    /// The probe.
    pub probe: &'static str,
    /// Its version: results of different versions don't compare.
    pub probe_version: u32,
    /// The case.
    pub case: &'static str,
    /// The loop under test.
    #[serde(rename = "loop")]
    pub subject: Subject,
    /// `real` or `virtual`.
    pub time: TimeKind,
    /// The parameters.
    pub params: Params,
    /// The seed of everything random.
    pub seed: u64,
    /// What `--tolerance` granted.
    pub tolerance_ms: f64,
    /// Whether `--quick` chose the parameters.
    pub quick: bool,
    /// False when it was cut short.
    pub complete: bool,
    /// What was run.
    pub scenario: Scenario,
    /// The runs.
    pub runs: Vec<Run>,
    /// The numbers that machines and versions are compared by.
    pub metrics: BTreeMap<&'static str, MetricValues>,
    /// The claims.
    pub claims: Vec<ClaimResult>,
    /// The worst verdict of the claims.
    pub verdict: Verdict,
    /// Why the scenario could not be run, where that is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The loop under test.
#[derive(Clone, Debug, Serialize)]
pub struct Subject {
    /// `builtin`.
    pub name: &'static str,
    /// The policy.
    pub policy: PolicyName,
    /// The loop's version.
    pub version: &'static str,
    /// The defect that was put in.
    pub fault: Option<&'static str>,
}

/// Which clock a result was made on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeKind {
    /// The machine's.
    Real,
    /// The simulated one.
    Virtual,
}

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// The worst verdict of the claims' readings in it; left out where nothing was judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Its metrics.
    pub metrics: BTreeMap<&'static str, Option<f64>>,
    /// What the machine did meanwhile; null in virtual time.
    pub noise: Option<Noise>,
    /// The events.
    pub trace: Vec<crate::trace::Event>,
    /// The loops' counters.
    pub loops: Vec<crate::trace::LoopCounters>,
    /// The futures' last states.
    pub futures: BTreeMap<String, crate::trace::FutureState>,
    /// What was counted of tasks whose runs are not in the trace.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub counted: BTreeMap<String, crate::trace::Counted>,
    /// Events that found no room.
    pub dropped: u64,
}

impl Run {
    /// A run from its trace.
    pub fn new(trace: Trace, noise: Option<Noise>, metrics: BTreeMap<&'static str, Option<f64>>) -> Run {
        let Trace { events, loops, futures, counted, dropped } = trace;
        Run { verdict: None, metrics, noise, trace: events, loops, futures, counted, dropped }
    }
}

/// What the machine did during a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Noise {
    /// Whether every usable CPU had its own pinned sentinel; where not, a stall of one CPU may go unseen.
    pub pinned: bool,
    /// How many sentinels there were.
    pub sentinels: usize,
    /// How often each looks.
    pub period_ms: f64,
    /// How late the sentinels woke: upper bounds of the bins in microseconds, and how many fell into each.
    pub histogram: Vec<Bin>,
    /// The longest a sentinel was late.
    pub longest_stall_ms: f64,
    /// How long the loops' threads were ready but not running; null where the system doesn't tell.
    pub run_queue_ms: Option<f64>,
    /// How often the loops' threads lost their CPU against their will.
    pub involuntary_switches: Option<u64>,
    /// How long the control group was throttled.
    pub throttled_ms: Option<f64>,
    /// The stretches in which the process was held up for longer than the rule allows for.
    pub disturbed: Vec<Disturbance>,
}

/// One bin of a histogram.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// Its upper bound; null: no bound.
    pub up_to_us: Option<u64>,
    /// How many.
    pub count: u64,
}

/// One disturbed stretch and what saw it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Disturbance {
    /// From when to when.
    #[serde(flatten)]
    pub stretch: Stretch,
    /// What saw it: `cpu 0`, `run queue`, `throttled`.
    pub seen_by: String,
}

/// A metric over the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricValues {
    /// Its unit.
    pub unit: &'static str,
    /// Which way is better.
    pub better: Better,
    /// One value for each run; null where there were too few samples.
    pub values: Vec<Option<f64>>,
}

/// What is said of a claim.
#[derive(Clone, Debug, Serialize)]
pub struct ClaimResult {
    /// Its id.
    pub id: &'static str,
    /// The statement.
    pub statement: &'static str,
    /// Whether anything is promised.
    pub kind: Kind,
    /// The verdict over the runs.
    pub verdict: Verdict,
    /// What was seen: in the first run, or in the first with this verdict.
    pub observed: Value,
    /// What it should be.
    pub ideal: Value,
    /// What the text says.
    pub text: Option<TextValue>,
    /// The unit of the numbers.
    pub unit: Option<Unit>,
    /// Why it isn't `holds`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Words for the reader.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The rule that was applied, with its derivation, where it is about time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<String>,
    /// Where the text says it.
    pub source: Source,
    /// The policy that it was judged under.
    pub policy: PolicyName,
    /// Whether the text is right.
    pub text_stance: &'static str,
    /// Where it isn't, both sides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refutation: Option<Refutation>,
    /// In how many of the runs it held.
    pub n_of: NOf,
    /// The further readings of the claim, where there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<Further>,
}

/// A text's claim and what is true instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Refutation {
    /// What the text claims.
    pub claims: &'static str,
    /// What is true, and how that is known.
    pub truth: &'static str,
}

impl Refutation {
    /// Both sides, where the text is wrong.
    pub fn of(stance: Stance) -> Option<Refutation> {
        match stance {
            Stance::Stands => None,
            Stance::Refuted { claims, truth } => Some(Refutation { claims, truth }),
        }
    }
}

/// A further reading of a claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Further {
    /// What was seen.
    pub observed: Value,
    /// What it should be.
    pub ideal: Value,
    /// Its own verdict.
    pub verdict: Verdict,
    /// Words for the reader.
    pub note: Option<String>,
}

/// In how many of the runs a claim held, or was observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NOf {
    /// In so many.
    pub n: usize,
    /// Of so many.
    pub of: usize,
}

/// How many claims there are of each verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The verdicts that occur, and how often.
    pub claims: BTreeMap<Verdict, usize>,
    /// The worst of them.
    pub verdict: Option<Verdict>,
}

impl Summary {
    /// Counts the claims of some results.
    pub fn of(results: &[ProbeResult]) -> Summary {
        let mut claims = BTreeMap::new();
        for claim in results.iter().flat_map(|result| &result.claims) {
            *claims.entry(claim.verdict).or_default() += 1;
        }
        let verdict = results.iter().map(|result| result.verdict).max();
        Summary { claims, verdict }
    }
}
