//! `loopprobe list`: the probes by family, the faults, or what the texts got wrong.

use std::collections::BTreeMap;
use std::fmt::Write;

use clap::ArgMatches;
use serde::Serialize;

use super::Stop;
use super::options::{Format, format_of};
use super::streams::Streams;
use crate::fault::FAULTS;
use crate::params::ParamSpec;
use crate::policy::PolicyName;
use crate::probe::{CaseTime, Claim, Family, Kind, Probe, Source, Stance, TextValue, Unit};
use crate::render;
use crate::result::Refutation;

/// A probe as `list --format json` shows it.
#[derive(Serialize)]
struct ProbeRow {
    name: &'static str,
    about: &'static str,
    family: Family,
    version: u32,
    source: Source,
    params: Vec<ParamRow>,
    cases: Vec<CaseRow>,
    claims: Vec<ClaimRow>,
}

#[derive(Serialize)]
struct ParamRow {
    name: &'static str,
    default: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    quick: Option<&'static str>,
    about: &'static str,
}

#[derive(Serialize)]
struct CaseRow {
    name: &'static str,
    about: &'static str,
    time: CaseTime,
}

#[derive(Serialize)]
struct ClaimRow {
    id: &'static str,
    statement: &'static str,
    case: &'static str,
    policies: &'static [PolicyName],
    kind: Kind,
    unit: Option<Unit>,
    text: Option<TextValue>,
    text_stance: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    refutation: Option<Refutation>,
}

/// A fault as `list --faults --format json` shows it.
#[derive(Serialize)]
struct FaultRow {
    name: &'static str,
    about: &'static str,
}

/// A refuted text as `list --refuted --format json` shows it.
#[derive(Serialize)]
struct RefutedRow {
    id: &'static str,
    probe: &'static str,
    claims: &'static str,
    truth: &'static str,
    source: Source,
}

/// Prints the list that was asked for.
pub(super) fn list(
    probes: &'static [&'static Probe],
    matches: &ArgMatches,
    streams: &Streams,
) -> Result<u8, Stop> {
    let as_json = format_of(matches) == Format::Json;
    let text = match (matches.get_flag("faults"), matches.get_flag("refuted")) {
        (true, _) if as_json => json(&fault_rows())?,
        (true, _) => faults_text(),
        (_, true) if as_json => json(&refuted_rows(probes))?,
        (_, true) => refuted_text(&refuted_rows(probes)),
        _ if as_json => json(&probes.iter().map(|probe| probe_row(probe)).collect::<Vec<_>>())?,
        _ => probes_text(probes),
    };
    streams.print(&text)?;
    Ok(super::exit::OK)
}

fn json<T: Serialize>(rows: &[T]) -> Result<String, Stop> {
    serde_json::to_string_pretty(rows)
        .map(|text| text + "\n")
        .map_err(|error| Stop::Refused(format!("the list can't be written as JSON: {error}")))
}

fn fault_rows() -> Vec<FaultRow> {
    let row = |fault: &crate::fault::Fault| FaultRow { name: fault.name, about: fault.about };
    FAULTS.iter().map(row).collect()
}

fn faults_text() -> String {
    let widest = FAULTS.iter().map(|fault| fault.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for fault in FAULTS {
        let _ = writeln!(text, "{:<widest$}  {}", fault.name, fault.about);
    }
    text
}

fn refuted_rows(probes: &[&'static Probe]) -> Vec<RefutedRow> {
    let row = |probe: &'static Probe, claim: &'static Claim| match claim.stance {
        Stance::Refuted { claims, truth } => {
            Some(RefutedRow { id: claim.id, probe: probe.name, claims, truth, source: probe.source })
        }
        Stance::Stands => None,
    };
    probes.iter().flat_map(|probe| probe.claims.iter().filter_map(|claim| row(probe, claim))).collect()
}

fn refuted_text(rows: &[RefutedRow]) -> String {
    let mut text = String::new();
    for row in rows {
        let _ = writeln!(
            text,
            "{}  {}\n  the text claims: {}\n  true: {}",
            render::bold(row.id),
            row.probe,
            row.claims,
            row.truth
        );
    }
    if text.is_empty() {
        text.push_str("nothing the texts say here is refuted\n");
    }
    text
}

fn probe_row(probe: &'static Probe) -> ProbeRow {
    ProbeRow {
        name: probe.name,
        about: probe.about,
        family: probe.family,
        version: probe.version,
        source: probe.source,
        params: probe.params.iter().map(param_row).collect(),
        cases: probe.cases.iter().map(case_row).collect(),
        claims: probe.claims.iter().map(claim_row).collect(),
    }
}

fn param_row(spec: &'static ParamSpec) -> ParamRow {
    ParamRow { name: spec.name, default: spec.default_text(), quick: spec.quick, about: spec.about }
}

fn case_row(case: &'static crate::probe::Case) -> CaseRow {
    CaseRow { name: case.name, about: case.about, time: case.time }
}

fn claim_row(claim: &'static Claim) -> ClaimRow {
    ClaimRow {
        id: claim.id,
        statement: claim.statement,
        case: claim.case,
        policies: claim.policies.named,
        kind: claim.kind,
        unit: claim.unit,
        text: claim.text,
        text_stance: claim.stance.word(),
        refutation: Refutation::of(claim.stance),
    }
}

fn probes_text(probes: &[&'static Probe]) -> String {
    let mut families: BTreeMap<Family, Vec<&Probe>> = BTreeMap::new();
    for probe in probes {
        families.entry(probe.family).or_default().push(probe);
    }
    let widest = probes.iter().map(|probe| probe.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (family, probes) in families {
        let _ = writeln!(text, "{}", render::bold(family.heading()));
        for probe in probes {
            let _ = writeln!(text, "  {:<widest$}  {}", probe.name, probe.about);
        }
    }
    if text.is_empty() {
        text.push_str("there are no probes\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::PROBES;

    #[test]
    fn probes_stand_under_their_family() {
        let text = probes_text(PROBES);
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(plain, "Timers\n  alpha  The first made probe\nFailures\n  beta   The second made probe\n");
        assert!(probes_text(&[]).contains("no probes"));
    }

    #[test]
    fn scripts_get_everything() {
        let text = json(&[probe_row(PROBES[0])]).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value[0]["params"][0]["name"], "c-due");
        assert_eq!(value[0]["params"][0]["default"], "150ms");
        assert_eq!(value[0]["claims"][1]["policies"][0], "linkd");
        assert_eq!(value[0]["claims"][1]["text_stance"], "refuted");
        assert_eq!(value[0]["cases"][1]["time"], "virtual-only");
    }

    #[test]
    fn refuted_texts_and_faults_have_a_line_each() {
        let rows = refuted_rows(PROBES);
        assert_eq!(rows.len(), 1);
        assert!(refuted_text(&rows).contains("true: it is not"));
        assert_eq!(faults_text().lines().count(), FAULTS.len());
    }
}
