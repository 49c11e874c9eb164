//! What a channel has yet to write: buffered by writes, handed to the socket by flushes, as far as it takes it.

use std::collections::VecDeque;
use std::io;

use super::{Channel, Core, Io, Message, Phase};
use crate::event_loop::ChannelWarning;
use crate::policy::WriteAfterClose;
use crate::promise::{Failure, Promise};

/// Messages in order, those before `flushed` due to leave.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    messages: VecDeque<Pending>,
    flushed: usize,
    /// What an embedded channel wrote.
    written: Vec<Vec<u8>>,
}

#[derive(Debug)]
struct Pending {
    bytes: Vec<u8>,
    done: usize,
    promise: Promise,
}

impl Outbox {
    /// Whether something flushed waits for the socket to have room.
    pub(super) fn is_waiting(&self) -> bool {
        self.flushed > 0
    }

    fn push(&mut self, bytes: Vec<u8>, promise: Promise) {
        self.messages.push_back(Pending { bytes, done: 0, promise });
    }

    /// Everything that has not left, for failing it.
    pub(super) fn take_promises(&mut self) -> Vec<Promise> {
        self.flushed = 0;
        self.messages.drain(..).map(|pending| pending.promise).collect()
    }

    /// Writes what is flushed as far as `write` takes it; the promises of what has left whole.
    fn write_with(&mut self, mut write: impl FnMut(&[u8]) -> io::Result<usize>) -> Written {
        let mut done = Vec::new();
        while self.flushed > 0 {
            let Some(first) = self.messages.front_mut() else { break };
            while first.done < first.bytes.len() {
                match write(&first.bytes[first.done..]) {
                    Ok(written) => first.done += written,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => return (done, Ok(())),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return (done, Err(error)),
                }
            }
            self.flushed -= 1;
            done.extend(self.messages.pop_front().map(|pending| pending.promise));
        }
        (done, Ok(()))
    }
}

/// The promises of what has left whole, and how the writing ended.
type Written = (Vec<Promise>, io::Result<()>);

impl Core {
    fn write_out(&mut self) -> Written {
        match &mut self.io {
            Io::Stream(stream) if self.phase == Phase::Active => {
                self.outbox.write_with(|bytes| stream.write(bytes))
            }
            Io::Embedded => {
                let mut written = Vec::new();
                let result = self.outbox.write_with(|bytes| {
                    written.push(bytes.to_vec());
                    Ok(bytes.len())
                });
                self.outbox.written.append(&mut written);
                result
            }
            _ => (Vec::new(), Ok(())),
        }
    }
}

fn refuse(promise: &Promise, what: &str) {
    promise.fail(Failure::Unsupported(what.into()));
}

impl Channel {
    /// A write has reached the head.
    pub(super) fn buffer(&self, message: Message, promise: Promise) {
        let bytes = match message {
            Message::Bytes(bytes) => bytes,
            Message::Text(_) => return refuse(&promise, "text; a socket takes bytes"),
            Message::Accepted(_) => return refuse(&promise, "a channel"),
        };
        let mut core = self.core();
        if core.phase == Phase::Closed {
            drop(core);
            self.write_after_close(&promise);
        } else {
            core.outbox.push(bytes, promise);
        }
    }

    fn write_after_close(&self, promise: &Promise) {
        match self.choices().write_after_close {
            WriteAfterClose::FailsFuture => _ = promise.fail(Failure::Closed),
            WriteAfterClose::Vanishes => {}
        }
    }

    /// Hands what has been written so far to the socket.
    pub(super) fn flush(&self) {
        let mut core = self.core();
        core.outbox.flushed = core.outbox.messages.len();
        let written = core.write_out();
        drop(core);
        self.written(written);
    }

    /// Writes what is flushed; called again when the socket has room.
    pub(super) fn write_out(&self) {
        let written = self.core().write_out();
        self.written(written);
    }

    fn written(&self, (done, result): Written) {
        done.iter().for_each(|promise| _ = promise.succeed(()));
        if let Err(error) = result {
            // As Netty: a write that fails closes the channel, which fails what is left.
            self.warn(ChannelWarning::Exception(&error.to_string()));
            self.close_now(None);
        }
    }

    /// What an embedded channel's handlers wrote.
    pub fn take_written(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.core().outbox.written)
    }
}
