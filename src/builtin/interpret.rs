//! Carries actions out: the body of a task, or the steps of an outside thread.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::env::{Env, FutureEntry};
use super::net::name_of;
use crate::channel::{Channel, Context};
use crate::event_loop::{Executor, Rejected, Repeat, Tag, Task};
use crate::recorder::{Note, Row, record};
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

    pub(super) fn note(&self, kind: EventKind, note: Note) {
        let channel = self.at.as_ref().map(|ctx| name_of(ctx.channel().tag()));
        record(Row { task: self.task, run: self.run, channel, ..Row::new(kind).note(note) });
    }
}

impl Env {
    /// One run of a task, for the handler that gave it where one did.
    pub(super) fn run_body(self: &Arc<Self>, task: u16, on: usize, deadline: Option<Time>, at: Option<&Context>) {
        let spec = &self.scenario.tasks[usize::from(task)];
        let run = self.begin_run(task);
        let place = Place { task: Some(task), run, on, at: at.cloned(), accepted: None };
        let channel = at.map(|ctx| name_of(ctx.channel().tag()));
        record(Row { run, deadline, channel, ..Row::new(EventKind::Start).task(task) });
        match catch_unwind(AssertUnwindSafe(|| self.carry_out(&spec.body, &place))) {
            Ok(()) if spec.record == Record::Starts => {}
            Ok(()) => place.note(EventKind::End, Note::None),
            Err(payload) => {
                if !payload.is::<WorldEnded>() {
                    place.note(EventKind::Threw, Note::None);
                }
                resume_unwind(payload);
            }
        }
    }

    /// A list of actions.
    pub(super) fn carry_out(self: &Arc<Self>, actions: &[Action], place: &Place) {
        for action in actions {
            self.act(action, place);
        }
    }

    fn act(self: &Arc<Self>, action: &Action, place: &Place) {
        match action {
            Action::Until { at } => self.clock.spend(self.time_until(*at)),
            Action::Block { time } => self.clock.spend(*time),
            Action::Spin { time } => self.clock.burn(*time),
            Action::Mark { label } => place.note(EventKind::Mark, self.name(label)),
            Action::Warn { label } => place.note(EventKind::Warned, self.name(label)),
            // Not panic!: nothing went wrong in this program, so no hook may print a message.
            Action::Throw => resume_unwind(Box::new("raised by the scenario")),
            Action::Catch { body, handler } => self.catch(body, handler, place),
            Action::OnRun { run, body } if *run == place.run => self.carry_out(body, place),
            Action::OnRun { .. } => {}
            Action::If { condition, then, otherwise } => {
                self.carry_out(if self.decide(condition) { then } else { otherwise }, place);
            }
            Action::Set { variable, value } => self.variable(variable).store(*value, Ordering::Relaxed),
            Action::Stamp { variable } => {
                let now = i64::try_from(self.clock.now().as_nanos()).unwrap_or(i64::MAX);
                self.variable(variable).store(now, Ordering::Relaxed);
            }
            Action::Listen { future, task } => self.listen(future, task, place),
            Action::Complete { promise } => {
                if let Some(entry) = self.future(promise) {
                    place.note(EventKind::Completed, self.name(promise));
                    entry.promise.succeed(());
                }
            }
            Action::Cancel { task } => self.cancel(task, place),
            Action::Wait { future, limit } => {
                let done = self.future(future).map(|entry| entry.promise.wait(*limit));
                let words = match done {
                    Some(true) => "done",
                    Some(false) => "stopped at the limit",
                    None => "no such future yet",
                };
                place.note(EventKind::Waited, Note::Outcome(self.names.number(future), words));
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
            Action::Shutdown { on } => {
                place.note(EventKind::StopAsked, Note::None);
                self.loops[self.loop_named(on.as_deref(), place.on)].stop();
            }
            Action::Execute { task, on }
            | Action::Submit { task, on }
            | Action::Schedule { task, on, .. }
            | Action::Periodic { task, on, .. } => {
                let on = self.target(on.as_deref(), place);
                let task = self.names.number(task);
                record(Row::new(EventKind::Submitted).task(task));
                if self.hand_over(action, task, on, place.at.clone()).is_err() {
                    record(Row::new(EventKind::Rejected).task(task));
                }
            }
        }
    }

    /// Gives a task to a loop in one of the four ways.
    fn hand_over(
        self: &Arc<Self>,
        action: &Action,
        task: u16,
        on: usize,
        at: Option<Context>,
    ) -> Result<(), Rejected> {
        let (tag, handle, env) = (Tag(u32::from(task)), &self.loops[on], self.clone());
        let (after, repeat) = match action {
            Action::Submit { .. } => {
                let promise = handle.submit(tag, move || env.run_body(task, on, None, at.as_ref()))?;
                self.add_future(task, FutureEntry { promise, timer: None });
                return Ok(());
            }
            Action::Schedule { after, .. } => (*after, None),
            Action::Periodic { mode, first, period, missed, .. } => {
                let missed = missed.unwrap_or(handle.policy().missed);
                (*first, Some(Repeat { mode: *mode, period: *period, missed }))
            }
            _ => {
                return handle
                    .execute(Task { tag, work: Box::new(move || env.run_body(task, on, None, at.as_ref())) });
            }
        };
        let timer = handle.schedule(tag, after, repeat, move |firing| {
            env.run_body(task, on, Some(firing.deadline), at.as_ref())
        })?;
        self.add_future(task, FutureEntry { promise: timer.future().clone(), timer: Some(timer) });
        Ok(())
    }

    fn catch(self: &Arc<Self>, body: &[Action], handler: &[Action], place: &Place) {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| self.carry_out(body, place))) {
            if payload.is::<WorldEnded>() {
                resume_unwind(payload);
            }
            self.carry_out(handler, place);
        }
    }

    fn listen(self: &Arc<Self>, future: &str, task: &str, place: &Place) {
        let Some(entry) = self.future(future) else {
            place.note(EventKind::Waited, Note::Outcome(self.names.number(future), "no such future yet"));
            return;
        };
        let (env, task, on, at) = (self.clone(), self.names.number(task), place.on, place.at.clone());
        entry.promise.listen(Tag(u32::from(task)), move || env.run_body(task, on, None, at.as_ref()));
    }

    fn cancel(&self, task: &str, place: &Place) {
        let took = self.future(task).map(|entry| match &entry.timer {
            Some(timer) => timer.cancel(),
            None => entry.promise.cancel(),
        });
        let words = match took {
            Some(true) => "cancelled",
            Some(false) => "not cancelled: done or running",
            None => "no such future yet",
        };
        place.note(EventKind::Cancelled, Note::Outcome(self.names.number(task), words));
    }

    fn decide(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Equal { variable, value } => self.variable(variable).load(Ordering::Relaxed) == *value,
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
