//! What holds for all probes, and the values of the catalogue, worked out by hand, that their virtual runs must give.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use loopprobe::fault::{FAULTS, Fault, find};
use loopprobe::params::Params;
use loopprobe::policy::PolicyName;
use loopprobe::probe::{Case, Kind, Probe};
use loopprobe::result::ProbeResult;
use loopprobe::run::{Request, run_case};
use loopprobe::verdict::Verdict;
use serde_json::Value;

use super::PROBES;
use catalogue::catalogue;

mod catalogue;

fn virtually(
    probe: &'static Probe,
    case: &'static Case,
    policy: PolicyName,
    fault: Option<&'static Fault>,
) -> ProbeResult {
    with_params(probe, case, policy, fault, &Params::defaults(probe.params, false))
}

/// The same with the quick parameters: what a fault does is not a matter of size.
fn quickly(
    probe: &'static Probe,
    case: &'static Case,
    policy: PolicyName,
    fault: Option<&'static Fault>,
) -> ProbeResult {
    with_params(probe, case, policy, fault, &Params::defaults(probe.params, true))
}

fn with_params(
    probe: &'static Probe,
    case: &'static Case,
    policy: PolicyName,
    fault: Option<&'static Fault>,
    params: &Params,
) -> ProbeResult {
    run_case(&Request {
        probe,
        case,
        policy,
        fault,
        virtual_time: true,
        runs: 1,
        tolerance: Duration::from_millis(10),
        limit: None,
        seed: 1,
        params,
        quick: false,
    })
}

/// Every case under every policy that has a claim about it.
fn all_cases() -> impl Iterator<Item = (&'static Probe, &'static Case, PolicyName)> {
    PROBES.iter().flat_map(|probe| {
        probe.cases.iter().flat_map(move |case| {
            let policies =
                PolicyName::ALL.into_iter().filter(|policy| probe.claims_of(case.name, *policy).count() > 0);
            policies.map(move |policy| (*probe, case, policy))
        })
    })
}

#[test]
fn without_a_fault_every_claim_holds_or_is_observed() {
    for (probe, case, policy) in all_cases() {
        let result = virtually(probe, case, policy, None);
        assert_eq!(result.error, None, "{} {} {policy}", probe.name, case.name);
        for claim in result.claims {
            let wanted = if claim.kind == Kind::Judged { Verdict::Holds } else { Verdict::Observed };
            assert_eq!(claim.verdict, wanted, "{} under {policy}: {claim:?}", claim.id);
        }
    }
}

/// Which claim each fault breaks, and under which policy; worked out once for all tests, and on all CPUs, for there are
/// many runs.
fn broken() -> &'static BTreeSet<(&'static str, &'static str, PolicyName)> {
    static BROKEN: OnceLock<BTreeSet<(&str, &str, PolicyName)>> = OnceLock::new();
    BROKEN.get_or_init(|| {
        let cases: Vec<_> = all_cases().collect();
        let next = AtomicUsize::new(0);
        let broken = Mutex::new(BTreeSet::new());
        std::thread::scope(|scope| {
            for _ in 0..std::thread::available_parallelism().map_or(2, |n| n.get()) {
                scope.spawn(|| {
                    while let Some(&(probe, case, policy)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                        for fault in FAULTS {
                            let result = quickly(probe, case, policy, Some(fault));
                            let claims = result.claims.iter().filter(|claim| claim.verdict == Verdict::Broken);
                            broken.lock().unwrap().extend(claims.map(|claim| (fault.name, claim.id, policy)));
                        }
                    }
                });
            }
        });
        broken.into_inner().unwrap()
    })
}

#[test]
fn every_judged_claim_is_broken_by_a_fault_under_each_policy_it_names() {
    let claims = PROBES.iter().flat_map(|probe| probe.claims);
    for claim in claims.filter(|claim| claim.kind == Kind::Judged) {
        for policy in claim.policies.named {
            let breaks = broken().iter().any(|(_, id, under)| *id == claim.id && under == policy);
            assert!(breaks, "no fault breaks {} under {policy}", claim.id);
        }
    }
}

