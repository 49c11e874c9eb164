//! The end of a report: what didn't hold, then how many of each verdict and what the exit code means.

use std::fmt::Write;

use super::{claims, style};
use crate::cli::exit;
use crate::result::Document;
use crate::verdict::Verdict;

/// Once more what didn't hold, so that nobody has to scroll; empty when everything did.
pub fn not_holding(document: &Document) -> String {
    let mut text = String::new();
    for result in &document.results {
        let place = format!("{} / {} / {}: ", result.probe, result.case, result.subject.policy);
        for claim in &result.claims {
            let mut reason = String::new();
            claims::reason(&mut reason, claim);
            if !reason.is_empty() {
                text.push_str(&place);
                text.push_str(&reason);
            }
        }
        if let Some(error) = &result.error {
            let _ = writeln!(text, "{place}{}: {error}", style::verdict(result.verdict));
        }
    }
    text
}

/// The last line.
pub fn summary(document: &Document, code: u8) -> String {
    let total: usize = document.summary.claims.values().sum();
    let counts: Vec<String> = Verdict::ALL
        .into_iter()
        .filter_map(|verdict| {
            let count = document.summary.claims.get(&verdict)?;
            Some(format!("{count} {}", style::verdict(verdict)))
        })
        .collect();
    let claims = match total {
        0 => "no claims".into(),
        1 => format!("1 claim: {}", counts.join(", ")),
        _ => format!("{total} claims: {}", counts.join(", ")),
    };
    format!("{claims}. Exit {code}: {}.\n", exit::meaning(code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{document, result_with};

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn the_last_line_counts_and_explains() {
        use Verdict::*;
        let made = document(vec![result_with(&[Holds, Broken]), result_with(&[Holds, Observed])]);
        assert_eq!(
            plain(&summary(&made, exit::BROKEN)),
            "4 claims: 2 holds, 1 observed, 1 broken. Exit 1: a claim is broken.\n"
        );
        assert!(plain(&summary(&document(vec![]), exit::NOT_RUN)).starts_with("no claims. Exit 3"));
    }

    #[test]
    fn what_did_not_hold_is_repeated_with_its_place() {
        let mut bad = result_with(&[Verdict::Holds, Verdict::Broken]);
        bad.claims[1].reason = Some("25 ms off".into());
        assert_eq!(plain(&not_holding(&document(vec![bad]))), "alpha / main / netty: AL-1 broken: 25 ms off\n");
    }
}
