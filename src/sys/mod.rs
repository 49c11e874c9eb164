//! What only some systems have: timers with a descriptor, CPU affinity, the scheduler's figures, control groups.
//!
//! One trick: [`portable`] has the same names and signatures and answers "this system doesn't tell", so callers
//! need no `cfg`. It is compiled everywhere, so that a test on Linux runs it too.

use std::time::Duration;

#[cfg(target_os = "linux")]
mod cgroup;
#[cfg(target_os = "linux")]
mod linux;
pub mod portable;
#[cfg(target_os = "linux")]
mod timerfd;

#[cfg(target_os = "linux")]
pub use self::{
    cgroup::{Throttling, cpu_quota},
    linux::{
        ThreadScheduling, clock_resolution, descriptor_limit, kernel_release, pin_to, thread_id, timer_slack,
        usable_cpus,
    },
    timerfd::DeadlineTimer,
};
#[cfg(not(target_os = "linux"))]
pub use portable::{
    DeadlineTimer, ThreadScheduling, Throttling, clock_resolution, cpu_quota, descriptor_limit, kernel_release,
    pin_to, thread_id, timer_slack, usable_cpus,
};

/// A thread of this process, by the number that the kernel gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadId(u32);

/// What the scheduler did to a thread since the thread's start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scheduling {
    /// How long it was ready to run and waited for a CPU. The kernel adds a wait when it ends, not while it lasts.
    pub run_delay: Duration,
    /// How often it lost its CPU against its will.
    pub involuntary_switches: u64,
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_portable_fallback_has_the_same_signatures() {
        let _: [fn() -> Vec<usize>; 2] = [usable_cpus, portable::usable_cpus];
        let _: [fn(usize) -> bool; 2] = [pin_to, portable::pin_to];
        let _: [fn() -> Option<ThreadId>; 2] = [thread_id, portable::thread_id];
        let _: [fn() -> Option<Duration>; 2] = [timer_slack, portable::timer_slack];
        let _: [fn() -> Duration; 2] = [clock_resolution, portable::clock_resolution];
        let _: [fn() -> Option<f64>; 2] = [cpu_quota, portable::cpu_quota];
        let _: [fn() -> Option<String>; 2] = [kernel_release, portable::kernel_release];
    }
}
