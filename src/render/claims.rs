//! The table of claims and, below it, why those that don't hold don't, and what the texts got wrong.

use std::fmt::Write;

use comfy_table::{Attribute, Cell, ContentArrangement, Table, presets};
use serde_json::Value;

use super::style::{self, table_color};
use super::value::{json, text_value};
use crate::result::{ClaimResult, ProbeResult, Refutation};
use crate::verdict::Verdict;

/// Narrower terminals get a table of this width, and wrap it themselves.
const NARROWEST: u16 = 60;
/// So many readings of one claim are shown.
const READINGS: usize = 4;

/// The table of a result's claims, for a terminal of this width (columns).
pub(super) fn table(result: &ProbeResult, width: u16) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width.max(NARROWEST))
        .enforce_styling()
        .set_header(["claim", "verdict", "statement", "measured", "ideal", "text"]);
    for claim in &result.claims {
        table.add_row([
            Cell::new(claim.id),
            verdict_cell(claim),
            Cell::new(claim.statement),
            Cell::new(readings(claim, &claim.observed, |further| &further.observed)),
            Cell::new(readings(claim, &claim.ideal, |further| &further.ideal)),
            Cell::new(text_value(claim.text, claim.unit)),
        ]);
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}

fn verdict_cell(claim: &ClaimResult) -> Cell {
    let text = match claim.n_of.of {
        0 | 1 => claim.verdict.word().to_owned(),
        of => format!("{}\n{} of {of}", claim.verdict.word(), claim.n_of.n),
    };
    let cell = match table_color(claim.verdict) {
        Some(color) => Cell::new(text).fg(color),
        None => Cell::new(text),
    };
    if claim.verdict == Verdict::Broken { cell.add_attribute(Attribute::Bold) } else { cell }
}

/// The headline and the further readings, one below the other; one line where all are the same.
fn readings(claim: &ClaimResult, first: &Value, of: impl Fn(&crate::result::Further) -> &Value) -> String {
    let mut lines = vec![json(first, claim.unit)];
    lines.extend(claim.further.iter().map(|further| json(of(further), claim.unit)));
    if lines.iter().all(|line| *line == lines[0]) {
        lines.truncate(1);
    }
    let more = lines.len().saturating_sub(READINGS);
    lines.truncate(READINGS);
    if more > 0 {
        lines.push(format!("{more} more"));
    }
    lines.join("\n")
}

/// Below the table: reasons, notes and refuted texts.
pub(super) fn remarks(result: &ProbeResult) -> String {
    let mut text = String::new();
    for claim in &result.claims {
        reason(&mut text, claim);
        if let Some(note) = &claim.note {
            let _ = writeln!(text, "{}: {note}", claim.id);
        }
        if let Some(Refutation { claims, truth }) = claim.refutation {
            let _ = writeln!(text, "{}: the text claims “{claims}”; true: {truth}", claim.id);
        }
    }
    text
}

/// Why a claim doesn't hold, with the rule that was applied.
pub(super) fn reason(text: &mut String, claim: &ClaimResult) {
    if matches!(claim.verdict, Verdict::Holds | Verdict::Observed) {
        return;
    }
    let _ = write!(text, "{} {}", claim.id, style::verdict(claim.verdict));
    let reason = claim.reason.as_deref().unwrap_or("no reason is given");
    let _ = write!(text, ": {reason}");
    match &claim.tolerance {
        Some(rule) if !reason.contains(rule.as_str()) => {
            let _ = writeln!(text, " (on time is within {rule})");
        }
        _ => text.push('\n'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::TextValue;
    use crate::result::{Further, NOf};
    use crate::testing::{claim, result_with};

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn a_row_has_what_a_reader_compares() {
        let mut result = result_with(&[Verdict::Holds]);
        result.claims[0].text = Some(TextValue::Number(251.0));
        result.claims[0].n_of = NOf { n: 3, of: 5 };
        let text = plain(&table(&result, 120));
        for part in ["AL-1", "holds", "3 of 5", "D waits", "250.02 ms", "250.00 ms", "251 ms"] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }

    #[test]
    fn the_table_takes_any_width() {
        let result = result_with(&[Verdict::Holds, Verdict::Broken]);
        for width in [0, 1, 59, 60, 80, 200, u16::MAX] {
            let text = plain(&table(&result, width));
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= usize::from(width.max(NARROWEST)), "{width}:\n{text}");
        }
    }

    #[test]
    fn further_readings_stand_below_the_first() {
        let mut with = claim("TD-2", Verdict::Holds);
        let further =
            |ms: f64| Further { observed: ms.into(), ideal: 250.into(), verdict: Verdict::Holds, note: None };
        with.further = vec![further(1.0), further(2.0)];
        assert_eq!(readings(&with, &with.observed, |further| &further.observed), "250.02 ms\n1.00 ms\n2.00 ms");
        assert_eq!(readings(&with, &with.ideal, |further| &further.ideal), "250.00 ms");
    }

    #[test]
    fn reasons_come_with_the_rule_once() {
        let mut result = result_with(&[Verdict::Broken, Verdict::Holds]);
        result.claims[0].reason = Some("25 ms off; allowed 10 ms = tolerance".into());
        result.claims[0].tolerance = Some("10 ms = tolerance".into());
        let text = plain(&remarks(&result));
        assert_eq!(text, "AL-1 broken: 25 ms off; allowed 10 ms = tolerance\n");
        result.claims[0].reason = Some("it was not seen".into());
        assert!(plain(&remarks(&result)).contains("not seen (on time is within 10 ms"));
    }

    #[test]
    fn refuted_texts_are_shown_beside_the_truth() {
        let mut result = result_with(&[Verdict::Holds]);
        result.claims[0].refutation = Some(Refutation { claims: "one ping", truth: "nine pings" });
        assert_eq!(remarks(&result), "AL-1: the text claims “one ping”; true: nine pings\n");
    }
}
