//! Promises and futures in Netty's sense: done once, listeners run on the executor the promise belongs to.
//!
//! Source of the behaviour: Netty's `DefaultPromise.java` (one completion, listeners inline on the own executor,
//! queued from elsewhere, `setUncancellable`).

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use thiserror::Error;

use crate::clock::{Clock, Unparker};
use crate::event_loop::{Executor, Tag, Task};
use crate::trace::FutureState;

/// Why a future failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Failure {
    /// It was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The task raised an error.
    #[error("{0}")]
    Raised(String),
    /// The channel is closed.
    #[error("the channel is closed")]
    Closed,
    /// The channel can't do it.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// The socket reported it.
    #[error("{message}")]
    Io {
        /// What kind of error.
        kind: std::io::ErrorKind,
        /// The system's words.
        message: String,
    },
}

impl Failure {
    /// The failure that an error of the operating system is.
    pub fn io(error: &std::io::Error) -> Failure {
        Failure::Io { kind: error.kind(), message: error.to_string() }
    }
}

/// What came of waiting for a future.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// It is done, in any way.
    Done,
    /// It is not done, and the limit has come.
    NotDone,
    /// The calling thread may not wait for it: it would wait for itself. Netty's `BlockingOperationException`.
    Refused,
}

/// A promise, which is its own future. Clones are the same promise; any thread may use any of them.
#[derive(Debug)]
pub struct Promise<T = ()> {
    shared: Arc<Shared<T>>,
}

impl<T> Clone for Promise<T> {
    fn clone(&self) -> Self {
        Promise { shared: self.shared.clone() }
    }
}

#[derive(Debug)]
struct Shared<T> {
    executor: Arc<dyn Executor>,
    clock: Clock,
    state: Mutex<State<T>>,
}

#[derive(Debug)]
struct State<T> {
    outcome: Option<Result<T, Failure>>,
    running: Running,
    /// Whether the running task was asked to stop.
    interrupted: bool,
    listeners: Vec<Task>,
    waiters: Vec<Unparker>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Running {
    /// Not yet, or nothing runs for it: it can be cancelled.
    No,
    /// It can't be cancelled any more.
    Uncancellable,
    /// It can be cancelled, and its body can be asked to stop.
    Interruptible,
}

impl<T: Clone + Send + 'static> Promise<T> {
    /// A promise whose listeners run on this executor.
    pub fn new(executor: Arc<dyn Executor>, clock: Clock) -> Promise<T> {
        let state = State {
            outcome: None,
            running: Running::No,
            interrupted: false,
            listeners: Vec::new(),
            waiters: Vec::new(),
        };
        Promise { shared: Arc::new(Shared { executor, clock, state: Mutex::new(state) }) }
    }

    /// Completes it with a value. False when it was done already: a future changes its state once.
    pub fn succeed(&self, value: T) -> bool {
        self.complete(Ok(value))
    }

    /// Completes it with an error. False when it was done already.
    pub fn fail(&self, failure: Failure) -> bool {
        self.complete(Err(failure))
    }

    /// Cancels it, unless it is done or has been made uncancellable.
    pub fn cancel(&self) -> bool {
        if self.lock().running == Running::Uncancellable {
            return false;
        }
        self.complete(Err(Failure::Cancelled))
    }

    /// The same, and asks the body to stop, if it runs and can be asked. The JDK's `FutureTask.cancel(true)`.
    pub fn cancel_and_interrupt(&self) -> bool {
        let cancelled = self.cancel();
        let mut state = self.lock();
        state.interrupted |= cancelled && state.running == Running::Interruptible;
        cancelled
    }

    /// Whether the body was asked to stop.
    pub fn is_interrupted(&self) -> bool {
        self.lock().interrupted
    }

    /// From now on it can't be cancelled; false when it is done already.
    pub fn set_uncancellable(&self) -> bool {
        self.begin(Running::Uncancellable)
    }

    /// From now on a cancel is taken though the body runs, and may ask it to stop; false when it is done already.
    pub fn set_interruptible(&self) -> bool {
        self.begin(Running::Interruptible)
    }

    fn begin(&self, running: Running) -> bool {
        let mut state = self.lock();
        let begins = state.outcome.is_none();
        if begins {
            state.running = running;
        }
        begins
    }

    /// Its value or failure, once it is done.
    pub fn outcome(&self) -> Option<Result<T, Failure>> {
        self.lock().outcome.clone()
    }

    /// Its state.
    pub fn state(&self) -> FutureState {
        match self.lock().outcome {
            None => FutureState::Pending,
            Some(Ok(_)) => FutureState::Success,
            Some(Err(Failure::Cancelled)) => FutureState::Cancelled,
            Some(Err(_)) => FutureState::Failed,
        }
    }

    /// Whether it is done, in any way.
    pub fn is_done(&self) -> bool {
        self.lock().outcome.is_some()
    }

