//! `execute`, `submit`, `schedule` and a fixed rate on one loop.

use std::time::Duration;

use loopprobe::params::{Params, count, millis};
use loopprobe::probe::{Case, CaseTime, Claim, Evidence, Family, NETTY, Probe, Source, Text, TextValue, Unit};
use loopprobe::readings::Readings;
use loopprobe::scenario::{Scenario, Steps, task};
use loopprobe::trace::{EventKind, FutureState};

pub(crate) const PROBE: Probe = Probe {
    name: "task-scheduling",
    version: 1,
    about: "execute, submit, schedule and a fixed rate on one loop",
    family: Family::Timers,
    source: Source::new(Text::C, "任务调度：execute、submit、schedule"),
    params: &[
        millis("due", 200, "when the one-shot timer is due").quick("60ms"),
        millis("period", 100, "the period of the fixed rate").positive().quick("30ms"),
        count("cancel-tick", 3, "the tick that cancels its own timer"),
    ],
    cases: &[Case {
        name: "main",
        about: "one task each way; the periodic one cancels itself",
        scenario,
        time: CaseTime::Both,
    }],
    claims: &[
        Claim {
            id: "TS-1",
            statement: "submit gives a future whose value another thread can wait for",
            policies: NETTY,
            text: Some(TextValue::Words("submit-result")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "TS-2",
            statement: "a timer fires at its deadline or after it: its lateness (never below 0; about 0)",
            unit: Some(Unit::Ms),
            text: Some(TextValue::Words("209 for 200")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "TS-3",
            statement: "a fixed-rate task that cancels itself runs no more; its future says cancelled (runs; the future)",
            unit: Some(Unit::Count),
            text: Some(TextValue::Words("3 ticks, isCancelled=true")),
            ..Claim::DEFAULT
        },
    ],
    judge,
};

const VALUE: &str = "submit-result";
/// How long another thread waits for the value at most.
const PATIENCE: Duration = Duration::from_millis(50);

fn cancel_tick(p: &Params) -> u32 {
    u32::try_from(p.count("cancel-tick")).unwrap_or(u32::MAX)
}

fn scenario(p: &Params) -> Scenario {
    let (due, period) = (p.duration("due"), p.duration("period"));
    // Two periods longer than it ticks: a further tick would be seen.
    let ticking = period.saturating_mul(cancel_tick(p).saturating_add(2));
    let mut s = Scenario::one_loop(due.max(ticking).max(PATIENCE) + period / 2);
    let tick = task("tick").on_run(cancel_tick(p), |t| t.cancel("tick"));
    s.main()
        .submit(task("submit").returns(VALUE))
        .execute(task("execute"))
        .schedule(due, task("timer"))
        .fixed_rate(period, period, tick)
        .wait("submit", PATIENCE);
    s
}

fn judge(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    let got = t.kind(EventKind::Waited).next().and_then(|event| event.note.clone());
    r.exact("TS-1", got.map(|note| note.to_string()), format!("submit: done with {VALUE}"));
    r.at_least("TS-2", t.lateness("timer"), 0.0);
    let reading = r.near("TS-2", t.lateness("timer"));
    if let Some(start) = t.start("timer") {
        reading.rests_on(loopprobe::time::Time::ZERO, start.at);
    }
    r.same("TS-3", t.starts("tick").count());
    let state = t.futures.get("tick").map(|state| *state == FutureState::Cancelled);
    r.exact("TS-3", state, true).note("its future is cancelled");
}
