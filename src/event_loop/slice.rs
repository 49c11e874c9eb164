//! How long one drain of the queue may go on before I/O and timers get their turn.
//!
//! Source of the behaviour: Netty's `SingleThreadEventExecutor.java` (`runAllTasks(long)`: the clock is looked at only
//! after every 64th task, because reading it costs) and `NioEventLoop.java` of 4.1 (`ioRatio`).

use std::time::Duration;

use super::handle::Shared;
use super::task_queue::Post;
use crate::policy::{TaskSlice, TimerPass};
use crate::time::{Time, nanos};

/// Netty 4.2 takes no shorter slice.
const LEAST_SLICE: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug)]
enum Limit {
    None,
    Until(Time),
    Tasks(u64),
}

impl Shared {
    /// Runs what waits, within the policy's slice; `io_took` is how long this turn's I/O did. Whether anything ran.
    pub(super) fn drain_slice(&self, io_took: Duration) -> bool {
        self.drain(self.limit(io_took)) > 0
    }

    /// Runs what waits and what that puts into the queue, without end. Whether anything ran.
    pub(super) fn drain_all(&self) -> bool {
        self.drain(Limit::None) > 0
    }

    /// The same for a loop that has shut down.
    pub(super) fn drain_last(&self) {
        while !self.stops()
            && let Some(post) = self.queue.take_last()
        {
            self.run(post);
        }
    }

    fn limit(&self, io_took: Duration) -> Limit {
        match self.policy.task_slice {
            TaskSlice::Unlimited | TaskSlice::Share { io_ratio: 100.. } => Limit::None,
            TaskSlice::Time { slice } => Limit::Until(self.clock.now().after(slice.max(LEAST_SLICE))),
            TaskSlice::Share { io_ratio } => {
                let ratio = u32::from(io_ratio.max(1));
                Limit::Until(self.clock.now().after(io_took * (100 - ratio) / ratio))
            }
            TaskSlice::WhatWaits => Limit::Tasks(self.queue.len() as u64),
        }
    }

    fn drain(&self, limit: Limit) -> u64 {
        if self.queue.is_empty() {
            return 0;
        }
        let (began, mut ran) = (self.clock.now(), 0);
        while let Some(post) = self.queue.take() {
            self.run(post);
            ran += 1;
            if self.stops() || self.reached(limit, ran) {
                break;
            }
        }
        self.counters.tasks_took(nanos(self.clock.now().since(began)));
        ran
    }

    fn reached(&self, limit: Limit, ran: u64) -> bool {
        match limit {
            Limit::None => false,
            Limit::Tasks(most) => ran >= most,
            Limit::Until(until) => ran.is_multiple_of(self.policy.slice_looked_at) && self.clock.now() >= until,
        }
    }

    fn run(&self, post: Post) {
        match post {
            Post::Task(_, task) => self.run_task(task),
            Post::Timer(due, timer) => {
                self.run_timer(due, timer);
                if self.policy.timer_pass == TimerPass::LookAgain {
                    self.queue_due_timers();
                }
            }
        }
    }
}