    /// Runs `work` when it is done: at once when it is and the caller is on the executor, else as a task there.
    pub fn listen(&self, tag: Tag, work: impl FnOnce() + Send + 'static) {
        let listener = Task { tag, work: Box::new(work) };
        let mut state = self.lock();
        if state.outcome.is_none() {
            state.listeners.push(listener);
            return;
        }
        drop(state);
        self.shared.executor.notify(listener);
    }

    /// Waits until it is done, for so long at most. Blocks the calling thread, unless it may not wait: then it is refused
    /// at once, also with a limit. One that is done, and a limit of zero, are told before that is looked at
    /// (`DefaultPromise.await0`, `checkDeadLock`).
    pub fn wait(&self, limit: Duration) -> Waited {
        let done = self.is_done();
        if (done || !limit.is_zero()) && self.shared.executor.refuses_wait(done) {
            return Waited::Refused;
        }
        let clock = &self.shared.clock;
        let until = clock.now().after(limit);
        loop {
            let mut state = self.lock();
            if state.outcome.is_some() {
                return Waited::Done;
            }
            if clock.now() >= until {
                return Waited::NotDone;
            }
            state.waiters.push(clock.unparker());
            drop(state);
            clock.park(Some(until));
        }
    }

    fn complete(&self, outcome: Result<T, Failure>) -> bool {
        let mut state = self.lock();
        if state.outcome.is_some() {
            return false;
        }
        state.outcome = Some(outcome);
        let listeners = std::mem::take(&mut state.listeners);
        let waiters = std::mem::take(&mut state.waiters);
        drop(state);
        waiters.iter().for_each(Unparker::unpark);
        listeners.into_iter().for_each(|listener| self.shared.executor.notify(listener));
        true
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // Nothing that can panic runs under the lock.
        self.shared.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event_loop::Rejected;

    /// An executor that runs what it is given when asked.
    #[derive(Debug, Default)]
    struct Manual {
        queue: Mutex<Vec<&'static str>>,
        in_loop: bool,
    }

    impl Executor for Manual {
        fn in_loop(&self) -> bool {
            self.in_loop
        }
        fn execute(&self, task: Task) -> Result<(), Rejected> {
            self.queue.lock().unwrap().push("queued");
            (task.work)();
            Ok(())
        }
        fn notify(&self, task: Task) {
            if self.in_loop {
                self.queue.lock().unwrap().push("inline");
                (task.work)();
            } else {
                let _ = self.execute(task);
            }
        }
        fn refuses_wait(&self, done: bool) -> bool {
            self.in_loop && !done
        }
    }

    fn promise(in_loop: bool) -> (Arc<Manual>, Promise<u32>) {
        let executor = Arc::new(Manual { in_loop, ..Manual::default() });
        (executor.clone(), Promise::new(executor, Clock::wall()))
    }

    #[test]
    fn it_is_done_once() {
        let (_, p) = promise(true);
        assert!(p.succeed(1) && !p.succeed(2) && !p.fail(Failure::Cancelled) && !p.cancel());
        assert_eq!(p.outcome(), Some(Ok(1)));
        assert_eq!(p.state(), FutureState::Success);
    }

    #[test]
    fn listeners_run_once_each_on_the_executor() {
        let (executor, p) = promise(false);
        p.listen(Tag(0), || {});
        assert!(executor.queue.lock().unwrap().is_empty());
        p.succeed(1);
        p.listen(Tag(0), || {});
        assert_eq!(*executor.queue.lock().unwrap(), ["queued", "queued"]);
    }

    #[test]
    fn the_own_thread_may_not_wait_for_what_is_not_done() {
        let (_, p) = promise(true);
        assert_eq!(p.wait(Duration::from_secs(60)), Waited::Refused);
        assert_eq!(p.wait(Duration::ZERO), Waited::NotDone);
        p.succeed(1);
        assert_eq!(p.wait(Duration::from_secs(60)), Waited::Done);
    }

    #[test]
    fn an_uncancellable_promise_refuses_to_be_cancelled() {
        let (_, p) = promise(true);
        assert!(p.set_uncancellable() && !p.cancel() && p.state() == FutureState::Pending);
        assert!(p.succeed(1) && !p.set_uncancellable());
    }

    #[test]
    fn an_interruptible_one_is_cancelled_while_it_runs_and_its_body_is_told_when_asked_for() {
        let (_, p) = promise(true);
        assert!(p.set_interruptible() && p.cancel_and_interrupt() && p.is_interrupted());
        assert!(!p.succeed(1) && p.state() == FutureState::Cancelled);
        let (_, p) = promise(true);
        assert!(p.set_interruptible() && p.cancel() && !p.is_interrupted());
        let (_, p) = promise(true);
        assert!(p.set_uncancellable() && !p.cancel_and_interrupt() && !p.is_interrupted());
    }

    #[test]
    fn a_wait_of_zero_tells_the_state_and_another_thread_ends_a_long_one() {
        let (_, p) = promise(false);
        assert_eq!(p.wait(Duration::ZERO), Waited::NotDone);
        std::thread::scope(|scope| {
            scope.spawn(|| p.succeed(1));
            assert_eq!(p.wait(Duration::from_secs(60)), Waited::Done);
        });
    }
}
