//! The states of a loop: they only move forward, and any thread may read them.
//!
//! Source of the behaviour: Netty's `SingleThreadEventExecutor.java` (`ST_NOT_STARTED` to `ST_TERMINATED`, moved by
//! compare-and-set). The one step back, [`Lifecycle::rest`], is that of `GlobalEventExecutor.java`, whose thread ends
//! and begins again and which has no other states.

use std::sync::atomic::{AtomicU8, Ordering};

use serde::{Deserialize, Serialize};

/// The state of a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoopState {
    /// It has no thread yet.
    #[default]
    NotStarted,
    /// It has one.
    Started,
    /// It was asked to end, and still takes tasks.
    ShuttingDown,
    /// It takes no more tasks.
    ShutDown,
    /// Its thread has nothing left to do.
    Terminated,
}

impl LoopState {
    /// The word for it in the timeline and in files.
    pub const fn word(self) -> &'static str {
        match self {
            LoopState::NotStarted => "not-started",
            LoopState::Started => "started",
            LoopState::ShuttingDown => "shutting-down",
            LoopState::ShutDown => "shut-down",
            LoopState::Terminated => "terminated",
        }
    }

    const ALL: [LoopState; 5] = [
        LoopState::NotStarted,
        LoopState::Started,
        LoopState::ShuttingDown,
        LoopState::ShutDown,
        LoopState::Terminated,
    ];
}

/// The present state of one loop.
#[derive(Debug, Default)]
pub(super) struct Lifecycle(AtomicU8);

impl Lifecycle {
    pub(super) fn state(&self) -> LoopState {
        LoopState::ALL[usize::from(self.0.load(Ordering::Acquire))]
    }

    /// Gives it its thread: true for one of the callers only, however many race.
    pub(super) fn start(&self) -> bool {
        self.swap(LoopState::NotStarted, LoopState::Started)
    }

    /// Takes its thread away, so that the next task starts another. Only the global executor does that.
    pub(super) fn rest(&self) -> bool {
        self.swap(LoopState::Started, LoopState::NotStarted)
    }

    /// Moves on to a later state; the state before, or none when it was there or beyond it already.
    pub(super) fn advance(&self, to: LoopState) -> Option<LoopState> {
        let forward = |now| (now < to as u8).then_some(to as u8);
        let before = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, forward);
        before.ok().map(|before| LoopState::ALL[usize::from(before)])
    }

    fn swap(&self, from: LoopState, to: LoopState) -> bool {
        self.0.compare_exchange(from as u8, to as u8, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_of_many_starts_it() {
        let lifecycle = Lifecycle::default();
        let started = std::thread::scope(|scope| {
            let racers: Vec<_> = (0..8).map(|_| scope.spawn(|| lifecycle.start())).collect();
            racers.into_iter().filter_map(|racer| racer.join().ok()).filter(|&won| won).count()
        });
        assert_eq!(started, 1);
    }

    proptest! {
        #[test]
        fn it_never_goes_back(steps in prop::collection::vec(0usize..5, 0..20)) {
            let lifecycle = Lifecycle::default();
            for step in steps {
                let before = lifecycle.state();
                let moved = lifecycle.advance(LoopState::ALL[step]);
                prop_assert_eq!(moved.is_some(), LoopState::ALL[step] > before);
                prop_assert_eq!(lifecycle.state(), before.max(LoopState::ALL[step]));
            }
        }
    }
}
