//! Made probes and results for the unit tests of what selects, renders and writes them.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::params::{ParamSpec, Params, count, millis, word};
use crate::policy::PolicyName;
use crate::probe::{
    BOTH, Case, CaseTime, Claim, Evidence, Family, Kind, LINKD, Probe, Source, Stance, Text, Unit,
};
use crate::readings::Readings;
use crate::result::{ClaimResult, Document, NOf, ProbeResult, Run, SCHEMA, Subject, Summary, TimeKind, Tool};
use crate::run::Request;
use crate::scenario::Scenario;
use crate::time::Time;
use crate::trace::{Event, EventKind, Trace};
use crate::verdict::{Verdict, worst};

const SOURCE: Source = Source::new(Text::A, "made");

fn scenario(_: &Params) -> Scenario {
    Scenario::one_loop(Duration::from_millis(1))
}

fn judge(_: &Evidence<'_>, _: &mut Readings) {}

const PARAMS: &[ParamSpec] = &[
    millis("c-due", 150, "when timer C is due"),
    millis("period", 50, "the period").positive(),
    count("count", 2000, "how many").quick("300"),
    word("missed", &["by-policy", "burst", "skip"], "the policy for missed ticks"),
];

/// Two cases and claims of both policies.
pub(crate) const ALPHA: Probe = Probe {
    name: "alpha",
    version: 1,
    about: "The first made probe",
    family: Family::Timers,
    source: SOURCE,
    params: PARAMS,
    cases: &[
        Case { name: "main", about: "the usual", scenario, time: CaseTime::Both },
        Case { name: "other", about: "the other", scenario, time: CaseTime::VirtualOnly },
    ],
    claims: &[
        Claim { id: "AL-1", statement: "the first holds", unit: Some(Unit::Ms), ..Claim::DEFAULT },
        Claim {
            id: "AL-2",
            statement: "the second holds",
            case: "other",
            policies: LINKD,
            stance: Stance::Refuted { claims: "it is so", truth: "it is not" },
            ..Claim::DEFAULT
        },
    ],
    judge,
};

/// One case, one claim.
pub(crate) const BETA: Probe = Probe {
    name: "beta",
    about: "The second made probe",
    family: Family::Failures,
    params: &[],
    cases: &[Case { name: "main", about: "the usual", scenario, time: CaseTime::Both }],
    claims: &[Claim { id: "BE-1", statement: "it holds", policies: BOTH, ..Claim::DEFAULT }],
    ..ALPHA
};

/// The made probes.
pub(crate) static PROBES: &[&Probe] = &[&ALPHA, &BETA];

/// A claim's result.
pub(crate) fn claim(id: &'static str, verdict: Verdict) -> ClaimResult {
    ClaimResult {
        id,
        statement: "D waits for the end of C's block",
        kind: Kind::Judged,
        verdict,
        observed: 250.02.into(),
        ideal: 250.into(),
        text: None,
        unit: Some(Unit::Ms),
        reason: None,
        note: None,
        tolerance: None,
        source: SOURCE,
        policy: PolicyName::Netty,
        text_stance: Stance::Stands.word(),
        refutation: None,
        n_of: NOf { n: 1, of: 1 },
        further: Vec::new(),
    }
}

/// A result whose claims have these verdicts.
pub(crate) fn result_with(verdicts: &[Verdict]) -> ProbeResult {
    ProbeResult {
        probe: ALPHA.name,
        probe_version: 1,
        case: "main",
        subject: Subject { name: "builtin", policy: PolicyName::Netty, version: "0", fault: None },
        time: TimeKind::Virtual,
        params: Params::defaults(PARAMS, false),
        seed: 1,
        tolerance_ms: 10.0,
        quick: false,
        complete: true,
        scenario: Scenario::one_loop(Duration::from_millis(1)),
        runs: Vec::new(),
        metrics: BTreeMap::new(),
        claims: verdicts.iter().map(|verdict| claim("AL-1", *verdict)).collect(),
        verdict: worst(verdicts.iter().copied()),
        error: None,
    }
}

/// A run with these events.
pub(crate) fn run(events: Vec<Event>) -> Run {
    let trace = Trace { events, ..Trace::default() };
    Run::new(trace, None, BTreeMap::new())
}

/// An event of `loop-1`.
pub(crate) fn event(micros: u64, event: EventKind, task: &str) -> Event {
    Event {
        gauges: None,
        at: Time::from_nanos(micros * 1000),
        thread: "loop-1".into(),
        in_loop: true,
        event,
        task: Some(task.into()),
        run: Some(1),
        channel: None,
        deadline: None,
        note: None,
        value: None,
    }
}

/// A document with these results.
pub(crate) fn document(results: Vec<ProbeResult>) -> Document {
    Document {
        schema: SCHEMA,
        tool: Tool { name: "loopprobe", version: "0" },
        started: "2026-01-02T03:04:05Z".into(),
        command: Vec::new(),
        label: None,
        machine: None,
        complete: true,
        summary: Summary::of(&results),
        results,
    }
}

/// Stands in for a loop: says what it was asked for, and that it holds.
pub(crate) fn runner(request: &Request<'_>) -> ProbeResult {
    let mut result = result_with(&[Verdict::Holds]);
    result.probe = request.probe.name;
    result.case = request.case.name;
    result.subject.policy = request.policy;
    result.time = if request.virtual_time { TimeKind::Virtual } else { TimeKind::Real };
    result
}
