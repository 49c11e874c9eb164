//! One direction of a connection in memory, and how a simulated poller hears of it.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use super::{Ready, Token};
use crate::poller::Wake;

/// What a simulated poller has been told of and not yet given to its loop. Clones are the same set.
#[derive(Clone, Debug)]
pub struct ReadySet {
    ready: Arc<Mutex<Vec<Ready>>>,
    waker: Arc<dyn Wake>,
}

impl ReadySet {
    /// The set of the poller that this wakes.
    pub fn new(waker: Arc<dyn Wake>) -> ReadySet {
        ReadySet { ready: Arc::default(), waker }
    }

    /// Tells of a change and wakes the poller.
    pub(super) fn tell(&self, change: Ready) {
        let mut ready = lock(&self.ready);
        match ready.iter_mut().find(|ready| ready.token == change.token) {
            Some(ready) => {
                ready.readable |= change.readable;
                ready.writable |= change.writable;
                ready.read_closed |= change.read_closed;
            }
            None => ready.push(change),
        }
        drop(ready);
        self.waker.wake();
    }

    /// Gives what has been told.
    pub fn take_into(&self, ready: &mut Vec<Ready>) {
        ready.append(&mut lock(&self.ready));
    }

    /// Forgets what was told of a source.
    pub(super) fn forget(&self, token: Token) {
        lock(&self.ready).retain(|ready| ready.token != token);
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that can panic runs under these locks.
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Where an end of a pipe is registered.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    pub(super) set: ReadySet,
    pub(super) token: Token,
}

impl Watch {
    pub(super) fn readable(&self, read_closed: bool) {
        self.set.tell(Ready { token: self.token, readable: true, writable: false, read_closed });
    }

    pub(super) fn writable(&self) {
        self.set.tell(Ready { token: self.token, readable: false, writable: true, read_closed: false });
    }
}

/// One direction: bytes that have arrived, and what the writer may still send.
#[derive(Debug)]
pub(super) struct Pipe {
    arrived: VecDeque<u8>,
    /// Room as the writer knows it: it hears of what was read one latency later.
    room: usize,
    /// The writer found no room, and wants to hear when there is some.
    blocked: bool,
    end: End,
    reader_gone: bool,
    pub(super) reader: Option<Watch>,
    pub(super) writer: Option<Watch>,
}

/// How a direction ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Not yet.
    Open,
    /// By a FIN: what arrived before it can be read.
    Finished,
    /// By a reset: nothing more can be read.
    Reset,
}

impl Pipe {
    pub(super) fn new(capacity: usize) -> Pipe {
        Pipe {
            arrived: VecDeque::new(),
            room: capacity,
            blocked: false,
            end: End::Open,
            reader_gone: false,
            reader: None,
            writer: None,
        }
    }

    /// The writer takes room for as much as there is.
    pub(super) fn reserve(&mut self, wanted: usize) -> io::Result<usize> {
        if self.reader_gone {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let taken = wanted.min(self.room);
        if taken == 0 && wanted > 0 {
            self.blocked = true;
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.room -= taken;
        Ok(taken)
    }

    /// Bytes arrive.
    pub(super) fn arrive(&mut self, bytes: Vec<u8>) {
        self.arrived.extend(bytes);
        self.reader.iter().for_each(|watch| watch.readable(false));
    }

    /// The end arrives.
    pub(super) fn finish(&mut self, end: End) {
        if self.end == End::Open {
            self.end = end;
        }
        self.reader.iter().for_each(|watch| watch.readable(true));
    }

    /// The writer hears that the reader is gone.
    pub(super) fn reader_left(&mut self) {
        self.reader_gone = true;
        self.writer.iter().for_each(Watch::writable);
    }

    /// The writer hears of bytes that were read.
    pub(super) fn freed(&mut self, count: usize) {
        self.room += count;
        if std::mem::take(&mut self.blocked) {
            self.writer.iter().for_each(Watch::writable);
        }
    }

    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.end == End::Reset {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        let count = buffer.len().min(self.arrived.len());
        if count == 0 && !buffer.is_empty() && self.end == End::Open {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        for (slot, byte) in buffer.iter_mut().zip(self.arrived.drain(..count)) {
            *slot = byte;
        }
        Ok(count)
    }

    pub(super) fn has_unread(&self) -> bool {
        !self.arrived.is_empty()
    }

    /// At registration: what is there already is told.
    pub(super) fn watch_reader(&mut self, watch: Watch) {
        if self.has_unread() || self.end != End::Open {
            watch.readable(self.end != End::Open);
        }
        self.reader = Some(watch);
    }
}
