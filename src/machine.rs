//! Facts about the machine that results are compared by, and the wall clock's stamp.
//!
//! One trick: it reads only what describes the kind of machine. No host name, user name or path is ever read, so none
//! can end up in a file.

use std::fs::read_to_string;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::sys;

/// Facts about the machine. Absent: the system doesn't tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// The operating system: `linux`, `macos`, `windows`.
    pub os: String,
    /// The kernel's release.
    pub kernel: Option<String>,
    /// The processor's architecture: `x86_64`, `aarch64`.
    pub arch: String,
    /// The processor's name; where it has none (ARM), its implementer and part numbers.
    pub cpu_model: Option<String>,
    /// How many CPUs are switched on.
    pub cpus_online: Option<usize>,
    /// How many of them this process may run on.
    pub cpus_usable: Option<usize>,
    /// How many CPUs' worth of time the control groups grant; absent without a limit.
    pub cpu_quota: Option<f64>,
    /// The memory in MiB, whatever part of it the control groups grant.
    pub memory_mib: Option<u64>,
    /// Whether it is a virtual machine.
    pub virtualised: Option<bool>,
    /// Whether there is a sign of a container; one can hide, so false is no proof.
    pub container: Option<bool>,
    /// What the kernel counts time with: `tsc`, `kvm-clock`, `hpet`.
    pub clock_source: Option<String>,
    /// The smallest step of the monotonic clock in nanoseconds.
    pub clock_resolution_ns: u64,
    /// By how much the kernel may put off an ordinary thread's timeouts, in microseconds.
    pub timer_slack_us: Option<f64>,
    /// What sets the processor's frequency: `performance`, `powersave`.
    pub governor: Option<String>,
    /// The load average of the last minute.
    pub load_1m: Option<f64>,
    /// How this program was built: `release` or `debug`.
    pub build_profile: String,
}

impl Machine {
    /// Reads the facts, as they are for the calling thread. Call it from a thread that isn't pinned.
    pub fn read() -> Machine {
        let cpuinfo = text("/proc/cpuinfo").unwrap_or_default();
        Machine {
            os: std::env::consts::OS.into(),
            kernel: sys::kernel_release(),
            arch: std::env::consts::ARCH.into(),
            cpu_model: cpu_model(&cpuinfo),
            cpus_online: text("/sys/devices/system/cpu/online").and_then(|list| cpu_count(&list)),
            cpus_usable: cpus_usable(),
            cpu_quota: sys::cpu_quota(),
            memory_mib: text("/proc/meminfo").and_then(|meminfo| memory_mib(&meminfo)),
            virtualised: virtualised(&cpuinfo),
            container: container(),
            clock_source: text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            clock_resolution_ns: crate::time::nanos(sys::clock_resolution()),
            timer_slack_us: sys::timer_slack().map(|slack| slack.as_nanos() as f64 / 1e3),
            governor: text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            load_1m: text("/proc/loadavg").and_then(|loadavg| load_1m(&loadavg)),
            build_profile: build_profile().into(),
        }
    }
}

/// The wall clock's time in UTC as RFC 3339 with milliseconds: `2026-01-31T12:00:00.000Z`.
/// Nothing else in this program reads the wall clock.
pub fn started_now() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}

const fn build_profile() -> &'static str {
    if cfg!(debug_assertions) { "debug" } else { "release" }
}

/// A file's text without the line's end; absent where there is no such file.
fn text(path: &str) -> Option<String> {
    let text = read_to_string(path).ok()?;
    Some(text.trim().to_owned())
}

fn cpus_usable() -> Option<usize> {
    let pinnable = sys::usable_cpus().len();
    if pinnable > 0 {
        return Some(pinnable);
    }
    std::thread::available_parallelism().ok().map(Into::into)
}

/// The value of the first `key : value` line.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then_some(value.trim())
    })
}

fn cpu_model(cpuinfo: &str) -> Option<String> {
    if let Some(name) = value(cpuinfo, "model name") {
        return Some(name.into());
    }
    let (implementer, part) = (value(cpuinfo, "CPU implementer")?, value(cpuinfo, "CPU part")?);
    Some(format!("implementer {implementer} part {part}"))
}

/// Hypervisors show themselves to x86 processors' guests by a flag; elsewhere there is nothing to go by.
fn virtualised(cpuinfo: &str) -> Option<bool> {
    let flags = value(cpuinfo, "flags")?;
    Some(flags.split_ascii_whitespace().any(|flag| flag == "hypervisor"))
}

/// How many CPUs a list such as `0-3,8` names.
fn cpu_count(list: &str) -> Option<usize> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        last.checked_sub(first).map(|more| more + 1)
    };
    list.split(',').map(range).sum()
}

