//! Every schedule of a loop and its producers around the wake-up flag, tried one after the other.
//!
//! The steps are those of the real loop: a producer pushes and then sets the flag (and wakes the loop when that was
//! for it to do); the loop clears the flag, drains its queue and waits, in the order of its [`WakeUp`] choice. A
//! schedule loses a post when in its end the loop sleeps, nobody is left to wake it, and the queue is not empty.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::policy::WakeUp;
use crate::time::Time;
use crate::trace::{Counted, Event, EventKind, Trace};

/// A step of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Clears the flag.
    Clear,
    /// Sets it: it is awake.
    Set,
    /// Looks at the queue and passes over the wait when it is not empty.
    Look,
    /// Waits until it is woken; a wake-up made before ends the wait at once.
    Select,
    /// Runs all that is in the queue.
    Drain,
}

/// What a loop of this choice does in one turn.
const fn turn(wake: WakeUp) -> &'static [Step] {
    match wake {
        WakeUp::WhenAsleep => &[Step::Clear, Step::Look, Step::Select, Step::Set, Step::Drain],
        WakeUp::SinceWait => &[Step::Select, Step::Clear, Step::Drain],
        WakeUp::ClearedLate => &[Step::Select, Step::Drain, Step::Clear],
        WakeUp::Every | WakeUp::Never => &[Step::Look, Step::Select, Step::Drain],
    }
}

/// Where everyone stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    /// The loop's next step.
    next: usize,
    queue: u32,
    flag: bool,
    woken: bool,
    /// Producers that have not begun.
    to_push: u32,
    /// Producers that have pushed and not yet set the flag.
    to_set: u32,
}

/// What one schedule after another came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// How many schedules there are.
    pub schedules: u64,
    /// How many of them lose a post.
    pub losing: u64,
}

/// Who takes a step, and which.
type Move = (&'static str, &'static str);

struct Model {
    wake: WakeUp,
    found: BTreeMap<State, Found>,
}

impl Model {
    /// All that can happen next. Producers are alike, so which of them steps makes no difference.
    fn moves(&self, state: State) -> Vec<(Move, State)> {
        let mut moves = Vec::new();
        if let Some(after) = self.loop_moves(state) {
            moves.push(after);
        }
        if state.to_push > 0 {
            let pushed =
                State { to_push: state.to_push - 1, to_set: state.to_set + 1, queue: state.queue + 1, ..state };
            moves.push((("producer", "pushes"), pushed));
        }
        if state.to_set > 0 {
            let wakes = match self.wake {
                WakeUp::WhenAsleep | WakeUp::SinceWait | WakeUp::ClearedLate => !state.flag,
                WakeUp::Every => true,
                WakeUp::Never => false,
            };
            let word = if wakes { "sets the flag and wakes the loop" } else { "finds no need to wake the loop" };
            let set = State { to_set: state.to_set - 1, flag: true, woken: state.woken || wakes, ..state };
            moves.push((("producer", word), set));
        }
        moves
    }

    fn loop_moves(&self, state: State) -> Option<(Move, State)> {
        let turn = turn(self.wake);
        let step = turn[state.next];
        let on = State { next: (state.next + 1) % turn.len(), ..state };
        let (word, after) = match step {
            Step::Clear => ("clears the flag", State { flag: false, ..on }),
            Step::Set => ("is awake: sets the flag", State { flag: true, ..on }),
            Step::Drain => ("drains the queue", State { queue: 0, ..on }),
            Step::Look if state.queue > 0 => {
                let behind = turn.iter().position(|step| *step == Step::Select).unwrap_or(0) + 1;
                ("sees tasks and does not wait", State { next: behind % turn.len(), ..state })
            }
            Step::Look => ("sees no task", on),
            Step::Select if state.woken => ("returns from its wait", State { woken: false, ..on }),
            Step::Select => return None,
        };
        Some((("loop", word), after))
    }

    fn count(&mut self, state: State) -> Found {
        if let Some(found) = self.found.get(&state) {
            return *found;
        }
        let moves = self.moves(state);
        let found = if moves.is_empty() {
            Found { schedules: 1, losing: u64::from(state.queue > 0) }
        } else {
            moves.into_iter().fold(Found::default(), |sum, (_, after)| {
                let found = self.count(after);
                Found {
                    schedules: sum.schedules.saturating_add(found.schedules),
                    losing: sum.losing.saturating_add(found.losing),
                }
            })
        };
        self.found.insert(state, found);
        found
    }

