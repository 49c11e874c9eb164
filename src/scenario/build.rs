//! The builder: a scenario written in Rust reads like the text that it shows.

use std::time::Duration;

use super::{
    Action, ChannelEvent, ClientSpec, Condition, Environment, HandlerSpec, LoopSpec, PermitSpec, PromiseSpec,
    Reaction, Record, Role, Scenario, Script, ServerSpec, Steps, TaskSpec,
};
use crate::choice::Choice;
use crate::time::Time;

impl Scenario {
    /// One loop and one outside thread, `main`.
    pub fn one_loop(window: Duration) -> Scenario {
        Scenario::loops(&["loop-1"], window)
    }

    /// Several loops and one outside thread, `main`.
    pub fn loops(names: &[&str], window: Duration) -> Scenario {
        Scenario {
            loops: names.iter().map(|&name| LoopSpec::new(name)).collect(),
            threads: vec![Script { name: "main".into(), steps: Vec::new() }],
            tasks: Vec::new(),
            permits: Vec::new(),
            promises: Vec::new(),
            servers: Vec::new(),
            clients: Vec::new(),
            window,
            seed: super::first_seed(),
            model: None,
            environment: Environment::default(),
        }
    }

    /// Makes loops the threads of a business group, or peers.
    ///
    /// # Panics
    /// When no loop has that name: a defect of the probe, found by building its scenario.
    pub fn role(&mut self, role: Role, names: &[&str]) {
        for name in names {
            let spec = self.loops.iter_mut().find(|spec| spec.name == *name);
            spec.expect("the scenario has a loop of that name").role = role;
        }
    }

    /// Makes one loop differ from the policy.
    ///
    /// # Panics
    /// When no loop has that name: a defect of the probe, found by building its scenario.
    pub fn choose(&mut self, on: &str, choice: Choice) {
        self.loop_spec(on).choices.push(choice);
    }

    /// A loop, to be set up.
    ///
    /// # Panics
    /// As [`Scenario::choose`].
    pub fn loop_spec(&mut self, name: &str) -> &mut LoopSpec {
        let spec = self.loops.iter_mut().find(|spec| spec.name == name);
        spec.expect("the scenario has a loop of that name")
    }

    /// Permits, for [`Steps::acquire`] and [`Steps::release`].
    pub fn permits(&mut self, name: &str, count: u64) {
        self.permits.push(PermitSpec { name: name.into(), count });
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

    /// A server. Its handlers' bodies bring their tasks with them.
    pub fn server(&mut self, spec: ServerSpec) {
        self.servers.push(spec);
    }

    /// A client.
    pub fn client(&mut self, spec: ClientSpec) {
        self.clients.push(spec);
    }

    /// A task that only handlers name.
    pub fn add(&mut self, task: TaskDef) {
        self.add_task(task);
    }

    /// A handler with a reaction: what it does at an event, or at the reading of one message. The tasks that the body
    /// brings join the scenario.
    pub fn react(
        &mut self,
        handler: HandlerSpec,
        at: ChannelEvent,
        message: Option<&str>,
        body: impl FnOnce(TaskDef) -> TaskDef,
    ) -> HandlerSpec {
        let body = body(task(&handler.name));
        for task in body.nested {
            self.add_task(task);
        }
        handler.react(Reaction { at, message: message.map(Into::into), body: body.spec.body })
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
    /// Counts its runs and records none of them.
    pub fn counted(mut self) -> TaskDef {
        self.spec.record = Record::Count;
        self
    }

    /// Ends the body with a value for its future.
    pub fn returns(self, value: &str) -> TaskDef {
        self.step(Action::Return { value: value.into() })
    }

    /// Ends the body here if a cancel asked it to stop.
    pub fn look(self) -> TaskDef {
        self.step(Action::Look)
    }

    /// Does the same a number of times.
    pub fn repeat(self, times: u64, body: impl FnOnce(TaskDef) -> TaskDef) -> TaskDef {
        let times = u32::try_from(times).unwrap_or(u32::MAX);
        self.inner(body, |body| Action::Repeat { times, body })
    }

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

impl ThreadScript<'_> {
    /// Gives the same task to a loop a number of times.
    pub fn execute_times(self, times: u64, on: &str, task: TaskDef) -> Self {
        let (this, task) = self.bring(task);
        this.step(Action::Repeat {
            times: u32::try_from(times).unwrap_or(u32::MAX),
            body: vec![Action::Execute { task, on: Some(on.into()) }],
        })
    }
}

impl ThreadScript<'_> {
    /// Gives the same task to a loop a number of times, on a grid of instants from now on.
    pub fn execute_paced(self, times: u64, every: Duration, on: &[&str], task: TaskDef) -> Self {
        let (this, task) = self.bring(task);
        let give = |on: &&str| Action::Execute { task: task.clone(), on: Some((*on).into()) };
        this.step(Action::Paced {
            times: u32::try_from(times).unwrap_or(u32::MAX),
            every,
            body: on.iter().map(give).collect(),
        })
    }

    /// Does the same a number of times.
    pub fn repeat(self, times: u64, body: impl FnOnce(TaskDef) -> TaskDef) -> Self {
        let times = u32::try_from(times).unwrap_or(u32::MAX);
        self.inner(body, |body| Action::Repeat { times, body })
    }

    /// Does the same a number of times, on a grid of instants from now on.
    pub fn paced(self, times: u64, every: Duration, body: impl FnOnce(TaskDef) -> TaskDef) -> Self {
        let times = u32::try_from(times).unwrap_or(u32::MAX);
        self.inner(body, |body| Action::Paced { times, every, body })
    }

    fn inner(self, body: impl FnOnce(TaskDef) -> TaskDef, wrap: impl FnOnce(Vec<Action>) -> Action) -> Self {
        let TaskDef { spec, nested } = body(task("steps"));
        let ThreadScript { scenario, thread } = self;
        for task in nested {
            scenario.add_task(task);
        }
        ThreadScript { scenario, thread }.step(wrap(spec.body))
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
