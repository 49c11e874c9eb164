//! The life of the global executor's thread: a task of its own ticks every second, and ends it when nothing else waits.
//!
//! Source of the behaviour: Netty's `GlobalEventExecutor.java` (`quietPeriodTask`, fixed delay of 1 s, armed when the
//! executor is made and kept from one thread to the next).

use std::time::Duration;

use super::handle::Shared;
use crate::policy::GlobalLife;
use crate::time::Time;

/// The time between two ticks.
const TICK: Duration = Duration::from_secs(1);

/// The executor's own periodic task.
#[derive(Debug)]
pub(super) struct QuietTick {
    next: Time,
}

impl QuietTick {
    /// The tick of an executor made now; none for a loop, or where the thread lives on.
    pub(super) fn of(shared: &Shared) -> Option<QuietTick> {
        let ticks = shared.global && shared.policy.global_life == GlobalLife::UntilQuiet;
        ticks.then(|| QuietTick { next: shared.clock.now().after(TICK) })
    }

    /// When it is due.
    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// After a turn: whether the thread ends here, for the next task to start another.
    pub(super) fn ends_thread(&mut self, shared: &Shared) -> bool {
        let now = shared.clock.now();
        if now < self.next {
            return false;
        }
        self.next = now.after(TICK);
        if !shared.is_idle() || !shared.lifecycle.rest() {
            return false;
        }
        // A task that came since found the state as it was, and started no thread.
        shared.is_idle() || !shared.lifecycle.start()
    }
}

impl Shared {
    fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.lock_timers().is_empty()
    }
}
