//! The loops of a run and their threads: started before the scenario begins, or by a loop's first task.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crossbeam_channel::{Receiver, Sender};

use super::crew::Crew;
use super::entrance::Entrance;
use super::env::RecordLoop;
use crate::clock::Clock;
use crate::event_loop::{Ended, EventLoop, Handle};
use crate::policy::{Policy, PolicyName, ThreadStart};
use crate::poller::Poller;
use crate::recorder::{Recorder, Row, record};
use crate::scenario::{LoopKind, LoopSpec, Role};
use crate::sys::{self, ThreadId};
use crate::trace::EventKind;

/// One loop, and how its thread becomes part of the run.
#[derive(Debug)]
pub(super) struct StageLoop {
    name: String,
    kind: LoopKind,
    lazy: bool,
    entrance: Arc<Entrance>,
    handle: Handle,
    /// The loop itself, while no thread has it.
    slot: (Sender<EventLoop>, Receiver<EventLoop>),
}

/// The policy of a loop, where the run's is `policy`.
fn policy_of(spec: &LoopSpec, policy: Policy) -> Policy {
    match spec.role {
        Role::Subject | Role::Executor => spec.policy(policy),
        // What the loop under test talks to is sound, whatever defect was put into that.
        Role::Peer => PolicyName::Netty.policy(),
    }
}

/// Whether a loop has no thread until its first task.
pub(super) fn starts_lazily(spec: &LoopSpec, policy: Policy) -> bool {
    spec.starts_lazily() && policy_of(spec, policy).thread_start == ThreadStart::FirstTask
}

impl StageLoop {
    pub(super) fn new(
        spec: &LoopSpec,
        policy: Policy,
        clock: &Clock,
        (entrance, poller): (Entrance, Box<dyn Poller>),
        observer: RecordLoop,
    ) -> io::Result<StageLoop> {
        let (own, kind) = (policy_of(spec, policy), (spec.kind, spec.slow_task));
        let event_loop = EventLoop::new(clock.clone(), poller, own, kind, Arc::new(observer))?;
        let handle = event_loop.handle().clone();
        let slot = crossbeam_channel::unbounded();
        // Both ends are there, so there is a receiver.
        let _ = slot.0.send(event_loop);
        Ok(StageLoop {
            name: spec.name.clone(),
            kind: spec.kind,
            lazy: starts_lazily(spec, policy),
            entrance: Arc::new(entrance),
            handle,
            slot,
        })
    }

    pub(super) fn handle(&self) -> &Handle {
        &self.handle
    }

    pub(super) fn is_lazy(&self) -> bool {
        self.lazy
    }

    /// Starts its thread; `ready` hears of it when it has begun.
    pub(super) fn start(
        &self,
        crew: &Crew,
        recorder: &Arc<Recorder>,
        ready: Sender<Option<ThreadId>>,
    ) -> io::Result<()> {
        let thread = self.thread(self.name.clone(), recorder.clone(), false);
        crew.spawn(&self.name, move || {
            // The receiver waits for all loops, so it is there.
            let _ = ready.send(sys::thread_id());
            thread();
        })
    }

    /// Has its first task start its thread; the global executor's also the first one after each rest.
    pub(super) fn start_by_first_task(&self, crew: &Arc<Crew>, recorder: &Arc<Recorder>) {
        let (crew, recorder) = (crew.clone(), recorder.clone());
        let (name, kind, entrance) = (self.name.clone(), self.kind, self.entrance.clone());
        let (slot, threads) = (self.slot.clone(), AtomicUsize::new(0));
        self.handle.start_lazily(move || {
            let number = threads.fetch_add(1, Ordering::Relaxed) + 1;
            let name = match kind {
                LoopKind::EventLoop => name.clone(),
                LoopKind::GlobalExecutor => format!("{name}-{number}"),
            };
            let thread = thread(name.clone(), recorder.clone(), true, entrance.clone(), slot.clone());
            // A system out of threads leaves the loop without one: what it should have run is missing from the trace.
            if crew.spawn(&name, thread).is_ok() {
                entrance.launch();
            }
        });
    }

    /// Lets go of a loop that no thread has.
    pub(super) fn clear(&self) {
        self.slot.1.try_iter().for_each(drop);
    }

    fn thread(&self, name: String, recorder: Arc<Recorder>, told: bool) -> impl FnOnce() + Send + 'static {
        thread(name, recorder, told, self.entrance.clone(), self.slot.clone())
    }
}

/// What a loop's thread does. `told`: its begin is an event of the run.
fn thread(
    name: String,
    recorder: Arc<Recorder>,
    told: bool,
    entrance: Arc<Entrance>,
    (back, slot): (Sender<EventLoop>, Receiver<EventLoop>),
) -> impl FnOnce() + Send + 'static {
    move || {
        let _attached = recorder.attach(&name, true);
        entrance.play(|| {
            // The thread before it puts the loop back as its last step.
            let Ok(mut event_loop) = slot.recv() else { return };
            if told {
                record(Row::new(EventKind::Began));
            }
            // A poller that fails ends its loop; what it should have run is then missing from the trace.
            let ended = event_loop.run();
            record(Row::new(EventKind::Stopped));
            if matches!(ended, Ok(Ended::AtRest)) {
                let _ = back.send(event_loop);
            }
        });
    }
}
