//! What an error in a task does to the loop, to the task, and to the log.

use loopprobe::params::{Params, count, millis};
use loopprobe::policy::PolicyName;
use loopprobe::probe::{
    BOTH, Case, CaseTime, Claim, Evidence, Family, LINKD, NETTY, Policies, Probe, Source, Text, TextValue, Unit,
};
use loopprobe::readings::Readings;
use loopprobe::scenario::{Scenario, Steps, TaskDef, task};
use loopprobe::trace::{EventKind, FutureState, Trace};

const BOTH_RUN: Policies = Policies { named: &[PolicyName::Netty, PolicyName::Linkd], also: BOTH.also };

pub(crate) const PROBE: Probe = Probe {
    name: "periodic-panic",
    version: 1,
    about: "An error in a periodic task stops it without a word, or doesn't",
    family: Family::Failures,
    source: Source::new(Text::A, "任务抛异常之后"),
    params: &[
        millis("period", 50, "the period").positive(),
        millis("first", 50, "when the first tick is due"),
        count("panic-tick", 1, "the tick that raises an error"),
        millis("window", 325, "how long it is watched; not on the grid"),
    ],
    cases: &[
        Case {
            name: "tasks",
            about: "a task that raises an error, then another",
            scenario: tasks,
            time: CaseTime::Both,
        },
        Case {
            name: "fixed-rate",
            about: "a fixed-rate task that raises an error",
            scenario: fixed_rate,
            time: CaseTime::Both,
        },
        Case { name: "guarded", about: "one that catches it inside", scenario: guarded, time: CaseTime::Both },
        Case {
            name: "rethrow",
            about: "one that catches it, logs it and raises it again",
            scenario: rethrow,
            time: CaseTime::Both,
        },
        Case {
            name: "fixed-delay",
            about: "a fixed-delay task that raises an error",
            scenario: fixed_delay,
            time: CaseTime::Both,
        },
    ],
    claims: &[
        Claim {
            id: "PP-1",
            statement: "an error in an ordinary task does not end the loop; the next task runs on the same thread",
            case: "tasks",
            policies: BOTH_RUN,
            text: Some(TextValue::Words("\"second task ran\"")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "PP-2",
            statement: "it is logged once, by a warning that names the task",
            case: "tasks",
            policies: BOTH_RUN,
            unit: Some(Unit::Count),
            text: Some(TextValue::Words("WARN with the task")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "PP-3",
            statement: "a periodic task whose body raises an error never runs again: its runs",
            case: "fixed-rate",
            policies: NETTY,
            unit: Some(Unit::Count),
            text: Some(TextValue::Words("runs after 300ms = 1")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "PP-4",
            statement: "and nothing is logged: only its future tells, which has failed (warnings; the future)",
            case: "fixed-rate",
            policies: NETTY,
            unit: Some(Unit::Count),
            text: Some(TextValue::Words("no clear log")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "PP-5",
            statement: "under linkd the loop logs a warning and the periodic task goes on (runs; warnings)",
            case: "fixed-rate",
            policies: LINKD,
            unit: Some(Unit::Count),
            source: Some(Source::new(Text::D, "常见错误与边界")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "PP-6",
            statement: "a body that catches inside goes on, with one warning that names task and round (runs; warnings)",
            case: "guarded",
            policies: NETTY,
            unit: Some(Unit::Count),
            text: Some(TextValue::Words("all ticks")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "PP-7",
            statement: "a body that catches, logs and raises it again stops all the same: its runs",
            case: "rethrow",
            policies: NETTY,
            unit: Some(Unit::Count),
            source: Some(Source::new(Text::A, "常见错误与边界")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "PP-8",
            statement: "the same for a fixed delay: its runs",
            case: "fixed-delay",
            policies: NETTY,
            unit: Some(Unit::Count),
            ..Claim::DEFAULT
        },
    ],
    judge,
};

fn panic_tick(p: &Params) -> u32 {
    u32::try_from(p.count("panic-tick")).unwrap_or(u32::MAX)
}

fn failing(p: &Params) -> TaskDef {
    task("heartbeat").on_run(panic_tick(p), |t| t.throw())
}

fn tasks(p: &Params) -> Scenario {
    let mut s = Scenario::one_loop(p.duration("window"));
    s.main().execute(task("failing task").throw()).execute(task("second task"));
    s
}

fn at_fixed_rate(p: &Params, heartbeat: TaskDef) -> Scenario {
    let mut s = Scenario::one_loop(p.duration("window"));
    s.main().fixed_rate(p.duration("first"), p.duration("period"), heartbeat);
    s
}

fn fixed_rate(p: &Params) -> Scenario {
    at_fixed_rate(p, failing(p))
}

fn guarded(p: &Params) -> Scenario {
    let failing = |t: TaskDef| t.on_run(panic_tick(p), |t| t.throw());
    at_fixed_rate(p, task("heartbeat").catch(failing, |t| t.warn("heartbeat failed")))
}

fn rethrow(p: &Params) -> Scenario {
    let failing = |t: TaskDef| t.on_run(panic_tick(p), |t| t.throw());
    at_fixed_rate(p, task("heartbeat").catch(failing, |t| t.warn("heartbeat failed").throw()))
}

fn fixed_delay(p: &Params) -> Scenario {
    let mut s = Scenario::one_loop(p.duration("window"));
    s.main().fixed_delay(p.duration("first"), p.duration("period"), failing(p));
    s
}

fn judge(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    match e.case {
        "tasks" => {
            let thread =
                |task: &str| t.start(task).filter(|event| event.in_loop).map(|event| event.thread.to_string());
            let expected = e.scenario.loops.first().map(|spec| spec.name.clone());
            r.exact("PP-1", thread("second task"), expected);
            r.exact("PP-2", t.warnings("failing task").count(), 1);
        }
        "fixed-rate" if matches!(e.policy, PolicyName::Netty | PolicyName::Netty41) => {
            runs_until_the_error(e, r, "PP-3");
            r.exact("PP-4", t.warnings("heartbeat").count(), 0);
            let expected = if failed(t) { FutureState::Failed } else { FutureState::Pending };
            let seen = t.futures.get("heartbeat").map(|state| format!("{state:?}").to_lowercase());
            r.exact("PP-4", seen, format!("{expected:?}").to_lowercase()).note("the future");
        }
        "fixed-rate" => {
            r.same("PP-5", t.starts("heartbeat").count());
            r.exact("PP-5", t.warnings("heartbeat").count(), usize::from(failed(t))).note("warnings");
        }
        "guarded" => {
            r.same("PP-6", t.starts("heartbeat").count());
            let named: Vec<u32> = t.warnings("heartbeat").filter_map(|event| event.run).collect();
            r.same("PP-6", named).note("the rounds that warnings name");
        }
        "rethrow" => runs_until_the_error(e, r, "PP-7"),
        _ => runs_until_the_error(e, r, "PP-8"),
    }
}

/// Whether the error was raised within the window: with `--panic-tick` beyond it nothing fails.
fn failed(t: &Trace) -> bool {
    t.of("heartbeat").any(|event| event.event == EventKind::Threw)
}

fn runs_until_the_error(e: &Evidence<'_>, r: &mut Readings, id: &'static str) {
    r.same(id, e.trace.starts("heartbeat").count());
}
