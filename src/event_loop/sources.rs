//! The sources that a loop's poller watches: who hears of which, and how they move when the poller is made anew.
//!
//! Source of the behaviour: Netty's `NioIoHandler.java` (`rebuildSelector0`): each key is cancelled and its channel
//! registered with the new selector. A source registered anew is told what is ready already, so nothing is missed.

use std::io;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use super::IoHandler;
use super::handle::{Handle, Shared};
use super::io_table::IoTable;
use crate::net::{Ready, Registrar, Source, Token};

impl Handle {
    /// Has the poller tell this handler of a source. On the loop's own thread only.
    ///
    /// # Errors
    /// What the poller reports.
    pub fn watch(&self, source: &mut dyn Source, handler: Arc<dyn IoHandler>) -> io::Result<Token> {
        let token = self.shared.lock_io().insert(handler);
        let watched = source.register(&self.shared.registrar(), token);
        if watched.is_err() {
            self.shared.lock_io().remove(token);
        }
        watched.map(|()| token)
    }

    /// Has the poller tell of it no more. On the loop's own thread only.
    pub fn unwatch(&self, source: &mut dyn Source, token: Token) {
        // A source that the poller no longer knows is as good as deregistered.
        let _ = source.deregister(&self.shared.registrar());
        self.shared.lock_io().remove(token);
    }
}

impl Shared {
    pub(super) fn lock_io(&self) -> MutexGuard<'_, IoTable> {
        // Nothing that can panic runs under the lock.
        self.io.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn registrar(&self) -> Arc<Registrar> {
        self.registrar.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    /// Tells the handlers of what is ready; how long that took.
    pub(super) fn dispatch(&self, ready: &mut Vec<Ready>) -> Duration {
        if ready.is_empty() {
            return Duration::ZERO;
        }
        let began = self.clock.now();
        for ready in ready.drain(..) {
            let handler = self.lock_io().get(ready.token);
            if let Some(handler) = handler {
                handler.ready(ready);
            }
        }
        self.clock.now().since(began)
    }

    /// Moves every source to the registrar of a poller that was made anew. The old registrar keeps the old poller's
    /// descriptor open for as long as sources leave it.
    pub(super) fn move_sources(&self, to: Registrar) {
        let (from, to) = (self.registrar(), Arc::new(to));
        *self.registrar.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = to.clone();
        let handlers = self.lock_io().all();
        for (token, handler) in handlers {
            handler.moves(&from, &to, token);
        }
    }
}
