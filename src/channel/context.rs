//! What a handler is, what passes through it, and what it sees of its pipeline.

use std::fmt::Debug;
use std::sync::Arc;

use super::pipeline::Entry;
use super::{Channel, ChannelError};
use crate::event_loop::Executor;
use crate::promise::Promise;

/// What is read or written.
#[derive(Clone, Debug)]
pub enum Message {
    /// Bytes; the only kind a socket takes.
    Bytes(Vec<u8>),
    /// A line of text.
    Text(String),
    /// A connection that a listening channel accepted.
    Accepted(Channel),
}

/// An event, from the head of a pipeline to its tail.
#[derive(Clone, Debug)]
pub enum Inbound {
    /// The channel belongs to a loop.
    Registered,
    /// It does no more.
    Unregistered,
    /// It is connected or bound.
    Active,
    /// It is no more.
    Inactive,
    /// A message was read.
    Read(Message),
    /// This batch of reads is over.
    ReadComplete,
    /// The peer has ended its side, and the channel stays open for writing.
    InputShutdown,
    /// An error.
    Exception(Arc<ChannelError>),
}

/// An operation, from the tail of a pipeline to its head.
#[derive(Debug)]
pub enum Outbound {
    /// Put a message into the channel's buffer.
    Write(Message, Promise),
    /// Hand what is in the buffer to the socket.
    Flush,
    /// Read once, where reading is not automatic.
    Read,
    /// Close.
    Close(Promise),
}

/// Which way a handler looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It sees events.
    Inbound,
    /// It sees operations.
    Outbound,
}

/// One step of a pipeline. Its methods run on its executor's thread; one that belongs to one pipeline only is never
/// run by two threads at once, but it may be entered again by what it does itself, so state needs a cell or a lock
/// that is not held while an event is passed on.
pub trait Handler: Send + Sync + Debug {
    /// Which way it looks; asked once, when it is added.
    fn direction(&self) -> Direction {
        Direction::Inbound
    }

    /// Whether it may be in several pipelines at once.
    fn is_sharable(&self) -> bool {
        false
    }

    /// It was added to a pipeline.
    fn added(&self, _ctx: &Context) {}

    /// It was removed from its pipeline, or the channel has ended.
    fn removed(&self, _ctx: &Context) {}

    /// An event. What is not passed on ends here. A panic becomes an [`Inbound::Exception`] of this handler.
    fn inbound(&self, ctx: &Context, event: Inbound) {
        ctx.fire(event);
    }

    /// An operation. What is not passed on ends here.
    fn outbound(&self, ctx: &Context, operation: Outbound) {
        ctx.forward(operation);
    }
}

/// A handler's place in a pipeline.
#[derive(Clone, Debug)]
pub struct Context {
    pub(super) channel: Channel,
    pub(super) entry: Arc<Entry>,
}

impl Context {
    /// The channel.
    pub fn channel(&self) -> &Channel {
        &self.channel
    }

    /// The handler's name.
    pub fn name(&self) -> &str {
        &self.entry.name
    }

    /// What runs the handler: its own executor, or the channel's loop.
    pub fn executor(&self) -> &dyn Executor {
        self.entry.executor(&self.channel)
    }

    /// A promise whose listeners run on the handler's executor.
    pub fn promise(&self) -> Promise {
        let executor = self.entry.shared_executor(&self.channel);
        Promise::new(executor, self.channel.shared.clock.clone())
    }

    /// Passes an event on towards the tail.
    pub fn fire(&self, event: Inbound) {
        self.channel.shared.pipeline.towards_tail(&self.channel, self.entry.place, event);
    }

    /// Passes an operation on towards the head.
    pub fn forward(&self, operation: Outbound) {
        self.channel.shared.pipeline.towards_head(&self.channel, self.entry.place, operation);
    }

    /// Writes a message from here towards the head, past no handler behind this one.
    pub fn write(&self, message: Message) -> Promise {
        let promise = self.promise();
        self.forward(Outbound::Write(message, promise.clone()));
        promise
    }

    /// Writes a message from here and flushes it.
    pub fn write_and_flush(&self, message: Message) -> Promise {
        let promise = self.write(message);
        self.forward(Outbound::Flush);
        promise
    }

    /// Closes the channel from here.
    pub fn close(&self) -> Promise {
        let promise = self.promise();
        self.forward(Outbound::Close(promise.clone()));
        promise
    }
}
