//! What a loop counts. Readable from any thread while it runs.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::time::Time;

/// Counters of one loop. Each is written by one thread or by atomic addition, and is exact when the loop has ended.
#[derive(Debug, Default)]
pub struct Counters {
    tasks: AtomicU64,
    timers: AtomicU64,
    polls: AtomicU64,
    wakeups: AtomicU64,
    longest_turn: AtomicU64,
    rebuilds: AtomicU64,
    task_time: AtomicU64,
    io_time: AtomicU64,
}

macro_rules! counter {
    ($(#[$doc:meta])* $name:ident, $add:ident) => {
        $(#[$doc])*
        pub fn $name(&self) -> u64 {
            self.$name.load(Ordering::Relaxed)
        }

        pub(super) fn $add(&self) {
            self.$name.fetch_add(1, Ordering::Relaxed);
        }
    };
}

impl Counters {
    counter!(
        /// Ordinary tasks run.
        tasks,
        add_task
    );
    counter!(
        /// Timers run.
        timers,
        add_timer
    );
    counter!(
        /// Times the poller was asked.
        polls,
        add_poll
    );
    counter!(
        /// Wake-ups made.
        wakeups,
        add_wakeup
    );

    counter!(
        /// Times the poller was rebuilt because it returned for nothing.
        rebuilds,
        add_rebuild
    );

    /// How long tasks and timers ran, in ns; of a drain of the queue when it has ended.
    pub fn task_time(&self) -> Time {
        Time::from_nanos(self.task_time.load(Ordering::Relaxed))
    }

    /// How long a task or timer took on average, in ns.
    pub fn mean_task_time(&self) -> Time {
        let runs = (self.tasks() + self.timers()).max(1);
        Time::from_nanos(self.task_time.load(Ordering::Relaxed) / runs)
    }

    /// How long handlers of ready sources ran, in ns.
    pub fn io_time(&self) -> Time {
        Time::from_nanos(self.io_time.load(Ordering::Relaxed))
    }

    pub(super) fn io_took(&self, nanos: u64) {
        self.io_time.fetch_add(nanos, Ordering::Relaxed);
    }

    pub(super) fn tasks_took(&self, nanos: u64) {
        self.task_time.fetch_add(nanos, Ordering::Relaxed);
    }

    /// The longest turn so far, in ns.
    pub fn longest_turn(&self) -> Time {
        Time::from_nanos(self.longest_turn.load(Ordering::Relaxed))
    }

    pub(super) fn turn_took(&self, nanos: u64) {
        self.longest_turn.fetch_max(nanos, Ordering::Relaxed);
    }
}
