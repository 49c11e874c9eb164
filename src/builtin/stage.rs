//! Sets the stage and plays: threads for the loops and the outside threads, the start, the end of the window, the
//! trace. Real and virtual runs differ in the clock, the poller, and how a thread enters and leaves.

use std::sync::Arc;
use std::time::Duration;

use super::crew::Crew;
use super::entrance::Entrance;
use super::env::{Env, Names, RecordLoop, supports_real};
use super::interpret::Place;
use super::loops::{StageLoop, starts_lazily};
use super::net::Connections;
use super::{Outcome, RunError, check, explore};
use crate::clock::Clock;
use crate::control::Control;
use crate::event_loop::Handle;
use crate::net::{MemoryNetwork, MemorySettings, TcpNetwork};
use crate::policy::Policy;
use crate::poller::{MioPoller, Poller, SimulatedPoller};
use crate::recorder::{CAPACITY, Recorder};
use crate::scenario::Scenario;
use crate::sys::{self, ThreadId};
use crate::time::Time;
use crate::trace::{LoopCounters, Trace};
use crate::world::World;

/// How long the loops have to fall asleep in their pollers before a real run's start.
const SETTLE: Duration = Duration::from_millis(2);

/// Carries a scenario out in virtual time.
///
/// # Errors
/// A scenario or policy that doesn't fit, or a world in which nothing is left to happen.
pub fn run_virtual(scenario: &Scenario, policy: Policy, seed: u64) -> Result<Outcome, RunError> {
    check(scenario, &policy)?;
    if let Some(model) = &scenario.model {
        return Ok(explore(model, &policy));
    }
    let world = World::with_wall_steps(&scenario.environment.wall_steps);
    let clock = Clock::Simulated(world.clone());
    let late_wake = scenario.environment.late_wake;
    let loops = scenario.loops.iter().map(|l| {
        let actor =
            if starts_lazily(l, policy) { world.register_absent(&l.name) } else { world.register(&l.name) };
        let empty_returns = scenario.environment.spurious_returns.iter().find(|empty| empty.on == l.name);
        let poller =
            SimulatedPoller::new(world.clone(), actor, late_wake).with_empty_returns(empty_returns.cloned());
        (Entrance::Actor(world.clone(), actor), Box::new(poller) as Box<dyn Poller>)
    });
    let settings = MemorySettings { latency: scenario.environment.link, ..MemorySettings::default() };
    let network = Arc::new(MemoryNetwork::new(world.clone(), settings));
    let connections = Connections::new(scenario, network, policy, seed);
    let mut stage = Stage::new(scenario, policy, clock, loops.collect(), connections)?;
    let entrances = scenario.threads.iter().map(|t| Entrance::Actor(world.clone(), world.register(&t.name)));
    let entrances: Vec<Entrance> = entrances.collect();
    let director = world.register("the end of the window");
    match stage.raise_all(entrances, Entrance::Actor(world.clone(), director)) {
        Ok(()) => world.start(),
        Err(error) => {
            world.abandon();
            stage.crew.join_all();
            return Err(error);
        }
    }
    stage.crew.join_all();
    match world.stuck() {
        Some(stuck) => Err(stuck.into()),
        None => Ok(Outcome { trace: stage.trace(Time::ZERO), noise: None }),
    }
}

/// Carries a scenario out in real time. A thread that has not ended `limit` after the start is given up.
///
/// # Errors
/// A scenario or policy that doesn't fit, a system out of threads or descriptors, or the limit.
pub fn run_real(scenario: &Scenario, policy: Policy, seed: u64, limit: Duration) -> Result<Outcome, RunError> {
    check(scenario, &policy)?;
    supports_real(scenario, &policy)?;
    check_descriptors(scenario)?;
    check_loopback(scenario)?;
    let clock = Clock::wall();
    let Clock::Wall(origin) = clock else { unreachable!("Clock::wall gives a wall clock") };
    let pollers = scenario.loops.iter().map(|_| {
        let poller = MioPoller::new(origin).map_err(no_poller)?;
        Ok((Entrance::Thread, Box::new(poller) as Box<dyn Poller>))
    });
    let pollers = pollers.collect::<Result<Vec<_>, RunError>>()?;
    let connections = Connections::new(scenario, Arc::new(TcpNetwork::new()), policy, seed);
    let mut stage = Stage::new(scenario, policy, clock.clone(), pollers, connections)?;
    let control = Control::start(origin);
    stage.raise_loops()?;
    stage.loop_threads.iter().for_each(|thread| control.watch(*thread));
    clock.spend(SETTLE);
    let start = clock.now();
    stage.env.set_start(start);
    stage.raise_scripts(scenario.threads.iter().map(|_| Entrance::Thread).collect())?;
    stage.crew.play_until(&clock, start.after(scenario.window));
    stage.env.loops.iter().for_each(Handle::end);
    let ended = stage.crew.join_until(&clock, start.after(limit));
    let noise = control.finish(start);
    ended.map_err(|thread| RunError::Timeout { thread, limit })?;
    Ok(Outcome { trace: stage.trace(start), noise: Some(noise) })
}

/// Descriptors that the process needs beside those of the scenario.
const OTHER_DESCRIPTORS: u64 = 64;

