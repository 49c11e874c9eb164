//! Standard output and error: colour as it was asked for, and a reader that goes away is no error.

use std::ffi::OsString;
use std::io::{self, ErrorKind, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};

use super::Stop;

/// Both streams, each with its own decision on colour.
pub(super) struct Streams {
    color: ColorChoice,
}

impl Streams {
    /// Streams with this choice; `Auto` asks the terminal and the environment.
    pub(super) fn new(color: ColorChoice) -> Streams {
        Streams { color }
    }

    /// Writes to standard output; styles only where the choice allows them.
    pub(super) fn print(&self, text: &str) -> Result<(), Stop> {
        let mut out = AutoStream::new(io::stdout().lock(), self.color);
        checked(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
    }

    /// Writes a document to standard output as it is.
    pub(super) fn print_document(&self, text: &[u8]) -> Result<(), Stop> {
        let mut out = io::stdout().lock();
        checked(out.write_all(text).and_then(|()| out.flush()))
    }

    /// Writes a line to standard error. Where that fails there is nobody left to tell.
    pub(super) fn complain(&self, line: &str) {
        let mut err = AutoStream::new(io::stderr().lock(), self.color);
        let _ = writeln!(err, "{line}");
    }

    /// Writes to standard error without ending the line.
    pub(super) fn progress(&self, text: &str) {
        let mut err = io::stderr().lock();
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    }

    /// Whether somebody watches standard error.
    pub(super) fn watched(&self) -> bool {
        io::stderr().is_terminal()
    }
}

/// How wide the report may be: the terminal's width, else what `COLUMNS` says, else 100.
pub(super) fn width() -> u16 {
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    let terminal = comfy_table::Table::new().width();
    terminal.or_else(columns).filter(|&width| width > 0).unwrap_or(100)
}

fn checked(written: io::Result<()>) -> Result<(), Stop> {
    match written {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Stop::ReaderGone),
        Err(error) => Err(Stop::Refused(format!("cannot write to standard output: {error}"))),
    }
}

/// What `--color` says. Looked for before the arguments are parsed, since complaints about them have colour too.
pub(super) fn wanted_color(args: &[OsString]) -> ColorChoice {
    let mut choice = ColorChoice::Auto;
    let mut args = args.iter().filter_map(|arg| arg.to_str());
    while let Some(arg) = args.next() {
        let value = match arg.strip_prefix("--color") {
            Some("") => args.next(),
            Some(rest) => rest.strip_prefix('='),
            None => None,
        };
        match value {
            Some("always") => choice = ColorChoice::AlwaysAnsi,
            Some("never") => choice = ColorChoice::Never,
            Some("auto") => choice = ColorChoice::Auto,
            _ => {}
        }
    }
    choice
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(args: &[&str]) -> ColorChoice {
        wanted_color(&args.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn the_flag_is_seen_wherever_it_stands() {
        assert_eq!(wanted(&["loopprobe", "list"]), ColorChoice::Auto);
        assert_eq!(wanted(&["loopprobe", "--color", "never", "list"]), ColorChoice::Never);
        assert_eq!(wanted(&["loopprobe", "list", "--color=always"]), ColorChoice::AlwaysAnsi);
        assert_eq!(wanted(&["loopprobe", "--color", "pink"]), ColorChoice::Auto);
        assert_eq!(wanted(&["loopprobe", "--color"]), ColorChoice::Auto);
    }

    #[test]
    fn a_reader_that_left_is_no_error() {
        let gone = io::Error::from(ErrorKind::BrokenPipe);
        assert!(matches!(checked(Err(gone)), Err(Stop::ReaderGone)));
        let full = io::Error::from(ErrorKind::StorageFull);
        assert!(matches!(checked(Err(full)), Err(Stop::Refused(_))));
    }
}
