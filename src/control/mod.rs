//! The control: idle sentinels that run beside a real run and see when the machine held the process up.
//!
//! One trick: a sentinel has nothing to do but to wake at known points, so when it wakes late it was not its own
//! doing. One is pinned to each usable CPU, since a stall of one CPU is mostly not seen by another.
//!
//! What is seen, and why these numbers: a CPU that stalls for [`PERIOD`] + [`LATE`] = 3.5 ms, whenever it begins,
//! keeps its sentinel from a point by at least [`LATE`]. That is well below the default tolerance of 10 ms, so a
//! single stall that puts a reading off the mark is always seen. [`LATE`] in turn is well above what an ordinary
//! wake takes (an idle CPU and its timer interrupt together some 0.2 ms, the timer slack 0.05 ms).

mod record;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender};

use self::record::{Histogram, Stretches, Total, next_due};
use crate::result::Noise;
use crate::sys::{self, Scheduling, ThreadId, ThreadScheduling, Throttling};
use crate::time::{Time, duration_millis};

/// How often a sentinel wakes.
pub const PERIOD: Duration = Duration::from_millis(2);
/// A wake later than this is a stall; so is a loop's thread that waited this long for a CPU within a period.
pub const LATE: Duration = Duration::from_micros(1500);
/// Throttled time within one look that counts: a group is throttled for milliseconds or not at all.
const THROTTLED: Duration = Duration::from_millis(1);
/// What is costly to read (throttling, switches) is read at every fifth wake.
const COSTLY_EVERY: u64 = 5;
/// Room for stretches, all sentinels together: of the longest possible run of stalls, 200 s.
const STRETCHES: usize = 100_000;
/// Room for the threads that one sentinel watches.
const WATCHED: usize = 64;

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

#[derive(Debug)]
struct Handle {
    watch: Sender<Watched>,
    thread: JoinHandle<Record>,
}

