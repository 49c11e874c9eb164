//! Gives a scenario's tasks to the loops, in each of the ways there are.

use std::sync::Arc;
use std::time::Duration;

use super::env::Env;
use super::futures::FutureEntry;
use super::interpret::Run;
use crate::channel::Context;
use crate::event_loop::{Executor, Firing, Handle, Rejected, Repeat, Scheduled, Tag, Task};
use crate::random::Random;
use crate::recorder::{Row, record};
use crate::scenario::{Action, Record};
use crate::time::nanos;
use crate::trace::EventKind;

impl Env {
    /// Gives a task to a loop and records that it did, and whether the loop refused it. A task that a handler gives
    /// knows the handler's channel.
    pub(super) fn hand_over(self: &Arc<Self>, action: &Action, task: u16, on: usize, at: Option<&Context>) {
        // A task's run has its number from its submission, a timer's from its firing.
        let number = match action {
            Action::Execute { .. } | Action::Submit { .. } => self.next_run(task),
            _ => 0,
        };
        let row = |kind| Row { run: number, ..Row::new(kind).task(task) };
        if self.record_of(task) != Record::Count {
            record(row(EventKind::Submitted));
        }
        if self.give(action, Run { task, number, on }, at.cloned()).is_err() {
            record(row(EventKind::Rejected));
        }
    }

    fn give(self: &Arc<Self>, action: &Action, run: Run, at: Option<Context>) -> Result<(), Rejected> {
        let (tag, handle, env) = (Tag(u32::from(run.task)), &self.loops[run.on], self.clone());
        let entry = match action {
            Action::Submit { .. } => {
                FutureEntry::Value(handle.submit(tag, move || env.run_body(run, None, at.as_ref()))?)
            }
            Action::Schedule { after, .. } => {
                FutureEntry::Timer(handle.schedule(tag, *after, None, self.timer_body(run, at))?)
            }
            Action::ScheduleAt { at: instant, .. } => {
                let instant = self.instant(*instant);
                FutureEntry::Timer(handle.schedule_at(tag, instant, self.timer_body(run, at))?)
            }
            Action::Periodic { first, .. } => {
                let repeat = repeat_of(action, handle);
                FutureEntry::Timer(handle.schedule(tag, *first, repeat, self.timer_body(run, at))?)
            }
            Action::Spread { count, from, to, .. } => {
                FutureEntry::Spread(Arc::new(self.spread(run, at, *count, (*from, *to))?))
            }
            _ => {
                let work = Box::new(move || _ = env.run_body(run, None, at.as_ref()));
                return handle.execute(Task { tag, work });
            }
        };
        self.add_future(run.task, entry);
        Ok(())
    }

    fn timer_body(self: &Arc<Self>, run: Run, at: Option<Context>) -> impl FnMut(&Firing) + Send + 'static {
        let env = self.clone();
        move |firing| {
            let run = Run { number: env.next_run(run.task), ..run };
            env.run_body(run, Some(firing.deadline), at.as_ref());
        }
    }

    /// Many timers of one task, their delays drawn by the scenario's seed and the task.
    fn spread(
        self: &Arc<Self>,
        run: Run,
        at: Option<Context>,
        count: u32,
        (from, to): (Duration, Duration),
    ) -> Result<Vec<Scheduled>, Rejected> {
        let mut random = Random::new(self.scenario.seed.wrapping_add(u64::from(run.task) << 32));
        let span = nanos(to.saturating_sub(from));
        let arm = |_| {
            let after = from.saturating_add(Duration::from_nanos(random.below(span)));
            let body = self.timer_body(run, at.clone());
            self.loops[run.on].schedule(Tag(u32::from(run.task)), after, None, body)
        };
        (0..count).map(arm).collect()
    }
}

fn repeat_of(action: &Action, handle: &Handle) -> Option<Repeat> {
    match action {
        Action::Periodic { mode, period, missed, .. } => {
            let missed = missed.unwrap_or(handle.policy().missed);
            Some(Repeat { mode: *mode, period: *period, missed })
        }
        _ => None,
    }
}
