//! Virtual time: one actor runs at a time, and the clock jumps to the next thing that happens.
//!
//! Every loop, executor thread and outside thread of a simulated run has an OS thread of its own, and there is one
//! baton. Spending time, waiting in a poller and waiting for a future hand it on: to the actor with the least due
//! time, ties by actor number. So nobody is ever ahead of the clock, and a post made while a loop is blocked finds
//! it busy. A thread that nothing else overtakes keeps the baton, so most waits cost no switch of threads.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use thiserror::Error;

use crate::calendar::{Calendar, WallStep};
use crate::time::Time;

/// More events than this at one instant are called endless.
const MOST_AT_ONE_INSTANT: u64 = 1_000_000;

/// A simulated world.
#[derive(Default)]
pub struct World {
    /// The clock; written only by the holder of the baton.
    now: AtomicU64,
    /// Counts recorded events, so that a trace keeps the order of what happens at one instant.
    sequence: AtomicU64,
    state: Mutex<State>,
    calendar: Calendar,
}

/// An actor's number in its world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActorId(usize);

#[derive(Default)]
struct State {
    actors: Vec<Actor>,
    events: BTreeMap<(Time, u64), Event>,
    holder: Option<usize>,
    at_this_instant: u64,
    stuck: Option<Stuck>,
}

#[derive(Debug)]
struct Actor {
    name: String,
    phase: Phase,
    /// A wake-up that came while it was not waiting for one.
    woken: bool,
    turn: Arc<Condvar>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Waits until it is due; `None`: until it is woken.
    Waiting {
        due: Option<Time>,
        wakeable: bool,
        doing: &'static str,
    },
    Running,
    Ended,
}

/// What happens by itself: the network and peers without threads. Runs while no actor does.
type Event = Box<dyn FnOnce() + Send>;

/// Why a world ended before its actors did.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Stuck {
    /// Nobody has a due time, and nobody runs who could wake another.
    #[error("nothing is left to happen at {at} ms: {actors}")]
    NothingLeft {
        /// When.
        at: Time,
        /// What each actor waits for.
        actors: String,
    },
    /// Too much happens at one instant.
    #[error("more than {MOST_AT_ONE_INSTANT} events at {at} ms, the clock stands still: {actors}")]
    Endless {
        /// When.
        at: Time,
        /// What each actor does.
        actors: String,
    },
}

/// The payload that unwinds the actors of a world that is stuck. Whoever catches panics passes it on.
#[derive(Debug)]
pub struct WorldEnded;

thread_local! {
    static ME: Cell<Option<usize>> = const { Cell::new(None) };
}

impl World {
    /// An empty world at time zero.
    pub fn new() -> Arc<World> {
        Arc::default()
    }

    /// The same with a wall clock that is set at these instants.
    pub fn with_wall_steps(steps: &[WallStep]) -> Arc<World> {
        Arc::new(World { calendar: Calendar::new(steps), ..World::default() })
    }

    /// Its wall clock.
    pub fn calendar(&self) -> &Calendar {
        &self.calendar
    }

    /// The present instant.
    pub fn now(&self) -> Time {
        Time::from_nanos(self.now.load(Ordering::Relaxed))
    }

    /// The next number for an event.
    pub fn next_sequence(&self) -> u64 {
        self.sequence.fetch_add(1, Ordering::Relaxed)
    }

    /// Something happens at this instant, or now when it has passed; before the actors that are due at the same
    /// instant, and in the order of these calls. It may wake actors and call this again; it may not wait.
    pub fn at(&self, time: Time, event: impl FnOnce() + Send + 'static) {
        let key = (time.max(self.now()), self.next_sequence());
        self.lock().events.insert(key, Box::new(event));
    }

    /// Adds an actor that is due at once. Its thread calls [`World::enter`].
    pub fn register(&self, name: &str) -> ActorId {
        let mut state = self.lock();
        let due = Some(self.now());
        state.actors.push(Actor {
            name: name.into(),
            phase: Phase::Waiting { due, wakeable: false, doing: "starting" },
            woken: false,
            turn: Arc::default(),
        });
        ActorId(state.actors.len() - 1)
    }

    /// Adds an actor that is not there yet: [`World::launch`] lets it in.
    pub fn register_absent(&self, name: &str) -> ActorId {
        let actor = self.register(name);
        self.lock().actors[actor.0].phase = Phase::Ended;
        actor
    }

    /// Lets an actor in that is absent or has ended: it is due now. Its thread calls [`World::enter`].
    pub fn launch(&self, actor: ActorId) {
        let due = Some(self.now());
        self.lock().actors[actor.0].phase = Phase::Waiting { due, wakeable: false, doing: "starting" };
    }

    /// Makes the calling thread this actor and waits for its turn. The first to be called with everyone
    /// registered may be any; [`World::start`] lets the first one go.
    pub fn enter(&self, actor: ActorId) {
        ME.set(Some(actor.0));
        let state = self.lock();
        drop(self.await_turn(state, actor.0));
    }

    /// Gives the baton to the first actor; called once, when all are registered, by a thread that is none of them.
    pub fn start(&self) {
        drop(self.hand_over(self.lock()));
    }

    /// Ends a world that was never [started](World::start): the threads that wait in it end.
    pub fn abandon(&self) {
        let mut state = self.lock();
        self.end(&mut state, |at, actors| Stuck::NothingLeft { at, actors });
    }

