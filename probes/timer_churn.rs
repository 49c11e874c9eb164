//! Many timers, most of them cancelled: what stays in the heap.

use std::time::Duration;

use loopprobe::params::{ParamKind, ParamSpec, Params, count, millis};
use loopprobe::policy::PolicyName;
use loopprobe::probe::{
    BOTH, Case, CaseTime, Claim, Evidence, Family, LINKD, NETTY, Policies, Probe, Source, Text, TextValue, Unit,
};
use loopprobe::readings::{Better, Readings};
use loopprobe::scenario::{Scenario, Steps, task};
use loopprobe::trace::{EventKind, Gauges, Trace};

const BOTH_RUN: Policies = Policies { named: &[PolicyName::Netty, PolicyName::Linkd], also: BOTH.also };

pub(crate) const PROBE: Probe = Probe {
    name: "timer-churn",
    version: 1,
    about: "Of many cancelled timers none runs; whether they leave the heap is the loop's choice",
    family: Family::Timers,
    source: Source::new(Text::D, "定时任务：最小堆加 select 超时"),
    params: &[
        ParamSpec {
            name: "timers",
            about: "how many timers are armed",
            kind: ParamKind::Count {
                default: 100_000,
                least: 100,
                most: 1_000_000,
            },
            quick: Some("2000"),
        },
        ParamSpec {
            name: "cancel",
            about: "how many of a hundred are cancelled",
            kind: ParamKind::Count {
                default: 99,
                least: 1,
                most: 99,
            },
            quick: None,
        },
        count("soon", 1000, "how many of the timers are due within 100 ms of being armed, the others 1 s to 1 h from then; at most as many as there are")
            .quick("100"),
        millis("first", 50, "the least delay of those that are due soon"),
    ],
    cases: &[Case {
        name: "main",
        about: "timers are armed and most of them cancelled in one task; then those that are left run",
        scenario,
        time: CaseTime::Both,
    }],
    claims: &[
        Claim {
            id: "TC-1",
            statement: "cancel only marks: the cancelled timers stay in the heap (timers before; after)",
            policies: LINKD,
            unit: Some(Unit::Count),
            text: Some(TextValue::Words("skipped when they are due")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "TC-2",
            statement: "cancel removes: the heap holds the live timers only (timers before; after)",
            policies: NETTY,
            unit: Some(Unit::Count),
            ..Claim::DEFAULT
        },
        Claim {
            id: "TC-3",
            statement: "a cancelled timer never runs, and the others do (runs of cancelled ones; of the others that were due)",
            policies: BOTH_RUN,
            unit: Some(Unit::Count),
            ..Claim::DEFAULT
        },
    ],
    judge,
};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);
const SOON: Duration = Duration::from_millis(100);
/// What arming and cancelling a timer costs at most on a slow machine: only to make the window long enough.
const LONGEST_STEP: Duration = Duration::from_micros(20);

/// How many timers there are of each kind.
struct Groups {
    far_kept: u64,
    far_cancelled: u64,
    soon_kept: u64,
    soon_cancelled: u64,
}

fn groups(p: &Params) -> Groups {
    let timers = p.count("timers");
    let soon = p.count("soon").min(timers);
    let cancelled = |n: u64| n * p.count("cancel") / 100;
    let far = timers - soon;
    Groups {
        far_kept: far - cancelled(far),
        far_cancelled: cancelled(far),
        soon_kept: soon - cancelled(soon),
        soon_cancelled: cancelled(soon),
    }
}

fn scenario(p: &Params) -> Scenario {
    let groups = groups(p);
    let first = p.duration("first");
    let soon = first.max(SOON);
    let churn = task("churn")
        .gauges()
        .spread(groups.far_kept, SECOND, HOUR, task("far").counted())
        .spread(groups.far_cancelled, SECOND, HOUR, task("far, cancelled").counted())
        .spread(groups.soon_kept, first, soon, task("soon").counted())
        .spread(groups.soon_cancelled, first, soon, task("soon, cancelled").counted())
        .gauges()
        .cancel("soon, cancelled")
        .cancel("far, cancelled")
        .gauges()
        // In front of the timers of an hour and behind those of 100 ms.
        .schedule(soon + Duration::from_millis(20), task("stop").shutdown());
    let steps = u32::try_from(p.count("timers")).unwrap_or(u32::MAX);
    let mut s = Scenario::one_loop((soon * 3).saturating_add(LONGEST_STEP.saturating_mul(steps)));
    s.main().execute(churn);
    s
}

fn judge(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    let groups = groups(e.params);
    let seen: Vec<Gauges> = t.gauges("churn").copied().collect();
    let pending = |nth: usize| seen.get(nth).map(|gauges| gauges.pending_timers);
    let armed = e.params.count("timers");
    let (id, left) = match e.policy {
        PolicyName::Linkd | PolicyName::LinkdListed => ("TC-1", armed),
        PolicyName::Netty | PolicyName::Netty41 => ("TC-2", groups.far_kept + groups.soon_kept),
    };
    r.exact(id, pending(1), armed);
    r.exact(id, pending(2), left).note("in the heap when most are cancelled");
    let runs = |task: &str| t.counted(task).runs;
    r.exact("TC-3", runs("soon, cancelled") + runs("far, cancelled"), 0);
    r.exact("TC-3", runs("soon"), groups.soon_kept).note("runs of those left that were due");
    measure(t, armed, r);
}

/// What arming and cancelling cost; nothing in virtual time, where neither takes any.
fn measure(t: &Trace, armed: u64, r: &mut Readings) {
    let at: Vec<_> = t.kind(EventKind::Gauges).map(|event| event.at).collect();
    let per_timer = |from: usize, to: usize| {
        let took = at.get(to)?.millis_from(*at.get(from)?);
        Some(took * 1e6 / armed as f64)
    };
    r.metric("arm", "ns", Better::Lower, per_timer(0, 1));
    r.metric("cancel", "ns", Better::Lower, per_timer(1, 2));
}
