//! A flood of tasks against timers and polls: when does a loop that is never out of tasks look at anything else?

use std::time::Duration;

use loopprobe::choice::Choice;
use loopprobe::params::{Params, micros, millis};
use loopprobe::policy::{PolicyName, TaskSlice};
use loopprobe::probe::{
    Case, CaseTime, Claim, Evidence, Family, Kind, LINKD, Policies, Probe, Source, Stance, Text, TextValue, Unit,
};
use loopprobe::readings::Readings;
use loopprobe::scenario::{Condition, Scenario, Steps, TaskDef, task};
use loopprobe::time::Time;
use loopprobe::trace::Trace;

const MS: Duration = Duration::from_millis(1);

pub(crate) const PROBE: Probe = Probe {
    name: "io-share",
    version: 1,
    about: "A loop that is never out of tasks: when timers and I/O get their turn",
    family: Family::Tasks,
    source: Source::new(Text::B, "4.2 任务执行比例控制"),
    params: &[
        millis("due", 10, "when the timer is due that waits for its turn"),
        micros("trivial", 10, "how long a trivial task takes").positive().quick("100us"),
        millis("short", 1, "how long a short task takes").positive(),
        millis("long", 50, "how long a long task takes").positive().quick("20ms"),
        millis("window", 250, "for how long the floods without end are watched").quick("150ms"),
    ],
    cases: &[
        Case {
            name: "slice",
            about: "floods of trivial, short and long tasks, and one against a slice of 50 ms",
            scenario: slice,
            time: CaseTime::Both,
        },
        Case { name: "share", about: "a flood at four I/O ratios", scenario: share, time: CaseTime::Both },
        Case {
            name: "endless",
            about: "a flood without a limit, and one where a drain takes what was there",
            scenario: endless,
            time: CaseTime::Both,
        },
    ],
    claims: &[
        Claim {
            id: "IO-1",
            statement: "4.1: the share of tasks is looked at only every 64 tasks, so under a flood the rest waits for 64 of them at any I/O ratio, and at 100 for ever, here for the window (tasks before the timer at 10, 50, 90; tasks for each poll; timers run and polls at 100)",
            case: "share",
            policies: Policies { named: &[PolicyName::Netty41], also: &[] },
            unit: Some(Unit::Count),
            text: Some(TextValue::Words("ioRatio 50: half and half")),
            stance: Stance::Refuted {
                claims: "an ioRatio of 50 shares the time half and half",
                truth: "under a flood of tasks 4.1.48 polls once for 64 tasks at 10, 50 and 90, and never at 100; 4.2 has no ratio",
            },
            ..Claim::DEFAULT
        },
        Claim {
            id: "IO-2",
            statement: "4.2: tasks run for a slice of 1000 ms, looked at every 64 tasks, and never for less than 100, before timers and I/O get their turn: how late a timer is (trivial tasks; short; long; short with a slice of 50)",
            case: "slice",
            policies: Policies { named: &[PolicyName::Netty], also: &[] },
            unit: Some(Unit::Ms),
            source: Some(Source::new(Text::C, "EventLoop 的三件事")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "IO-3",
            statement: "without a limit tasks that submit tasks starve the rest; where a drain takes what was there they don't (timers run and polls; the same)",
            case: "endless",
            policies: LINKD,
            kind: Kind::Observed,
            unit: Some(Unit::Count),
            source: Some(Source::new(Text::D, "在 linkd 里落地：EventLoopImpl")),
            ..Claim::DEFAULT
        },
    ],
    judge,
};

/// A task that arms a timer and lets a flood loose that ends when the timer has run.
fn arm(p: &Params, name: &str, work: impl FnOnce(TaskDef) -> TaskDef) -> TaskDef {
    let (served, flood) = (format!("{name} served"), format!("{name} flood"));
    let dry = Condition::Equal { variable: served.clone(), value: 0 };
    let flood_task = work(task(&flood).starts_only()).when(dry, |t| t.execute_again(&flood), |t| t);
    let timer = task(&format!("{name} timer")).set(&served, 1).complete(&format!("{name} done"));
    task(name).schedule(p.duration("due"), timer).execute(flood_task)
}

fn slice(p: &Params) -> Scenario {
    let (trivial, short, long) = (p.duration("trivial"), p.duration("short"), p.duration("long"));
    let limit = long.saturating_mul(100).saturating_add(3000 * MS);
    let names = ["trivial", "short", "long", "floor"];
    let mut s = Scenario::loops(&names, limit.saturating_mul(2));
    for name in names {
        s.promise(&format!("{name} done"), name);
    }
    let least = TaskSlice::Time { slice: 50 * MS };
    s.choose("floor", Choice::TaskSlice(least));
    // The long ones need no CPU; the others take one each, so they follow one another.
    let main = s
        .main()
        .execute_on("long", arm(p, "long", |t| t.counted().block(long)))
        .execute_on("trivial", arm(p, "trivial", |t| t.counted().spin(trivial)))
        .wait("trivial done", limit)
        .execute_on("short", arm(p, "short", |t| t.counted().spin(short)))
        .wait("short done", limit)
        .execute_on("floor", arm(p, "floor", |t| t.counted().spin(short)))
        .wait("floor done", limit)
        .wait("long done", limit);
    // Nothing is left to be seen: the run ends here.
    names.iter().fold(main, |main, name| main.shutdown_of(name, Some(Duration::ZERO), None));
    s
}

const RATIOS: [(&str, u8); 4] = [("10", 10), ("50", 50), ("90", 90), ("100", 100)];

fn share(p: &Params) -> Scenario {
    let names = RATIOS.map(|(name, _)| name);
    let mut s = Scenario::loops(&names, p.duration("window"));
    for (name, io_ratio) in RATIOS {
        s.promise(&format!("{name} done"), name);
        s.choose(name, Choice::TaskSlice(TaskSlice::Share { io_ratio }));
    }
    flood_all(p, &mut s, &names);
    s
}

fn endless(p: &Params) -> Scenario {
    let names = ["all", "what was there"];
    let mut s = Scenario::loops(&names, p.duration("window"));
    for name in names {
        s.promise(&format!("{name} done"), name);
    }
    s.choose("what was there", Choice::TaskSlice(TaskSlice::WhatWaits));
    flood_all(p, &mut s, &names);
    s
}

fn flood_all(p: &Params, s: &mut Scenario, names: &[&str]) {
    let short = p.duration("short");
    for name in names {
        s.main().execute_on(name, arm(p, name, |t| t.block(short)));
    }
}

fn judge(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    match e.case {
        "slice" => {
            for name in ["trivial", "short", "long", "floor"] {
                let timer = format!("{name} timer");
                let reading = r.near("IO-2", t.lateness(&timer));
                reading.note(name);
                if let Some(start) = t.start(&timer) {
                    reading.rests_on(start.deadline.unwrap_or(Time::ZERO), start.at);
                }
            }
        }
        "share" => judge_share(e, r),
        _ => {
            for counters in &t.loops {
                let seen = serde_json::json!([counters.timers, counters.polls]);
                r.observed("IO-3", seen)
                    .note(format!("timers and polls of the loop that drains {}", counters.name));
            }
        }
    }
}

fn judge_share(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    for (name, _) in &RATIOS[..3] {
        r.exact("IO-1", tasks_before(t, name), 64).note(format!("tasks before the timer at {name}"));
    }
    let all = t.loops.iter().find(|counters| counters.name == "100");
    let seen = all.map(|counters| (counters.timers, counters.polls));
    r.exact("IO-1", serde_json::json!(seen), serde_json::json!([0, 1]))
        .note("timers and polls at 100, within the window");
}

/// How many tasks of a flood ran before its timer.
fn tasks_before(t: &Trace, name: &str) -> Option<usize> {
    let timer = t.start(&format!("{name} timer"))?.at;
    let flood = format!("{name} flood");
    Some(t.starts(&flood).filter(|start| start.at < timer).count())
}
