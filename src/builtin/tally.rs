//! Counts the runs of a task that are too many to be recorded one by one.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::time::{Time, nanos};
use crate::trace::Counted;

/// The runs of one task so far. Any thread may add to it; it is exact when the threads have ended.
#[derive(Debug)]
pub(super) struct Tally {
    runs: AtomicU64,
    first: AtomicU64,
    last: AtomicU64,
    longest: AtomicU64,
    deepest: AtomicU64,
}

impl Default for Tally {
    fn default() -> Tally {
        Tally {
            runs: AtomicU64::new(0),
            first: AtomicU64::new(u64::MAX),
            last: AtomicU64::new(0),
            longest: AtomicU64::new(0),
            deepest: AtomicU64::new(0),
        }
    }
}

impl Tally {
    /// A run begins, inside so many others of its thread (itself counted).
    pub(super) fn begins(&self, at: Time, depth: u64) {
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.first.fetch_min(at.as_nanos(), Ordering::Relaxed);
        self.last.fetch_max(at.as_nanos(), Ordering::Relaxed);
        self.deepest.fetch_max(depth, Ordering::Relaxed);
    }

    /// It ends.
    pub(super) fn ends(&self, began: Time, at: Time) {
        self.longest.fetch_max(nanos(at.since(began)), Ordering::Relaxed);
    }

    /// What was counted, times from `start`; None when it never ran.
    pub(super) fn counted(&self, start: Time) -> Option<Counted> {
        let read = |number: &AtomicU64| number.load(Ordering::Relaxed);
        let rebased = |number: &AtomicU64| Time::ZERO.after(Time::from_nanos(read(number)).since(start));
        (read(&self.runs) > 0).then(|| Counted {
            runs: read(&self.runs),
            first: rebased(&self.first),
            last: rebased(&self.last),
            longest: Time::from_nanos(read(&self.longest)),
            deepest: read(&self.deepest),
        })
    }
}
