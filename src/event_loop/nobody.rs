//! The executor of futures that belong to no loop: their listeners run on the thread that completes them.

use super::handle::on_any_loop;
use super::{Executor, Rejected, Task};
use crate::policy::LoopWait;

/// No loop.
#[derive(Debug)]
pub(super) struct Nobody {
    loop_wait: LoopWait,
}

impl Nobody {
    /// `loop_wait` is the choice of the loop whose end the futures tell of.
    pub(super) const fn new(loop_wait: LoopWait) -> Nobody {
        Nobody { loop_wait }
    }
}

impl Executor for Nobody {
    fn in_loop(&self) -> bool {
        false
    }

    fn execute(&self, task: Task) -> Result<(), Rejected> {
        (task.work)();
        Ok(())
    }

    fn notify(&self, listener: Task) {
        (listener.work)();
    }

    fn refuses_wait(&self, done: bool) -> bool {
        self.loop_wait == LoopWait::RefusedForAny && !done && on_any_loop()
    }
}
