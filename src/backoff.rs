//! How long to wait before the next attempt: a pure function of the failures so far and a seeded generator.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::random::Random;
use crate::time::{millis, nanos};

/// A schedule of retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Backoff {
    /// The first delay.
    #[serde(rename = "base_ms", with = "millis")]
    pub base: Duration,
    /// The delay doubles with each failure, so many times at most: its cap is base × 2^shift.
    pub shift: u32,
    /// How delays are spread.
    pub jitter: Jitter,
}

/// How delays are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Jitter {
    /// Not at all.
    None,
    /// Times a factor between 0.8 and 1.2 (text A).
    Factor,
    /// Half of it, and a part of the other half.
    Equal,
    /// A part of it.
    Full,
}

impl Jitter {
    /// All of them.
    pub const ALL: [Jitter; 4] = [Jitter::None, Jitter::Factor, Jitter::Equal, Jitter::Full];

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Jitter::None => "none",
            Jitter::Factor => "factor",
            Jitter::Equal => "equal",
            Jitter::Full => "full",
        }
    }
}

impl Backoff {
    /// The delay after so many failures before this one, without jitter. Stops at 584 years.
    pub fn nominal(&self, failures: u32) -> Duration {
        let doublings = failures.min(self.shift);
        let factor = 1u64.checked_shl(doublings).unwrap_or(u64::MAX);
        Duration::from_nanos(nanos(self.base).saturating_mul(factor))
    }

    /// The delay with its jitter.
    pub fn delay(&self, failures: u32, random: &mut Random) -> Duration {
        let nominal = self.nominal(failures);
        let (least, most) = self.jitter.bounds(nominal);
        least + (most - least).mul_f64(random.unit())
    }
}

impl Jitter {
    /// Between what a delay lies.
    pub fn bounds(self, nominal: Duration) -> (Duration, Duration) {
        match self {
            Jitter::None => (nominal, nominal),
            Jitter::Factor => (nominal / 5 * 4, nominal.saturating_add(nominal / 5)),
            Jitter::Equal => (nominal / 2, nominal),
            Jitter::Full => (Duration::ZERO, nominal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn delays_double_up_to_the_cap() {
        let backoff = Backoff { base: 4 * MS, shift: 5, jitter: Jitter::None };
        let delays: Vec<u128> = (0..8).map(|n| backoff.nominal(n).as_millis()).collect();
        assert_eq!(delays, [4, 8, 16, 32, 64, 128, 128, 128]);
    }

    #[test]
    fn huge_numbers_saturate() {
        let backoff = Backoff { base: Duration::MAX, shift: 200, jitter: Jitter::Full };
        assert_eq!(backoff.nominal(199), Duration::from_nanos(u64::MAX));
        assert!(backoff.delay(199, &mut Random::new(1)) <= Duration::from_nanos(u64::MAX));
    }

    proptest! {
        #[test]
        fn every_delay_lies_within_its_bounds(seed: u64, base in 1u64..100_000, failures in 0u32..12, which in 0usize..4) {
            let backoff = Backoff { base: Duration::from_micros(base), shift: 5, jitter: Jitter::ALL[which] };
            let (least, most) = backoff.jitter.bounds(backoff.nominal(failures));
            let delay = backoff.delay(failures, &mut Random::new(seed));
            prop_assert!(least <= delay && delay <= most);
        }
    }
}
