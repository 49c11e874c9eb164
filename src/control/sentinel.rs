//! One sentinel: a thread that sleeps to the points of a grid, notes how late it woke, and samples what it watches.
//!
//! One trick: it tells a CPU that stood still from one that was busy. While another thread uses up its slice the
//! sentinel is ready and waits, which the scheduler counts; a loop that keeps its CPU busy must not pass for a
//! machine that held the loop up, so up to [`SLICE`] of such waiting is no stall.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender};

use super::record::{Histogram, Stretches, Total, next_due};
use super::{LATE, PERIOD, SLICE};
use crate::readings::Stretch;
use crate::sys::{self, ThreadId, ThreadScheduling, Throttling};
use crate::time::Time;

/// Throttled time within one look that counts: a group is throttled for milliseconds or not at all.
const THROTTLED: Duration = Duration::from_millis(1);
/// What is costly to read (throttling, switches) is read at every fifth wake.
const COSTLY_EVERY: u64 = 5;
/// Room for the threads that one sentinel watches; more of them cost an allocation.
const WATCHED: usize = 64;

/// A running sentinel.
#[derive(Debug)]
pub(super) struct Handle {
    pub(super) watch: Sender<Watched>,
    pub(super) thread: JoinHandle<Record>,
}

/// A loop's thread that a sentinel watches.
#[derive(Debug)]
pub(super) struct Watched {
    source: ThreadScheduling,
    run_delay: Total,
    switches_at_first: u64,
    switches: u64,
}

impl Watched {
    /// Takes the first sample; `None` where the system doesn't tell, or when the thread has ended.
    pub(super) fn open(thread: ThreadId, now: Time) -> Option<Watched> {
        let source = ThreadScheduling::open(thread)?;
        let first = source.read()?;
        Some(Watched {
            source,
            run_delay: Total::starting(now, first.run_delay),
            switches_at_first: first.involuntary_switches,
            switches: first.involuntary_switches,
        })
    }

    /// How long it was ready but not running, from the first sample to the last.
    pub(super) fn run_delay(&self) -> Duration {
        self.run_delay.rise()
    }

    /// How often it lost its CPU against its will meanwhile.
    pub(super) fn involuntary_switches(&self) -> u64 {
        self.switches - self.switches_at_first
    }
}

/// What one sentinel saw.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) seen_by: String,
    pub(super) lateness: Histogram,
    pub(super) longest: Duration,
    pub(super) stalls: Stretches,
    pub(super) run_queue: Stretches,
    pub(super) throttled: Stretches,
    pub(super) watched: Vec<Watched>,
    pub(super) throttled_total: Option<Total>,
}

impl Record {
    pub(super) fn new(cpu: Option<usize>, room: usize) -> Record {
        let stretches = || Stretches::with_room_for(room);
        Record {
            seen_by: cpu.map_or_else(|| "unpinned sentinel".into(), |cpu| format!("cpu {cpu}")),
            lateness: Histogram::default(),
            longest: Duration::ZERO,
            stalls: stretches(),
            run_queue: stretches(),
            throttled: stretches(),
            watched: Vec::with_capacity(WATCHED),
            throttled_total: None,
        }
    }

    /// Notes a wake; `waited`: how much of its lateness the sentinel spent ready, behind another thread.
    pub(super) fn note_wake(&mut self, due: Time, woke: Time, waited: Duration) {
        let late = woke.since(due);
        self.lateness.note(late);
        self.longest = self.longest.max(late);
        if late.saturating_sub(waited.min(SLICE)) > LATE {
            self.stalls.note(Stretch { from: due, to: woke });
        }
    }
}

/// One thread that wakes on a grid.
pub(super) struct Sentinel {
    cpu: Option<usize>,
    origin: Instant,
    stop: Arc<AtomicBool>,
    throttling: Option<Throttling>,
    own: OwnWaits,
    record: Record,
}

/// How long the sentinel itself was ready but not running.
#[derive(Debug, Default)]
struct OwnWaits {
    source: Option<ThreadScheduling>,
    last: Duration,
}

impl OwnWaits {
    fn of_this_thread() -> OwnWaits {
        let mut own = OwnWaits { source: sys::thread_id().and_then(ThreadScheduling::open), last: Duration::ZERO };
        own.since_last();
        own
    }

    /// Since the last call; zero where the system doesn't tell, so that all lateness counts.
    fn since_last(&mut self) -> Duration {
        let Some(now) = self.source.as_ref().and_then(ThreadScheduling::run_delay) else {
            return Duration::ZERO;
        };
        now.saturating_sub(std::mem::replace(&mut self.last, now))
    }
}

impl Sentinel {
    pub(super) fn new(
        cpu: Option<usize>,
        origin: Instant,
        stop: Arc<AtomicBool>,
        room: usize,
        throttling: Option<Throttling>,
    ) -> Sentinel {
        Sentinel { cpu, origin, stop, throttling, own: OwnWaits::default(), record: Record::new(cpu, room) }
    }

