//! The loop's own side: one turn after the other, in the policy's order.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::global_life::QuietTick;
use super::handle::{Handle, Shared};
use super::scheduled::Timer;
use super::shutdown::Progress;
use super::spin_guard::SpinGuard;
use super::{Firing, LastRun, LoopState, Observer, Warning};
use crate::clock::Clock;
use crate::net::Ready;
use crate::policy::{
    Cancelled, Due, ErrorLog, PeriodicError, Policy, Rearm, RunningCancel, Shutdown, TimerPass, TurnOrder, WakeUp,
};
use crate::poller::Poller;
use crate::promise::{Failure, Promise};
use crate::scenario::LoopKind;
use crate::time::{Time, nanos};

/// An event loop. It belongs to the thread that turns it; everyone else has a [`Handle`].
#[derive(Debug)]
pub struct EventLoop {
    handle: Handle,
    poller: Box<dyn Poller>,
    /// When the present turn's wait ended.
    turn_began: Option<Time>,
    ready: Vec<Ready>,
    progress: Progress,
    spins: SpinGuard,
    /// Of the global executor.
    quiet_tick: Option<QuietTick>,
}

/// How [`EventLoop::run`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// For good.
    Terminated,
    /// The global executor has nothing to do; it runs again when the next task starts another thread.
    AtRest,
}

impl EventLoop {
    /// A loop that nobody turns yet. `slow_task` overrides the policy's watch where it is given.
    ///
    /// # Errors
    /// What the poller reports.
    pub fn new(
        clock: Clock,
        poller: Box<dyn Poller>,
        policy: Policy,
        (kind, slow_task): (LoopKind, Option<Duration>),
        observer: Arc<dyn Observer>,
    ) -> io::Result<EventLoop> {
        let slow_task = slow_task.or(policy.slow_task);
        let global = kind == LoopKind::GlobalExecutor;
        let handle = Handle::new(clock, policy, slow_task, global, &*poller, observer)?;
        Ok(EventLoop {
            ready: Vec::new(),
            quiet_tick: QuietTick::of(&handle.shared),
            handle,
            poller,
            turn_began: None,
            progress: Progress::default(),
            spins: SpinGuard::new(policy.rebuild_after),
        })
    }

    /// What other threads use.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Turns until it has been shut down, or the global executor has nothing to do.
    ///
    /// # Errors
    /// What the poller reports; the loop is terminated then too.
    pub fn run(&mut self) -> io::Result<Ended> {
        let handle = self.handle.clone();
        let shared = &handle.shared;
        shared.lifecycle.start();
        self.progress.ran_at(shared.clock.now());
        shared.as_current(|| {
            let ended = self.turn_until_ended();
            if !matches!(ended, Ok(Ended::AtRest)) {
                shared.terminate();
            }
            ended
        })
    }

    fn turn_until_ended(&mut self) -> io::Result<Ended> {
        while !self.shared().stops() {
            self.turn()?;
            if self.progress.confirm(&self.handle.shared) {
                break;
            }
            if let Some(tick) = &mut self.quiet_tick
                && tick.ends_thread(&self.handle.shared)
            {
                return Ok(Ended::AtRest);
            }
        }
        Ok(Ended::Terminated)
    }

    /// One turn: a wait, then I/O, tasks and timers in the policy's order.
    ///
    /// # Errors
    /// What the poller reports.
    pub fn turn(&mut self) -> io::Result<()> {
        let handle = self.handle.clone();
        let shared = &handle.shared;
        shared.as_current(|| {
            self.wait()?;
            let did_something = self.pass(shared);
            if did_something {
                self.progress.ran_at(shared.clock.now());
            }
            if self.spins.turned(did_something) {
                self.rebuild()?;
            }
            if shared.policy.wake == WakeUp::ClearedLate {
                shared.flag.clear();
            }
            Ok(())
        })
    }

    /// I/O, tasks and timers in the policy's order; whether there was any.
    fn pass(&mut self, shared: &Shared) -> bool {
        match shared.policy.turn {
            TurnOrder::IoThenTasks => {
                let io = self.dispatch(shared);
                shared.queue_due_timers();
                shared.drain_slice(io.unwrap_or_default()) || io.is_some()
            }
            TurnOrder::TasksTimersIo => {
                let tasks = shared.drain_slice(Duration::ZERO);
                let timers = !shared.stops() && shared.run_due_timers();
                let io = self.dispatch(shared);
                tasks || timers || io.is_some()
            }
        }
    }

    /// Tells the handlers of what is ready, if anything is; how long that took.
    fn dispatch(&mut self, shared: &Shared) -> Option<Duration> {
        if self.ready.is_empty() {
            return None;
        }
        let began = shared.clock.now();
        for ready in self.ready.drain(..) {
            let handler = shared.lock_io().get(ready.token);
            if let Some(handler) = handler {
                handler.ready(ready);
            }
        }
        let took = shared.clock.now().since(began);
        shared.counters.io_took(nanos(took));
        Some(took)
    }

    /// Makes the poller anew, with all that is registered.
    fn rebuild(&mut self) -> io::Result<()> {
        self.poller.rebuild()?;
        let shared = self.shared();
        shared.counters.add_rebuild();
        shared.register_anew(self.poller.registrar()?)
    }

