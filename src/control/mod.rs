//! The control: idle sentinels that run beside a real run and see when the machine held the process up.
//!
//! One trick: a sentinel has nothing to do but to wake at known points, so when it wakes late it was not its own
//! doing. One is pinned to each usable CPU, since a stall of one CPU is mostly not seen by another.
//!
//! What is seen, and why these numbers: a CPU that stalls for [`PERIOD`] + [`LATE`] = 3.5 ms, whenever it begins,
//! keeps its sentinel from a point by at least [`LATE`]. Where a busy loop already kept the sentinel waiting it takes
//! [`SLICE`] more, 8.5 ms. Both are below the default tolerance of 10 ms, so a single stall that puts a reading off
//! the mark is always seen. [`LATE`] in turn is well above what an ordinary wake takes (an idle CPU and its timer
//! interrupt together some 0.2 ms, the timer slack 0.05 ms).

mod record;
mod sentinel;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use self::record::Histogram;
use self::sentinel::{Handle, Record, Sentinel, Watched, now};
use crate::result::Noise;
use crate::sys::{self, ThreadId, Throttling};
use crate::time::{Time, duration_millis};

/// How often a sentinel wakes.
pub const PERIOD: Duration = Duration::from_millis(2);
/// A wake later than this is a stall; so is a loop's thread that waited this long for a CPU within a period.
pub const LATE: Duration = Duration::from_micros(1500);
/// For so long another thread may keep a sentinel from its CPU before that counts: a thread that computes keeps its
/// CPU until a tick of the kernel finds its slice used up, and ticks are 4 ms apart at 250 Hz.
pub const SLICE: Duration = Duration::from_millis(5);
/// Room for stretches, all sentinels together: of the longest possible run of stalls, 200 s.
const STRETCHES: usize = 100_000;
/// Sentinels for each CPU's worth of a quota. One takes 1 % of a CPU that is busy and 3 % of an idle virtual one, which
/// has to be woken; so all of them take at most some 12 % of the quota.
const PER_QUOTA: usize = 4;

/// The control of one real run. Dropped unfinished, it stops its sentinels and forgets what they saw.
///
/// It may be shared by threads.
#[derive(Debug)]
pub struct Control {
    origin: Instant,
    stop: Arc<AtomicBool>,
    sentinels: Vec<Handle>,
    pinned: bool,
    /// Which sentinel watches the next thread.
    turn: AtomicUsize,
}

impl Control {
    /// Starts one sentinel for each CPU that the calling thread may run on, and returns when all of them look.
    /// Times count from `origin`, which [`Control::finish`]'s start must count from too.
    ///
    /// Where the system has no pinning there is one unpinned sentinel. Where a quota grants the process far fewer
    /// CPUs than it may run on, or it may not have so many threads, there are fewer sentinels than CPUs, possibly
    /// none. In all these cases the result says that not every CPU has its pinned one.
    pub fn start(origin: Instant) -> Control {
        let usable = sys::usable_cpus();
        let cpus = watched_cpus(&usable, sys::cpu_quota());
        let stop = Arc::new(AtomicBool::new(false));
        let (ready, looking) = crossbeam_channel::bounded(cpus.len());
        let room = STRETCHES / cpus.len();
        let mut throttling = Throttling::open();
        let mut sentinels = Vec::with_capacity(cpus.len());
        for &cpu in &cpus {
            // The first one alone looks at throttling, which is the same for all.
            let sentinel = Sentinel::new(cpu, origin, stop.clone(), room, throttling.take());
            sentinels.extend(sentinel.spawn(ready.clone()));
        }
        drop(ready);
        let pinned = looking.iter().filter(|&pinned| pinned).count() == usable.len().max(1);
        Control { origin, stop, sentinels, pinned, turn: AtomicUsize::new(0) }
    }

    /// Watches a loop's thread from now on: how long it is ready but not running. Call it before the loop's work
    /// begins. Does nothing where the system doesn't tell, or when the thread has ended.
    pub fn watch(&self, thread: ThreadId) {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let Some(sentinel) = self.sentinels.get(turn % self.sentinels.len().max(1)) else {
            return;
        };
        if let Some(watched) = Watched::open(thread, now(self.origin)) {
            // A sentinel takes what waits at its next wake. It ends only after the control has.
            let _ = sentinel.watch.send(watched);
        }
    }

    /// Stops the sentinels, waits for them (up to a period, on a quiet machine) and says what they saw.
    ///
    /// `start` is the run's start, counted from the control's origin: stretches count from it, and what lay before
    /// it is cut off. Histogram, longest stall and totals are over the control's whole life. The switches of a
    /// thread that has ended already may lack those of its last 10 ms.
    pub fn finish(mut self, start: Time) -> Noise {
        let records = self.stop_sentinels();
        noise(&records, self.pinned, start)
    }

