//! In which order tasks and timers run.

use std::time::Duration;

use loopprobe::params::{Params, count, millis};
use loopprobe::policy::PolicyName;
use loopprobe::probe::{
    Case, CaseTime, Claim, Evidence, Family, NETTY, Policies, Probe, Source, Stance, Text, TextValue, Unit,
};
use loopprobe::readings::Readings;
use loopprobe::scenario::{Action, Condition, Scenario, Steps, TaskDef, task};
use loopprobe::time::duration_millis;
use loopprobe::trace::{EventKind, Trace};

const COLLECTED: Policies =
    Policies { named: &[PolicyName::Netty, PolicyName::Linkd], also: &[PolicyName::Netty41] };
const LISTED: Policies = Policies { named: &[PolicyName::LinkdListed], also: &[] };
const ALL_THREE: Policies = Policies {
    named: &[PolicyName::Netty, PolicyName::Linkd, PolicyName::LinkdListed],
    also: &[PolicyName::Netty41],
};

pub(crate) const PROBE: Probe = Probe {
    name: "timer-order",
    version: 1,
    about: "Tasks run in the order of submission, timers in the order of their deadlines",
    family: Family::Timers,
    source: Source::new(Text::D, "定时任务：最小堆加 select 超时"),
    params: &[
        millis("step", 20, "how far apart the timers of the cases order and due-at-once are").positive(),
        count("again", 10, "how often the timer of the case zero-again arms itself with a delay of 0"),
        millis("block", 500, "how long the callback of the case after-block blocks before it arms its timers")
            .quick("60ms"),
        millis("short", 300, "the least of its timers' delays").quick("30ms"),
        millis("long", 800, "the greatest; the one between is the block itself").quick("90ms"),
    ],
    cases: &[
        Case {
            name: "order",
            about: "three tasks, then three timers scheduled in another order than that of their deadlines",
            scenario: order,
            time: CaseTime::Both,
        },
        Case { name: "ties", about: "timers for one and the same instant", scenario: ties, time: CaseTime::Both },
        Case {
            name: "due-at-once",
            about: "a delay of zero, and a deadline that has passed",
            scenario: due_at_once,
            time: CaseTime::Both,
        },
        Case {
            name: "zero-again",
            about: "a timer that arms itself with a delay of 0",
            scenario: zero_again,
            time: CaseTime::Both,
        },
        Case { name: "far", about: "the longest delays there are", scenario: far, time: CaseTime::Both },
        Case {
            name: "after-block",
            about: "a callback that blocks and then arms timers",
            scenario: after_block,
            time: CaseTime::Both,
        },
    ],
    claims: &[
        Claim {
            id: "TO-1",
            statement: "tasks run in the order of submission, timers in that of their deadlines, whatever the order of scheduling",
            case: "order",
            source: Some(Source::new(Text::C, "任务调度：execute、submit、schedule")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "TO-2",
            statement: "timers with equal deadlines run in the order in which they were scheduled",
            case: "ties",
            policies: NETTY,
            ..Claim::DEFAULT
        },
        Claim {
            id: "TO-3",
            statement: "a delay of zero or below is due at once and never runs inline (the order; lateness)",
            case: "due-at-once",
            text: Some(TextValue::Words("max(0, delay)")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "TO-5",
            statement: "a timer that arms itself with 0 runs once a turn, so everything else gets its turn between: turns from run to run",
            case: "zero-again",
            policies: COLLECTED,
            unit: Some(Unit::Count),
            ..Claim::DEFAULT
        },
        Claim {
            id: "TO-6",
            statement: "the listing looks at its heap again after each callback, so all of its runs are in one pass: turns from the first to the last",
            case: "zero-again",
            policies: LISTED,
            unit: Some(Unit::Count),
            text: Some(TextValue::Words("every batch lets I/O in")),
            stance: Stance::Refuted {
                claims: "schedule(…, 0) splits a long job so that the loop reads and writes between the parts",
                truth: "not on the listed loop: runTimers looks at the heap until nothing is due, so all parts run in one pass and I/O waits for all of them",
            },
            source: Some(Source::new(Text::D, "在 linkd 里落地：EventLoopImpl")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "TO-7",
            statement: "delays of 2^31 - 1, 2^31, 2^32 and 2^63 - 1 ms: none fires (as listed the last one overflows and fires at once), and nothing spins (fired; polls)",
            case: "far",
            policies: ALL_THREE,
            unit: Some(Unit::Count),
            text: Some(TextValue::Words("any delay may be scheduled")),
            stance: Stance::Refuted {
                claims: "any delay may be given to schedule",
                truth: "true of the words; in the listing System.nanoTime() plus the largest delay is negative, so that timer fires at once",
            },
            source: Some(Source::new(Text::D, "在 linkd 里落地：EventLoopImpl")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "TO-8",
            statement: "armed after a block in the same callback, timers count from when they were armed, not from a remembered now: from arming to firing",
            case: "after-block",
            unit: Some(Unit::Ms),
            ..Claim::DEFAULT
        },
    ],
    judge,
};

/// Behind the last event of a case.
const MARGIN: Duration = Duration::from_millis(30);
/// The window of the case far: long enough to see a loop spin.
const FAR_WINDOW: Duration = Duration::from_millis(100);
/// A loop that spins asks its poller thousands of times in that window; one that sleeps once for each post.
const FAR_POLLS: f64 = 20.0;
const TIES: [&str; 4] = ["first", "second", "third", "fourth"];
const FAR: [(&str, u64); 4] =
    [("2^31 - 1", (1 << 31) - 1), ("2^31", 1 << 31), ("2^32", 1 << 32), ("2^63 - 1", (1 << 63) - 1)];

fn order(p: &Params) -> Scenario {
    let step = p.duration("step");
    let mut s = Scenario::one_loop((step * 3).saturating_add(MARGIN));
    s.main()
        .execute(task("task 1"))
        .execute(task("task 2"))
        .execute(task("task 3"))
        .schedule(step * 3, task("last"))
        .schedule(step, task("first"))
        .schedule(step * 2, task("second"));
    s
}

fn ties(p: &Params) -> Scenario {
    let step = p.duration("step");
    let mut s = Scenario::one_loop(step.saturating_add(MARGIN));
    for name in TIES {
        s.main().schedule_at(step, task(name));
    }
    s
}

fn due_at_once(p: &Params) -> Scenario {
    let step = p.duration("step");
    let arming = task("arming")
        .schedule(Duration::ZERO, task("zero"))
        .schedule_at(Duration::ZERO, task("below zero"))
        .mark("armed");
    let mut s = Scenario::one_loop(step.saturating_add(MARGIN));
    s.main().until(step).execute(arming);
    s
}

fn zero_again(p: &Params) -> Scenario {
    let runs = u32::try_from(p.count("again")).unwrap_or(u32::MAX).saturating_add(1);
    let again = |t: TaskDef| t.step(Action::Schedule { task: "again".into(), after: Duration::ZERO, on: None });
    let timer = task("again").gauges().when(Condition::RunBelow { run: runs }, again, |t| t);
    let mut s = Scenario::one_loop(p.duration("step").saturating_add(MARGIN));
    s.main().schedule(p.duration("step"), timer);
    s
}

fn far(_: &Params) -> Scenario {
    // Not at the very start: a sum with a clock of 0 can't overflow.
    let mut s = Scenario::one_loop(FAR_WINDOW);
    let longest = Duration::from_nanos(u64::MAX);
    s.main().until(Duration::from_millis(10));
    for (name, delay) in FAR {
        s.main().schedule(Duration::from_millis(delay).min(longest), task(name));
    }
    s
}

fn after_block(p: &Params) -> Scenario {
    let (block, short, long) = (p.duration("block"), p.duration("short"), p.duration("long"));
    let callback = task("callback")
        .block(block)
        .schedule(block, task("middle"))
        .schedule(short, task("short"))
        .schedule(long, task("long"));
    let last = block.max(short).max(long);
    let mut s =
        Scenario::one_loop(block.saturating_add(last).saturating_add(p.duration("step")).saturating_add(MARGIN));
    s.main().schedule(p.duration("step"), callback);
    s
}

fn judge(e: &Evidence<'_>, r: &mut Readings) {
    match e.case {
        "order" => _ = r.same("TO-1", starts(e.trace)),
        "ties" => _ = r.exact("TO-2", starts(e.trace), TIES.to_vec()),
        "due-at-once" => judge_due_at_once(e.trace, r),
        "zero-again" => judge_zero_again(e, r),
        "far" => judge_far(e, r),
        _ => judge_after_block(e, r),
    }
}

/// The tasks in the order in which their runs began.
fn starts(t: &Trace) -> Vec<String> {
    let starts = t.kind(EventKind::Start).filter_map(|event| event.task.as_deref());
    starts.map(String::from).collect()
}

fn judge_due_at_once(t: &Trace, r: &mut Readings) {
    let shown = t.events.iter().filter_map(|event| match (event.event, event.task.as_deref()?) {
        (EventKind::Mark, _) => Some("armed".to_string()),
        (EventKind::End, "arming") => Some("arming ends".into()),
        (EventKind::Start, task @ ("zero" | "below zero")) => Some(task.into()),
        _ => None,
    });
    // The deadline that has passed lies before the one that is now.
    r.same("TO-3", shown.collect::<Vec<_>>());
    let armed = t.marks("armed").next();
    for timer in ["below zero", "zero"] {
        let waited = t.start(timer).zip(armed).map(|(start, armed)| start.at.millis_from(armed.at));
        r.near("TO-3", waited).note(format!("{timer}: from arming to its start, in ms"));
    }
}

/// From run to run, how often the poller was asked.
fn turns_between(t: &Trace) -> Vec<u64> {
    let polls: Vec<u64> = t.gauges("again").map(|gauges| gauges.polls).collect();
    polls.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

fn judge_zero_again(e: &Evidence<'_>, r: &mut Readings) {
    let turns = turns_between(e.trace);
    let runs = e.params.count("again").saturating_add(1);
    let (id, shown) = match e.policy {
        PolicyName::LinkdListed => ("TO-6", turns.iter().sum::<u64>()),
        _ => ("TO-5", turns.iter().copied().max().unwrap_or_default()),
    };
    let expected = u64::from(e.policy != PolicyName::LinkdListed);
    r.exact(id, shown, expected);
    if id == "TO-5" {
        r.exact(id, turns.iter().copied().min(), expected).note("the least");
    }
    r.exact(id, e.trace.starts("again").count() as u64, runs).note("runs");
}

fn judge_far(e: &Evidence<'_>, r: &mut Readings) {
    let fired: usize = FAR.iter().map(|(name, _)| e.trace.starts(name).count()).sum();
    r.fact("TO-7", fired, usize::from(e.policy == PolicyName::LinkdListed));
    let polls = e.trace.loops.first().map(|counters| counters.polls as f64);
    r.at_most("TO-7", polls, FAR_POLLS).note("polls in the window");
}

fn judge_after_block(e: &Evidence<'_>, r: &mut Readings) {
    for timer in ["short", "middle", "long"] {
        let armed = e.trace.of(timer).find(|event| event.event == EventKind::Submitted);
        let seen = armed.zip(e.trace.start(timer));
        let reading = r.near("TO-8", seen.map(|(armed, start)| start.at.millis_from(armed.at)));
        if let Some((armed, start)) = seen {
            reading.rests_on(armed.at, start.at);
        }
        let wanted = match timer {
            "short" => "short",
            "middle" => "block",
            _ => "long",
        };
        reading.note(format!("armed for {} ms", duration_millis(e.params.duration(wanted))));
    }
}
