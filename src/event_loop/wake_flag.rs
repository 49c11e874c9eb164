//! One atomic flag, so that many posts cost one wake-up.
//!
//! A producer pushes its task first and then sets the flag; only the one that found it clear wakes the loop. The
//! loop clears the flag before it looks at the queue for the last time and goes to sleep. In either order of the two
//! threads' steps the loop sees the task or the producer sees the clear flag: no post sleeps in the queue. The tests
//! try every execution of both orders with loom, also those that only a weak memory model allows.

use std::sync::atomic::{AtomicBool, Ordering};

/// The one operation that the flag needs of an atomic; loom has atomics of its own.
pub(crate) trait Swap {
    /// Puts a value in and gives the one that was there.
    fn swap(&self, value: bool, order: Ordering) -> bool;
}

impl Swap for AtomicBool {
    fn swap(&self, value: bool, order: Ordering) -> bool {
        AtomicBool::swap(self, value, order)
    }
}

/// Whether a wake-up is under way or not needed.
#[derive(Debug)]
pub(crate) struct WakeFlag<A = AtomicBool>(A);

impl WakeFlag {
    /// A flag of a loop that nobody turns yet; `set` when it looks at its queue before it first sleeps and clears it.
    pub(crate) const fn new(set: bool) -> WakeFlag {
        WakeFlag(AtomicBool::new(set))
    }
}

impl<A: Swap> WakeFlag<A> {
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
    use std::panic::catch_unwind;

    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicBool as LoomBool, AtomicUsize};

    use super::*;

    impl Swap for LoomBool {
        fn swap(&self, value: bool, order: Ordering) -> bool {
            LoomBool::swap(self, value, order)
        }
    }

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

    struct Shared {
        flag: WakeFlag<LoomBool>,
        /// How many posts are in the queue.
        queue: AtomicUsize,
        /// The poller's sticky wake-up.
        woken: LoomBool,
    }

    const PRODUCERS: usize = 2;

    /// A loop that is awake, its flag set, passes once over its flag and queue and goes to sleep, while producers post.
    /// `pass` gives how many posts it took. Every execution must leave nothing behind, or a wake-up under way.
    fn every_execution(pass: fn(&Shared) -> usize) {
        loom::model(move || {
            let shared = Arc::new(Shared {
                flag: WakeFlag(LoomBool::new(true)),
                queue: AtomicUsize::new(0),
                woken: LoomBool::new(false),
            });
            let producers: Vec<_> = (0..PRODUCERS)
                .map(|_| {
                    let shared = shared.clone();
                    loom::thread::spawn(move || {
                        shared.queue.fetch_add(1, Ordering::Release);
                        if shared.flag.set() {
                            shared.woken.store(true, Ordering::Release);
                        }
                    })
                })
                .collect();
            let taken = pass(&shared);
            producers.into_iter().for_each(|thread| thread.join().unwrap());
            let woken = shared.woken.load(Ordering::Acquire);
            assert!(taken == PRODUCERS || woken, "a post sleeps in the queue");
        });
    }

    fn look(shared: &Shared) -> usize {
        shared.queue.load(Ordering::Acquire)
    }

    #[test]
    fn loom_finds_no_lost_wake_up_when_the_flag_is_cleared_before_the_queue_is_looked_at() {
        every_execution(|shared| {
            shared.flag.clear();
            look(shared)
        });
    }

    #[test]
    fn loom_finds_a_lost_wake_up_when_the_flag_is_cleared_behind_the_tasks() {
        let lost = catch_unwind(|| {
            every_execution(|shared| {
                let taken = look(shared);
                shared.flag.clear();
                taken
            });
        });
        assert!(lost.is_err());
    }
}
