//! Watching for blocked loops: which tasks are reported, and what a watch of single tasks can't see.

use std::time::Duration;

use loopprobe::params::{Params, count, millis};
use loopprobe::policy::PolicyName;
use loopprobe::probe::{
    Case, CaseTime, Claim, Evidence, Family, LINKD, LINKD_AND_LISTED, Policies, Probe, Source, Stance, Text,
    TextValue, Unit,
};
use loopprobe::readings::{Readings, Stretch};
use loopprobe::scenario::{Scenario, Steps, TaskDef, task};
use loopprobe::time::{Time, duration_millis};
use loopprobe::trace::{EventKind, Trace};

const MS: Duration = Duration::from_millis(1);

pub(crate) const PROBE: Probe = Probe {
    name: "slow-task",
    version: 1,
    about: "A watch that times every task names the slow ones, and misses many short ones in a row",
    family: Family::Failures,
    source: Source::new(Text::D, "一次阻塞，所有定时器一起迟到"),
    params: &[
        millis("fast", 20, "how long the tasks under the threshold of 50 ms take"),
        millis("slow", 80, "how long those above it take"),
        count("tasks", 300, "how many short tasks stand in one turn").quick("30"),
        millis("task", 1, "how long each of them takes").positive(),
    ],
    cases: &[
        Case {
            name: "watch",
            about: "tasks and timers under and over the threshold of 50 ms",
            scenario: watch,
            time: CaseTime::Both,
        },
        Case {
            name: "many",
            about: "many short tasks in one turn, and a timer due after the first of them",
            scenario: many,
            time: CaseTime::Both,
        },
    ],
    claims: &[
        Claim {
            id: "SL-1",
            statement: "every task and timer over the threshold of 50 ms is reported by name, with how long it took, and no other",
            case: "watch",
            policies: LINKD_AND_LISTED,
            text: Some(TextValue::Words("one warning with class and ms")),
            stance: Stance::Refuted {
                claims: "a task over the threshold is reported",
                truth: "true of the words; the listing defines the watch and never calls it, so it reports none",
            },
            ..Claim::DEFAULT
        },
        Claim {
            id: "SL-2",
            statement: "a slow task is never interrupted: it runs for all of its time",
            case: "watch",
            policies: LINKD,
            unit: Some(Unit::Ms),
            ..Claim::DEFAULT
        },
        Claim {
            id: "SL-3",
            statement: "many short tasks in one turn: no task is slow, but the turn is long and a timer due after the first is late by the rest (slow tasks; the turn; the timer)",
            case: "many",
            // Not 4.1, which looks at its timers after 64 tasks.
            policies: Policies {
                named: &[PolicyName::Netty],
                also: &[PolicyName::Linkd, PolicyName::LinkdListed],
            },
            unit: Some(Unit::Ms),
            ..Claim::DEFAULT
        },
    ],
    judge,
};

fn watch(p: &Params) -> Scenario {
    let (fast, slow) = (p.duration("fast"), p.duration("slow"));
    let window = (fast + slow).saturating_mul(2).saturating_add(50 * MS);
    let mut s = Scenario::one_loop(window);
    s.main()
        .execute(task("slow task").block(slow))
        .execute(task("fast task").block(fast))
        .schedule(MS, task("fast timer").block(fast))
        .schedule(2 * MS, task("slow timer").block(slow));
    s
}

fn many(p: &Params) -> Scenario {
    let (tasks, each) = (p.count("tasks"), p.duration("task"));
    let turn = each.saturating_mul(u32::try_from(tasks).unwrap_or(u32::MAX));
    let mut s = Scenario::one_loop(turn.saturating_mul(3).saturating_add(50 * MS));
    s.loop_spec("loop-1").slow_task = Some(50 * MS);
    let short = |t: TaskDef| t.execute(task("short task").starts_only().block(each));
    // Filled by a task of the loop itself: however slow the posting is, all of them wait before the first one runs.
    let mut fill = short(task("fill").schedule(each, task("timer")));
    for _ in 1..tasks {
        fill = fill.execute_again("short task");
    }
    s.main().execute(fill);
    s
}

fn judge(e: &Evidence<'_>, r: &mut Readings) {
    match e.case {
        "watch" => judge_watch(e, r),
        _ => judge_many(e, r),
    }
}

fn judge_watch(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    let (fast, slow) = (e.params.duration("fast"), e.params.duration("slow"));
    let over = [("fast task", fast), ("slow task", slow), ("fast timer", fast), ("slow timer", slow)];
    let expected: Vec<&str> = match e.policy {
        // What is on the page decides: text D's watch warns above 50 ms, its listing never.
        PolicyName::Linkd => over.iter().filter(|(_, took)| *took > 50 * MS).map(|(name, _)| *name).collect(),
        _ => Vec::new(),
    };
    let warned = t.kind(EventKind::Warned);
    let named: Vec<&str> = warned.filter_map(|event| event.task.as_deref()).collect();
    let words = t.kind(EventKind::Warned).filter_map(|event| event.note.as_deref()).collect::<Vec<_>>();
    r.exact("SL-1", named, expected).note(words.join("; "));
    for name in ["slow task", "slow timer"] {
        r.at_least("SL-2", ran(t, name), duration_millis(slow)).note(name);
    }
}

fn ran(t: &Trace, task: &str) -> Option<f64> {
    Some(t.end(task)?.at.millis_from(t.start(task)?.at))
}

fn judge_many(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    r.exact("SL-3", t.kind(EventKind::Warned).count(), 0).note("slow tasks");
    let stretch = Stretch { from: Time::ZERO, to: t.start("timer").map_or(Time::ZERO, |start| start.at) };
    // Each of the waits may be late on a real machine, so both grow with the number of tasks; less they can't be.
    let turn = t.loops.first().map(|counters| counters.longest_turn.millis_from(Time::ZERO));
    let whole = duration_millis(e.params.duration("task")) * e.params.count("tasks") as f64;
    r.at_least("SL-3", turn, whole).note("the longest turn, in ms").rests_on(stretch.from, stretch.to);
    r.at_least("SL-3", t.lateness("timer"), whole - duration_millis(e.params.duration("task")))
        .note("how late the timer is, in ms")
        .rests_on(stretch.from, stretch.to);
}
