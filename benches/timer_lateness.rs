//! How late a timer of 5 ms runs on an idle loop: ours, a timerfd with epoll and nothing else, mio's own timeout, and
//! cyclictest where it is installed. All on one CPU, one after the other, so that each finds it idle.
//!
//! Goal: p50 at most 1.2 times that of the timerfd, and of cyclictest; and nothing ever early, compared in ns.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

#[allow(dead_code, reason = "each bench uses its part")]
mod common;

use std::process::Command;
use std::time::Duration;

use loopprobe::clock::Clock;
use loopprobe::event_loop::{Repeat, Tag};
use loopprobe::scenario::{MissedTicks, Mode};
use loopprobe::stats::quantile;
use loopprobe::time::Time;

use common::{Plan, Ratio, spread};

const PERIOD: Duration = Duration::from_millis(5);
const PERIOD_NANOS: u64 = 5_000_000;
const GOAL: f64 = 1.2;

/// Lateness of each timer in ns; less than zero is early.
type Lateness = Vec<f64>;

struct Candidate {
    name: &'static str,
    run: fn(cpu: usize, count: usize) -> Option<Lateness>,
}

/// Ours first: the others are what it is compared with.
const CANDIDATES: [Candidate; 4] = [
    Candidate { name: "loopprobe's loop", run: event_loop },
    Candidate { name: "bare timerfd + epoll", run: timerfd },
    Candidate { name: "bare mio, its timeout", run: mio_timeout },
    Candidate { name: "cyclictest --default-system", run: cyclictest },
];

/// What came of one candidate, round by round, in µs.
#[derive(Default)]
struct Results {
    p50: Vec<f64>,
    p99: Vec<f64>,
    early: usize,
}

fn main() {
    let plan = Plan::from_args(11);
    let Some(cpus) = common::cpus() else { return };
    let count = plan.size(300, 10);
    println!(
        "timer_lateness: {} rounds of {count} timers {PERIOD:?} apart, one CPU, load {}",
        plan.rounds,
        common::load()
    );
    let mut results: [Results; 4] = Default::default();
    for round in 0..plan.rounds {
        // Each takes each place in turn, so that none always follows the same other.
        for place in 0..CANDIDATES.len() {
            let which = (round + place) % CANDIDATES.len();
            let run = CANDIDATES[which].run;
            if let Some(lateness) = common::pinned(cpus.first, move || run(cpus.first, count)) {
                results[which].add(&lateness);
            }
        }
    }
    report(plan, &results);
}

impl Results {
    fn add(&mut self, lateness: &[f64]) {
        let micros = |q| quantile(lateness, q).unwrap_or(f64::NAN) / 1000.0;
        self.p50.push(micros(0.5));
        self.p99.push(micros(0.99));
        self.early += lateness.iter().filter(|&&late| late < 0.0).count();
    }
}

fn report(plan: Plan, results: &[Results; 4]) {
    println!("  {:<28} {:>24} {:>26} {:>6}", "µs, min / median / max", "p50", "p99", "early");
    for (candidate, results) in CANDIDATES.iter().zip(results) {
        if results.p50.is_empty() {
            println!("  {:<28} {:>24}", candidate.name, "not installed");
            continue;
        }
        let (p50, p99) = (spread(&results.p50, 0), spread(&results.p99, 0));
        println!("  {:<28} {p50:>24} {p99:>26} {:>6}", candidate.name, results.early);
    }
    let [ours, others @ ..] = results;
    for (candidate, theirs) in CANDIDATES[1..].iter().zip(others).filter(|(_, theirs)| !theirs.p50.is_empty()) {
        let (p50, p99) = (Ratio::of(&ours.p50, &theirs.p50), Ratio::of(&ours.p99, &theirs.p99));
        println!("  ours / {:<28} p50 {p50}   p99 {p99}", candidate.name);
    }
    let met = [1, 3]
        .iter()
        .filter(|&&which| !results[which].p50.is_empty())
        .all(|&which| Ratio::of(&ours.p50, &results[which].p50).of_medians <= GOAL);
    let early = plan.words(ours.early == 0);
    println!("  goal: p50 at most {GOAL} times: {}; never early: {early}", plan.words(met));
    println!("  load afterwards {}", common::load());
}

