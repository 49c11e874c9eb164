//! Where a loop waits. Two implementations: mio for real time, the world for virtual time.

mod mio_poller;
mod no_wait;
mod simulated;

use std::fmt::Debug;
use std::io;
use std::sync::Arc;

pub use mio_poller::MioPoller;
pub use no_wait::NoWait;
pub use simulated::SimulatedPoller;

use crate::clock::Clock;
use crate::net::{Ready, Registrar};
use crate::time::Time;

/// One loop's place to wait.
pub trait Poller: Send + Debug {
    /// Waits until a wake-up or this instant (`None`: without end); an instant that has passed only looks. May return
    /// for nothing. What is ready is added to `ready`.
    ///
    /// # Errors
    /// What the operating system reports.
    fn wait(&mut self, clock: &Clock, until: Option<Time>, ready: &mut Vec<Ready>) -> io::Result<()>;

    /// Where the loop's sources are registered.
    ///
    /// # Errors
    /// What the operating system reports.
    fn registrar(&self) -> io::Result<Registrar>;

    /// Makes it anew: what was registered stays so, and so do its wakers.
    ///
    /// # Errors
    /// Out of descriptors, or what else the operating system reports.
    fn rebuild(&mut self) -> io::Result<()>;

    /// What wakes this poller.
    fn waker(&self) -> Arc<dyn Wake>;
}

/// Ends a wait, the present one or the next.
pub trait Wake: Send + Sync + Debug {
    /// Ends it. A poller that is gone needs no waking, so nothing is reported.
    fn wake(&self);
}
