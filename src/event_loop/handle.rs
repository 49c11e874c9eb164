//! What other threads see of a loop: give it tasks, arm and cancel timers, stop it.

use std::cell::Cell;
use std::fmt::Debug;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use super::io_table::IoTable;
use super::lifecycle::Lifecycle;
use super::nobody::Nobody;
use super::scheduled::Timer;
use super::start::Starter;
use super::task_queue::TaskQueue;
use super::wake_flag::WakeFlag;
use super::{Counters, Executor, Grace, IoHandler, LoopState, Observer, Rejected, Tag, Task, TimerHeap, Warning};
use crate::clock::Clock;
use crate::net::{Registrar, Source, Token};
use crate::policy::{
    Cancelled, ErrorLog, GlobalShutdown, LateTask, Listeners, LoopWait, Policy, Submission, TaskError, WakeUp,
};
use crate::poller::{Poller, Wake};
use crate::promise::{Failure, Promise};
use crate::world::WorldEnded;

/// A loop as other threads see it. Clones are the same loop.
#[derive(Clone, Debug)]
pub struct Handle {
    pub(super) shared: Arc<Shared>,
}

/// What the loop and its handles have in common.
pub(super) struct Shared {
    pub(super) clock: Clock,
    pub(super) policy: Policy,
    pub(super) slow_task: Option<Duration>,
    pub(super) observer: Arc<dyn Observer>,
    pub(super) counters: Counters,
    pub(super) timers: Mutex<TimerHeap<Timer>>,
    pub(super) flag: WakeFlag,
    pub(super) stopping: AtomicBool,
    /// The run is over: nothing that happens now is told.
    pub(super) over: AtomicBool,
    pub(super) lifecycle: Lifecycle,
    pub(super) termination: Promise,
    /// Whether it is the global executor.
    pub(super) global: bool,
    pub(super) starter: OnceLock<Starter>,
    pub(super) queue: TaskQueue,
    grace: Mutex<Grace>,
    pub(super) io: Mutex<IoTable>,
    registrar: Mutex<Registrar>,
    waker: Arc<dyn Wake>,
    /// When the present turn began, on the clock of the timers, in ns.
    pub(super) turn_began: AtomicU64,
    identity: u64,
    lost_one: AtomicBool,
}

impl Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EventLoop({})", self.identity)
    }
}

thread_local! {
    /// Which loop the thread runs: 0 is none.
    static RUNNING: Cell<u64> = const { Cell::new(0) };
    /// How many tasks of the thread run inside one another.
    static NESTED: Cell<u32> = const { Cell::new(0) };
}

/// How many tasks may run inside one another. A program without this bound ends by its stack.
const MOST_NESTED: u32 = 1024;

static NEXT_IDENTITY: AtomicU64 = AtomicU64::new(1);

impl Handle {
    pub(super) fn new(
        clock: Clock,
        policy: Policy,
        slow_task: Option<Duration>,
        global: bool,
        poller: &dyn Poller,
        observer: Arc<dyn Observer>,
    ) -> io::Result<Handle> {
        let termination = Promise::new(Arc::new(Nobody::new(policy.loop_wait)), clock.clone());
        if global && policy.global_shutdown == GlobalShutdown::Unsupported {
            termination.fail(Failure::Unsupported("the global executor can't be shut down".into()));
        }
        let shared = Shared {
            clock,
            policy,
            slow_task,
            observer,
            counters: Counters::default(),
            timers: Mutex::default(),
            flag: WakeFlag::new(policy.wake == WakeUp::WhenAsleep),
            stopping: AtomicBool::new(false),
            over: AtomicBool::new(false),
            lifecycle: Lifecycle::default(),
            termination,
            global,
            starter: OnceLock::new(),
            queue: TaskQueue::new(policy.queue_bound, policy.full_queue),
            grace: Mutex::default(),
            io: Mutex::default(),
            registrar: Mutex::new(poller.registrar()?),
            waker: poller.waker(),
            turn_began: AtomicU64::new(0),
            identity: NEXT_IDENTITY.fetch_add(1, Ordering::Relaxed),
            lost_one: AtomicBool::new(false),
        };
        Ok(Handle { shared: Arc::new(shared) })
    }

