//! When a periodic timer is due next: one pure function for the missed-tick policies and fixed delay.

use std::time::Duration;

use crate::policy::FixedDelay;
use crate::scenario::{MissedTicks, Mode};
use crate::time::{Time, nanos};

/// How a timer repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// Fixed rate or fixed delay.
    pub mode: Mode,
    /// The period; more than zero.
    pub period: Duration,
    /// What becomes of missed ticks at a fixed rate.
    pub missed: MissedTicks,
}

/// The instants of the run that has just ended.
#[derive(Clone, Copy, Debug)]
pub struct LastRun {
    /// When it was due.
    pub due: Time,
    /// When it began.
    pub started: Time,
    /// When it ended.
    pub ended: Time,
}

/// A tick that begins later than this is a late one for [`MissedTicks::Delay`]; Tokio's `interval.rs` has the same
/// bound, so that the jitter of ordinary wake-ups does not move the grid.
const LATE: Duration = Duration::from_millis(5);

impl Repeat {
    /// The next deadline.
    pub fn next_deadline(&self, last: LastRun, delay: FixedDelay) -> Time {
        let LastRun { due, started, ended } = last;
        let on_grid = due.after(self.period);
        match (self.mode, self.missed) {
            (Mode::FixedDelay, _) => match delay {
                FixedDelay::FromStart => started.after(self.period),
                FixedDelay::FromEnd | FixedDelay::Unsupported => ended.after(self.period),
            },
            (Mode::FixedRate, MissedTicks::Burst) => on_grid,
            (Mode::FixedRate, MissedTicks::Restart) if on_grid <= ended => ended.after(self.period),
            (Mode::FixedRate, MissedTicks::Restart) => on_grid,
            (Mode::FixedRate, MissedTicks::Skip) => self.grid_after(due, started),
            (Mode::FixedRate, MissedTicks::Delay) if started > due.after(LATE) => started.after(self.period),
            (Mode::FixedRate, MissedTicks::Delay) => on_grid,
            (Mode::FixedRate, MissedTicks::NextGrid) => self.grid_after(due, ended),
        }
    }

    /// The first point of the grid through `due` that lies after `instant`, and after `due`.
    fn grid_after(&self, due: Time, instant: Time) -> Time {
        let period = nanos(self.period).max(1);
        let passed = nanos(instant.since(due)) / period;
        Time::from_nanos(due.as_nanos().saturating_add(period.saturating_mul(passed.saturating_add(1))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    /// The starts of a tick of 50 whose third run blocks for `block`, other runs taking no time, until `window`.
    fn starts(mode: Mode, missed: MissedTicks, block: u64, window: u64) -> Vec<u64> {
        let repeat = Repeat { mode, period: Duration::from_millis(50), missed };
        let (mut starts, mut due, mut now) = (Vec::new(), ms(0), ms(0));
        loop {
            now = now.max(due);
            if now > ms(window) {
                return starts;
            }
            starts.push(now.as_nanos() / 1_000_000);
            let started = now;
            let body = if starts.len() == 3 { block } else { 0 };
            now = now.after(Duration::from_millis(body));
            due = repeat.next_deadline(LastRun { due, started, ended: now }, FixedDelay::FromEnd);
        }
    }

    #[test]
    fn the_six_ways_with_a_missed_tick_are_those_of_the_catalogue() {
        use MissedTicks::*;
        let table: [(MissedTicks, u64, usize, &[u64]); 10] = [
            (Burst, 470, 31, &[570, 570, 570, 570, 570, 570, 570, 570, 570, 600, 650]),
            (Restart, 470, 21, &[620, 670]),
            (Skip, 470, 23, &[570, 600, 650]),
            (Delay, 470, 22, &[570, 620, 670]),
            (NextGrid, 470, 22, &[600, 650, 700]),
            (Burst, 500, 31, &[600, 600, 600, 600, 600, 600, 600, 600, 600, 600, 650]),
            (Restart, 500, 21, &[650, 700]),
            (Skip, 500, 22, &[600, 650]),
            (Delay, 500, 22, &[600, 650]),
            (NextGrid, 500, 21, &[650, 700]),
        ];
        for (missed, block, count, after) in table {
            let seen = starts(Mode::FixedRate, missed, block, 1510);
            assert_eq!(seen.len(), count, "{missed:?} {block}");
            assert_eq!(&seen[3..3 + after.len()], after, "{missed:?} {block}");
        }
    }

    #[test]
    fn a_fixed_delay_counts_from_the_end() {
        let seen = starts(Mode::FixedDelay, MissedTicks::Burst, 470, 1510);
        assert_eq!(seen[..5], [0, 50, 100, 620, 670]);
    }

    #[test]
    fn huge_numbers_saturate() {
        let repeat = Repeat { mode: Mode::FixedRate, period: Duration::MAX, missed: MissedTicks::Skip };
        let last = LastRun { due: ms(1), started: Time::MAX, ended: Time::MAX };
        assert_eq!(repeat.next_deadline(last, FixedDelay::FromEnd), Time::MAX);
    }
}
