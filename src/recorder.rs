//! Recording with little disturbance: each thread appends to its own pre-sized buffer.
//!
//! No lock, no allocation and no output while a scenario runs. Rows are `Copy` and hold numbers; names are put in when
//! the buffers are collected, after the threads have ended. A full buffer counts what it drops.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::clock::Clock;
use crate::time::Time;
use crate::trace::{Event, EventKind, Gauges};

/// Rows a thread can record in one run: 6 MiB, of which only what is used is ever touched.
pub const CAPACITY: usize = 1 << 16;

/// Readings of gauges for which a thread has room beforehand; more of them cost an allocation.
const GAUGES: usize = 1 << 12;

/// One recorded event.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What happened.
    pub kind: EventKind,
    /// To which task: its number among the names.
    pub task: Option<u16>,
    /// In which run; 0: none.
    pub run: u32,
    /// The deadline of the timer that ran it.
    pub deadline: Option<Time>,
    /// On which channel.
    pub channel: Option<ChannelName>,
    /// Words for it.
    pub note: Note,
    /// A duration that belongs to it.
    pub value: Option<Duration>,
}

impl Row {
    /// An event about nothing in particular.
    pub fn new(kind: EventKind) -> Row {
        Row { kind, task: None, run: 0, deadline: None, channel: None, note: Note::None, value: None }
    }

    /// The same about a task.
    pub fn task(mut self, task: u16) -> Row {
        self.task = Some(task);
        self
    }

    /// The same with words.
    pub fn note(mut self, note: Note) -> Row {
        self.note = note;
        self
    }
}

/// A channel's name as numbers: the client or server, and which of several; 0: the only one, or the listening one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelName {
    /// Its number among the names.
    pub name: u16,
    /// Which of several.
    pub which: u32,
}

