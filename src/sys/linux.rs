//! CPUs, threads and clocks as Linux tells them.
//!
//! One trick: the scheduler's files in `/proc` stay open and are read again from their start, which makes the kernel
//! write them anew; a sample costs one system call and no allocation.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use rustix::thread::{CpuSet, current_timer_slack, gettid, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_getres};

use super::{Scheduling, ThreadId};

/// `schedstat` is three numbers.
const SCHEDSTAT_BYTES: usize = 128;
/// `status` is 1.5 KiB, and more where a user is in many groups; what is wanted is its last line.
const STATUS_BYTES: usize = 8 * 1024;

/// The CPUs that the calling thread may run on, in ascending order; empty where the system doesn't tell.
pub fn usable_cpus() -> Vec<usize> {
    sched_getaffinity(None)
        .map_or_else(|_| Vec::new(), |set| (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}

/// Keeps the calling thread on one CPU; false when the system refuses, and the thread runs where it ran.
pub fn pin_to(cpu: usize) -> bool {
    if cpu >= CpuSet::MAX_CPU {
        return false;
    }
    let mut only = CpuSet::new();
    only.set(cpu);
    sched_setaffinity(None, &only).is_ok()
}

/// The calling thread; `None` where the system doesn't number threads.
pub fn thread_id() -> Option<ThreadId> {
    u32::try_from(gettid().as_raw_nonzero().get()).ok().map(ThreadId)
}

/// By how much the kernel may put off the calling thread's timeouts to serve several at once.
pub fn timer_slack() -> Option<Duration> {
    current_timer_slack().ok().map(Duration::from_nanos)
}

/// The smallest step of the clock that `Instant` reads.
pub fn clock_resolution() -> Duration {
    let step = clock_getres(ClockId::Monotonic);
    Duration::try_from(step).unwrap_or(Duration::from_nanos(1))
}

/// The kernel's release, as `uname -r` prints it.
pub fn kernel_release() -> Option<String> {
    let uname = rustix::system::uname();
    uname.release().to_str().ok().map(str::to_owned)
}

/// What the scheduler does to one thread of this process. Any thread may read it.
#[derive(Debug)]
pub struct ThreadScheduling {
    schedstat: File,
    status: File,
}

impl ThreadScheduling {
    /// Opens a thread's figures; `None` where the kernel keeps none, or the thread has ended.
    pub fn open(thread: ThreadId) -> Option<ThreadScheduling> {
        let open = |name| File::open(format!("/proc/self/task/{}/{name}", thread.0)).ok();
        let scheduling = ThreadScheduling { schedstat: open("schedstat")?, status: open("status")? };
        scheduling.read().map(|_| scheduling)
    }

    /// Only how long the thread waited for a CPU since it started: one short read, fit for every few milliseconds.
    /// `None` once the thread has ended.
    pub fn run_delay(&self) -> Option<Duration> {
        run_delay_in(reread(&self.schedstat, &mut [0; SCHEDSTAT_BYTES])?)
    }

    /// All figures; several times the cost of [`ThreadScheduling::run_delay`]. `None` once the thread has ended.
    pub fn read(&self) -> Option<Scheduling> {
        Some(Scheduling {
            run_delay: self.run_delay()?,
            involuntary_switches: involuntary_switches_in(reread(&self.status, &mut [0; STATUS_BYTES])?)?,
        })
    }
}

/// A kernel file's present text, as far as the buffer goes.
pub(super) fn reread<'a>(file: &File, buffer: &'a mut [u8]) -> Option<&'a str> {
    let length = file.read_at(buffer, 0).ok()?;
    std::str::from_utf8(&buffer[..length]).ok()
}

/// `schedstat`: time on a CPU, time waiting for one (both in ns), turns. A kernel that doesn't count writes zeros,
/// and whoever reads had at least one turn.
fn run_delay_in(schedstat: &str) -> Option<Duration> {
    let mut fields = schedstat.split_ascii_whitespace().map(str::parse::<u64>);
    let (_on_cpu, waiting, turns) = (fields.next()?, fields.next()?.ok()?, fields.next()?.ok()?);
    (turns > 0).then(|| Duration::from_nanos(waiting))
}

fn involuntary_switches_in(status: &str) -> Option<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"))?;
    value.trim().parse().ok()
}

/// How many descriptors the process may have open; None: no limit.
pub fn descriptor_limit() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_is_the_second_field() {
        assert_eq!(run_delay_in("559636 71550 2\n"), Some(Duration::from_nanos(71_550)));
    }

    #[test]
    fn a_kernel_that_does_not_count_is_told_from_a_thread_that_never_waited() {
        assert_eq!(run_delay_in("0 0 0\n"), None);
        assert_eq!(run_delay_in("559636 0 2\n"), Some(Duration::ZERO));
        for text in ["", "1", "1 2", "a b c", "1 -2 3"] {
            assert_eq!(run_delay_in(text), None, "{text}");
        }
    }

    #[test]
    fn involuntary_switches_are_not_the_voluntary_ones() {
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t3\n";
        assert_eq!(involuntary_switches_in(status), Some(3));
        assert_eq!(involuntary_switches_in("voluntary_ctxt_switches:\t7\n"), None);
    }

    #[test]
    fn a_thread_reads_its_own_figures_again_and_they_never_fall() {
        let Some(scheduling) = ThreadScheduling::open(thread_id().unwrap()) else {
            return; // A kernel without these figures.
        };
        let first = scheduling.read().unwrap();
        let second = scheduling.read().unwrap();
        assert!(second.run_delay >= first.run_delay);
        assert!(second.involuntary_switches >= first.involuntary_switches);
    }

    #[test]
    fn a_thread_that_does_not_exist_has_no_figures() {
        assert!(ThreadScheduling::open(ThreadId(u32::MAX)).is_none());
    }

    #[test]
    fn this_thread_can_be_pinned_to_a_cpu_it_may_use_and_to_no_other() {
        let pin = || {
            let usable = usable_cpus();
            assert!(!usable.is_empty() && usable.is_sorted());
            assert!(pin_to(usable[0]));
            assert_eq!(usable_cpus(), [usable[0]]);
            assert!(!pin_to(CpuSet::MAX_CPU));
        };
        // On a thread of its own, so that no other test finds itself pinned.
        std::thread::scope(|scope| {
            scope.spawn(pin);
        });
    }

    #[test]
    fn clocks_have_a_resolution_and_the_kernel_a_release() {
        assert!(clock_resolution() > Duration::ZERO);
        assert!(timer_slack().is_some());
        assert!(!kernel_release().unwrap().is_empty());
    }
}
