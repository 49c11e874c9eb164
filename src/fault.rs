//! Known defects: each changes one choice of a policy to a wrong one, to show that a claim can break.

use std::time::Duration;

use crate::policy::{
    Due, ErrorLog, FixedDelay, Listeners, PeriodicError, Policy, Rearm, Submission, TaskError, Ties,
};
use crate::scenario::MissedTicks;

/// One known defect.
#[derive(Debug)]
pub struct Fault {
    /// Its name, as given to `--fault`.
    pub name: &'static str,
    /// What it does, one line.
    pub about: &'static str,
    /// The change.
    pub apply: fn(Policy) -> Policy,
}

/// More than the default tolerance, so that real runs show it too.
const LATE: Duration = Duration::from_millis(25);
/// Less than any default delay, so that an early timer is not taken for one without a delay.
const EARLY: Duration = Duration::from_millis(3);

/// All of them.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "late-timers",
        about: "timers fire 25 ms after their deadline",
        apply: |p| Policy { due: Due::Late(LATE), ..p },
    },
    Fault {
        name: "early-timers",
        about: "timers fire 3 ms before their deadline",
        apply: |p| Policy { due: Due::Early(EARLY), ..p },
    },
    Fault {
        name: "unordered-ties",
        about: "of timers with equal deadlines the last one scheduled runs first",
        apply: |p| Policy { ties: Ties::LastFirst, ..p },
    },
    Fault {
        name: "lost-task",
        about: "the first task given to a loop never reaches its queue",
        apply: |p| Policy { submission: Submission::LosesFirst, ..p },
    },
    Fault {
        name: "inline-execute",
        about: "a task given from the loop's own thread runs at once instead of in its turn",
        apply: |p| Policy { submission: Submission::InlineOnLoop, ..p },
    },
    Fault {
        name: "wrong-thread",
        about: "a task given from another thread runs on that thread",
        apply: |p| Policy { submission: Submission::InlineOnCaller, ..p },
    },
    Fault {
        name: "listener-on-completer",
        about: "a future's listeners run on the thread that completes it",
        apply: |p| Policy { listeners: Listeners::Completer, ..p },
    },
    Fault { name: "deaf-watch", about: "slow tasks are not reported", apply: |p| Policy { slow_task: None, ..p } },
    Fault {
        name: "eager-watch",
        about: "every task that takes 1 ms is reported as slow",
        apply: |p| Policy { slow_task: Some(Duration::from_millis(1)), ..p },
    },
    Fault {
        name: "missed-burst",
        about: "missed ticks of a fixed rate all run back to back",
        apply: |p| Policy { missed: MissedTicks::Burst, ..p },
    },
    Fault {
        name: "missed-skip",
        about: "missed ticks of a fixed rate are skipped",
        apply: |p| Policy { missed: MissedTicks::Skip, ..p },
    },
    Fault {
        name: "missed-delay",
        about: "a late tick of a fixed rate moves the grid",
        apply: |p| Policy { missed: MissedTicks::Delay, ..p },
    },
    Fault {
        name: "delay-from-start",
        about: "a fixed delay is counted from the start of a run instead of its end",
        apply: |p| Policy { fixed_delay: FixedDelay::FromStart, ..p },
    },
    Fault {
        name: "one-tick-only",
        about: "a periodic timer is not armed again",
        apply: |p| Policy { rearm: Rearm::Never, ..p },
    },
    Fault {
        name: "error-continues",
        about: "a periodic timer goes on after an error in its body",
        apply: |p| Policy { periodic_error: PeriodicError::Continue, ..p },
    },
    Fault {
        name: "error-stops",
        about: "a periodic timer ends by an error in its body",
        apply: |p| Policy { periodic_error: PeriodicError::Stop, ..p },
    },
    Fault {
        name: "silent-errors",
        about: "no error of a task is logged",
        apply: |p| Policy { error_log: ErrorLog::Nothing, ..p },
    },
    Fault {
        name: "loud-errors",
        about: "every error is logged, a timer's too",
        apply: |p| Policy { error_log: ErrorLog::All, ..p },
    },
    Fault {
        name: "error-ends-loop",
        about: "an error in a task ends the loop",
        apply: |p| Policy { task_error: TaskError::EndsLoop, ..p },
    },
];

/// The fault of that name.
pub fn find(name: &str) -> Option<&'static Fault> {
    FAULTS.iter().find(|fault| fault.name == name)
}
