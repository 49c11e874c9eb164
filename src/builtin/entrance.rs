//! How a thread becomes part of a run: as it is in real time, as an actor in virtual time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::world::{ActorId, World};

/// How a thread becomes part of the run.
#[derive(Debug)]
pub(super) enum Entrance {
    Thread,
    Actor(Arc<World>, ActorId),
}

impl Entrance {
    /// Runs a thread's part. In virtual time as an actor, whose end hands the baton on however it ends.
    pub(super) fn play(&self, part: impl FnOnce()) {
        match self {
            Entrance::Thread => part(),
            Entrance::Actor(world, actor) => {
                // Only a world that is stuck unwinds through here; it says so itself.
                let _ = catch_unwind(AssertUnwindSafe(|| {
                    world.enter(*actor);
                    part();
                }));
                world.leave();
            }
        }
    }

    /// Lets an actor in whose thread begins while the world goes on.
    pub(super) fn launch(&self) {
        if let Entrance::Actor(world, actor) = self {
            world.launch(*actor);
        }
    }
}