#[test]
fn every_fault_breaks_something() {
    for fault in FAULTS {
        let breaks = broken().iter().any(|(name, ..)| *name == fault.name);
        assert!(breaks, "{} breaks no claim", fault.name);
    }
}

#[test]
fn the_virtual_run_gives_the_values_of_the_catalogue() {
    let mut wanted = catalogue();
    for (probe, case, policy) in all_cases() {
        for claim in virtually(probe, case, policy, None).claims {
            if let Some(values) = wanted.remove(&(policy.word(), claim.id)) {
                let seen: Vec<Value> =
                    std::iter::once(claim.observed).chain(claim.further.into_iter().map(|f| f.observed)).collect();
                assert_eq!(seen, values, "{} under {policy}", claim.id);
            }
        }
    }
    assert!(wanted.is_empty(), "not read: {:?}", wanted.keys());
}

/// The rows of the catalogue's table: ticks in the window for each missed-tick policy, block 470 and 500.
#[test]
fn each_missed_tick_policy_gives_its_row_of_the_table() {
    let rows =
        [("burst", 31, 31), ("restart", 21, 21), ("skip", 23, 22), ("delay", 22, 22), ("next-grid", 22, 21)];
    let probe = &super::fixed_rate_catchup::PROBE;
    let spec = |name: &str| probe.params.iter().find(|spec| spec.name == name).unwrap();
    for (missed, block_470, block_500) in rows {
        for (block, ticks) in [("470ms", block_470), ("500ms", block_500)] {
            let mut params = Params::defaults(probe.params, false);
            params.set(spec("missed"), spec("missed").parse(missed).unwrap());
            params.set(spec("block"), spec("block").parse(block).unwrap());
            let result = with_params(probe, &probe.cases[0], PolicyName::Netty, None, &params);
            let starts =
                result.runs[0].trace.iter().filter(|e| e.event == loopprobe::trace::EventKind::Start).count();
            assert_eq!(starts, ticks, "{missed} {block}");
            let named = result.claims.iter().find(|claim| claim.id == "FR-8").unwrap();
            // With a block that is a multiple of the period two of them look alike.
            assert!(block == "500ms" || named.verdict == Verdict::Holds, "{named:?}");
        }
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    for (probe, case, policy) in all_cases() {
        let once = serde_json::to_string(&quickly(probe, case, policy, None)).unwrap();
        let again = serde_json::to_string(&quickly(probe, case, policy, None)).unwrap();
        assert!(once == again, "{} {} {policy}", probe.name, case.name);
    }
}

#[test]
fn every_probe_is_listed_and_well_formed() {
    let listed: BTreeSet<String> = PROBES.iter().map(|probe| probe.name.replace('-', "_")).collect();
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/probes")).unwrap();
    for file in files {
        let stem = file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned();
        assert!(["main", "tests"].contains(&stem.as_str()) || listed.contains(&stem), "{stem} is not listed");
    }
    let mut ids = BTreeSet::new();
    for probe in PROBES {
        for claim in probe.claims {
            assert!(ids.insert(claim.id), "{} is there twice", claim.id);
            assert!(
                probe.cases.iter().any(|case| case.name == claim.case),
                "{}: no case {}",
                claim.id,
                claim.case
            );
        }
        for spec in probe.params {
            assert!(spec.quick.is_none_or(|quick| spec.parse(quick).is_ok()), "{} {}", probe.name, spec.name);
        }
    }
    assert!(find("late-timers").is_some() && find("early-timers").is_some());
}

/// No parameter of a probe has the name of a common option.
#[test]
fn the_command_line_takes_every_parameter() {
    loopprobe::cli::command(PROBES).debug_assert();
}
