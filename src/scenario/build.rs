//! The builder: a scenario written in Rust reads like the text that it shows.

use std::time::Duration;

use super::{
    Action, Condition, Environment, LoopSpec, MissedTicks, Mode, PromiseSpec, Record, Scenario, Script, TaskSpec,
};
use crate::time::Time;

impl Scenario {
    /// One loop and one outside thread, `main`.
    pub fn one_loop(window: Duration) -> Scenario {
        Scenario::loops(&["loop-1"], window)
    }

    /// Several loops and one outside thread, `main`.
    pub fn loops(names: &[&str], window: Duration) -> Scenario {
        Scenario {
            loops: names.iter().map(|&name| LoopSpec { name: name.into(), slow_task: None }).collect(),
            threads: vec![Script { name: "main".into(), steps: Vec::new() }],
            tasks: Vec::new(),
            promises: Vec::new(),
            window,
            environment: Environment::default(),
        }
    }

    /// The steps of `main`.
    pub fn main(&mut self) -> ThreadScript<'_> {
        ThreadScript { scenario: self, thread: 0 }
    }

    /// The steps of another outside thread, which begins at the start as `main` does.
    pub fn thread(&mut self, name: &str) -> ThreadScript<'_> {
        let thread = self.threads.iter().position(|script| script.name == name).unwrap_or_else(|| {
            self.threads.push(Script { name: name.into(), steps: Vec::new() });
            self.threads.len() - 1
        });
        ThreadScript { scenario: self, thread }
    }

    /// A promise of a loop, for [`Steps::complete`], [`Steps::listen`] and [`Steps::wait`].
    pub fn promise(&mut self, name: &str, owner: &str) {
        self.promises.push(PromiseSpec { name: name.into(), owner: owner.into() });
    }

    fn add_task(&mut self, def: TaskDef) -> String {
        let TaskDef { spec, nested } = def;
        let name = spec.name.clone();
        self.tasks.push(spec);
        for task in nested {
            self.add_task(task);
        }
        name
    }
}

/// A task to be: its name, what a run does, and the tasks that it brings with it.
#[derive(Clone, Debug)]
pub struct TaskDef {
    spec: TaskSpec,
    nested: Vec<TaskDef>,
}

/// A task that does nothing yet.
pub fn task(name: &str) -> TaskDef {
    TaskDef { spec: TaskSpec { name: name.into(), body: Vec::new(), record: Record::Each }, nested: Vec::new() }
}

impl TaskDef {
    /// Records only the starts of its runs.
    pub fn starts_only(mut self) -> TaskDef {
        self.spec.record = Record::Starts;
        self
    }

    /// What it does in one run only (the first is 1).
    pub fn on_run(self, run: u32, body: impl FnOnce(TaskDef) -> TaskDef) -> TaskDef {
        self.inner(body, |body| Action::OnRun { run, body })
    }

    /// Tries a body; an error that it raises runs the handler instead of leaving the task.
    pub fn catch(
        self,
        body: impl FnOnce(TaskDef) -> TaskDef,
        handler: impl FnOnce(TaskDef) -> TaskDef,
    ) -> TaskDef {
        let handler = handler(task(&self.spec.name));
        let mut this = self.inner(body, |body| Action::Catch { body, handler: handler.spec.body });
        this.nested.extend(handler.nested);
        this
    }

    /// Chooses by a condition.
    pub fn when(
        self,
        condition: Condition,
        then: impl FnOnce(TaskDef) -> TaskDef,
        otherwise: impl FnOnce(TaskDef) -> TaskDef,
    ) -> TaskDef {
        let otherwise = otherwise(task(&self.spec.name));
        let mut this = self.inner(then, |then| Action::If { condition, then, otherwise: otherwise.spec.body });
        this.nested.extend(otherwise.nested);
        this
    }

    fn inner(
        mut self,
        body: impl FnOnce(TaskDef) -> TaskDef,
        wrap: impl FnOnce(Vec<Action>) -> Action,
    ) -> TaskDef {
        let inner = body(task(&self.spec.name));
        self.spec.body.push(wrap(inner.spec.body));
        self.nested.extend(inner.nested);
        self
    }
}

/// The steps of an outside thread, in the order in which they are written.
pub struct ThreadScript<'a> {
    scenario: &'a mut Scenario,
    thread: usize,
}

impl ThreadScript<'_> {
    /// Waits until this instant of the scenario.
    pub fn until(self, at: Duration) -> Self {
        self.step(Action::Until { at: Time::ZERO.after(at) })
    }
}

impl Steps for ThreadScript<'_> {
    fn step(self, action: Action) -> Self {
        self.scenario.threads[self.thread].steps.push(action);
        self
    }

    fn bring(self, task: TaskDef) -> (Self, String) {
        let name = self.scenario.add_task(task);
        (self, name)
    }
}

impl Steps for TaskDef {
    fn step(mut self, action: Action) -> Self {
        self.spec.body.push(action);
        self
    }

    fn bring(mut self, task: TaskDef) -> (Self, String) {
        let name = task.spec.name.clone();
        self.nested.push(task);
        (self, name)
    }
}

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

    /// Gives a task to the loop.
    fn execute(self, task: TaskDef) -> Self {
        let (this, task) = self.bring(task);
        this.step(Action::Execute { task, on: None })
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
        self.step(Action::Cancel { task: task.into() })
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

    /// Asks the loop to stop.
    fn shutdown(self) -> Self {
        self.step(Action::Shutdown { on: None })
    }
}
