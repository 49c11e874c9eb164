//! The choices that make one event loop differ from another, by name.
//!
//! Each field is one choice with a named set of values. The four policies are constants; a fault
//! ([`crate::fault`]) changes one choice to a wrong one. The loop knows choices only, never a policy's name.

mod executor_values;
mod values;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use executor_values::{
    FullQueue, GlobalLife, GlobalShutdown, LateTask, LoopWait, Shutdown, TaskSlice, ThreadStart,
};
pub use values::{
    Cancelled, DelayFrom, Due, ErrorLog, FixedDelay, Listeners, Overflow, PeriodicError, Rearm, RunningCancel,
    Submission, TaskError, Ties, TimerClock, TimerPass, TurnOrder, WakeUp,
};

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
    /// Which clock timers are kept by.
    pub clock: TimerClock,
    /// From when a delay counts.
    pub delays: DelayFrom,
    /// What becomes of a deadline beyond the end of the clock.
    pub overflow: Overflow,
    /// What becomes of a cancelled timer or task.
    pub cancelled: Cancelled,
    /// What a cancel does to a task that runs.
    pub running_cancel: RunningCancel,
    /// How many tasks may wait; absent: any number.
    pub queue_bound: Option<usize>,
    /// What becomes of a task for which there is no room.
    pub full_queue: FullQueue,
    /// When a loop that the scenario leaves unstarted gets its thread.
    pub thread_start: ThreadStart,
    /// What a shutdown does to what waits.
    pub shutdown: Shutdown,
    /// What becomes of a task given to a loop that has shut down.
    pub late_task: LateTask,
    /// Which waits for a future a loop's thread refuses.
    pub loop_wait: LoopWait,
    /// How long a drain of the queue may go on.
    pub task_slice: TaskSlice,
    /// After how many tasks of a drain the slice is looked at, each time.
    pub slice_looked_at: u64,
    /// After how many empty returns in a row the poller is rebuilt; absent: never.
    pub rebuild_after: Option<u32>,
    /// How long the global executor's thread lives.
    pub global_life: GlobalLife,
    /// What a shutdown of the global executor does.
    pub global_shutdown: GlobalShutdown,
    /// What channels on the loop do.
    pub channels: ChannelChoices,
    /// What a client that comes back does, beside what it was told.
    pub reconnect: ReconnectChoices,
}

/// The choices about channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelChoices {
    /// When handlers hear of a close, and when its futures are done.
    pub close_order: CloseOrder,
    /// When a client's handlers hear that it is connected, and when the connect's future is done.
    pub connect_order: ConnectOrder,
    /// Whether a listening channel is registered before it is bound.
    pub bind_order: BindOrder,
    /// Whether a listening channel's handlers see a connection before it has a loop.
    pub accept_order: AcceptOrder,
    /// On whose loops accepted channels live.
    pub child_loop: ChildLoop,
    /// What a handler's executor group means.
    pub handler_group: HandlerGroup,
    /// Whether a closed channel knows its peer's address.
    pub address_after_close: AddressAfterClose,
    /// What becomes of the setting of half closure.
    pub half_closure: HalfClosure,
    /// How often the end of reading is told.
    pub read_complete: ReadComplete,
    /// What is told at the end of a stream.
    pub end_of_stream: EndOfStream,
    /// What becomes of a write after close.
    pub write_after_close: WriteAfterClose,
    /// What an error that no handler takes does.
    pub tail_exception: TailException,
    /// What closing a listening channel does to what it accepted.
    pub parent_close: ParentClose,
}

impl ChannelChoices {
    /// Netty's.
    pub const NETTY: ChannelChoices = ChannelChoices {
        close_order: CloseOrder::FutureThenInactive,
        connect_order: ConnectOrder::FutureThenActive,
        bind_order: BindOrder::RegisterThenBind,
        accept_order: AcceptOrder::ParentThenRegister,
        child_loop: ChildLoop::Workers,
        handler_group: HandlerGroup::Pinned,
        address_after_close: AddressAfterClose::Kept,
        half_closure: HalfClosure::AsSet,
        read_complete: ReadComplete::EachBatch,
        end_of_stream: EndOfStream::OneMoreReadComplete,
        write_after_close: WriteAfterClose::FailsFuture,
        tail_exception: TailException::StaysOpen,
        parent_close: ParentClose::LeavesChildren,
    };
}

/// The choices about coming back. All of a sound client do as they are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReconnectChoices {
    /// How delays grow.
    pub growth: Growth,
    /// How they are spread.
    pub spread: Spread,
    /// What a connection does to the schedule.
    pub reset: ResetChoice,
    /// What a failure that is told twice does.
    pub guard: Guard,
    /// What stopping does to a pending retry.
    pub on_stop: OnStop,
    /// What follows a drop.
    pub drop: DropChoice,
    /// Where the retries of a group run.
    pub retry_on: RetryOn,
}

impl ReconnectChoices {
    /// As told.
    pub const AS_TOLD: ReconnectChoices = ReconnectChoices {
        growth: Growth::AsTold,
        spread: Spread::AsTold,
        reset: ResetChoice::AsTold,
        guard: Guard::AsTold,
        on_stop: OnStop::CancelsRetry,
        drop: DropChoice::AsTold,
        retry_on: RetryOn::OwnLoop,
    };
}

/// How delays grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// They double up to the cap.
    AsTold,
    /// They stay at the base.
    Constant,
    /// They double without a cap.
    Uncapped,
}

/// How delays are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// By the jitter asked for.
    AsTold,
    /// Not at all.
    Never,
    /// Between nothing and the delay.
    AlwaysFull,
}

