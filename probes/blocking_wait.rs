//! Waiting for a future on the loop that must complete it.

use std::time::Duration;

use loopprobe::choice::Choice;
use loopprobe::params::{Params, millis};
use loopprobe::policy::LoopWait;
use loopprobe::probe::{Case, CaseTime, Claim, Evidence, Family, NETTY, Probe, Source, Stance, Text, TextValue};
use loopprobe::readings::Readings;
use loopprobe::scenario::{Scenario, Steps, task};
use loopprobe::trace::{Event, EventKind, Trace};

const MS: Duration = Duration::from_millis(1);
/// How long a loop that was let go at the limit keeps the other waiting: the limit must end that wait too.
const GIVEN_UP: Duration = Duration::from_millis(50);

pub(crate) const PROBE: Probe = Probe {
    name: "blocking-wait",
    version: 1,
    about: "A loop's thread that waits for the loop's own future is refused, or stands still",
    family: Family::Failures,
    source: Source::new(Text::A, "常见错误与边界"),
    params: &[millis("wait-limit", 300, "where waits end that nothing else would end").positive().quick("100ms")],
    cases: &[
        Case {
            name: "own",
            about: "waits for the loop's own futures: incomplete, done, with a limit, without the check",
            scenario: own,
            time: CaseTime::Both,
        },
        Case {
            name: "others",
            about: "waits for the loop's end, for another loop's future, of two loops for each other",
            scenario: others,
            time: CaseTime::Both,
        },
    ],
    claims: &[
        Claim {
            id: "BW-1",
            statement: "waiting on the loop for an incomplete future of that loop is refused with an error, at once (the wait; ms)",
            case: "own",
            policies: NETTY,
            text: Some(TextValue::Words("BlockingOperationException")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "BW-2",
            statement: "waiting for a future that is done returns; it is not refused",
            case: "own",
            policies: NETTY,
            text: Some(TextValue::Words("returns, and elsewhere: throws")),
            stance: Stance::Refuted {
                claims: "writeAndFlush().sync() in a handler throws",
                truth: "the write has finished inline by then, so the future is done and the wait returns (Netty 4.2.13 and 4.1.48); the same text says so elsewhere",
            },
            source: Some(Source::new(Text::C, "阻塞检测与常见事故")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "BW-3",
            statement: "waiting for the close future, which only the loop itself completes, is refused",
            case: "own",
            policies: NETTY,
            source: Some(Source::new(Text::C, "阻塞检测与常见事故")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "BW-4",
            statement: "a time limit changes nothing: the wait is refused at once; a limit of 0 tells \"not done\"; without the check the loop stands still for the limit (the wait; ms; limit 0; ms without the check)",
            case: "own",
            policies: NETTY,
            text: Some(TextValue::Words("turns into a time-out")),
            stance: Stance::Refuted {
                claims: "a limited wait on the own loop only turns the deadlock into a time-out",
                truth: "it is refused at once as one without a limit is (Netty 4.2.13 and 4.1.48); only where the check is missing is it a time-out, for which the loop stands still",
            },
            source: Some(Source::new(Text::C, "阻塞检测与常见事故")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "BW-5",
            statement: "waiting on a loop for that loop's termination is not noticed: it hangs (stopped at the probe's limit; ms)",
            case: "others",
            policies: NETTY,
            ..Claim::DEFAULT
        },
        Claim {
            id: "BW-6",
            statement: "from another thread waiting works; another loop's future is not checked, and two loops that wait for each other hang (the thread's wait; the two loops' waits, stopped at the probe's limit)",
            case: "others",
            policies: NETTY,
            source: Some(Source::new(Text::C, "阻塞检测与常见事故")),
            ..Claim::DEFAULT
        },
    ],
    judge,
};

const REFUSED: &str = "refused: blocking operation";
const STOPPED: &str = "stopped at the limit";

fn own(p: &Params) -> Scenario {
    let limit = p.duration("wait-limit");
    // Stands for a wait without a limit; a loop that doesn't refuse it is let go after all.
    let long = limit.saturating_mul(10);
    let waits = |name: &str, future: &str, limit: Duration| task(name).wait(future, limit).mark("went on");
    let mut s = Scenario::loops(&["loop-1", "unchecked"], limit.saturating_add(100 * MS));
    s.choose("unchecked", Choice::LoopWait(LoopWait::Allowed));
    for (promise, owner) in
        [("own", "loop-1"), ("done", "loop-1"), ("close", "loop-1"), ("unchecked own", "unchecked")]
    {
        s.promise(promise, owner);
    }
    s.main()
        .complete("done")
        .execute(waits("waits", "own", long))
        .execute(waits("waits for what is done", "done", long))
        .execute(waits("waits for the close", "close", long))
        .execute(waits("waits with a limit", "own", limit))
        .execute(waits("waits with limit 0", "own", Duration::ZERO))
        .execute_on("unchecked", waits("waits unchecked", "unchecked own", limit));
    s
}

fn others(p: &Params) -> Scenario {
    let limit = p.duration("wait-limit");
    let waits = |name: &str, future: &str| task(name).wait(future, limit);
    let mut s =
        Scenario::loops(&["loop-1", "left", "right"], limit.saturating_add(100 * MS).saturating_add(GIVEN_UP));
    s.promise("left's", "left");
    s.promise("right's", "right");
    s.main()
        .submit(task("answer"))
        .wait("answer", limit)
        .execute(waits("waits for the end", "loop-1"))
        .execute_on("left", waits("waits for right", "right's").block(GIVEN_UP).complete("left's"))
        .execute_on("right", waits("waits for left", "left's").block(GIVEN_UP).complete("right's"));
    s
}

fn judge(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    match e.case {
        "own" => {
            refused_at_once(t, r, "BW-1", "waits");
            r.exact("BW-2", outcome(t, "waits for what is done"), "done");
            refused_at_once(t, r, "BW-3", "waits for the close");
            refused_at_once(t, r, "BW-4", "waits with a limit");
            r.exact("BW-4", outcome(t, "waits with limit 0"), STOPPED).note("a limit of 0");
            stood(t, r, "BW-4", "waits unchecked").note("ms for which a loop without the check stands still");
        }
        _ => {
            r.exact("BW-5", outcome(t, "waits for the end"), STOPPED);
            stood(t, r, "BW-5", "waits for the end").note("ms");
            let main = t.kind(EventKind::Waited).find(|event| &*event.thread == "main");
            r.exact("BW-6", main.and_then(words), "done");
            for waiting in ["waits for right", "waits for left"] {
                r.exact("BW-6", outcome(t, waiting), STOPPED).note(waiting);
            }
        }
    }
}

fn refused_at_once(t: &Trace, r: &mut Readings, id: &'static str, task: &str) {
    r.fact(id, outcome(t, task), REFUSED);
    r.at_most(id, took(t, task), 1.0).note("ms until the error");
}

/// How long a task waited, which should be the virtual run's.
fn stood<'r>(
    t: &Trace,
    r: &'r mut Readings,
    id: &'static str,
    task: &str,
) -> &'r mut loopprobe::readings::Reading {
    let reading = r.near(id, took(t, task));
    if let Some((start, waited)) = t.start(task).zip(waited(t, task)) {
        reading.rests_on(start.at, waited.at);
    }
    reading
}

fn waited<'t>(t: &'t Trace, task: &'t str) -> Option<&'t Event> {
    t.of(task).find(|event| event.event == EventKind::Waited)
}

/// What came of a task's wait, without the future's name.
fn outcome(t: &Trace, task: &str) -> Option<String> {
    waited(t, task).and_then(words)
}

fn words(event: &Event) -> Option<String> {
    let (_, words) = event.note.as_deref()?.split_once(": ")?;
    Some(words.into())
}

fn took(t: &Trace, task: &str) -> Option<f64> {
    let (start, waited) = (t.start(task)?, waited(t, task)?);
    Some(waited.at.millis_from(start.at))
}
