//! The real poller: mio's poll, waiting to the microsecond.
//!
//! mio rounds a timeout up to the next millisecond. On Linux a timerfd in the same poll carries the deadline instead,
//! and is set anew only when the deadline changes. Elsewhere mio's timeout has to do: up to a millisecond late, never
//! early.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use mio::{Events, Interest, Poll, Waker};

use super::{Poller, Wake};
use crate::clock::Clock;
use crate::net::{Ready, Registrar, Token};
use crate::sys::DeadlineTimer;
use crate::time::Time;

/// Events taken from the kernel at once.
const EVENTS: usize = 1024;
const WAKER: mio::Token = mio::Token(usize::MAX);
const TIMER: mio::Token = mio::Token(usize::MAX - 1);

/// A poller on mio.
#[derive(Debug)]
pub struct MioPoller {
    poll: Poll,
    events: Events,
    waker: Arc<MioWaker>,
    timer: Option<DeadlineTimer>,
}

/// Behind a lock, because a poller that is made anew needs another one. Nobody else holds it for long.
#[derive(Debug)]
struct MioWaker(Mutex<Waker>);

impl MioWaker {
    fn lock(&self) -> MutexGuard<'_, Waker> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Wake for MioWaker {
    fn wake(&self) {
        // The poller outlives its loop's handles' use of it, or is gone and needs no waking.
        let _ = self.lock().wake();
    }
}

impl MioPoller {
    /// A poller whose deadlines count from `origin`.
    ///
    /// # Errors
    /// Out of descriptors, or what else the operating system reports.
    pub fn new(origin: Instant) -> io::Result<MioPoller> {
        MioPoller::with_timer(DeadlineTimer::new(origin)?)
    }

    /// A poller as it is where there is no timerfd.
    ///
    /// # Errors
    /// As [`MioPoller::new`].
    pub fn portable() -> io::Result<MioPoller> {
        MioPoller::with_timer(None)
    }

    fn with_timer(mut timer: Option<DeadlineTimer>) -> io::Result<MioPoller> {
        let poll = Poll::new()?;
        let waker = Arc::new(MioWaker(Mutex::new(Waker::new(poll.registry(), WAKER)?)));
        if let Some(timer) = &mut timer {
            poll.registry().register(timer, TIMER, Interest::READABLE)?;
        }
        Ok(MioPoller { poll, events: Events::with_capacity(EVENTS), waker, timer })
    }

    /// The timeout for mio, and the timer set where there is one.
    fn timeout(&mut self, clock: &Clock, until: Option<Time>) -> io::Result<Option<Duration>> {
        let Some(until) = until else {
            // A timer left armed only makes the loop look once more; disarming it would cost a call each time.
            return Ok(None);
        };
        let left = until.since(clock.now());
        match &mut self.timer {
            _ if left.is_zero() => Ok(Some(Duration::ZERO)),
            Some(timer) => timer.arm(Some(until)).map(|()| None),
            None => Ok(Some(left)),
        }
    }
}

impl Poller for MioPoller {
    fn wait(&mut self, clock: &Clock, until: Option<Time>, ready: &mut Vec<Ready>) -> io::Result<()> {
        let timeout = self.timeout(clock, until)?;
        match self.poll.poll(&mut self.events, timeout) {
            Ok(()) => {}
            // A signal ended the wait: the loop looks at its timers and waits again for what is left.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            Err(error) => return Err(error),
        }
        for event in &self.events {
            match (event.token(), &mut self.timer) {
                (WAKER, _) => {}
                (TIMER, Some(timer)) => timer.clear(),
                (mio::Token(token), _) => ready.push(Ready {
                    token: Token(token),
                    // An error is found by whoever reads or writes next.
                    readable: event.is_readable() || event.is_error(),
                    writable: event.is_writable() || event.is_error(),
                    read_closed: event.is_read_closed(),
                }),
            }
        }
        Ok(())
    }

    fn rebuild(&mut self) -> io::Result<()> {
        let poll = Poll::new()?;
        if let Some(timer) = &mut self.timer {
            self.poll.registry().deregister(timer)?;
            poll.registry().register(timer, TIMER, Interest::READABLE)?;
        }
        let mut waker = self.waker.lock();
        *waker = Waker::new(poll.registry(), WAKER)?;
        // A wake-up of the old one is lost with it: this one is made up for it.
        waker.wake()?;
        self.poll = poll;
        Ok(())
    }

    fn registrar(&self) -> io::Result<Registrar> {
        self.poll.registry().try_clone().map(Registrar::Mio)
    }

    fn waker(&self) -> Arc<dyn Wake> {
        self.waker.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn never_early_and_woken(mut poller: MioPoller, clock: &Clock) {
        for micros in [0, 1, 500, 1500] {
            let until = clock.now().after(Duration::from_micros(micros));
            while clock.now() < until {
                poller.wait(clock, Some(until), &mut Vec::new()).unwrap();
            }
        }
        let waker = poller.waker();
        waker.wake();
        poller.wait(clock, None, &mut Vec::new()).unwrap();
        waker.wake();
        poller.wait(clock, Some(Time::MAX), &mut Vec::new()).unwrap();
    }

    #[test]
    fn it_waits_until_a_deadline_and_ends_by_a_wake() {
        let clock = Clock::wall();
        let Clock::Wall(origin) = clock else { unreachable!() };
        never_early_and_woken(MioPoller::new(origin).unwrap(), &clock);
    }

    #[test]
    fn one_made_anew_keeps_its_waker_and_its_deadline() {
        let clock = Clock::wall();
        let Clock::Wall(origin) = clock else { unreachable!() };
        let mut poller = MioPoller::new(origin).unwrap();
        let waker = poller.waker();
        poller.wait(&clock, Some(clock.now()), &mut Vec::new()).unwrap();
        poller.rebuild().unwrap();
        poller.wait(&clock, None, &mut Vec::new()).unwrap();
        waker.wake();
        poller.wait(&clock, None, &mut Vec::new()).unwrap();
        never_early_and_woken(poller, &clock);
    }

    #[test]
    fn so_does_the_portable_one() {
        never_early_and_woken(MioPoller::portable().unwrap(), &Clock::wall());
    }
}
