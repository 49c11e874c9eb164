//! What to do, as data: loops, outside threads, and tasks whose bodies are lists of actions.
//!
//! A scenario is a plain serde value. The same one runs on the built-in loop in real and in virtual time
//! and in other processes, goes into the result file and can be replayed from it. It says nothing about
//! what should happen: that is the claims' business.

mod build;
mod check;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use build::{Steps, TaskDef, ThreadScript, task};
pub use check::ScenarioError;

use crate::time::{Time, millis, millis_option};

/// Everything one case of a probe does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The event loops; actions that name no loop go to the task's own, or to the first.
    pub loops: Vec<LoopSpec>,
    /// The outside threads and what each does, in order. The first is `main`.
    pub threads: Vec<Script>,
    /// The named tasks.
    pub tasks: Vec<TaskSpec>,
    /// Promises that some thread or task completes with [`Action::Complete`]; each belongs to a loop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub promises: Vec<PromiseSpec>,
    /// When the loops are stopped, counted from the start.
    #[serde(rename = "window_ms", with = "millis")]
    pub window: Duration,
    /// What the simulated world does to the loops; virtual time only.
    #[serde(default, skip_serializing_if = "Environment::is_calm")]
    pub environment: Environment,
}

/// One event loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoopSpec {
    /// The name of its thread in the timeline.
    pub name: String,
    /// Report every task that takes longer, whatever the policy's own setting; absent leaves it to the policy.
    #[serde(rename = "slow_task_ms", with = "millis_option", default, skip_serializing_if = "Option::is_none")]
    pub slow_task: Option<Duration>,
}

/// One outside thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Its name in the timeline.
    pub name: String,
    /// What it does, one step after the other.
    pub steps: Vec<Action>,
}

/// One named task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskSpec {
    /// Its name in the timeline; unique in the scenario.
    pub name: String,
    /// What a run of it does.
    pub body: Vec<Action>,
    /// How much of its runs is recorded.
    #[serde(default, skip_serializing_if = "Record::is_each")]
    pub record: Record,
}

/// How much of a task's runs is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Record {
    /// Start and end of each run.
    #[default]
    Each,
    /// Only the start of each run.
    Starts,
}

impl Record {
    fn is_each(&self) -> bool {
        *self == Record::Each
    }
}

/// A promise completed by an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromiseSpec {
    /// Its name; shares one name space with the tasks, whose futures carry the task's name.
    pub name: String,
    /// The loop it belongs to: its listeners run there.
    #[serde(rename = "loop")]
    pub owner: String,
}

/// What the simulated world does to the loops. Real time has its own weather.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// Every wait for a timer ends this much late.
    #[serde(rename = "late_wake_ms", with = "millis", default)]
    pub late_wake: Duration,
}

impl Environment {
    /// Whether the world does nothing to the loops.
    pub fn is_calm(&self) -> bool {
        *self == Environment::default()
    }
}

/// Fixed rate or fixed delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Deadlines lie on a grid from the first one; what happens to missed ones is the missed-tick policy's choice.
    FixedRate,
    /// The next deadline is the end of a run plus the period.
    FixedDelay,
}

/// What becomes of the ticks of a fixed-rate timer that a long run swallowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissedTicks {
    /// All of them run, back to back (Netty, the JDK, Akka; Tokio's default).
    Burst,
    /// None runs; the next is due one period from now (text D).
    Restart,
    /// One late tick, then back on the grid (Tokio `Skip`, Go's ticker).
    Skip,
    /// One late tick, then one period after it (Tokio `Delay`).
    Delay,
    /// No late tick; the next grid point that is still ahead (Twisted).
    NextGrid,
}

impl MissedTicks {
    /// The word for it on the command line and in results.
    pub const fn word(self) -> &'static str {
        match self {
            MissedTicks::Burst => "burst",
            MissedTicks::Restart => "restart",
            MissedTicks::Skip => "skip",
            MissedTicks::Delay => "delay",
            MissedTicks::NextGrid => "next-grid",
        }
    }

    /// All five, in the order of the catalogue.
    pub const ALL: [MissedTicks; 5] =
        [MissedTicks::Burst, MissedTicks::Restart, MissedTicks::Skip, MissedTicks::Delay, MissedTicks::NextGrid];
}

