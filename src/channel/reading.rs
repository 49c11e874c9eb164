//! Reading: a batch of reads, then one read-complete; the end of the stream; automatic reading on and off.

use std::cell::RefCell;
use std::io;
use std::sync::Arc;

use super::{Channel, ChannelError, Core, Inbound, Io, Message, Phase};
use crate::net::Ready;
use crate::policy::{EndOfStream, HalfClosure, ReadComplete};

/// The most that one read takes. Netty's adaptive buffer ends there too.
const BUFFER: usize = 64 * 1024;
/// Reads in one batch before other channels get their turn (Netty `maxMessagesPerRead`).
const READS_A_BATCH: usize = 16;

thread_local! {
    /// One buffer for all channels of a loop.
    static BUFFER_OF_THREAD: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// What one read gave.
enum Step {
    /// Bytes, and whether more may be there for this batch.
    Bytes(Vec<u8>, bool),
    /// Nothing more for now.
    Nothing,
    End,
    Failed(io::Error),
}

/// How a batch ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BatchEnd {
    /// Everything that was there has been read.
    Empty,
    /// There may be more.
    Full,
    EndOfStream,
    Failed,
}

impl Core {
    fn may_read(&self) -> bool {
        self.phase == Phase::Active
            && self.readable
            && !self.input_ended
            && (self.settings.auto_read || self.read_asked)
    }

    fn step(&mut self) -> Step {
        let Io::Stream(stream) = &mut self.io else { return Step::Nothing };
        let read = BUFFER_OF_THREAD.with_borrow_mut(|buffer| {
            buffer.resize(BUFFER, 0);
            stream.read(buffer).map(|count| buffer[..count].to_vec())
        });
        match read {
            Ok(bytes) if bytes.is_empty() => Step::End,
            Ok(bytes) => {
                // A short read has emptied the socket, so asking again would only say so: unless the peer has ended
                // its side, which no further event will tell.
                self.readable = bytes.len() == BUFFER || self.read_closed;
                Step::Bytes(bytes, self.readable && !self.read_closed)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.readable = false;
                Step::Nothing
            }
            Err(error) => Step::Failed(error),
        }
    }
}

impl Channel {
    /// The poller says something of the channel's socket. Called on its loop.
    pub(super) fn ready(&self, ready: Ready) {
        let (connecting, waiting, listens) = {
            let mut core = self.core();
            core.readable |= ready.readable || ready.read_closed;
            core.read_closed |= ready.read_closed;
            (core.connecting.is_some(), core.outbox.is_waiting(), matches!(core.io, Io::Listener(_)))
        };
        if connecting {
            if ready.writable || ready.readable {
                self.finish_connect();
            }
        } else if ready.writable && waiting {
            self.write_out();
        }
        if listens {
            self.accept_all();
        } else {
            self.read_batch();
        }
    }

    /// An explicit read, where automatic reading is off.
    pub(super) fn ask_to_read(&self) {
        self.core().read_asked = true;
        self.later(|channel| channel.read_batch());
    }

    /// Switches automatic reading. What arrived meanwhile is read when it is switched on.
    pub fn set_auto_read(&self, on: bool) {
        self.core().settings.auto_read = on;
        if on {
            self.later(|channel| channel.read_batch());
        }
    }

    /// Reads what there is, up to a batch, and says so.
    pub(super) fn read_batch(&self) {
        let (mut reads, mut end) = (0, BatchEnd::Full);
        while reads < READS_A_BATCH {
            let step = {
                let mut core = self.core();
                if reads == 0 && !core.may_read() {
                    return;
                }
                core.step()
            };
            match step {
                Step::Bytes(bytes, more) => {
                    reads += 1;
                    self.fire(Inbound::Read(Message::Bytes(bytes)));
                    if !more {
                        end = BatchEnd::Empty;
                        break;
                    }
                }
                Step::Nothing => {
                    end = BatchEnd::Empty;
                    break;
                }
                Step::End => {
                    end = BatchEnd::EndOfStream;
                    break;
                }
                Step::Failed(error) => {
                    self.fire(Inbound::Exception(Arc::new(ChannelError::Io(error.to_string()))));
                    end = BatchEnd::Failed;
                    break;
                }
            }
        }
        self.end_batch(reads, end);
    }

    fn end_batch(&self, reads: usize, end: BatchEnd) {
        self.core().read_asked = false;
        let says_end =
            end == BatchEnd::EndOfStream && self.choices().end_of_stream == EndOfStream::OneMoreReadComplete;
        let says_batch = reads > 0 && self.choices().read_complete == ReadComplete::EachBatch;
        if says_end || says_batch {
            self.fire(Inbound::ReadComplete);
        }
        match end {
            BatchEnd::EndOfStream => self.input_ended(),
            BatchEnd::Failed => self.close_now(None),
            // Behind what waits on the loop: other channels and tasks get their turn.
            BatchEnd::Full => self.later(|channel| channel.read_batch()),
            BatchEnd::Empty if self.core().may_read() => self.read_batch(),
            BatchEnd::Empty => {}
        }
    }

    /// The peer has ended its side.
    fn input_ended(&self) {
        let heeded = self.choices().half_closure == HalfClosure::AsSet;
        let half_closure = {
            let mut core = self.core();
            core.input_ended = true;
            core.readable = false;
            core.settings.half_closure && heeded
        };
        if half_closure {
            self.fire(Inbound::InputShutdown);
        } else {
            self.close_now(None);
        }
    }
}
