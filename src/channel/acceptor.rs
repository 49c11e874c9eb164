//! A listening channel: accepts connections and hands each to a worker's loop.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use super::context::{Context, Handler, Inbound, Message};
use super::{Channel, Core, Group, Io, Phase, Settings};
use crate::event_loop::{ChannelWarning, Handle};
use crate::net::Stream;
use crate::policy::{AcceptOrder, ChildLoop, ParentClose};

/// Accepts in one batch before the loop's other work gets its turn.
const ACCEPTS_A_BATCH: usize = 16;

/// Sets a channel up: adds its handlers.
pub type Initializer = Arc<dyn Fn(&Channel) + Send + Sync>;

/// Gives the number of the next channel.
pub type NextTag = Arc<dyn Fn() -> super::ChannelTag + Send + Sync>;

/// What a listening channel needs to make children.
#[derive(Clone)]
pub(super) struct ChildMaker {
    pub(super) boss: Handle,
    pub(super) workers: Group,
    pub(super) initialize: Initializer,
    pub(super) next_tag: NextTag,
    pub(super) settings: Settings,
}

/// The last handler of a listening channel: registers what was accepted with a worker (Netty `ServerBootstrapAcceptor`).
#[derive(Debug)]
pub(super) struct Acceptor;

impl Handler for Acceptor {
    fn inbound(&self, ctx: &Context, event: Inbound) {
        match event {
            Inbound::Read(Message::Accepted(child)) => {
                if ctx.channel().choices().accept_order == AcceptOrder::ParentThenRegister {
                    ctx.channel().adopt(&child);
                }
            }
            event => ctx.fire(event),
        }
    }
}

impl Channel {
    /// Sets an accepted channel up and hands it to a loop.
    fn adopt(&self, child: &Channel) {
        let Some(children) = self.core().children.clone() else { return };
        (children.initialize)(child);
        let choices = self.choices();
        if choices.parent_close == ParentClose::ClosesChildren {
            let close = child.clone();
            self.close_future().listen(super::pipeline::PIPELINE_TAG, move || _ = close.close());
        }
        child.register(match choices.child_loop {
            ChildLoop::Workers => children.workers.next(),
            ChildLoop::Boss => &children.boss,
        });
    }
}

/// A connection and its peer's address.
type Accepted = (Box<dyn Stream>, SocketAddr);

impl Core {
    fn accept(&mut self) -> Option<io::Result<Accepted>> {
        let Io::Listener(listener) = &mut self.io else { return None };
        match listener.accept() {
            Ok(accepted) => Some(Ok(accepted)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.readable = false;
                None
            }
            Err(error) => Some(Err(error)),
        }
    }
}

impl Channel {
    /// A channel for an accepted connection; only a bound channel makes any.
    fn child(&self, stream: Box<dyn Stream>, remote: SocketAddr) -> Option<Channel> {
        let children = self.core().children.clone()?;
        let io = Io::Stream(stream);
        let child = Channel::new(
            (children.next_tag)(),
            Some(self.clone()),
            self.shared.clock.clone(),
            children.settings,
            io,
        );
        child.core().remote = Some(remote);
        Some(child)
    }

    /// Accepts what waits, up to a batch, and hands each to the pipeline.
    pub(super) fn accept_all(&self) {
        let mut accepted = 0;
        while accepted < ACCEPTS_A_BATCH && self.core().phase == Phase::Active {
            let next = self.core().accept();
            match next {
                Some(Ok((stream, remote))) => {
                    accepted += 1;
                    if let Some(child) = self.child(stream, remote) {
                        if self.choices().accept_order == AcceptOrder::RegisterThenParent {
                            self.adopt(&child);
                        }
                        self.fire(Inbound::Read(Message::Accepted(child)));
                    }
                }
                Some(Err(error)) => {
                    // Out of descriptors or a connection that died in the queue: the listener lives on.
                    self.warn(ChannelWarning::Exception(&error.to_string()));
                    break;
                }
                None => break,
            }
        }
        if accepted > 0 {
            self.fire(Inbound::ReadComplete);
        }
        if accepted == ACCEPTS_A_BATCH {
            self.later(|channel| channel.accept_all());
        }
    }
}
