//! Channels on the loop, in Netty's shape: a connection or a listening socket, bound to one loop for life, whose events
//! pass through a pipeline of handlers.
//!
//! Any thread may use a [`Channel`]; what it asks for is done on the channel's loop. Sources of the behaviour: Netty's
//! `AbstractChannel.java`, `AbstractNioByteChannel.java`, `DefaultChannelPipeline.java`, `ServerBootstrap.java`.

mod acceptor;
mod bootstrap;
mod codec;
mod context;
mod embedded;
mod lifecycle;
mod outbox;
mod pipeline;
mod reading;

use std::fmt::{self, Debug};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use thiserror::Error;

pub use acceptor::{Initializer, NextTag};
pub use bootstrap::{Connector, Group, ServerBootstrap};
pub use codec::{LineDecoder, StringDecoder, StringEncoder};
pub use context::{Context, Direction, Handler, Inbound, Message, Outbound};
pub use embedded::Embedded;
pub use pipeline::{PIPELINE_TAG, Pipeline, Shareable};

use crate::clock::Clock;
use crate::event_loop::{Executor, Handle, Rejected, Task};
use crate::net::{Listener, Source, Stream, Token};
use crate::promise::Promise;
use acceptor::ChildMaker;
use outbox::Outbox;

/// The caller's own number for a channel; passed on to the observer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChannelTag(pub u32);

/// A connection or a listening socket. Clones are the same channel.
#[derive(Clone)]
pub struct Channel {
    shared: Arc<Shared>,
}

struct Shared {
    tag: ChannelTag,
    parent: Option<Channel>,
    event_loop: Arc<LateLoop>,
    clock: Clock,
    pipeline: Pipeline,
    close_future: Promise,
    core: Mutex<Core>,
}

/// What only the channel's own loop changes. Locked for single steps, never while a handler runs.
struct Core {
    io: Io,
    token: Option<Token>,
    phase: Phase,
    settings: Settings,
    outbox: Outbox,
    /// The poller told of something to read that has not been read yet.
    readable: bool,
    /// The poller told that the peer has ended its side.
    read_closed: bool,
    /// The end of the stream was read, and the channel stays open for writing.
    input_ended: bool,
    /// A read was asked for while automatic reading is off.
    read_asked: bool,
    connecting: Option<Promise>,
    remote: Option<SocketAddr>,
    /// What a listening channel makes its children by.
    children: Option<ChildMaker>,
}

enum Io {
    /// Not bound or connected yet.
    Nothing,
    Listener(Box<dyn Listener>),
    Stream(Box<dyn Stream>),
    /// No socket: what handlers write is kept.
    Embedded,
}

impl Io {
    /// What a poller can watch, where there is a socket.
    fn source(&mut self) -> Option<&mut dyn Source> {
        match self {
            Io::Listener(listener) => Some(&mut **listener),
            Io::Stream(stream) => Some(&mut **stream),
            Io::Nothing | Io::Embedded => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    Active,
    Closed,
}

/// What can be set of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Read without being asked (Netty `AUTO_READ`).
    pub auto_read: bool,
    /// Stay open for writing when the peer has ended its side (Netty `ALLOW_HALF_CLOSURE`).
    pub half_closure: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { auto_read: true, half_closure: false }
    }
}

/// What an error that reached the pipeline was.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ChannelError {
    /// A handler raised it.
    #[error("{0}")]
    Raised(String),
    /// The socket reported it.
    #[error("{0}")]
    Io(String),
    /// A frame was longer than its decoder allows.
    #[error("a frame of more than {limit} bytes")]
    FrameTooLong {
        /// The decoder's limit.
        limit: usize,
    },
    /// Bytes that are no UTF-8.
    #[error("bytes that are no UTF-8")]
    NotUtf8,
}

/// The channel is on no loop yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the channel is not registered to an event loop")]
pub struct NotRegistered;

/// A handler that keeps state was added to a second pipeline.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the handler {name} is not sharable, so it can't be added twice")]
pub struct NotSharable {
    /// The handler's name.
    pub name: String,
}

/// The loop of a channel, once it is registered: lets futures belong to it before.
#[derive(Debug, Default)]
struct LateLoop(OnceLock<Handle>);

impl Executor for LateLoop {
    fn in_loop(&self) -> bool {
        self.0.get().is_some_and(Executor::in_loop)
    }

