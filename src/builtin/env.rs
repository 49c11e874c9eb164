//! What all threads of a run share: the scenario with its names as numbers, the loops, the futures, the variables.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use super::RunError;
use super::channels::EMBEDDED;
use super::futures::FutureEntry;
use super::net::{Connections, name_of};
use super::tally::Tally;
use crate::channel::{ChannelTag, PIPELINE_TAG};
use crate::clock::Clock;
use crate::event_loop::{ChannelWarning, Handle, LoopState, Observer, Tag, Warning};
use crate::permits::Permits;
use crate::policy::{FixedDelay, Policy, TimerClock};
use crate::recorder::{Note, Row, record};
use crate::scenario::{Action, Condition, HandlerKind, HandlerSpec, Mode, Record, Scenario};
use crate::time::Time;
use crate::trace::{Counted, EventKind, FutureState, Gauges};

/// Shared by all threads of a run.
#[derive(Debug)]
pub(super) struct Env {
    pub(super) scenario: Scenario,
    pub(super) clock: Clock,
    pub(super) names: Names,
    pub(super) loops: Vec<Handle>,
    /// How many runs of each task there are so far, by its place in the scenario.
    runs: Vec<AtomicU32>,
    /// By the task's place; only those of counted tasks are used.
    pub(super) tallies: Vec<Tally>,
    /// By the name's number; only those that are variables are used.
    variables: Vec<AtomicI64>,
    /// When the scenario began, on the clock.
    start: AtomicU64,
    futures: Mutex<BTreeMap<u16, FutureEntry>>,
    permits: BTreeMap<String, Permits>,
    pub(super) connections: Connections,
}

/// The names of a scenario as numbers, so that a recorded row holds no string. Tasks come first, in their order.
#[derive(Debug)]
pub(super) struct Names {
    all: Vec<Arc<str>>,
    numbers: BTreeMap<Arc<str>, u16>,
}

impl Names {
    pub(super) fn of(scenario: &Scenario) -> Names {
        let mut names = Names { all: Vec::new(), numbers: BTreeMap::new() };
        let tasks = scenario.tasks.iter().map(|task| task.name.as_str());
        let channels = scenario.servers.iter().map(|server| server.name.as_str());
        let channels = channels.chain(scenario.clients.iter().map(|client| client.name.as_str()));
        tasks
            .chain(scenario.promises.iter().map(|promise| promise.name.as_str()))
            .chain(scenario.loops.iter().map(|spec| spec.name.as_str()))
            .chain(scenario.permits.iter().map(|spec| spec.name.as_str()))
            .chain(channels)
            .for_each(|name| names.add(name));
        visit(scenario, &mut |action| match action {
            Action::Mark { label } | Action::Warn { label } => names.add(label),
            Action::Return { value } => names.add(value),
            Action::Set { variable, .. } | Action::Stamp { variable } | Action::Read { variable } => {
                names.add(variable);
            }
            // Line by line, without their ends: as a decoder gives them.
            Action::Write { text, .. } => text.lines().for_each(|line| names.add(line)),
            Action::Embed { messages, .. } => {
                names.add(EMBEDDED);
                messages.iter().for_each(|text| names.add(text));
            }
            Action::If {
                condition: Condition::Equal { variable, .. } | Condition::Elapsed { variable, .. },
                ..
            } => {
                names.add(variable);
            }
            _ => {}
        });
        names
    }

    fn add(&mut self, name: &str) {
        if !self.numbers.contains_key(name) {
            let name: Arc<str> = name.into();
            self.numbers.insert(name.clone(), self.all.len() as u16);
            self.all.push(name);
        }
    }

    /// A name's number. Only names that the scenario contains are asked for.
    pub(super) fn number(&self, name: &str) -> u16 {
        self.known(name).unwrap_or(u16::MAX)
    }

    /// The number of what may be a name.
    pub(super) fn known(&self, name: &str) -> Option<u16> {
        self.numbers.get(name).copied()
    }

    pub(super) fn all(&self) -> &[Arc<str>] {
        &self.all
    }
}

