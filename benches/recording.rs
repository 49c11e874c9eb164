//! What recording an event costs a thread, against reading the clock. Goal: under 100 ns.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

#[allow(dead_code, reason = "each bench uses its part")]
mod common;

use std::hint::black_box;
use std::time::Duration;

use loopprobe::clock::Clock;
use loopprobe::recorder::{CAPACITY, Note, Recorder, Row, record};
use loopprobe::time::Time;
use loopprobe::trace::EventKind;

use common::{Plan, Ratio, spread};

const GOAL: f64 = 100.0;

fn main() {
    let plan = Plan::from_args(41);
    let Some(cpus) = common::cpus() else { return };
    println!("recording: {} rounds, one CPU, load {}", plan.rounds, common::load());
    let count = plan.size(CAPACITY, 1000);
    let rounds = common::pinned(cpus.first, || (0..plan.rounds).map(|_| round(count)).collect::<Vec<_>>());
    let column = |figure: fn(&Round) -> f64| rounds.iter().map(figure).collect::<Vec<_>>();
    let (clock, fresh, touched) =
        (column(|round| round.clock), column(|round| round.fresh), column(|round| round.touched));
    let detached = column(|round| round.detached);
    println!("  {:<44} {:>24}", "ns each", "min / median / max");
    println!("  {:<44} {:>24}", "reading the clock", spread(&clock, 1));
    println!("  {:<44} {:>24}", "an event, first use of the buffer's memory", spread(&fresh, 1));
    println!("  {:<44} {:>24}", "an event, memory used before", spread(&touched, 1));
    println!("  {:<44} {:>24}", "an event of a thread that does not record", spread(&detached, 1));
    println!("  an event / reading the clock: {}", Ratio::of(&fresh, &clock));
    let typical = common::median(&fresh);
    println!("  goal: under {GOAL} ns: {}", plan.words(typical < GOAL));
}

struct Round {
    clock: f64,
    fresh: f64,
    touched: f64,
    detached: f64,
}

fn round(count: usize) -> Round {
    let clock = Clock::wall();
    let reading = each(&clock, count, |_| _ = black_box(clock.now()));
    // As in a run: a buffer of full size, whose pages the kernel provides as rows reach them.
    let recorder = Recorder::new(clock.clone(), CAPACITY);
    let attached = recorder.attach("worker", true);
    let fresh = each(&clock, count, |run| record(row(run)));
    drop(attached);
    // A buffer small enough for the caches, filled again and again.
    let few = 1000;
    let touched = (0..count.div_ceil(few)).map(|_| {
        let recorder = Recorder::new(clock.clone(), few);
        let attached = recorder.attach("worker", true);
        let took = each(&clock, few, |run| record(row(run)));
        drop(attached);
        took
    });
    let touched = common::median(&touched.collect::<Vec<_>>());
    let detached = each(&clock, count, |run| record(row(run)));
    let (events, dropped) = recorder.collect(Time::ZERO, &["tick".into(), "note".into()]);
    assert_eq!((events.len(), dropped), (count, 0));
    Round { clock: reading, fresh, touched, detached }
}

/// A run of a periodic timer: what the built-in loop records most.
fn row(run: u32) -> Row {
    let deadline = Some(Time::from_nanos(u64::from(run) * 5_000_000));
    let value = Some(Duration::from_nanos(u64::from(run)));
    black_box(Row { run, deadline, value, ..Row::new(EventKind::Mark).task(0).note(Note::Name(1)) })
}

/// Nanoseconds for each of so many calls.
fn each(clock: &Clock, count: usize, mut call: impl FnMut(u32)) -> f64 {
    let began = clock.now();
    (1..=count as u32).for_each(&mut call);
    clock.now().since(began).as_nanos() as f64 / count as f64
}
