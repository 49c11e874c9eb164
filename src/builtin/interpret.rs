//! Carries actions out: the body of a task, or the steps of an outside thread.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::env::Env;
use super::futures::{FutureEntry, Value};
use super::net::name_of;
use crate::channel::{Channel, Context};
use crate::event_loop::{Grace, Tag};
use crate::promise::Waited;
use crate::recorder::{Note, Row, record, record_gauges};
use crate::scenario::{Action, Condition, Record};
use crate::time::Time;
use crate::trace::EventKind;
use crate::world::WorldEnded;

/// Where actions are carried out: by which task and run, on which loop, by which channel's handler.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) task: Option<u16>,
    pub(super) run: u32,
    pub(super) on: usize,
    /// The handler whose reaction this is, or that gave the task.
    pub(super) at: Option<Context>,
    /// The connection that a listening channel's handler sees.
    pub(super) accepted: Option<Channel>,
}

impl Place {
    /// An outside thread's.
    pub(super) const OUTSIDE: Place = Place { task: None, run: 0, on: 0, at: None, accepted: None };

    fn row(&self, kind: EventKind, note: Note) -> Row {
        let channel = self.at.as_ref().map(|ctx| name_of(ctx.channel().tag()));
        Row { task: self.task, run: self.run, channel, ..Row::new(kind).note(note) }
    }

    pub(super) fn note(&self, kind: EventKind, note: Note) {
        record(self.row(kind, note));
    }
}

/// Which run of which task, on which loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) task: u16,
    /// The first is 1.
    pub(super) number: u32,
    pub(super) on: usize,
}

/// Whether a body goes on after an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// With the next action.
    Next,
    /// It ends here, with this value.
    Leave(Value),
}

thread_local! {
    /// How many runs stand inside one another on this thread.
    static DEPTH: Cell<u64> = const { Cell::new(0) };
}

impl Env {
    /// One run of a task, for the handler that gave it where one did; the value that it returns.
    pub(super) fn run_body(self: &Arc<Self>, which: Run, deadline: Option<Time>, at: Option<&Context>) -> Value {
        let spec = &self.scenario.tasks[usize::from(which.task)];
        let place =
            Place { task: Some(which.task), run: which.number, on: which.on, at: at.cloned(), accepted: None };
        let depth = DEPTH.get() + 1;
        DEPTH.set(depth);
        let began = self.run_begins(&place, spec.record, deadline, depth);
        let result = catch_unwind(AssertUnwindSafe(|| self.carry_out(&spec.body, &place)));
        DEPTH.set(depth - 1);
        match (&result, spec.record) {
            (Ok(_), Record::Starts) => {}
            (Ok(_), Record::Each) => place.note(EventKind::End, Note::None),
            (_, Record::Count) => self.tallies[usize::from(which.task)].ends(began, self.clock.now()),
            (Err(payload), _) if payload.is::<WorldEnded>() => {}
            (Err(_), _) => place.note(EventKind::Threw, Note::None),
        }
        match result {
            Ok(Flow::Leave(value)) => value,
            Ok(Flow::Next) => None,
            Err(payload) => resume_unwind(payload),
        }
    }

    fn run_begins(&self, place: &Place, kept: Record, deadline: Option<Time>, depth: u64) -> Time {
        let began = self.clock.now();
        match (kept, place.task) {
            (Record::Count, Some(task)) => self.tallies[usize::from(task)].begins(began, depth),
            _ => record(Row { deadline, ..place.row(EventKind::Start, Note::None) }),
        }
        began
    }

    /// A list of actions, up to one that ends the body.
    pub(super) fn carry_out(self: &Arc<Self>, actions: &[Action], place: &Place) -> Flow {
        for action in actions {
            if let Flow::Leave(value) = self.act(action, place) {
                return Flow::Leave(value);
            }
        }
        Flow::Next
    }

