//! The handlers of a channel, in order. Events find the next handler towards the tail, operations the next towards
//! the head; each runs on its own executor, at once when the thread is already there.
//!
//! A handler's place is a number with room on both sides, so that a handler that has been removed still knows what
//! comes after it, and one can be put in between.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use super::context::{Context, Direction, Handler, Inbound, Outbound};
use super::{Channel, ChannelError, Group, NotSharable};
use crate::event_loop::{ChannelWarning, Executor, Handle, Tag, Task};
use crate::policy::HandlerGroup;
use crate::world::WorldEnded;

/// Room between two neighbours when handlers are added at the end.
const ROOM: u64 = 1 << 32;

/// Tag of the tasks that carry events between executors: they belong to no task of the caller's.
pub const PIPELINE_TAG: Tag = Tag(u32::MAX);

/// The handlers of a channel.
#[derive(Debug, Default)]
pub struct Pipeline {
    entries: Mutex<Vec<Arc<Entry>>>,
}

/// One handler in one pipeline.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: Arc<str>,
    pub(super) place: u64,
    /// Which way the handler looks, asked once: every hop needs it.
    direction: Direction,
    handler: Shareable,
    executor: Option<Handle>,
}

/// A handler, and whether it is in a pipeline already. Clones are the same handler.
#[derive(Clone, Debug)]
pub struct Shareable {
    handler: Arc<dyn Handler>,
    used: Arc<AtomicBool>,
}

impl Shareable {
    /// A handler that has not been added anywhere.
    pub fn new(handler: impl Handler + 'static) -> Shareable {
        Shareable { handler: Arc::new(handler), used: Arc::default() }
    }
}

impl<H: Handler + 'static> From<H> for Shareable {
    fn from(handler: H) -> Shareable {
        Shareable::new(handler)
    }
}

impl Entry {
    pub(super) fn executor<'a>(&'a self, channel: &'a Channel) -> &'a dyn Executor {
        match &self.executor {
            Some(handle) => handle,
            None => &*channel.shared.event_loop,
        }
    }

    pub(super) fn shared_executor(&self, channel: &Channel) -> Arc<dyn Executor> {
        match &self.executor {
            Some(handle) => Arc::new(handle.clone()),
            None => channel.shared.event_loop.clone(),
        }
    }
}

impl Pipeline {
    /// Adds a handler at the end. It is told so at once, or at registration when the channel has no loop yet.
    ///
    /// # Errors
    /// A handler that is not sharable and was added before, here or elsewhere.
    pub fn add_last(
        &self,
        channel: &Channel,
        name: &str,
        handler: impl Into<Shareable>,
    ) -> Result<(), NotSharable> {
        self.add(channel, name, None, handler.into())
    }

    /// The same for a handler that runs on a group's executor: the channel is pinned to one of it.
    ///
    /// # Errors
    /// As [`Pipeline::add_last`].
    pub fn add_last_on(
        &self,
        channel: &Channel,
        group: &Group,
        name: &str,
        handler: impl Into<Shareable>,
    ) -> Result<(), NotSharable> {
        // An accepted channel has no loop yet, so no choices of its own.
        let executor = match channel.parent().unwrap_or(channel).choices().handler_group {
            HandlerGroup::Pinned => Some(group.next()),
            HandlerGroup::FirstOnly => Some(group.first()),
            HandlerGroup::Ignored => None,
        };
        self.add(channel, name, executor.cloned(), handler.into())
    }

    fn add(
        &self,
        channel: &Channel,
        name: &str,
        executor: Option<Handle>,
        handler: Shareable,
    ) -> Result<(), NotSharable> {
        if handler.used.swap(true, Ordering::AcqRel) && !handler.handler.is_sharable() {
            return Err(NotSharable { name: name.into() });
        }
        let direction = handler.handler.direction();
        let mut entries = self.lock();
        let place = entries.last().map_or(0, |last| last.place) + ROOM;
        let entry = Arc::new(Entry { name: name.into(), place, direction, handler, executor });
        entries.push(entry.clone());
        drop(entries);
        if channel.event_loop().is_ok() {
            entry.run(channel, Call::Added);
        }
        Ok(())
    }

    /// Takes a handler out; it is told so.
    pub fn remove(&self, channel: &Channel, name: &str) -> bool {
        let mut entries = self.lock();
        let Some(index) = entries.iter().position(|entry| &*entry.name == name) else { return false };
        let entry = entries.remove(index);
        drop(entries);
        entry.run(channel, Call::Removed);
        true
    }

    /// The names of the handlers, from head to tail.
    pub fn names(&self) -> Vec<String> {
        self.lock().iter().map(|entry| entry.name.to_string()).collect()
    }

