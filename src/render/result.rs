//! One result: its heading, the timelines, the table of claims and what there is to say about them.

use std::fmt::Write;

use super::style::{bold, dim};
use super::{claims, noise, style, timeline};
use crate::fault;
use crate::result::{ProbeResult, TimeKind};
use crate::verdict::Verdict;

/// The text of a result, for a terminal of this width (columns; 0 is taken for narrow).
pub fn result(result: &ProbeResult, width: u16) -> String {
    let mut text = heading(result);
    for (index, run) in shown_runs(result) {
        text.push('\n');
        if result.runs.len() > 1 {
            let _ = writeln!(text, "{}", dim(&format!("run {} of {}", index + 1, result.runs.len())));
        }
        text.push_str(&timeline::timeline(run));
        text.push_str(&dim_line(&noise::line(run)));
    }
    if let Some(error) = &result.error {
        let _ = writeln!(text, "\n{}: {error}", style::verdict(result.verdict));
    }
    if !result.claims.is_empty() {
        text.push('\n');
        text.push_str(&claims::table(result, width));
    }
    text.push_str(&dim_line(&noise::over_runs(result)));
    text.push_str(&claims::remarks(result));
    text.push('\n');
    text
}

/// What was run: probe, case, loop, policy, time, seed and fault.
fn heading(result: &ProbeResult) -> String {
    let mut parts = vec![
        format!("{} {}", result.subject.name, result.subject.policy),
        match result.time {
            TimeKind::Real => "real time".into(),
            TimeKind::Virtual => "virtual time".into(),
        },
        format!("seed {}", result.seed),
    ];
    if let Some(name) = result.subject.fault {
        let policy = result.subject.policy.policy();
        let idle = fault::find(name).is_some_and(|fault| (fault.apply)(policy) == policy);
        let note = if idle { " (changes nothing here)" } else { "" };
        parts.push(format!("fault {name}{note}"));
    }
    if result.quick {
        parts.push("quick".into());
    }
    if !result.complete {
        parts.push("cut short".into());
    }
    let name = bold(&format!("{} / {}", result.probe, result.case));
    format!("{name}  {}\n", parts.join(" · "))
}

/// The first run, and the first one in which something didn't hold.
fn shown_runs(result: &ProbeResult) -> impl Iterator<Item = (usize, &crate::result::Run)> {
    let bad = result
        .runs
        .iter()
        .position(|run| run.verdict.is_some_and(|verdict| !matches!(verdict, Verdict::Holds | Verdict::Observed)));
    result.runs.iter().enumerate().filter(move |(index, _)| *index == 0 || Some(*index) == bad)
}

fn dim_line(line: &str) -> String {
    match line.strip_suffix('\n') {
        Some(line) => dim(line) + "\n",
        None => line.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{event, result_with, run};
    use crate::trace::EventKind;

    fn plain(result: &ProbeResult) -> String {
        anstream::adapter::strip_str(&super::result(result, 100)).to_string()
    }

    #[test]
    fn the_heading_says_what_was_run() {
        let mut made = result_with(&[Verdict::Holds]);
        made.subject.fault = Some("late-timers");
        let text = plain(&made);
        let heading = text.lines().next().unwrap();
        assert_eq!(heading, "alpha / main  builtin netty · virtual time · seed 1 · fault late-timers");
        made.subject.fault = Some("missed-burst");
        assert!(plain(&made).contains("missed-burst (changes nothing here)"));
    }

    #[test]
    fn of_several_runs_the_first_and_the_first_bad_one_are_shown() {
        let mut made = result_with(&[Verdict::Broken]);
        for (n, verdict) in
            [Verdict::Holds, Verdict::Holds, Verdict::Broken, Verdict::Broken].into_iter().enumerate()
        {
            let mut run = run(vec![event(1, EventKind::Mark, &format!("in-{n}"))]);
            run.verdict = Some(verdict);
            made.runs.push(run);
        }
        let text = plain(&made);
        assert!(text.contains("run 1 of 4") && text.contains("in-0"), "{text}");
        assert!(text.contains("run 3 of 4") && text.contains("in-2"), "{text}");
        assert!(!text.contains("in-1") && !text.contains("in-3"), "{text}");
    }

    #[test]
    fn a_result_that_could_not_be_run_says_why() {
        let mut made = result_with(&[]);
        made.verdict = Verdict::Timeout;
        made.error = Some("it did not end within 10s".into());
        assert!(plain(&made).contains("timeout: it did not end within 10s"));
    }
}
