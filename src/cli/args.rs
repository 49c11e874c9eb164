//! The tree of commands, built from the list of probes.

use std::collections::BTreeSet;
use std::fmt::Write;

use clap::{Arg, ArgAction, Command};

use super::{exit, options, values};
use crate::params::{ParamKind, ParamSpec};
use crate::probe::Probe;

/// The heading of a probe's own options.
const PARAMETERS: &str = "Parameters";

/// The whole command line. Public so that whoever has a list of probes can check it
/// with clap's `debug_assert`.
pub fn command(probes: &'static [&'static Probe]) -> Command {
    Command::new("loopprobe")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Shows how an event loop behaves: timelines, verdicts and JSON from a loop that really ran")
        .after_help(overview())
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand_value_name("COMMAND")
        .arg(color_arg())
        .subcommands(probes.iter().map(|probe| probe_command(probe)))
        .subcommand(all_command(probes))
        .subcommand(list_command())
        .subcommand(explain_command(probes))
}

fn color_arg() -> Arg {
    Arg::new("color")
        .long("color")
        .value_name("WHEN")
        .global(true)
        .value_parser(["auto", "always", "never"])
        .default_value("auto")
        .help("Colour: where a terminal shows it, always, or never")
}

fn overview() -> String {
    let mut text = String::from(
        "Examples:
  loopprobe timer-delay                      one blocking task, and how late the timers behind it are
  loopprobe timer-delay --virtual            the same in virtual time: exact, and done at once
  loopprobe timer-delay --fault late-timers  what a broken loop looks like
  loopprobe all -o results/                  everything, kept as JSON
  loopprobe explain TD-4                     what a claim says and where it is from

Exit codes:
",
    );
    for code in exit::ALL {
        let _ = writeln!(text, "  {code:<3}  {}", exit::meaning(code));
    }
    text
}

fn probe_command(probe: &'static Probe) -> Command {
    let cases: Vec<&'static str> = probe.cases.iter().map(|case| case.name).collect();
    Command::new(probe.name)
        .about(probe.about)
        .after_help(probe_examples(probe))
        .args(options::args(&cases))
        .next_help_heading(PARAMETERS)
        .args(probe.params.iter().map(param_arg))
}

fn probe_examples(probe: &Probe) -> String {
    let name = probe.name;
    let mut text = format!("Examples:\n  loopprobe {name}\n  loopprobe {name} --virtual --policy all\n");
    if let Some(spec) = probe.params.first() {
        let _ = writeln!(text, "  loopprobe {name} --{} {}", spec.name, quoted(&spec.default_text()));
    }
    let _ = writeln!(text, "  loopprobe {name} -n 20 --format json -o {name}.json");
    if probe.cases.len() > 1 {
        text.push_str("\nCases:\n");
        let widest = probe.cases.iter().map(|case| case.name.len()).max().unwrap_or(0);
        for case in probe.cases {
            let _ = writeln!(text, "  {:<widest$}  {}", case.name, case.about);
        }
    }
    text
}

/// As one writes it for a shell: durations may have spaces.
fn quoted(value: &str) -> String {
    if value.contains(' ') { format!("\"{value}\"") } else { value.into() }
}

fn param_arg(spec: &'static ParamSpec) -> Arg {
    let value_name = match spec.kind {
        ParamKind::Duration { .. } => "DURATION",
        ParamKind::Count { .. } => "N",
        ParamKind::Word { .. } => "NAME",
    };
    let quick = match spec.quick {
        Some(quick) => format!(" [with --quick: {quick}]"),
        None => String::new(),
    };
    // The default is not given to clap: with --quick it is another one, and the result must tell them apart.
    let help = format!("{} [default: {}]{quick}", spec.about, spec.default_text());
    Arg::new(spec.name)
        .long(spec.name)
        .value_name(value_name)
        .allow_hyphen_values(true)
        .value_parser(values::param(spec))
        .help(help)
}

fn all_command(probes: &'static [&'static Probe]) -> Command {
    let cases: BTreeSet<&'static str> =
        probes.iter().flat_map(|probe| probe.cases).map(|case| case.name).collect();
    let cases: Vec<&'static str> = cases.into_iter().collect();
    Command::new("all")
        .about("Every probe")
        .after_help(
            "Examples:
  loopprobe all --virtual --quiet
  loopprobe all -o results/ --label laptop
  loopprobe all --strict --format json > all.json

With -o the file is written after each probe, so a run that is cut short leaves a valid one.",
        )
        .args(options::args(&cases))
        .mut_arg("case", |arg| arg.hide_possible_values(true))
}

