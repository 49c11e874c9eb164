//! Seeded random numbers: the same seed gives the same numbers on every machine and in every version.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

/// A generator.
#[derive(Clone, Debug)]
pub struct Random(Pcg64Mcg);

impl Random {
    /// A generator of this seed.
    pub fn new(seed: u64) -> Random {
        // The reference seeding of PCG: the state takes the seed in its upper half too, so that small seeds differ.
        Random(Pcg64Mcg::new((u128::from(seed) << 64) | u128::from(!seed) | 1))
    }

    /// A number from 0, included, to 1, not included.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A whole number from 0 up to but not including `bound`; 0 for a bound of 0. Its bias is below `bound` / 2⁶⁴.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_and_another_gives_others() {
        let first = |seed| Random::new(seed).unit();
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
        assert!((0..1000).map(|seed| Random::new(seed).unit()).all(|unit| (0.0..1.0).contains(&unit)));
    }

    #[test]
    fn numbers_are_spread() {
        let mut random = Random::new(1);
        let mean = (0..10_000).map(|_| random.unit()).sum::<f64>() / 10_000.0;
        assert!((0.48..0.52).contains(&mean), "{mean}");
    }

    #[test]
    fn whole_numbers_stay_below_their_bound_and_fill_it() {
        let mut random = Random::new(1);
        let mut seen = [0; 10];
        (0..1000).for_each(|_| seen[random.below(10) as usize] += 1);
        assert!(seen.iter().all(|&n| n > 50), "{seen:?}");
        assert_eq!(random.below(0), 0);
    }
}
