//! How late an undisturbed timer is on this machine: the baseline for every other reading.

use loopprobe::params::{Params, count, millis};
use loopprobe::probe::{Case, CaseTime, Claim, Evidence, Family, Kind, Probe, Source, Text, TextValue, Unit};
use loopprobe::readings::{Better, Readings};
use loopprobe::scenario::{Scenario, Steps, task};
use loopprobe::stats::{least, quantile};

pub(crate) const PROBE: Probe = Probe {
    name: "timer-precision",
    version: 1,
    about: "How late an undisturbed timer fires on this machine",
    family: Family::Timers,
    source: Source::new(Text::D, "常见错误与边界"),
    params: &[
        count("count", 2000, "how many timers").quick("300"),
        millis("period", 5, "how far apart they are").positive(),
    ],
    cases: &[Case {
        name: "main",
        about: "timers on a grid, on a loop with nothing else to do",
        scenario,
        time: CaseTime::Both,
    }],
    claims: &[
        Claim {
            id: "TP-1",
            statement: "no timer of the run is early, compared in ns: the least lateness",
            unit: Some(Unit::Us),
            text: Some(TextValue::Words("not before the deadline")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "TP-2",
            statement: "lateness: p50 (with p90, p99, p99.9 and the greatest in the metrics)",
            kind: Kind::Observed,
            unit: Some(Unit::Us),
            text: Some(TextValue::Words("text C: 9 ms once")),
            ..Claim::DEFAULT
        },
    ],
    judge,
};

/// Below this many samples one of a thousand says nothing.
const ENOUGH_FOR_P999: usize = 1000;

fn scenario(p: &Params) -> Scenario {
    let (period, count) = (p.duration("period"), p.count("count"));
    let window = period.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX));
    // Half a period after the last: that one is not cut off, and the next is not begun.
    let mut s = Scenario::one_loop(window.saturating_add(period / 2));
    s.main().fixed_rate(period, period, task("timer").starts_only());
    s
}

fn judge(e: &Evidence<'_>, r: &mut Readings) {
    let lateness: Vec<f64> =
        e.trace.starts("timer").filter_map(|event| event.lateness()).map(|ms| ms * 1000.0).collect();
    r.at_least("TP-1", least(lateness.iter().copied()), 0.0).note(format!("of {} timers", lateness.len()));
    r.observed("TP-2", quantile(&lateness, 0.5));
    let metrics = [
        ("lateness_p50", 0.5),
        ("lateness_p90", 0.9),
        ("lateness_p99", 0.99),
        ("lateness_p999", 0.999),
        ("lateness_max", 1.0),
    ];
    for (name, q) in metrics {
        let enough = name != "lateness_p999" || lateness.len() >= ENOUGH_FOR_P999;
        r.metric(name, "us", Better::Lower, quantile(&lateness, q).filter(|_| enough));
    }
    r.metric("timers", "1", Better::None, Some(lateness.len() as f64));
}
