//! What a sentinel writes down: how late it woke, and the stretches in which something was held up.
//!
//! One trick: everything here takes times and reads none, so made times test it; and everything has its room from
//! the start, so that writing down never allocates.

use std::time::Duration;

use crate::readings::Stretch;
use crate::result::{Bin, Disturbance};
use crate::time::{Time, nanos};

/// Upper bounds of the histogram's bins in microseconds; one more bin has no bound.
const BOUNDS_US: [u64; 11] = [50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000];

/// How late the wakes were. A lateness on a bound belongs to the bin below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Histogram([u64; BOUNDS_US.len() + 1]);

impl Histogram {
    pub(super) fn note(&mut self, late: Duration) {
        let bin = BOUNDS_US.partition_point(|&bound| nanos(late) > bound * 1_000);
        self.0[bin] += 1;
    }

    pub(super) fn add(&mut self, other: &Histogram) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count += more;
        }
    }

    pub(super) fn bins(&self) -> Vec<Bin> {
        let bounds = BOUNDS_US.iter().copied().map(Some).chain([None]);
        let bins = bounds.zip(self.0);
        bins.map(|(up_to_us, count)| Bin { up_to_us, count }).collect()
    }
}

/// Stretches of bounded number. Those that touch are one. When the room is used up the last one grows over what
/// comes, since calling a quiet stretch disturbed is the smaller mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stretches {
    stretches: Vec<Stretch>,
    limit: usize,
}

impl Stretches {
    pub(super) fn with_room_for(limit: usize) -> Stretches {
        Stretches { stretches: Vec::with_capacity(limit), limit }
    }

    /// Notes a stretch. They come in the order of their ends.
    pub(super) fn note(&mut self, new: Stretch) {
        let full = self.stretches.len() >= self.limit;
        match self.stretches.last_mut() {
            Some(last) if full || last.touches(&new) => {
                last.from = last.from.min(new.from);
                last.to = last.to.max(new.to);
            }
            _ if full => {}
            _ => self.stretches.push(new),
        }
    }

    /// As disturbances counted from `start`: what lies before it is cut off.
    pub(super) fn since(&self, start: Time, seen_by: &str) -> impl Iterator<Item = Disturbance> {
        let after_start = self.stretches.iter().filter(move |stretch| stretch.to >= start);
        after_start.map(move |stretch| Disturbance {
            stretch: Stretch { from: rebased(stretch.from, start), to: rebased(stretch.to, start) },
            seen_by: seen_by.to_owned(),
        })
    }
}

fn rebased(at: Time, start: Time) -> Time {
    Time::ZERO.after(at.since(start))
}

/// A total that only grows, of time during which something was held up, sampled now and then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Total {
    first: Duration,
    last: Duration,
    sampled: Time,
}

impl Total {
    pub(super) fn starting(sampled: Time, total: Duration) -> Total {
        Total { first: total, last: total, sampled }
    }

    /// Takes a sample. When the total rose by the threshold or more, returns the stretch in which the held-up time
    /// lies. The kernel adds such a time when it ends, so it ended after the previous sample, but may have begun
    /// before it, by its whole length.
    pub(super) fn sample(&mut self, at: Time, total: Duration, threshold: Duration) -> Option<Stretch> {
        let rise = total.saturating_sub(self.last);
        let previous = self.sampled;
        (self.last, self.sampled) = (self.last.max(total), at);
        (rise >= threshold)
            .then(|| Stretch { from: Time::from_nanos(previous.as_nanos().saturating_sub(nanos(rise))), to: at })
    }

    /// By how much it rose over all samples.
    pub(super) fn rise(&self) -> Duration {
        self.last - self.first
    }
}

