//! The event loop: a task queue, a timer heap, a coalesced wake-up, and a turn in the policy's order.
//!
//! The loop knows named choices ([`crate::policy::Policy`]) and nothing of who made them; the same code runs on a real poller and in
//! a simulated world. It records nothing itself: an [`Observer`] hears of warnings, tasks record what they do.

mod counters;
mod global_life;
mod handle;
mod io_table;
mod lifecycle;
mod nobody;
mod repeat;
mod scheduled;
mod shutdown;
mod slice;
mod sources;
mod spin_guard;
mod start;
mod task_queue;
mod timer_clock;
mod timer_heap;
mod turn;
mod wake_flag;

use std::fmt::Debug;
use std::time::Duration;

use thiserror::Error;

pub use counters::Counters;
pub use handle::Handle;
pub use lifecycle::LoopState;
pub use repeat::{LastRun, Repeat};
pub use scheduled::Scheduled;
pub use shutdown::Grace;
pub use timer_heap::{TimerHeap, TimerKey};
pub use turn::{Ended, EventLoop};

use crate::channel::ChannelTag;
use crate::net::{Ready, Registrar, Token};
use crate::time::Time;

/// The caller's own name for a task; the loop only passes it on to the observer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag(pub u32);

/// A task for an executor.
pub struct Task {
    /// Its name.
    pub tag: Tag,
    /// What it does. A panic in it is caught by the loop.
    pub work: Box<dyn FnOnce() + Send>,
}

impl Debug for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Task({})", self.tag.0)
    }
}

/// What a timer's body learns of its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Firing {
    /// When it was due.
    pub deadline: Time,
}

/// Runs tasks on a thread of its own. All methods may be called from any thread.
pub trait Executor: Send + Sync + Debug {
    /// Whether the calling thread is the executor's.
    fn in_loop(&self) -> bool;

    /// Runs a task later, on the executor's thread.
    ///
    /// # Errors
    /// When the executor takes no more tasks.
    fn execute(&self, task: Task) -> Result<(), Rejected>;

    /// Runs a listener: at once when the caller is on the executor's thread, else as a task. One that the executor
    /// refuses is lost, as in Netty, which logs it.
    fn notify(&self, listener: Task);

    /// Whether the calling thread may not wait for a future of this executor, which is done or not.
    fn refuses_wait(&self, done: bool) -> bool;
}

/// The executor takes no more tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the event loop takes no more tasks")]
pub struct Rejected;

/// Hears what a loop has to say. Called on the thread where it happens.
pub trait Observer: Send + Sync + Debug {
    /// The loop logs a warning about a task.
    fn warned(&self, tag: Tag, warning: Warning<'_>);

    /// The loop's state has moved on.
    fn moved(&self, to: LoopState);

    /// A channel's pipeline logs a warning.
    fn channel_warned(&self, _channel: ChannelTag, _warning: ChannelWarning<'_>) {}
}

/// What a channel's pipeline warns of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelWarning<'a> {
    /// A message that no handler consumed reached the tail; it is dropped.
    Discarded,
    /// An error that no handler took, or that the socket reported.
    Exception(&'a str),
}

/// Hears what the poller says of a registered source, on the loop's thread.
pub trait IoHandler: Send + Sync {
    /// The source may be ready.
    fn ready(&self, ready: Ready);

    /// The poller was made anew: the source moves from its old registrar to the new one, with the same token.
    fn moves(&self, from: &Registrar, to: &Registrar, token: Token);
}

/// What a loop warns of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warning<'a> {
    /// A task's body raised an error.
    Raised(&'a str),
    /// A task took longer than the threshold of the slow-task watch.
    Slow(Duration),
}