/// Whether the process may open what a scenario needs: three for each loop, two for each connection.
fn check_descriptors(scenario: &Scenario) -> Result<(), RunError> {
    let clients: u64 = scenario.clients.iter().map(|client| u64::from(client.count)).sum();
    let needed = 3 * scenario.loops.len() as u64 + 2 * clients + scenario.servers.len() as u64 + OTHER_DESCRIPTORS;
    match sys::descriptor_limit() {
        Some(limit) if limit < needed => Err(RunError::Descriptors { needed, limit }),
        _ => Ok(()),
    }
}

/// Whether connections over the loopback address work at all, where a scenario makes any.
fn check_loopback(scenario: &Scenario) -> Result<(), RunError> {
    if scenario.servers.is_empty() && scenario.clients.is_empty() {
        return Ok(());
    }
    TcpNetwork::try_loopback()
        .map_err(|error| RunError::System { what: "a connection over the loopback address", error })
}

struct Stage {
    env: Arc<Env>,
    recorder: Arc<Recorder>,
    crew: Arc<Crew>,
    loops: Vec<StageLoop>,
    loop_threads: Vec<ThreadId>,
}

impl Stage {
    fn new(
        scenario: &Scenario,
        policy: Policy,
        clock: Clock,
        pollers: Vec<(Entrance, Box<dyn Poller>)>,
        connections: Connections,
    ) -> Result<Stage, RunError> {
        let names = Names::of(scenario);
        let loops = scenario.loops.iter().zip(pollers).map(|(spec, entrance)| {
            let observer = RecordLoop::new(names.number(&spec.name));
            StageLoop::new(spec, policy, &clock, entrance, observer).map_err(no_poller)
        });
        let loops = loops.collect::<Result<Vec<StageLoop>, RunError>>()?;
        let handles = loops.iter().map(|stage_loop| stage_loop.handle().clone()).collect();
        Ok(Stage {
            recorder: Recorder::new(clock.clone(), CAPACITY),
            env: Env::new(scenario, clock, names, handles, connections),
            crew: Crew::new(),
            loops,
            loop_threads: Vec::new(),
        })
    }

    /// Starts every thread of a virtual run; the director stops the loops at the end of the window.
    fn raise_all(&mut self, scripts: Vec<Entrance>, director: Entrance) -> Result<(), RunError> {
        self.raise_loops()?;
        self.raise_scripts(scripts)?;
        let env = self.env.clone();
        self.spawn("director", move || {
            director.play(|| {
                env.clock.spend(env.scenario.window);
                env.loops.iter().for_each(Handle::end);
            });
        })
    }

    /// Starts the loops' threads and waits until each has begun, or has the first task start one.
    fn raise_loops(&mut self) -> Result<(), RunError> {
        let (ready, begun) = crossbeam_channel::unbounded();
        let (lazy, eager): (Vec<_>, Vec<_>) = self.loops.iter().partition(|stage_loop| stage_loop.is_lazy());
        lazy.iter().for_each(|stage_loop| stage_loop.start_by_first_task(&self.crew, &self.recorder));
        for stage_loop in &eager {
            stage_loop.start(&self.crew, &self.recorder, ready.clone()).map_err(no_thread)?;
        }
        self.loop_threads = begun.iter().take(eager.len()).flatten().collect();
        Ok(())
    }

    /// Starts the outside threads.
    fn raise_scripts(&mut self, entrances: Vec<Entrance>) -> Result<(), RunError> {
        for (index, entrance) in entrances.into_iter().enumerate() {
            let (env, name) = (self.env.clone(), self.env.scenario.threads[index].name.clone());
            let attach = (self.recorder.clone(), name.clone());
            self.spawn(&name, move || {
                let _attached = attach.0.attach(&attach.1, false);
                entrance.play(|| {
                    let steps = &env.scenario.threads[index].steps;
                    env.carry_out(steps, &Place::OUTSIDE);
                });
            })?;
        }
        Ok(())
    }

    fn spawn(&mut self, name: &str, part: impl FnOnce() + Send + 'static) -> Result<(), RunError> {
        self.crew.spawn(name, part).map_err(no_thread)
    }

    fn trace(&self, start: Time) -> Trace {
        let (events, dropped) = self.recorder.collect(start, self.env.names.all());
        let counters = self.env.loops.iter().zip(&self.env.scenario.loops).map(|(handle, spec)| {
            let counters = handle.counters();
            LoopCounters {
                name: spec.name.clone(),
                tasks: counters.tasks(),
                timers: counters.timers(),
                polls: counters.polls(),
                wakeups: counters.wakeups(),
                pending_tasks: handle.pending_tasks() as u64,
                pending_timers: handle.pending_timers() as u64,
                longest_turn: counters.longest_turn(),
                rebuilds: counters.rebuilds(),
                mean_task_time: counters.mean_task_time(),
                io_time: counters.io_time(),
                state: handle.state(),
            }
        });
        let trace = Trace {
            events,
            loops: counters.collect(),
            futures: self.env.future_states(),
            counted: self.env.counted(start),
            dropped,
        };
        self.env.clear();
        self.loops.iter().for_each(StageLoop::clear);
        trace
    }
}

fn no_thread(error: std::io::Error) -> RunError {
    RunError::System { what: "a thread", error }
}

fn no_poller(error: std::io::Error) -> RunError {
    RunError::System { what: "a poller", error }
}
