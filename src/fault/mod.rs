//! Known defects: each changes one choice of a policy to a wrong one, to show that a claim can break.

mod executors;

use std::time::Duration;

use crate::policy::{
    AcceptOrder, AddressAfterClose, BindOrder, Cancelled, ChannelChoices, ChildLoop, CloseOrder, ConnectOrder,
    DelayFrom, DropChoice, Due, EndOfStream, ErrorLog, FixedDelay, Growth, Guard, HalfClosure, HandlerGroup,
    Listeners, OnStop, Overflow, ParentClose, PeriodicError, Policy, ReadComplete, Rearm, ReconnectChoices,
    ResetChoice, RetryOn, RunningCancel, Spread, Submission, TailException, TaskError, Ties, TimerClock,
    TimerPass, WakeUp, WriteAfterClose,
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
    Fault {
        name: "inactive-before-future",
        about: "handlers hear of a close before its futures are done",
        apply: |p| Policy {
            channels: ChannelChoices { close_order: CloseOrder::InactiveThenFuture, ..p.channels },
            ..p
        },
    },
    Fault {
        name: "active-before-future",
        about: "a client's handlers hear that it is connected before the connect's future is done",
        apply: |p| Policy {
            channels: ChannelChoices { connect_order: ConnectOrder::ActiveThenFuture, ..p.channels },
            ..p
        },
    },
    Fault {
        name: "bind-before-register",
        about: "a listening channel is registered after it is bound",
        apply: |p| Policy {
            channels: ChannelChoices { bind_order: BindOrder::BindThenRegister, ..p.channels },
            ..p
        },
    },
    Fault {
        name: "register-before-parent",
        about: "an accepted channel has a loop before its parent's handlers see it",
        apply: |p| Policy {
            channels: ChannelChoices { accept_order: AcceptOrder::RegisterThenParent, ..p.channels },
            ..p
        },
    },
    Fault {
        name: "child-on-boss",
        about: "accepted channels live on the boss's loop",
        apply: |p| Policy { channels: ChannelChoices { child_loop: ChildLoop::Boss, ..p.channels }, ..p },
    },
    Fault {
        name: "group-ignored",
        about: "a handler's executor group is ignored: it runs on the loop",
        apply: |p| Policy { channels: ChannelChoices { handler_group: HandlerGroup::Ignored, ..p.channels }, ..p },
    },
    Fault {
        name: "group-first-only",
        about: "every channel gets the first thread of a handler's executor group",
        apply: |p| Policy {
            channels: ChannelChoices { handler_group: HandlerGroup::FirstOnly, ..p.channels },
            ..p
        },
    },
    Fault {
        name: "address-forgotten",
        about: "a closed channel doesn't know its peer's address",
        apply: |p| Policy {
            channels: ChannelChoices { address_after_close: AddressAfterClose::Forgotten, ..p.channels },
            ..p
        },
    },
    Fault {
        name: "half-closure-ignored",
        about: "the peer's end closes a channel that allows half closure",
        apply: |p| Policy { channels: ChannelChoices { half_closure: HalfClosure::Never, ..p.channels }, ..p },
    },
    Fault {
        name: "no-read-complete",
        about: "the end of a batch of reads is not told",
        apply: |p| Policy { channels: ChannelChoices { read_complete: ReadComplete::Never, ..p.channels }, ..p },
    },
    Fault {
        name: "silent-end-of-stream",
        about: "the end of a stream brings no read-complete",
        apply: |p| Policy { channels: ChannelChoices { end_of_stream: EndOfStream::Nothing, ..p.channels }, ..p },
    },
    Fault {
        name: "write-vanishes",
        about: "the future of a write after close is never done",
        apply: |p| Policy {
            channels: ChannelChoices { write_after_close: WriteAfterClose::Vanishes, ..p.channels },
            ..p
        },
    },
    Fault {
        name: "error-closes",
        about: "an error that no handler takes closes the connection",
        apply: |p| Policy {
            channels: ChannelChoices { tail_exception: TailException::Closes, ..p.channels },
            ..p
        },
    },
    Fault {
        name: "parent-closes-children",
        about: "closing a listening channel closes what it accepted",
        apply: |p| Policy {
            channels: ChannelChoices { parent_close: ParentClose::ClosesChildren, ..p.channels },
            ..p
        },
    },
    Fault {
        name: "constant-backoff",
        about: "the delay before the next attempt doesn't grow",
        apply: |p| Policy { reconnect: ReconnectChoices { growth: Growth::Constant, ..p.reconnect }, ..p },
    },
    Fault {
        name: "uncapped-backoff",
        about: "the delay before the next attempt grows without a cap",
        apply: |p| Policy { reconnect: ReconnectChoices { growth: Growth::Uncapped, ..p.reconnect }, ..p },
    },
    Fault {
        name: "no-jitter",
        about: "delays are not spread, whatever was asked for",
        apply: |p| Policy { reconnect: ReconnectChoices { spread: Spread::Never, ..p.reconnect }, ..p },
    },
    Fault {
        name: "jitter-always",
        about: "delays are spread between nothing and the delay, whatever was asked for",
        apply: |p| Policy { reconnect: ReconnectChoices { spread: Spread::AlwaysFull, ..p.reconnect }, ..p },
    },
    Fault {
        name: "counter-not-reset",
        about: "a connection doesn't take the schedule back to its begin",
        apply: |p| Policy { reconnect: ReconnectChoices { reset: ResetChoice::Never, ..p.reconnect }, ..p },
    },
    Fault {
        name: "double-retry",
        about: "every failure arms two retries",
        apply: |p| Policy { reconnect: ReconnectChoices { guard: Guard::Doubles, ..p.reconnect }, ..p },
    },
    Fault {
        name: "retry-survives-stop",
        about: "stopping leaves the pending retry",
        apply: |p| Policy { reconnect: ReconnectChoices { on_stop: OnStop::LeavesRetry, ..p.reconnect }, ..p },
    },
    Fault {
        name: "drop-at-once",
        about: "the loss of a connection starts an attempt at once, whatever was asked for",
        apply: |p| Policy { reconnect: ReconnectChoices { drop: DropChoice::AtOnce, ..p.reconnect }, ..p },
    },
    Fault {
        name: "drop-delayed",
        about: "the loss of a connection is waited out, whatever was asked for",
        apply: |p| Policy { reconnect: ReconnectChoices { drop: DropChoice::Delayed, ..p.reconnect }, ..p },
    },
    Fault {
        name: "retry-on-first-loop",
        about: "retries of a group all run on the first loop that failed",
        apply: |p| Policy { reconnect: ReconnectChoices { retry_on: RetryOn::FirstLoop, ..p.reconnect }, ..p },
    },
];

/// The fault of that name.
pub fn find(name: &str) -> Option<&'static Fault> {
    FAULTS.iter().find(|fault| fault.name == name)
}