    /// Whether both are handles of the same loop.
    pub fn is(&self, other: &Handle) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// What hears of its warnings.
    pub fn observer(&self) -> &dyn Observer {
        &*self.shared.observer
    }

    /// Has the poller tell this handler of a source.
    ///
    /// # Errors
    /// What the poller reports.
    pub fn watch(&self, source: &mut dyn Source, handler: Arc<dyn IoHandler>) -> io::Result<Token> {
        let token = self.shared.lock_io().insert(handler);
        let watched = source.register(&self.shared.lock_registrar(), token);
        if watched.is_err() {
            self.shared.lock_io().remove(token);
        }
        watched.map(|()| token)
    }

    /// Has the poller tell of it no more.
    pub fn unwatch(&self, source: &mut dyn Source, token: Token) {
        // A source that the poller no longer knows is as good as deregistered.
        let _ = source.deregister(&self.shared.lock_registrar());
        self.shared.lock_io().remove(token);
    }

    /// Its counters.
    pub fn counters(&self) -> &Counters {
        &self.shared.counters
    }

    /// Its choices.
    pub fn policy(&self) -> &Policy {
        &self.shared.policy
    }

    /// Drops every task, timer and source that waits: of a loop that has ended, what refers back to it.
    pub fn discard(&self) {
        let timers = std::mem::take(&mut *self.shared.lock_timers());
        drop(timers);
        self.shared.queue.discard();
        let io = std::mem::take(&mut *self.shared.lock_io());
        drop(io);
    }

    /// How many tasks wait.
    pub fn pending_tasks(&self) -> usize {
        self.shared.queue.len()
    }

    /// How many timers wait.
    pub fn pending_timers(&self) -> usize {
        self.shared.lock_timers().len()
    }

    /// A promise that belongs to this loop.
    pub fn promise<T: Clone + Send + 'static>(&self) -> Promise<T> {
        Promise::new(Arc::new(self.clone()), self.shared.clock.clone())
    }

    /// Runs `work` on the loop and gives the future of its value.
    ///
    /// # Errors
    /// When the loop takes no more tasks.
    pub fn submit<T: Clone + Send + 'static>(
        &self,
        tag: Tag,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Promise<T>, Rejected> {
        let promise = self.promise();
        let (future, shared) = (promise.clone(), self.shared.clone());
        let run = move || {
            if shared.begin(&promise) || shared.policy.cancelled == Cancelled::RunsAnyway {
                match shared.attempt(work) {
                    Ok(value) => promise.succeed(value),
                    Err(message) => promise.fail(Failure::Raised(message)),
                };
            }
        };
        self.execute(Task { tag, work: Box::new(run) })?;
        Ok(future)
    }

    /// Ends the loop's wait, the present one or the next, where its policy wakes at all.
    pub fn wake(&self) {
        if self.shared.policy.wake != WakeUp::Never {
            self.shared.wake();
        }
    }
}

impl Executor for Handle {
    fn in_loop(&self) -> bool {
        RUNNING.get() == self.shared.identity
    }

    fn execute(&self, task: Task) -> Result<(), Rejected> {
        let shared = &self.shared;
        if shared.takes_nothing() {
            return shared.late_task();
        }
        match shared.policy.submission {
            Submission::InlineOnLoop if self.in_loop() => shared.run_inside(task),
            Submission::InlineOnCaller if !self.in_loop() => shared.run_task(task),
            Submission::LosesFirst if !shared.lost_one.swap(true, Ordering::Relaxed) => {}
            _ => {
                let ticket = shared.queue.offer(task)?;
                shared.start_thread();
                if shared.takes_nothing() && shared.queue.withdraw(ticket) {
                    return shared.late_task();
                }
                shared.wake_after_post();
            }
        }
        Ok(())
    }

    fn refuses_wait(&self, done: bool) -> bool {
        match self.shared.policy.loop_wait {
            LoopWait::RefusedForOwn => !done && self.in_loop(),
            LoopWait::RefusedForAny => !done && on_any_loop(),
            LoopWait::RefusedEvenDone => self.in_loop(),
            LoopWait::Allowed => false,
        }
    }

    fn notify(&self, listener: Task) {
        if self.in_loop() || self.shared.policy.listeners == Listeners::Completer {
            self.shared.run_task(listener);
        } else if self.execute(listener).is_err() {
            // The loop has ended: there is no thread left on which the listener may run.
        }
    }
}

