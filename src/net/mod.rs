//! Byte streams between loops: TCP over loopback, or in memory for virtual time.
//!
//! A [`Network`] makes listeners and streams; each can be registered with the poller of the loop that it belongs to
//! and moved to another thread before that. Readiness is edge-triggered: a poller tells of a change once, so whoever
//! is told reads until [`std::io::ErrorKind::WouldBlock`] or a short read, and remembers what it left.

mod memory;
mod pipe;
mod tcp;

use std::fmt::Debug;
use std::io;
use std::net::{Shutdown, SocketAddr};

pub use memory::{MemoryNetwork, MemorySettings};
pub use pipe::ReadySet;
pub use tcp::TcpNetwork;

/// Where sources are registered: the poller of one loop.
#[derive(Debug)]
pub enum Registrar {
    /// mio's.
    Mio(mio::Registry),
    /// A simulated poller's.
    Memory(ReadySet),
    /// A poller that watches nothing.
    Nothing,
}

/// Names a registered source to its loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token(pub usize);

/// What a poller says of a registered source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// Which.
    pub token: Token,
    /// There may be something to read or to accept, or the peer has ended its side.
    pub readable: bool,
    /// There may be room to write, or a connect has ended.
    pub writable: bool,
    /// The peer has ended its side: read on to the end of the stream even after a short read.
    pub read_closed: bool,
}

/// Makes listeners and streams. Any thread may use it.
pub trait Network: Send + Sync + Debug {
    /// Listens on a free port of the loopback address.
    ///
    /// # Errors
    /// What the operating system reports: no free port, no descriptor, no loopback.
    fn listen(&self, backlog: u32) -> io::Result<Box<dyn Listener>>;

    /// Begins to connect; the stream is writable when that has ended, and [`Stream::finish_connect`] says how.
    ///
    /// # Errors
    /// A refusal that is known at once, or what else the operating system reports.
    fn connect(&self, to: SocketAddr) -> io::Result<Box<dyn Stream>>;

    /// An address on which nobody listens, and nobody will for as long as the run lasts.
    ///
    /// # Errors
    /// As [`Network::listen`].
    fn closed_address(&self) -> io::Result<SocketAddr>;
}

/// Something a poller can watch.
pub trait Source: Send + Debug {
    /// Has the poller tell of it from now on; what is ready already is told at the next wait.
    ///
    /// # Errors
    /// What the operating system reports.
    fn register(&mut self, registrar: &Registrar, token: Token) -> io::Result<()>;

    /// Has the poller tell of it no more.
    ///
    /// # Errors
    /// What the operating system reports.
    fn deregister(&mut self, registrar: &Registrar) -> io::Result<()>;

    /// Its own address.
    ///
    /// # Errors
    /// What the operating system reports.
    fn local_address(&self) -> io::Result<SocketAddr>;
}

/// Accepts streams. Dropping it ends it; streams that it accepted live on.
pub trait Listener: Source {
    /// The next stream, with its peer's address.
    ///
    /// # Errors
    /// `WouldBlock` when none waits; out of descriptors, and what else the operating system reports.
    fn accept(&mut self) -> io::Result<(Box<dyn Stream>, SocketAddr)>;
}

/// A connection. Dropping it closes it.
pub trait Stream: Source {
    /// Whether the connect has ended well; false: not yet.
    ///
    /// # Errors
    /// How it failed.
    fn finish_connect(&mut self) -> io::Result<bool>;

    /// Reads what is there; 0 is the end of the stream.
    ///
    /// # Errors
    /// `WouldBlock` when nothing is there yet, or what the connection died of.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize>;

    /// Writes as much as there is room for.
    ///
    /// # Errors
    /// `WouldBlock` when there is no room, or what the connection died of.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Ends one side or both.
    ///
    /// # Errors
    /// What the operating system reports.
    fn shutdown(&mut self, side: Shutdown) -> io::Result<()>;

    /// The peer's address.
    ///
    /// # Errors
    /// When it is not connected.
    fn remote_address(&self) -> io::Result<SocketAddr>;
}
