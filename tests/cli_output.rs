//! What a run prints and writes, through the binary.

use std::fs;
use std::process::{Command as Process, Stdio};

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::{contains, is_empty, is_match};
use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_loopprobe");

fn loopprobe(args: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command.args(args);
    command
}

/// The JSON document that a call prints, which must be all that is on standard output.
fn document(args: &[&str]) -> Value {
    let output = loopprobe(args).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}"))
}

#[test]
fn the_timeline_reads_like_the_text() {
    loopprobe(&["timer-delay", "--virtual"])
        .assert()
        .code(0)
        .stdout(contains("timer-delay / main"))
        .stdout(is_match(r"(?m)^ +450\.00  loop-1 +start D +due 200\.00, 250\.00 late$").unwrap())
        .stdout(is_match(r"TD-4.*holds").unwrap())
        .stdout(is_match(r"Exit 0: nothing is broken\.\n$").unwrap())
        .stderr(is_empty());
}

#[test]
fn a_broken_loop_is_exit_1_and_says_why() {
    loopprobe(&["timer-delay", "--virtual", "--fault", "late-timers"])
        .assert()
        .code(1)
        .stdout(contains("fault late-timers"))
        .stdout(contains("broken:"))
        .stdout(is_match(r"Exit 1: a claim is broken\.\n$").unwrap());
}

#[test]
fn quiet_is_one_line() {
    loopprobe(&["timer-delay", "--virtual", "--quiet"])
        .assert()
        .stdout(predicate::function(|text: &str| text.lines().count() == 1));
}

#[test]
fn json_is_alone_on_standard_output() {
    for args in [["timer-delay", "--virtual", "--format=json"], ["timer-delay", "--virtual", "-o-"]] {
        let document = document(&args);
        assert_eq!(document["schema"], "loopprobe.result/1");
        assert_eq!(document["complete"], true);
        assert_eq!(document["machine"], Value::Null);
        let result = &document["results"][0];
        assert_eq!(result["probe"], "timer-delay");
        assert_eq!(result["time"], "virtual");
        assert_eq!(result["loop"]["policy"], "netty");
        assert_eq!(result["params"]["c_block_ms"], 300);
        assert_eq!(result["verdict"], "holds");
        assert!(result["runs"][0]["trace"].as_array().is_some_and(|t| !t.is_empty()));
    }
}

#[test]
fn virtual_runs_write_the_same_bytes() {
    let text = |_| {
        let mut document = document(&["all", "--virtual", "--quick", "--format", "json"]);
        document["started"] = Value::Null;
        document.to_string()
    };
    assert_eq!(text(1), text(2));
}

#[test]
fn a_file_is_whole_and_says_nothing_of_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("r.json");
    let place = path.to_str().unwrap();
    loopprobe(&["timer-delay", "--virtual", "-q", "-o", place, "--label", "mine"]).assert().code(0);
    let text = fs::read_to_string(&path).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["label"], "mine");
    assert_eq!(document["command"], serde_json::json!(["loopprobe", "timer-delay", "--virtual", "--quiet"]));
    assert!(!text.contains(dir.path().to_str().unwrap()));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file stays");
}

#[test]
fn a_directory_gets_a_new_file_each_time() {
    let dir = tempfile::tempdir().unwrap();
    let place = format!("{}/", dir.path().display());
    for _ in 0..3 {
        loopprobe(&["timer-delay", "--virtual", "-o", &place, "--label", "a b"])
            .assert()
            .code(0)
            .stderr(contains("written to").and(contains("timer-delay-a-b-")));
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
}

#[test]
fn policies_are_those_that_the_claims_name_unless_all_are_asked_for() {
    let policies = |args: &[&str]| {
        let document = document(&[args, &["--virtual", "--format", "json"]].concat());
        let results = document["results"].as_array().unwrap().clone();
        let mut names: Vec<String> =
            results.iter().map(|result| result["loop"]["policy"].as_str().unwrap().to_owned()).collect();
        names.dedup();
        names
    };
    assert_eq!(policies(&["timer-delay"]), ["netty"]);
    assert_eq!(policies(&["heartbeat-delay"]), ["netty", "linkd", "linkd-listed"]);
    assert_eq!(policies(&["timer-delay", "--policy", "all"]), ["netty", "netty41", "linkd", "linkd-listed"]);
}

#[test]
fn colour_is_as_asked() {
    let colored = contains("\u{1b}[");
    let call = |color| loopprobe(&["timer-delay", "--virtual", "--color", color]).assert();
    call("always").stdout(colored.clone());
    call("never").stdout(colored.clone().not());
    call("auto").stdout(colored.not());
}

#[test]
fn a_terminal_without_width_is_no_reason_to_fail() {
    for columns in ["0", "1", "-5", "abc", "99999999"] {
        loopprobe(&["timer-delay", "--virtual"]).env("COLUMNS", columns).assert().code(0);
    }
}

#[test]
fn huge_durations_work_in_virtual_time() {
    for block in ["30d", "100y", "max"] {
        let output = loopprobe(&["timer-delay", "--virtual", "--c-block", block]).output().unwrap();
        assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{block}: {output:?}");
    }
}

/// Runs a call whose reader is gone before it writes anything.
fn without_reader(args: &[&str]) -> (Option<i32>, String) {
    let mut child = Process::new(BINARY).args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_closed_pipe_is_quiet() {
    for args in [
        &["list"][..],
        &["--help"],
        &["explain", "TD-4"],
        &["timer-delay", "--virtual"],
        &["all", "--virtual", "--quick", "--format", "json"],
    ] {
        assert_eq!(without_reader(args), (Some(0), String::new()), "{args:?}");
    }
}

#[test]
fn a_closed_pipe_leaves_the_file_complete() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("all.json");
    let (code, _) = without_reader(&["all", "--virtual", "--quick", "-o", path.to_str().unwrap()]);
    assert_eq!(code, Some(0));
    let document: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(document["complete"], true);
}
