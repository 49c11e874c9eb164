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
use crate::time::nanos;

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
        let took = self.clock.now().since(began);
        self.counters.io_took(nanos(took));
        took
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

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::Mutex;

    use super::*;
    use crate::clock::Clock;
    use crate::event_loop::{EventLoop, LoopState, Observer, Tag, Warning};
    use crate::net::{Listener, Network, TcpNetwork};
    use crate::policy::{Policy, PolicyName};
    use crate::poller::MioPoller;
    use crate::scenario::LoopKind;

    #[derive(Debug)]
    struct Deaf;

    impl Observer for Deaf {
        fn warned(&self, _tag: Tag, _warning: Warning<'_>) {}

        fn moved(&self, _to: LoopState) {}
    }

    /// Counts the connections that its listener accepts.
    struct Accepts {
        listener: Mutex<Box<dyn Listener>>,
        count: Mutex<usize>,
    }

    impl IoHandler for Accepts {
        fn ready(&self, _ready: Ready) {
            while self.listener.lock().unwrap().accept().is_ok() {
                *self.count.lock().unwrap() += 1;
            }
        }

        fn moves(&self, from: &Registrar, to: &Registrar, token: Token) {
            let mut listener = self.listener.lock().unwrap();
            listener.deregister(from).unwrap();
            listener.register(to, token).unwrap();
        }
    }

    fn connected(network: &TcpNetwork, to: SocketAddr, event_loop: &mut EventLoop, accepts: &Accepts) -> usize {
        let _stream = network.connect(to).unwrap();
        let before = *accepts.count.lock().unwrap();
        // A timer bounds the wait of a loop that hears nothing, the number of turns the test.
        for _ in 0..1000 {
            if *accepts.count.lock().unwrap() > before {
                break;
            }
            event_loop.handle().schedule(Tag(0), Duration::from_millis(5), None, |_| {}).unwrap();
            event_loop.turn().unwrap();
        }
        *accepts.count.lock().unwrap()
    }

    #[test]
    fn a_source_is_heard_of_after_its_poller_was_made_anew_and_can_be_taken_out_then() {
        let clock = Clock::wall();
        let Clock::Wall(origin) = clock else { unreachable!() };
        let policy = Policy { rebuild_after: Some(1), ..PolicyName::Netty.policy() };
        let poller = Box::new(MioPoller::new(origin).unwrap());
        let kind = (LoopKind::EventLoop, None);
        let mut event_loop = EventLoop::new(clock, poller, policy, kind, Arc::new(Deaf)).unwrap();
        let network = TcpNetwork::new();
        let listener = network.listen(8).unwrap();
        let to = listener.local_address().unwrap();
        let accepts = Arc::new(Accepts { listener: Mutex::new(listener), count: Mutex::new(0) });
        let handle = event_loop.handle().clone();
        let token = handle.watch(&mut **accepts.listener.lock().unwrap(), accepts.clone()).unwrap();
        assert_eq!(connected(&network, to, &mut event_loop, &accepts), 1);
        let rebuilds = handle.counters().rebuilds();
        handle.wake();
        event_loop.turn().unwrap();
        assert!(handle.counters().rebuilds() > rebuilds);
        assert_eq!(connected(&network, to, &mut event_loop, &accepts), 2);
        handle.unwatch(&mut **accepts.listener.lock().unwrap(), token);
        assert!(handle.shared.lock_io().all().is_empty());
    }
}