    fn shared(&self) -> &Shared {
        &self.handle.shared
    }

    fn wait(&mut self) -> io::Result<()> {
        let shared = &self.handle.shared;
        let until = shared.wait_until(&mut self.turn_began);
        let tick = self.quiet_tick.as_ref().map(QuietTick::next);
        let until = [until, tick].into_iter().flatten().min();
        shared.counters.add_poll();
        self.poller.wait(&shared.clock, until, &mut self.ready)?;
        match shared.policy.wake {
            WakeUp::WhenAsleep => _ = shared.flag.set(),
            WakeUp::SinceWait => shared.flag.clear(),
            WakeUp::Every | WakeUp::Never | WakeUp::ClearedLate => {}
        }
        self.turn_began = Some(shared.clock.now());
        shared.turn_begins();
        Ok(())
    }
}

impl Shared {
    /// Until when the poller may wait; ends the present turn.
    fn wait_until(&self, turn_began: &mut Option<Time>) -> Option<Time> {
        let now = self.clock.now();
        if let Some(began) = turn_began.take() {
            self.counters.turn_took(nanos(now.since(began)));
        }
        if self.policy.wake == WakeUp::WhenAsleep {
            self.flag.clear();
        }
        // Looked at after the flag was cleared: a post that saw it set is in the queue by now.
        let waiting = self.policy.wake.looks_at_queue() && !self.queue.is_empty();
        let ending =
            self.policy.shutdown == Shutdown::Graceful && self.lifecycle.state() >= LoopState::ShuttingDown;
        if waiting || ending || self.stopping.load(Ordering::Acquire) {
            return Some(now);
        }
        self.lock_timers().next_deadline().map(|deadline| self.when(self.fires_at(deadline)))
    }

    /// When a timer with this deadline counts as due.
    fn fires_at(&self, deadline: Time) -> Time {
        match self.policy.due {
            Due::AtDeadline => deadline,
            Due::Early(by) => Time::from_nanos(deadline.as_nanos().saturating_sub(nanos(by))),
            Due::Late(by) => deadline.after(by),
        }
    }

    /// The latest deadline that counts as due now.
    fn due_horizon(&self) -> Time {
        let now = self.timer_now();
        match self.policy.due {
            Due::AtDeadline => now,
            Due::Early(by) => now.after(by),
            Due::Late(by) => Time::from_nanos(now.as_nanos().saturating_sub(nanos(by))),
        }
    }

    /// Netty: what is due goes behind the tasks that wait already, and runs as one of them.
    pub(super) fn queue_due_timers(&self) {
        let horizon = self.due_horizon();
        while let Some((due, timer)) = self.pop_due(horizon) {
            self.queue.push_timer(due, timer);
        }
    }

    /// Text D: what is due runs now, behind all tasks. Whether anything ran.
    fn run_due_timers(&self) -> bool {
        let before = self.counters.timers();
        match self.policy.timer_pass {
            TimerPass::Collected => {
                let horizon = self.due_horizon();
                let due: Vec<_> = std::iter::from_fn(|| self.pop_due(horizon)).collect();
                due.into_iter().for_each(|(due, timer)| self.run_timer(due, timer));
            }
            TimerPass::LookAgain => {
                while let Some((due, timer)) = self.pop_due(self.due_horizon()) {
                    self.run_timer(due, timer);
                }
            }
        }
        self.counters.timers() > before
    }

    fn pop_due(&self, horizon: Time) -> Option<(Time, Timer)> {
        self.lock_timers().pop_due(horizon)
    }

    pub(super) fn run_timer(&self, due: Time, mut timer: Timer) {
        let future = timer.scheduled.future().clone();
        let starts = if timer.repeat.is_some() && self.policy.running_cancel == RunningCancel::Refused {
            !future.is_done()
        } else {
            self.begin(&future)
        };
        if !starts && self.policy.cancelled != Cancelled::RunsAnyway {
            return;
        }
        self.counters.add_timer();
        let started = self.timer_now();
        let firing = Firing { deadline: self.unmoved(due) };
        let result = self.watched(timer.tag, || self.attempt(|| (timer.work)(&firing)));
        if let (Err(message), ErrorLog::All) = (&result, self.policy.error_log) {
            self.observer.warned(timer.tag, Warning::Raised(message));
        }
        match (result, timer.repeat) {
            (Ok(()), None) => _ = future.succeed(()),
            (Err(message), None) => _ = future.fail(Failure::Raised(message)),
            (Err(message), Some(_)) if self.policy.periodic_error == PeriodicError::Stop => {
                future.fail(Failure::Raised(message));
            }
            (_, Some(_)) if self.policy.rearm == Rearm::Never => {}
            (_, Some(_)) if future.is_done() && self.policy.cancelled != Cancelled::RunsAnyway => {}
            (_, Some(repeat)) => {
                let last = LastRun { due, started, ended: self.timer_now() };
                self.arm(repeat.next_deadline(last, self.policy.fixed_delay), timer);
            }
        }
    }

    /// A task of this future begins; false when it was cancelled before.
    pub(super) fn begin<T: Clone + Send + 'static>(&self, future: &Promise<T>) -> bool {
        match self.policy.running_cancel {
            RunningCancel::Refused => future.set_uncancellable(),
            RunningCancel::Interrupts => future.set_interruptible(),
        }
    }
}
