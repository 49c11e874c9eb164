//! The poller of virtual time: a wait hands the baton to the world.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::{Poller, Wake};
use crate::clock::Clock;
use crate::net::{Ready, ReadySet, Registrar};
use crate::time::Time;
use crate::world::{ActorId, World};

/// A poller of a simulated world.
#[derive(Debug)]
pub struct SimulatedPoller {
    world: Arc<World>,
    waker: Arc<SimulatedWaker>,
    ready: ReadySet,
    late_wake: Duration,
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

impl SimulatedPoller {
    /// The poller of this actor; every wait for a deadline ends `late_wake` late.
    pub fn new(world: Arc<World>, actor: ActorId, late_wake: Duration) -> SimulatedPoller {
        let waker = Arc::new(SimulatedWaker { world: world.clone(), actor, woken: AtomicBool::new(false) });
        let ready = ReadySet::new(waker.clone());
        SimulatedPoller { world, waker, ready, late_wake }
    }
}

impl Poller for SimulatedPoller {
    fn wait(&mut self, clock: &Clock, until: Option<Time>, ready: &mut Vec<Ready>) -> io::Result<()> {
        let now = clock.now();
        let late = |until: Time| if until > now { until.after(self.late_wake) } else { now };
        let woken = || self.waker.woken.swap(false, Ordering::AcqRel);
        let until = if woken() { Some(now) } else { until.map(late) };
        self.world.block(until, "waiting in its poller");
        woken();
        self.ready.take_into(ready);
        Ok(())
    }

    fn registrar(&self) -> io::Result<Registrar> {
        Ok(Registrar::Memory(self.ready.clone()))
    }

    fn waker(&self) -> Arc<dyn Wake> {
        self.waker.clone()
    }
}
