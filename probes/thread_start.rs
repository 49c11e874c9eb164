//! When a loop gets its thread, and the states that it goes through.

use std::time::Duration;

use loopprobe::params::{Params, count, millis};
use loopprobe::probe::{Case, CaseTime, Claim, Evidence, Family, NETTY, Probe, Source, Text, TextValue, Unit};
use loopprobe::readings::Readings;
use loopprobe::scenario::{Scenario, Steps, task};
use loopprobe::trace::EventKind;

const MS: Duration = Duration::from_millis(1);

pub(crate) const PROBE: Probe = Probe {
    name: "thread-start",
    version: 1,
    about: "A loop gets its thread by its first task, and its states only move forward",
    family: Family::Tasks,
    source: Source::new(Text::B, "3.1 懒加载线程启动"),
    params: &[
        count("racers", 4, "how many threads race to give the first task").at_most(64),
        millis("first-at", 50, "when they do"),
        millis("shutdown-at", 150, "when the loop is asked to shut down"),
        millis("quiet-period", 50, "its quiet period"),
    ],
    cases: &[Case {
        name: "main",
        about: "a loop without a thread, tasks from several threads at once, a shutdown",
        scenario,
        time: CaseTime::Both,
    }],
    claims: &[
        Claim {
            id: "ST-1",
            statement: "there is no thread before the first task, and then exactly one, however many threads race to be first (before; in all; tasks run)",
            policies: NETTY,
            unit: Some(Unit::Count),
            text: Some(TextValue::Words("compareAndSet(ST_NOT_STARTED, ST_STARTED)")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "ST-2",
            statement: "the states go from not started through started, shutting down and shut down to terminated, never back",
            policies: NETTY,
            source: Some(Source::new(Text::B, "8. 设计思想总结")),
            ..Claim::DEFAULT
        },
    ],
    judge,
};

fn scenario(p: &Params) -> Scenario {
    let end = p.duration("shutdown-at").saturating_add(p.duration("quiet-period"));
    let first_at = p.duration("first-at");
    let mut s = Scenario::one_loop(end.saturating_add(250 * MS));
    s.loop_spec("loop-1").lazy = true;
    for n in 1..=p.count("racers") {
        s.thread(&format!("racer {n}")).until(first_at).execute(task(&format!("task {n}")));
    }
    s.main()
        .until(first_at / 2)
        .gauges()
        .until(p.duration("shutdown-at"))
        .shutdown_of("loop-1", Some(p.duration("quiet-period")), None)
        .wait("loop-1", end);
    s
}

fn judge(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    let first_task = t.kind(EventKind::Submitted).next().map(|event| event.at);
    let begun = t.kind(EventKind::Began);
    let early = t.gauges("main").next().map(|gauges| gauges.state.word());
    r.exact("ST-1", early, "not-started").note("the state before the first task");
    let after = begun.filter(|event| first_task.is_some_and(|first| event.at >= first));
    r.exact("ST-1", after.count(), 1).note("threads behind it");
    let ran = t.kind(EventKind::Start).filter(|event| event.in_loop).count();
    r.exact("ST-1", ran, e.params.count("racers")).note("tasks run");
    let states = t
        .kind(EventKind::State)
        .filter_map(|event| event.note.as_deref()?.split_once(": "))
        .map(|(_, state)| state.to_string());
    let states: Vec<String> = early.map(Into::into).into_iter().chain(states).collect();
    r.exact(
        "ST-2",
        states,
        ["not-started", "started", "shutting-down", "shut-down", "terminated"].map(String::from).to_vec(),
    );
}
