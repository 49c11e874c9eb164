//! The poller of a loop that is turned by hand: it never waits and watches nothing.

use std::io;
use std::sync::Arc;

use super::{Poller, Wake};
use crate::clock::Clock;
use crate::net::{Ready, Registrar};
use crate::time::Time;

/// A poller that never waits.
#[derive(Debug)]
pub struct NoWait;

impl Poller for NoWait {
    fn wait(&mut self, _clock: &Clock, _until: Option<Time>, _ready: &mut Vec<Ready>) -> io::Result<()> {
        Ok(())
    }

    fn registrar(&self) -> io::Result<Registrar> {
        Ok(Registrar::Nothing)
    }

    fn rebuild(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn waker(&self) -> Arc<dyn Wake> {
        Arc::new(NoWait)
    }
}

impl Wake for NoWait {
    fn wake(&self) {}
}