fn list_command() -> Command {
    Command::new("list")
        .about("The probes, the faults, or what the texts got wrong")
        .after_help(
            "Examples:
  loopprobe list
  loopprobe list --faults
  loopprobe list --format json",
        )
        .arg(options::format_arg())
        .arg(
            Arg::new("faults")
                .long("faults")
                .action(ArgAction::SetTrue)
                .help("The known defects that --fault puts in"),
        )
        .arg(
            Arg::new("refuted")
                .long("refuted")
                .action(ArgAction::SetTrue)
                .conflicts_with("faults")
                .help("What the texts claim, and what is true"),
        )
}

fn explain_command(probes: &'static [&'static Probe]) -> Command {
    let ids = probes.iter().flat_map(|probe| probe.claims).map(|claim| claim.id);
    Command::new("explain")
        .about("A claim: what it says, where it is from, what is true, and which faults break it")
        .after_help("Example:\n  loopprobe explain TD-4")
        .arg(
            Arg::new("id")
                .value_name("ID")
                .required(true)
                .value_parser(values::ClaimId::of(ids))
                .hide_possible_values(true)
                .help("The claim's id, as in the tables"),
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::ParamValue;
    use crate::testing::PROBES;
    use std::time::Duration;

    fn parse(args: &[&str]) -> Result<clap::ArgMatches, clap::Error> {
        command(PROBES).try_get_matches_from([&["loopprobe"], args].concat())
    }

    fn complaint(args: &[&str]) -> String {
        let error = parse(args).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{error}");
        error.to_string()
    }

    #[test]
    fn the_tree_is_sound() {
        command(PROBES).debug_assert();
        command(&[]).debug_assert();
    }

    #[test]
    fn parameters_are_options() {
        let matches = parse(&["alpha", "--c-due", "1m 5s", "--missed", "skip"]).unwrap();
        let matches = matches.subcommand_matches("alpha").unwrap();
        let due: &ParamValue = matches.get_one("c-due").unwrap();
        assert_eq!(*due, ParamValue::Duration(Duration::from_secs(65)));
        let missed: &ParamValue = matches.get_one("missed").unwrap();
        assert_eq!(*missed, ParamValue::Word("skip".into()));
    }

    #[test]
    fn near_misses_are_named() {
        assert!(complaint(&["alpah"]).contains("'alpha'"));
        assert!(complaint(&["alpha", "--c-duo", "5ms"]).contains("'--c-due'"));
        assert!(complaint(&["alpha", "--missed", "skop"]).contains("'skip'"));
        assert!(complaint(&["alpha", "--policy", "nety"]).contains("'netty'"));
        assert!(complaint(&["alpha", "--case", "mian"]).contains("'main'"));
        assert!(complaint(&["alpha", "--fault", "late-timer"]).contains("'late-timers'"));
        assert!(complaint(&["explain", "al-3"]).contains("'AL-"));
    }

    #[test]
    fn wrong_values_get_our_words() {
        assert!(complaint(&["alpha", "--c-due", "-5ms"]).contains("0 or more"));
        assert!(complaint(&["alpha", "--c-due=300"]).contains("a number and a unit"));
        assert!(complaint(&["alpha", "--period", "0s"]).contains("longer than 0"));
        assert!(complaint(&["alpha", "--count", "-1"]).contains("whole number from 1"));
        assert!(complaint(&["alpha", "-n", "0"]).contains("whole number from 1"));
        assert!(complaint(&["alpha", "--runs", "-3"]).contains("whole number from 1"));
        assert!(complaint(&["alpha", "--tolerance", "abc"]).contains("300ms"));
        assert!(complaint(&["alpha", "--seed", "x"]).contains("whole number from 0"));
    }

    #[test]
    fn no_command_is_a_wrong_call() {
        assert_eq!(parse(&[]).unwrap_err().exit_code(), 2);
        assert_eq!(parse(&["--help"]).unwrap_err().exit_code(), 0);
    }

    #[test]
    fn claims_are_found_whatever_the_case() {
        let matches = parse(&["explain", "al-1"]).unwrap();
        let id: &String = matches.subcommand_matches("explain").unwrap().get_one("id").unwrap();
        assert_eq!(id, "AL-1");
    }
}
