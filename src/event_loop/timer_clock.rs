//! The clock that a loop's timers are kept by, and the deadlines it gives.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::handle::Shared;
use crate::calendar::Calendar;
use crate::policy::{DelayFrom, Overflow, TimerClock};
use crate::time::{Time, nanos};

impl Shared {
    fn calendar(&self) -> Option<&Calendar> {
        match self.policy.clock {
            TimerClock::Monotonic => None,
            TimerClock::Wall => self.clock.calendar(),
        }
    }

    /// The present instant on the clock of the timers.
    pub(super) fn timer_now(&self) -> Time {
        self.timer_instant(self.clock.now())
    }

    /// An instant of the monotonic clock as the clock of the timers has it.
    pub(super) fn timer_instant(&self, at: Time) -> Time {
        self.calendar().map_or(at, |calendar| calendar.shows(at))
    }

    /// When the monotonic clock will have come to a deadline of the timers' clock.
    pub(super) fn when(&self, deadline: Time) -> Time {
        self.calendar().map_or(deadline, |calendar| calendar.reaches(deadline, self.clock.now()))
    }

    /// A deadline as the monotonic clock would have it if nobody had set the wall clock.
    pub(super) fn unmoved(&self, deadline: Time) -> Time {
        self.calendar().map_or(deadline, |_| Calendar::unmoved(deadline))
    }

    /// The loop's wait has ended.
    pub(super) fn turn_begins(&self) {
        if self.policy.delays == DelayFrom::TurnBegan {
            self.turn_began.store(self.timer_now().as_nanos(), Ordering::Relaxed);
        }
    }

    /// The deadline of a timer that is armed now.
    pub(super) fn deadline(&self, after: Duration) -> Time {
        let from = match self.policy.delays {
            DelayFrom::Now => self.timer_now(),
            DelayFrom::TurnBegan => Time::from_nanos(self.turn_began.load(Ordering::Relaxed)),
        };
        match self.policy.overflow {
            Overflow::Saturates => from.after(after),
            Overflow::Wraps => signed_sum(from, after),
        }
    }
}

/// The sum of signed 64-bit nanoseconds, the delay cut to their range first (`TimeUnit.toNanos`): a sum beyond it is
/// negative, a time that passed long ago.
fn signed_sum(from: Time, after: Duration) -> Time {
    const MOST: u64 = i64::MAX as u64;
    let sum = from.as_nanos().checked_add(nanos(after).min(MOST));
    sum.filter(|sum| *sum <= MOST).map_or(Time::ZERO, Time::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signed_sum_beyond_its_range_is_long_past() {
        let ten = Time::from_nanos(10);
        assert_eq!(signed_sum(ten, Duration::from_nanos(5)), Time::from_nanos(15));
        assert_eq!(signed_sum(ten, Duration::from_secs(1 << 32)), ten.after(Duration::from_secs(1 << 32)));
        assert_eq!(signed_sum(ten, Duration::MAX), Time::ZERO);
        assert_eq!(signed_sum(Time::ZERO, Duration::MAX), Time::from_nanos(i64::MAX as u64));
    }
}
