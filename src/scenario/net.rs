//! The connections of a scenario: servers, clients and their handlers, as data.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Action;
use crate::backoff::Backoff;
use crate::time::millis;

/// A server: one listening channel and what it accepts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerSpec {
    /// Its name; the channels that it accepts are called name#1, name#2 and so on.
    pub name: String,
    /// The loop of the listening channel.
    pub boss: String,
    /// The loops of what it accepts, round robin.
    pub workers: Vec<String>,
    /// The handlers of the listening channel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parent: Vec<HandlerSpec>,
    /// The handlers of what it accepts.
    pub child: Vec<HandlerSpec>,
    /// Stay open for writing when the peer has ended its side.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub half_closure: bool,
}

/// A client, or several alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientSpec {
    /// Its name; of several, they are called name#1, name#2 and so on.
    pub name: String,
    /// How many.
    #[serde(default = "one")]
    pub count: u32,
    /// The loops of its channels, round robin.
    pub loops: Vec<String>,
    /// The server it connects to; absent: a port on which nobody listens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Its handlers.
    pub handlers: Vec<HandlerSpec>,
    /// How it comes back after a failure or a drop; absent: it doesn't.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reconnect: Option<ReconnectSpec>,
}

fn one() -> u32 {
    1
}

/// One handler of a pipeline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandlerSpec {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: HandlerKind,
    /// The executor group that runs it: each channel is pinned to one of these loops. Empty: the channel's own loop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub group: Vec<String>,
    /// Whether it records nothing: for storms, whose events would fill the trace.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub silent: bool,
}

/// What a handler is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum HandlerKind {
    /// Cuts bytes into lines of at most this many bytes.
    LineDecoder(usize),
    /// Makes text of bytes.
    StringDecoder,
    /// Makes bytes of text.
    StringEncoder,
    /// Records every event and reacts to some.
    Reactor(Vec<Reaction>),
}

/// What a handler does at an event. The event is recorded before and passed on after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reaction {
    /// The event.
    pub at: ChannelEvent,
    /// Only when this is the text that was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What it does.
    pub body: Vec<Action>,
}

/// The events of a channel, by Netty's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ChannelEvent {
    /// The handler is in the pipeline.
    HandlerAdded,
    /// The channel has a loop.
    ChannelRegistered,
    /// It is connected or bound.
    ChannelActive,
    /// A message was read.
    ChannelRead,
    /// A batch of reads is over.
    ChannelReadComplete,
    /// The peer has ended its side and the channel stays open.
    InputShutdown,
    /// An error.
    ExceptionCaught,
    /// It is no more.
    ChannelInactive,
    /// It does no more.
    ChannelUnregistered,
    /// The handler is out of the pipeline.
    HandlerRemoved,
}

/// How a client comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReconnectSpec {
    /// The schedule of retries.
    pub backoff: Backoff,
    /// It gives up after so many attempts without a connection.
    pub attempts: u32,
    /// What takes the schedule back to its begin.
    pub reset: Reset,
    /// What it does when an established connection is lost.
    pub after_drop: AfterDrop,
    /// How often each failure is told to it, and whether a retry that is pending already absorbs the second.
    #[serde(default, skip_serializing_if = "Told::is_once")]
    pub told: Told,
    /// How it waits.
    #[serde(default, skip_serializing_if = "WaitBy::is_timer")]
    pub wait_by: WaitBy,
}

/// What takes a schedule of retries back to its begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Reset {
    /// A connection.
    OnConnect,
    /// A connection that has lived for so long.
    AfterSteady {
        /// How long.
        #[serde(rename = "life_ms", with = "millis")]
        life: Duration,
    },
}

/// What a client does when an established connection is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AfterDrop {
    /// It connects at once, as text A's code does.
    AtOnce,
    /// It waits as after a failure.
    Delayed,
}

/// How often a failure is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Told {
    /// Once.
    #[default]
    Once,
    /// Twice, as an error and as a close; one retry is pending at most.
    TwiceGuarded,
    /// Twice, and each schedules a retry.
    TwiceUnguarded,
}

impl Told {
    fn is_once(&self) -> bool {
        *self == Told::Once
    }
}

/// How a retry waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitBy {
    /// By a timer of the connection's own loop.
    #[default]
    Timer,
    /// By sleeping in the failure's callback.
    Sleep,
}

impl WaitBy {
    fn is_timer(&self) -> bool {
        *self == WaitBy::Timer
    }
}

impl HandlerSpec {
    /// The handlers that turn bytes into lines of text and back.
    pub fn lines(limit: usize) -> Vec<HandlerSpec> {
        [
            ("line-decoder", HandlerKind::LineDecoder(limit)),
            ("string-decoder", HandlerKind::StringDecoder),
            ("string-encoder", HandlerKind::StringEncoder),
        ]
        .into_iter()
        .map(|(name, kind)| HandlerSpec { name: name.into(), kind, group: Vec::new(), silent: false })
        .collect()
    }

    /// A handler that records every event.
    pub fn reactor(name: &str) -> HandlerSpec {
        HandlerSpec { name: name.into(), kind: HandlerKind::Reactor(Vec::new()), group: Vec::new(), silent: false }
    }

    /// The same without recording.
    pub fn silent(mut self) -> HandlerSpec {
        self.silent = true;
        self
    }

    /// The same on an executor group of these loops.
    pub fn on_group(mut self, group: &[&str]) -> HandlerSpec {
        self.group = group.iter().map(|name| (*name).to_string()).collect();
        self
    }

    pub(super) fn react(mut self, reaction: Reaction) -> HandlerSpec {
        if let HandlerKind::Reactor(reactions) = &mut self.kind {
            reactions.push(reaction);
        }
        self
    }
}
