//! A timer that a poll can wait for: Linux's timerfd, to the nanosecond where a poll's timeout is whole milliseconds.
//!
//! One trick: it is absolute on the clock that `Instant` reads, and the origin's value on that clock is taken so
//! that an error can only make deadlines later. A timer that is never early needs no second look.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Instant;

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token, event::Source};
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime, timerfd_create,
    timerfd_settime,
};

use crate::time::{Time, nanos};

/// How often the origin is looked at; the earliest reading wins, so one preemption between two clocks costs nothing.
const LOOKS: usize = 5;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// One absolute deadline as a source of readable events.
///
/// Register it for `READABLE`. Events are edge-triggered: one for each deadline that passes.
/// It belongs to the one thread that polls; it may be moved between threads.
#[derive(Debug)]
pub struct DeadlineTimer {
    fd: OwnedFd,
    /// The monotonic clock at the origin in nanoseconds, never less than it was.
    origin: u64,
    armed: Option<Time>,
}

impl DeadlineTimer {
    /// A disarmed timer whose deadlines count from `origin`; `None` on systems that have no such timer.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    pub fn new(origin: Instant) -> io::Result<Option<DeadlineTimer>> {
        let fd = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        Ok(Some(DeadlineTimer { fd, origin: monotonic_at(origin), armed: None }))
    }

    /// Sets the deadline; `None`: none. Costs a system call only when it differs from the one that is set.
    /// A deadline that has passed fires at once; one beyond the kernel's range (292 years after boot) never does.
    ///
    /// # Errors
    /// None that a valid descriptor gives.
    pub fn arm(&mut self, until: Option<Time>) -> io::Result<()> {
        if self.armed == until {
            return Ok(());
        }
        let setting = Itimerspec {
            it_interval: Timespec::default(),
            it_value: until.map_or_else(Timespec::default, |until| on_clock(self.origin, until)),
        };
        timerfd_settime(&self.fd, TimerfdTimerFlags::ABSTIME, &setting)?;
        self.armed = until;
        Ok(())
    }

    /// Takes notice of a passed deadline: call it on each readable event, else the same deadline can't be set again.
    ///
    /// Setting a timer forgets its unread expiry. So when nothing is there to read, the event was about a deadline
    /// that has been replaced since, and the new one stays set.
    pub fn clear(&mut self) {
        let mut expirations = [0; size_of::<u64>()];
        if rustix::io::read(&self.fd, &mut expirations).is_ok() {
            self.armed = None;
        }
    }
}

impl Source for DeadlineTimer {
    fn register(&mut self, registry: &Registry, token: Token, interests: Interest) -> io::Result<()> {
        SourceFd(&self.fd.as_raw_fd()).register(registry, token, interests)
    }

    fn reregister(&mut self, registry: &Registry, token: Token, interests: Interest) -> io::Result<()> {
        SourceFd(&self.fd.as_raw_fd()).reregister(registry, token, interests)
    }

    fn deregister(&mut self, registry: &Registry) -> io::Result<()> {
        SourceFd(&self.fd.as_raw_fd()).deregister(registry)
    }
}

/// The monotonic clock at `origin`, or a little later, never earlier.
fn monotonic_at(origin: Instant) -> u64 {
    let looks = (0..LOOKS).map(|_| look_at(origin));
    looks.min().unwrap_or(u64::MAX)
}

/// One look. The clock is read after the `Instant`, so what passes between the two makes the result later.
#[expect(clippy::disallowed_methods, reason = "ties the kernel's clock to the origin that the Clock counts from")]
fn look_at(origin: Instant) -> u64 {
    let instant = Instant::now();
    let clock = as_nanos(clock_gettime(ClockId::Monotonic));
    clock
        .saturating_sub(nanos(instant.saturating_duration_since(origin)))
        .saturating_add(nanos(origin.saturating_duration_since(instant)))
}