impl Control {
    /// Starts one sentinel for each CPU that the calling thread may run on, and returns when all of them look.
    /// Times count from `origin`, which [`Control::finish`]'s start must count from too.
    ///
    /// Where the system has no pinning there is one unpinned sentinel. When the process may not have so many
    /// threads, there are fewer sentinels, possibly none, and the result says that they are not pinned.
    pub fn start(origin: Instant) -> Control {
        let cpus: Vec<Option<usize>> = sys::usable_cpus().into_iter().map(Some).collect();
        let cpus = if cpus.is_empty() { vec![None] } else { cpus };
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
        let pinned = looking.iter().filter(|&pinned| pinned).count() == cpus.len();
        Control {
            origin,
            stop,
            sentinels,
            pinned,
            turn: AtomicUsize::new(0),
        }
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

/// A loop's thread that a sentinel watches.
#[derive(Debug)]
struct Watched {
    source: ThreadScheduling,
    run_delay: Total,
    switches_at_first: u64,
    switches: u64,
}

impl Watched {
    fn open(thread: ThreadId, now: Time) -> Option<Watched> {
        let source = ThreadScheduling::open(thread)?;
        let Scheduling {
            run_delay,
            involuntary_switches,
        } = source.read()?;
        Some(Watched {
            source,
            run_delay: Total::starting(now, run_delay),
            switches_at_first: involuntary_switches,
            switches: involuntary_switches,
        })
    }
}

/// What one sentinel saw.
#[derive(Debug)]
struct Record {
    seen_by: String,
    lateness: Histogram,
    longest: Duration,
    stalls: Stretches,
    run_queue: Stretches,
    throttled: Stretches,
    watched: Vec<Watched>,
    throttled_total: Option<Total>,
}

impl Record {
    fn new(cpu: Option<usize>, room: usize) -> Record {
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

    fn note_wake(&mut self, due: Time, woke: Time) {
        let late = woke.since(due);
        self.lateness.note(late);
        self.longest = self.longest.max(late);
        if late > LATE {
            self.stalls.note(crate::readings::Stretch { from: due, to: woke });
        }
    }
}

/// One thread that wakes on a grid.
struct Sentinel {
    cpu: Option<usize>,
    origin: Instant,
    stop: Arc<AtomicBool>,
    throttling: Option<Throttling>,
    record: Record,
}

impl Sentinel {
    fn new(
        cpu: Option<usize>,
        origin: Instant,
        stop: Arc<AtomicBool>,
        room: usize,
        throttling: Option<Throttling>,
    ) -> Sentinel {
        Sentinel {
            cpu,
            origin,
            stop,
            throttling,
            record: Record::new(cpu, room),
        }
    }

    /// Starts it; `None` when the process may have no more threads.
    fn spawn(self, ready: Sender<bool>) -> Option<Handle> {
        let (watch, to_watch) = crossbeam_channel::bounded(WATCHED);
        let thread = std::thread::Builder::new()
            .name("sentinel".into())
            .spawn(move || self.run(ready, &to_watch));
        let thread = thread.ok()?;
        Some(Handle { watch, thread })
    }

    fn run(mut self, ready: Sender<bool>, to_watch: &Receiver<Watched>) -> Record {
        let pinned = self.cpu.is_some_and(sys::pin_to);
        let start = now(self.origin);
        let throttled = self.throttling.as_ref().and_then(Throttling::read);
        self.record.throttled_total = throttled.map(|total| Total::starting(start, total));
        let _ = ready.send(pinned);
        drop(ready); // The control waits until nobody can send any more.
        let mut due = start.after(PERIOD);
        for tick in 1_u64.. {
            sleep_until(self.origin, due);
            let woke = now(self.origin);
            self.record.note_wake(due, woke);
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
            stalls
                .chain(run_queue)
                .chain(record.throttled.since(start, "throttled"))
        })
        .collect();
    disturbed.sort_by_key(|seen| (seen.stretch.from, seen.stretch.to));
    let run_queue: Duration = watched.iter().map(|watched| watched.run_delay.rise()).sum();
    let switches = |watched: &&Watched| watched.switches - watched.switches_at_first;
    Noise {
        pinned,
        sentinels: records.len(),
        period_ms: duration_millis(PERIOD),
        histogram: lateness.bins(),
        longest_stall_ms: duration_millis(longest.unwrap_or_default()),
        run_queue_ms: (!watched.is_empty()).then(|| duration_millis(run_queue)),
        involuntary_switches: (!watched.is_empty()).then(|| watched.iter().map(switches).sum()),
        throttled_ms: throttled.map(|total| duration_millis(total.rise())),
        disturbed,
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "sentinels watch the machine, on no clock but its own"
)]
fn now(origin: Instant) -> Time {
    Time::ZERO.after(Instant::now().saturating_duration_since(origin))
}

#[expect(
    clippy::disallowed_methods,
    reason = "a sentinel's sleep is what it measures; it is in no virtual run"
)]
fn sleep_until(origin: Instant, due: Time) {
    std::thread::sleep(due.since(now(origin)));
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
    fn every_stall_of_period_and_threshold_is_a_disturbed_stretch_wherever_it_begins() {
        let stall = 3_501;
        for begin in 0..2_000 {
            // The sentinel slept at 0 with its next point at 2 ms, or at the first point within the stall.
            let (due, woke) = (us(2_000), us(begin + stall));
            let mut record = Record::new(Some(0), 4);
            record.note_wake(due, woke);
            assert_eq!(
                record.stalls.since(Time::ZERO, "").count(),
                1,
                "stall began at {begin} us"
            );
        }
    }

    #[test]
    fn an_ordinary_wake_is_only_counted() {
        let mut record = Record::new(Some(0), 4);
        record.note_wake(us(2_000), us(2_000 + 1_500));
        assert_eq!(record.stalls.since(Time::ZERO, "").count(), 0);
        assert_eq!(record.longest, LATE);
    }

    #[test]
    fn noise_names_who_saw_what_and_counts_from_the_start() {
        let mut one = Record::new(Some(3), 4);
        let mut other = Record::new(None, 4);
        one.note_wake(us(9_000), us(14_000));
        other.note_wake(us(2_000), us(4_000));
        let (from, to) = (us(12_000), us(13_000));
        other.throttled.note(Stretch { from, to });
        let noise = noise(&[one, other], false, us(10_000));
        let seen: Vec<_> = noise
            .disturbed
            .iter()
            .map(|seen| (seen.seen_by.as_str(), seen.stretch.from, seen.stretch.to))
            .collect();
        assert_eq!(
            seen,
            [
                ("cpu 3", Time::ZERO, us(4_000)),
                ("throttled", us(2_000), us(3_000))
            ]
        );
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
