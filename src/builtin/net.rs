//! The connections of a run: servers, clients, and handlers that record what they see and do what the scenario says.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use super::env::Env;
use super::interpret::Place;
use crate::channel::{
    Channel, ChannelTag, Connector, Context, Group, Handler, Inbound, Initializer, LineDecoder, Message,
    ServerBootstrap, Settings, Shareable, StringDecoder, StringEncoder,
};
use crate::event_loop::{Handle, Tag};
use crate::net::Network;
use crate::policy::Policy;
use crate::promise::Promise;
use crate::random::Random;
use crate::reconnect::{Connect, Reconnector};
use crate::recorder::{ChannelName, Note, Row, record};
use crate::scenario::{ChannelEvent, ClientSpec, HandlerKind, HandlerSpec, Reaction, Scenario, ServerSpec};
use crate::trace::EventKind;

/// Connections that may wait to be accepted: more than clients of any probe, so that none is refused for its number.
const BACKLOG: u32 = 1024;

/// The servers and clients of a run, in the scenario's order.
#[derive(Debug)]
pub(super) struct Connections {
    network: Arc<dyn Network>,
    servers: Vec<Server>,
    clients: Vec<Client>,
    seed: u64,
    policy: Policy,
}

#[derive(Debug, Default)]
struct Server {
    listening: Mutex<Option<Channel>>,
    accepted: Arc<Mutex<Vec<Channel>>>,
    count: Arc<AtomicU32>,
}

#[derive(Debug, Default)]
struct Client {
    /// The newest channel of each.
    channels: Mutex<Vec<Channel>>,
    reconnectors: Mutex<Vec<Reconnector>>,
}

/// A channel's name as the number that the loop's observer gets.
pub(super) fn tag_of(name: ChannelName) -> ChannelTag {
    ChannelTag(u32::from(name.name) << 16 | (name.which & 0xffff))
}

