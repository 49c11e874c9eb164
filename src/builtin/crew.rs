//! The threads of a run: those that it begins with, and those that loops start while it goes on.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender};

use crate::clock::Clock;
use crate::time::Time;

/// Room for a thousand tasks that run inside one another, which some scenarios show; only what is used is ever touched.
const STACK: usize = 64 << 20;

/// The threads of one run. Any of them may start another.
#[derive(Debug)]
pub(super) struct Crew {
    threads: Mutex<Vec<(String, JoinHandle<()>)>>,
    /// A thread's name when it has ended.
    ended: (Sender<String>, Receiver<String>),
    /// The threads that are known to have ended.
    gone: Mutex<Vec<String>>,
}

impl Crew {
    pub(super) fn new() -> Arc<Crew> {
        Arc::new(Crew { threads: Mutex::default(), ended: crossbeam_channel::unbounded(), gone: Mutex::default() })
    }

    /// Starts a thread.
    pub(super) fn spawn(&self, name: &str, part: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let (ended, thread) = (self.ended.0.clone(), name.to_string());
        let run = move || {
            // An outside thread's own error ends that thread only, as it would in any program.
            let _ = catch_unwind(AssertUnwindSafe(part));
            let _ = ended.send(thread);
        };
        // Held over the start, so that nobody counts the thread as gone before it is there.
        let mut threads = lock(&self.threads);
        let thread = std::thread::Builder::new().name(name.into()).stack_size(STACK).spawn(run)?;
        threads.push((name.into(), thread));
        Ok(())
    }

    /// Joins all, those too that are started meanwhile.
    pub(super) fn join_all(&self) {
        // Taken one by one: the lock is free while one is waited for.
        while let Some((_, thread)) = { lock(&self.threads).pop() } {
            // Its panics were caught on the thread.
            let _ = thread.join();
        }
    }

    /// Waits until this instant, or until every thread has ended.
    pub(super) fn play_until(&self, clock: &Clock, until: Time) {
        while self.missing().is_some() {
            match self.ended.1.recv_timeout(until.since(clock.now())) {
                Ok(name) => lock(&self.gone).push(name),
                Err(_) => return,
            }
        }
    }

    /// Joins the threads that end in time; those that don't are left behind.
    ///
    /// # Errors
    /// The first thread that has not ended.
    pub(super) fn join_until(&self, clock: &Clock, until: Time) -> Result<(), String> {
        self.play_until(clock, until);
        if let Some(thread) = self.missing() {
            return Err(thread);
        }
        self.join_all();
        Ok(())
    }

    /// The first thread that is not known to have ended.
    fn missing(&self) -> Option<String> {
        let (threads, gone) = (lock(&self.threads), lock(&self.gone));
        let missing = threads.iter().find(|(name, _)| !gone.contains(name));
        missing.map(|(name, _)| name.clone())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