    fn stop_sentinels(&mut self) -> Vec<Record> {
        self.stop.store(true, Ordering::Relaxed);
        let sentinels = self.sentinels.drain(..);
        // A sentinel has nothing that panics; should one, what it saw is lost and the number of sentinels tells.
        sentinels.filter_map(|handle| handle.thread.join().ok()).collect()
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.stop_sentinels();
    }
}

/// Which CPUs get a sentinel: all, unless so many would use up the quota; `None` is one that is not pinned.
fn watched_cpus(usable: &[usize], quota: Option<f64>) -> Vec<Option<usize>> {
    if usable.is_empty() {
        return vec![None];
    }
    let granted = quota.map_or(usize::MAX, |quota| quota.ceil() as usize);
    let most = granted.max(1).saturating_mul(PER_QUOTA);
    usable.iter().copied().take(most).map(Some).collect()
}

fn noise(records: &[Record], pinned: bool, start: Time) -> Noise {
    let mut lateness = Histogram::default();
    for record in records {
        lateness.add(&record.lateness);
    }
    let longest = records.iter().map(|record| record.longest).max();
    let watched: Vec<&Watched> = records.iter().flat_map(|record| &record.watched).collect();
    let throttled = records.iter().find_map(|record| record.throttled_total.as_ref());
    let mut disturbed: Vec<_> = records
        .iter()
        .flat_map(|record| {
            let stalls = record.stalls.since(start, &record.seen_by);
            let run_queue = record.run_queue.since(start, "run queue");
            stalls.chain(run_queue).chain(record.throttled.since(start, "throttled"))
        })
        .collect();
    disturbed.sort_by_key(|seen| (seen.stretch.from, seen.stretch.to));
    let run_queue: Duration = watched.iter().map(|watched| watched.run_delay()).sum();
    let switches = watched.iter().map(|watched| watched.involuntary_switches()).sum();
    Noise {
        pinned,
        sentinels: records.len(),
        period_ms: duration_millis(PERIOD),
        histogram: lateness.bins(),
        longest_stall_ms: duration_millis(longest.unwrap_or_default()),
        run_queue_ms: (!watched.is_empty()).then(|| duration_millis(run_queue)),
        involuntary_switches: (!watched.is_empty()).then_some(switches),
        throttled_ms: throttled.map(|total| duration_millis(total.rise())),
        disturbed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readings::Stretch;

    fn us(micros: u64) -> Time {
        Time::ZERO.after(Duration::from_micros(micros))
    }

    fn origin() -> Instant {
        #[expect(clippy::disallowed_methods, reason = "an origin for a real control")]
        Instant::now()
    }

    #[test]
    fn every_cpu_has_a_sentinel_unless_that_would_use_up_the_quota() {
        let usable: Vec<usize> = (4..68).collect();
        assert_eq!(watched_cpus(&usable, None).len(), 64);
        assert_eq!(watched_cpus(&usable, Some(2.5)).len(), 12);
        assert_eq!(watched_cpus(&usable[..2], Some(0.1)), [Some(4), Some(5)]);
        assert_eq!(watched_cpus(&[], Some(1.0)), [None]);
    }

    #[test]
    fn noise_names_who_saw_what_and_counts_from_the_start() {
        let mut one = Record::new(Some(3), 4);
        let mut other = Record::new(None, 4);
        one.note_wake(us(9_000), us(14_000), Duration::ZERO);
        other.note_wake(us(2_000), us(4_000), Duration::ZERO);
        let (from, to) = (us(12_000), us(13_000));
        other.throttled.note(Stretch { from, to });
        let noise = noise(&[one, other], false, us(10_000));
        let seen: Vec<_> = noise
            .disturbed
            .iter()
            .map(|seen| (seen.seen_by.as_str(), seen.stretch.from, seen.stretch.to))
            .collect();
        assert_eq!(seen, [("cpu 3", Time::ZERO, us(4_000)), ("throttled", us(2_000), us(3_000))]);
        assert_eq!((noise.sentinels, noise.longest_stall_ms), (2, 5.0));
        assert_eq!(noise.histogram.iter().map(|bin| bin.count).sum::<u64>(), 2);
        assert_eq!((noise.run_queue_ms, noise.throttled_ms), (None, None));
    }

    #[test]
    fn a_control_starts_watches_and_finishes() {
        let control = Control::start(origin());
        if let Some(thread) = sys::thread_id() {
            control.watch(thread);
        }
        let noise = control.finish(Time::ZERO);
        assert!(noise.sentinels > 0);
        assert!(noise.histogram.iter().map(|bin| bin.count).sum::<u64>() > 0);
    }

    #[test]
    fn a_control_that_is_dropped_leaves_no_sentinel() {
        let control = Control::start(origin());
        let stop = control.stop.clone();
        drop(control);
        assert_eq!(Arc::strong_count(&stop), 1);
    }
}