/// The name behind the number.
pub(super) fn name_of(tag: ChannelTag) -> ChannelName {
    ChannelName { name: (tag.0 >> 16) as u16, which: tag.0 & 0xffff }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that can panic runs under these locks.
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Connections {
    pub(super) fn new(scenario: &Scenario, network: Arc<dyn Network>, policy: Policy, seed: u64) -> Connections {
        Connections {
            network,
            servers: scenario.servers.iter().map(|_| Server::default()).collect(),
            clients: scenario.clients.iter().map(|_| Client::default()).collect(),
            seed,
            policy,
        }
    }

    /// Lets go of every channel and client.
    pub(super) fn clear(&self) {
        for server in &self.servers {
            lock(&server.listening).take();
            lock(&server.accepted).clear();
        }
        for client in &self.clients {
            lock(&client.reconnectors).iter().for_each(Reconnector::stop);
            lock(&client.reconnectors).clear();
            lock(&client.channels).clear();
        }
    }
}

impl Env {
    fn server(&self, name: &str) -> Option<(&ServerSpec, &Server)> {
        let index = self.scenario.servers.iter().position(|server| server.name == name)?;
        Some((&self.scenario.servers[index], &self.connections.servers[index]))
    }

    fn client(&self, name: &str) -> Option<(&ClientSpec, &Client)> {
        let index = self.scenario.clients.iter().position(|client| client.name == name)?;
        Some((&self.scenario.clients[index], &self.connections.clients[index]))
    }

    fn group(&self, loops: &[String]) -> Group {
        Group::new(loops.iter().map(|name| self.loops[self.loop_named(Some(name), 0)].clone()).collect())
    }

    /// Binds a server; its future is there from now on.
    pub(super) fn bind(self: &Arc<Self>, name: &str) {
        let Some((spec, server)) = self.server(name) else { return };
        let number = self.names.number(name);
        let (accepted, count) = (server.accepted.clone(), server.count.clone());
        let next = move || {
            let which = count.fetch_add(1, Ordering::Relaxed) + 1;
            tag_of(ChannelName { name: number, which })
        };
        let child = self.initializer(&spec.child);
        let bootstrap = ServerBootstrap {
            network: self.connections.network.clone(),
            boss: self.loops[self.loop_named(Some(&spec.boss), 0)].clone(),
            workers: self.group(&spec.workers),
            backlog: BACKLOG,
            parent: self.initializer(&spec.parent),
            child: Arc::new(move |channel| {
                lock(&accepted).push(channel.clone());
                child(channel);
            }),
            next_tag: Arc::new(next),
            settings: Settings { half_closure: spec.half_closure, ..Settings::default() },
        };
        let listening = ChannelName { name: number, which: 0 };
        let channel = bootstrap.bind(tag_of(listening), &self.clock, |bound| self.keep(listening, bound));
        *lock(&server.listening) = Some(channel);
    }

    /// The address of a bound server, or one on which nobody listens.
    fn address(&self, server: Option<&str>) -> io::Result<SocketAddr> {
        let Some(name) = server else { return self.connections.network.closed_address() };
        let listening = self.server(name).and_then(|(_, server)| lock(&server.listening).clone());
        listening.map_or(Err(io::ErrorKind::NotConnected.into()), |channel| channel.local_address())
    }

    /// Connects a client, or all of several; false when its server is not bound. Unless it comes back by itself its
    /// future is there from now on.
    pub(super) fn connect(self: &Arc<Self>, name: &str) -> bool {
        let Some((spec, client)) = self.client(name) else { return false };
        let Ok(address) = self.address(spec.to.as_deref()) else { return false };
        let connector = Connector {
            network: self.connections.network.clone(),
            group: self.group(&spec.loops),
            initialize: self.initializer(&spec.handlers),
            settings: Settings::default(),
        };
        for index in 0..spec.count {
            let which = if spec.count == 1 { 0 } else { index + 1 };
            let name = ChannelName { name: self.names.number(name), which };
            let env = Arc::downgrade(self);
            let dialer = Dialer { env, connector: connector.clone(), address, name, index: index as usize };
            match spec.reconnect {
                None => dialer.dial(self, |_, connected| self.keep(name, connected)),
                Some(reconnect) => {
                    // Each client draws from a generator of its own, so the draws do not depend on who fails first.
                    let seed = self.connections.seed.wrapping_mul(1_000_003).wrapping_add(u64::from(index));
                    let choices = self.connections.policy.reconnect;
                    let (clock, tag) = (self.clock.clone(), Tag(u32::from(name.name)));
                    let dialer = Box::new(dialer);
                    let reconnector = Reconnector::new(reconnect, choices, dialer, clock, tag, Random::new(seed));
                    lock(&client.reconnectors).push(reconnector.clone());
                    reconnector.start();
                }
            }
        }
        true
    }

    /// The newest channel of a client, or a server's listening one.
    pub(super) fn channel_named(&self, name: &str) -> Option<Channel> {
        if let Some((_, client)) = self.client(name) {
            return lock(&client.channels).first().cloned();
        }
        let (_, server) = self.server(name)?;
        lock(&server.listening).clone()
    }

    /// Ends a client's coming back.
    pub(super) fn stop_reconnecting(&self, name: &str) {
        if let Some((_, client)) = self.client(name) {
            lock(&client.reconnectors).clone().iter().for_each(Reconnector::stop);
        }
    }

    /// Closes what a server accepted.
    pub(super) fn close_accepted(&self, name: &str) {
        if let Some((_, server)) = self.server(name) {
            let accepted = std::mem::take(&mut *lock(&server.accepted));
            accepted.iter().for_each(|channel| _ = channel.close());
        }
    }

    /// What adds these handlers to a channel.
    pub(super) fn initializer(self: &Arc<Self>, handlers: &[HandlerSpec]) -> Initializer {
        let env = Arc::downgrade(self);
        let groups: Vec<Option<Group>> = handlers
            .iter()
            .map(|handler| (!handler.group.is_empty()).then(|| self.group(&handler.group)))
            .collect();
        let handlers = handlers.to_vec();
        Arc::new(move |channel| {
            for (spec, group) in handlers.iter().zip(&groups) {
                let handler = build(spec, &env);
                // Every channel gets handlers of its own, so none is refused.
                let _ = match group {
                    Some(group) => channel.pipeline().add_last_on(channel, group, &spec.name, handler),
                    None => channel.pipeline().add_last(channel, &spec.name, handler),
                };
            }
        })
    }
}

fn build(spec: &HandlerSpec, env: &Weak<Env>) -> Shareable {
    match &spec.kind {
        HandlerKind::LineDecoder(limit) => LineDecoder::new(*limit).into(),
        HandlerKind::StringDecoder => StringDecoder.into(),
        HandlerKind::StringEncoder => StringEncoder.into(),
        HandlerKind::Reactor(reactions) => {
            Reactor { env: env.clone(), reactions: reactions.clone(), silent: spec.silent }.into()
        }
    }
}

/// Makes a client's connections.
#[derive(Debug)]
struct Dialer {
    env: Weak<Env>,
    connector: Connector,
    address: SocketAddr,
    name: ChannelName,
    index: usize,
}

impl Dialer {
    /// Begins to connect; what is done with the channel and its promise before that comes first.
    fn dial(&self, env: &Arc<Env>, prepare: impl FnOnce(&Channel, &Promise)) {
        let clients = env.connections.clients.iter().zip(&env.scenario.clients);
        let mut own = clients.filter(|(_, spec)| env.names.number(&spec.name) == self.name.name);
        let prepare = |channel: &Channel, connected: &Promise| {
            if let Some((client, _)) = own.next() {
                let mut channels = lock(&client.channels);
                match channels.get_mut(self.index) {
                    Some(slot) => *slot = channel.clone(),
                    None => channels.push(channel.clone()),
                }
            }
            prepare(channel, connected);
        };
        self.connector.connect(tag_of(self.name), &env.clock, self.address, prepare);
    }
}

impl Connect for Dialer {
    fn connect(&self, prepare: &mut dyn FnMut(&Channel, &Promise)) {
        // Without its run there is nothing left to connect for.
        if let Some(env) = self.env.upgrade() {
            self.dial(&env, prepare);
        }
    }

    fn attempt(&self, number: u32) {
        record(Row { run: number, channel: Some(self.name), ..Row::new(EventKind::Attempt) });
    }

    fn retry(&self, delay: Duration) {
        record(Row { channel: Some(self.name), value: Some(delay), ..Row::new(EventKind::Retry) });
    }

    fn lost(&self) {
        record(Row { channel: Some(self.name), ..Row::new(EventKind::Lost) });
    }

    fn gave_up(&self) {
        record(Row { channel: Some(self.name), ..Row::new(EventKind::GaveUp) });
    }
}

/// A handler that records every event and reacts to some.
struct Reactor {
    env: Weak<Env>,
    reactions: Vec<Reaction>,
    silent: bool,
}

impl std::fmt::Debug for Reactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reactor")
    }
}