/// What a connection does to a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetChoice {
    /// What was asked for.
    AsTold,
    /// Nothing.
    Never,
}

/// What a failure that is told twice does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// What was asked for.
    AsTold,
    /// Every failure schedules two retries.
    Doubles,
}

/// What stopping does to a pending retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnStop {
    /// It cancels it.
    CancelsRetry,
    /// It forgets it: the retry runs.
    LeavesRetry,
}

/// What follows a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropChoice {
    /// What was asked for.
    AsTold,
    /// An attempt at once, always.
    AtOnce,
    /// A delay, always.
    Delayed,
}

/// Where a retry runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryOn {
    /// On the loop of the connection that failed.
    OwnLoop,
    /// On the loop of the first connection that failed.
    FirstLoop,
}

/// When handlers hear of a close, and when its futures are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseOrder {
    /// The futures at once, the handlers in a task behind (Netty `AbstractUnsafe.close`).
    FutureThenInactive,
    /// The handlers first (as text C has it).
    InactiveThenFuture,
}

/// When a client's handlers hear that it is connected, and when the connect's future is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectOrder {
    /// The future first (Netty `fulfillConnectionPromise`).
    FutureThenActive,
    /// The handlers first.
    ActiveThenFuture,
}

/// Whether a listening channel is registered before it is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindOrder {
    /// Before (Netty `AbstractBootstrap.doBind`).
    RegisterThenBind,
    /// After (as text C has it).
    BindThenRegister,
}

/// Whether a listening channel's handlers see a connection before it has a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptOrder {
    /// Yes: the last of them registers it (Netty `ServerBootstrapAcceptor`).
    ParentThenRegister,
    /// No.
    RegisterThenParent,
}

/// On whose loops accepted channels live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildLoop {
    /// The workers', round robin.
    Workers,
    /// The boss's.
    Boss,
}

/// What a handler's executor group means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandlerGroup {
    /// Each channel is pinned to one of its threads (Netty `DefaultChannelPipeline.childExecutor`).
    Pinned,
    /// Nothing: the handler runs on the channel's loop.
    Ignored,
    /// Every channel gets the first of its threads.
    FirstOnly,
}

/// Whether a closed channel knows its peer's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressAfterClose {
    /// Yes, until the channel object goes.
    Kept,
    /// No.
    Forgotten,
}

/// What becomes of the setting of half closure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HalfClosure {
    /// It is heeded.
    AsSet,
    /// The peer's end closes all.
    Never,
}

/// How often the end of reading is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadComplete {
    /// Once for each batch of reads (Netty `AbstractNioByteChannel.read`).
    EachBatch,
    /// Never.
    Never,
}

/// What is told at the end of a stream, before the close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndOfStream {
    /// One more read-complete (Netty).
    OneMoreReadComplete,
    /// Nothing.
    Nothing,
}

/// What becomes of a write after close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteAfterClose {
    /// Its future fails (Netty `ClosedChannelException`).
    FailsFuture,
    /// Nothing: its future is never done.
    Vanishes,
}

/// What an error that no handler takes does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TailException {
    /// A warning; the connection stays open (Netty `DefaultChannelPipeline.onUnhandledInboundException`).
    StaysOpen,
    /// It closes the connection.
    Closes,
}

/// What closing a listening channel does to what it accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParentClose {
    /// Nothing (Netty).
    LeavesChildren,
    /// It closes them.
    ClosesChildren,
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
    clock: TimerClock::Monotonic,
    delays: DelayFrom::Now,
    overflow: Overflow::Saturates,
    cancelled: Cancelled::Removed,
    running_cancel: RunningCancel::Refused,
    queue_bound: None,
    full_queue: FullQueue::Refuses,
    thread_start: ThreadStart::FirstTask,
    shutdown: Shutdown::Graceful,
    late_task: LateTask::Refused,
    loop_wait: LoopWait::RefusedForOwn,
    task_slice: TaskSlice::Time { slice: Duration::from_millis(1000) },
    slice_looked_at: 64,
    rebuild_after: Some(512),
    global_life: GlobalLife::UntilQuiet,
    global_shutdown: GlobalShutdown::Unsupported,
    channels: ChannelChoices::NETTY,
    reconnect: ReconnectChoices::AS_TOLD,
};

/// Netty 4.1, `NioEventLoop`: the time of tasks is a share of that of I/O, 50 by default.
const NETTY41: Policy = Policy { task_slice: TaskSlice::Share { io_ratio: 50 }, ..NETTY };

/// Text D, `EventLoopImpl`.
const LINKD: Policy = Policy {
    turn: TurnOrder::TasksTimersIo,
    missed: MissedTicks::Restart,
    fixed_delay: FixedDelay::Unsupported,
    periodic_error: PeriodicError::Continue,
    error_log: ErrorLog::All,
    slow_task: Some(Duration::from_millis(50)),
    wake: WakeUp::SinceWait,
    cancelled: Cancelled::Marked,
    shutdown: Shutdown::DropsQueue,
    late_task: LateTask::Ignored,
    loop_wait: LoopWait::Allowed,
    task_slice: TaskSlice::Unlimited,
    rebuild_after: None,
    ..NETTY
};

/// Text D's listing: its own slow-task watch is never called, the heap is looked at again after each callback, and
/// `System.nanoTime()` plus the largest delays is negative.
const LINKD_LISTED: Policy = Policy {
    timer_pass: TimerPass::LookAgain,
    slow_task: None,
    overflow: Overflow::Wraps,
    shutdown: Shutdown::EndsTurn,
    ..LINKD
};

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
            PolicyName::Netty => NETTY,
            PolicyName::Netty41 => NETTY41,
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
