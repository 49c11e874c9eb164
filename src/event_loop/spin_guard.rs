//! Notices a poller that returns for nothing, again and again, and asks for another one.
//!
//! Source of the behaviour: Netty's `NioIoHandler.java` (`selectCnt`, `SELECTOR_AUTO_REBUILD_THRESHOLD` of 512): a
//! return counts as empty when the turn behind it found nothing to do, and any other sets the count back.

/// Counts the empty returns in a row.
#[derive(Debug)]
pub(super) struct SpinGuard {
    /// After how many; none: never.
    limit: Option<u32>,
    empty: u32,
}

impl SpinGuard {
    pub(super) const fn new(limit: Option<u32>) -> SpinGuard {
        SpinGuard { limit, empty: 0 }
    }

    /// After a turn: whether the poller must be rebuilt.
    pub(super) fn turned(&mut self, did_something: bool) -> bool {
        let Some(limit) = self.limit else { return false };
        self.empty = if did_something { 0 } else { self.empty + 1 };
        let full = self.empty >= limit;
        if full {
            self.empty = 0;
        }
        full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_in_a_row_count_and_the_count_begins_anew() {
        let mut guard = SpinGuard::new(Some(512));
        let rebuilds = |guard: &mut SpinGuard, turns: u32| (0..turns).filter(|_| guard.turned(false)).count();
        assert_eq!(rebuilds(&mut guard, 511), 0);
        assert!(!guard.turned(true));
        assert_eq!(rebuilds(&mut guard, 10_000), 19);
        assert_eq!(rebuilds(&mut SpinGuard::new(None), 10_000), 0);
    }
}
