//! What a cancel does before a task's turn, while it runs, and from inside it.

use std::time::Duration;

use loopprobe::choice::Choice;
use loopprobe::params::{Params, count, millis};
use loopprobe::policy::PolicyName;
use loopprobe::policy::RunningCancel;
use loopprobe::probe::{
    BOTH, Case, CaseTime, Claim, Evidence, Family, NETTY, Policies, Probe, Source, Stance, Text, TextValue, Unit,
};
use loopprobe::readings::Readings;
use loopprobe::scenario::{Scenario, Steps, TaskDef, task};
use loopprobe::trace::{EventKind, Trace};

const BOTH_RUN: Policies = Policies { named: &[PolicyName::Netty, PolicyName::Linkd], also: BOTH.also };

pub(crate) const PROBE: Probe = Probe {
    name: "cancel",
    version: 1,
    about: "A cancel stops what has not begun; what runs goes on to its end, interrupted or not",
    family: Family::Tasks,
    source: Source::new(Text::A, "常见错误与边界"),
    params: &[
        millis("step", 20, "from one thing to the next").positive().quick("10ms"),
        count("steps", 10, "for how many steps a running task works; it looks at its flag after each").quick("6"),
        count("cancel-tick", 3, "the tick that cancels its own timer"),
    ],
    cases: &[
        Case {
            name: "before",
            about: "a task and a timer cancelled before their turn",
            scenario: before,
            time: CaseTime::Both,
        },
        Case {
            name: "running",
            about: "a task and a periodic timer cancelled while they run, without an interrupt",
            scenario: running,
            time: CaseTime::Both,
        },
        Case {
            name: "interrupt",
            about: "running tasks cancelled with an interrupt, on this loop and on one that does as the JDK's pool",
            scenario: interrupt,
            time: CaseTime::Both,
        },
        Case {
            name: "inside",
            about: "a periodic timer that cancels itself",
            scenario: inside,
            time: CaseTime::Both,
        },
    ],
    claims: &[
        Claim {
            id: "CA-1",
            statement: "cancelled before its turn a task or timer never runs, and its future says cancelled (task: runs, future; timer: runs, future)",
            case: "before",
            policies: BOTH_RUN,
            unit: Some(Unit::Count),
            ..Claim::DEFAULT
        },
        Claim {
            id: "CA-2",
            statement: "a cancel of a running one-shot is refused and the task runs to its end, done with success; of a running periodic task it takes, and no further run begins",
            case: "running",
            policies: NETTY,
            text: Some(TextValue::Words("cancel(false) does not stop what runs")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "CA-3",
            statement: "a cancel with an interrupt of a running task is refused and interrupts nothing; as the JDK's pool does it, a body that looks at its flag stops early and one that doesn't runs on",
            case: "interrupt",
            policies: NETTY,
            text: Some(TextValue::Words("use cancel(true)")),
            stance: Stance::Refuted {
                claims: "where a running task must be interrupted, use cancel(true)",
                truth: "Netty ignores the flag: cancel(true) of a running task returns false for a one-shot and never interrupts (4.2.13 and 4.1.48); the JDK's pool does interrupt",
            },
            ..Claim::DEFAULT
        },
        Claim {
            id: "CA-4",
            statement: "cancelling a periodic task from inside lets this round end and starts no other (runs; whether the last one ended)",
            case: "inside",
            policies: BOTH_RUN,
            unit: Some(Unit::Count),
            source: Some(Source::new(Text::C, "任务调度：execute、submit、schedule")),
            ..Claim::DEFAULT
        },
    ],
    judge,
};

fn steps(p: &Params) -> u32 {
    u32::try_from(p.count("steps")).unwrap_or(u32::MAX)
}

/// Long enough for everything that a case does, and for what it must not do.
fn window(p: &Params) -> Duration {
    p.duration("step").saturating_mul(steps(p).saturating_add(4)) + p.duration("step") / 2
}

/// The step in which a running task is cancelled: the middle of its second one.
fn cancel_at(p: &Params) -> Duration {
    p.duration("step") + p.duration("step") / 2
}

fn before(p: &Params) -> Scenario {
    let step = p.duration("step");
    let mut s = Scenario::one_loop(window(p));
    s.main()
        .execute(task("before it").block(step))
        .submit(task("task"))
        .schedule(step / 2, task("timer"))
        .cancel("task")
        .cancel("timer");
    s
}

fn working(p: &Params, name: &str) -> TaskDef {
    let step = p.duration("step");
    task(name).repeat(p.count("steps"), |t| t.block(step))
}

fn looking(p: &Params, name: &str) -> TaskDef {
    let step = p.duration("step");
    task(name).repeat(p.count("steps"), |t| t.block(step).look())
}

fn running(p: &Params) -> Scenario {
    let (step, at) = (p.duration("step"), cancel_at(p));
    let mut s = Scenario::loops(&["one-shot-loop", "periodic-loop"], window(p));
    let tick = working(p, "periodic");
    s.main()
        .submit_on("one-shot-loop", working(p, "one-shot"))
        .periodic(loopprobe::scenario::Mode::FixedRate, Duration::ZERO, step, None, Some("periodic-loop"), tick)
        .until(at)
        .cancel("one-shot")
        .cancel("periodic");
    s
}

fn interrupt(p: &Params) -> Scenario {
    let mut s = Scenario::loops(&["loop-1", "jdk-1", "jdk-2"], window(p));
    for jdk in ["jdk-1", "jdk-2"] {
        s.choose(jdk, Choice::RunningCancel(RunningCancel::Interrupts));
    }
    s.main()
        .submit_on("loop-1", looking(p, "looks"))
        .submit_on("jdk-1", looking(p, "jdk: looks"))
        .submit_on("jdk-2", working(p, "jdk: does not look"))
        .until(cancel_at(p))
        .interrupt("looks")
        .interrupt("jdk: looks")
        .interrupt("jdk: does not look");
    s
}

fn inside(p: &Params) -> Scenario {
    let step = p.duration("step");
    let cancel_tick = u32::try_from(p.count("cancel-tick")).unwrap_or(u32::MAX);
    let tick = task("tick").on_run(cancel_tick, |t| t.cancel("tick").mark("goes on"));
    let mut s = Scenario::one_loop(step.saturating_mul(cancel_tick.saturating_add(3)) + step / 2);
    s.main().fixed_rate(step, step, tick);
    s
}

fn judge(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    match e.case {
        "before" => {
            for name in ["task", "timer"] {
                r.exact("CA-1", t.starts(name).count(), 0).note(format!("{name}: runs"));
                r.exact("CA-1", state(t, name), "cancelled").note(format!("{name}: its future"));
            }
        }
        "running" => judge_running(t, r),
        "interrupt" => judge_interrupt(e, r),
        _ => {
            r.same("CA-4", t.starts("tick").count());
            let ended = t.of("tick").filter(|event| event.event == EventKind::End).count();
            r.exact("CA-4", ended, t.starts("tick").count()).note("runs that ended");
        }
    }
}

fn state(t: &Trace, name: &str) -> Option<String> {
    t.futures.get(name).map(|state| format!("{state:?}").to_lowercase())
}

/// What a cancel of this task came to, in words.
fn answer(t: &Trace, name: &str) -> Option<String> {
    let answers = t.kind(EventKind::Cancelled).filter_map(|event| event.note.as_deref());
    let mut of_task = answers.filter_map(|note| note.strip_prefix(name)?.strip_prefix(": "));
    of_task.next().map(String::from)
}

const TOOK: &str = "cancelled";
const REFUSED: &str = "not cancelled: done or running";

fn judge_running(t: &Trace, r: &mut Readings) {
    r.exact("CA-2", answer(t, "one-shot"), REFUSED).note("one-shot: the cancel");
    r.exact("CA-2", state(t, "one-shot"), "success").note("one-shot: its future");
    r.exact("CA-2", answer(t, "periodic"), TOOK).note("periodic: the cancel");
    r.exact("CA-2", t.starts("periodic").count(), 1).note("periodic: runs");
    r.exact("CA-2", t.end("periodic").is_some(), true).note("periodic: its run ended");
}

fn judge_interrupt(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    for (name, took) in [("looks", false), ("jdk: looks", true), ("jdk: does not look", true)] {
        let expected = if took { TOOK } else { REFUSED };
        r.exact("CA-3", answer(t, name), expected).note(format!("{name}: the cancel"));
        let ran = t.start(name).zip(t.end(name));
        let reading = r.near("CA-3", ran.map(|(start, end)| end.at.millis_from(start.at)));
        reading.note(format!("{name}: how long it ran, in ms"));
        if let Some((start, end)) = ran {
            reading.rests_on(start.at, end.at);
        }
    }
}
