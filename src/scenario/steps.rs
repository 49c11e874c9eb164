//! What threads and task bodies can be told to do, one method for each action.

use std::time::Duration;

use super::{Action, MissedTicks, Mode, TaskDef};
use crate::time::Time;

/// What both threads and task bodies can do. Actions that name no loop go to the task's own, or to the first.
pub trait Steps: Sized {
    /// Adds an action as it is.
    fn step(self, action: Action) -> Self;

    /// Adds a task to the scenario and gives its name.
    fn bring(self, task: TaskDef) -> (Self, String);

    /// Holds the thread without using the CPU.
    fn block(self, time: Duration) -> Self {
        self.step(Action::Block { time })
    }

    /// Holds the thread and the CPU.
    fn spin(self, time: Duration) -> Self {
        self.step(Action::Spin { time })
    }

    /// Records a mark.
    fn mark(self, label: &str) -> Self {
        self.step(Action::Mark { label: label.into() })
    }

    /// Records a warning of the body's own.
    fn warn(self, label: &str) -> Self {
        self.step(Action::Warn { label: label.into() })
    }

    /// Raises an error.
    fn throw(self) -> Self {
        self.step(Action::Throw)
    }

    /// Sets a variable.
    fn set(self, variable: &str, value: i64) -> Self {
        self.step(Action::Set { variable: variable.into(), value })
    }

    /// Sets a variable to the present instant.
    fn stamp(self, variable: &str) -> Self {
        self.step(Action::Stamp { variable: variable.into() })
    }

    /// Records the value of a variable.
    fn read(self, variable: &str) -> Self {
        self.step(Action::Read { variable: variable.into() })
    }

    /// Records what the loop counts.
    fn gauges(self) -> Self {
        self.step(Action::Gauges { on: None })
    }

    /// Records what this loop counts.
    fn gauges_of(self, on: &str) -> Self {
        self.step(Action::Gauges { on: Some(on.into()) })
    }

    /// Wakes this loop's poller.
    fn wake(self, on: &str) -> Self {
        self.step(Action::Wake { on: Some(on.into()) })
    }

    /// Gives a task to the loop.
    fn execute(self, task: TaskDef) -> Self {
        let (this, task) = self.bring(task);
        this.step(Action::Execute { task, on: None })
    }

    /// Gives a task to this loop.
    fn execute_on(self, on: &str, task: TaskDef) -> Self {
        let (this, task) = self.bring(task);
        this.step(Action::Execute { task, on: Some(on.into()) })
    }

    /// Gives a task that the scenario has already to the loop once more.
    fn execute_again(self, task: &str) -> Self {
        self.step(Action::Execute { task: task.into(), on: None })
    }

    /// Gives a task to this loop and keeps its future.
    fn submit_on(self, on: &str, task: TaskDef) -> Self {
        let (this, task) = self.bring(task);
        this.step(Action::Submit { task, on: Some(on.into()) })
    }

    /// Gives a task to the loop and keeps its future.
    fn submit(self, task: TaskDef) -> Self {
        let (this, task) = self.bring(task);
        this.step(Action::Submit { task, on: None })
    }

    /// Arms a one-shot timer.
    fn schedule(self, after: Duration, task: TaskDef) -> Self {
        let (this, task) = self.bring(task);
        this.step(Action::Schedule { task, after, on: None })
    }

    /// Arms a one-shot timer on this loop.
    fn schedule_on(self, on: &str, after: Duration, task: TaskDef) -> Self {
        let (this, task) = self.bring(task);
        this.step(Action::Schedule { task, after, on: Some(on.into()) })
    }

    /// Arms a one-shot timer for an instant of the scenario.
    fn schedule_at(self, at: Duration, task: TaskDef) -> Self {
        let (this, task) = self.bring(task);
        this.step(Action::ScheduleAt { task, at: Time::ZERO.after(at), on: None })
    }

    /// Arms many one-shot timers of one task, spread over a span.
    fn spread(self, count: u64, from: Duration, to: Duration, task: TaskDef) -> Self {
        let (this, task) = self.bring(task);
        this.step(Action::Spread { task, count: u32::try_from(count).unwrap_or(u32::MAX), from, to, on: None })
    }

    /// Arms a fixed-rate timer whose missed ticks are the loop's business.
    fn fixed_rate(self, first: Duration, period: Duration, task: TaskDef) -> Self {
        self.periodic(Mode::FixedRate, first, period, None, None, task)
    }

    /// Arms a fixed-delay timer.
    fn fixed_delay(self, first: Duration, period: Duration, task: TaskDef) -> Self {
        self.periodic(Mode::FixedDelay, first, period, None, None, task)
    }

    /// Arms a periodic timer, everything said.
    fn periodic(
        self,
        mode: Mode,
        first: Duration,
        period: Duration,
        missed: Option<MissedTicks>,
        on: Option<&str>,
        task: TaskDef,
    ) -> Self {
        let (this, task) = self.bring(task);
        this.step(Action::Periodic { task, mode, first, period, missed, on: on.map(Into::into) })
    }

    /// Cancels a task's future.
    fn cancel(self, task: &str) -> Self {
        self.step(Action::Cancel { task: task.into(), interrupt: false })
    }

    /// Cancels a task's future and asks its body to stop.
    fn interrupt(self, task: &str) -> Self {
        self.step(Action::Cancel { task: task.into(), interrupt: true })
    }

    /// Waits for a future.
    fn wait(self, future: &str, limit: Duration) -> Self {
        self.step(Action::Wait { future: future.into(), limit })
    }

    /// Runs a task when a future is done.
    fn listen(self, future: &str, task: TaskDef) -> Self {
        let (this, task) = self.bring(task);
        this.step(Action::Listen { future: future.into(), task })
    }

    /// Completes a promise.
    fn complete(self, promise: &str) -> Self {
        self.step(Action::Complete { promise: promise.into() })
    }

    /// Binds a server.
    fn bind(self, server: &str) -> Self {
        self.step(Action::Bind { server: server.into() })
    }

    /// Connects a client.
    fn connect(self, client: &str) -> Self {
        self.step(Action::Connect { client: client.into() })
    }

    /// A client writes text.
    fn send(self, client: &str, text: &str) -> Self {
        self.step(Action::Write { text: text.into(), channel: Some(client.into()), then: None })
    }

    /// A handler writes text into its own channel.
    fn reply(self, text: &str) -> Self {
        self.step(Action::Write { text: text.into(), channel: None, then: None })
    }

    /// Runs a task when a client's or a listening channel is closed.
    fn on_closed(self, channel: &str, task: TaskDef) -> Self {
        let (this, task) = self.bring(task);
        this.step(Action::OnClosed { channel: Some(channel.into()), task })
    }

    /// A client or a listening channel is closed.
    fn close(self, channel: &str) -> Self {
        self.step(Action::Close { channel: Some(channel.into()), then: None })
    }

    /// Asks the loop to shut down.
    fn shutdown(self) -> Self {
        self.step(Action::Shutdown { on: None, quiet: None, timeout: None })
    }

    /// Asks this loop to shut down, with a quiet period and a time-out where the policy has them.
    fn shutdown_of(self, on: &str, quiet: Option<Duration>, timeout: Option<Duration>) -> Self {
        self.step(Action::Shutdown { on: Some(on.into()), quiet, timeout })
    }

    /// Takes a permit.
    fn acquire(self, permits: &str, limit: Duration) -> Self {
        self.step(Action::Acquire { permits: permits.into(), limit })
    }

    /// Gives a permit back.
    fn release(self, permits: &str) -> Self {
        self.step(Action::Release { permits: permits.into() })
    }
}
