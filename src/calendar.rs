//! The wall clock of a simulated world: it shows the monotonic clock's time, moved by whoever sets it.

use serde::{Deserialize, Serialize};

use crate::time::Time;

/// Somebody sets the wall clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WallStep {
    /// When, on the monotonic clock.
    #[serde(rename = "at_ms")]
    pub at: Time,
    /// By how many milliseconds; negative: back.
    #[serde(rename = "by_ms")]
    pub by: i64,
}

/// What the wall clock shows. Its zero lies 146 years before the start, so that it can be set back.
#[derive(Clone, Debug, Default)]
pub struct Calendar {
    /// By time.
    steps: Vec<WallStep>,
}

/// What it shows at the start, in ns.
const AT_START: i128 = 1 << 62;

fn time(nanos: i128) -> Time {
    Time::from_nanos(nanos.clamp(0, i128::from(u64::MAX)) as u64)
}

fn nanos(time: Time) -> i128 {
    i128::from(time.as_nanos())
}

impl Calendar {
    /// A wall clock that is set at these instants.
    pub fn new(steps: &[WallStep]) -> Calendar {
        let mut steps = steps.to_vec();
        steps.sort_by_key(|step| step.at);
        Calendar { steps }
    }

    /// What it shows at an instant of the monotonic clock.
    pub fn shows(&self, at: Time) -> Time {
        time(nanos(at) + AT_START + self.moved(at))
    }

    /// The first instant of the monotonic clock, from `from` on, at which it shows `deadline` or later.
    pub fn reaches(&self, deadline: Time, from: Time) -> Time {
        let later = self.steps.iter().map(|step| step.at).filter(|at| *at > from);
        let begins = std::iter::once(from).chain(later.clone());
        let ends = later.chain(std::iter::once(Time::MAX));
        begins
            .zip(ends)
            .map(|(begin, end)| {
                let reached = time(nanos(deadline) - AT_START - self.moved(begin)).max(begin);
                (reached, end)
            })
            .find(|(reached, end)| reached < end)
            .map_or(Time::MAX, |(reached, _)| reached)
    }

    /// A time that it shows as if nobody had set it: on the axis of the monotonic clock.
    pub fn unmoved(shown: Time) -> Time {
        time(nanos(shown) - AT_START)
    }

    /// By how much it has been set up to an instant, in ns.
    fn moved(&self, at: Time) -> i128 {
        let steps = self.steps.iter().take_while(|step| step.at <= at);
        steps.map(|step| i128::from(step.by) * 1_000_000).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    fn stepped(by: i64) -> Calendar {
        Calendar::new(&[WallStep { at: ms(5500), by }])
    }

    #[test]
    fn a_deadline_comes_later_when_the_clock_is_set_back_and_at_once_when_it_is_set_forward() {
        let deadline = Calendar::default().shows(ms(6000));
        assert_eq!(Calendar::default().reaches(deadline, ms(5000)), ms(6000));
        assert_eq!(stepped(-60_000).reaches(deadline, ms(5000)), ms(66_000));
        assert_eq!(stepped(60_000).reaches(deadline, ms(5000)), ms(5500));
        assert_eq!(stepped(60_000).reaches(deadline, ms(5600)), ms(5600));
        assert_eq!(Calendar::unmoved(deadline), ms(6000));
    }

    #[test]
    fn a_deadline_that_was_reached_before_the_clock_was_set_back_is_reached_then() {
        let deadline = stepped(-60_000).shows(ms(5000));
        assert_eq!(stepped(-60_000).reaches(deadline, ms(1000)), ms(5000));
    }

    #[test]
    fn the_largest_numbers_saturate() {
        let far = Calendar::new(&[WallStep { at: ms(1), by: i64::MIN }]);
        assert_eq!(far.shows(ms(2)), Time::ZERO);
        assert_eq!(Calendar::default().reaches(Time::MAX, ms(1)), Time::from_nanos(u64::MAX - (1 << 62)));
    }
}