/// Words for an event, as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// None.
    None,
    /// A name of the scenario: a mark's label, a future, a variable.
    Name(u16),
    /// Fixed words.
    Words(&'static str),
    /// A future and what came of waiting for it.
    Outcome(u16, &'static str),
    /// A future and the value that it was done with.
    Value(u16, u16),
    /// A variable and its value.
    Variable(u16, i64),
    /// What a loop counted: its place among the thread's gauges.
    Gauges(u32),
    /// So many bytes.
    Bytes(u32),
}

#[derive(Debug)]
struct Stamped {
    at: Time,
    /// Keeps the order of what happens at one instant of virtual time; 0 in real time.
    sequence: u64,
    row: Row,
}

/// What one thread recorded.
#[derive(Debug)]
struct Buffer {
    thread: Arc<str>,
    in_loop: bool,
    clock: Clock,
    rows: Vec<Stamped>,
    gauges: Vec<Gauges>,
    capacity: usize,
    dropped: u64,
}

/// Where the threads of one run leave their buffers.
#[derive(Debug)]
pub struct Recorder {
    clock: Clock,
    capacity: usize,
    collected: Mutex<Vec<Buffer>>,
}

thread_local! {
    static BUFFER: RefCell<Option<Buffer>> = const { RefCell::new(None) };
}

/// Records an event of the calling thread; nothing when the thread has not [attached](Recorder::attach).
pub fn record(row: Row) {
    BUFFER.with_borrow_mut(|buffer| {
        if let Some(buffer) = buffer {
            buffer.push(row);
        }
    });
}

/// Records what a loop counts, beside the row: its note becomes the gauges.
pub fn record_gauges(row: Row, gauges: Gauges) {
    BUFFER.with_borrow_mut(|buffer| {
        if let Some(buffer) = buffer {
            let note = Note::Gauges(buffer.gauges.len() as u32);
            buffer.gauges.push(gauges);
            buffer.push(Row { note, ..row });
        }
    });
}

impl Buffer {
    fn push(&mut self, row: Row) {
        if self.rows.len() == self.capacity {
            self.dropped += 1;
            return;
        }
        let sequence = match &self.clock {
            Clock::Wall(_) => 0,
            Clock::Simulated(world) => world.next_sequence(),
        };
        self.rows.push(Stamped { at: self.clock.now(), sequence, row });
    }
}

impl Recorder {
    /// A recorder on this clock with room for so many rows a thread.
    pub fn new(clock: Clock, capacity: usize) -> Arc<Recorder> {
        Arc::new(Recorder { clock, capacity, collected: Mutex::default() })
    }

    /// From here on the calling thread records under this name, until the guard is dropped.
    pub fn attach(self: &Arc<Self>, thread: &str, in_loop: bool) -> Attached {
        let buffer = Buffer {
            thread: thread.into(),
            in_loop,
            clock: self.clock.clone(),
            rows: Vec::with_capacity(self.capacity),
            gauges: Vec::with_capacity(self.capacity.min(GAUGES)),
            capacity: self.capacity,
            dropped: 0,
        };
        BUFFER.set(Some(buffer));
        Attached { recorder: self.clone() }
    }

    /// The events of all threads that have detached, by time, counted from `origin`; and how many found no room.
    /// What lies before the origin is put on it.
    pub fn collect(&self, origin: Time, names: &[Arc<str>]) -> (Vec<Event>, u64) {
        let mut buffers = std::mem::take(&mut *self.lock());
        // Threads detach in any order; by name the merge of equal times is the same in every run.
        buffers.sort_by(|a, b| a.thread.cmp(&b.thread));
        let dropped = buffers.iter().map(|buffer| buffer.dropped).sum();
        let mut rows: Vec<(Time, u64, Event)> = Vec::with_capacity(buffers.iter().map(|b| b.rows.len()).sum());
        for buffer in &buffers {
            rows.extend(
                buffer
                    .rows
                    .iter()
                    .map(|stamped| (stamped.at, stamped.sequence, buffer.event(stamped, origin, names))),
            );
        }
        rows.sort_by_key(|&(at, sequence, _)| (at, sequence));
        (rows.into_iter().map(|(_, _, event)| event).collect(), dropped)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Buffer>> {
        self.collected.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Buffer {
    fn event(&self, stamped: &Stamped, origin: Time, names: &[Arc<str>]) -> Event {
        let rebased = |time: Time| Time::ZERO.after(time.since(origin));
        let Row { kind, task, run, deadline, channel, note, value } = stamped.row;
        let name = |index: u16| names[usize::from(index)].clone();
        let gauges = match note {
            Note::Gauges(index) => self.gauges.get(index as usize).copied(),
            _ => None,
        };
        Event {
            gauges,
            at: rebased(stamped.at),
            thread: self.thread.clone(),
            in_loop: self.in_loop,
            event: kind,
            task: task.map(name),
            channel: channel.map(|channel| match channel.which {
                0 => name(channel.name),
                which => format!("{}#{which}", name(channel.name)).into(),
            }),
            run: (run > 0).then_some(run),
            deadline: deadline.map(rebased),
            note: match note {
                Note::None | Note::Gauges(_) => None,
                Note::Value(future, value) => Some(format!("{}: done with {}", name(future), name(value)).into()),
                Note::Variable(variable, value) => Some(format!("{} is {value}", name(variable)).into()),
                Note::Name(index) => Some(name(index)),
                Note::Words(words) => Some(words.into()),
                Note::Outcome(index, words) => Some(format!("{}: {words}", name(index)).into()),
                Note::Bytes(count) => Some(format!("{count} bytes").into()),
            },
            value: value.map(|value| Time::ZERO.after(value)),
        }
    }
}

/// Detaches the thread when dropped, and leaves its rows with the recorder.
#[derive(Debug)]
pub struct Attached {
    recorder: Arc<Recorder>,
}

impl Drop for Attached {
    fn drop(&mut self) {
        if let Some(buffer) = BUFFER.take() {
            self.recorder.lock().push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(run: u32) -> Row {
        Row { run, ..Row::new(EventKind::Mark).task(0) }
    }

    #[test]
    fn a_full_buffer_counts_what_it_drops() {
        let recorder = Recorder::new(Clock::wall(), 2);
        let attached = recorder.attach("main", false);
        (1..=5).for_each(|run| record(mark(run)));
        drop(attached);
        record(mark(6));
        let (events, dropped) = recorder.collect(Time::ZERO, &["task".into()]);
        assert_eq!((events.len(), dropped), (2, 3));
        assert_eq!(events[1].run, Some(2));
    }

    #[test]
    fn threads_are_merged_by_time_and_each_keeps_its_order() {
        let recorder = Recorder::new(Clock::wall(), 100);
        std::thread::scope(|scope| {
            for name in ["a", "b", "c"] {
                let recorder = &recorder;
                scope.spawn(move || {
                    let _attached = recorder.attach(name, true);
                    (1..=50).for_each(|run| record(mark(run)));
                });
            }
        });
        let (events, _) = recorder.collect(Time::ZERO, &["task".into()]);
        assert!(events.is_sorted_by_key(|event| event.at));
        for name in ["a", "b", "c"] {
            let runs: Vec<_> = events.iter().filter(|e| &*e.thread == name).map(|e| e.run).collect();
            assert!(runs.is_sorted() && runs.len() == 50);
        }
    }
}
