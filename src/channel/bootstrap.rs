//! Binding a server and connecting a client.

use std::fmt::{self, Debug};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::acceptor::{Acceptor, ChildMaker, Initializer, NextTag};
use super::{Channel, ChannelTag, Io, Settings};
use crate::clock::Clock;
use crate::event_loop::Handle;
use crate::net::Network;
use crate::policy::BindOrder;
use crate::promise::{Failure, Promise};

/// Loops that take turns. Clones take turns together.
#[derive(Clone, Debug)]
pub struct Group {
    loops: Arc<[Handle]>,
    taken: Arc<AtomicUsize>,
}

impl Group {
    /// A group of these loops.
    ///
    /// # Panics
    /// Without any loop.
    pub fn new(loops: Vec<Handle>) -> Group {
        assert!(!loops.is_empty(), "a group needs a loop");
        Group { loops: loops.into(), taken: Arc::default() }
    }

    /// The first loop.
    pub fn first(&self) -> &Handle {
        &self.loops[0]
    }

    /// The next loop, round robin.
    pub fn next(&self) -> &Handle {
        let turn = self.taken.fetch_add(1, Ordering::Relaxed);
        &self.loops[turn % self.loops.len()]
    }
}

/// Makes a listening channel.
pub struct ServerBootstrap {
    /// Where it listens.
    pub network: Arc<dyn Network>,
    /// The loop of the listening channel.
    pub boss: Handle,
    /// The loops of what it accepts.
    pub workers: Group,
    /// How many connections may wait to be accepted.
    pub backlog: u32,
    /// Sets the listening channel up.
    pub parent: Initializer,
    /// Sets each accepted channel up.
    pub child: Initializer,
    /// Numbers the accepted channels.
    pub next_tag: NextTag,
    /// What is set of each accepted channel.
    pub settings: Settings,
}

impl ServerBootstrap {
    /// Registers a listening channel to the boss's loop and binds it to a free port of the loopback address.
    /// `prepare` gets the promise of the bind before it begins.
    pub fn bind(self, tag: ChannelTag, clock: &Clock, prepare: impl FnOnce(&Promise)) -> Channel {
        let channel = Channel::new(tag, None, clock.clone(), Settings::default(), Io::Nothing);
        channel.core().children = Some(ChildMaker {
            boss: self.boss.clone(),
            workers: self.workers,
            initialize: self.child,
            next_tag: self.next_tag,
            settings: self.settings,
        });
        (self.parent)(&channel);
        // A new handler is in no other pipeline, so it is taken.
        let _ = channel.pipeline().add_last(&channel, "acceptor", Acceptor);
        let (network, backlog) = (self.network, self.backlog);
        let bound = channel.promise();
        prepare(&bound);
        match self.boss.policy().channels.bind_order {
            BindOrder::RegisterThenBind => {
                channel.register(&self.boss);
                channel.later(move |channel| channel.listen(&*network, backlog, &bound));
            }
            BindOrder::BindThenRegister => {
                channel.belong_to(&self.boss);
                channel.later(move |channel| {
                    channel.listen(&*network, backlog, &bound);
                    channel.tell_registered();
                });
            }
        }
        channel
    }
}

impl Channel {
    fn listen(&self, network: &dyn Network, backlog: u32, bound: &Promise) {
        match network.listen(backlog) {
            Ok(listener) => {
                self.core().io = Io::Listener(listener);
                if let Err(error) = self.watch() {
                    bound.fail(Failure::io(&error));
                    return self.close_now(None);
                }
                self.later(|channel| channel.become_active());
                bound.succeed(());
            }
            Err(error) => {
                bound.fail(Failure::io(&error));
                self.close_now(None);
            }
        }
    }
}

/// Makes connecting channels.
#[derive(Clone)]
pub struct Connector {
    /// Where it connects.
    pub network: Arc<dyn Network>,
    /// The loops of its channels.
    pub group: Group,
    /// Sets each channel up.
    pub initialize: Initializer,
    /// What is set of each.
    pub settings: Settings,
}

impl Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Connector on {:?}", self.network)
    }
}

impl Connector {
    /// Registers a channel to the next loop and connects it. `prepare` gets the promise of the connect before it
    /// begins.
    pub fn connect(
        &self,
        tag: ChannelTag,
        clock: &Clock,
        to: SocketAddr,
        prepare: impl FnOnce(&Channel, &Promise),
    ) {
        let channel = Channel::new(tag, None, clock.clone(), self.settings, Io::Nothing);
        (self.initialize)(&channel);
        let connected = channel.promise();
        prepare(&channel, &connected);
        channel.register(self.group.next());
        let network = self.network.clone();
        // Always a task of its own, as in Netty: whoever called is told of nothing before the call returns.
        channel.later(move |channel| channel.connect(&*network, to, connected));
    }
}