    fn act(self: &Arc<Self>, action: &Action, place: &Place) -> Flow {
        match action {
            Action::Return { value } => return Flow::Leave(Some(self.names.number(value))),
            Action::Look => return self.look(place),
            Action::Catch { body, handler } => return self.catch(body, handler, place),
            Action::OnRun { run, body } if *run == place.run => return self.carry_out(body, place),
            Action::OnRun { .. } => {}
            Action::Repeat { times, body } => return self.repeat(*times, body, place),
            Action::If { condition, then, otherwise } => {
                let holds = self.decide(condition, place);
                return self.carry_out(if holds { then } else { otherwise }, place);
            }
            Action::Until { at } => self.clock.spend(self.time_until(*at)),
            Action::Block { time } => self.clock.spend(*time),
            Action::Spin { time } => self.clock.burn(*time),
            Action::Mark { label } => place.note(EventKind::Mark, self.name(label)),
            Action::Warn { label } => place.note(EventKind::Warned, self.name(label)),
            // Not panic!: nothing went wrong in this program, so no hook may print a message.
            Action::Throw => resume_unwind(Box::new("raised by the scenario")),
            Action::Set { variable, value } => self.variable(variable).store(*value, Ordering::Relaxed),
            Action::Stamp { variable } => {
                let now = i64::try_from(self.clock.now().as_nanos()).unwrap_or(i64::MAX);
                self.variable(variable).store(now, Ordering::Relaxed);
            }
            Action::Read { variable } => {
                let value = self.variable(variable).load(Ordering::Relaxed);
                place.note(EventKind::Read, Note::Variable(self.names.number(variable), value));
            }
            Action::Listen { future, task } => self.listen(future, task, place),
            Action::Complete { promise } => self.complete(promise, place),
            Action::Cancel { task, interrupt } => self.cancel(task, *interrupt, place),
            Action::Wait { future, limit } => self.wait(future, *limit, place),
            Action::Shutdown { on, quiet, timeout } => {
                let on = self.loop_named(on.as_deref(), place.on);
                let default = Grace::default();
                place.note(EventKind::StopAsked, self.name(&self.scenario.loops[on].name));
                self.loops[on].shutdown(Grace {
                    quiet: quiet.unwrap_or(default.quiet),
                    timeout: timeout.unwrap_or(default.timeout),
                });
            }
            Action::Acquire { permits, limit } => {
                if self.permits(permits).is_some_and(|permits| !permits.acquire(*limit)) {
                    let note = Note::Outcome(self.names.number(permits), "stopped at the limit");
                    place.note(EventKind::Waited, note);
                }
            }
            Action::Release { permits } => {
                if let Some(permits) = self.permits(permits) {
                    permits.release();
                }
            }
            Action::Paced { times, every, body } => return self.paced(*times, *every, body, place),
            Action::Gauges { on } => {
                let gauges = self.gauges(self.loop_named(on.as_deref(), place.on));
                record_gauges(place.row(EventKind::Gauges, Note::None), gauges);
            }
            Action::Wake { on } => {
                place.note(EventKind::Woken, Note::None);
                self.loops[self.loop_named(on.as_deref(), place.on)].wake();
            }
            Action::Bind { .. }
            | Action::Connect { .. }
            | Action::StopReconnecting { .. }
            | Action::Write { .. }
            | Action::Close { .. }
            | Action::CloseAccepted { .. }
            | Action::OnClosed { .. }
            | Action::EndOutput { .. }
            | Action::AskLoop
            | Action::AskRemote
            | Action::AskOpen
            | Action::Compose { .. }
            | Action::Embed { .. } => self.act_on_channels(action, place),
            Action::Execute { task, on }
            | Action::Submit { task, on }
            | Action::Schedule { task, on, .. }
            | Action::ScheduleAt { task, on, .. }
            | Action::Spread { task, on, .. }
            | Action::Periodic { task, on, .. } => {
                let on = self.target(on.as_deref(), place);
                self.hand_over(action, self.names.number(task), on, place.at.as_ref());
            }
        }
        Flow::Next
    }

    fn repeat(self: &Arc<Self>, times: u32, body: &[Action], place: &Place) -> Flow {
        for _ in 0..times {
            if let Flow::Leave(value) = self.carry_out(body, place) {
                return Flow::Leave(value);
            }
        }
        Flow::Next
    }