/// Later less earlier, with its sign.
fn late(now: u64, due: u64) -> f64 {
    now as f64 - due as f64
}

fn event_loop(_cpu: usize, count: usize) -> Option<Lateness> {
    let clock = Clock::wall();
    let mut event_loop = common::event_loop(&clock);
    let handle = event_loop.handle().clone();
    let (result, seen) = crossbeam_channel::bounded(1);
    let mut lateness = Vec::with_capacity(count);
    let stopper = handle.clone();
    let repeat = Repeat { mode: Mode::FixedRate, period: PERIOD, missed: MissedTicks::Burst };
    let body = move |firing: &loopprobe::event_loop::Firing| {
        lateness.push(late(clock.now().as_nanos(), firing.deadline.as_nanos()));
        if lateness.len() == count {
            // There is room for one, and this comes once.
            let _ = result.try_send(std::mem::take(&mut lateness));
            stopper.end();
        }
    };
    handle.schedule(Tag(1), PERIOD, Some(repeat), body).expect("a new loop takes timers");
    event_loop.run().expect("the poller works");
    // The timer refers to its loop.
    handle.discard();
    seen.try_recv().ok()
}

fn mio_timeout(_cpu: usize, count: usize) -> Option<Lateness> {
    let clock = Clock::wall();
    let mut poll = mio::Poll::new().expect("a poll");
    let mut events = mio::Events::with_capacity(16);
    let mut wait_until = |due: u64| {
        let due = Time::from_nanos(due);
        while clock.now() < due {
            poll.poll(&mut events, Some(due.since(clock.now()))).expect("the poll works");
        }
        late(clock.now().as_nanos(), due.as_nanos())
    };
    Some((1..=count as u64).map(|number| wait_until(number * PERIOD_NANOS)).collect())
}

#[cfg(target_os = "linux")]
fn timerfd(_cpu: usize, count: usize) -> Option<Lateness> {
    use rustix::event::epoll;
    use rustix::time::{
        ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
        timerfd_create, timerfd_settime,
    };

    const SECOND: u64 = 1_000_000_000;
    let now = || {
        let now = clock_gettime(ClockId::Monotonic);
        now.tv_sec as u64 * SECOND + now.tv_nsec as u64
    };
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC).ok()?;
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC).ok()?;
    epoll::add(&poll, &timer, epoll::EventData::new_u64(1), epoll::EventFlags::IN | epoll::EventFlags::ET).ok()?;
    let mut events = Vec::with_capacity(16);
    let mut wait_until = |due: u64| -> Option<f64> {
        let it_value = Timespec { tv_sec: (due / SECOND) as _, tv_nsec: (due % SECOND) as _ };
        let setting = Itimerspec { it_interval: Timespec::default(), it_value };
        timerfd_settime(&timer, TimerfdTimerFlags::ABSTIME, &setting).ok()?;
        events.clear();
        epoll::wait(&poll, rustix::buffer::spare_capacity(&mut events), None).ok()?;
        let lateness = late(now(), due);
        rustix::io::read(&timer, &mut [0; 8]).ok()?;
        Some(lateness)
    };
    let began = now();
    (1..=count as u64).map(|number| wait_until(began + number * PERIOD_NANOS)).collect()
}

#[cfg(not(target_os = "linux"))]
fn timerfd(_cpu: usize, _count: usize) -> Option<Lateness> {
    None
}

/// Its histogram, in whole µs. None where it is not installed.
fn cyclictest(cpu: usize, count: usize) -> Option<Lateness> {
    let output = Command::new("cyclictest")
        .args(["--default-system", "-q", "-t1", "-h20000"])
        .args([format!("-i{}", PERIOD.as_micros()), format!("-l{count}"), format!("-a{cpu}")])
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let buckets = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let (micros, count) = line.split_once(' ')?;
        Some((micros.parse::<f64>().ok()?, count.trim().parse::<usize>().ok()?))
    });
    let lateness: Lateness = buckets.flat_map(|(micros, count)| vec![micros * 1000.0; count]).collect();
    (!lateness.is_empty()).then_some(lateness)
}
