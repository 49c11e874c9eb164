//! What the benches have in common: how much to run, where to run it, and what to make of the figures.
//!
//! Each bench interleaves its candidates, a run of each in every round, and compares them within rounds: what else
//! the machine does then touches all of them alike.

use std::sync::Arc;
use std::time::Duration;

use loopprobe::channel::ChannelTag;
use loopprobe::clock::Clock;
use loopprobe::event_loop::{ChannelWarning, EventLoop, LoopState, Observer, Tag, Warning};
use loopprobe::policy::PolicyName;
use loopprobe::poller::MioPoller;
use loopprobe::scenario::LoopKind;
use loopprobe::stats::quantile;
use loopprobe::sys;

/// How much to run. `cargo bench` asks for the real sizes; without its `--bench` argument (as `cargo test --benches`
/// starts a bench) everything runs once and short, to see that it works.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) rounds: usize,
    real: bool,
}

impl Plan {
    /// The first argument that is a number gives the rounds.
    pub(crate) fn from_args(rounds: usize) -> Plan {
        let args: Vec<String> = std::env::args().skip(1).collect();
        let real = args.iter().any(|arg| arg == "--bench");
        let asked = args.iter().find_map(|arg| arg.parse().ok());
        Plan { rounds: asked.unwrap_or(if real { rounds } else { 1 }).max(1), real }
    }

    pub(crate) fn size(&self, real: usize, short: usize) -> usize {
        if self.real { real } else { short }
    }

    /// What to say of a goal; a short run says nothing of it.
    pub(crate) fn words(&self, met: bool) -> &'static str {
        match (self.real, met) {
            (false, _) => "not judged in a short run",
            (true, true) => "met",
            (true, false) => "MISSED",
        }
    }
}

/// Where the two sides of a bench run: different CPUs if there are two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cpus {
    pub(crate) first: usize,
    pub(crate) second: usize,
}

/// None, and a line that says so, where threads can't be pinned.
pub(crate) fn cpus() -> Option<Cpus> {
    let usable = sys::usable_cpus();
    let found = usable.last().zip(usable.first()).map(|(&first, &second)| Cpus { first, second });
    if found.is_none() {
        println!("This bench needs Linux: it pins its threads.");
    }
    found
}

/// Keeps the calling thread on this CPU.
pub(crate) fn pin(cpu: usize) {
    assert!(sys::pin_to(cpu), "the system refuses CPU {cpu}");
}

/// Runs `work` on a thread of its own on this CPU and gives what it returns.
pub(crate) fn pinned<R: Send>(cpu: usize, work: impl FnOnce() -> R + Send) -> R {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            pin(cpu);
            work()
        });
        thread.join().expect("a candidate panicked")
    })
}

/// The CPU time that the calling thread has used.
#[cfg(target_os = "linux")]
pub(crate) fn thread_cpu_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// Not known here.
#[cfg(not(target_os = "linux"))]
pub(crate) fn thread_cpu_time() -> Duration {
    Duration::ZERO
}

/// The machine's load average of the last minute.
pub(crate) fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_ascii_whitespace().next().unwrap_or("unknown").to_owned()
}

/// A loop as the probes use it, on the real poller.
pub(crate) fn event_loop(clock: &Clock) -> EventLoop {
    let Clock::Wall(origin) = *clock else { unreachable!("benches run in real time") };
    let poller = Box::new(MioPoller::new(origin).expect("a poller"));
    let (policy, kind) = (PolicyName::Netty.policy(), (LoopKind::EventLoop, None));
    EventLoop::new(clock.clone(), poller, policy, kind, Arc::new(NoWarnings)).expect("a loop")
}

/// A loop that warns of something does not do what is measured.
#[derive(Debug)]
struct NoWarnings;

impl Observer for NoWarnings {
    fn warned(&self, tag: Tag, warning: Warning<'_>) {
        panic!("task {tag:?}: {warning:?}");
    }

    fn moved(&self, _to: LoopState) {}

    fn channel_warned(&self, channel: ChannelTag, warning: ChannelWarning<'_>) {
        panic!("channel {channel:?}: {warning:?}");
    }
}

pub(crate) fn median(samples: &[f64]) -> f64 {
    quantile(samples, 0.5).unwrap_or(f64::NAN)
}

/// One candidate's figure in each round against another's.
#[derive(Debug)]
pub(crate) struct Ratio {
    /// The ratio of the medians.
    pub(crate) of_medians: f64,
    /// An interval for the median of the ratios within rounds; none with fewer than five rounds.
    pub(crate) interval: Option<(f64, f64)>,
}

impl Ratio {
    pub(crate) fn of(ours: &[f64], theirs: &[f64]) -> Ratio {
        let mut pairs: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect();
        pairs.sort_by(f64::total_cmp);
        let cut = cut(pairs.len());
        Ratio {
            of_medians: median(ours) / median(theirs),
            interval: cut.map(|cut| (pairs[cut], pairs[pairs.len() - 1 - cut])),
        }
    }
}

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.2}", self.of_medians)?;
        match self.interval {
            Some((low, high)) => write!(f, " (90 %: {low:.2} to {high:.2})"),
            None => write!(f, " (too few rounds for an interval)"),
        }
    }
}

/// How many of `n` sorted samples to leave out at each end, so that what is left holds the population's median in at
/// least 90 % of cases, whatever the distribution: the exact binomial interval.
fn cut(n: usize) -> Option<usize> {
    let (mut outside, mut chance) = (0.0, 0.5_f64.powi(n as i32));
    let mut cut = None;
    for left_out in 0..n / 2 {
        // The median lies below the sample at `left_out` when at most that many samples lie below the median.
        outside += 2.0 * chance;
        if outside > 0.1 {
            break;
        }
        cut = Some(left_out);
        chance *= (n - left_out) as f64 / (left_out + 1) as f64;
    }
    cut
}

/// "min / median / max" of one figure over the rounds.
pub(crate) fn spread(samples: &[f64], decimals: usize) -> String {
    let at = |q| quantile(samples, q).unwrap_or(f64::NAN);
    format!("{:.decimals$} / {:.decimals$} / {:.decimals$}", at(0.0), at(0.5), at(1.0))
}
