//! `execute` queues, always, and each producer's tasks stay in order.

use std::time::Duration;

use loopprobe::choice::Choice;
use loopprobe::params::{ParamKind, ParamSpec, Params, count};
use loopprobe::policy::Submission;
use loopprobe::probe::{Case, CaseTime, Claim, Evidence, Family, Probe, Source, Text, TextValue, Unit};
use loopprobe::readings::{Better, Readings};
use loopprobe::scenario::{Condition, Scenario, Steps, TaskDef, task};
use loopprobe::trace::{EventKind, Trace};

pub(crate) const PROBE: Probe = Probe {
    name: "execute-order",
    version: 1,
    about: "execute queues a task, always; inline it would jump the queue and deepen the stack",
    family: Family::Tasks,
    source: Source::new(Text::D, "任务队列：多生产者、单消费者"),
    params: &[
        count("tasks", 1000, "how many tasks each producer submits").quick("100"),
        count("chain", 1_000_000, "how many tasks, each of which submits the next").quick("10000"),
        DEPTH.quick("100"),
    ],
    cases: &[
        Case {
            name: "nested",
            about: "a task that submits another and reads what that one changes",
            scenario: nested,
            time: CaseTime::Both,
        },
        Case {
            name: "producers",
            about: "one producer on one loop, three on another",
            scenario: producers,
            time: CaseTime::Both,
        },
        Case {
            name: "chain",
            about: "a long chain of tasks, each submitting the next",
            scenario: chain,
            time: CaseTime::Both,
        },
        Case {
            name: "inline",
            about: "a loop that queues beside one that runs its own thread's tasks inline",
            scenario: inline,
            time: CaseTime::Both,
        },
    ],
    claims: &[
        Claim {
            id: "EO-1",
            statement: "execute from the loop's own thread queues: the task runs behind the present one",
            case: "nested",
            ..Claim::DEFAULT
        },
        Claim {
            id: "EO-2",
            statement: "the tasks of one producer all run, in its order (how many ran; how many out of order)",
            case: "producers",
            unit: Some(Unit::Count),
            source: Some(Source::new(Text::A, "任务与定时器在同一条线程上排队")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "EO-3",
            statement: "the tasks of several producers all run, each producer's in its order (how many ran; how many out of order)",
            case: "producers",
            unit: Some(Unit::Count),
            source: Some(Source::new(Text::A, "任务与定时器在同一条线程上排队")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "EO-4",
            statement: "tasks that each submit the next never deepen the stack (how many ran; how deep)",
            case: "chain",
            unit: Some(Unit::Count),
            text: Some(TextValue::Words("some hundred thousand inline overflow the stack")),
            source: Some(Source::new(Text::D, "常见错误与边界")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "EO-5",
            statement: "counter-example: run inline, a nested task jumps the queue, and each one that submits the next stands on the stack of the last (the order; how deep; queued: how deep)",
            case: "inline",
            text: Some(TextValue::Words("StackOverflowError")),
            source: Some(Source::new(Text::D, "常见错误与边界")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "EO-6",
            statement: "reading a state right after execute(change) on the loop gives the old value (read at once; read by a task behind it)",
            case: "nested",
            source: Some(Source::new(Text::A, "常见错误与边界")),
            ..Claim::DEFAULT
        },
    ],
    judge,
};

/// Deeper would need a larger stack than threads have.
const DEPTH: ParamSpec = ParamSpec {
    name: "depth",
    about: "how deep tasks that run inline are nested",
    kind: ParamKind::Count { default: 1000, least: 2, most: 1000 },
    quick: None,
};
const WINDOW: Duration = Duration::from_millis(50);
const PRODUCERS: [&str; 3] = ["producer-1", "producer-2", "producer-3"];
/// What a task costs at most on a slow machine: only to make the window of a long chain long enough.
const LONGEST_TASK: Duration = Duration::from_micros(10);

fn window(tasks: u64) -> Duration {
    WINDOW.saturating_add(LONGEST_TASK.saturating_mul(u32::try_from(tasks).unwrap_or(u32::MAX)))
}

fn nested(_: &Params) -> Scenario {
    let outer = task("outer")
        .execute(task("change").set("state", 1))
        .read("state")
        .execute(task("look later").read("state"))
        .mark("outer goes on");
    let mut s = Scenario::one_loop(WINDOW);
    s.main().execute(outer);
    s
}

fn producers(p: &Params) -> Scenario {
    let tasks = p.count("tasks");
    let mut s = Scenario::loops(&["loop-1", "loop-2"], window(tasks * 4));
    s.main().execute_times(tasks, "loop-1", task("of main").starts_only());
    for name in PRODUCERS {
        let of = task(&format!("of {name}")).starts_only();
        s.thread(name).execute_times(tasks, "loop-2", of);
    }
    s
}

/// A task that submits itself until so many have run, or so many stand on one stack: nobody wants a crash.
fn chained(name: &str, runs: u64, depth: u64) -> TaskDef {
    let runs = u32::try_from(runs).unwrap_or(u32::MAX);
    let again = |t: TaskDef| t.execute_again(name);
    let bounded = |t: TaskDef| t.when(Condition::NestedBelow { depth }, again, |t| t);
    task(name).counted().when(Condition::RunBelow { run: runs }, bounded, |t| t)
}

fn chain(p: &Params) -> Scenario {
    let mut s = Scenario::one_loop(window(p.count("chain")));
    // The last one stops the loop, so that nobody waits for the end of a window made for slow machines.
    let last = u32::try_from(p.count("chain")).unwrap_or(u32::MAX);
    s.main().execute(chained("link", p.count("chain"), p.count("depth")).on_run(last, |t| t.shutdown()));
    s
}

fn inline(p: &Params) -> Scenario {
    let mut s = Scenario::loops(&["queued", "inline"], window(p.count("depth") * 2));
    s.choose("inline", Choice::Submission(Submission::InlineOnLoop));
    for on in ["queued", "inline"] {
        let name = |what: &str| format!("{on} {what}");
        // The first task submits one while another waits already, so the loop is held up until that one is there.
        let first = task(&name("first")).block(Duration::from_millis(10)).execute(task(&name("nested")));
        s.main()
            .execute_on(on, first)
            .execute_on(on, task(&name("second")))
            .execute_on(on, chained(&name("chain"), p.count("depth"), p.count("depth")));
    }
    s
}

fn judge(e: &Evidence<'_>, r: &mut Readings) {
    match e.case {
        "nested" => judge_nested(e.trace, r),
        "producers" => judge_producers(e, r),
        "chain" => judge_chain(e, r),
        _ => judge_inline(e.trace, r),
    }
}

fn judge_nested(t: &Trace, r: &mut Readings) {
    let shown = t.events.iter().filter_map(|event| match (event.task.as_deref()?, event.event) {
        ("outer", EventKind::Mark) => Some("outer goes on"),
        ("outer", EventKind::End) => Some("outer ends"),
        ("change", EventKind::Start) => Some("change"),
        _ => None,
    });
    r.same("EO-1", shown.collect::<Vec<_>>());
    let read = |task: &'static str| {
        let read = t.of(task).find(|event| event.event == EventKind::Read);
        read.and_then(|event| event.note.as_deref()).map(String::from)
    };
    r.exact("EO-6", read("outer"), "state is 0");
    r.exact("EO-6", read("look later"), "state is 1");
}

/// How many runs of a task there were, and how many of them began behind one that was submitted later.
fn ran(t: &Trace, task: &str) -> (usize, usize) {
    let runs: Vec<_> = t.starts(task).map(|event| event.run).collect();
    (runs.len(), runs.windows(2).filter(|pair| pair[0] > pair[1]).count())
}

fn judge_producers(e: &Evidence<'_>, r: &mut Readings) {
    let tasks = usize::try_from(e.params.count("tasks")).unwrap_or(usize::MAX);
    let (count, out_of_order) = ran(e.trace, "of main");
    r.exact("EO-2", count, tasks);
    r.exact("EO-2", out_of_order, 0).note("out of order");
    let of_each = PRODUCERS.map(|name| ran(e.trace, &format!("of {name}")));
    let sum = |pick: fn(&(usize, usize)) -> usize| of_each.iter().map(pick).sum::<usize>();
    r.exact("EO-3", sum(|ran| ran.0), tasks * PRODUCERS.len());
    r.exact("EO-3", sum(|ran| ran.1), 0).note("out of order");
}

fn judge_chain(e: &Evidence<'_>, r: &mut Readings) {
    let counted = e.trace.counted("link");
    r.exact("EO-4", counted.runs, e.params.count("chain"));
    r.exact("EO-4", counted.deepest, 1).note("runs inside one another");
    let took = counted.last.millis_from(counted.first);
    let per_task = (counted.runs > 1).then(|| took * 1e6 / (counted.runs - 1) as f64);
    r.metric("chained_task", "ns", Better::Lower, per_task);
}

fn judge_inline(t: &Trace, r: &mut Readings) {
    for on in ["inline", "queued"] {
        let starts = t.kind(EventKind::Start).filter_map(|event| event.task.as_deref());
        let of_loop = starts.filter_map(|task| task.strip_prefix(on).map(|task| task.trim_start().to_string()));
        r.same("EO-5", of_loop.collect::<Vec<_>>()).note(format!("{on}: the order"));
    }
    for on in ["inline", "queued"] {
        r.same("EO-5", t.counted(&format!("{on} chain")).deepest).note(format!("{on}: runs inside one another"));
    }
}
