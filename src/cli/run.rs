//! `loopprobe PROBE` and `loopprobe all`: runs what is selected, prints it and writes the document.

use std::path::Path;

use clap::ArgMatches;

use super::options::{Format, Options};
use super::progress::Progress;
use super::streams::{self, Streams};
use super::{Stop, exit, select};
use crate::machine;
use crate::output::{self, Output, OutputError};
use crate::probe::Probe;
use crate::render;
use crate::result::Document;
use crate::session::{Item, Observer, Session, Settings};

/// Runs the selected cases of some probes; `name` is the subcommand, `call` what the document says of it.
pub(super) fn run(
    probes: &[&'static Probe],
    name: &str,
    matches: &ArgMatches,
    call: Vec<String>,
    streams: &Streams,
) -> Result<u8, Stop> {
    let options = Options::of(matches);
    let session = Session {
        items: select::items(probes, &options, matches)?,
        settings: settings(&options),
        started: machine::started_now(),
        command: call,
        label: options.label.clone(),
    };
    let stem = output::stem(name, options.label.as_deref(), &session.started);
    let mut report = Report {
        file: open(options.output.as_deref(), &stem)?,
        progress: Progress::new(streams, options.quiet),
        probe_ends: probe_ends(&session.items),
        options,
        streams,
        reader_gone: false,
    };
    match session.run(&mut report) {
        (document, None) => report.finish(&document),
        (document, Some(Stop::ReaderGone)) => Ok(exit::of(&document.results, report.options.strict)),
        (_, Some(refused)) => Err(refused),
    }
}

fn settings(options: &Options) -> Settings {
    Settings {
        fault: options.fault,
        virtual_time: options.virtual_time,
        runs: options.runs,
        tolerance: options.tolerance,
        limit: options.limit,
        seed: options.seed,
        quick: options.quick,
    }
}

fn open(path: Option<&Path>, stem: &str) -> Result<Option<Output>, Stop> {
    path.map(|path| Output::open(path, stem)).transpose().map_err(refused)
}

fn refused(error: OutputError) -> Stop {
    Stop::Refused(error.to_string())
}

/// After how many results one probe ends and another begins.
fn probe_ends(items: &[Item]) -> Vec<usize> {
    let pairs = items.windows(2).enumerate();
    pairs.filter(|(_, pair)| pair[0].probe.name != pair[1].probe.name).map(|(index, _)| index + 1).collect()
}

/// Where a session's results go while it is going on.
struct Report<'a> {
    options: Options,
    file: Option<Output>,
    progress: Progress<'a>,
    streams: &'a Streams,
    /// After so many results a probe is done, and there is another one to come.
    probe_ends: Vec<usize>,
    reader_gone: bool,
}

impl Observer for Report<'_> {
    type Stop = Stop;

    fn begins(&mut self, item: &Item, nth: usize, of: usize) {
        self.progress.show(item, nth, of);
    }

    fn ended(&mut self, document: &Document) -> Result<(), Stop> {
        self.progress.clear();
        if self.probe_ends.contains(&document.results.len()) {
            self.keep(document, false)?;
        }
        if let Some(result) = document.results.last()
            && self.is_told()
        {
            self.print(&render::result(result, streams::width()))?;
        }
        Ok(())
    }
}

impl Report<'_> {
    /// The rest: the whole file, the document or the summary. The summary is the last line of all.
    fn finish(mut self, document: &Document) -> Result<u8, Stop> {
        let code = exit::of(&document.results, self.options.strict);
        self.keep(document, true)?;
        let printed = match self.options.format {
            Format::Json => self.streams.print_document(&json(document)?),
            Format::Human => {
                let details = if self.is_told() && document.results.len() > 1 {
                    render::not_holding(document)
                } else {
                    String::new()
                };
                self.print(&(details + &render::summary(document, code)))
            }
        };
        match printed {
            Ok(()) | Err(Stop::ReaderGone) => Ok(code),
            Err(refused) => Err(refused),
        }
    }

    /// Whether details are printed.
    fn is_told(&self) -> bool {
        self.options.format == Format::Human && !self.options.quiet
    }

    /// Prints while there is a reader. Without one a session goes on only for its file.
    fn print(&mut self, text: &str) -> Result<(), Stop> {
        if self.reader_gone {
            return Ok(());
        }
        match self.streams.print(text) {
            Err(Stop::ReaderGone) => {
                self.reader_gone = true;
                if self.file.is_some() { Ok(()) } else { Err(Stop::ReaderGone) }
            }
            other => other,
        }
    }

    fn keep(&mut self, document: &Document, last: bool) -> Result<(), Stop> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let path = file.write(&json(document)?, last).map_err(refused)?;
        if let Some(path) = path
            && last
            && !self.options.quiet
        {
            self.streams.complain(&format!("written to {}", path.display()));
        }
        Ok(())
    }
}

fn json(document: &Document) -> Result<Vec<u8>, Stop> {
    let mut text = serde_json::to_vec_pretty(document)
        .map_err(|error| Stop::Refused(format!("the document can't be written as JSON: {error}")))?;
    text.push(b'\n');
    Ok(text)
}
