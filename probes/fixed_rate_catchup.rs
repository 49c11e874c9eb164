//! What happens to the ticks that a long run swallowed.

use std::time::Duration;

use loopprobe::missed;
use loopprobe::params::{Params, count, millis, word};
use loopprobe::policy::PolicyName;
use loopprobe::probe::{
    BOTH, Case, CaseTime, Claim, Evidence, Family, LINKD, NETTY, Policies, Probe, Source, Stance, Text, TextValue,
    Unit,
};
use loopprobe::readings::Readings;
use loopprobe::scenario::{Action, Condition, MissedTicks, Mode, Scenario, Steps, TaskDef, task};
use loopprobe::stats::{greatest, least};
use loopprobe::time::Time;
use loopprobe::trace::{EventKind, Trace};

pub(crate) const PROBE: Probe = Probe {
    name: "fixed-rate-catchup",
    version: 1,
    about: "What becomes of the ticks that a long run swallowed: burst, skip, delay or restart",
    family: Family::Timers,
    source: Source::new(Text::A, "固定频率与固定延迟"),
    params: &[
        millis("period", 50, "the period").positive().quick("20ms"),
        millis("first", 0, "when the first tick is due"),
        millis("body", 25, "how long tick 1 lasts: it tells fixed delay from fixed rate").quick("10ms"),
        millis("block", 470, "how long tick 3 lasts; not a multiple of the period, which could not tell three of the six policies apart").quick("188ms"),
        millis("long-body", 80, "how long every tick lasts in the case long-body").quick("32ms"),
        millis("window", 1510, "how long it is watched; not on the grid").quick("615ms"),
        millis("guard", 45, "a guarded round pings only when so much has passed since the last ping; less than the period, so that a late tick before doesn't count").quick("18ms"),
        word("missed", &["policy", "burst", "restart", "skip", "delay", "next-grid"], "what becomes of missed ticks; policy leaves it to the loop"),
        word("mode", &["fixed-rate", "fixed-delay"], "fixed rate or fixed delay"),
        millis("drift-period", 100, "the period in the case drift").positive(),
        count("drift-periods", 100, "over how many periods the drift is taken"),
        millis("drift-late", 10, "how late every wake is in the case drift"),
    ],
    cases: &[
        Case { name: "main", about: "a fixed rate (or --mode) whose third tick blocks", scenario, time: CaseTime::Both },
        Case { name: "fixed-delay", about: "the same at a fixed delay", scenario: fixed_delay, time: CaseTime::Both },
        Case {
            name: "long-body",
            about: "every tick lasts longer than the period, at a fixed rate and at a fixed delay",
            scenario: long_body,
            time: CaseTime::Both,
        },
        Case {
            name: "guards",
            about: "a round guarded by a flag, one guarded by the time since the last ping, and fixed delay",
            scenario: guards,
            time: CaseTime::Both,
        },
        Case {
            name: "drift",
            about: "every wake is late: on the grid, with a late tick that moves it, and re-armed at each end",
            scenario: drift,
            time: CaseTime::VirtualOnly,
        },
    ],
    claims: &[
        Claim {
            id: "FR-1",
            statement: "fixed rate: the missed ticks run back to back when the block ends (how many; largest gap)",
            policies: NETTY,
            unit: Some(Unit::Count),
            text: Some(TextValue::Words("several ticks in the same ms")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "FR-2",
            statement: "fixed rate keeps the long-run count: window / period + 1",
            policies: NETTY,
            unit: Some(Unit::Count),
            ..Claim::DEFAULT
        },
        Claim {
            id: "FR-3",
            statement: "fixed rate skips under linkd: the next tick is one period from now, so there is no burst (how many; least gap)",
            policies: LINKD,
            unit: Some(Unit::Count),
            source: Some(Source::new(Text::D, "定时任务：最小堆加 select 超时")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "FR-4",
            statement: "fixed delay: the next start is never before the previous end plus the delay; nothing is made up (how many; least gap)",
            case: "fixed-delay",
            policies: NETTY,
            unit: Some(Unit::Count),
            ..Claim::DEFAULT
        },
        Claim {
            id: "FR-5",
            statement: "a body longer than the period: at a fixed rate runs follow back to back, the period becomes the body",
            case: "long-body",
            policies: NETTY,
            unit: Some(Unit::Ms),
            ..Claim::DEFAULT
        },
        Claim {
            id: "FR-6",
            statement: "a body longer than the period at a fixed delay: start to start is body plus delay",
            case: "long-body",
            policies: NETTY,
            unit: Some(Unit::Ms),
            ..Claim::DEFAULT
        },
        Claim {
            id: "FR-7",
            statement: "a flag \"is the last round still running?\" does not stop the burst; a guard by time or fixed delay does (pings in the burst; most in one guard's time)",
            case: "guards",
            policies: NETTY,
            unit: Some(Unit::Count),
            text: Some(TextValue::Words("the flag is a cure")),
            stance: Stance::Refuted {
                claims: "checking whether the last round is still running stops the burst",
                truth: "on one thread a round never overlaps another, so the flag skips nothing (0 rounds, 10 pings in 10 ms on the JDK's scheduler); guard by the time since the last ping, or use fixed delay",
            },
            source: Some(Source::new(Text::A, "心跳定时任务的正确与错误写法")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "FR-8",
            statement: "the missed-tick policy can be named from the trace alone",
            policies: Policies { named: &[PolicyName::Netty, PolicyName::Linkd], also: BOTH.also },
            ..Claim::DEFAULT
        },
        Claim {
            id: "FR-9",
            statement: "drift: on the grid it stays at one lateness; where the next deadline counts from a late start or end every lateness adds up (on the grid; delay; re-armed)",
            case: "drift",
            policies: Policies { named: &[PolicyName::Netty, PolicyName::Linkd], also: BOTH.also },
            unit: Some(Unit::Ms),
            text: Some(TextValue::Words("end + period drifts")),
            source: Some(Source::new(Text::D, "定时任务：最小堆加 select 超时")),
            ..Claim::DEFAULT
        },
    ],
    judge,
};

/// The run that blocks.
const BLOCKED_RUN: u32 = 3;

fn missed_of(p: &Params) -> Option<MissedTicks> {
    MissedTicks::ALL.into_iter().find(|missed| missed.word() == p.word("missed"))
}

fn tick(p: &Params, name: &str) -> TaskDef {
    let (body, block) = (p.duration("body"), p.duration("block"));
    task(name).on_run(1, |t| t.block(body)).on_run(BLOCKED_RUN, |t| t.block(block))
}

fn scenario(p: &Params) -> Scenario {
    let mode = if p.word("mode") == "fixed-delay" { Mode::FixedDelay } else { Mode::FixedRate };
    let mut s = Scenario::one_loop(p.duration("window"));
    s.main().periodic(mode, p.duration("first"), p.duration("period"), missed_of(p), None, tick(p, "tick"));
    s
}

fn fixed_delay(p: &Params) -> Scenario {
    let mut s = Scenario::one_loop(p.duration("window"));
    s.main().fixed_delay(p.duration("first"), p.duration("period"), tick(p, "tick"));
    s
}

fn long_body(p: &Params) -> Scenario {
    let (first, period, body) = (p.duration("first"), p.duration("period"), p.duration("long-body"));
    let mut s = Scenario::loops(&["rate-loop", "delay-loop"], p.duration("window"));
    s.main().periodic(Mode::FixedRate, first, period, None, Some("rate-loop"), task("rate").block(body)).periodic(
        Mode::FixedDelay,
        first,
        period,
        None,
        Some("delay-loop"),
        task("delay").block(body),
    );
    s
}

fn guards(p: &Params) -> Scenario {
    let (first, period, guard) = (p.duration("first"), p.duration("period"), p.duration("guard"));
    let ping = |t: TaskDef| tick_block(p, t.mark("ping"));
    let flag = task("flag").when(
        Condition::Equal { variable: "running".into(), value: 0 },
        |t| ping(t.set("running", 1)).set("running", 0),
        |t| t.mark("round skipped"),
    );
    let time = task("time").when(
        Condition::Elapsed { variable: "last ping".into(), at_least: guard },
        |t| ping(t.stamp("last ping")),
        |t| t.mark("round skipped"),
    );
    let mut s = Scenario::loops(&["flag-loop", "time-loop", "delay-loop"], p.duration("window"));
    s.main()
        .periodic(Mode::FixedRate, first, period, None, Some("flag-loop"), flag)
        .periodic(Mode::FixedRate, first, period, None, Some("time-loop"), time)
        .periodic(Mode::FixedDelay, first, period, None, Some("delay-loop"), ping(task("delay")));
    s
}

fn tick_block(p: &Params, t: TaskDef) -> TaskDef {
    let block = p.duration("block");
    t.on_run(BLOCKED_RUN, |t| t.block(block))
}

fn drift(p: &Params) -> Scenario {
    let (period, late) = (p.duration("drift-period"), p.duration("drift-late"));
    let periods = u32::try_from(p.count("drift-periods")).unwrap_or(u32::MAX);
    let window = period.saturating_add(late).saturating_mul(periods.saturating_add(2));
    let again = Action::Schedule { task: "re-armed".into(), after: period, on: None };
    let mut s = Scenario::loops(&["grid-loop", "delay-loop", "re-armed-loop"], window);
    s.environment.late_wake = late;
    s.main()
        .periodic(Mode::FixedRate, period, period, None, Some("grid-loop"), task("grid"))
        .periodic(Mode::FixedRate, period, period, Some(MissedTicks::Delay), Some("delay-loop"), task("delay"))
        .schedule_on("re-armed-loop", period, task("re-armed").step(again));
    s
}

fn judge(e: &Evidence<'_>, r: &mut Readings) {
    match e.case {
        "main" => judge_main(e, r),
        "fixed-delay" => judge_fixed_delay(e, r),
        "long-body" => judge_long_body(e, r),
        "guards" => judge_guards(e, r),
        _ => judge_drift(e, r),
    }
}

fn judge_main(e: &Evidence<'_>, r: &mut Readings) {
    let (t, period) = (e.trace, e.params.duration("period"));
    let linkd = matches!(e.policy, PolicyName::Linkd | PolicyName::LinkdListed);
    let chosen = e.params.word("missed") != "policy" || e.params.word("mode") != "fixed-rate";
    let about_the_policy: &[&'static str] = if linkd { &["FR-3"] } else { &["FR-1", "FR-2"] };
    if chosen {
        for id in about_the_policy {
            r.skip(id, "--missed or --mode chose another behaviour than the loop's own");
        }
    } else if linkd {
        r.same("FR-3", t.starts("tick").count());
        r.near("FR-3", least(gaps(&t.start_times("tick")))).note("the least time from start to start, in ms");
    } else {
        let burst = burst(t);
        r.same("FR-1", burst.len().saturating_sub(1));
        r.at_most("FR-1", greatest(gaps(&burst)), 1.0).note("the largest gap in the burst, in ms");
        r.same("FR-2", t.starts("tick").count());
    }
    let expected = match (e.params.word("mode"), e.params.word("missed")) {
        ("fixed-delay", _) => "fixed-delay",
        (_, "policy") if linkd => MissedTicks::Restart.word(),
        (_, "policy") => MissedTicks::Burst.word(),
        (_, word) => word,
    };
    r.exact("FR-8", missed::seen(t, "tick", period), expected);
}

/// The end of the blocked run and the starts of the ticks that it swallowed: those due before it ended.
fn burst(t: &Trace) -> Vec<Time> {
    let end = t.of("tick").find(|event| event.run == Some(BLOCKED_RUN) && event.event == EventKind::End);
    let Some(end) = end else { return Vec::new() };
    let swallowed = t.starts("tick").filter(|event| {
        event.run > Some(BLOCKED_RUN) && event.deadline.is_some_and(|deadline| deadline <= end.at)
    });
    std::iter::once(end.at).chain(swallowed.map(|event| event.at)).collect()
}

fn gaps(times: &[Time]) -> Vec<f64> {
    times.windows(2).map(|pair| pair[1].millis_from(pair[0])).collect()
}

/// From each end of a task's run to its next start, in ms.
fn end_to_start(t: &Trace, task: &str) -> Vec<f64> {
    let ends = t.of(task).filter(|event| event.event == EventKind::End);
    ends.zip(t.starts(task).skip(1)).map(|(end, start)| start.at.millis_from(end.at)).collect()
}

fn judge_fixed_delay(e: &Evidence<'_>, r: &mut Readings) {
    let period = loopprobe::time::duration_millis(e.params.duration("period"));
    r.same("FR-4", e.trace.starts("tick").count());
    let reading = r.at_least("FR-4", least(end_to_start(e.trace, "tick")), period);
    reading.note("the least time from an end to the next start, in ms");
}

fn judge_long_body(e: &Evidence<'_>, r: &mut Readings) {
    r.near("FR-5", greatest(gaps(&e.trace.start_times("rate"))));
    r.at_most("FR-5", greatest(end_to_start(e.trace, "rate")), 1.0)
        .note("the largest gap from an end to the next start, in ms");
    r.near("FR-6", least(gaps(&e.trace.start_times("delay"))));
}

fn judge_guards(e: &Evidence<'_>, r: &mut Readings) {
    let pings = |task: &str| -> Vec<Time> {
        let pings = e.trace.marks("ping").filter(|mark| mark.task.as_deref() == Some(task));
        pings.map(|mark| mark.at).collect()
    };
    let flag = pings("flag");
    let blocked = usize::try_from(BLOCKED_RUN).unwrap_or_default();
    let end = e.trace.of("flag").find(|event| event.run == Some(BLOCKED_RUN) && event.event == EventKind::End);
    let burst = flag.iter().skip(blocked).filter(|at| {
        // Back to back: nearer to the end of the block than half a guard's time.
        end.is_some_and(|end| at.since(end.at) < e.params.duration("guard") / 2)
    });
    r.same("FR-7", burst.count()).note("pings in the burst behind the flag");
    r.exact("FR-7", most_within(&pings("time"), e.params.duration("guard")), 1).note("guarded by time");
    r.exact("FR-7", most_within(&pings("delay"), e.params.duration("guard")), 1).note("fixed delay");
}

/// The most instants that lie in any stretch of this length.
fn most_within(times: &[Time], length: Duration) -> usize {
    let within = |from: &Time| times.iter().filter(|at| *at >= from && at.since(*from) < length).count();
    times.iter().map(within).max().unwrap_or(0)
}

fn judge_drift(e: &Evidence<'_>, r: &mut Readings) {
    let periods = usize::try_from(e.params.count("drift-periods")).unwrap_or(usize::MAX);
    let period = loopprobe::time::duration_millis(e.params.duration("drift-period"));
    for (task, note) in
        [("grid", "on the grid"), ("delay", "late tick, then one period"), ("re-armed", "re-armed at its end")]
    {
        // The first tick is due one period after the start.
        let nth = e.trace.starts(task).nth(periods);
        let drift = nth.map(|event| event.at.millis_from(Time::ZERO) - period - periods as f64 * period);
        r.near("FR-9", drift).note(note);
    }
}
