//! The executor that everybody shares: one thread, which ends when it is quiet and can't be shut down.

use std::time::Duration;

use loopprobe::params::{Params, millis};
use loopprobe::probe::{
    Case, CaseTime, Claim, Evidence, Family, NETTY, Probe, Source, Stance, Text, TextValue, Unit,
};
use loopprobe::readings::Readings;
use loopprobe::scenario::{LoopKind, Scenario, Steps, task};
use loopprobe::trace::{EventKind, Trace};

const MS: Duration = Duration::from_millis(1);
const NAME: &str = "globalEventExecutor-1";

pub(crate) const PROBE: Probe = Probe {
    name: "global-executor",
    version: 1,
    about: "The executor that everybody shares has one thread, which comes and goes",
    family: Family::Tasks,
    source: Source::new(Text::A, "GlobalEventExecutor 与 DefaultEventExecutorGroup"),
    params: &[
        millis("last-task", 300, "when the last task of the first thread is given"),
        millis("next-task", 1300, "when the next task is given"),
        millis("block", 300, "how long a task blocks it").quick("100ms"),
    ],
    cases: &[
        Case {
            name: "life",
            about: "two tasks, a second of quiet, another task, a shutdown",
            scenario: life,
            time: CaseTime::Both,
        },
        Case {
            name: "shared",
            about: "a task that blocks it, and another user's task",
            scenario: shared,
            time: CaseTime::Both,
        },
    ],
    claims: &[
        Claim {
            id: "GE-1",
            statement: "one thread for everybody, which ends within 1000 ms of its last task, at the next tick of a task of its own; the next task starts another (threads; most at a time; ms from the last task to the end)",
            case: "life",
            policies: NETTY,
            text: Some(TextValue::Words("globalEventExecutor-1-1, lives with the JVM")),
            stance: Stance::Refuted {
                claims: "its thread lives as long as the JVM",
                truth: "it ends after about 1 s without a task, and the next task starts globalEventExecutor-1-2 (4.2.13 and 4.1.48)",
            },
            ..Claim::DEFAULT
        },
        Claim {
            id: "GE-2",
            statement: "its shutdown is unsupported: waiting for its end fails at once with that, and it goes on working (the wait; tasks run behind it)",
            case: "life",
            policies: NETTY,
            text: Some(TextValue::Words("StacklessUnsupportedOperationException")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "GE-3",
            statement: "one blocking task holds every other user's task up: from its submission to its start",
            case: "shared",
            policies: NETTY,
            unit: Some(Unit::Ms),
            source: Some(Source::new(Text::A, "常见错误与边界")),
            ..Claim::DEFAULT
        },
    ],
    judge,
};

fn with_executor(window: Duration) -> Scenario {
    let mut s = Scenario::loops(&[NAME], window);
    s.loop_spec(NAME).kind = LoopKind::GlobalExecutor;
    s
}

fn life(p: &Params) -> Scenario {
    let next = p.duration("next-task");
    let mut s = with_executor(next.saturating_add(100 * MS));
    s.thread("another user").until(p.duration("last-task")).execute(task("last"));
    s.main().execute(task("first")).until(next).shutdown().wait(NAME, 50 * MS).execute(task("next"));
    s
}

fn shared(p: &Params) -> Scenario {
    let block = p.duration("block");
    let mut s = with_executor(block.saturating_add(100 * MS));
    s.thread("another user").until(block / 3).execute(task("other"));
    s.main().execute(task("blocking").block(block));
    s
}

fn judge(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    if e.case == "shared" {
        let given = t.submissions("other").next();
        let started = t.start("other");
        let wait = given.zip(started);
        let reading = r.near("GE-3", wait.map(|(given, started)| started.at.millis_from(given.at)));
        if let Some((given, started)) = wait {
            reading.rests_on(given.at, started.at);
        }
        return;
    }
    let begun = t.kind(EventKind::Began).map(|event| event.thread.to_string());
    r.exact("GE-1", begun.collect::<Vec<_>>(), [format!("{NAME}-1"), format!("{NAME}-2")].to_vec());
    r.exact("GE-1", most_at_a_time(t), 1).note("threads at a time");
    let ended = t.kind(EventKind::Stopped).next().map(|event| event.at);
    let lived = t.start("last").map(|event| event.at).zip(ended);
    r.at_most("GE-1", lived.map(|(last, end)| end.millis_from(last)), 1000.0)
        .note("ms from the last task to the thread's end");
    let waited = t.kind(EventKind::Waited).next().and_then(|event| event.note.as_deref());
    r.exact("GE-2", waited, format!("{NAME}: failed: unsupported operation"));
    r.exact("GE-2", t.starts("next").count(), 1).note("tasks run behind it");
}

/// How many of its threads lived at one time.
fn most_at_a_time(t: &Trace) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    for event in &t.events {
        match event.event {
            EventKind::Began => now += 1,
            EventKind::Stopped => now = now.saturating_sub(1),
            _ => {}
        }
        most = most.max(now);
    }
    most
}