/// Whether the calling thread runs a loop.
pub(super) fn on_any_loop() -> bool {
    RUNNING.get() != 0
}

impl Shared {
    /// Whether the loop has shut down.
    pub(super) fn takes_nothing(&self) -> bool {
        self.lifecycle.state() >= LoopState::ShutDown
    }

    fn late_task(&self) -> Result<(), Rejected> {
        match self.policy.late_task {
            LateTask::Refused => Err(Rejected),
            LateTask::Ignored => Ok(()),
        }
    }

    /// Whether whatever runs is to be the last.
    pub(super) fn stops(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    pub(super) fn lock_grace(&self) -> MutexGuard<'_, Grace> {
        self.grace.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Ends the loop's wait without counting it.
    pub(super) fn wake_for_end(&self) {
        self.waker.wake();
    }

    /// Makes the calling thread this loop's for as long as `work` runs.
    pub(super) fn as_current<R>(&self, work: impl FnOnce() -> R) -> R {
        let before = RUNNING.replace(self.identity);
        let result = work();
        RUNNING.set(before);
        result
    }

    fn lock_registrar(&self) -> MutexGuard<'_, Registrar> {
        self.registrar.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Has a poller that was made anew tell of every source that the one before told of.
    pub(super) fn register_anew(&self, to: Registrar) -> io::Result<()> {
        let mut registrar = self.lock_registrar();
        let handlers = self.lock_io().all();
        let each = |(token, handler): &(Token, Arc<dyn IoHandler>)| handler.register_anew(&registrar, &to, *token);
        handlers.iter().try_for_each(each)?;
        *registrar = to;
        Ok(())
    }

    pub(super) fn lock_io(&self) -> MutexGuard<'_, IoTable> {
        // Nothing that can panic runs under the lock.
        self.io.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(super) fn lock_timers(&self) -> MutexGuard<'_, TimerHeap<Timer>> {
        // Nothing that can panic runs under the lock.
        self.timers.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(super) fn wake_after_post(&self) {
        let wakes = match self.policy.wake {
            WakeUp::WhenAsleep | WakeUp::SinceWait | WakeUp::ClearedLate => self.flag.set(),
            WakeUp::Every => true,
            WakeUp::Never => false,
        };
        if wakes {
            self.wake();
        }
    }

    /// Ends the loop's wait, the present one or the next.
    pub(super) fn wake(&self) {
        self.counters.add_wakeup();
        self.waker.wake();
    }

    /// Runs a task inside the one that runs. Where there are too many of them that is an error of the running one, as a
    /// stack that overflows is in Java.
    fn run_inside(&self, task: Task) {
        let nested = NESTED.get();
        if nested == MOST_NESTED {
            resume_unwind(Box::new("too many tasks run inside one another"));
        }
        NESTED.set(nested + 1);
        self.run_task(task);
        NESTED.set(nested);
    }

    pub(super) fn run_task(&self, task: Task) {
        self.counters.add_task();
        let Task { tag, work } = task;
        let result = self.watched(tag, || self.attempt(work));
        if let Err(message) = result {
            if self.policy.error_log != ErrorLog::Nothing {
                self.observer.warned(tag, Warning::Raised(&message));
            }
            if self.policy.task_error == TaskError::EndsLoop {
                self.stopping.store(true, Ordering::Release);
            }
        }
    }

    /// Runs work and reports it when it takes longer than the slow-task watch allows.
    pub(super) fn watched<R>(&self, tag: Tag, work: impl FnOnce() -> R) -> R {
        let Some(threshold) = self.slow_task else {
            return work();
        };
        let began = self.clock.now();
        let result = work();
        let took = self.clock.now().since(began);
        if took > threshold {
            self.observer.warned(tag, Warning::Slow(took));
        }
        result
    }

    /// Runs work and catches an error that it raises.
    pub(super) fn attempt<R>(&self, work: impl FnOnce() -> R) -> Result<R, String> {
        catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
            if payload.is::<WorldEnded>() {
                resume_unwind(payload);
            }
            let text = payload.downcast_ref::<&str>().map(|text| (*text).to_string());
            text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "an error".into())
        })
    }
}
