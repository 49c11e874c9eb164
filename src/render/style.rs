//! What is emphasised, and how: words stay readable without any of it.

use anstyle::{AnsiColor, Style};

use crate::verdict::Verdict;

/// The style of a verdict's word.
fn of(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Holds => AnsiColor::Green.on_default(),
        Verdict::Observed => AnsiColor::Cyan.on_default(),
        Verdict::Skipped | Verdict::Unsupported => Style::new().dimmed(),
        Verdict::Inconclusive => AnsiColor::Yellow.on_default(),
        Verdict::Error | Verdict::Timeout => AnsiColor::Magenta.on_default().bold(),
        Verdict::Broken => AnsiColor::Red.on_default().bold(),
    }
}

/// The same for a table's cell.
pub(super) fn table_color(verdict: Verdict) -> Option<comfy_table::Color> {
    use comfy_table::Color;
    match verdict {
        Verdict::Holds => Some(Color::Green),
        Verdict::Observed => Some(Color::Cyan),
        Verdict::Skipped | Verdict::Unsupported => None,
        Verdict::Inconclusive => Some(Color::Yellow),
        Verdict::Error | Verdict::Timeout => Some(Color::Magenta),
        Verdict::Broken => Some(Color::Red),
    }
}

/// A verdict's word in its style.
pub(crate) fn verdict(verdict: Verdict) -> String {
    paint(of(verdict), verdict.word())
}

/// A heading.
pub(crate) fn bold(text: &str) -> String {
    paint(Style::new().bold(), text)
}

/// What may be skipped.
pub(crate) fn dim(text: &str) -> String {
    paint(Style::new().dimmed(), text)
}

fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}
