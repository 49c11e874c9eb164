//! What a thread or a task's body does, one action after the other.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{HandlerSpec, MissedTicks, Mode};
use crate::time::{Time, millis, millis_option};

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
    /// The same a number of times.
    Repeat {
        /// How often.
        times: u32,
        /// What is done.
        body: Vec<Action>,
    },
    /// Ends the body; its future gets this value.
    Return {
        /// The value.
        value: String,
    },
    /// Looks whether a cancel asked this run to stop, and ends the body if so.
    Look,
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
    /// Records the value of a variable.
    Read {
        /// Its name.
        variable: String,
    },
    /// Records what a loop counts and what waits in it, while it runs.
    Gauges {
        /// Which loop; absent: the task's own or the first.
        #[serde(rename = "on", default, skip_serializing_if = "Option::is_none")]
        on: Option<String>,
    },
    /// Wakes a loop's poller, with nothing posted.
    Wake {
        /// Which loop; absent: the task's own or the first.
        #[serde(rename = "on", default, skip_serializing_if = "Option::is_none")]
        on: Option<String>,
    },
    /// Gives a task to a loop. A task that a handler gives knows the handler's channel.
    Execute {
        /// The task.
        task: String,
        /// To which loop; absent: the task's own or the first; `channel`: the channel's.
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
    /// Arms a one-shot timer for an instant of the scenario. One that has passed is a delay below zero.
    ScheduleAt {
        /// The task.
        task: String,
        /// The instant.
        #[serde(rename = "at_ms")]
        at: Time,
        /// On which loop.
        #[serde(rename = "on", default, skip_serializing_if = "Option::is_none")]
        on: Option<String>,
    },
    /// Arms many one-shot timers of one task, their delays spread over a span by the scenario's seed.
    Spread {
        /// The task.
        task: String,
        /// How many.
        count: u32,
        /// The least delay.
        #[serde(rename = "from_ms", with = "millis")]
        from: Duration,
        /// All delays are below this.
        #[serde(rename = "to_ms", with = "millis")]
        to: Duration,
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
    /// Cancels the task's future, or all timers of a [`Action::Spread`].
    Cancel {
        /// Whose.
        task: String,
        /// Whether a running body is asked to stop, where the loop has that.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        interrupt: bool,
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
    /// Binds a server to a free port; its future carries the server's name.
    Bind {
        /// Which.
        server: String,
    },
    /// Connects a client, or all of several; the first one's future carries the client's name.
    Connect {
        /// Which.
        client: String,
    },
    /// Ends a client's coming back: no attempt from now on.
    StopReconnecting {
        /// Which client.
        client: String,
    },
    /// Writes text and flushes it.
    Write {
        /// The text, with the end of its line.
        text: String,
        /// Into which channel: a client's name; absent: the handler's own channel.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        channel: Option<String>,
        /// A task that runs when the write is done; how it ended is recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        then: Option<String>,
    },
    /// Closes a channel.
    Close {
        /// Which: a client, or a server's listening channel; absent: the handler's own channel.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        channel: Option<String>,
        /// A task that runs when the close is done; how it ended is recorded.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        then: Option<String>,
    },
    /// Closes every channel that a server accepted.
    CloseAccepted {
        /// Which server.
        server: String,
    },
    /// Runs a task when a channel is closed.
    OnClosed {
        /// Which: a client or a server; absent: the handler's own channel.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        channel: Option<String>,
        /// The listener.
        task: String,
    },
    /// Ends the writing side of a client's connection, by a FIN.
    EndOutput {
        /// Which client.
        channel: String,
    },
    /// Records whether the channel that was just accepted can tell its loop, for a listening channel's handler.
    AskLoop,
    /// Records whether the handler's own channel still has a socket.
    AskOpen,
    /// Records whether the handler's own channel knows its peer's address.
    AskRemote,
    /// Runs a task on a pool, then a continuation on the thread that completed it, or on the channel's loop.
    Compose {
        /// What the pool does.
        task: String,
        /// The pool's loop that does it.
        pool: String,
        /// What follows.
        then: String,
        /// Whether it follows on the channel's loop.
        on_loop: bool,
    },
    /// Makes a channel without a socket, sends text in, and finishes it; all on the calling thread.
    Embed {
        /// Its handlers.
        handlers: Vec<HandlerSpec>,
        /// What is sent in, in one go.
        messages: Vec<String>,
    },
    /// Takes a permit, waiting while there is none.
    Acquire {
        /// Of which.
        permits: String,
        /// Goes on without one after so long.
        #[serde(rename = "limit_ms", with = "millis")]
        limit: Duration,
    },
    /// Gives a permit back.
    Release {
        /// Of which.
        permits: String,
    },
    /// The same a number of times, each begun on a grid of instants from now on; at once where one has passed.
    Paced {
        /// How often.
        times: u32,
        /// The step of the grid.
        #[serde(rename = "every_ms", with = "millis")]
        every: Duration,
        /// What is done.
        body: Vec<Action>,
    },
    /// Asks a loop to shut down, in the way of its policy.
    Shutdown {
        /// Which loop; absent: the task's own or the first.
        #[serde(rename = "on", default, skip_serializing_if = "Option::is_none")]
        on: Option<String>,
        /// The quiet period of a graceful one; absent: the policy's own, 2 s.
        #[serde(rename = "quiet_ms", with = "millis_option", default, skip_serializing_if = "Option::is_none")]
        quiet: Option<Duration>,
        /// The time-out of a graceful one, not less than the quiet period; absent: the policy's own, 15 s.
        #[serde(rename = "timeout_ms", with = "millis_option", default, skip_serializing_if = "Option::is_none")]
        timeout: Option<Duration>,
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
    /// The run's number is below this one.
    RunBelow {
        /// The number.
        run: u32,
    },
    /// Fewer than this many runs stand inside one another on the thread, this one counted.
    NestedBelow {
        /// How many.
        depth: u64,
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
