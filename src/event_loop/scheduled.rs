//! Timers: armed from any thread, in the heap until they are due, cancelled from any thread.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use super::handle::{Handle, Shared};
use super::{Firing, Rejected, Repeat, Tag, TimerKey};
use crate::policy::{Cancelled, Ties, WakeUp};
use crate::promise::Promise;
use crate::time::Time;

pub(super) struct Timer {
    pub(super) tag: Tag,
    pub(super) repeat: Option<Repeat>,
    pub(super) work: Box<dyn FnMut(&Firing) + Send>,
    pub(super) scheduled: Scheduled,
}

/// An armed timer: its future, and a way to cancel it from any thread.
#[derive(Clone, Debug)]
pub struct Scheduled {
    future: Promise,
    owner: Handle,
    /// Where it stands in the heap; none while it runs or waits in the queue.
    key: Arc<Mutex<Option<TimerKey>>>,
}

impl Handle {
    /// Arms a timer for this instant of the clock; one that has passed is due at once, as a delay below zero is.
    ///
    /// # Errors
    /// When the loop takes no more tasks.
    pub fn schedule_at(
        &self,
        tag: Tag,
        at: Time,
        work: impl FnMut(&Firing) + Send + 'static,
    ) -> Result<Scheduled, Rejected> {
        self.arm_new(tag, self.shared.timer_instant(at), None, work)
    }

    /// Arms a timer `after` from now, once or repeating.
    ///
    /// # Errors
    /// When the loop takes no more tasks.
    pub fn schedule(
        &self,
        tag: Tag,
        after: Duration,
        repeat: Option<Repeat>,
        work: impl FnMut(&Firing) + Send + 'static,
    ) -> Result<Scheduled, Rejected> {
        self.arm_new(tag, self.shared.deadline(after), repeat, work)
    }

    fn arm_new(
        &self,
        tag: Tag,
        deadline: Time,
        repeat: Option<Repeat>,
        work: impl FnMut(&Firing) + Send + 'static,
    ) -> Result<Scheduled, Rejected> {
        if self.shared.ended.load(Ordering::Acquire) {
            return Err(Rejected);
        }
        let scheduled = Scheduled { future: self.promise(), owner: self.clone(), key: Arc::default() };
        let timer = Timer { tag, repeat, work: Box::new(work), scheduled: scheduled.clone() };
        let first = self.shared.arm(deadline, timer);
        match self.shared.policy.wake {
            WakeUp::Never if first => self.shared.wake(),
            WakeUp::WhenAsleep if !first => {}
            _ => self.shared.wake_after_post(),
        }
        Ok(scheduled)
    }
}

impl Scheduled {
    /// Its future.
    pub fn future(&self) -> &Promise {
        &self.future
    }

    /// Cancels it; false when it is done, or running for the only time.
    pub fn cancel(&self) -> bool {
        self.leave_heap(self.future.cancel())
    }

    /// The same, and asks a running body to stop where the policy has that.
    pub fn cancel_and_interrupt(&self) -> bool {
        self.leave_heap(self.future.cancel_and_interrupt())
    }

    fn leave_heap(&self, cancelled: bool) -> bool {
        if cancelled
            && self.owner.shared.policy.cancelled == Cancelled::Removed
            && let Some(key) = self.lock_key().take()
        {
            let removed = self.owner.shared.lock_timers().remove(key);
            // Dropped here, when the heap is free again: what the timer holds may be large.
            drop(removed);
        }
        cancelled
    }

    fn lock_key(&self) -> MutexGuard<'_, Option<TimerKey>> {
        self.key.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Shared {
    /// Puts a timer into the heap; whether it is now the first.
    pub(super) fn arm(&self, deadline: Time, timer: Timer) -> bool {
        let scheduled = timer.scheduled.clone();
        let mut key = scheduled.lock_key();
        let mut timers = self.lock_timers();
        let first = timers.next_deadline().is_none_or(|next| deadline < next);
        *key = Some(match self.policy.ties {
            Ties::Sequence => timers.insert(deadline, timer),
            Ties::LastFirst => timers.insert_first(deadline, timer),
        });
        first
    }
}