    fn paced(self: &Arc<Self>, times: u32, every: Duration, body: &[Action], place: &Place) -> Flow {
        let began = self.clock.now();
        for step in 0..times {
            let at = began.after(every.saturating_mul(step));
            let early = at.since(self.clock.now());
            if !early.is_zero() {
                self.clock.spend(early);
            }
            if let Flow::Leave(value) = self.carry_out(body, place) {
                return Flow::Leave(value);
            }
        }
        Flow::Next
    }

    /// Ends the body when a cancel asked this run to stop.
    fn look(&self, place: &Place) -> Flow {
        let entry = place.task.and_then(|task| self.future_of(task));
        if entry.is_some_and(|entry| entry.is_interrupted()) {
            place.note(EventKind::Interrupted, Note::None);
            return Flow::Leave(None);
        }
        Flow::Next
    }

    fn catch(self: &Arc<Self>, body: &[Action], handler: &[Action], place: &Place) -> Flow {
        match catch_unwind(AssertUnwindSafe(|| self.carry_out(body, place))) {
            Ok(flow) => flow,
            Err(payload) if payload.is::<WorldEnded>() => resume_unwind(payload),
            Err(_) => self.carry_out(handler, place),
        }
    }

    fn complete(&self, promise: &str, place: &Place) {
        if let Some(FutureEntry::Value(entry)) = self.future(promise) {
            place.note(EventKind::Completed, self.name(promise));
            entry.succeed(None);
        }
    }

    fn wait(&self, future: &str, limit: Duration, place: &Place) {
        let number = self.names.number(future);
        let entry = self.future(future);
        let waited = entry.as_ref().map(|entry| (entry, entry.wait(limit)));
        let note = match waited {
            None => Note::Outcome(number, "no such future yet"),
            Some((_, Waited::NotDone)) => Note::Outcome(number, "stopped at the limit"),
            Some((_, Waited::Refused)) => Note::Outcome(number, "refused: blocking operation"),
            Some((entry, Waited::Done)) if entry.is_unsupported() => {
                Note::Outcome(number, "failed: unsupported operation")
            }
            Some((entry, Waited::Done)) => {
                entry.value().map_or(Note::Outcome(number, "done"), |value| Note::Value(number, value))
            }
        };
        place.note(EventKind::Waited, note);
        if let Some((_, Waited::Refused)) = waited {
            // Not panic!, as with an error that the scenario raises.
            resume_unwind(Box::new("blocking operation"));
        }
    }

    fn listen(self: &Arc<Self>, future: &str, task: &str, place: &Place) {
        let Some(entry) = self.future(future) else {
            place.note(EventKind::Waited, Note::Outcome(self.names.number(future), "no such future yet"));
            return;
        };
        let (env, task, on, at) = (self.clone(), self.names.number(task), place.on, place.at.clone());
        entry.listen(Tag(u32::from(task)), move || {
            let run = Run { task, number: env.next_run(task), on };
            env.run_body(run, None, at.as_ref());
        });
    }

    fn cancel(&self, task: &str, interrupt: bool, place: &Place) {
        let words = match self.future(task).map(|entry| entry.cancel(interrupt)) {
            Some(true) => "cancelled",
            Some(false) => "not cancelled: done or running",
            None => "no such future yet",
        };
        place.note(EventKind::Cancelled, Note::Outcome(self.names.number(task), words));
    }

    fn decide(&self, condition: &Condition, place: &Place) -> bool {
        match condition {
            Condition::Equal { variable, value } => self.variable(variable).load(Ordering::Relaxed) == *value,
            Condition::RunBelow { run } => place.run < *run,
            Condition::NestedBelow { depth } => DEPTH.get() < *depth,
            Condition::Elapsed { variable, at_least } => {
                let stamp = self.variable(variable).load(Ordering::Relaxed);
                let stamp = Time::from_nanos(u64::try_from(stamp).unwrap_or(0));
                stamp == Time::ZERO || self.clock.now().since(stamp) >= *at_least
            }
        }
    }

    /// The loop that an action is for; `channel` is the handler's channel's.
    fn target(&self, on: Option<&str>, place: &Place) -> usize {
        match (on, &place.at) {
            (Some("channel"), Some(ctx)) => self.loop_of(ctx.channel()),
            (on, _) => self.loop_named(on, place.on),
        }
    }

    fn name(&self, name: &str) -> Note {
        Note::Name(self.names.number(name))
    }
}
