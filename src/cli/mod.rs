//! The command line: one subcommand for each probe, and those around them.

mod args;
mod call;
mod explain;
mod list;
mod options;
mod progress;
mod run;
mod select;
mod streams;
mod values;

pub mod exit;

use std::ffi::OsString;
use std::panic::{self, PanicHookInfo};
use std::process::ExitCode;

use clap::ArgMatches;

use self::streams::Streams;
use crate::probe::Probe;

pub use args::command;

/// Why a call ends early.
#[derive(Debug)]
enum Stop {
    /// Nobody reads standard output any more: no reason to complain.
    ReaderGone,
    /// The call or an input is wrong, or the output can't be written; the words say what and what to do.
    Refused(String),
}

/// Runs the command line with the process's arguments; the result is one of [`exit`]'s codes.
///
/// Never panics: a defect of the program is reported in one line, and the code is [`exit::NOT_RUN`].
pub fn main(probes: &'static [&'static Probe]) -> ExitCode {
    panic::set_hook(Box::new(report_defect));
    let args: Vec<OsString> = std::env::args_os().collect();
    let code = panic::catch_unwind(|| call(probes, args)).unwrap_or(exit::NOT_RUN);
    ExitCode::from(code)
}

fn call(probes: &'static [&'static Probe], args: Vec<OsString>) -> u8 {
    let streams = Streams::new(streams::wanted_color(&args));
    let mut command = args::command(probes);
    let done = match command.try_get_matches_from_mut(args) {
        Ok(matches) => dispatch(probes, &command, &matches, &streams),
        Err(error) => answer(&error, &streams),
    };
    match done {
        Ok(code) => code,
        Err(Stop::ReaderGone) => exit::OK,
        Err(Stop::Refused(why)) => {
            streams.complain(&format!("error: {why}"));
            exit::USAGE
        }
    }
}

/// What clap has to say: help and version on standard output, everything else on standard error.
fn answer(error: &clap::Error, streams: &Streams) -> Result<u8, Stop> {
    let text = error.render().ansi().to_string();
    if error.use_stderr() {
        streams.complain(text.trim_end());
        Ok(exit::USAGE)
    } else {
        streams.print(&text)?;
        Ok(exit::OK)
    }
}

fn dispatch(
    probes: &'static [&'static Probe],
    command: &clap::Command,
    matches: &ArgMatches,
    streams: &Streams,
) -> Result<u8, Stop> {
    match matches.subcommand() {
        Some(("list", matches)) => list::list(probes, matches, streams),
        Some(("explain", matches)) => explain::explain(probes, matches, streams),
        Some((name, matches)) => {
            let chosen: Vec<&'static Probe> =
                probes.iter().copied().filter(|probe| name == "all" || name == probe.name).collect();
            run::run(&chosen, name, matches, call::canonical(command, name, matches), streams)
        }
        None => Err(Stop::Refused("name a probe; loopprobe list shows them".into())),
    }
}

/// A panic is a defect of the program: one line that helps to report it.
fn report_defect(info: &PanicHookInfo<'_>) {
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    let payload = info.payload();
    let what = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no words");
    Streams::new(anstream::ColorChoice::Never)
        .complain(&format!("error: this is a defect in loopprobe; please report it: {what} ({place})"));
}
