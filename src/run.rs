//! Runs one case of a probe under one policy and judges it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;

use crate::builtin::{self, Outcome, RunError};
use crate::fault::Fault;
use crate::params::Params;
use crate::policy::{Policy, PolicyName};
use crate::probe::{Case, CaseTime, Claim, Evidence, Probe};
use crate::readings::{Reading, Readings};
use crate::result::{ClaimResult, Further, MetricValues, NOf, ProbeResult, Refutation, Run, Subject, TimeKind};
use crate::scenario::Scenario;
use crate::sys;
use crate::time::duration_millis;
use crate::verdict::{Judgement, OnTime, Surroundings, Verdict, judge, over_runs, worst};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The probe.
    pub probe: &'static Probe,
    /// Its case.
    pub case: &'static Case,
    /// The policy.
    pub policy: PolicyName,
    /// The defect to put in.
    pub fault: Option<&'static Fault>,
    /// In virtual time.
    pub virtual_time: bool,
    /// How often; at least 1.
    pub runs: usize,
    /// What counts as on time.
    pub tolerance: Duration,
    /// After how long a run is called stuck; absent: twice its window and 10 s.
    pub limit: Option<Duration>,
    /// The seed of everything random.
    pub seed: u64,
    /// The parameters.
    pub params: &'a Params,
    /// Whether `--quick` chose them.
    pub quick: bool,
}

/// One run of the scenario, read.
struct Observation {
    outcome: Outcome,
    readings: Readings,
}

/// Runs it. Whatever goes wrong is in the result: its verdict is then `error`, `timeout` or `unsupported`.
pub fn run_case(request: &Request<'_>) -> ProbeResult {
    let mut scenario = (request.case.scenario)(request.params);
    scenario.seed = request.seed;
    match observe_all(request, &scenario) {
        Ok((ideal, observations)) => judged(request, scenario, &ideal, observations),
        Err(error) => failed(request, scenario, &error),
    }
}

/// The readings of the virtual run without a fault, and the observations asked for.
fn observe_all(request: &Request<'_>, scenario: &Scenario) -> Result<(Readings, Vec<Observation>), RunError> {
    let policy = request.policy.policy();
    let ideal = read(request, scenario, builtin::run_virtual(scenario, policy, request.seed)?)?;
    let faulty = request.fault.map_or(policy, |fault| (fault.apply)(policy));
    let observe = |_| read(request, scenario, carry_out(request, scenario, faulty)?);
    let observations = (0..request.runs.max(1)).map(observe).collect::<Result<_, _>>()?;
    Ok((ideal.readings, observations))
}

fn carry_out(request: &Request<'_>, scenario: &Scenario, policy: Policy) -> Result<Outcome, RunError> {
    if request.is_virtual() {
        return builtin::run_virtual(scenario, policy, request.seed);
    }
    let limit = scenario.window.saturating_mul(2).saturating_add(Duration::from_secs(10));
    builtin::run_real(scenario, policy, request.seed, request.limit.unwrap_or(limit))
}

/// Has the judge read a trace, and checks that it read every claim and no other.
fn read(request: &Request<'_>, scenario: &Scenario, outcome: Outcome) -> Result<Observation, RunError> {
    let Request { probe, case, policy, params, .. } = request;
    let mut readings = Readings::default();
    let evidence = Evidence { params, case: case.name, policy: *policy, scenario, trace: &outcome.trace };
    (probe.judge)(&evidence, &mut readings);
    let read: BTreeSet<&str> = readings.ids().collect();
    let unread = probe.claims_of(case.name, *policy).find(|claim| !read.contains(claim.id));
    let unknown =
        read.iter().find(|id| !probe.claims.iter().any(|claim| claim.id == **id && claim.case == case.name));
    match unread.map(|claim| claim.id).or(unknown.copied()) {
        Some(id) => Err(RunError::Judge { id: id.into(), case: case.name }),
        None => Ok(Observation { outcome, readings }),
    }
}

impl Request<'_> {
    fn is_virtual(&self) -> bool {
        self.virtual_time || self.case.time == CaseTime::VirtualOnly
    }

    /// The rule for "on time" on this machine.
    fn rule(&self) -> OnTime {
        if self.is_virtual() {
            return OnTime::EXACT;
        }
        OnTime {
            tolerance: self.tolerance,
            resolution: sys::clock_resolution(),
            slack: sys::timer_slack().unwrap_or_default(),
        }
    }

    fn result(&self, scenario: Scenario) -> ProbeResult {
        ProbeResult {
            probe: self.probe.name,
            probe_version: self.probe.version,
            case: self.case.name,
            subject: Subject {
                name: scenario.model.as_ref().map_or("builtin", |model| model.subject()),
                policy: self.policy,
                version: builtin::VERSION,
                fault: self.fault.map(|fault| fault.name),
            },
            time: if self.is_virtual() { TimeKind::Virtual } else { TimeKind::Real },
            params: self.params.clone(),
            seed: self.seed,
            tolerance_ms: duration_millis(self.tolerance),
            quick: self.quick,
            complete: true,
            scenario,
            runs: Vec::new(),
            metrics: BTreeMap::new(),
            claims: Vec::new(),
            verdict: Verdict::Skipped,
            error: None,
        }
    }
}

