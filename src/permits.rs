//! A number of permits that threads share: who takes one while there is none waits for one.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use crate::clock::{Clock, Unparker};

/// Permits. Any thread may use them.
#[derive(Debug)]
pub struct Permits {
    clock: Clock,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    free: u64,
    waiters: Vec<Unparker>,
}

impl Permits {
    /// So many.
    pub fn new(count: u64, clock: Clock) -> Permits {
        let state = State { free: count, waiters: Vec::new() };
        Permits { clock, state: Mutex::new(state) }
    }

    /// Takes one, waiting for so long at most; whether it got one.
    pub fn acquire(&self, limit: Duration) -> bool {
        let until = self.clock.now().after(limit);
        loop {
            let mut state = self.lock();
            if state.free > 0 {
                state.free -= 1;
                return true;
            }
            if self.clock.now() >= until {
                return false;
            }
            state.waiters.push(self.clock.unparker());
            drop(state);
            self.clock.park(Some(until));
        }
    }

    /// Gives one back. Whoever waits looks again.
    pub fn release(&self) {
        let mut state = self.lock();
        state.free += 1;
        let waiters = std::mem::take(&mut state.waiters);
        drop(state);
        waiters.iter().for_each(Unparker::unpark);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic runs under the lock.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_as_were_made() {
        let permits = Permits::new(2, Clock::wall());
        assert!(permits.acquire(Duration::ZERO) && permits.acquire(Duration::ZERO));
        assert!(!permits.acquire(Duration::ZERO));
        std::thread::scope(|scope| {
            scope.spawn(|| permits.release());
            assert!(permits.acquire(Duration::from_secs(60)));
        });
    }
}
