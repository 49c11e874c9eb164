//! Known defects: each changes one choice of a policy to a wrong one, to show that a claim can break.

mod channels;
mod executors;

use std::time::Duration;

use crate::policy::{
    Cancelled, DelayFrom, Due, ErrorLog, FixedDelay, Listeners, Overflow, PeriodicError, Policy, Rearm,
    RunningCancel, Submission, TaskError, Ties, TimerClock, TimerPass, WakeUp,
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
        name: "lost-task",
        about: "the first task given to a loop never reaches its queue",
        apply: |p| Policy { submission: Submission::LosesFirst, ..p },
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
        name: "missed-restart",
        about: "a tick that overran starts the period anew",
        apply: |p| Policy { missed: MissedTicks::Restart, ..p },
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
    Fault {
        name: "inline-execute",
        about: "a task given on the loop's own thread runs at once",
        apply: |p| Policy { submission: Submission::InlineOnLoop, ..p },
    },
    Fault {
        name: "unordered-ties",
        about: "timers with equal deadlines run in the wrong order",
        apply: |p| Policy { ties: Ties::LastFirst, ..p },
    },
    Fault {
        name: "look-again",
        about: "the heap is looked at again after each timer of a pass",
        apply: |p| Policy { timer_pass: TimerPass::LookAgain, ..p },
    },
    Fault {
        name: "collected-timers",
        about: "only the timers that were due when a pass began run in it",
        apply: |p| Policy { timer_pass: TimerPass::Collected, ..p },
    },
    Fault {
        name: "stale-now",
        about: "delays count from the begin of the turn",
        apply: |p| Policy { delays: DelayFrom::TurnBegan, ..p },
    },
    Fault {
        name: "wrapping-deadlines",
        about: "a deadline beyond the end of the clock lies in the past",
        apply: |p| Policy { overflow: Overflow::Wraps, ..p },
    },
    Fault {
        name: "saturating-deadlines",
        about: "a deadline beyond the end of the clock is never",
        apply: |p| Policy { overflow: Overflow::Saturates, ..p },
    },
    Fault {
        name: "mark-cancelled",
        about: "a cancelled timer stays in the heap until its deadline",
        apply: |p| Policy { cancelled: Cancelled::Marked, ..p },
    },
    Fault {
        name: "remove-cancelled",
        about: "a cancelled timer leaves the heap at once",
        apply: |p| Policy { cancelled: Cancelled::Removed, ..p },
    },
    Fault {
        name: "run-cancelled",
        about: "a cancelled task or timer runs all the same",
        apply: |p| Policy { cancelled: Cancelled::RunsAnyway, ..p },
    },
    Fault {
        name: "interrupting-cancel",
        about: "a cancel reaches a task that runs",
        apply: |p| Policy { running_cancel: RunningCancel::Interrupts, ..p },
    },
    Fault {
        name: "no-wakeup",
        about: "nothing wakes the loop but its own timers",
        apply: |p| Policy { wake: WakeUp::Never, ..p },
    },
    Fault {
        name: "wake-every",
        about: "every post wakes the loop",
        apply: |p| Policy { wake: WakeUp::Every, ..p },
    },
    Fault {
        name: "flag-cleared-late",
        about: "the wake-up flag is cleared behind the tasks instead of before them",
        apply: |p| Policy { wake: WakeUp::ClearedLate, ..p },
    },
    Fault {
        name: "wall-clock-timers",
        about: "timers are kept by the wall clock",
        apply: |p| Policy { clock: TimerClock::Wall, ..p },
    },
    executors::SIXTEEN_TASKS,
    executors::DISCARDING_QUEUE,
    executors::EAGER_START,
    executors::GRACEFUL_SHUTDOWN,
    executors::HARD_SHUTDOWN,
    executors::SHUTDOWN_ENDS_TURN,
    executors::SILENT_REFUSAL,
    executors::LOUD_REFUSAL,
    executors::UNCHECKED_WAIT,
    executors::WAIT_REFUSED_FOR_ANY,
    executors::WAIT_REFUSED_EVEN_DONE,
    executors::ENDLESS_SLICE,
    executors::SHORT_SLICE,
    executors::WATCHED_SLICE,
    executors::NO_REBUILD,
    executors::GLOBAL_LIVES_ON,
    executors::GLOBAL_SHUTS_DOWN,
    channels::INACTIVE_BEFORE_FUTURE,
    channels::ACTIVE_BEFORE_FUTURE,
    channels::BIND_BEFORE_REGISTER,
    channels::REGISTER_BEFORE_PARENT,
    channels::CHILD_ON_BOSS,
    channels::GROUP_IGNORED,
    channels::GROUP_FIRST_ONLY,
    channels::ADDRESS_FORGOTTEN,
    channels::HALF_CLOSURE_IGNORED,
    channels::NO_READ_COMPLETE,
    channels::SILENT_END_OF_STREAM,
    channels::WRITE_VANISHES,
    channels::ERROR_CLOSES,
    channels::PARENT_CLOSES_CHILDREN,
    channels::CONSTANT_BACKOFF,
    channels::UNCAPPED_BACKOFF,
    channels::NO_JITTER,
    channels::JITTER_ALWAYS,
    channels::COUNTER_NOT_RESET,
    channels::DOUBLE_RETRY,
    channels::RETRY_SURVIVES_STOP,
    channels::DROP_AT_ONCE,
    channels::DROP_DELAYED,
    channels::RETRY_ON_FIRST_LOOP,
];

/// The fault of that name.
pub fn find(name: &str) -> Option<&'static Fault> {
    FAULTS.iter().find(|fault| fault.name == name)
}
