//! The poller of virtual time: a wait hands the baton to the world.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::{Poller, Wake};
use crate::clock::Clock;
use crate::net::{Ready, ReadySet, Registrar};
use crate::scenario::EmptyReturns;
use crate::time::Time;
use crate::world::{ActorId, World};

/// A poller of a simulated world.
#[derive(Debug)]
pub struct SimulatedPoller {
    world: Arc<World>,
    waker: Arc<SimulatedWaker>,
    ready: ReadySet,
    late_wake: Duration,
    empty_returns: Option<EmptyReturns>,
}

#[derive(Debug)]
struct SimulatedWaker {
    world: Arc<World>,
    actor: ActorId,
    /// A wake-up belongs to the poller: a wait for a future on the same thread must not use it up.
    woken: AtomicBool,
}

impl Wake for SimulatedWaker {
    fn wake(&self) {
        self.woken.store(true, Ordering::Release);
        self.world.wake(self.actor);
    }
}

impl SimulatedWaker {
    /// Whether it was woken since it was last asked.
    fn take(&self) -> bool {
        self.woken.swap(false, Ordering::AcqRel)
    }
}

impl SimulatedPoller {
    /// The poller of this actor; every wait for a deadline ends `late_wake` late.
    pub fn new(world: Arc<World>, actor: ActorId, late_wake: Duration) -> SimulatedPoller {
        let waker = Arc::new(SimulatedWaker { world: world.clone(), actor, woken: AtomicBool::new(false) });
        let ready = ReadySet::new(waker.clone());
        SimulatedPoller { world, waker, ready, late_wake, empty_returns: None }
    }

    /// The same with waits that return for nothing.
    pub fn with_empty_returns(self, empty_returns: Option<EmptyReturns>) -> SimulatedPoller {
        SimulatedPoller { empty_returns, ..self }
    }

    /// When this wait returns for nothing, if it does and nothing else comes before.
    fn empty_return(&self) -> Option<Time> {
        let empty = self.empty_returns.as_ref().filter(|empty| empty.count > 0)?;
        Some(empty.from)
    }

    /// Counts a wait that returned now for nothing.
    fn returned(&mut self, now: Time) {
        if let Some(empty) = &mut self.empty_returns
            && now >= empty.from
        {
            empty.count = empty.count.saturating_sub(1);
        }
    }
}

impl Poller for SimulatedPoller {
    fn wait(&mut self, clock: &Clock, until: Option<Time>, ready: &mut Vec<Ready>) -> io::Result<()> {
        let now = clock.now();
        let late = |until: Time| {
            if until > now { until.after(self.late_wake) } else { now }
        };
        let woken_before = self.waker.take();
        let deadline = if woken_before { Some(now) } else { until.map(late) };
        let first = [deadline, self.empty_return()].into_iter().flatten().min();
        self.world.block(first, "waiting in its poller");
        let woken = self.waker.take() || woken_before;
        if !woken && deadline.is_none_or(|deadline| clock.now() < deadline) {
            self.returned(clock.now());
        }
        self.ready.take_into(ready);
        Ok(())
    }

    fn rebuild(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn registrar(&self) -> io::Result<Registrar> {
        Ok(Registrar::Memory(self.ready.clone()))
    }

    fn waker(&self) -> Arc<dyn Wake> {
        self.waker.clone()
    }
}
