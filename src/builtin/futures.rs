//! The futures of a run: of submitted tasks, of timers, of promises that an action completes.

use std::sync::Arc;
use std::time::Duration;

use crate::event_loop::{Scheduled, Tag};
use crate::promise::{Failure, Promise, Waited};
use crate::trace::FutureState;

/// What a body returns: the number of a word among the scenario's names.
pub(super) type Value = Option<u16>;

/// A future of the run.
#[derive(Clone, Debug)]
pub(super) enum FutureEntry {
    /// Of a submitted task, or a promise.
    Value(Promise<Value>),
    /// Of a timer.
    Timer(Scheduled),
    /// Of the many timers of one task.
    Spread(Arc<Vec<Scheduled>>),
    /// Of what has no value: a channel's operation, a loop's end.
    Operation(Promise),
}

impl FutureEntry {
    /// Its state; of many timers that of the first that is not done, or of the first.
    pub(super) fn state(&self) -> FutureState {
        match self {
            FutureEntry::Value(promise) => promise.state(),
            FutureEntry::Timer(timer) => timer.future().state(),
            FutureEntry::Operation(promise) => promise.state(),
            FutureEntry::Spread(timers) => {
                let pending = timers.iter().find(|timer| !timer.future().is_done());
                let shown = pending.or(timers.first());
                shown.map_or(FutureState::Success, |timer| timer.future().state())
            }
        }
    }

    /// Cancels it; whether that took. Of many timers: whether it took with any.
    pub(super) fn cancel(&self, interrupt: bool) -> bool {
        let timer = |timer: &Scheduled| match interrupt {
            true => timer.cancel_and_interrupt(),
            false => timer.cancel(),
        };
        match self {
            FutureEntry::Value(promise) if interrupt => promise.cancel_and_interrupt(),
            FutureEntry::Value(promise) => promise.cancel(),
            FutureEntry::Timer(scheduled) => timer(scheduled),
            FutureEntry::Operation(promise) => promise.cancel(),
            FutureEntry::Spread(timers) => timers.iter().filter(|scheduled| timer(scheduled)).count() > 0,
        }
    }

    /// Whether a cancel asked the body to stop.
    pub(super) fn is_interrupted(&self) -> bool {
        match self {
            FutureEntry::Value(promise) => promise.is_interrupted(),
            FutureEntry::Timer(timer) => timer.future().is_interrupted(),
            FutureEntry::Spread(_) | FutureEntry::Operation(_) => false,
        }
    }

    /// Waits for it, for so long at most. Of many timers for each in turn.
    pub(super) fn wait(&self, limit: Duration) -> Waited {
        match self {
            FutureEntry::Value(promise) => promise.wait(limit),
            FutureEntry::Timer(timer) => timer.future().wait(limit),
            FutureEntry::Operation(promise) => promise.wait(limit),
            FutureEntry::Spread(timers) => {
                let waits = timers.iter().map(|timer| timer.future().wait(limit));
                waits.into_iter().find(|waited| *waited != Waited::Done).unwrap_or(Waited::Done)
            }
        }
    }

    /// Whether it has failed because nobody supports it.
    pub(super) fn is_unsupported(&self) -> bool {
        match self {
            FutureEntry::Operation(promise) => matches!(promise.outcome(), Some(Err(Failure::Unsupported(_)))),
            _ => false,
        }
    }

    /// The value that it was done with.
    pub(super) fn value(&self) -> Value {
        match self {
            FutureEntry::Value(promise) => promise.outcome()?.ok().flatten(),
            FutureEntry::Timer(_) | FutureEntry::Spread(_) | FutureEntry::Operation(_) => None,
        }
    }

    /// Runs `work` when it is done; of many timers when the last one armed is.
    pub(super) fn listen(&self, tag: Tag, work: impl FnOnce() + Send + 'static) {
        match self {
            FutureEntry::Value(promise) => promise.listen(tag, work),
            FutureEntry::Timer(timer) => timer.future().listen(tag, work),
            FutureEntry::Operation(promise) => promise.listen(tag, work),
            FutureEntry::Spread(timers) => {
                if let Some(timer) = timers.last() {
                    timer.future().listen(tag, work);
                }
            }
        }
    }
}
