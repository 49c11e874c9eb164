//! `loopprobe explain ID`: all that is known about one claim, the faults that break it tried on the spot.

use std::fmt::Write;
use std::time::Duration;

use clap::ArgMatches;

use super::streams::Streams;
use super::{Stop, exit};
use crate::fault::{FAULTS, Fault};
use crate::params::Params;
use crate::policy::PolicyName;
use crate::probe::{Case, CaseTime, Claim, Kind, Probe, Stance};
use crate::render;
use crate::result::{ClaimResult, ProbeResult};
use crate::run::{Request, run_case};
use crate::verdict::Verdict;

/// Prints what is known about a claim.
pub(super) fn explain(
    probes: &'static [&'static Probe],
    matches: &ArgMatches,
    streams: &Streams,
) -> Result<u8, Stop> {
    let id = matches.get_one::<String>("id").map_or("", String::as_str);
    let (probe, claim) = find(probes, id).ok_or_else(|| Stop::Refused(format!("there is no claim {id}")))?;
    let trial = Trial { probe, claim, params: Params::defaults(probe.params, true) };
    let mut text = what_it_says(probe, claim);
    text.push_str(&how_it_is_shown(probe, claim));
    text.push_str(&trial.report(run_case));
    streams.print(&text)?;
    Ok(exit::OK)
}

fn find(probes: &[&'static Probe], id: &str) -> Option<(&'static Probe, &'static Claim)> {
    probes.iter().find_map(|&probe| {
        let claim = probe.claims.iter().find(|claim| claim.id == id)?;
        Some((probe, claim))
    })
}

fn row(text: &mut String, name: &str, value: &str) {
    let _ = writeln!(text, "  {name:<12}{value}");
}

fn what_it_says(probe: &Probe, claim: &Claim) -> String {
    let mut text = format!("{}  {}\n\n", render::bold(claim.id), claim.statement);
    row(&mut text, "text", probe.source.text.title());
    row(&mut text, "section", probe.source.section);
    if claim.text.is_some() {
        row(&mut text, "its value", &render::text_value(claim.text, claim.unit));
    }
    if let Stance::Refuted { claims, truth } = claim.stance {
        row(&mut text, "it claims", claims);
        row(&mut text, "true is", truth);
    }
    text
}

fn how_it_is_shown(probe: &Probe, claim: &Claim) -> String {
    let mut text = String::new();
    row(&mut text, "probe", &format!("{}: {}", probe.name, probe.about));
    if let Some(case) = case_of(probe, claim) {
        let only = match case.time {
            CaseTime::Both => "",
            CaseTime::VirtualOnly => " (virtual time only)",
        };
        row(&mut text, "case", &format!("{}: {}{only}", case.name, case.about));
    }
    row(&mut text, "policies", &policies(claim));
    row(
        &mut text,
        "kind",
        match claim.kind {
            Kind::Judged => "judged: it holds or is broken",
            Kind::Observed => "observed: nobody promises anything, the fact is recorded",
        },
    );
    for (index, spec) in probe.params.iter().enumerate() {
        let name = if index == 0 { "parameters" } else { "" };
        let value = format!("--{} {}: {}", spec.name, spec.default_text(), spec.about);
        row(&mut text, name, &value);
    }
    text
}

fn policies(claim: &Claim) -> String {
    let words =
        |policies: &[PolicyName]| policies.iter().map(|policy| policy.word()).collect::<Vec<_>>().join(", ");
    match claim.policies.also {
        [] => words(claim.policies.named),
        also => format!("{} (and when asked for: {})", words(claim.policies.named), words(also)),
    }
}

fn case_of(probe: &Probe, claim: &Claim) -> Option<&'static Case> {
    probe.cases.iter().find(|case| case.name == claim.case)
}

/// A claim to be tried in virtual time.
struct Trial {
    probe: &'static Probe,
    claim: &'static Claim,
    params: Params,
}

impl Trial {
    /// What the virtual run says, and which faults change that to broken.
    fn report(&self, run: impl Fn(&Request<'_>) -> ProbeResult) -> String {
        let mut text = String::new();
        for policy in self.claim.policies.named {
            if let Some(result) = self.try_with(&run, *policy, None) {
                let seen = render::json(&result.observed, result.unit);
                let words = format!("{}, {seen} under {policy}, with --quick", render::verdict(result.verdict));
                row(&mut text, "virtual run", &words);
            }
        }
        if self.claim.kind == Kind::Judged {
            text.push_str(&self.faults_text(&run));
        }
        text
    }

    fn faults_text(&self, run: &impl Fn(&Request<'_>) -> ProbeResult) -> String {
        let mut text = String::new();
        for fault in FAULTS {
            let breaks = |policy: &&PolicyName| {
                self.try_with(run, **policy, Some(fault)).is_some_and(|result| result.verdict == Verdict::Broken)
            };
            let broken: Vec<&str> =
                self.claim.policies.named.iter().filter(breaks).map(|policy| policy.word()).collect();
            if !broken.is_empty() {
                let name = if text.is_empty() { "broken by" } else { "" };
                let words = format!("--fault {} ({}): {}", fault.name, broken.join(", "), fault.about);
                row(&mut text, name, &words);
            }
        }
        if text.is_empty() {
            row(&mut text, "broken by", &render::dim("no fault that there is"));
        }
        text
    }

    /// The claim's result in a virtual run; None where the run has none for it.
    fn try_with(
        &self,
        run: &impl Fn(&Request<'_>) -> ProbeResult,
        policy: PolicyName,
        fault: Option<&'static Fault>,
    ) -> Option<ClaimResult> {
        let result = run(&Request {
            probe: self.probe,
            case: case_of(self.probe, self.claim)?,
            policy,
            fault,
            virtual_time: true,
            runs: 1,
            tolerance: Duration::ZERO,
            limit: None,
            seed: 1,
            params: &self.params,
            quick: true,
        });
        result.claims.into_iter().find(|claim| claim.id == self.claim.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ALPHA, PROBES, claim, runner};

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    fn broken_by_late_timers(request: &Request<'_>) -> ProbeResult {
        let mut result = runner(request);
        let late = request.fault.is_some_and(|fault| fault.name == "late-timers");
        let verdict = if late { Verdict::Broken } else { Verdict::Holds };
        result.claims = vec![claim("AL-1", verdict)];
        result
    }

    #[test]
    fn the_faults_that_break_a_claim_are_found_by_trying() {
        let (probe, claim) = find(PROBES, "AL-1").unwrap();
        let trial = Trial { probe, claim, params: Params::defaults(probe.params, true) };
        let text = plain(&trial.report(broken_by_late_timers));
        assert!(text.contains("virtual run holds, 250.02 ms under netty, with --quick"), "{text}");
        assert!(text.contains("--fault late-timers (netty)"), "{text}");
        assert!(!text.contains("early-timers"), "{text}");
    }

    #[test]
    fn a_refuted_text_stands_beside_the_truth() {
        let text = plain(&what_it_says(&ALPHA, &ALPHA.claims[1]));
        assert!(text.contains("it claims   it is so"), "{text}");
        assert!(text.contains("true is     it is not"), "{text}");
    }

    #[test]
    fn all_that_one_needs_to_run_it_is_there() {
        let text = how_it_is_shown(&ALPHA, &ALPHA.claims[0]);
        for part in ["alpha", "main: the usual", "--c-due 150ms", "netty (and when asked for: netty41"] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        assert!(find(PROBES, "XX-1").is_none());
    }
}
