//! The values that each choice of a policy can take.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The order within a turn, after the wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnOrder {
    /// I/O, then one drain of the tasks behind which the timers due at its start are queued (Netty).
    IoThenTasks,
    /// Tasks, timers, I/O (text D).
    TasksTimersIo,
}

/// Which of the due timers run in one pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerPass {
    /// Those that were due when the pass began.
    Collected,
    /// The heap is looked at again after each callback (text D's listing).
    LookAgain,
}

/// How timers with equal deadlines are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ties {
    /// In the order in which they were scheduled.
    Sequence,
    /// The last one first: what a heap without a sequence number may do.
    LastFirst,
}

/// When a timer counts as due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// At its deadline or after it.
    AtDeadline,
    /// This much before it.
    Early(Duration),
    /// Not before this much after it.
    Late(Duration),
}

/// Whether there are fixed-delay timers, and from where they count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixedDelay {
    /// The next deadline is the end of a run plus the delay.
    FromEnd,
    /// The next deadline is the start of a run plus the delay.
    FromStart,
    /// The loop has none (text D).
    Unsupported,
}

/// What becomes of a periodic timer after a run that went well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rearm {
    /// It is armed again.
    Always,
    /// It is forgotten.
    Never,
}

/// What becomes of a periodic timer whose body raised an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeriodicError {
    /// It ends and its future fails (Netty, the JDK).
    Stop,
    /// It goes on (text D).
    Continue,
}

/// Which errors of bodies the loop logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorLog {
    /// Those of ordinary tasks; a timer's error is in its future only (Netty).
    Tasks,
    /// All (text D).
    All,
    /// None.
    Nothing,
}

/// What an error of an ordinary task does to the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskError {
    /// Nothing: the next task runs.
    Caught,
    /// It ends the loop.
    EndsLoop,
}

/// Where a task given to `execute` runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Submission {
    /// In the queue, always.
    Queued,
    /// At once when the caller is on the loop's thread.
    InlineOnLoop,
    /// At once on the calling thread when that is another one.
    InlineOnCaller,
    /// In the queue, but the first task of a run never gets there.
    LosesFirst,
}

/// On which thread a future's listeners run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listeners {
    /// On the loop that the future belongs to.
    OwnLoop,
    /// On the thread that completes it.
    Completer,
}

/// When posts wake the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WakeUp {
    /// The first post since the loop went to sleep; none while it is busy (Netty 4.1).
    WhenAsleep,
    /// The first post since its last wait ended, also from the loop itself (text D).
    SinceWait,
    /// Every post, with a system call each (text D's error 4).
    Every,
    /// None, nor a stop; arming a timer that is the first still does (text D's error 3: `execute` forgets to).
    Never,
    /// The first post since the flag was cleared, and it is cleared behind the tasks instead of before them
    /// (text D's warning about the order).
    ClearedLate,
}

impl WakeUp {
    /// Whether the loop looks at its queue before it waits. Text D's does not: it relies on the wake-up alone.
    pub const fn looks_at_queue(self) -> bool {
        !matches!(self, WakeUp::SinceWait | WakeUp::ClearedLate)
    }
}

/// Which clock timers are kept by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimerClock {
    /// The one that only runs forward, whatever the calendar is set to.
    Monotonic,
    /// The calendar's, which somebody may set (what text D warns of).
    Wall,
}

/// From when a delay counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayFrom {
    /// From when the timer is armed.
    Now,
    /// From the begin of the turn that arms it: what a loop with a remembered "now" does (libuv's `uv_now`).
    TurnBegan,
}

/// What becomes of a deadline beyond the end of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// It is never.
    Saturates,
    /// It is in the past, as a sum of signed 64-bit nanoseconds is (text D's listing).
    Wraps,
}

/// What becomes of a cancelled timer or task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cancelled {
    /// A timer leaves the heap at once (Netty's `DefaultPriorityQueue.removeTyped`).
    Removed,
    /// It is marked, stays in the heap until its deadline and is passed over then (text D).
    Marked,
    /// It runs all the same.
    RunsAnyway,
}

/// What a cancel does to a task that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunningCancel {
    /// To a one-shot nothing: the cancel is refused. A periodic timer's run ends, and no other begins. Nothing is ever
    /// interrupted (Netty's `PromiseTask.setUncancellableInternal`).
    Refused,
    /// The future is cancelled at once; with the interrupt asked for, the body finds its flag set (the JDK's
    /// `FutureTask.cancel`).
    Interrupts,
}
