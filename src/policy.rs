//! The choices that make one event loop differ from another, by name.
//!
//! Each field is one choice with a named set of values. The four policies are constants; a fault
//! ([`crate::fault`]) changes one choice to a wrong one. The loop knows choices only, never a policy's name.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::scenario::MissedTicks;

/// The choices of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The order within a turn.
    pub turn: TurnOrder,
    /// Which of the due timers run in one pass.
    pub timer_pass: TimerPass,
    /// How timers with equal deadlines are ordered.
    pub ties: Ties,
    /// When a timer counts as due.
    pub due: Due,
    /// What becomes of missed ticks at a fixed rate.
    pub missed: MissedTicks,
    /// Whether there are fixed-delay timers, and from where they count.
    pub fixed_delay: FixedDelay,
    /// What becomes of a periodic timer after a run.
    pub rearm: Rearm,
    /// What becomes of a periodic timer whose body raised an error.
    pub periodic_error: PeriodicError,
    /// Which errors of bodies are logged.
    pub error_log: ErrorLog,
    /// What an error of an ordinary task does to the loop.
    pub task_error: TaskError,
    /// Reports every task that takes longer.
    pub slow_task: Option<Duration>,
    /// Where a task given to `execute` runs.
    pub submission: Submission,
    /// On which thread a future's listeners run.
    pub listeners: Listeners,
    /// When posts wake the loop.
    pub wake: WakeUp,
}

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeUp {
    /// The first post since the loop went to sleep; none while it is busy (Netty 4.1).
    WhenAsleep,
    /// The first post since its last wait ended, also from the loop itself (text D).
    SinceWait,
}

/// The policies by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyName {
    /// Netty 4.2.
    Netty,
    /// Netty 4.1 where it differs.
    Netty41,
    /// The loop of text D, as its words describe it.
    Linkd,
    /// The same as its listing does it, to the letter.
    LinkdListed,
}

/// Netty 4.2: `SingleThreadEventExecutor`, `AbstractScheduledEventExecutor`, `ScheduledFutureTask`.
const NETTY: Policy = Policy {
    turn: TurnOrder::IoThenTasks,
    timer_pass: TimerPass::Collected,
    ties: Ties::Sequence,
    due: Due::AtDeadline,
    missed: MissedTicks::Burst,
    fixed_delay: FixedDelay::FromEnd,
    rearm: Rearm::Always,
    periodic_error: PeriodicError::Stop,
    error_log: ErrorLog::Tasks,
    task_error: TaskError::Caught,
    slow_task: None,
    submission: Submission::Queued,
    listeners: Listeners::OwnLoop,
    wake: WakeUp::WhenAsleep,
};

/// Text D, `EventLoopImpl`.
const LINKD: Policy = Policy {
    turn: TurnOrder::TasksTimersIo,
    missed: MissedTicks::Restart,
    fixed_delay: FixedDelay::Unsupported,
    periodic_error: PeriodicError::Continue,
    error_log: ErrorLog::All,
    slow_task: Some(Duration::from_millis(50)),
    wake: WakeUp::SinceWait,
    ..NETTY
};

/// Text D's listing: its own slow-task watch is never called, and the heap is looked at again after each callback.
const LINKD_LISTED: Policy = Policy { timer_pass: TimerPass::LookAgain, slow_task: None, ..LINKD };

impl PolicyName {
    /// All policies, in the order in which they run.
    pub const ALL: [PolicyName; 4] =
        [PolicyName::Netty, PolicyName::Netty41, PolicyName::Linkd, PolicyName::LinkdListed];

    /// The word for it on the command line and in results.
    pub const fn word(self) -> &'static str {
        match self {
            PolicyName::Netty => "netty",
            PolicyName::Netty41 => "netty41",
            PolicyName::Linkd => "linkd",
            PolicyName::LinkdListed => "linkd-listed",
        }
    }

    /// Its choices.
    pub const fn policy(self) -> Policy {
        match self {
            PolicyName::Netty | PolicyName::Netty41 => NETTY,
            PolicyName::Linkd => LINKD,
            PolicyName::LinkdListed => LINKD_LISTED,
        }
    }
}

impl std::fmt::Display for PolicyName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word())
    }
}
