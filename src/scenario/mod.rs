//! What to do, as data: loops, outside threads, and tasks whose bodies are lists of actions.
//!
//! A scenario is a plain serde value. The same one runs on the built-in loop in real and in virtual time
//! and in other processes, goes into the result file and can be replayed from it. It says nothing about
//! what should happen: that is the claims' business.

mod action;
mod build;
mod check;
mod net;
mod steps;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use action::{Action, Condition};
pub use build::{TaskDef, ThreadScript, task};
pub use check::ScenarioError;
pub use net::{
    AfterDrop, ChannelEvent, ClientSpec, HandlerKind, HandlerSpec, Reaction, ReconnectSpec, Reset, ServerSpec,
    Told, WaitBy,
};
pub use steps::Steps;

use crate::calendar::WallStep;
use crate::choice::Choice;
use crate::policy::Policy;
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
    /// Permits that threads and tasks share.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permits: Vec<PermitSpec>,
    /// Promises that some thread or task completes with [`Action::Complete`]; each belongs to a loop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub promises: Vec<PromiseSpec>,
    /// The servers; bound by [`Action::Bind`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ServerSpec>,
    /// The clients; connected by [`Action::Connect`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<ClientSpec>,
    /// When the loops are stopped, counted from the start.
    #[serde(rename = "window_ms", with = "millis")]
    pub window: Duration,
    /// The seed of everything random.
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// A model that is explored instead of a loop that is run; virtual time only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Model>,
    /// What the simulated world does to the loops; virtual time only.
    #[serde(default, skip_serializing_if = "Environment::is_calm")]
    pub environment: Environment,
}

const fn first_seed() -> u64 {
    1
}

/// A model whose every schedule is tried. Its trace is a schedule that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Model {
    /// The wake-up flag between a loop and its producers ([`crate::wakeup_model`]).
    Wakeup {
        /// How many posts there are, each by a thread of its own.
        posts: u32,
    },
}

impl Model {
    /// Its name as a subject.
    pub const fn subject(&self) -> &'static str {
        match self {
            Model::Wakeup { .. } => "model:wakeup",
        }
    }
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
    /// What it is in the scenario.
    #[serde(default, skip_serializing_if = "Role::is_subject")]
    pub role: Role,
    /// Choices that this loop makes otherwise than the policy: a counter-example beside the right way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
    /// What kind of executor it is.
    #[serde(default, skip_serializing_if = "LoopKind::is_event_loop")]
    pub kind: LoopKind,
    /// Whether it has no thread until its first task; the global executor never has. Others are started before the
    /// scenario begins.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lazy: bool,
}

/// What kind of executor a loop is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoopKind {
    /// An event loop, which lives until it is shut down.
    #[default]
    EventLoop,
    /// An executor for everybody, whose thread ends when there is nothing to do. Its threads carry its name and a
    /// number.
    GlobalExecutor,
}

impl LoopKind {
    fn is_event_loop(&self) -> bool {
        *self == LoopKind::EventLoop
    }
}

impl LoopSpec {
    /// An event loop as the policy makes it.
    pub fn new(name: &str) -> LoopSpec {
        LoopSpec {
            name: name.into(),
            slow_task: None,
            choices: Vec::new(),
            role: Role::Subject,
            kind: LoopKind::EventLoop,
            lazy: false,
        }
    }

    /// Whether its thread is made by its first task.
    pub fn starts_lazily(&self) -> bool {
        self.lazy || self.kind == LoopKind::GlobalExecutor
    }

    /// The policy of this loop, where the run's is `base`.
    pub fn policy(&self, base: Policy) -> Policy {
        self.choices.iter().fold(base, |policy, choice| choice.apply(policy))
    }
}

/// What a loop is in a scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// It is under test.
    #[default]
    Subject,
    /// It only runs tasks: a thread of a business group or a pool. Its thread is no event loop's.
    Executor,
    /// It plays the other end of connections; no fault is put into it.
    Peer,
}

impl Role {
    fn is_subject(&self) -> bool {
        *self == Role::Subject
    }
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
    /// No run; how many there were is counted, with the first and the last start, the longest run and the deepest
    /// nesting.
    Count,
}

impl Record {
    fn is_each(&self) -> bool {
        *self == Record::Each
    }
}

/// A number of permits: [`Action::Acquire`] takes one and waits while there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PermitSpec {
    /// Their name.
    pub name: String,
    /// How many there are.
    pub count: u64,
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
    /// When somebody sets the wall clock, and by how much.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wall_steps: Vec<WallStep>,
    /// How long a byte or a handshake takes from one end of a connection to the other.
    #[serde(rename = "link_ms", with = "millis", default)]
    pub link: Duration,
    /// Whose pollers return for nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spurious_returns: Vec<EmptyReturns>,
}

/// Waits of one loop's poller that return though nothing happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmptyReturns {
    /// Which loop's.
    #[serde(rename = "loop")]
    pub on: String,
    /// From when on.
    #[serde(rename = "from_ms")]
    pub from: Time,
    /// How many.
    pub count: u64,
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
