//! Carries out what actions ask of channels.

use std::sync::Arc;

use super::env::{Env, RecordLoop};
use super::futures::FutureEntry;
use super::interpret::{Place, Run};
use super::net::{name_of, tag_of};
use crate::channel::{Channel, Embedded, Message};
use crate::event_loop::{Executor, Rejected, Tag, Task};
use crate::promise::{Failure, Promise};
use crate::recorder::{ChannelName, Note, Row, record};
use crate::scenario::{Action, HandlerSpec};
use crate::trace::EventKind;

/// What the embedded channel of a scenario is called in the timeline.
pub(super) const EMBEDDED: &str = "embedded";

impl Env {
    pub(super) fn act_on_channels(self: &Arc<Self>, action: &Action, place: &Place) {
        match action {
            Action::Bind { server } => self.bind(server),
            Action::Connect { client } if self.connect(client) => {}
            // Its server is not bound: there is nothing to connect to.
            Action::Connect { client } => place.note(EventKind::Rejected, Note::Name(self.names.number(client))),
            Action::StopReconnecting { client } => {
                place.note(EventKind::StopAsked, Note::Name(self.names.number(client)));
                self.stop_reconnecting(client);
            }
            Action::Write { text, channel, then } => {
                self.on_channel(place, channel.as_deref(), EventKind::Sent, self.note_of(text.trim_end()));
                let message = Message::Text(text.clone());
                let written = match (channel, &place.at) {
                    (None, Some(ctx)) => Some(ctx.write_and_flush(message)),
                    (Some(name), _) => self.channel_named(name).map(|channel| channel.write_and_flush(message)),
                    (None, None) => None,
                };
                self.when_done(written, then.as_deref(), channel.as_deref(), place);
            }
            Action::Close { channel, then } => {
                let closed = match (channel, &place.at) {
                    (None, Some(ctx)) => Some(ctx.close()),
                    (Some(name), _) => self.channel_named(name).map(|channel| channel.close()),
                    (None, None) => None,
                };
                self.when_done(closed, then.as_deref(), channel.as_deref(), place);
            }
            Action::CloseAccepted { server } => self.close_accepted(server),
            Action::OnClosed { channel, task } => {
                let closed =
                    self.channel_at(channel.as_deref(), place).map(|channel| channel.close_future().clone());
                self.when_done(closed, Some(task), channel.as_deref(), place);
            }
            Action::EndOutput { channel } => {
                if let Some(channel) = self.channel_named(channel) {
                    channel.end_output();
                }
            }
            Action::AskLoop => {
                let answer = place.accepted.as_ref().map(|child| match child.event_loop() {
                    Ok(_) => "it has a loop",
                    Err(_) => "it has no loop yet",
                });
                place.note(EventKind::Answered, answer.map_or(Note::None, Note::Words));
            }
            Action::AskOpen => {
                let open = self.channel_at(None, place).is_some_and(|channel| channel.local_address().is_ok());
                let answer = if open { "the socket is open" } else { "the socket is closed" };
                place.note(EventKind::Answered, Note::Words(answer));
            }
            Action::AskRemote => {
                let known = self.channel_at(None, place).and_then(|channel| channel.remote_address()).is_some();
                let answer = if known { "the remote address is known" } else { "the remote address is not known" };
                place.note(EventKind::Answered, Note::Words(answer));
            }
            Action::Compose { task, pool, then, on_loop } => self.compose(task, pool, then, *on_loop, place),
            Action::Embed { handlers, messages } => self.embed(handlers, messages),
            _ => {}
        }
    }

    /// Keeps the future of a bind or connect under its name, and records how it ends, on the loop that ends it.
    /// Called before the bind or connect begins, so that the listener is there in time.
    pub(super) fn keep(&self, channel: ChannelName, promise: &Promise) {
        self.add_future(channel.name, FutureEntry::Operation(promise.clone()));
        let outcome = promise.clone();
        promise.listen(Tag(u32::from(channel.name)), move || {
            let words = Note::Words(ending(&outcome));
            record(Row { channel: Some(channel), ..Row::new(EventKind::FutureDone).note(words) });
        });
    }

    /// The channel that an action names, or the handler's own.
    fn channel_at(&self, name: Option<&str>, place: &Place) -> Option<Channel> {
        match name {
            Some(name) => self.channel_named(name),
            None => place.at.as_ref().map(|ctx| ctx.channel().clone()),
        }
    }

