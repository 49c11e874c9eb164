//! What is being done right now, for whoever watches standard error on a terminal.

use super::streams::Streams;
use crate::session::Item;

/// Goes back to the begin of the line and empties it.
const CLEAR: &str = "\r\x1b[2K";

/// The progress line.
pub(super) struct Progress<'a> {
    streams: &'a Streams,
    shown: bool,
}

impl<'a> Progress<'a> {
    /// Shown only on a terminal, and not when the user wants quiet.
    pub(super) fn new(streams: &'a Streams, quiet: bool) -> Progress<'a> {
        Progress { streams, shown: !quiet && streams.watched() }
    }

    /// An item begins.
    pub(super) fn show(&self, item: &Item, nth: usize, of: usize) {
        if self.shown {
            self.streams.progress(&format!(
                "{CLEAR}[{nth}/{of}] {} / {} / {}",
                item.probe.name, item.case.name, item.policy
            ));
        }
    }

    /// Makes room for what is printed next.
    pub(super) fn clear(&self) {
        if self.shown {
            self.streams.progress(CLEAR);
        }
    }
}