/// Calls `f` with every action of a scenario, nested ones too.
fn visit<'a>(scenario: &'a Scenario, f: &mut impl FnMut(&'a Action)) {
    fn walk<'a>(actions: &'a [Action], f: &mut impl FnMut(&'a Action)) {
        for action in actions {
            f(action);
            match action {
                Action::OnRun { body, .. } | Action::Repeat { body, .. } | Action::Paced { body, .. } => {
                    walk(body, f);
                }
                Action::Catch { body, handler } => {
                    walk(body, f);
                    walk(handler, f);
                }
                Action::If { then, otherwise, .. } => {
                    walk(then, f);
                    walk(otherwise, f);
                }
                _ => {}
            }
        }
    }
    fn handlers<'a>(handlers: &'a [HandlerSpec], f: &mut impl FnMut(&'a Action)) {
        for handler in handlers {
            if let HandlerKind::Reactor(reactions) = &handler.kind {
                reactions.iter().for_each(|reaction| walk(&reaction.body, f));
            }
        }
    }
    scenario.threads.iter().for_each(|thread| walk(&thread.steps, f));
    scenario.tasks.iter().for_each(|task| walk(&task.body, f));
    for server in &scenario.servers {
        handlers(&server.parent, f);
        handlers(&server.child, f);
    }
    scenario.clients.iter().for_each(|client| handlers(&client.handlers, f));
}

/// Whether a policy has everything that a scenario needs.
pub(super) fn supports(scenario: &Scenario, policy: &Policy) -> Result<(), RunError> {
    let mut needs_fixed_delay = false;
    visit(scenario, &mut |action| {
        needs_fixed_delay |= matches!(action, Action::Periodic { mode: Mode::FixedDelay, .. });
    });
    if needs_fixed_delay && policy.fixed_delay == FixedDelay::Unsupported {
        return Err(RunError::Unsupported { what: "fixed delay" });
    }
    Ok(())
}

/// Whether real time has everything that a scenario needs: nobody sets a machine's clock for a probe.
pub(super) fn supports_real(scenario: &Scenario, policy: &Policy) -> Result<(), RunError> {
    if scenario.model.is_some() {
        return Err(RunError::Unsupported { what: "model in real time" });
    }
    let by_calendar = |spec: &crate::scenario::LoopSpec| spec.policy(*policy).clock == TimerClock::Wall;
    if scenario.loops.iter().any(by_calendar) {
        return Err(RunError::Unsupported { what: "timers on the wall clock in real time" });
    }
    Ok(())
}

impl Env {
    pub(super) fn new(
        scenario: &Scenario,
        clock: Clock,
        names: Names,
        loops: Vec<Handle>,
        connections: Connections,
    ) -> Arc<Env> {
        let futures = scenario.promises.iter().map(|promise| {
            let owner = scenario.loops.iter().position(|l| l.name == promise.owner).unwrap_or(0);
            (names.number(&promise.name), FutureEntry::Value(loops[owner].promise()))
        });
        let permits =
            scenario.permits.iter().map(|spec| (spec.name.clone(), Permits::new(spec.count, clock.clone())));
        Arc::new(Env {
            permits: permits.collect(),
            clock,
            futures: Mutex::new(futures.collect()),
            loops,
            runs: scenario.tasks.iter().map(|_| AtomicU32::new(0)).collect(),
            tallies: scenario.tasks.iter().map(|_| Tally::default()).collect(),
            variables: names.all.iter().map(|_| AtomicI64::new(0)).collect(),
            start: AtomicU64::new(0),
            scenario: scenario.clone(),
            connections,
            names,
        })
    }

    /// The scenario begins at this instant of the clock; said before any outside thread begins.
    pub(super) fn set_start(&self, start: Time) {
        self.start.store(start.as_nanos(), Ordering::Relaxed);
    }

    /// How long it is until this instant of the scenario.
    pub(super) fn time_until(&self, at: Time) -> Duration {
        self.instant(at).since(self.clock.now())
    }

    /// An instant of the scenario on the clock.
    pub(super) fn instant(&self, at: Time) -> Time {
        at.after(Duration::from_nanos(self.start.load(Ordering::Relaxed)))
    }

    /// The loop of that name, or the given one.
    pub(super) fn loop_named(&self, name: Option<&str>, otherwise: usize) -> usize {
        name.and_then(|name| self.scenario.loops.iter().position(|l| l.name == name)).unwrap_or(otherwise)
    }

