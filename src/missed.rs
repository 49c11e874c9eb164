//! Names the missed-tick policy that a trace shows, whichever loop left it.
//!
//! It looks at what followed the first run that lasted longer than a period, and knows nothing of deadlines or of the
//! loop's own choices: starts, ends and the period are enough.

use std::time::Duration;

use crate::time::{duration_millis, to_millis};
use crate::trace::{EventKind, Trace};

/// What a periodic timer was seen to do, in the word for it; None when no run lasted longer than a period, or nothing
/// that is known explains what followed.
pub fn seen(trace: &Trace, task: &str, period: Duration) -> Option<&'static str> {
    let millis = |kind| trace.of(task).filter(move |e| e.event == kind).map(|e| to_millis(e.at.as_nanos()));
    let starts: Vec<f64> = millis(EventKind::Start).collect();
    let ends: Vec<f64> = millis(EventKind::End).collect();
    name(&starts, &ends, duration_millis(period))
}

fn name(starts: &[f64], ends: &[f64], period: f64) -> Option<&'static str> {
    // Near enough to be the same instant, on a machine where wake-ups are late and bodies take time.
    let near = |a: f64, b: f64| (a - b).abs() < period / 5.0;
    let on_grid = |at: f64| {
        let steps = (at - starts[0]) / period;
        (steps - steps.round()).abs() < 0.2
    };
    let long = starts.iter().zip(ends).position(|(start, end)| end - start > period)?;
    let (end, after) = (ends[long], &starts[long + 1..]);
    let (&first, &second) = (after.first()?, after.get(1)?);
    // A run before the long one that took part of a period tells fixed delay from fixed rate.
    let delayed = starts.iter().zip(ends).zip(&starts[1..]).take(long).any(|((start, end), next)| {
        end - start > period / 4.0 && near(*next, end + period) && !near(*next, start + period)
    });
    match () {
        () if delayed && near(first, end + period) => Some("fixed-delay"),
        () if near(first, end) && near(second, first) => Some("burst"),
        () if near(first, end) && near(second, first + period) && !on_grid(second) => Some("delay"),
        () if near(first, end) && on_grid(second) => Some("skip"),
        () if near(first, end + period) && !on_grid(first) => Some("restart"),
        () if on_grid(first) && first > end => Some("next-grid"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The catalogue's starts for a period of 50, a body of 25 in run 1 and a block of 470 in run 3.
    fn name_of(start_of_third: f64, after: &[f64]) -> Option<&'static str> {
        let second = if start_of_third > 100.0 { 75.0 } else { 50.0 };
        let mut starts = vec![0.0, second, start_of_third];
        starts.extend(after);
        let mut ends = starts.clone();
        ends[0] = 25.0;
        ends[2] = start_of_third + 470.0;
        // A machine's own lateness must not matter.
        starts.iter_mut().enumerate().for_each(|(n, start)| *start += (n % 3) as f64 * 0.2);
        ends.iter_mut().for_each(|end| *end += 0.5);
        name(&starts, &ends, 50.0)
    }

    #[test]
    fn each_of_the_six_is_named() {
        assert_eq!(name_of(100.0, &[570.0, 570.0, 570.0, 600.0]), Some("burst"));
        assert_eq!(name_of(100.0, &[620.0, 670.0]), Some("restart"));
        assert_eq!(name_of(100.0, &[570.0, 600.0, 650.0]), Some("skip"));
        assert_eq!(name_of(100.0, &[570.0, 620.0, 670.0]), Some("delay"));
        assert_eq!(name_of(100.0, &[600.0, 650.0, 700.0]), Some("next-grid"));
        assert_eq!(name_of(125.0, &[645.0, 695.0]), Some("fixed-delay"));
    }

    #[test]
    fn what_nothing_explains_has_no_name() {
        assert_eq!(name_of(100.0, &[585.0, 587.0]), None);
        assert_eq!(name_of(100.0, &[]), None);
        assert_eq!(name(&[0.0, 50.0], &[0.0, 50.0], 50.0), None);
    }
}