fn as_nanos(clock: Timespec) -> u64 {
    let seconds = u64::try_from(clock.tv_sec).unwrap_or(0);
    let rest = u64::try_from(clock.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(NANOS_PER_SECOND).saturating_add(rest)
}

/// A deadline on the kernel's clock. Zero would disarm the timer, so the earliest deadline is 1 ns.
fn on_clock(origin: u64, until: Time) -> Timespec {
    let deadline = origin.saturating_add(until.as_nanos()).max(1);
    Timespec { tv_sec: (deadline / NANOS_PER_SECOND) as _, tv_nsec: (deadline % NANOS_PER_SECOND) as _ }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const TIMER: Token = Token(7);
    /// A wait that ends by an event, never by this, unless the timer is broken.
    const LONG: Option<Duration> = Some(Duration::from_secs(20));

    #[expect(clippy::disallowed_methods, reason = "the timer runs on the real clock")]
    fn now() -> Instant {
        Instant::now()
    }

    fn polled(origin: Instant) -> (mio::Poll, DeadlineTimer) {
        let poll = mio::Poll::new().unwrap();
        let mut timer = DeadlineTimer::new(origin).unwrap().unwrap();
        poll.registry().register(&mut timer, TIMER, Interest::READABLE).unwrap();
        (poll, timer)
    }

    fn fires(poll: &mut mio::Poll, wait: Option<Duration>) -> bool {
        let mut events = mio::Events::with_capacity(4);
        poll.poll(&mut events, wait).unwrap();
        events.iter().any(|event| event.token() == TIMER)
    }

    #[test]
    fn deadlines_split_into_seconds_and_never_overflow_or_disarm() {
        let at = on_clock(1_500_000_000, Time::from_nanos(600_000_007));
        assert_eq!((at.tv_sec, at.tv_nsec), (2, 100_000_007));
        assert_eq!(on_clock(0, Time::ZERO).tv_nsec, 1);
        assert_eq!(on_clock(5, Time::MAX).tv_sec as u64, u64::MAX / NANOS_PER_SECOND);
    }

    #[test]
    fn the_origin_is_never_put_earlier_than_it_was() {
        let before = as_nanos(clock_gettime(ClockId::Monotonic));
        let origin = now();
        assert!(monotonic_at(origin) >= before);
    }

    #[test]
    fn a_future_deadline_fires_and_never_early() {
        let origin = now();
        let (mut poll, mut timer) = polled(origin);
        let due = Duration::from_millis(20);
        timer.arm(Some(Time::ZERO.after(due))).unwrap();
        assert!(fires(&mut poll, LONG));
        assert!(now().duration_since(origin) >= due);
    }

    #[test]
    fn a_past_deadline_fires_every_time_it_is_set_and_cleared() {
        let (mut poll, mut timer) = polled(now());
        for _ in 0..3 {
            timer.arm(Some(Time::ZERO)).unwrap();
            assert!(fires(&mut poll, LONG));
            timer.clear();
        }
    }

    #[test]
    fn a_disarmed_timer_and_one_for_the_end_of_time_stay_silent() {
        let (mut poll, mut timer) = polled(now());
        timer.arm(Some(Time::MAX)).unwrap();
        assert!(!fires(&mut poll, Some(Duration::ZERO)));
        timer.arm(Some(Time::ZERO.after(Duration::from_secs(3600)))).unwrap();
        timer.arm(None).unwrap();
        assert!(!fires(&mut poll, Some(Duration::ZERO)));
    }

    #[test]
    fn clearing_an_event_of_a_replaced_deadline_keeps_the_new_one() {
        let (mut poll, mut timer) = polled(now());
        timer.arm(Some(Time::ZERO)).unwrap();
        assert!(fires(&mut poll, LONG));
        let next = Some(Time::ZERO.after(Duration::from_secs(3600)));
        timer.arm(next).unwrap();
        timer.clear();
        assert_eq!(timer.armed, next);
    }
}
