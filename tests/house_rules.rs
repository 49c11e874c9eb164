//! Rules of the house that no lint checks: heads of files, their length, what the README promises, the toolchain.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// A file that is longer is two.
const MOST_LINES: usize = 400;
/// Where our Rust is.
const FOLDERS: [&str; 4] = ["src", "probes", "tests", "benches"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The Rust files below a folder, with their texts.
fn rust_files(folder: &str) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                files.push((path, text));
            }
        }
    }
    assert!(!files.is_empty(), "{folder} has no Rust files");
    files
}

#[test]
fn every_file_says_first_what_it_is_for() {
    for (path, text) in FOLDERS.into_iter().flat_map(rust_files) {
        assert!(text.starts_with("//! "), "{} must open with //! and a sentence", path.display());
    }
}

#[test]
fn no_file_is_too_long() {
    for (path, text) in FOLDERS.into_iter().flat_map(rust_files) {
        let lines = text.lines().count();
        assert!(lines <= MOST_LINES, "{} has {lines} lines; split it at {MOST_LINES}", path.display());
    }
}

#[test]
fn the_library_has_no_unsafe_code() {
    for (path, text) in rust_files("src") {
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let uses =
            code.filter(|line| ["unsafe {", "unsafe fn", "unsafe impl"].iter().any(|use_| line.contains(use_)));
        assert_eq!(uses.count(), 0, "unsafe in {}", path.display());
    }
}

/// The commands of the README's shell blocks, without what follows them as a remark.
fn readme_commands() -> BTreeSet<String> {
    let readme = text("README.md");
    let blocks = readme.split("```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("sh\n"));
    let lines = blocks.flat_map(str::lines).map(|line| line.split(" #").next().unwrap_or(line).trim());
    lines.filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn the_readme_has_its_two_commands_and_ci_runs_its_tests() {
    let commands = readme_commands();
    for command in ["cargo run --release -- all -o results/", "cargo test"] {
        assert!(commands.contains(command), "the README has no {command}: {commands:?}");
    }
    let steps = text(".ci/run");
    let tests = |line: &str| line.split(" #").next().is_some_and(|line| line.trim() == "step cargo test");
    assert!(steps.lines().any(tests), ".ci/run must run the README's test command, cargo test");
    assert!(root().join("results").is_dir(), "the README's command writes to results/");
}

/// Major, minor and patch of `1.88` or `1.88.0`.
fn version(text: &str) -> Vec<u64> {
    let mut parts: Vec<u64> = text.split('.').map(|part| part.parse().unwrap()).collect();
    parts.resize(3, 0);
    parts
}

/// What a tool prints; the error's text where it fails.
fn output_of(tool: &str, fallback: &str, args: &[&str]) -> Result<String, String> {
    let program = std::env::var_os(tool).unwrap_or_else(|| fallback.into());
    let output =
        Command::new(program).args(args).current_dir(root()).output().map_err(|error| error.to_string())?;
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// What cargo knows of the locked packages: of all platforms where it can tell without a network, else of this one, or
/// nothing.
fn metadata() -> Option<Value> {
    const ARGS: [&str; 5] = ["metadata", "--format-version", "1", "--offline", "--locked"];
    let rustc = output_of("RUSTC", "rustc", &["-vV"]).unwrap_or_default();
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    let all = output_of("CARGO", "cargo", &ARGS);
    let known = all.or_else(|_| output_of("CARGO", "cargo", &[&ARGS[..], &["--filter-platform", host]].concat()));
    match known {
        Ok(text) => Some(serde_json::from_str(&text).unwrap()),
        Err(why) => {
            // A stale lock file is a mistake; packages that this build did not need, and so did not fetch, are none.
            assert!(!why.contains("lock file"), "{why}");
            None
        }
    }
}

/// The ids of all packages that are built into the program: no test's and no build script's.
fn built_in(metadata: &Value) -> BTreeSet<&str> {
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let mut found = BTreeSet::new();
    let mut next = vec![metadata["resolve"]["root"].as_str().unwrap()];
    while let Some(id) = next.pop() {
        if !found.insert(id) {
            continue;
        }
        let node = nodes.iter().find(|node| node["id"] == id).unwrap();
        for dependency in node["deps"].as_array().unwrap() {
            let kinds = dependency["dep_kinds"].as_array().unwrap();
            if kinds.iter().any(|kind| kind["kind"].is_null()) {
                next.push(dependency["pkg"].as_str().unwrap());
            }
        }
    }
    found
}

#[test]
fn no_dependency_asks_for_a_newer_rust_than_we_do() {
    let Some(metadata) = metadata() else { return };
    let packages = metadata["packages"].as_array().unwrap();
    let ours = packages.iter().find(|package| package["name"] == "loopprobe").unwrap();
    let ours = ours["rust_version"].as_str().unwrap();
    let built_in = built_in(&metadata);
    assert!(built_in.len() > 10, "only {built_in:?}");
    for package in packages.iter().filter(|package| built_in.contains(package["id"].as_str().unwrap())) {
        if let Some(theirs) = package["rust_version"].as_str() {
            let (name, release) = (&package["name"], &package["version"]);
            assert!(version(theirs) <= version(ours), "{name} {release} asks for Rust {theirs}, we for {ours}");
        }
    }
}
