//! The timeline: one line for each event, as the texts print theirs.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::style::dim;
use super::value::millis;
use crate::result::Run;
use crate::trace::Event;

/// Above this many events the middle is left out.
const WHOLE: usize = 60;
/// So many are then shown at the begin.
const HEAD: usize = 30;
/// So many at the end.
const TAIL: usize = 15;

/// The timeline of a run.
pub(super) fn timeline(run: &Run) -> String {
    let events = &run.trace;
    let columns = Columns::of(events);
    let mut text = String::new();
    if events.len() <= WHOLE {
        columns.lines(&mut text, events);
    } else {
        let left_out = events.len() - HEAD - TAIL;
        columns.lines(&mut text, &events[..HEAD]);
        let note = format!("… {left_out} events left out; --format json has them all");
        let _ = writeln!(text, "{:>width$}  {}", "", dim(&note), width = columns.time);
        columns.lines(&mut text, &events[events.len() - TAIL..]);
    }
    if run.dropped > 0 {
        let _ = writeln!(text, "{} further events found no room in the trace", run.dropped);
    }
    text
}

/// How wide the columns are, and which tasks run more than once.
struct Columns<'a> {
    time: usize,
    thread: usize,
    event: usize,
    repeated: BTreeSet<&'a str>,
}

impl<'a> Columns<'a> {
    fn of(events: &'a [Event]) -> Columns<'a> {
        let repeated: BTreeSet<&str> = events
            .iter()
            .filter(|event| event.run.is_some_and(|run| run > 1))
            .filter_map(|event| event.task.as_deref())
            .collect();
        let widest = |width: fn(&Event) -> usize| events.iter().map(width).max().unwrap_or(0);
        let mut columns = Columns {
            time: widest(|event| event.at.to_string().len()).max(8),
            thread: widest(|event| event.thread.chars().count()),
            event: 0,
            repeated,
        };
        let words = events.iter().map(|event| columns.what(event).chars().count());
        // One long name must not push the notes of all other lines out of sight.
        columns.event = words.max().unwrap_or(0).clamp(20, 40);
        columns
    }

    fn lines(&self, text: &mut String, events: &[Event]) {
        for event in events {
            let line = format!(
                "{:>time$}  {:<thread$}  {:<event$}  {}",
                event.at.to_string(),
                event.thread,
                self.what(event),
                notes(event),
                time = self.time,
                thread = self.thread,
                event = self.event,
            );
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }

    /// The event, its task and, where the task runs more than once, the run.
    fn what(&self, event: &Event) -> String {
        let word = event.event.word();
        match (event.task.as_deref(), event.run) {
            (Some(task), Some(run)) if self.repeated.contains(task) => format!("{word} {task} #{run}"),
            (Some(task), _) => format!("{word} {task}"),
            (None, _) => word.into(),
        }
    }
}

fn notes(event: &Event) -> String {
    let mut notes = Vec::new();
    if let (Some(deadline), Some(lateness)) = (event.deadline, event.lateness()) {
        let (amount, word) = if lateness < 0.0 { (-lateness, "early") } else { (lateness, "late") };
        notes.push(format!("due {deadline}, {} {word}", lateness_text(amount, word)));
    }
    notes.extend(event.note.as_deref().map(str::to_owned));
    notes.join("; ")
}

/// Late by microseconds is on time for a reader; early by a nanosecond is not.
fn lateness_text(amount: f64, word: &str) -> String {
    match word {
        "early" => millis(amount),
        _ => format!("{amount:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{event, run};
    use crate::time::Time;
    use crate::trace::EventKind;

    #[test]
    fn a_line_reads_like_the_texts() {
        let mut late = event(450_040, EventKind::Start, "D");
        late.deadline = Some(Time::from_nanos(200_000_000));
        let text = timeline(&run(vec![event(150_000, EventKind::Start, "C"), late]));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "  150.00  loop-1  start C");
        assert_eq!(lines[1], "  450.04  loop-1  start D               due 200.00, 250.04 late");
    }

    #[test]
    fn early_timers_stand_out_even_by_a_nanosecond() {
        let mut early = event(100_000, EventKind::Start, "B");
        early.deadline = Some(Time::from_nanos(100_000_001));
        assert!(timeline(&run(vec![early])).contains("0.000001 early"));
    }

    #[test]
    fn runs_are_numbered_where_there_are_several() {
        let mut second = event(100, EventKind::Start, "tick");
        second.run = Some(2);
        let text = timeline(&run(vec![event(50, EventKind::Start, "tick"), second]));
        assert!(text.contains("start tick #1") && text.contains("start tick #2"), "{text}");
    }

    #[test]
    fn long_timelines_lose_their_middle_and_say_so() {
        let events = (0..1000).map(|n| event(n, EventKind::Start, "t")).collect();
        let text = timeline(&run(events));
        assert_eq!(text.lines().count(), HEAD + TAIL + 1);
        assert!(text.contains("955 events left out; --format json"), "{text}");
    }

    #[test]
    fn an_empty_run_is_no_line() {
        assert_eq!(timeline(&run(Vec::new())), "");
    }
}
