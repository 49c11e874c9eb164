//! How a loop gets its thread: by the first task given to it, from whichever thread that comes.
//!
//! Source of the behaviour: Netty's `SingleThreadEventExecutor.java` (`startThread`, `doStartThread`).

use super::LoopState;
use super::handle::{Handle, Shared};

/// Makes the thread that runs a loop. Called on the thread that gave the first task.
pub(super) type Starter = Box<dyn Fn() + Send + Sync>;

impl Handle {
    /// Leaves the loop without a thread until the first task; `starter` then makes one that calls
    /// [`EventLoop::run`](super::EventLoop::run). Said before anyone else has the handle; a second one is ignored.
    pub fn start_lazily(&self, starter: impl Fn() + Send + Sync + 'static) {
        let _ = self.shared.starter.set(Box::new(starter));
    }
}

impl Shared {
    /// Starts the thread if there is none yet.
    pub(super) fn start_thread(&self) {
        if self.starter.get().is_some()
            && self.lifecycle.state() == LoopState::NotStarted
            && self.lifecycle.start()
        {
            self.observer.moved(LoopState::Started);
            self.begin_thread();
        }
    }

    pub(super) fn begin_thread(&self) {
        if let Some(starter) = self.starter.get() {
            starter();
        }
    }
}
