//! The options that every probe and `all` share: their declaration, and their values once parsed.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, value_parser};

use super::values;
use crate::fault::{self, FAULTS, Fault};
use crate::policy::PolicyName;

/// What a report looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// Text for a reader.
    Human,
    /// The result document.
    Json,
}

/// The common options' values.
#[derive(Clone, Debug)]
pub(super) struct Options {
    /// Empty: each probe's own.
    pub(super) policies: Vec<PolicyName>,
    /// Empty: all.
    pub(super) cases: Vec<String>,
    pub(super) fault: Option<&'static Fault>,
    pub(super) virtual_time: bool,
    pub(super) runs: usize,
    pub(super) tolerance: Duration,
    pub(super) limit: Option<Duration>,
    pub(super) seed: u64,
    pub(super) quick: bool,
    pub(super) format: Format,
    /// A file or a directory; `-` is standard output and makes the format JSON.
    pub(super) output: Option<PathBuf>,
    pub(super) label: Option<String>,
    pub(super) quiet: bool,
    pub(super) strict: bool,
}

impl Options {
    /// Reads them from parsed arguments.
    pub(super) fn of(matches: &ArgMatches) -> Options {
        let output: Option<PathBuf> = matches.get_one("output").cloned();
        let to_stdout = output.as_deref().is_some_and(|path| path.as_os_str() == "-");
        Options {
            policies: chosen_policies(matches),
            cases: matches.get_many("case").into_iter().flatten().cloned().collect(),
            fault: matches.get_one::<&'static Fault>("fault").copied(),
            virtual_time: matches.get_flag("virtual"),
            runs: one(matches, "runs"),
            tolerance: one(matches, "tolerance"),
            limit: matches.get_one("limit").copied(),
            seed: one(matches, "seed"),
            quick: matches.get_flag("quick"),
            format: if to_stdout { Format::Json } else { format_of(matches) },
            output: output.filter(|_| !to_stdout),
            label: matches.get_one("label").cloned(),
            quiet: matches.get_flag("quiet"),
            strict: matches.get_flag("strict"),
        }
    }
}

/// A value that has a default.
fn one<T: Copy + Send + Sync + 'static>(matches: &ArgMatches, id: &str) -> T {
    *matches.get_one(id).unwrap_or_else(|| panic!("--{id} has a default"))
}

fn chosen_policies(matches: &ArgMatches) -> Vec<PolicyName> {
    let mut chosen: Vec<PolicyName> =
        matches.get_many::<Vec<PolicyName>>("policy").into_iter().flatten().flatten().copied().collect();
    chosen.sort();
    chosen.dedup();
    chosen
}

/// What `--format` says.
pub(super) fn format_of(matches: &ArgMatches) -> Format {
    match matches.get_one::<String>("format").map(String::as_str) {
        Some("json") => Format::Json,
        _ => Format::Human,
    }
}

/// `--format`.
pub(super) fn format_arg() -> Arg {
    Arg::new("format")
        .long("format")
        .value_name("FORMAT")
        .value_parser(["human", "json"])
        .default_value("human")
        .help("What standard output gets: text, or JSON and nothing else")
}

/// The common options. `cases` are the names that `--case` takes.
pub(super) fn args(cases: &[&'static str]) -> Vec<Arg> {
    let mut args: Vec<Arg> = what_is_run(cases).into();
    args.extend(how_it_is_judged());
    args.extend(where_it_goes());
    args
}

fn what_is_run(cases: &[&'static str]) -> [Arg; 6] {
    [
        Arg::new("policy")
            .long("policy")
            .value_name("NAME")
            .action(ArgAction::Append)
            .value_parser(values::policies())
            .help("The loop's policy; may be repeated [default: those that the claims name]"),
        Arg::new("case")
            .long("case")
            .value_name("NAME")
            .action(ArgAction::Append)
            .value_parser(PossibleValuesParser::new(cases.to_vec()))
            .help("Only this case; may be repeated"),
        Arg::new("fault")
            .long("fault")
            .value_name("NAME")
            .value_parser(
                PossibleValuesParser::new(FAULTS.iter().map(|fault| fault.name))
                    .try_map(|name| fault::find(&name).ok_or("there is no such fault")),
            )
            .hide_possible_values(true)
            .help("Put a known defect into the loop; `loopprobe list --faults` names them"),
        flag("virtual", "In virtual time: exact, and done at once"),
        Arg::new("runs")
            .long("runs")
            .short('n')
            .value_name("N")
            .allow_hyphen_values(true)
            .default_value("1")
            .value_parser(values::runs)
            .help("How often each case is run"),
        flag("quick", "Smaller numbers where a probe has them"),
    ]
}

fn how_it_is_judged() -> [Arg; 4] {
    [
        Arg::new("tolerance")
            .long("tolerance")
            .value_name("DURATION")
            .allow_hyphen_values(true)
            .default_value("10ms")
            .value_parser(values::duration)
            .help("How late still counts as on time, besides what clock and kernel allow themselves"),
        Arg::new("limit")
            .long("limit")
            .value_name("DURATION")
            .allow_hyphen_values(true)
            .value_parser(values::positive_duration)
            .help("When a run counts as stuck [default: twice its window and 10s]"),
        Arg::new("seed")
            .long("seed")
            .value_name("N")
            .allow_hyphen_values(true)
            .default_value("1")
            .value_parser(values::seed)
            .help("The seed of everything random"),
        flag("strict", "Exit 4 when something is inconclusive"),
    ]
}

fn where_it_goes() -> [Arg; 4] {
    [
        format_arg(),
        Arg::new("output")
            .long("output")
            .short('o')
            .value_name("FILE|DIR")
            .value_parser(value_parser!(PathBuf))
            .help(
                "Also write the JSON document there: to a file, to a new file in a directory, \
                 or with - to standard output instead of the text",
            ),
        Arg::new("label")
            .long("label")
            .value_name("WORDS")
            .value_parser(values::label)
            .help("Your name for this run or machine, kept in the document and in the file's name"),
        flag("quiet", "Only the summary line").short('q'),
    ]
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}
