//! Gives a scenario's tasks to the loops, in each of the ways there are.

use std::sync::Arc;
use std::time::Duration;

use super::env::Env;
use super::futures::FutureEntry;
use crate::channel::Context;
use crate::event_loop::{Executor, Firing, Handle, Rejected, Repeat, Scheduled, Tag, Task};
use crate::random::Random;
use crate::recorder::{Row, record};
use crate::scenario::{Action, Record};
use crate::time::nanos;
use crate::trace::EventKind;

impl Env {
    /// Gives a task to a loop and records that it did, and whether the loop refused it. `at` is the handler that gives it.
    pub(super) fn hand_over(self: &Arc<Self>, action: &Action, task: u16, on: usize, at: Option<&Context>) {
        // A task's run has its number from its submission, a timer's from its firing.
        let run = match action {
            Action::Execute { .. } | Action::Submit { .. } => self.next_run(task),
            _ => 0,
        };
        let row = |kind| Row { run, ..Row::new(kind).task(task) };
        if self.record_of(task) != Record::Count {
            record(row(EventKind::Submitted));
        }
        if self.give(action, (task, run), on, at).is_err() {
            record(row(EventKind::Rejected));
        }
    }

    fn give(
        self: &Arc<Self>,
        action: &Action,
        (task, run): (u16, u32),
        on: usize,
        at: Option<&Context>,
    ) -> Result<(), Rejected> {
        let (tag, handle, env) = (Tag(u32::from(task)), &self.loops[on], self.clone());
        let (giver, timer_body) = (at.cloned(), || self.timer_body(task, on, at.cloned()));
        let entry = match action {
            Action::Submit { .. } => {
                FutureEntry::Value(handle.submit(tag, move || env.run_body(task, run, on, None, giver.as_ref()))?)
            }
            Action::Schedule { after, .. } => {
                FutureEntry::Timer(handle.schedule(tag, *after, None, timer_body())?)
            }
            Action::ScheduleAt { at, .. } => {
                FutureEntry::Timer(handle.schedule_at(tag, self.instant(*at), timer_body())?)
            }
            Action::Periodic { first, .. } => {
                let repeat = repeat_of(action, handle);
                FutureEntry::Timer(handle.schedule(tag, *first, repeat, timer_body())?)
            }
            Action::Spread { count, from, to, .. } => {
                FutureEntry::Spread(Arc::new(self.spread(task, on, *count, (*from, *to), at)?))
            }
            _ => {
                return handle.execute(Task {
                    tag,
                    work: Box::new(move || _ = env.run_body(task, run, on, None, giver.as_ref())),
                });
            }
        };
        self.add_future(task, entry);
        Ok(())
    }

    fn timer_body(
        self: &Arc<Self>,
        task: u16,
        on: usize,
        at: Option<Context>,
    ) -> impl FnMut(&Firing) + Send + 'static {
        let env = self.clone();
        move |firing| _ = env.run_body(task, env.next_run(task), on, Some(firing.deadline), at.as_ref())
    }

    /// Many timers of one task, their delays drawn by the scenario's seed and the task.
    fn spread(
        self: &Arc<Self>,
        task: u16,
        on: usize,
        count: u32,
        (from, to): (Duration, Duration),
        at: Option<&Context>,
    ) -> Result<Vec<Scheduled>, Rejected> {
        let mut random = Random::new(self.scenario.seed.wrapping_add(u64::from(task) << 32));
        let span = nanos(to.saturating_sub(from));
        let arm = |_| {
            let after = from.saturating_add(Duration::from_nanos(random.below(span)));
            self.loops[on].schedule(Tag(u32::from(task)), after, None, self.timer_body(task, on, at.cloned()))
        };
        (0..count).map(arm).collect()
    }
}

fn repeat_of(action: &Action, handle: &Handle) -> Option<Repeat> {
    match action {
        Action::Periodic { mode, period, missed, .. } => {
            Some(Repeat { mode: *mode, period: *period, missed: missed.unwrap_or(handle.policy().missed) })
        }
        _ => None,
    }
}