fn memory_mib(meminfo: &str) -> Option<u64> {
    let kib = value(meminfo, "MemTotal")?.strip_suffix("kB")?;
    kib.trim().parse().ok().map(|kib: u64| kib / 1024)
}

fn load_1m(loadavg: &str) -> Option<f64> {
    let load: f64 = loadavg.split_ascii_whitespace().next()?.parse().ok()?;
    load.is_finite().then_some(load)
}

fn container() -> Option<bool> {
    // Left there by Docker, by Podman and by systemd.
    const MARKS: [&str; 3] = ["/.dockerenv", "/run/.containerenv", "/run/systemd/container"];
    let groups = text("/proc/self/cgroup")?;
    Some(MARKS.iter().any(|mark| Path::new(mark).exists()) || groups_name_a_container(&groups))
}

fn groups_name_a_container(groups: &str) -> bool {
    const NAMES: [&str; 6] = ["docker", "containerd", "kubepods", "libpod", "lxc", "crio"];
    let paths = groups.lines().filter_map(|line| line.splitn(3, ':').nth(2));
    let mut parts = paths.flat_map(|path| path.split('/'));
    // A daemon's own group on the host, such as docker.service, is no container.
    parts.any(|part| NAMES.iter().any(|name| part.starts_with(name)) && !part.ends_with(".service"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const X86: &str = "processor\t: 0\nmodel name\t: Intel(R) Xeon(R)\nflags\t\t: fpu hypervisor lm\n\n\
                       processor\t: 1\nmodel name\t: other\nflags\t\t: fpu\n";
    const ARM: &str = "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";

    #[test]
    fn a_processor_is_named_by_its_model_or_by_its_numbers() {
        assert_eq!(cpu_model(X86).as_deref(), Some("Intel(R) Xeon(R)"));
        assert_eq!(cpu_model(ARM).as_deref(), Some("implementer 0x41 part 0xd0c"));
        assert_eq!(cpu_model(""), None);
    }

    #[test]
    fn the_hypervisor_flag_tells_only_where_there_are_flags() {
        assert_eq!(virtualised(X86), Some(true));
        assert_eq!(virtualised("flags : fpu hypervisor_like"), Some(false));
        assert_eq!(virtualised(ARM), None);
    }

    #[test]
    fn cpu_lists_are_counted() {
        assert_eq!(cpu_count("0-3,8\n"), Some(5));
        assert_eq!(cpu_count("0"), Some(1));
        for text in ["", "3-1", "a", "0-"] {
            assert_eq!(cpu_count(text), None, "{text}");
        }
    }

    #[test]
    fn memory_is_whole_mebibytes() {
        assert_eq!(memory_mib("MemTotal:       16318480 kB\nMemFree: 1 kB\n"), Some(15936));
        assert_eq!(memory_mib("MemFree: 1 kB\n"), None);
    }

    #[test]
    fn a_load_that_is_no_number_is_absent() {
        assert_eq!(load_1m("0.25 0.50 0.75 1/99 1234"), Some(0.25));
        for text in ["", "nan 0 0", "inf 0 0", "x"] {
            assert_eq!(load_1m(text), None, "{text}");
        }
    }

    #[test]
    fn a_container_shows_in_its_group_and_its_daemon_is_none() {
        for groups in [
            "4:cpu:/docker/0123",
            "0::/kubepods.slice/kubepods-pod1.slice",
            "0::/system.slice/docker-0123.scope",
            "0::/lxc.payload.web",
        ] {
            assert!(groups_name_a_container(groups), "{groups}");
        }
        for groups in ["0::/", "0::/user.slice/user-1000.slice", "0::/system.slice/docker.service"] {
            assert!(!groups_name_a_container(groups), "{groups}");
        }
    }

    #[test]
    fn the_facts_survive_a_file_and_unknown_and_missing_ones_do_no_harm() {
        let machine = Machine::read();
        assert!(machine.clock_resolution_ns > 0 && !machine.os.is_empty());
        let json = serde_json::to_string(&machine).unwrap();
        assert_eq!(serde_json::from_str::<Machine>(&json).unwrap(), machine);
        let other: Machine = serde_json::from_str(r#"{"os": "plan9", "moon": "full"}"#).unwrap();
        assert_eq!((other.os.as_str(), other.load_1m), ("plan9", None));
    }

    #[test]
    fn a_stamp_is_utc_with_milliseconds() {
        let stamp = started_now();
        assert_eq!(stamp.len(), "2026-01-31T12:00:00.000Z".len());
        assert!(stamp.ends_with('Z') && stamp.parse::<jiff::Timestamp>().is_ok());
    }
}
