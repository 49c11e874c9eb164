//! A network in memory, for virtual time: bytes, handshakes and ends take one latency, and nothing happens inline.
//!
//! Simpler than TCP: a handshake ends for both sides two latencies after the connect; a window update takes one
//! latency; whoever drops a stream with unread bytes resets the peer.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::pipe::{End, Pipe, Watch, lock};
use super::{Listener, Network, Registrar, Source, Stream, Token};
use crate::world::World;

/// Ports of listeners count up from here, those of clients from the next.
const FIRST_LISTENER: u16 = 20_000;
const FIRST_CLIENT: u16 = 40_000;
/// Where nobody listens.
const CLOSED: u16 = 1;

/// What can be set of a network in memory.
#[derive(Clone, Copy, Debug)]
pub struct MemorySettings {
    /// One way.
    pub latency: Duration,
    /// How many bytes a direction holds, in flight and unread.
    pub buffer: usize,
}

impl Default for MemorySettings {
    fn default() -> Self {
        MemorySettings { latency: Duration::ZERO, buffer: 64 * 1024 }
    }
}

/// A network in memory.
#[derive(Clone, Debug)]
pub struct MemoryNetwork {
    world: Arc<World>,
    settings: MemorySettings,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    listeners: BTreeMap<u16, Arc<Mutex<Queue>>>,
    listener_ports: u16,
    client_ports: u16,
}

/// What a listener has to accept.
#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<MemoryStream>,
    watch: Option<Watch>,
}

