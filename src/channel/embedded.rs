//! A channel without a socket, whose loop is turned by the caller: for trying handlers.
//!
//! Source of the behaviour: Netty's `EmbeddedChannel.java`.

use std::sync::{Arc, Mutex};

use super::{Channel, ChannelTag, Context, Handler, Inbound, Initializer, Io, Message, Settings};
use crate::clock::Clock;
use crate::event_loop::{EventLoop, Observer};
use crate::policy::Policy;
use crate::poller::NoWait;
use crate::scenario::LoopKind;

/// A channel and its loop, on the calling thread.
#[derive(Debug)]
pub struct Embedded {
    event_loop: EventLoop,
    channel: Channel,
    read: Arc<Mutex<Vec<Message>>>,
}

/// The last handler: keeps what got through.
#[derive(Debug)]
struct Keep(Arc<Mutex<Vec<Message>>>);

impl Handler for Keep {
    fn inbound(&self, ctx: &Context, event: Inbound) {
        match event {
            Inbound::Read(message) => self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(message),
            event => ctx.fire(event),
        }
    }
}

impl Embedded {
    /// A registered and active channel with these handlers.
    pub fn new(
        clock: &Clock,
        tag: ChannelTag,
        policy: Policy,
        observer: Arc<dyn Observer>,
        initialize: &Initializer,
    ) -> std::io::Result<Embedded> {
        let mut event_loop =
            EventLoop::new(clock.clone(), Box::new(NoWait), policy, (LoopKind::EventLoop, None), observer)?;
        let channel = Channel::new(tag, None, clock.clone(), Settings::default(), Io::Embedded);
        let read = Arc::default();
        initialize(&channel);
        // A new handler is in no other pipeline, so it is taken.
        let _ = channel.pipeline().add_last(&channel, "kept", Keep(Arc::clone(&read)));
        channel.register(event_loop.handle());
        event_loop.turn()?;
        Ok(Embedded { event_loop, channel, read })
    }

    /// The channel.
    pub fn channel(&self) -> &Channel {
        &self.channel
    }

    /// Sends messages in, then one read-complete.
    ///
    /// # Errors
    /// None that its poller would report: it has none.
    pub fn write_inbound(&mut self, messages: Vec<Message>) -> std::io::Result<()> {
        self.channel.later(move |channel| {
            messages.into_iter().for_each(|message| channel.fire(Inbound::Read(message)));
            channel.fire(Inbound::ReadComplete);
        });
        self.event_loop.turn()
    }

    /// Closes the channel and runs what follows from it.
    ///
    /// # Errors
    /// As [`Embedded::write_inbound`].
    pub fn finish(&mut self) -> std::io::Result<()> {
        self.channel.close();
        self.event_loop.turn()?;
        self.event_loop.turn()
    }

    /// What got through all handlers.
    pub fn take_read(&self) -> Vec<Message> {
        std::mem::take(&mut *self.read.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }
}
