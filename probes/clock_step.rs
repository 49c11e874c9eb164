//! Timers by the monotonic clock and by the wall clock, when somebody sets the latter.

use std::time::Duration;

use loopprobe::calendar::WallStep;
use loopprobe::choice::Choice;
use loopprobe::params::{Params, millis};
use loopprobe::policy::TimerClock;
use loopprobe::probe::{Case, CaseTime, Claim, Evidence, Family, Probe, Source, Text, TextValue, Unit};
use loopprobe::readings::Readings;
use loopprobe::scenario::{Mode, Scenario, Steps, task};
use loopprobe::stats::greatest;
use loopprobe::time::{Time, duration_millis, nanos};
use loopprobe::trace::{EventKind, Trace};

pub(crate) const PROBE: Probe = Probe {
    name: "clock-step",
    version: 1,
    about: "Setting the wall clock moves timers that are kept by it, and no others",
    family: Family::Timers,
    source: Source::new(Text::D, "定时任务：最小堆加 select 超时"),
    params: &[
        millis("period", 1000, "the period of the ticks").positive(),
        millis("at", 5500, "when in each of four acts the wall clock is set; not on the grid").positive(),
        millis("minute", 60_000, "by how much it is set back in the first act and forward in the second, under ticks").positive(),
        millis("hour", 3_600_000, "by how much it is set back in the third act and forward in the fourth, before a one-shot timer is due").positive(),
        millis("due", 10_000, "when in its act that timer is due").positive(),
    ],
    cases: &[Case {
        name: "main",
        about: "a loop with monotonic timers beside one that keeps them by the wall clock, which is set four times",
        scenario,
        time: CaseTime::VirtualOnly,
    }],
    claims: &[
        Claim {
            id: "CS-1",
            statement: "timers by the monotonic clock don't move when the wall clock is set (the greatest gap between ticks; one-shot late: set back an hour; forward an hour)",
            unit: Some(Unit::Ms),
            text: Some(TextValue::Words("nanoTime() is not affected")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "CS-2",
            statement: "counter-example: timers by the wall clock are late by the step back and fire at once on the step forward (the greatest gap; one-shot late: set back an hour; forward an hour; ticks at the instant of the step forward)",
            unit: Some(Unit::Ms),
            text: Some(TextValue::Words("delayed or early after NTP sets the clock")),
            ..Claim::DEFAULT
        },
    ],
    judge,
};

const LOOPS: [&str; 2] = ["monotonic", "wall clock"];

/// When the four acts begin; each ends well before the next, whatever the steps did.
fn acts(p: &Params) -> [Duration; 4] {
    let (minute, hour) = (p.duration("minute"), p.duration("hour"));
    let settled = p.duration("at").saturating_add(p.duration("due"));
    // Whole periods, so that each step is off the grid as the first one is.
    let period = nanos(p.duration("period")).max(1);
    let whole = |act: Duration| Duration::from_nanos(nanos(act).div_ceil(period).saturating_mul(period));
    let second = whole(settled.saturating_add(minute));
    let third = second.saturating_mul(2);
    let fourth = whole(third.saturating_add(settled).saturating_add(hour));
    [Duration::ZERO, second, third, fourth]
}

fn steps(p: &Params) -> Vec<WallStep> {
    let by = |name| i64::try_from(p.duration(name).as_millis()).unwrap_or(i64::MAX);
    let moves = [-by("minute"), by("minute"), -by("hour"), by("hour")];
    let step =
        |(act, by): (Duration, i64)| WallStep { at: Time::ZERO.after(act.saturating_add(p.duration("at"))), by };
    acts(p).into_iter().zip(moves).map(step).collect()
}

fn scenario(p: &Params) -> Scenario {
    let (period, due) = (p.duration("period"), p.duration("due"));
    let [_, _, third, fourth] = acts(p);
    let mut s = Scenario::loops(&LOOPS, fourth.saturating_add(due).saturating_add(period));
    s.choose("wall clock", Choice::Clock(TimerClock::Wall));
    s.environment.wall_steps = steps(p);
    for on in LOOPS {
        let tick = task(&format!("{on}: tick")).starts_only();
        s.main().periodic(Mode::FixedRate, period, period, None, Some(on), tick);
    }
    s.main().until(third).cancel("monotonic: tick").cancel("wall clock: tick");
    for (act, name) in [(third, "back"), (fourth, "forward")] {
        s.main().until(act);
        for on in LOOPS {
            s.main().schedule_on(on, due, task(&format!("{on}: {name}")));
        }
    }
    s
}

/// How late a one-shot timer began, counted from when it was armed.
fn late(t: &Trace, timer: &str, due: Duration) -> Option<f64> {
    let armed = t.of(timer).find(|event| event.event == EventKind::Submitted)?;
    Some(t.start(timer)?.at.millis_from(armed.at) - duration_millis(due))
}

fn judge(e: &Evidence<'_>, r: &mut Readings) {
    let (t, due) = (e.trace, e.params.duration("due"));
    for (id, on) in [("CS-1", LOOPS[0]), ("CS-2", LOOPS[1])] {
        let ticks = t.start_times(&format!("{on}: tick"));
        let gaps = ticks.windows(2).map(|pair| pair[1].millis_from(pair[0]));
        r.near(id, greatest(gaps)).note("the greatest gap between ticks");
        for name in ["back", "forward"] {
            r.near(id, late(t, &format!("{on}: {name}"), due)).note(format!("one-shot, the clock set {name}"));
        }
    }
    let forward = e.scenario.environment.wall_steps.get(1).map(|step| step.at);
    let ticks = t.start_times("wall clock: tick");
    let at_once = ticks.iter().filter(|at| Some(**at) == forward).count();
    r.same("CS-2", at_once).note("ticks at the instant of the step forward");
}