/// One thing that a thread or a task's body does.
///
/// Durations are in milliseconds in files. A future is named by its task or promise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Action {
    /// Waits until this instant of the scenario. For outside threads; a task that does it blocks its loop.
    Until {
        /// The instant.
        #[serde(rename = "at_ms")]
        at: Time,
    },
    /// Holds the thread without using the CPU, as a sleep or a blocking call does. Never interruptible.
    Block {
        /// For how long.
        #[serde(rename = "for_ms", with = "millis")]
        time: Duration,
    },
    /// Holds the thread and the CPU.
    Spin {
        /// For how long.
        #[serde(rename = "for_ms", with = "millis")]
        time: Duration,
    },
    /// Records a mark.
    Mark {
        /// What it says.
        label: String,
    },
    /// Records a warning of the body's own, naming the task and the round.
    Warn {
        /// What it says.
        label: String,
    },
    /// Raises an error that unwinds.
    Throw,
    /// Runs a body and takes any error it raises; then runs the handler.
    Catch {
        /// What is tried.
        body: Vec<Action>,
        /// What is done when it raised an error.
        handler: Vec<Action>,
    },
    /// Only in this run of the task (the first is 1).
    OnRun {
        /// The run.
        run: u32,
        /// What is done in it.
        body: Vec<Action>,
    },
    /// A choice by a condition.
    If {
        /// What decides.
        condition: Condition,
        /// When it holds.
        then: Vec<Action>,
        /// When it doesn't.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        otherwise: Vec<Action>,
    },
    /// Sets a variable of the scenario.
    Set {
        /// Its name.
        variable: String,
        /// The new value.
        value: i64,
    },
    /// Sets a variable to the present instant, for [`Condition::Elapsed`].
    Stamp {
        /// Its name.
        variable: String,
    },
    /// Gives a task to a loop.
    Execute {
        /// The task.
        task: String,
        /// To which loop; absent: the task's own or the first.
        #[serde(rename = "on", default, skip_serializing_if = "Option::is_none")]
        on: Option<String>,
    },
    /// Gives a task to a loop and keeps the future of its result.
    Submit {
        /// The task.
        task: String,
        /// To which loop.
        #[serde(rename = "on", default, skip_serializing_if = "Option::is_none")]
        on: Option<String>,
    },
    /// Arms a one-shot timer.
    Schedule {
        /// The task.
        task: String,
        /// How long from now.
        #[serde(rename = "after_ms", with = "millis")]
        after: Duration,
        /// On which loop.
        #[serde(rename = "on", default, skip_serializing_if = "Option::is_none")]
        on: Option<String>,
    },
    /// Arms a periodic timer.
    Periodic {
        /// The task.
        task: String,
        /// Fixed rate or fixed delay.
        mode: Mode,
        /// The first run, from now.
        #[serde(rename = "first_ms", with = "millis")]
        first: Duration,
        /// The period.
        #[serde(rename = "period_ms", with = "millis")]
        period: Duration,
        /// What becomes of missed ticks; absent leaves it to the loop.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        missed: Option<MissedTicks>,
        /// On which loop.
        #[serde(rename = "on", default, skip_serializing_if = "Option::is_none")]
        on: Option<String>,
    },
    /// Cancels the task's future.
    Cancel {
        /// Whose.
        task: String,
    },
    /// Waits for a future, blocking the thread.
    Wait {
        /// Which: a task's or a promise's name.
        future: String,
        /// For how long at most.
        #[serde(rename = "limit_ms", with = "millis")]
        limit: Duration,
    },
    /// Runs a task when a future is done, on the loop that the future belongs to.
    Listen {
        /// Which future.
        future: String,
        /// The listener.
        task: String,
    },
    /// Completes a promise.
    Complete {
        /// Which.
        promise: String,
    },
    /// Asks a loop to stop.
    Shutdown {
        /// Which loop; absent: the task's own or the first.
        #[serde(rename = "on", default, skip_serializing_if = "Option::is_none")]
        on: Option<String>,
    },
}

/// What decides an [`Action::If`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Condition {
    /// The variable has this value (0 before it is set).
    Equal {
        /// Its name.
        variable: String,
        /// The value.
        value: i64,
    },
    /// At least this long has passed since the variable was stamped, or it never was.
    Elapsed {
        /// Its name.
        variable: String,
        /// How long.
        #[serde(rename = "at_least_ms", with = "millis")]
        at_least: Duration,
    },
}
