//! Order statistics of samples.

/// The value at or below which a share `q` (0 to 1) of the samples lies: the nearest rank, so always a sample.
/// None without samples.
pub fn quantile(samples: &[f64], q: f64) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (q.clamp(0.0, 1.0) * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied()
}

/// The least of some numbers; None when there are none.
pub fn least(samples: impl IntoIterator<Item = f64>) -> Option<f64> {
    samples.into_iter().min_by(f64::total_cmp)
}

/// The greatest of some numbers; None when there are none.
pub fn greatest(samples: impl IntoIterator<Item = f64>) -> Option<f64> {
    samples.into_iter().max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantiles_of_few_samples() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[3.0], 0.999), Some(3.0));
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        assert_eq!(quantile(&ten, 0.5), Some(5.0));
        assert_eq!(quantile(&ten, 0.9), Some(9.0));
        assert_eq!(quantile(&ten, 1.0), Some(10.0));
        assert_eq!(quantile(&ten, 0.0), Some(1.0));
    }

    proptest! {
        #[test]
        fn at_least_its_share_lies_at_or_below_a_quantile(samples in prop::collection::vec(-1e9f64..1e9, 1..200), q in 0.0f64..1.0) {
            let value = quantile(&samples, q).unwrap();
            prop_assert!(samples.contains(&value));
            let below = samples.iter().filter(|&&s| s <= value).count();
            prop_assert!(below as f64 >= q * samples.len() as f64);
        }
    }
}
