//! Text D's own demonstration: one task, one timer, a heartbeat that cancels itself, and the loop's counters.

use std::time::Duration;

use loopprobe::params::{Params, count, millis};
use loopprobe::probe::{Case, CaseTime, Claim, Evidence, Family, LINKD, Probe, Source, Text, TextValue, Unit};
use loopprobe::readings::Readings;
use loopprobe::scenario::{Scenario, Steps, task};
use loopprobe::trace::{EventKind, Trace};

pub(crate) const PROBE: Probe = Probe {
    name: "loop-demo",
    version: 1,
    about: "Text D's demonstration: what the loop counts of one task, one timer and a heartbeat",
    family: Family::Tasks,
    source: Source::new(Text::D, "运行与行为验证"),
    params: &[
        millis("task-at", 100, "when the task is submitted and the timers are armed").quick("20ms"),
        millis("timer", 150, "the delay of the one-shot timer").quick("30ms"),
        millis("period", 200, "the period of the heartbeat, and its first delay").positive().quick("40ms"),
        count("cancel-tick", 3, "the tick at which the heartbeat cancels itself"),
        millis("stop-at", 900, "when the loop is stopped").quick("190ms"),
    ],
    cases: &[Case { name: "main", about: "the demonstration", scenario, time: CaseTime::Both }],
    claims: &[
        Claim {
            id: "LD-1",
            statement: "the loop counts one task and one timer for the one-shot and each tick, and nothing waits (tasks; timers; pending tasks; pending timers)",
            policies: LINKD,
            unit: Some(Unit::Count),
            text: Some(TextValue::Words("tasks=1 timers=4 pendingTasks=0 pendingTimers=0")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "LD-2",
            statement: "there are no more wake-ups than submissions, the stop's own included",
            policies: LINKD,
            unit: Some(Unit::Count),
            text: Some(TextValue::Words("wakeups=2 for 3 submissions")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "LD-3",
            statement: "after the stop the loop ends: from the call to its thread's end",
            policies: LINKD,
            unit: Some(Unit::Ms),
            text: Some(TextValue::Words("loopAlive=false")),
            ..Claim::DEFAULT
        },
    ],
    judge,
};

fn scenario(p: &Params) -> Scenario {
    let period = p.duration("period");
    let cancel_tick = u32::try_from(p.count("cancel-tick")).unwrap_or(u32::MAX);
    let heartbeat = task("heartbeat").on_run(cancel_tick, |t| t.cancel("heartbeat"));
    let mut s = Scenario::one_loop(p.duration("stop-at").saturating_add(Duration::from_millis(100)));
    s.main()
        .until(p.duration("task-at"))
        .execute(task("task"))
        .schedule(p.duration("timer"), task("one-shot timer"))
        .fixed_rate(period, period, heartbeat)
        .until(p.duration("stop-at"))
        .gauges()
        .shutdown();
    s
}

fn judge(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    let seen = t.gauges("main").next().copied().unwrap_or_default();
    for (value, note) in [
        (seen.tasks, "tasks"),
        (seen.timers, "timers"),
        (seen.pending_tasks, "pending tasks"),
        (seen.pending_timers, "pending timers"),
    ] {
        r.same("LD-1", value).note(note);
    }
    judge_wakeups(t, r);
    let asked = t.kind(EventKind::StopAsked).next();
    let ended = t.kind(EventKind::Stopped).next();
    let took = asked.zip(ended).map(|(asked, ended)| ended.at.millis_from(asked.at));
    let reading = r.near("LD-3", took);
    if let Some((asked, ended)) = asked.zip(ended) {
        reading.rests_on(asked.at, ended.at);
    }
}

fn judge_wakeups(t: &Trace, r: &mut Readings) {
    let submissions: Vec<_> = t.kind(EventKind::Submitted).map(|event| event.at).collect();
    // Where something held the submitting thread up between its calls, the loop had run what was there and was asleep
    // again, so each call had to wake it.
    let apart = t.start("task").zip(submissions.last()).is_some_and(|(start, last)| start.at < *last);
    let most = submissions.len() + usize::from(apart);
    let wakeups = t.loops.first().map(|counters| counters.wakeups as f64);
    let words = if apart { "apart from one another" } else { "at once" };
    r.at_most("LD-2", wakeups, most as f64)
        .note(format!("for {} submissions {words}, and the stop", submissions.len()));
}
