//! Sets the stage and plays: threads for the loops and the outside threads, the start, the end of the window, the
//! trace. Real and virtual runs differ in the clock, the poller, and how a thread enters and leaves.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender};

use super::env::{Env, Names, RecordWarnings, supports_real};
use super::interpret::Place;
use super::net::Connections;
use super::{Outcome, RunError, check, explore};
use crate::clock::Clock;
use crate::control::Control;
use crate::event_loop::{EventLoop, Handle};
use crate::net::{MemoryNetwork, MemorySettings, TcpNetwork};
use crate::policy::{Policy, PolicyName};
use crate::poller::{MioPoller, Poller, SimulatedPoller};
use crate::recorder::{CAPACITY, Recorder, Row, record};
use crate::scenario::{Role, Scenario};
use crate::sys::{self, ThreadId};
use crate::time::Time;
use crate::trace::{EventKind, LoopCounters, Trace};
use crate::world::{ActorId, World};

/// How long the loops have to fall asleep in their pollers before a real run's start.
const SETTLE: Duration = Duration::from_millis(2);

/// Room for a thousand tasks that run inside one another, which some scenarios show; only what is used is ever touched.
const STACK: usize = 32 << 20;

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
        let actor = world.register(&l.name);
        let poller = Box::new(SimulatedPoller::new(world.clone(), actor, late_wake));
        (Entrance::Actor(world.clone(), actor), poller as Box<dyn Poller>)
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
            stage.join_all();
            return Err(error);
        }
    }
    stage.join_all();
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
    let clock = Clock::wall();
    let Clock::Wall(origin) = clock else { unreachable!("Clock::wall gives a wall clock") };
    let pollers = scenario.loops.iter().map(|_| {
        let poller = MioPoller::new(origin).map_err(|error| RunError::System { what: "a poller", error })?;
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
    stage.play_until(start.after(scenario.window));
    stage.env.loops.iter().for_each(Handle::end);
    let ended = stage.join_until(start.after(limit), limit);
    let noise = control.finish(start);
    ended?;
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

/// How a thread becomes part of the run.
enum Entrance {
    Thread,
    Actor(Arc<World>, ActorId),
}

impl Entrance {
    /// Runs a thread's part. In virtual time as an actor, whose end hands the baton on however it ends.
    fn play(&self, part: impl FnOnce()) {
        match self {
            Entrance::Thread => part(),
            Entrance::Actor(world, actor) => {
                // Only a world that is stuck unwinds through here; it says so itself.
                let _ = catch_unwind(AssertUnwindSafe(|| {
                    world.enter(*actor);
                    part();
                }));
                world.leave();
            }
        }
    }
}

struct Stage {
    env: Arc<Env>,
    recorder: Arc<Recorder>,
    loops: Vec<(Entrance, EventLoop)>,
    loop_threads: Vec<ThreadId>,
    threads: Vec<(String, JoinHandle<()>)>,
    /// A thread's name when it has ended.
    ended: (Sender<String>, Receiver<String>),
    /// The threads that are known to have ended.
    gone: Vec<String>,
}

impl Stage {
    fn new(
        scenario: &Scenario,
        policy: Policy,
        clock: Clock,
        pollers: Vec<(Entrance, Box<dyn Poller>)>,
        connections: Connections,
    ) -> Result<Stage, RunError> {
        let mut loops = Vec::new();
        for (spec, (entrance, poller)) in scenario.loops.iter().zip(pollers) {
            let policy = match spec.role {
                Role::Subject | Role::Executor => spec.policy(policy),
                // What the loop under test talks to is sound, whatever defect was put into that.
                Role::Peer => PolicyName::Netty.policy(),
            };
            let observer = Arc::new(RecordWarnings);
            let event_loop = EventLoop::new(clock.clone(), poller, policy, spec.slow_task, observer);
            let event_loop = event_loop.map_err(|error| RunError::System { what: "a poller", error })?;
            loops.push((entrance, event_loop));
        }
        let handles = loops.iter().map(|(_, event_loop)| event_loop.handle().clone()).collect();
        let recorder = Recorder::new(clock.clone(), CAPACITY);
        let env = Env::new(scenario, clock, Names::of(scenario), handles, connections);
        let ended = crossbeam_channel::unbounded();
        Ok(Stage { env, recorder, loops, loop_threads: Vec::new(), threads: Vec::new(), ended, gone: Vec::new() })
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

    /// Starts the loops' threads and waits until each has begun.
    fn raise_loops(&mut self) -> Result<(), RunError> {
        let (ready, begun) = crossbeam_channel::unbounded();
        let loops = std::mem::take(&mut self.loops);
        let count = loops.len();
        for (index, (entrance, mut event_loop)) in loops.into_iter().enumerate() {
            let (name, ready) = (self.env.scenario.loops[index].name.clone(), ready.clone());
            let attach = (self.recorder.clone(), name.clone());
            let in_loop = self.env.scenario.loops[index].role != Role::Executor;
            self.spawn(&name, move || {
                let _attached = attach.0.attach(&attach.1, in_loop);
                // The receiver waits for all loops, so it is there.
                let _ = ready.send(sys::thread_id());
                entrance.play(|| {
                    // A poller that fails ends its loop; what it should have run is then missing from the trace.
                    let _ = event_loop.run();
                    record(Row::new(EventKind::Stopped));
                });
            })?;
        }
        self.loop_threads = begun.iter().take(count).flatten().collect();
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
        let (ended, thread) = (self.ended.0.clone(), name.to_string());
        let run = move || {
            // An outside thread's own error ends that thread only, as it would in any program.
            let _ = catch_unwind(AssertUnwindSafe(part));
            let _ = ended.send(thread);
        };
        let spawned = std::thread::Builder::new().name(name.into()).stack_size(STACK).spawn(run);
        let thread = spawned.map_err(|error| RunError::System { what: "a thread", error })?;
        self.threads.push((name.into(), thread));
        Ok(())
    }

    fn join_all(&mut self) {
        for (_, thread) in self.threads.drain(..) {
            // Its panics were caught on the thread.
            let _ = thread.join();
        }
    }

    /// Until this instant, or until every thread has ended.
    fn play_until(&mut self, until: Time) {
        while self.running() > 0 {
            let left = until.since(self.env.clock.now());
            match self.ended.1.recv_timeout(left) {
                Ok(name) => self.gone.push(name),
                Err(_) => return,
            }
        }
    }

    fn running(&self) -> usize {
        self.threads.len() - self.gone.len()
    }

    /// Joins the threads that end in time; those that don't are left behind, and the first of them is named.
    fn join_until(&mut self, until: Time, limit: Duration) -> Result<(), RunError> {
        self.play_until(until);
        let missing = self.threads.iter().find(|(name, _)| !self.gone.contains(name));
        if let Some((thread, _)) = missing {
            return Err(RunError::Timeout { thread: thread.clone(), limit });
        }
        self.join_all();
        Ok(())
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
        trace
    }
}
