//! The one source of time. Time moves in two places: where a loop waits and where a task spends it; both ask the clock.
//!
//! A wall clock sleeps and parks the thread; a simulated one hands the [`World`]'s baton on. Nothing else in the
//! library reads a clock or sleeps, so the same loop runs in real and in virtual time.

use std::sync::Arc;
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use crate::calendar::Calendar;
use crate::time::Time;
use crate::world::{ActorId, World};

/// The time of one run. Cheap to clone; may be shared by all threads of the run.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The machine's monotonic clock, counted from this instant.
    Wall(Instant),
    /// A simulated world's.
    Simulated(Arc<World>),
}

impl Clock {
    /// A wall clock that starts now.
    #[expect(clippy::disallowed_methods, reason = "the clock itself")]
    pub fn wall() -> Clock {
        Clock::Wall(Instant::now())
    }

    /// The present instant.
    #[expect(clippy::disallowed_methods, reason = "the clock itself")]
    pub fn now(&self) -> Time {
        match self {
            Clock::Wall(origin) => Time::ZERO.after(origin.elapsed()),
            Clock::Simulated(world) => world.now(),
        }
    }

    /// The wall clock of a simulated world. Real runs keep no timers by the wall clock: nobody sets a machine's clock
    /// for a probe.
    pub fn calendar(&self) -> Option<&Calendar> {
        match self {
            Clock::Wall(_) => None,
            Clock::Simulated(world) => Some(world.calendar()),
        }
    }

    /// Holds the calling thread for this long without using the CPU, as a blocking call would.
    #[expect(clippy::disallowed_methods, reason = "the clock itself")]
    pub fn spend(&self, time: Duration) {
        match self {
            Clock::Wall(_) => thread::sleep(time),
            Clock::Simulated(world) => world.spend(time),
        }
    }

    /// Holds the calling thread and its CPU for this long.
    pub fn burn(&self, time: Duration) {
        match self {
            Clock::Wall(_) => {
                let until = self.now().after(time);
                while self.now() < until {
                    std::hint::spin_loop();
                }
            }
            Clock::Simulated(world) => world.spend(time),
        }
    }

    /// Blocks the calling thread until it is unparked or this instant has come; may also return for nothing.
    #[expect(clippy::disallowed_methods, reason = "the clock itself")]
    pub fn park(&self, until: Option<Time>) {
        match (self, until) {
            (Clock::Wall(_), None) => thread::park(),
            (Clock::Wall(_), Some(until)) => thread::park_timeout(until.since(self.now())),
            (Clock::Simulated(world), until) => world.block(until, "waiting for a future"),
        }
    }

    /// What unparks the calling thread.
    pub fn unparker(&self) -> Unparker {
        match self {
            Clock::Wall(_) => Unparker::Thread(thread::current()),
            Clock::Simulated(world) => Unparker::Actor(world.clone(), world.me()),
        }
    }
}

/// Ends another thread's [`Clock::park`], now or the next one.
#[derive(Clone, Debug)]
pub enum Unparker {
    /// A thread.
    Thread(Thread),
    /// An actor of a simulated world.
    Actor(Arc<World>, ActorId),
}

impl Unparker {
    /// Ends it.
    pub fn unpark(&self) {
        match self {
            Unparker::Thread(thread) => thread.unpark(),
            Unparker::Actor(world, actor) => world.wake(*actor),
        }
    }
}
