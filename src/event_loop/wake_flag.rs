//! One atomic flag, so that many posts cost one wake-up.
//!
//! A producer pushes its task first and then sets the flag; only the one that found it clear wakes the loop. The
//! loop clears the flag before it looks at the queue for the last time and goes to sleep. In either order of the two
//! threads' steps the loop sees the task or the producer sees the clear flag: no post sleeps in the queue.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a wake-up is under way or not needed.
#[derive(Debug)]
pub(crate) struct WakeFlag(AtomicBool);

impl WakeFlag {
    /// A flag of a loop that nobody turns yet; `set` when it looks at its queue before it first sleeps and clears it.
    pub(crate) const fn new(set: bool) -> WakeFlag {
        WakeFlag(AtomicBool::new(set))
    }

    /// After a push: whether this producer must wake the loop.
    pub(crate) fn set(&self) -> bool {
        !self.0.swap(true, Ordering::AcqRel)
    }

    /// By the loop: from here on the next post wakes.
    pub(crate) fn clear(&self) {
        // A swap, not a store: it takes part in the same order as the producers' swaps, so that a queue that is
        // looked at after it shows every push whose producer saw the flag still set.
        self.0.swap(false, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_post_after_a_clear_wakes() {
        let flag = WakeFlag::new(true);
        assert!(!flag.set());
        flag.clear();
        assert!(flag.set());
        assert!(!flag.set());
        flag.clear();
        assert!(flag.set());
    }
}
