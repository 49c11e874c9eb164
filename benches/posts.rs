//! How many tasks a second other threads can give a loop, against a bare crossbeam channel that carries the same boxed
//! tasks. The loop's thread on one CPU, the producers on the other.
#![expect(clippy::print_stdout, reason = "a bench prints its table")]

#[allow(dead_code, reason = "each bench uses its part")]
mod common;

use std::cell::Cell;
use std::time::Duration;

use crossbeam_channel::Sender;
use loopprobe::clock::Clock;
use loopprobe::event_loop::{Executor, Tag, Task};

use common::{Cpus, Plan, Ratio, spread};

/// Runs so many tasks from so many producers; tasks a second.
type Run = fn(Cpus, producers: usize, each: usize) -> f64;

const CANDIDATES: [(&str, Run); 2] = [("loopprobe's execute()", event_loop), ("bare crossbeam channel", channel)];

thread_local! {
    /// What the tasks count, on the thread that runs them.
    static RUN: Cell<usize> = const { Cell::new(0) };
}

fn main() {
    let plan = Plan::from_args(11);
    let Some(cpus) = common::cpus() else { return };
    let total = plan.size(1_000_000, 4000);
    println!("posts: {} rounds of {total} tasks, load {}", plan.rounds, common::load());
    println!("  {:<40} {:>24}", "millions a second", "min / median / max");
    for producers in [1, 4] {
        let mut results: [Vec<f64>; 2] = Default::default();
        for round in 0..plan.rounds {
            for place in 0..2 {
                let which = (round + place) % 2;
                results[which].push((CANDIDATES[which].1)(cpus, producers, total / producers) / 1e6);
            }
        }
        for ((name, _), results) in CANDIDATES.iter().zip(&results) {
            println!("  {:<40} {:>24}", format!("{name}, {producers} producers"), spread(results, 2));
        }
        let [ours, bare] = &results;
        println!("  ours / bare, {producers} producers: {}", Ratio::of(ours, bare));
    }
    println!("  load afterwards {}", common::load());
}

fn task(last: bool, done: &Sender<()>) -> Task {
    // Every task the same size, the last one too.
    let done = last.then(|| done.clone());
    let work = move || {
        RUN.set(RUN.get() + 1);
        if let Some(done) = done {
            // Whoever waits is still there.
            let _ = done.send(());
        }
    };
    Task { tag: Tag(1), work: Box::new(work) }
}

/// Starts the producers, waits until each one's last task has run, and tells how long that took.
fn produce(cpus: Cpus, producers: usize, each: usize, post: impl Fn(Task) + Sync) -> Duration {
    let clock = Clock::wall();
    let (done, all_done) = crossbeam_channel::unbounded();
    let start = std::sync::Barrier::new(producers + 1);
    std::thread::scope(|scope| {
        for _ in 0..producers {
            scope.spawn(|| {
                common::pin(cpus.second);
                start.wait();
                (1..=each).for_each(|number| post(task(number == each, &done)));
            });
        }
        start.wait();
        let began = clock.now();
        all_done.iter().take(producers).for_each(drop);
        clock.now().since(began)
    })
}

fn rate(producers: usize, each: usize, took: Duration) -> f64 {
    (producers * each) as f64 / took.as_secs_f64()
}

fn event_loop(cpus: Cpus, producers: usize, each: usize) -> f64 {
    let mut event_loop = common::event_loop(&Clock::wall());
    let handle = event_loop.handle().clone();
    std::thread::scope(|scope| {
        let consumer = scope.spawn(move || {
            common::pin(cpus.first);
            event_loop.run().expect("the poller works");
            RUN.get()
        });
        let took = produce(cpus, producers, each, |task| handle.execute(task).expect("the loop runs"));
        handle.end();
        assert_eq!(consumer.join().expect("the loop does not panic"), producers * each);
        rate(producers, each, took)
    })
}

fn channel(cpus: Cpus, producers: usize, each: usize) -> f64 {
    let (post, queue) = crossbeam_channel::unbounded::<Task>();
    std::thread::scope(|scope| {
        let consumer = scope.spawn(move || {
            common::pin(cpus.first);
            queue.iter().for_each(|task| (task.work)());
            RUN.get()
        });
        let took = produce(cpus, producers, each, |task| post.send(task).expect("the consumer runs"));
        drop(post);
        assert_eq!(consumer.join().expect("a task does not panic"), producers * each);
        rate(producers, each, took)
    })
}