fn judged(request: &Request<'_>, scenario: Scenario, ideal: &Readings, seen: Vec<Observation>) -> ProbeResult {
    let mut result = request.result(scenario);
    let claims = request.probe.claims_of(request.case.name, request.policy);
    result.claims = claims.map(|claim| judge_claim(request, claim, ideal, &seen)).collect();
    result.verdict = worst(result.claims.iter().map(|claim| claim.verdict));
    for observation in seen {
        for metric in observation.readings.metrics() {
            let MetricValues { values, .. } = result.metrics.entry(metric.name).or_insert_with(|| MetricValues {
                unit: metric.unit,
                better: metric.better,
                values: Vec::new(),
            });
            values.push(metric.value);
        }
        let rule = request.rule();
        let claims = request.probe.claims_of(request.case.name, request.policy);
        let verdict = worst(claims.map(|claim| judge_run(claim.id, ideal, &observation, &rule).verdict));
        let metrics = observation.readings.metrics().iter().map(|metric| (metric.name, metric.value)).collect();
        let run = Run::new(observation.outcome.trace, observation.outcome.noise, metrics);
        result.runs.push(Run { verdict: Some(verdict), ..run });
    }
    result
}

/// The readings of a claim in one run, judged.
struct JudgedRun<'a> {
    parts: Vec<(&'a Reading, Judgement)>,
    verdict: Verdict,
}

fn judge_run<'a>(id: &str, ideal: &Readings, seen: &'a Observation, rule: &OnTime) -> JudgedRun<'a> {
    let trace = &seen.outcome.trace;
    let disturbed = seen.outcome.noise.iter().flat_map(|noise| &noise.disturbed).map(|d| d.stretch);
    let around = Surroundings {
        disturbed: disturbed.collect(),
        dropped: trace.dropped,
        end: trace.events.last().map_or_else(Default::default, |event| event.at),
    };
    let ideals = ideal.of(id).map(|reading| &reading.observed).chain(std::iter::repeat(&Value::Null));
    let parts = seen.readings.of(id).zip(ideals);
    let parts: Vec<_> = parts.map(|(reading, ideal)| (reading, judge(reading, ideal, rule, &around))).collect();
    let verdict = worst(parts.iter().map(|(_, judgement)| judgement.verdict));
    JudgedRun { parts, verdict }
}

fn judge_claim(
    request: &Request<'_>,
    claim: &'static Claim,
    ideal: &Readings,
    seen: &[Observation],
) -> ClaimResult {
    let rule = request.rule();
    let runs: Vec<JudgedRun<'_>> = seen.iter().map(|seen| judge_run(claim.id, ideal, seen, &rule)).collect();
    let verdict = over_runs(runs.iter().map(|run| run.verdict));
    let held = runs.iter().filter(|run| matches!(run.verdict, Verdict::Holds | Verdict::Observed)).count();
    // The run that shows why: the first with the verdict over all. There is one, for the verdict is one of theirs.
    let shown = runs.iter().find(|run| run.verdict == verdict).unwrap_or(&runs[0]);
    let (headline, judgement) = &shown.parts[0];
    let reason = shown.parts.iter().filter(|(_, j)| j.verdict == verdict).find_map(|(_, j)| j.reason.clone());
    let timed = shown.parts.iter().any(|(reading, _)| reading.expect == crate::readings::Expect::Ideal);
    let further = shown.parts[1..].iter().map(|(reading, judgement)| Further {
        observed: reading.observed.clone(),
        ideal: judgement.ideal.clone(),
        verdict: judgement.verdict,
        note: reading.note.clone(),
    });
    ClaimResult {
        observed: headline.observed.clone(),
        ideal: judgement.ideal.clone(),
        reason,
        note: headline.note.clone(),
        tolerance: timed.then(|| rule.derivation(headline.longest_wait())),
        n_of: NOf { n: held, of: runs.len() },
        further: further.collect(),
        ..unread(request, claim, verdict)
    }
}

/// What is said of a claim before anything was read.
fn unread(request: &Request<'_>, claim: &'static Claim, verdict: Verdict) -> ClaimResult {
    ClaimResult {
        id: claim.id,
        statement: claim.statement,
        kind: claim.kind,
        verdict,
        observed: Value::Null,
        ideal: Value::Null,
        text: claim.text,
        unit: claim.unit,
        reason: None,
        note: None,
        tolerance: None,
        source: claim.source.unwrap_or(request.probe.source),
        policy: request.policy,
        text_stance: claim.stance.word(),
        refutation: Refutation::of(claim.stance),
        n_of: NOf { n: 0, of: request.runs },
        further: Vec::new(),
    }
}

/// A result for what could not be run: every claim carries the reason.
fn failed(request: &Request<'_>, scenario: Scenario, error: &RunError) -> ProbeResult {
    let verdict = match error {
        RunError::Unsupported { .. } => Verdict::Unsupported,
        RunError::Timeout { .. } => Verdict::Timeout,
        _ => Verdict::Error,
    };
    let mut result = request.result(scenario);
    let claims = request.probe.claims_of(request.case.name, request.policy);
    let reason = Some(error.to_string());
    let unread = claims.map(|claim| ClaimResult { reason: reason.clone(), ..unread(request, claim, verdict) });
    result.claims = unread.collect();
    result.verdict = verdict;
    result.complete = false;
    result.error = Some(error.to_string());
    result
}
