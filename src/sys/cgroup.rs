//! The CPU limit of this process's control groups, version 1 or 2, and how long it held them up.
//!
//! One trick: a limit may sit on any group above the process's own, so the whole chain is looked at; a group without
//! a limit is never throttled and needs no second look.

use std::fs::{File, read_to_string};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::linux::reread;

/// Longer than any `cpu.stat`: ten lines of a name and a number.
const STAT_BYTES: usize = 1024;

/// How long the limits held this process's control groups up. Any thread may read it.
#[derive(Debug)]
pub struct Throttling {
    /// `cpu.stat` of each group with a limit.
    stats: Vec<File>,
}

impl Throttling {
    /// Opens the figures of the groups that have a limit now; `None` where no CPU control group is to be seen.
    pub fn open() -> Option<Throttling> {
        let groups = cpu_groups();
        if groups.is_empty() {
            return None;
        }
        let limited = groups.iter().filter(|group| quota_of(group).is_some());
        let stats: Result<_, _> = limited.map(|group| File::open(group.join("cpu.stat"))).collect();
        stats.ok().map(|stats| Throttling { stats })
    }

    /// The time since the groups were made, summed over their CPUs and over groups with a limit; zero without a
    /// limit. The kernel adds a throttling when it ends. `None` when a group's file can't be read any more.
    pub fn read(&self) -> Option<Duration> {
        let each = self.stats.iter();
        each.map(|stat| throttled_in(reread(stat, &mut [0; STAT_BYTES])?)).sum()
    }
}

/// How many CPUs' worth of time the groups may use: the least limit of the chain; `None` without one.
pub fn cpu_quota() -> Option<f64> {
    let groups = cpu_groups();
    let quotas = groups.iter().filter_map(|group| quota_of(group));
    quotas.min_by(f64::total_cmp)
}

/// The directories of this process's CPU control group and those above it, as far as they can be seen.
fn cpu_groups() -> Vec<PathBuf> {
    let membership = read_to_string("/proc/self/cgroup").unwrap_or_default();
    let Some((mounts, group)) = cpu_group_in(&membership) else {
        return Vec::new();
    };
    let has_figures = |directory: &PathBuf| directory.join("cpu.stat").is_file();
    let chains = mounts.iter().map(|mount| {
        let chain = chain(Path::new(mount), group);
        chain.into_iter().filter(has_figures).collect::<Vec<_>>()
    });
    chains.into_iter().find(|chain| !chain.is_empty()).unwrap_or_default()
}

/// Where `/proc/self/cgroup` says the CPU controller is: the places it is usually mounted at, and the group in it.
/// Version 1 goes first: where both are there, the controller belongs to the hierarchy that names it.
fn cpu_group_in(membership: &str) -> Option<(&'static [&'static str], &str)> {
    const V1: &[&str] = &["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"];
    const V2: &[&str] = &["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];
    let mut v2 = None;
    for line in membership.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else {
            continue;
        };
        if controllers.split(',').any(|controller| controller == "cpu") {
            return Some((V1, group));
        }
        if controllers.is_empty() {
            v2 = Some((V2, group));
        }
    }
    v2
}

/// A group's directory and those above it, up to the mount. Inside a container the group's path may be the host's,
/// which isn't there; then the mount itself is the container's group.
fn chain(mount: &Path, group: &str) -> Vec<PathBuf> {
    let group = Path::new(group.trim_start_matches('/'));
    group.ancestors().map(|part| mount.join(part)).collect()
}

fn quota_of(group: &Path) -> Option<f64> {
    let read = |name| read_to_string(group.join(name)).ok();
    if let Some(max) = read("cpu.max") {
        return quota_in(&max);
    }
    let (quota, period) = (read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?);
    quota_in(&format!("{} {}", quota.trim(), period.trim()))
}

/// "QUOTA PERIOD" in microseconds as CPUs; `max` (version 2) and -1 (version 1) are no limit.
fn quota_in(text: &str) -> Option<f64> {
    let mut fields = text.split_ascii_whitespace().map(|field| field.parse::<u64>());
    let (quota, period) = (fields.next()?.ok()?, fields.next()?.ok()?);
    (period > 0).then(|| quota as f64 / period as f64)
}

/// Microseconds in version 2, nanoseconds in version 1.
fn throttled_in(stat: &str) -> Option<Duration> {
    stat.lines().find_map(|line| {
        let (name, value) = line.split_once(' ')?;
        match name {
            "throttled_usec" => value.parse().ok().map(Duration::from_micros),
            "throttled_time" => value.parse().ok().map(Duration::from_nanos),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_count_throttling_each_in_its_unit() {
        let v2 = "usage_usec 9\nnr_periods 5\nnr_throttled 2\nthrottled_usec 1500\nnr_bursts 0\n";
        assert_eq!(throttled_in(v2), Some(Duration::from_micros(1500)));
        let v1 = "nr_periods 5\nnr_throttled 2\nthrottled_time 1500\n";
        assert_eq!(throttled_in(v1), Some(Duration::from_nanos(1500)));
        assert_eq!(throttled_in("usage_usec 9\n"), None);
    }

    #[test]
    fn a_quota_is_cpus_and_no_limit_is_none() {
        assert_eq!(quota_in("150000 100000\n"), Some(1.5));
        for text in ["max 100000\n", "-1 100000", "100000 0", "100000", ""] {
            assert_eq!(quota_in(text), None, "{text}");
        }
    }

    #[test]
    fn the_hierarchy_that_names_the_controller_wins() {
        let (mounts, group) = cpu_group_in("4:cpu,cpuacct:/docker/ab\n1:name=systemd:/x\n0::/y\n").unwrap();
        assert_eq!((mounts[0], group), ("/sys/fs/cgroup/cpu", "/docker/ab"));
        let (mounts, group) = cpu_group_in("0::/user.slice/a:b\n").unwrap();
        assert_eq!((mounts[0], group), ("/sys/fs/cgroup", "/user.slice/a:b"));
        assert_eq!(cpu_group_in("3:cpuset:/\n\nnonsense\n"), None);
    }

    #[test]
    fn the_chain_goes_up_to_the_mount() {
        let chain = chain(Path::new("/m"), "/a/b");
        let expected = ["/m/a/b", "/m/a", "/m/"].map(PathBuf::from);
        assert_eq!(chain, expected);
    }

    #[test]
    fn opening_and_reading_agree_that_there_is_a_group() {
        if let Some(throttling) = Throttling::open() {
            assert!(throttling.read().is_some());
        }
        assert!(cpu_quota().is_none_or(|quota| quota >= 0.0));
    }
}