/// The first point after `now` on the grid of `period` through `due`.
pub(super) fn next_due(due: Time, now: Time, period: Duration) -> Time {
    let missed = nanos(now.since(due)) / nanos(period).max(1);
    Time::from_nanos(due.as_nanos().saturating_add((missed + 1).saturating_mul(nanos(period))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const THRESHOLD: Duration = Duration::from_millis(2);

    fn ms(millis: u64) -> Time {
        Time::ZERO.after(for_ms(millis))
    }

    fn for_ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn stretch(from: u64, to: u64) -> Stretch {
        Stretch { from: ms(from), to: ms(to) }
    }

    fn noted(limit: usize, stretches: &[(u64, u64)]) -> Stretches {
        let mut noted = Stretches::with_room_for(limit);
        for &(from, to) in stretches {
            noted.note(stretch(from, to));
        }
        noted
    }

    #[test]
    fn a_lateness_falls_into_the_first_bin_that_holds_it() {
        let mut histogram = Histogram::default();
        for late_us in [0, 50, 51, 5_000, 100_001] {
            histogram.note(Duration::from_micros(late_us));
        }
        histogram.note(Duration::from_nanos(50_001));
        let counts: Vec<_> = histogram.bins().iter().map(|bin| (bin.up_to_us, bin.count)).collect();
        assert_eq!(counts[0], (Some(50), 2));
        assert_eq!(counts[1], (Some(100), 2));
        assert_eq!(counts[6], (Some(5_000), 1));
        assert_eq!(counts[11], (None, 1));
    }

    #[test]
    fn histograms_add_bin_by_bin() {
        let mut sum = Histogram::default();
        let mut other = Histogram::default();
        sum.note(Duration::ZERO);
        other.note(Duration::ZERO);
        other.note(Duration::MAX);
        sum.add(&other);
        assert_eq!((sum.bins()[0].count, sum.bins()[11].count), (2, 1));
    }

    #[test]
    fn stretches_that_touch_are_one() {
        let stretches = noted(9, &[(1, 3), (3, 5), (6, 8), (5, 9)]);
        assert_eq!(stretches.stretches, [stretch(1, 5), stretch(5, 9)]);
    }

    #[test]
    fn without_room_the_last_stretch_grows_over_what_comes() {
        let stretches = noted(2, &[(1, 2), (4, 5), (7, 8), (10, 12)]);
        assert_eq!(stretches.stretches, [stretch(1, 2), stretch(4, 12)]);
        assert!(noted(0, &[(1, 2)]).stretches.is_empty());
    }

    #[test]
    fn stretches_before_the_start_are_dropped_and_those_across_it_are_cut() {
        let stretches = noted(9, &[(1, 3), (8, 12), (15, 20)]);
        let rebased: Vec<_> = stretches.since(ms(10), "cpu 1").collect();
        assert_eq!(rebased.iter().map(|seen| seen.stretch).collect::<Vec<_>>(), [stretch(0, 2), stretch(5, 10)]);
        assert!(rebased.iter().all(|seen| seen.seen_by == "cpu 1"));
    }

    #[test]
    fn a_rise_reaches_back_before_the_previous_sample_by_its_length() {
        let mut total = Total::starting(ms(100), for_ms(7));
        assert_eq!(total.sample(ms(102), for_ms(8), THRESHOLD), None);
        // 20 ms were added at once: their wait began up to 20 ms before the sample at 102.
        assert_eq!(total.sample(ms(104), for_ms(28), THRESHOLD), Some(stretch(82, 104)));
        assert_eq!(total.sample(ms(106), for_ms(28), THRESHOLD), None);
        assert_eq!(total.rise(), for_ms(21));
    }

    #[test]
    fn a_total_that_falls_is_no_rise() {
        let mut total = Total::starting(ms(10), for_ms(5));
        assert_eq!(total.sample(ms(12), for_ms(1), THRESHOLD), None);
        assert_eq!(total.sample(ms(14), for_ms(5), THRESHOLD), None);
        assert_eq!(total.rise(), Duration::ZERO);
    }

    #[test]
    fn a_late_sentinel_leaves_out_the_points_it_missed() {
        let period = for_ms(2);
        assert_eq!(next_due(ms(10), ms(10), period), ms(12));
        assert_eq!(next_due(ms(10), ms(11), period), ms(12));
        assert_eq!(next_due(ms(10), ms(12), period), ms(14));
        assert_eq!(next_due(ms(10), ms(31), period), ms(32));
    }

    proptest! {
        #[test]
        fn the_next_point_is_on_the_grid_after_now_and_within_a_period(due in 0_u64..1 << 60, late in 0_u64..1 << 40) {
            let (due, period) = (Time::from_nanos(due), Duration::from_millis(2));
            let now = due.after(Duration::from_nanos(late));
            let next = next_due(due, now, period);
            prop_assert!(next > now && next <= now.after(period));
            prop_assert_eq!(next.since(due).as_nanos() % period.as_nanos(), 0);
        }

        #[test]
        fn nothing_noted_is_ever_uncovered(ends in prop::collection::vec((0_u64..50, 0_u64..5), 1..40), limit in 1_usize..8) {
            let mut at = 0;
            let mut noted = Stretches::with_room_for(limit);
            let mut all = Vec::new();
            for (gap, length) in ends {
                at += gap;
                all.push(stretch(at, at + length));
                noted.note(stretch(at, at + length));
                at += length;
            }
            prop_assert!(noted.stretches.len() <= limit);
            for one in all {
                prop_assert!(noted.stretches.iter().any(|kept| kept.from <= one.from && one.to <= kept.to));
            }
        }
    }
}