    /// The number of the next run of a task; the first is 1.
    pub(super) fn next_run(&self, task: u16) -> u32 {
        self.runs[usize::from(task)].fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) fn variable(&self, name: &str) -> &AtomicI64 {
        &self.variables[usize::from(self.names.number(name))]
    }

    pub(super) fn add_future(&self, task: u16, entry: FutureEntry) {
        self.lock_futures().insert(task, entry);
    }

    /// The future of that name; a loop's is that of its end.
    pub(super) fn future(&self, name: &str) -> Option<FutureEntry> {
        let end = || {
            let on = self.scenario.loops.iter().position(|spec| spec.name == name)?;
            Some(FutureEntry::Operation(self.loops[on].termination().clone()))
        };
        self.future_of(self.names.number(name)).or_else(end)
    }

    /// The permits of that name. Only those that the scenario has are asked for.
    pub(super) fn permits(&self, name: &str) -> Option<&Permits> {
        self.permits.get(name)
    }

    pub(super) fn future_of(&self, number: u16) -> Option<FutureEntry> {
        self.lock_futures().get(&number).cloned()
    }

    /// The state of every future, by name.
    pub(super) fn future_states(&self) -> BTreeMap<String, FutureState> {
        let futures = self.lock_futures();
        futures
            .iter()
            .map(|(&name, entry)| (self.names.all[usize::from(name)].to_string(), entry.state()))
            .collect()
    }

    /// How much of a task's runs is recorded.
    pub(super) fn record_of(&self, task: u16) -> Record {
        self.scenario.tasks[usize::from(task)].record
    }

    /// What was counted of the tasks that are counted, times from `start`.
    pub(super) fn counted(&self, start: Time) -> BTreeMap<String, Counted> {
        let tallies = self.scenario.tasks.iter().zip(&self.tallies);
        tallies.filter_map(|(task, tally)| Some((task.name.clone(), tally.counted(start)?))).collect()
    }

    /// What a loop counts now.
    pub(super) fn gauges(&self, on: usize) -> Gauges {
        let (handle, counters) = (&self.loops[on], self.loops[on].counters());
        Gauges {
            pending_tasks: handle.pending_tasks() as u64,
            pending_timers: handle.pending_timers() as u64,
            tasks: counters.tasks(),
            timers: counters.timers(),
            polls: counters.polls(),
            wakeups: counters.wakeups(),
            mean_task_time: counters.mean_task_time(),
            io_time: counters.io_time(),
            state: handle.state(),
        }
    }

    /// Lets go of everything that refers back to the loops.
    pub(super) fn clear(&self) {
        self.lock_futures().clear();
        self.connections.clear();
        self.loops.iter().for_each(Handle::discard);
    }

    fn lock_futures(&self) -> MutexGuard<'_, BTreeMap<u16, FutureEntry>> {
        self.futures.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Records what a loop warns of, and its states.
#[derive(Debug)]
pub(super) struct RecordLoop {
    /// The loop's name, as a number.
    name: u16,
}

impl RecordLoop {
    pub(super) fn new(name: u16) -> RecordLoop {
        RecordLoop { name }
    }
}

impl Observer for RecordLoop {
    fn warned(&self, tag: Tag, warning: Warning<'_>) {
        // A task of a pipeline has no name in the scenario.
        let task = (tag != PIPELINE_TAG).then_some(tag.0 as u16);
        let row = Row { task, ..Row::new(EventKind::Warned) };
        record(match warning {
            Warning::Raised(_) => row.note(Note::Words("task raised an error")),
            Warning::Slow(took) => Row { value: Some(took), ..row.note(Note::Words("slow task")) },
        });
    }

    fn channel_warned(&self, channel: ChannelTag, warning: ChannelWarning<'_>) {
        let words = match warning {
            ChannelWarning::Discarded => "a message reached the tail and was dropped",
            ChannelWarning::Exception(_) => "an error reached the tail",
        };
        let channel = Some(name_of(channel));
        record(Row { channel, ..Row::new(EventKind::Warned).note(Note::Words(words)) });
    }

    fn moved(&self, to: LoopState) {
        record(Row::new(EventKind::State).note(Note::Outcome(self.name, to.word())));
    }
}
