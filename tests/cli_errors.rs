//! Wrong calls, through the binary: a clear line on standard error that names the remedy, and exit 2.

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::{contains, is_empty};

fn loopprobe(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loopprobe"));
    command.args(args);
    command
}

/// The call is refused, standard output stays empty, and standard error has these words.
fn refused(args: &[&str], words: &[&str]) {
    let mut assert = loopprobe(args).assert().code(2).stdout(is_empty());
    for word in words {
        assert = assert.stderr(contains(*word));
    }
    assert.stderr(contains("panicked").not());
}

#[test]
fn unknown_names_bring_the_nearest() {
    refused(&["timer-dely"], &["timer-delay"]);
    refused(&["timer-delay", "--c-blok", "5ms"], &["--c-block"]);
    refused(&["timer-delay", "--policy", "nety"], &["netty"]);
    refused(&["timer-delay", "--case", "mian"], &["main"]);
    refused(&["timer-delay", "--fault", "late-timer"], &["late-timers"]);
    refused(&["explain", "TD-44"], &["TD-4"]);
    refused(&["timer-delay", "--format", "jso"], &["json"]);
}

#[test]
fn wrong_durations_are_explained() {
    refused(&["timer-delay", "--c-block", "-5ms"], &["--c-block", "0 or more"]);
    refused(&["timer-delay", "--c-block", "300"], &["--c-block", "300ms", "unit"]);
    refused(&["timer-delay", "--c-block", "99999999999999999999s"], &["max"]);
    refused(&["timer-delay", "--c-block", "10000y"], &["max"]);
    refused(&["timer-delay", "--tolerance", "abc"], &["--tolerance", "300ms"]);
    refused(&["timer-delay", "--tolerance", "-1ms"], &["--tolerance"]);
    refused(&["timer-delay", "--limit", "0s"], &["--limit", "longer than 0"]);
    refused(&["fixed-rate-catchup", "--period", "0s"], &["--period", "longer than 0"]);
    refused(&["periodic-panic", "--period", "0ms"], &["--period", "longer than 0"]);
}

#[test]
fn wrong_numbers_are_explained() {
    refused(&["timer-delay", "--runs", "0"], &["--runs", "whole number from 1"]);
    refused(&["timer-delay", "-n", "-3"], &["--runs", "whole number from 1"]);
    refused(&["timer-delay", "--seed", "x"], &["--seed", "whole number from 0"]);
    refused(&["timer-precision", "--count", "0"], &["--count", "whole number from 1"]);
}

#[test]
fn unwritable_places_are_found_before_anything_runs() {
    // Real time and long: were it run first, the test would take minutes.
    let slow = ["timer-delay", "--c-block", "5m", "--limit", "10m"];
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("missing").join("r.json");
    let with = |path: &str, words: &[&str]| refused(&[&slow[..], &["-o", path]].concat(), words);
    with(missing.to_str().unwrap(), &["there is no directory", "mkdir"]);
    let missing_dir = format!("{}/gone/", dir.path().display());
    with(&missing_dir, &["there is no directory", "gone"]);
    with("/dev/full/x", &["no directory"]);
    with("", &["-o"]);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn a_full_device_is_told() {
    if std::path::Path::new("/dev/full").exists() {
        let args = ["timer-delay", "--virtual", "-o", "/dev/full"];
        loopprobe(&args).assert().code(2).stderr(contains("/dev/full"));
    }
}

#[test]
fn no_command_shows_the_help_and_is_a_wrong_call() {
    refused(&[], &["Usage:", "timer-delay"]);
}

#[test]
fn the_help_has_examples_everywhere() {
    for args in [&["--help"][..], &["timer-delay", "--help"], &["all", "--help"], &["list", "--help"]] {
        loopprobe(args).assert().code(0).stdout(contains("Examples:")).stderr(is_empty());
    }
    loopprobe(&["timer-delay", "--help"]).assert().stdout(contains("--c-block").and(contains("[default: 300ms]")));
}

#[test]
#[cfg(target_os = "linux")]
fn too_few_descriptors_are_told_before_the_run() {
    let call = format!("ulimit -n 100 && exec {} reconnect-backoff --case wave", env!("CARGO_BIN_EXE_loopprobe"));
    let assert = Command::new("sh").args(["-c", &call]).assert().code(3);
    assert.stdout(contains("descriptors are needed and 100 are allowed")).stderr(contains("panicked").not());
}
