//! `list` and `explain`, through the binary.

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

fn loopprobe(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loopprobe"));
    command.args(args);
    command
}

/// The rows that a list prints as JSON.
fn rows(args: &[&str]) -> Vec<Value> {
    let output = loopprobe(&[args, &["--format", "json"]].concat()).output().unwrap();
    assert!(output.status.success(), "{args:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn names(rows: &[Value], key: &str) -> Vec<String> {
    rows.iter().map(|row| row[key].as_str().unwrap().to_owned()).collect()
}

#[test]
fn probes_are_listed_for_people_and_for_scripts() {
    loopprobe(&["list"])
        .assert()
        .code(0)
        .stdout(contains("Timers").and(contains("timer-delay")).and(contains("Failures")));
    let rows = rows(&["list"]);
    for probe in ["timer-delay", "heartbeat-delay", "timer-precision", "fixed-rate-catchup", "periodic-panic"] {
        assert!(names(&rows, "name").contains(&probe.to_owned()), "{probe}");
    }
    for row in &rows {
        for key in ["about", "family", "version", "source", "params", "cases", "claims"] {
            assert!(!row[key].is_null(), "{key} of {}", row["name"]);
        }
    }
}

#[test]
fn faults_are_listed_for_people_and_for_scripts() {
    loopprobe(&["list", "--faults"]).assert().stdout(contains("late-timers"));
    let rows = rows(&["list", "--faults"]);
    for fault in ["late-timers", "early-timers"] {
        assert!(names(&rows, "name").contains(&fault.to_owned()), "{fault}");
    }
    assert!(names(&rows, "about").iter().all(|about| !about.is_empty()));
}

#[test]
fn refuted_texts_are_listed_beside_the_truth() {
    let rows = rows(&["list", "--refuted"]);
    assert!(names(&rows, "id").contains(&"HD-2".to_owned()));
    assert!(names(&rows, "truth").iter().all(|truth| !truth.is_empty()));
}

#[test]
fn a_claim_is_explained_with_the_faults_that_break_it() {
    for id in ["TD-4", "td-4"] {
        loopprobe(&["explain", id])
            .assert()
            .code(0)
            .stdout(contains("TD-4").and(contains("timer-delay")).and(contains("--c-block 300ms")))
            .stdout(contains("251").and(contains("--fault late-timers")));
    }
}