fn address(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

impl MemoryNetwork {
    /// A network of this world.
    pub fn new(world: Arc<World>, settings: MemorySettings) -> MemoryNetwork {
        MemoryNetwork { world, settings, shared: Arc::default() }
    }

    /// Something happens so many latencies from now.
    fn after(&self, latencies: u32, event: impl FnOnce() + Send + 'static) {
        self.world.at(self.world.now().after(self.settings.latency * latencies), event);
    }

    /// The handshake ends: the listener gets the other side, or there is none.
    fn establish(&self, to: SocketAddr, client: &Arc<Mutex<Side>>) {
        let queue = lock(&self.shared).listeners.get(&to.port()).cloned();
        let mut side = lock(client);
        match queue {
            Some(queue) if side.state == State::Connecting => {
                side.state = State::Connected;
                let other = MemoryStream {
                    network: self.clone(),
                    side: Arc::new(Mutex::new(Side {
                        state: State::Connected,
                        local: to,
                        remote: side.local,
                        incoming: side.outgoing.clone(),
                        outgoing: side.incoming.clone(),
                        watch: None,
                    })),
                };
                let mut queue = lock(&queue);
                queue.waiting.push_back(other);
                queue.watch.iter().for_each(|watch| watch.readable(false));
            }
            Some(_) => {}
            None => side.state = State::Refused,
        }
        side.watch.iter().for_each(Watch::writable);
    }
}

impl Network for MemoryNetwork {
    fn listen(&self, _backlog: u32) -> io::Result<Box<dyn Listener>> {
        let mut shared = lock(&self.shared);
        let port = FIRST_LISTENER + shared.listener_ports;
        shared.listener_ports += 1;
        let queue = Arc::<Mutex<Queue>>::default();
        shared.listeners.insert(port, queue.clone());
        Ok(Box::new(MemoryListener { network: self.clone(), port, queue }))
    }

    fn connect(&self, to: SocketAddr) -> io::Result<Box<dyn Stream>> {
        let port = {
            let mut shared = lock(&self.shared);
            // Ports are used again when a run has made more connections than there are.
            shared.client_ports = (shared.client_ports + 1) % (u16::MAX - FIRST_CLIENT);
            FIRST_CLIENT + shared.client_ports
        };
        let pipe = || Arc::new(Mutex::new(Pipe::new(self.settings.buffer)));
        let side = Arc::new(Mutex::new(Side {
            state: State::Connecting,
            local: address(port),
            remote: to,
            incoming: pipe(),
            outgoing: pipe(),
            watch: None,
        }));
        let (network, client) = (self.clone(), side.clone());
        self.after(2, move || network.establish(to, &client));
        Ok(Box::new(MemoryStream { network: self.clone(), side }))
    }

    fn closed_address(&self) -> io::Result<SocketAddr> {
        Ok(address(CLOSED))
    }
}

#[derive(Debug)]
struct MemoryListener {
    network: MemoryNetwork,
    port: u16,
    queue: Arc<Mutex<Queue>>,
}

impl Drop for MemoryListener {
    fn drop(&mut self) {
        lock(&self.network.shared).listeners.remove(&self.port);
        // Dropped outside the lock: a stream's end is an event of the world.
        let waiting = std::mem::take(&mut lock(&self.queue).waiting);
        drop(waiting);
    }
}

fn watch_of(registrar: &Registrar, token: Token) -> io::Result<Watch> {
    match registrar {
        Registrar::Memory(set) => Ok(Watch { set: set.clone(), token }),
        Registrar::Mio(_) | Registrar::Nothing => Err(io::ErrorKind::Unsupported.into()),
    }
}

impl Source for MemoryListener {
    fn register(&mut self, registrar: &Registrar, token: Token) -> io::Result<()> {
        let watch = watch_of(registrar, token)?;
        let mut queue = lock(&self.queue);
        if !queue.waiting.is_empty() {
            watch.readable(false);
        }
        queue.watch = Some(watch);
        Ok(())
    }

    fn deregister(&mut self, _registrar: &Registrar) -> io::Result<()> {
        let watch = lock(&self.queue).watch.take();
        watch.iter().for_each(|watch| watch.set.forget(watch.token));
        Ok(())
    }

    fn local_address(&self) -> io::Result<SocketAddr> {
        Ok(address(self.port))
    }
}

impl Listener for MemoryListener {
    fn accept(&mut self) -> io::Result<(Box<dyn Stream>, SocketAddr)> {
        let next = lock(&self.queue).waiting.pop_front().ok_or(io::ErrorKind::WouldBlock)?;
        let remote = lock(&next.side).remote;
        Ok((Box::new(next), remote))
    }
}

/// One end of a connection.
#[derive(Debug)]
struct MemoryStream {
    network: MemoryNetwork,
    side: Arc<Mutex<Side>>,
}

#[derive(Debug)]
struct Side {
    state: State,
    local: SocketAddr,
    remote: SocketAddr,
    incoming: Arc<Mutex<Pipe>>,
    outgoing: Arc<Mutex<Pipe>>,
    watch: Option<Watch>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Connecting,
    Connected,
    Refused,
    /// The end was dropped before the handshake was over.
    Abandoned,
}

impl Source for MemoryStream {
    fn register(&mut self, registrar: &Registrar, token: Token) -> io::Result<()> {
        let watch = watch_of(registrar, token)?;
        let mut side = lock(&self.side);
        lock(&side.incoming).watch_reader(watch.clone());
        lock(&side.outgoing).writer = Some(watch.clone());
        if side.state != State::Connecting {
            watch.writable();
        }
        side.watch = Some(watch);
        Ok(())
    }

    fn deregister(&mut self, _registrar: &Registrar) -> io::Result<()> {
        let mut side = lock(&self.side);
        lock(&side.incoming).reader = None;
        lock(&side.outgoing).writer = None;
        let watch = side.watch.take();
        watch.iter().for_each(|watch| watch.set.forget(watch.token));
        Ok(())
    }

    fn local_address(&self) -> io::Result<SocketAddr> {
        Ok(lock(&self.side).local)
    }
}

impl Stream for MemoryStream {
    fn finish_connect(&mut self) -> io::Result<bool> {
        match lock(&self.side).state {
            State::Connecting => Ok(false),
            State::Connected => Ok(true),
            State::Refused | State::Abandoned => Err(io::ErrorKind::ConnectionRefused.into()),
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let incoming = lock(&self.side).incoming.clone();
        let count = lock(&incoming).read(buffer)?;
        if count > 0 {
            self.network.after(1, move || lock(&incoming).freed(count));
        }
        Ok(count)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let outgoing = lock(&self.side).outgoing.clone();
        let count = lock(&outgoing).reserve(bytes.len())?;
        let bytes = bytes[..count].to_vec();
        self.network.after(1, move || lock(&outgoing).arrive(bytes));
        Ok(count)
    }

    fn shutdown(&mut self, side: Shutdown) -> io::Result<()> {
        if side != Shutdown::Read {
            let outgoing = lock(&self.side).outgoing.clone();
            self.network.after(1, move || lock(&outgoing).finish(End::Finished));
        }
        Ok(())
    }

    fn remote_address(&self) -> io::Result<SocketAddr> {
        let side = lock(&self.side);
        if side.state == State::Connected { Ok(side.remote) } else { Err(io::ErrorKind::NotConnected.into()) }
    }
}

impl Drop for MemoryStream {
    fn drop(&mut self) {
        let mut side = lock(&self.side);
        if side.state != State::Connected {
            side.state = State::Abandoned;
            return;
        }
        let (incoming, outgoing) = (side.incoming.clone(), side.outgoing.clone());
        drop(side);
        let end = if lock(&incoming).has_unread() { End::Reset } else { End::Finished };
        self.network.after(1, move || {
            lock(&outgoing).finish(end);
            lock(&incoming).reader_left();
        });
    }
}
