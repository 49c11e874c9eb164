//! A client that comes back: a retry is a timer on the loop of the connection that failed.
//!
//! Source: text A, `ReconnectHandler`. The first attempt is made by whoever starts it; a failure's listener runs on the
//! connection's loop and arms the next attempt there. What the text leaves open (what resets the schedule, what follows
//! a drop, a failure told twice) is said by the [`ReconnectSpec`].

use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use crate::backoff::{Backoff, Jitter};
use crate::channel::Channel;
use crate::clock::Clock;
use crate::event_loop::{Handle, Scheduled, Tag};
use crate::policy::{DropChoice, Growth, Guard, OnStop, ReconnectChoices, ResetChoice, RetryOn, Spread};
use crate::promise::Promise;
use crate::random::Random;
use crate::scenario::{AfterDrop, ReconnectSpec, Reset, Told, WaitBy};
use crate::time::Time;

/// What a reconnecting client needs of the world, and tells it.
pub trait Connect: Send + Sync + Debug {
    /// Begins to connect; calls `prepare` with the channel and the promise of the connect before that.
    fn connect(&self, prepare: &mut dyn FnMut(&Channel, &Promise));

    /// An attempt begins; the first is 1.
    fn attempt(&self, number: u32);

    /// The next attempt is due after this delay.
    fn retry(&self, delay: Duration);

    /// An established connection is lost.
    fn lost(&self);

    /// There will be no further attempt.
    fn gave_up(&self);
}

/// A client that comes back. Clones are the same client; any thread may use it.
#[derive(Clone, Debug)]
pub struct Reconnector {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    spec: ReconnectSpec,
    choices: ReconnectChoices,
    connect: Box<dyn Connect>,
    clock: Clock,
    tag: Tag,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    random: Random,
    attempts: u32,
    pending: Vec<Scheduled>,
    stopped: bool,
    first_loop: Option<Handle>,
}

impl Reconnector {
    /// A client that has not begun. `tag` names its timers to the loops' observer.
    pub fn new(
        spec: ReconnectSpec,
        choices: ReconnectChoices,
        connect: Box<dyn Connect>,
        clock: Clock,
        tag: Tag,
        random: Random,
    ) -> Reconnector {
        let state = State { random, attempts: 0, pending: Vec::new(), stopped: false, first_loop: None };
        Reconnector { shared: Arc::new(Shared { spec, choices, connect, clock, tag, state: Mutex::new(state) }) }
    }

    /// Makes the first attempt, on the calling thread.
    pub fn start(&self) {
        self.attempt(0);
    }

    /// No attempt begins from now on; a pending retry is cancelled.
    pub fn stop(&self) {
        if self.shared.choices.on_stop == OnStop::LeavesRetry {
            return;
        }
        let pending = {
            let mut state = self.lock();
            state.stopped = true;
            std::mem::take(&mut state.pending)
        };
        pending.iter().for_each(|retry| _ = retry.cancel());
    }

    /// One attempt, after so many failures in a row.
    fn attempt(&self, failures: u32) {
        let number = {
            let mut state = self.lock();
            if state.stopped {
                return;
            }
            state.attempts += 1;
            state.attempts
        };
        self.shared.connect.attempt(number);
        self.shared.connect.connect(&mut |channel, connected| self.listen(channel, connected, failures));
    }

    /// Listens to how an attempt ends.
    fn listen(&self, channel: &Channel, connected: &Promise, failures: u32) {
        if self.shared.spec.told != Told::Once || self.shared.choices.guard == Guard::Doubles {
            // A channel that could not connect is closed, too: told again.
            let (this, failed, outcome) = (self.clone(), channel.clone(), connected.clone());
            channel.close_future().listen(self.shared.tag, move || {
                if !matches!(outcome.outcome(), Some(Ok(()))) {
                    this.failed(&failed, failures);
                }
            });
        }
        let (this, channel, outcome) = (self.clone(), channel.clone(), connected.clone());
        connected.listen(self.shared.tag, move || match outcome.outcome() {
            Some(Ok(())) => this.connected(&channel, failures),
            _ => this.failed(&channel, failures),
        });
    }

    fn connected(&self, channel: &Channel, failures: u32) {
        let (this, dropped, since) = (self.clone(), channel.clone(), self.shared.clock.now());
        channel.close_future().listen(self.shared.tag, move || this.dropped(&dropped, failures, since));
    }

    /// An established connection is lost.
    fn dropped(&self, channel: &Channel, failures: u32, since: Time) {
        self.shared.connect.lost();
        let failures = if self.resets(since) { 0 } else { failures };
        let delayed = match self.shared.choices.drop {
            DropChoice::AsTold => self.shared.spec.after_drop == AfterDrop::Delayed,
            DropChoice::AtOnce => false,
            DropChoice::Delayed => true,
        };
        if delayed {
            self.retry(channel, failures);
        } else {
            self.attempt(failures);
        }
    }

    /// Whether a connection since then takes the schedule back to its begin.
    fn resets(&self, since: Time) -> bool {
        let told = match self.shared.spec.reset {
            Reset::OnConnect => true,
            Reset::AfterSteady { life } => self.shared.clock.now().since(since) >= life,
        };
        told && self.shared.choices.reset == ResetChoice::AsTold
    }

    fn failed(&self, channel: &Channel, failures: u32) {
        if failures + 1 >= self.shared.spec.attempts {
            self.shared.connect.gave_up();
        } else {
            self.retry(channel, failures);
        }
    }

    /// Arms the next attempt, on the loop of the connection that is gone.
    fn retry(&self, channel: &Channel, failures: u32) {
        let delay = {
            let mut state = self.lock();
            let guarded =
                self.shared.spec.told == Told::TwiceGuarded && self.shared.choices.guard == Guard::AsTold;
            let pending = state.pending.iter().any(|retry| !retry.future().is_done());
            if state.stopped || (guarded && pending) {
                return;
            }
            self.shared.backoff().delay(failures, &mut state.random)
        };
        self.shared.connect.retry(delay);
        let this = self.clone();
        let next = move || this.attempt(failures + 1);
        if self.shared.spec.wait_by == WaitBy::Sleep {
            self.shared.clock.spend(delay);
            return next();
        }
        let Some(event_loop) = self.retry_loop(channel) else { return };
        // A loop that has ended makes no more attempts.
        if let Ok(retry) = event_loop.schedule(self.shared.tag, delay, None, move |_| next()) {
            let mut state = self.lock();
            state.pending.retain(|retry| !retry.future().is_done());
            state.pending.push(retry);
        }
    }

    /// The loop whose timer makes the next attempt.
    fn retry_loop(&self, channel: &Channel) -> Option<Handle> {
        let own = channel.event_loop().ok()?.clone();
        let mut state = self.lock();
        match self.shared.choices.retry_on {
            RetryOn::OwnLoop => Some(own),
            RetryOn::FirstLoop => Some(state.first_loop.get_or_insert(own).clone()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic runs under the lock.
        self.shared.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Shared {
    fn backoff(&self) -> Backoff {
        let Backoff { base, shift, jitter } = self.spec.backoff;
        let shift = match self.choices.growth {
            Growth::AsTold => shift,
            Growth::Constant => 0,
            Growth::Uncapped => u32::MAX,
        };
        let jitter = match self.choices.spread {
            Spread::AsTold => jitter,
            Spread::Never => Jitter::None,
            Spread::AlwaysFull => Jitter::Full,
        };
        Backoff { base, shift, jitter }
    }
}
