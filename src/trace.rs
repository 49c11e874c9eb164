//! What happened: the events of one run on one clock, and the loops' own counters at its end.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::event_loop::LoopState;
use crate::time::Time;

/// One run of a scenario, as it was recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// The events by time; of one thread always in its order.
    pub events: Vec<Event>,
    /// The loops' own counters when they ended, in the scenario's order.
    pub loops: Vec<LoopCounters>,
    /// The state of every future when the run ended, by the name of its task or promise.
    pub futures: BTreeMap<String, FutureState>,
    /// What was counted of tasks whose runs are not recorded one by one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counted: BTreeMap<String, Counted>,
    /// Events that found their thread's buffer full. Anything above 0 makes what is missing inconclusive.
    pub dropped: u64,
}

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When.
    #[serde(rename = "at_ms")]
    pub at: Time,
    /// On which thread.
    pub thread: Arc<str>,
    /// Whether that thread was running an event loop.
    pub in_loop: bool,
    /// What happened.
    pub event: EventKind,
    /// To which task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Arc<str>>,
    /// On which channel: a client, a server's listening channel, or an accepted one, `server#1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<Arc<str>>,
    /// In which run of it (the first is 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<u32>,
    /// The deadline of the timer that ran it.
    #[serde(rename = "deadline_ms", default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Time>,
    /// A mark's or a warning's words, a wait's outcome, what a channel read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Arc<str>>,
    /// A duration that belongs to it: how long a slow task took, the delay before the next attempt.
    #[serde(rename = "value_ms", default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Time>,
    /// What a loop counted at this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gauges: Option<Gauges>,
}

/// What a loop counts and what waits in it, read while it runs. Each number is exact for itself; they are read one
/// after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gauges {
    /// Tasks that wait.
    pub pending_tasks: u64,
    /// Timers in the heap.
    pub pending_timers: u64,
    /// Runs of ordinary tasks so far.
    pub tasks: u64,
    /// Runs of timers so far.
    pub timers: u64,
    /// Times the poller was asked so far.
    pub polls: u64,
    /// Wake-ups made so far.
    pub wakeups: u64,
    /// How long a task or timer took on average so far; of the drain under way nothing yet.
    #[serde(rename = "mean_task_ms")]
    pub mean_task_time: Time,
    /// How long handlers of ready sources ran so far.
    #[serde(rename = "io_time_ms")]
    pub io_time: Time,
    /// The loop's state.
    pub state: LoopState,
}

/// The runs of one task, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// How many runs began.
    pub runs: u64,
    /// When the first began.
    #[serde(rename = "first_ms")]
    pub first: Time,
    /// When the last began.
    #[serde(rename = "last_ms")]
    pub last: Time,
    /// The longest run.
    #[serde(rename = "longest_ms")]
    pub longest: Time,
    /// How many runs of it stood inside one another at most on one thread.
    pub deepest: u64,
}