    /// At registration: tells the handlers that were added before that they are there.
    pub(super) fn tell_added(&self, channel: &Channel) {
        let entries = self.lock().clone();
        entries.into_iter().for_each(|entry| entry.run(channel, Call::Added));
    }

    /// When the channel has ended: takes all handlers out, from the tail.
    pub(super) fn remove_all(&self, channel: &Channel) {
        let entries = std::mem::take(&mut *self.lock());
        entries.into_iter().rev().for_each(|entry| entry.run(channel, Call::Removed));
    }

    pub(super) fn enter_head(&self, channel: &Channel, event: Inbound) {
        self.towards_tail(channel, 0, event);
    }

    pub(super) fn enter_tail(&self, channel: &Channel, operation: Outbound) {
        self.towards_head(channel, u64::MAX, operation);
    }

    pub(super) fn towards_tail(&self, channel: &Channel, place: u64, event: Inbound) {
        let next = {
            let entries = self.lock();
            let mut behind = entries.iter().filter(|entry| entry.place > place);
            behind.find(|entry| entry.direction == Direction::Inbound).cloned()
        };
        match next {
            Some(entry) => entry.run(channel, Call::Inbound(event)),
            None => channel.on_loop(move |channel| channel.reached_tail(event)),
        }
    }

    pub(super) fn towards_head(&self, channel: &Channel, place: u64, operation: Outbound) {
        let next = {
            let entries = self.lock();
            let mut before = entries.iter().rev().filter(|entry| entry.place < place);
            before.find(|entry| entry.direction == Direction::Outbound).cloned()
        };
        match next {
            Some(entry) => entry.run(channel, Call::Outbound(operation)),
            None => channel.on_loop(move |channel| channel.reached_head(operation)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Entry>>> {
        // No handler runs under the lock.
        self.entries.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// What is asked of a handler.
enum Call {
    Added,
    Removed,
    Inbound(Inbound),
    Outbound(Outbound),
}

impl Entry {
    /// Calls the handler on its executor: at once when this is its thread, else as a task there.
    fn run(self: Arc<Self>, channel: &Channel, call: Call) {
        let here = self.executor(channel).in_loop();
        let ctx = Context { channel: channel.clone(), entry: self };
        if here {
            ctx.call(call);
        } else {
            let entry = ctx.entry.clone();
            let run = Task { tag: PIPELINE_TAG, work: Box::new(move || ctx.call(call)) };
            // An executor that has ended runs no handler any more.
            let _ = entry.executor(channel).execute(run);
        }
    }
}

impl Context {
    fn call(&self, call: Call) {
        let handler = &self.entry.handler.handler;
        let was_exception = matches!(call, Call::Inbound(Inbound::Exception(_)));
        let called = catch_unwind(AssertUnwindSafe(|| match call {
            Call::Added => handler.added(self),
            Call::Removed => handler.removed(self),
            Call::Inbound(event) => handler.inbound(self, event),
            Call::Outbound(operation) => handler.outbound(self, operation),
        }));
        let Err(payload) = called else { return };
        if payload.is::<WorldEnded>() {
            resume_unwind(payload);
        }
        let text = payload.downcast_ref::<&str>().map_or("an error", |text| text);
        if was_exception {
            // An error while handling an error: Netty logs both and goes on.
            self.channel.warn(ChannelWarning::Exception(text));
        } else {
            self.call(Call::Inbound(Inbound::Exception(Arc::new(ChannelError::Raised(text.into())))));
        }
    }
}

impl Channel {
    /// Does something on the channel's loop: at once when this is its thread.
    pub(super) fn on_loop(&self, work: impl FnOnce(&Channel) + Send + 'static) {
        if self.shared.event_loop.in_loop() {
            work(self);
        } else {
            self.later(work);
        }
    }

    /// Does something on the channel's loop, behind what waits there.
    pub(super) fn later(&self, work: impl FnOnce(&Channel) + Send + 'static) {
        let channel = self.clone();
        let task = Task { tag: PIPELINE_TAG, work: Box::new(move || work(&channel)) };
        // A loop that has ended closes no more channels; the run is over.
        let _ = self.shared.event_loop.execute(task);
    }

    pub(super) fn warn(&self, warning: ChannelWarning<'_>) {
        if let Ok(handle) = self.event_loop() {
            handle.observer().channel_warned(self.tag(), warning);
        }
    }

    fn reached_tail(&self, event: Inbound) {
        match event {
            Inbound::Read(_) => self.warn(ChannelWarning::Discarded),
            Inbound::Exception(error) => self.exception_at_tail(&error),
            _ => {}
        }
    }

    fn reached_head(&self, operation: Outbound) {
        match operation {
            Outbound::Write(message, promise) => self.buffer(message, promise),
            Outbound::Flush => self.flush(),
            Outbound::Read => self.ask_to_read(),
            Outbound::Close(promise) => self.close_now(Some(promise)),
        }
    }
}
