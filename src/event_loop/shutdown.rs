//! How a loop ends when it is asked to: by the policy's choice gracefully, at once, or with the turn under way.
//!
//! Source of the graceful way: Netty's `SingleThreadEventExecutor.java` (`shutdownGracefully`, `confirmShutdown`): what
//! is queued runs, timers are cancelled, and tasks are still taken until none came for the quiet period, which is
//! looked at in steps of 100 ms that nothing shortens. The time-out is looked at only when the queue is empty.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::handle::{Handle, Shared};
use super::{LoopState, Scheduled};
use crate::policy::{GlobalShutdown, Shutdown};
use crate::promise::Promise;
use crate::time::Time;

/// How long the loop sleeps between two looks in the quiet period.
const STEP: Duration = Duration::from_millis(100);

/// What a graceful shutdown was asked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grace {
    /// The loop ends when no task came for so long.
    pub quiet: Duration,
    /// The quiet period is not waited for any longer than this.
    pub timeout: Duration,
}

impl Default for Grace {
    /// Netty's: 2 s and 15 s.
    fn default() -> Grace {
        Grace { quiet: Duration::from_secs(2), timeout: Duration::from_secs(15) }
    }
}

/// How far a loop's end has come.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// When the loop first saw that it was asked.
    began: Option<Time>,
    /// When it last ran a task or a timer, or began.
    last_ran: Time,
}

impl Progress {
    pub(super) fn ran_at(&mut self, now: Time) {
        self.last_ran = now;
    }

    /// After a turn: whether the loop may end. Runs what is queued, and sleeps for a step while it is to be quiet.
    pub(super) fn confirm(&mut self, shared: &Shared) -> bool {
        match (shared.lifecycle.state(), shared.policy.shutdown) {
            (LoopState::NotStarted | LoopState::Started, _) => return false,
            (_, Shutdown::DropsQueue | Shutdown::EndsTurn) => return true,
            (_, Shutdown::Graceful) => {}
        }
        shared.cancel_timers();
        let began = *self.began.get_or_insert_with(|| shared.clock.now());
        let grace = *shared.lock_grace();
        if shared.drain_all() {
            self.last_ran = shared.clock.now();
            return grace.quiet.is_zero();
        }
        let now = shared.clock.now();
        if now.since(began) > grace.timeout || now.since(self.last_ran) >= grace.quiet {
            return true;
        }
        shared.clock.spend(STEP);
        false
    }
}

impl Handle {
    /// Asks the loop to end, as its policy does it. Asking again changes nothing. The global executor can't be ended.
    pub fn shutdown(&self, grace: Grace) {
        let shared = &self.shared;
        if shared.global && shared.policy.global_shutdown == GlobalShutdown::Unsupported {
            return;
        }
        let to = match shared.policy.shutdown {
            Shutdown::Graceful => {
                *shared.lock_grace() = grace;
                LoopState::ShuttingDown
            }
            Shutdown::DropsQueue => {
                shared.stopping.store(true, Ordering::Release);
                LoopState::ShutDown
            }
            Shutdown::EndsTurn => LoopState::ShutDown,
        };
        if shared.moves_to(to) == Some(LoopState::NotStarted) {
            shared.begin_thread();
        }
        shared.wake_after_post();
    }

    /// Its state.
    pub fn state(&self) -> LoopState {
        self.shared.lifecycle.state()
    }

    /// Done when the loop has ended. It belongs to no loop, so a wait for it is not checked, as Netty's
    /// `terminationFuture`, which belongs to the global executor. The global executor's own has failed.
    pub fn termination(&self) -> &Promise {
        &self.shared.termination
    }

    /// Ends the loop at the end of a run: reaches it whatever its policy, runs nothing more, and counts for nothing.
    pub fn end(&self) {
        self.shared.over.store(true, Ordering::Release);
        self.shared.stopping.store(true, Ordering::Release);
        self.shared.wake_for_end();
    }
}

impl Shared {
    /// Moves on to a later state and says so; the state before, if it moved.
    pub(super) fn moves_to(&self, to: LoopState) -> Option<LoopState> {
        let before = self.lifecycle.advance(to)?;
        if !self.over.load(Ordering::Acquire) {
            self.observer.moved(to);
        }
        Some(before)
    }

    /// By the loop's thread behind its last turn.
    pub(super) fn terminate(&self) {
        self.moves_to(LoopState::ShutDown);
        if self.policy.shutdown == Shutdown::Graceful {
            // Accepted before the state changed.
            self.drain_last();
        }
        self.moves_to(LoopState::Terminated);
        self.termination.succeed(());
    }

    fn cancel_timers(&self) {
        let armed: Vec<Scheduled> = self.lock_timers().values().map(|timer| timer.scheduled.clone()).collect();
        armed.iter().for_each(|timer| _ = timer.cancel());
    }
}