/// What an event tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// A task was handed to a loop; recorded by the thread that did it.
    Submitted,
    /// A run of a task began.
    Start,
    /// It ended.
    End,
    /// It ended by an error.
    Threw,
    /// The loop or the body logged a warning.
    Warned,
    /// A cancel was asked for; the note says whether it took.
    Cancelled,
    /// A loop refused a task.
    Rejected,
    /// A mark of the body's own.
    Mark,
    /// The value of a variable; the note says which and what.
    Read,
    /// What a loop counted.
    Gauges,
    /// A body saw that a cancel had asked it to stop, and ended.
    Interrupted,
    /// A loop's poller was woken with nothing posted.
    Woken,
    /// A wait for a future ended; the note says how.
    Waited,
    /// A promise was completed.
    Completed,
    /// A loop was asked to shut down.
    StopAsked,
    /// A loop's state moved on; the note says which loop's and to what.
    State,
    /// A loop's thread, made while the scenario runs, began its loop.
    Began,
    /// A loop's thread ended its loop.
    Stopped,
    /// A handler is in a pipeline.
    #[serde(rename = "handlerAdded")]
    HandlerAdded,
    /// A channel has a loop.
    #[serde(rename = "channelRegistered")]
    ChannelRegistered,
    /// It is connected or bound.
    #[serde(rename = "channelActive")]
    ChannelActive,
    /// It read a message; the note is its text.
    #[serde(rename = "channelRead")]
    ChannelRead,
    /// A batch of reads is over.
    #[serde(rename = "channelReadComplete")]
    ChannelReadComplete,
    /// The peer has ended its side and the channel stays open.
    #[serde(rename = "inputShutdown")]
    InputShutdown,
    /// An error is in the pipeline.
    #[serde(rename = "exceptionCaught")]
    ExceptionCaught,
    /// It is no more.
    #[serde(rename = "channelInactive")]
    ChannelInactive,
    /// It does no more.
    #[serde(rename = "channelUnregistered")]
    ChannelUnregistered,
    /// The handler is out of the pipeline.
    #[serde(rename = "handlerRemoved")]
    HandlerRemoved,
    /// A thread or a handler wrote a message; the note is its text.
    #[serde(rename = "sent")]
    Sent,
    /// The future of a bind, connect, write or close is done; the note says how. Recorded by its listener.
    #[serde(rename = "future-done")]
    FutureDone,
    /// A client attempts to connect.
    #[serde(rename = "attempt")]
    Attempt,
    /// A client has scheduled its next attempt; the value is the delay.
    #[serde(rename = "retry")]
    Retry,
    /// A client lost an established connection.
    #[serde(rename = "lost")]
    Lost,
    /// A client gave up.
    #[serde(rename = "gave-up")]
    GaveUp,
    /// What was asked of a channel; the note is the answer.
    #[serde(rename = "answered")]
    Answered,
}

impl EventKind {
    /// The word for it in the timeline and in files.
    pub const fn word(self) -> &'static str {
        match self {
            EventKind::Submitted => "submitted",
            EventKind::Start => "start",
            EventKind::End => "end",
            EventKind::Threw => "threw",
            EventKind::Warned => "warned",
            EventKind::Cancelled => "cancelled",
            EventKind::Rejected => "rejected",
            EventKind::Mark => "mark",
            EventKind::Read => "read",
            EventKind::Gauges => "gauges",
            EventKind::Interrupted => "interrupted",
            EventKind::Woken => "woken",
            EventKind::Waited => "waited",
            EventKind::Completed => "completed",
            EventKind::StopAsked => "stop-asked",
            EventKind::State => "state",
            EventKind::Began => "began",
            EventKind::Stopped => "stopped",
            EventKind::HandlerAdded => "handlerAdded",
            EventKind::ChannelRegistered => "channelRegistered",
            EventKind::ChannelActive => "channelActive",
            EventKind::ChannelRead => "channelRead",
            EventKind::ChannelReadComplete => "channelReadComplete",
            EventKind::InputShutdown => "inputShutdown",
            EventKind::ExceptionCaught => "exceptionCaught",
            EventKind::ChannelInactive => "channelInactive",
            EventKind::ChannelUnregistered => "channelUnregistered",
            EventKind::HandlerRemoved => "handlerRemoved",
            EventKind::Sent => "sent",
            EventKind::FutureDone => "future-done",
            EventKind::Attempt => "attempt",
            EventKind::Retry => "retry",
            EventKind::Lost => "lost",
            EventKind::GaveUp => "gave-up",
            EventKind::Answered => "answered",
        }
    }
}

/// The state of a future.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FutureState {
    /// Not done.
    Pending,
    /// Done with a value.
    Success,
    /// Done with an error.
    Failed,
    /// Cancelled.
    Cancelled,
}