impl Reactor {
    fn happened(&self, ctx: &Context, event: ChannelEvent, message: Option<&Message>) {
        let Some(env) = self.env.upgrade() else { return };
        let note = match message {
            Some(Message::Text(text)) => env.note_of(text),
            Some(Message::Bytes(bytes)) => Note::Bytes(bytes.len() as u32),
            Some(Message::Accepted(_)) => Note::Words("a child"),
            None => Note::None,
        };
        if !self.silent {
            record(Row { channel: Some(name_of(ctx.channel().tag())), ..Row::new(kind_of(event)).note(note) });
        }
        let text = match message {
            Some(Message::Text(text)) => Some(text.as_str()),
            _ => None,
        };
        let accepted = match message {
            Some(Message::Accepted(child)) => Some(child.clone()),
            _ => None,
        };
        let place = Place { task: None, run: 0, on: env.loop_of(ctx.channel()), at: Some(ctx.clone()), accepted };
        for reaction in &self.reactions {
            if reaction.at == event && reaction.message.as_deref().is_none_or(|wanted| text == Some(wanted)) {
                env.carry_out(&reaction.body, &place);
            }
        }
    }
}

impl Handler for Reactor {
    fn added(&self, ctx: &Context) {
        self.happened(ctx, ChannelEvent::HandlerAdded, None);
    }

    fn removed(&self, ctx: &Context) {
        self.happened(ctx, ChannelEvent::HandlerRemoved, None);
    }

    fn inbound(&self, ctx: &Context, event: Inbound) {
        let (kind, message) = match &event {
            Inbound::Registered => (ChannelEvent::ChannelRegistered, None),
            Inbound::Unregistered => (ChannelEvent::ChannelUnregistered, None),
            Inbound::Active => (ChannelEvent::ChannelActive, None),
            Inbound::Inactive => (ChannelEvent::ChannelInactive, None),
            Inbound::Read(message) => (ChannelEvent::ChannelRead, Some(message)),
            Inbound::ReadComplete => (ChannelEvent::ChannelReadComplete, None),
            Inbound::InputShutdown => (ChannelEvent::InputShutdown, None),
            Inbound::Exception(_) => (ChannelEvent::ExceptionCaught, None),
        };
        self.happened(ctx, kind, message);
        // A message that the handler has taken in ends here; a child goes on to the acceptor.
        if !matches!(event, Inbound::Read(Message::Text(_) | Message::Bytes(_))) {
            ctx.fire(event);
        }
    }
}

fn kind_of(event: ChannelEvent) -> EventKind {
    match event {
        ChannelEvent::HandlerAdded => EventKind::HandlerAdded,
        ChannelEvent::ChannelRegistered => EventKind::ChannelRegistered,
        ChannelEvent::ChannelActive => EventKind::ChannelActive,
        ChannelEvent::ChannelRead => EventKind::ChannelRead,
        ChannelEvent::ChannelReadComplete => EventKind::ChannelReadComplete,
        ChannelEvent::InputShutdown => EventKind::InputShutdown,
        ChannelEvent::ExceptionCaught => EventKind::ExceptionCaught,
        ChannelEvent::ChannelInactive => EventKind::ChannelInactive,
        ChannelEvent::ChannelUnregistered => EventKind::ChannelUnregistered,
        ChannelEvent::HandlerRemoved => EventKind::HandlerRemoved,
    }
}

impl Env {
    /// The loop of a channel, by its place in the scenario.
    pub(super) fn loop_of(&self, channel: &Channel) -> usize {
        let Ok(own) = channel.event_loop() else { return 0 };
        self.loops.iter().position(|handle: &Handle| handle.is(own)).unwrap_or(0)
    }
}
