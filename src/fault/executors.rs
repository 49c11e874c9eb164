//! Defects of a loop's thread, its queue, its end and the waits on it.

use std::time::Duration;

use super::Fault;
use crate::policy::{
    FullQueue, GlobalLife, GlobalShutdown, LateTask, LoopWait, Policy, Shutdown, TaskSlice, ThreadStart,
};

pub(super) const SIXTEEN_TASKS: Fault = Fault {
    name: "sixteen-tasks",
    about: "a loop's queue holds 16 tasks, as text B has it",
    apply: |p| Policy { queue_bound: Some(16), ..p },
};

pub(super) const DISCARDING_QUEUE: Fault = Fault {
    name: "discarding-queue",
    about: "a task for which a bounded queue has no room is dropped without a word",
    apply: |p| Policy { full_queue: FullQueue::Discards, ..p },
};

pub(super) const EAGER_START: Fault = Fault {
    name: "eager-start",
    about: "a loop's thread starts before there is a task",
    apply: |p| Policy { thread_start: ThreadStart::WithLoop, ..p },
};

pub(super) const GRACEFUL_SHUTDOWN: Fault = Fault {
    name: "graceful-shutdown",
    about: "a shutdown runs what is queued and waits for a quiet period",
    apply: |p| Policy { shutdown: Shutdown::Graceful, ..p },
};

pub(super) const HARD_SHUTDOWN: Fault = Fault {
    name: "hard-shutdown",
    about: "nothing that waits runs after a shutdown",
    apply: |p| Policy { shutdown: Shutdown::DropsQueue, ..p },
};

pub(super) const SHUTDOWN_ENDS_TURN: Fault = Fault {
    name: "shutdown-ends-turn",
    about: "a shutdown ends the loop with the turn that is under way",
    apply: |p| Policy { shutdown: Shutdown::EndsTurn, ..p },
};

pub(super) const SILENT_REFUSAL: Fault = Fault {
    name: "silent-refusal",
    about: "a task given after a shutdown is dropped without a word",
    apply: |p| Policy { late_task: LateTask::Ignored, ..p },
};

pub(super) const LOUD_REFUSAL: Fault = Fault {
    name: "loud-refusal",
    about: "a task given after a shutdown is an error",
    apply: |p| Policy { late_task: LateTask::Refused, ..p },
};

pub(super) const UNCHECKED_WAIT: Fault = Fault {
    name: "unchecked-wait",
    about: "a loop's thread may wait for the loop's own futures",
    apply: |p| Policy { loop_wait: LoopWait::Allowed, ..p },
};

pub(super) const WAIT_REFUSED_FOR_ANY: Fault = Fault {
    name: "wait-refused-for-any",
    about: "a loop's thread may not wait for anyone's future",
    apply: |p| Policy { loop_wait: LoopWait::RefusedForAny, ..p },
};

pub(super) const WAIT_REFUSED_EVEN_DONE: Fault = Fault {
    name: "wait-refused-even-done",
    about: "a loop's thread may not wait for the loop's own futures even when they are done",
    apply: |p| Policy { loop_wait: LoopWait::RefusedEvenDone, ..p },
};

pub(super) const ENDLESS_SLICE: Fault = Fault {
    name: "endless-slice",
    about: "a drain of the queue goes on until it is empty",
    apply: |p| Policy { task_slice: TaskSlice::Unlimited, ..p },
};

pub(super) const SHORT_SLICE: Fault = Fault {
    name: "short-slice",
    about: "tasks get a slice of 100 ms",
    apply: |p| Policy { task_slice: TaskSlice::Time { slice: Duration::from_millis(100) }, ..p },
};

pub(super) const WATCHED_SLICE: Fault = Fault {
    name: "watched-slice",
    about: "the slice of tasks is looked at after each of them",
    apply: |p| Policy { slice_looked_at: 1, ..p },
};

pub(super) const NO_REBUILD: Fault = Fault {
    name: "no-rebuild",
    about: "a poller that returns for nothing is never made anew",
    apply: |p| Policy { rebuild_after: None, ..p },
};

pub(super) const GLOBAL_LIVES_ON: Fault = Fault {
    name: "global-lives-on",
    about: "the global executor's thread lives as long as the program, as text A has it",
    apply: |p| Policy { global_life: GlobalLife::Forever, ..p },
};

pub(super) const GLOBAL_SHUTS_DOWN: Fault = Fault {
    name: "global-shuts-down",
    about: "the global executor can be shut down",
    apply: |p| Policy { global_shutdown: GlobalShutdown::Supported, ..p },
};