    /// The first losing schedule from here, if there is one.
    fn losing(&mut self, mut state: State) -> Vec<Move> {
        let mut schedule = Vec::new();
        while self.count(state).losing > 0 {
            let moves = self.moves(state);
            let Some((step, after)) = moves.into_iter().find(|(_, after)| self.count(*after).losing > 0) else {
                break;
            };
            schedule.push(step);
            state = after;
        }
        schedule
    }
}

fn begin(wake: WakeUp, posts: u32) -> State {
    State {
        next: 0,
        queue: 0,
        // As in the real loop: one that looks at its queue first begins awake.
        flag: wake == WakeUp::WhenAsleep,
        woken: false,
        to_push: posts,
        to_set: 0,
    }
}

/// Tries every schedule of a loop with this choice and so many posts from as many threads.
pub fn explore(wake: WakeUp, posts: u32) -> Found {
    let mut model = Model { wake, found: BTreeMap::new() };
    model.count(begin(wake, posts))
}

/// The names under which [`trace`] counts schedules: of the loop's own choice, and with the flag cleared late.
pub const COUNTS: [&str; 4] =
    ["schedules", "losing schedules", "schedules, flag cleared late", "losing schedules, flag cleared late"];

/// What the model came to as a trace: the counts, and a losing schedule with the flag cleared late, one step a
/// millisecond.
pub fn trace(wake: WakeUp, posts: u32) -> Trace {
    let (own, late) = (explore(wake, posts), explore(WakeUp::ClearedLate, posts));
    let numbers = [own.schedules, own.losing, late.schedules, late.losing];
    let counted = COUNTS.iter().zip(numbers).map(|(name, runs)| {
        let counted = Counted { runs, ..Counted::default() };
        (name.to_string(), counted)
    });
    let mut model = Model { wake: WakeUp::ClearedLate, found: BTreeMap::new() };
    let schedule = model.losing(begin(WakeUp::ClearedLate, posts));
    let end = ("loop", "sleeps; a task waits in the queue");
    let steps = schedule.into_iter().chain((late.losing > 0).then_some(end));
    Trace {
        events: steps.zip(0u64..).map(|(step, at)| event(step, at)).collect(),
        counted: counted.collect(),
        ..Trace::default()
    }
}

fn event((thread, word): Move, at: u64) -> Event {
    let (thread, note): (Arc<str>, Arc<str>) = (thread.into(), word.into());
    Event {
        at: Time::from_nanos(at * 1_000_000),
        in_loop: &*thread == "loop",
        thread,
        event: EventKind::Mark,
        task: None,
        run: None,
        deadline: None,
        note: Some(note),
        channel: None,
        value: None,
        gauges: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_post_gives_the_schedules_that_can_be_counted_by_hand() {
        // Text D's loop sleeps until the post wakes it: push, set, return, clear, drain. One schedule.
        let found = explore(WakeUp::SinceWait, 1);
        assert_eq!(found, Found { schedules: 1, losing: 0 });
        // Nobody wakes it: the post before the look, between look and wait, or behind; and the flag's step after each.
        assert!(explore(WakeUp::Never, 1).losing > 0);
    }

    #[test]
    fn only_the_wrong_orders_lose_a_post() {
        for posts in 1..=5 {
            for wake in [WakeUp::WhenAsleep, WakeUp::SinceWait, WakeUp::Every] {
                let found = explore(wake, posts);
                assert!(found.losing == 0 && found.schedules > 0, "{wake:?} {posts}: {found:?}");
            }
        }
        assert_eq!(explore(WakeUp::ClearedLate, 1).losing, 0);
        assert!(explore(WakeUp::ClearedLate, 2).losing > 0);
    }

    #[test]
    fn the_losing_schedule_ends_with_a_sleeping_loop_and_a_full_queue() {
        let trace = trace(WakeUp::SinceWait, 2);
        let last = trace.events.last().and_then(|event| event.note.clone());
        assert_eq!(last.as_deref(), Some("sleeps; a task waits in the queue"));
        let words: Vec<_> = trace.events.iter().filter_map(|event| event.note.as_deref()).collect();
        assert!(words.contains(&"finds no need to wake the loop"), "{words:?}");
    }
}