    /// Starts it; `None` when the process may have no more threads.
    pub(super) fn spawn(self, ready: Sender<bool>) -> Option<Handle> {
        let (watch, to_watch) = crossbeam_channel::bounded(WATCHED);
        let thread = std::thread::Builder::new().name("sentinel".into()).spawn(move || self.run(ready, &to_watch));
        let thread = thread.ok()?;
        Some(Handle { watch, thread })
    }

    fn run(mut self, ready: Sender<bool>, to_watch: &Receiver<Watched>) -> Record {
        let pinned = self.cpu.is_some_and(sys::pin_to);
        self.own = OwnWaits::of_this_thread();
        let start = now(self.origin);
        let throttled = self.throttling.as_ref().and_then(Throttling::read);
        self.record.throttled_total = throttled.map(|total| Total::starting(start, total));
        let _ = ready.send(pinned);
        drop(ready); // The control waits until nobody can send any more.
        let mut due = start.after(PERIOD);
        for tick in 1_u64.. {
            sleep_until(self.origin, due);
            let woke = now(self.origin);
            let waited = self.own.since_last();
            self.record.note_wake(due, woke, waited);
            self.record.watched.extend(to_watch.try_iter());
            let last = self.stop.load(Ordering::Relaxed);
            self.sample_run_queue(woke);
            if last || tick % COSTLY_EVERY == 0 {
                self.sample_throttling(woke);
                self.sample_switches();
            }
            if last {
                break;
            }
            due = next_due(due, woke, PERIOD);
        }
        self.record
    }

    /// A sample's time is read before it, so that what is added during it can't fall between two stretches; a
    /// stretch ends when it is seen.
    fn sample_run_queue(&mut self, at: Time) {
        for watched in &mut self.record.watched {
            let sample = watched.source.run_delay();
            let rise = sample.and_then(|total| watched.run_delay.sample(at, total, LATE));
            if let Some(mut stretch) = rise {
                stretch.to = now(self.origin);
                self.record.run_queue.note(stretch);
            }
        }
    }

    fn sample_throttling(&mut self, at: Time) {
        let (Some(throttling), Some(total)) = (&self.throttling, &mut self.record.throttled_total) else {
            return;
        };
        let sample = throttling.read();
        if let Some(mut stretch) = sample.and_then(|sample| total.sample(at, sample, THROTTLED)) {
            stretch.to = now(self.origin);
            self.record.throttled.note(stretch);
        }
    }

    fn sample_switches(&mut self) {
        for watched in &mut self.record.watched {
            if let Some(scheduling) = watched.source.read() {
                watched.switches = scheduling.involuntary_switches;
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "sentinels watch the machine, on no clock but its own")]
pub(super) fn now(origin: Instant) -> Time {
    Time::ZERO.after(Instant::now().saturating_duration_since(origin))
}

#[expect(clippy::disallowed_methods, reason = "a sentinel's sleep is what it measures; it is in no virtual run")]
fn sleep_until(origin: Instant, due: Time) {
    std::thread::sleep(due.since(now(origin)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(micros: u64) -> Time {
        Time::ZERO.after(Duration::from_micros(micros))
    }

    /// Whether a sentinel due at 2 ms that woke then, having waited behind another thread, saw a stall.
    fn sees(woke_us: u64, waited_us: u64) -> bool {
        let mut record = Record::new(Some(0), 4);
        record.note_wake(us(2_000), us(woke_us), Duration::from_micros(waited_us));
        record.stalls.since(Time::ZERO, "").count() == 1
    }

    #[test]
    fn every_stall_of_period_and_threshold_is_seen_wherever_it_begins() {
        // The sentinel slept at 0 and was due at 2 ms; a stall that begins at 2 ms or later meets a later point.
        assert!((0..2_000).all(|begin| sees(begin + 3_501, 0)));
    }

    #[test]
    fn a_busy_cpu_is_no_stall_but_hides_none_longer_than_a_slice_more() {
        assert!(!sees(2_000 + 4_000, 3_900));
        assert!((0..2_000).all(|begin| sees(begin + 8_501, 8_000)));
    }

    #[test]
    fn an_ordinary_wake_is_only_counted() {
        let mut record = Record::new(Some(0), 4);
        record.note_wake(us(2_000), us(3_500), Duration::ZERO);
        assert_eq!(record.stalls.since(Time::ZERO, "").count(), 0);
        assert_eq!(record.longest, LATE);
        assert_eq!(record.lateness.bins().iter().map(|bin| bin.count).sum::<u64>(), 1);
    }

    #[test]
    fn own_waits_count_from_the_last_look_and_are_none_where_nothing_tells() {
        assert_eq!(OwnWaits::default().since_last(), Duration::ZERO);
    }
}