    fn on_channel(&self, place: &Place, name: Option<&str>, kind: EventKind, note: Note) {
        let channel = match name {
            Some(name) => Some(ChannelName { name: self.names.number(name), which: 0 }),
            None => place.at.as_ref().map(|ctx| name_of(ctx.channel().tag())),
        };
        record(Row { task: place.task, run: place.run, channel, ..Row::new(kind).note(note) });
    }

    /// Runs a task when a future is done, and records how it ended.
    fn when_done(
        self: &Arc<Self>,
        promise: Option<Promise>,
        then: Option<&str>,
        name: Option<&str>,
        place: &Place,
    ) {
        let (Some(promise), Some(then)) = (promise, then) else { return };
        let (env, task, on, at) = (self.clone(), self.names.number(then), place.on, place.at.clone());
        let channel = match name {
            Some(name) => Some(ChannelName { name: self.names.number(name), which: 0 }),
            None => at.as_ref().map(|ctx| name_of(ctx.channel().tag())),
        };
        let outcome = promise.clone();
        promise.listen(Tag(u32::from(task)), move || {
            let words = Note::Words(ending(&outcome));
            record(Row { channel, ..Row::new(EventKind::FutureDone).task(task).note(words) });
            env.run_body(Run { task, number: env.next_run(task), on }, None, at.as_ref());
        });
    }

    /// A pool's loop runs a task, then a continuation: on the thread that completed it, or on the channel's loop.
    fn compose(self: &Arc<Self>, task: &str, pool: &str, then: &str, on_loop: bool, place: &Place) {
        let Some(ctx) = place.at.clone() else { return };
        let (task, then) = (self.names.number(task), self.names.number(then));
        let (pool, own) = (self.loop_named(Some(pool), place.on), self.loop_of(ctx.channel()));
        let stage: Promise =
            if on_loop { ctx.channel().promise() } else { Promise::new(Arc::new(Completer), self.clock.clone()) };
        let (env, at) = (self.clone(), ctx.clone());
        stage.listen(Tag(u32::from(then)), move || {
            env.run_body(Run { task: then, number: env.next_run(then), on: own }, None, Some(&at));
        });
        let env = self.clone();
        let work = move || {
            env.run_body(Run { task, number: env.next_run(task), on: pool }, None, Some(&ctx));
            stage.succeed(());
        };
        // A pool that has ended runs nothing more.
        let _ = self.loops[pool].execute(Task { tag: Tag(u32::from(task)), work: Box::new(work) });
    }

    fn embed(self: &Arc<Self>, handlers: &[HandlerSpec], messages: &[String]) {
        let name = self.names.number(EMBEDDED);
        let tag = tag_of(ChannelName { name, which: 0 });
        let policy = *self.loops[0].policy();
        let observer = Arc::new(RecordLoop::new(name));
        let Ok(mut embedded) = Embedded::new(&self.clock, tag, policy, observer, &self.initializer(handlers))
        else {
            return;
        };
        // Its poller never waits, so it reports no error.
        let _ = embedded.write_inbound(messages.iter().map(|text| Message::Text(text.clone())).collect());
        let _ = embedded.finish();
    }

    /// A text's own note: its number when the scenario contains it, else its length.
    pub(super) fn note_of(&self, text: &str) -> Note {
        match self.names.known(text) {
            Some(number) => Note::Name(number),
            None => Note::Bytes(u32::try_from(text.len()).unwrap_or(u32::MAX)),
        }
    }
}

fn ending(promise: &Promise) -> &'static str {
    match promise.outcome() {
        Some(Ok(())) => "success",
        Some(Err(Failure::Closed)) => "failed: the channel is closed",
        Some(Err(Failure::Unsupported(_))) => "failed: unsupported",
        Some(Err(Failure::Cancelled)) => "cancelled",
        Some(Err(_)) => "failed",
        None => "pending",
    }
}

/// Runs a continuation on the thread that completes its stage, as the JDK's `CompletableFuture` does.
#[derive(Debug)]
struct Completer;

impl Executor for Completer {
    fn in_loop(&self) -> bool {
        false
    }

    fn execute(&self, task: Task) -> Result<(), Rejected> {
        (task.work)();
        Ok(())
    }

    fn notify(&self, listener: Task) {
        (listener.work)();
    }

    fn refuses_wait(&self, _done: bool) -> bool {
        false
    }
}
