//! Registration, connect and close: the order in which futures complete and handlers hear of it.

use std::io;
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;

use super::{Channel, ChannelError, Inbound, Io, Phase};
use crate::event_loop::{ChannelWarning, Handle, IoHandler};
use crate::net::{Network, Ready, Registrar, Token};
use crate::policy::{AddressAfterClose, ChannelChoices, CloseOrder, ConnectOrder, TailException};
use crate::promise::{Failure, Promise};

impl IoHandler for Channel {
    fn ready(&self, ready: Ready) {
        Channel::ready(self, ready);
    }

    fn register_anew(&self, from: &Registrar, to: &Registrar, token: Token) -> io::Result<()> {
        let mut core = self.core();
        let Some(source) = core.io.source() else { return Ok(()) };
        source.deregister(from)?;
        source.register(to, token)
    }
}

impl Channel {
    /// The choices of its loop; Netty's while it has none.
    pub(super) fn choices(&self) -> ChannelChoices {
        self.event_loop().map_or(ChannelChoices::NETTY, |handle| handle.policy().channels)
    }

    /// Binds the channel to a loop: at once when this is its thread, else as a task of it.
    pub(super) fn register(&self, event_loop: &Handle) {
        self.belong_to(event_loop);
        self.on_loop(|channel| {
            if let Err(error) = channel.watch() {
                channel.warn(ChannelWarning::Exception(&error.to_string()));
                return channel.close_now(None);
            }
            channel.tell_registered();
            let has_socket = matches!(channel.core().io, Io::Stream(_) | Io::Embedded);
            if has_socket {
                channel.become_active();
            }
        });
    }

    /// From here on it belongs to this loop. The first call decides, and there is one only.
    pub(super) fn belong_to(&self, event_loop: &Handle) {
        let _ = self.shared.event_loop.0.set(event_loop.clone());
    }

    /// Handlers hear that they are there and that the channel has a loop.
    pub(super) fn tell_registered(&self) {
        self.pipeline().tell_added(self);
        self.fire(Inbound::Registered);
    }

    /// Has the poller of its loop tell of its socket.
    pub(super) fn watch(&self) -> io::Result<()> {
        let Ok(handle) = self.event_loop() else { return Ok(()) };
        let mut core = self.core();
        let Some(source) = core.io.source() else { return Ok(()) };
        let token = handle.watch(source, Arc::new(self.clone()))?;
        core.token = Some(token);
        Ok(())
    }

    pub(super) fn become_active(&self) {
        self.core().phase = Phase::Active;
        self.fire(Inbound::Active);
        self.read_batch();
    }

    /// Connects, on the channel's loop.
    pub(super) fn connect(&self, network: &dyn Network, to: SocketAddr, promise: Promise) {
        match network.connect(to) {
            Ok(stream) => {
                let mut core = self.core();
                core.io = Io::Stream(stream);
                core.remote = Some(to);
                core.connecting = Some(promise);
                drop(core);
                if let Err(error) = self.watch() {
                    self.connect_failed(&error);
                }
            }
            Err(error) => {
                self.core().connecting = Some(promise);
                self.connect_failed(&error);
            }
        }
    }

    /// The poller says that the connect may have ended.
    pub(super) fn finish_connect(&self) {
        let result = match &mut self.core().io {
            Io::Stream(stream) => stream.finish_connect(),
            _ => return,
        };
        match result {
            Ok(false) => {}
            Ok(true) => {
                let promise = self.core().connecting.take();
                let succeed = || promise.iter().for_each(|promise| _ = promise.succeed(()));
                match self.choices().connect_order {
                    ConnectOrder::FutureThenActive => {
                        succeed();
                        self.become_active();
                    }
                    ConnectOrder::ActiveThenFuture => {
                        self.become_active();
                        succeed();
                    }
                }
            }
            Err(error) => self.connect_failed(&error),
        }
    }

    fn connect_failed(&self, error: &io::Error) {
        let promise = self.core().connecting.take();
        promise.iter().for_each(|promise| _ = promise.fail(Failure::io(error)));
        self.close_now(None);
    }

    /// Ends the writing side by a FIN, on the channel's loop; reading goes on.
    pub fn end_output(&self) {
        self.later(|channel| {
            if let Io::Stream(stream) = &mut channel.core().io {
                // A peer that is gone already needs no FIN.
                let _ = stream.shutdown(Shutdown::Write);
            }
        });
    }

    /// Closes the socket and completes what depends on it; handlers hear of it in a task of its own.
    pub(super) fn close_now(&self, promise: Option<Promise>) {
        let choices = self.choices();
        let (io, token, unsent, was_active) = {
            let mut core = self.core();
            if core.phase == Phase::Closed {
                drop(core);
                return promise.iter().for_each(|promise| _ = promise.succeed(()));
            }
            let was_active = core.phase == Phase::Active;
            core.phase = Phase::Closed;
            if choices.address_after_close == AddressAfterClose::Forgotten {
                core.remote = None;
            }
            let io = std::mem::replace(&mut core.io, Io::Nothing);
            (io, core.token.take(), core.outbox.take_promises(), was_active)
        };
        self.unwatch(io, token);
        let complete = move |channel: &Channel| {
            channel.close_future().succeed(());
            promise.iter().for_each(|promise| _ = promise.succeed(()));
            unsent.iter().for_each(|promise| _ = promise.fail(Failure::Closed));
        };
        let tell = move |channel: &Channel| {
            if was_active {
                channel.fire(Inbound::Inactive);
            }
            channel.fire(Inbound::Unregistered);
            channel.pipeline().remove_all(channel);
        };
        match choices.close_order {
            CloseOrder::FutureThenInactive => {
                complete(self);
                self.later(tell);
            }
            CloseOrder::InactiveThenFuture => self.later(move |channel| {
                tell(channel);
                complete(channel);
            }),
        }
    }

    fn unwatch(&self, mut io: Io, token: Option<crate::net::Token>) {
        let (Ok(handle), Some(token)) = (self.event_loop(), token) else { return };
        if let Some(source) = io.source() {
            handle.unwatch(source, token);
        }
    }

    pub(super) fn exception_at_tail(&self, error: &ChannelError) {
        self.warn(ChannelWarning::Exception(&error.to_string()));
        if self.choices().tail_exception == TailException::Closes {
            self.close_now(None);
        }
    }
}