    fn execute(&self, task: Task) -> Result<(), Rejected> {
        self.0.get().map_or(Err(Rejected), |handle| handle.execute(task))
    }

    fn notify(&self, listener: Task) {
        match self.0.get() {
            Some(handle) => handle.notify(listener),
            // Never registered: there is no loop, so the thread that completes the future runs it, as Netty does.
            None => (listener.work)(),
        }
    }

    fn refuses_wait(&self, done: bool) -> bool {
        self.0.get().is_some_and(|handle| handle.refuses_wait(done))
    }
}

impl Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Channel({})", self.shared.tag.0)
    }
}

impl Channel {
    fn new(tag: ChannelTag, parent: Option<Channel>, clock: Clock, settings: Settings, io: Io) -> Channel {
        let event_loop = Arc::new(LateLoop::default());
        let close_future = Promise::new(event_loop.clone(), clock.clone());
        let remote = match &io {
            Io::Stream(stream) => stream.remote_address().ok(),
            _ => None,
        };
        let core = Core {
            io,
            token: None,
            phase: Phase::Open,
            settings,
            outbox: Outbox::default(),
            readable: false,
            read_closed: false,
            input_ended: false,
            read_asked: false,
            connecting: None,
            remote,
            children: None,
        };
        let pipeline = Pipeline::default();
        Channel {
            shared: Arc::new(Shared {
                tag,
                parent,
                event_loop,
                clock,
                pipeline,
                close_future,
                core: Mutex::new(core),
            }),
        }
    }

    /// The caller's number for it.
    pub fn tag(&self) -> ChannelTag {
        self.shared.tag
    }

    /// The listening channel that accepted it.
    pub fn parent(&self) -> Option<&Channel> {
        self.shared.parent.as_ref()
    }

    /// Its handlers.
    pub fn pipeline(&self) -> &Pipeline {
        &self.shared.pipeline
    }

    /// The loop it is registered to.
    ///
    /// # Errors
    /// When it is not registered yet: an accepted child belongs to no loop while its parent sees it.
    pub fn event_loop(&self) -> Result<&Handle, NotRegistered> {
        self.shared.event_loop.0.get().ok_or(NotRegistered)
    }

    /// Done when it is closed.
    pub fn close_future(&self) -> &Promise {
        &self.shared.close_future
    }

    /// A promise that belongs to its loop.
    pub fn promise(&self) -> Promise {
        Promise::new(self.shared.event_loop.clone(), self.shared.clock.clone())
    }

    /// Whether it is connected or bound.
    pub fn is_active(&self) -> bool {
        self.core().phase == Phase::Active
    }

    /// Whether it is closed.
    pub fn is_closed(&self) -> bool {
        self.core().phase == Phase::Closed
    }

    /// Its own address.
    ///
    /// # Errors
    /// When it is not bound or connected, or is closed.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        match &self.core().io {
            Io::Listener(listener) => listener.local_address(),
            Io::Stream(stream) => stream.local_address(),
            Io::Nothing | Io::Embedded => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// The peer's address; known until the channel object goes, also after it is closed.
    pub fn remote_address(&self) -> Option<SocketAddr> {
        self.core().remote
    }

    /// Writes a message through the whole pipeline and flushes it.
    pub fn write_and_flush(&self, message: Message) -> Promise {
        let promise = self.write(message);
        self.outbound(Outbound::Flush);
        promise
    }

    /// Writes a message through the whole pipeline; it leaves with the next flush.
    pub fn write(&self, message: Message) -> Promise {
        let promise = self.promise();
        self.outbound(Outbound::Write(message, promise.clone()));
        promise
    }

    /// Closes it, through the whole pipeline.
    pub fn close(&self) -> Promise {
        let promise = self.promise();
        self.outbound(Outbound::Close(promise.clone()));
        promise
    }

    /// Sends an operation through the whole pipeline, from its tail.
    pub fn outbound(&self, operation: Outbound) {
        self.shared.pipeline.enter_tail(self, operation);
    }

    /// Sends an event through the whole pipeline, from its head.
    pub fn fire(&self, event: Inbound) {
        self.shared.pipeline.enter_head(self, event);
    }

    fn core(&self) -> MutexGuard<'_, Core> {
        // No handler and nothing else that can panic runs under the lock.
        self.shared.core.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