/// What a loop counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopCounters {
    /// The loop's name.
    pub name: String,
    /// Runs of ordinary tasks.
    pub tasks: u64,
    /// Runs of timers.
    pub timers: u64,
    /// Times it asked its poller.
    pub polls: u64,
    /// Wake-ups that other threads (or itself) made.
    pub wakeups: u64,
    /// Tasks that waited when it ended.
    pub pending_tasks: u64,
    /// Timers that waited when it ended.
    pub pending_timers: u64,
    /// The longest turn, from the end of its wait to the next wait.
    #[serde(rename = "longest_turn_ms")]
    pub longest_turn: Time,
    /// Times its poller was made anew because it returned for nothing.
    pub rebuilds: u64,
    /// How long a task or timer took on average.
    #[serde(rename = "mean_task_ms")]
    pub mean_task_time: Time,
    /// How long handlers of ready sources ran.
    #[serde(rename = "io_time_ms")]
    pub io_time: Time,
    /// Its state when the run was over.
    pub state: LoopState,
}

/// The reading of traces: what judges ask.
impl Trace {
    /// The events of a task.
    pub fn of<'a>(&'a self, task: &'a str) -> impl Iterator<Item = &'a Event> {
        self.events.iter().filter(move |event| event.task.as_deref() == Some(task))
    }

    /// The events of one kind, of any task.
    pub fn kind(&self, kind: EventKind) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(move |event| event.event == kind)
    }

    /// The starts of a task, in order.
    pub fn starts<'a>(&'a self, task: &'a str) -> impl Iterator<Item = &'a Event> {
        self.of(task).filter(|event| event.event == EventKind::Start)
    }

    /// The first start of a task.
    pub fn start<'a>(&'a self, task: &'a str) -> Option<&'a Event> {
        self.starts(task).next()
    }

    /// The first end of a task, by an error or not.
    pub fn end<'a>(&'a self, task: &'a str) -> Option<&'a Event> {
        self.of(task).find(|event| matches!(event.event, EventKind::End | EventKind::Threw))
    }

    /// The submissions of a task.
    pub fn submissions<'a>(&'a self, task: &'a str) -> impl Iterator<Item = &'a Event> {
        self.of(task).filter(|event| event.event == EventKind::Submitted)
    }

    /// The refusals of a task.
    pub fn refusals<'a>(&'a self, task: &'a str) -> impl Iterator<Item = &'a Event> {
        self.of(task).filter(|event| event.event == EventKind::Rejected)
    }

    /// The first event of this kind whose note says this.
    pub fn noted<'a>(&'a self, kind: EventKind, note: &str) -> Option<&'a Event> {
        self.kind(kind).find(|event| event.note.as_deref() == Some(note))
    }

    /// How late the first run of a timer began, in ms; negative when early.
    pub fn lateness(&self, task: &str) -> Option<f64> {
        self.start(task).and_then(Event::lateness)
    }

    /// When the starts of a task were.
    pub fn start_times(&self, task: &str) -> Vec<Time> {
        self.starts(task).map(|event| event.at).collect()
    }

    /// How many warnings there are about a task.
    pub fn warnings<'a>(&'a self, task: &'a str) -> impl Iterator<Item = &'a Event> {
        self.of(task).filter(|event| event.event == EventKind::Warned)
    }

    /// What the loops counted where a thread or task of this name looked, in order.
    pub fn gauges<'a>(&'a self, by: &'a str) -> impl Iterator<Item = &'a Gauges> {
        self.events
            .iter()
            .filter(move |event| event.task.as_deref().unwrap_or(&event.thread) == by)
            .filter_map(|event| event.gauges.as_ref())
    }

    /// What was counted of a task; nothing when it never ran.
    pub fn counted(&self, task: &str) -> Counted {
        self.counted.get(task).copied().unwrap_or_default()
    }

    /// The events of a channel.
    pub fn on_channel<'a>(&'a self, channel: &'a str) -> impl Iterator<Item = &'a Event> {
        self.events.iter().filter(move |event| event.channel.as_deref() == Some(channel))
    }

    /// Where marks with this label stand.
    pub fn marks<'a>(&'a self, label: &'a str) -> impl Iterator<Item = &'a Event> {
        self.kind(EventKind::Mark).filter(move |event| event.note.as_deref() == Some(label))
    }
}

impl Event {
    /// How late a timer's run began, in ms; negative when early. None for what no timer ran.
    pub fn lateness(&self) -> Option<f64> {
        self.deadline.map(|deadline| self.at.millis_from(deadline))
    }
}