    /// Ends the calling thread's actor and hands the baton on.
    pub fn leave(&self) {
        let me = self.me().0;
        let mut state = self.lock();
        state.actors[me].phase = Phase::Ended;
        if state.stuck.is_none() {
            drop(self.hand_over(state));
        }
    }

    /// The calling thread's actor.
    ///
    /// # Panics
    /// When the calling thread has not entered a world.
    pub fn me(&self) -> ActorId {
        ActorId(ME.get().expect("the thread has entered a simulated world"))
    }

    /// Lets this much time pass for the calling actor. Nothing shortens it.
    pub fn spend(&self, time: Duration) {
        let due = self.now().after(time);
        self.wait(Some(due), false, "busy");
    }

    /// Waits until this instant or a wake-up; an instant that has passed lets others that are due go first.
    pub fn block(&self, until: Option<Time>, doing: &'static str) {
        self.wait(until, true, doing);
    }

    /// Ends an actor's [`World::block`], now or the next one.
    pub fn wake(&self, actor: ActorId) {
        let now = self.now();
        let mut state = self.lock();
        let actor = &mut state.actors[actor.0];
        match &mut actor.phase {
            Phase::Waiting { due, wakeable: true, .. } => *due = Some(due.map_or(now, |due| due.min(now))),
            Phase::Waiting { .. } | Phase::Running => actor.woken = true,
            Phase::Ended => {}
        }
    }

    /// Why it ended early, if it did.
    pub fn stuck(&self) -> Option<Stuck> {
        self.lock().stuck.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // An actor that unwinds while it holds the lock leaves the state as it was: every update is one assignment.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn wait(&self, until: Option<Time>, wakeable: bool, doing: &'static str) {
        let me = self.me().0;
        let now = self.now();
        let mut state = self.lock();
        let woken = wakeable && std::mem::take(&mut state.actors[me].woken);
        let due = if woken { Some(now) } else { until.map(|until| until.max(now)) };
        state.actors[me].phase = Phase::Waiting { due, wakeable, doing };
        let state = self.hand_over(state);
        drop(self.await_turn(state, me));
    }

    /// Lets happen what comes before the next actor, then gives the baton to that one.
    fn hand_over<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        state.holder = None;
        loop {
            let actor = state.next_actor();
            let event = state.events.first_key_value().map(|((time, _), _)| *time);
            let event = event.filter(|time| actor.is_none_or(|(due, _)| *time <= due));
            match (event, actor) {
                (Some(time), _) if state.anyone_left() => {
                    if !self.advance(&mut state, time) {
                        return state;
                    }
                    let happens = state.events.pop_first();
                    drop(state);
                    happens.into_iter().for_each(|(_, event)| event());
                    state = self.lock();
                }
                (_, Some((due, next))) => {
                    if self.advance(&mut state, due) {
                        state.holder = Some(next);
                        state.actors[next].phase = Phase::Running;
                        state.actors[next].turn.notify_one();
                    }
                    return state;
                }
                (_, None) => {
                    if state.anyone_left() {
                        self.end(&mut state, |at, actors| Stuck::NothingLeft { at, actors });
                    }
                    return state;
                }
            }
        }
    }

    /// Moves the clock; false when too much happens at one instant.
    fn advance(&self, state: &mut State, to: Time) -> bool {
        if to > self.now() {
            self.now.store(to.as_nanos(), Ordering::Relaxed);
            state.at_this_instant = 0;
        }
        state.at_this_instant += 1;
        if state.at_this_instant > MOST_AT_ONE_INSTANT {
            self.end(state, |at, actors| Stuck::Endless { at, actors });
            return false;
        }
        true
    }

    fn await_turn<'a>(&self, mut state: MutexGuard<'a, State>, me: usize) -> MutexGuard<'a, State> {
        let turn = state.actors[me].turn.clone();
        while state.holder != Some(me) {
            if state.stuck.is_some() {
                drop(state);
                resume_unwind(Box::new(WorldEnded));
            }
            state = turn.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        state
    }

    fn end(&self, state: &mut State, why: impl FnOnce(Time, String) -> Stuck) {
        let actors: Vec<String> = state.actors.iter().map(Actor::describe).collect();
        state.stuck = Some(why(self.now(), actors.join("; ")));
        for actor in &state.actors {
            actor.turn.notify_one();
        }
    }
}

impl State {
    /// The actor that is due first, ties by number.
    fn next_actor(&self) -> Option<(Time, usize)> {
        let due = |(index, actor): (usize, &Actor)| match actor.phase {
            Phase::Waiting { due: Some(due), .. } => Some((due, index)),
            _ => None,
        };
        self.actors.iter().enumerate().filter_map(due).min()
    }

    fn anyone_left(&self) -> bool {
        self.actors.iter().any(|actor| actor.phase != Phase::Ended)
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "World at {} ms", self.now())
    }
}

impl Actor {
    fn describe(&self) -> String {
        let doing = match self.phase {
            Phase::Waiting { due: Some(due), doing, .. } => format!("{doing} until {due} ms"),
            Phase::Waiting { due: None, doing, .. } => doing.to_string(),
            Phase::Running => "running".to_string(),
            Phase::Ended => "ended".to_string(),
        };
        format!("{} is {doing}", self.name)
    }
}

#[cfg(test)]
mod tests;
