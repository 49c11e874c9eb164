//! The fallback for systems without what Linux has: same names, same signatures, "this system doesn't tell".
//!
//! One trick: the types that can't exist here have no values, so their methods need no pretence.

use std::io;
use std::time::{Duration, Instant};

use mio::{Interest, Registry, Token, event::Source};

use super::{Scheduling, ThreadId};
use crate::time::Time;

/// A timer with a descriptor: there is none here.
#[derive(Debug)]
pub enum DeadlineTimer {}

impl DeadlineTimer {
    /// Always `Ok(None)`: the poll's own timeout is what there is.
    ///
    /// # Errors
    /// None.
    pub fn new(_origin: Instant) -> io::Result<Option<DeadlineTimer>> {
        Ok(None)
    }

    /// Can't be called: there is no such timer.
    ///
    /// # Errors
    /// None.
    pub fn arm(&mut self, _until: Option<Time>) -> io::Result<()> {
        match *self {}
    }

    /// Can't be called: there is no such timer.
    pub fn clear(&mut self) {
        match *self {}
    }
}

impl Source for DeadlineTimer {
    fn register(&mut self, _: &Registry, _: Token, _: Interest) -> io::Result<()> {
        match *self {}
    }

    fn reregister(&mut self, _: &Registry, _: Token, _: Interest) -> io::Result<()> {
        match *self {}
    }

    fn deregister(&mut self, _: &Registry) -> io::Result<()> {
        match *self {}
    }
}

/// What the scheduler does to one thread: unknown here.
#[derive(Debug)]
pub enum ThreadScheduling {}

impl ThreadScheduling {
    /// Always `None`.
    pub fn open(_thread: ThreadId) -> Option<ThreadScheduling> {
        None
    }

    /// Can't be called: nothing can be opened.
    pub fn run_delay(&self) -> Option<Duration> {
        match *self {}
    }

    /// Can't be called: nothing can be opened.
    pub fn read(&self) -> Option<Scheduling> {
        match *self {}
    }
}

/// How long the process's control groups were throttled: there are none here.
#[derive(Debug)]
pub enum Throttling {}

impl Throttling {
    /// Always `None`.
    pub fn open() -> Option<Throttling> {
        None
    }

    /// Can't be called: nothing can be opened.
    pub fn read(&self) -> Option<Duration> {
        match *self {}
    }
}

/// Always empty: there are no CPUs that a thread could be pinned to.
pub fn usable_cpus() -> Vec<usize> {
    Vec::new()
}

/// Always false.
pub fn pin_to(_cpu: usize) -> bool {
    false
}

/// Always `None`.
pub fn thread_id() -> Option<ThreadId> {
    None
}

/// Always `None`: no system but Linux has a slack that a thread could ask for.
pub fn timer_slack() -> Option<Duration> {
    None
}

/// 100 ns: the coarsest of the clocks that the standard library uses (that of Windows).
pub fn clock_resolution() -> Duration {
    Duration::from_nanos(100)
}

/// Always `None`.
pub fn cpu_quota() -> Option<f64> {
    None
}

/// Always `None`.
pub fn kernel_release() -> Option<String> {
    None
}

/// How many descriptors the process may have open: not known.
pub fn descriptor_limit() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_told() {
        #[expect(clippy::disallowed_methods, reason = "an origin is all that is asked for")]
        let origin = Instant::now();
        assert!(DeadlineTimer::new(origin).unwrap().is_none());
        assert!(ThreadScheduling::open(ThreadId(1)).is_none());
        assert!(Throttling::open().is_none());
        assert!(usable_cpus().is_empty() && !pin_to(0));
        assert_eq!((thread_id(), timer_slack(), cpu_quota(), kernel_release()), (None, None, None, None));
        assert_eq!(clock_resolution(), Duration::from_nanos(100));
    }
}
