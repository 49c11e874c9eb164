//! What a shutdown does to what waits, to what comes afterwards, and when the loop has ended.

use std::time::Duration;

use loopprobe::event_loop::Grace;
use loopprobe::params::{Params, count, millis};
use loopprobe::policy::PolicyName;
use loopprobe::probe::{
    BOTH, Case, CaseTime, Claim, Evidence, Family, LINKD, LINKD_AND_LISTED, NETTY, Policies, Probe, Source,
    Stance, Text, TextValue, Unit,
};
use loopprobe::readings::{Reading, Readings};
use loopprobe::scenario::{Condition, Scenario, Steps, TaskDef, task};
use loopprobe::time::{Time, duration_millis};
use loopprobe::trace::{EventKind, FutureState, Trace};

const MS: Duration = Duration::from_millis(1);

const BOTH_RUN: Policies = Policies { named: &[PolicyName::Netty, PolicyName::Linkd], also: BOTH.also };

pub(crate) const PROBE: Probe = Probe {
    name: "shutdown",
    version: 1,
    about: "What a shutdown does to what waits and to what comes afterwards, and when the loop ends",
    family: Family::Tasks,
    source: Source::new(Text::B, "5.1 关闭状态处理"),
    params: &[
        count("queued", 10, "how many tasks wait when the loop is asked"),
        millis("block", 100, "how long the loop is blocked then").quick("40ms"),
        millis("default-quiet", 2000, "the quiet period in the case graceful; Netty's own").quick("400ms"),
        millis("quiet-period", 1000, "the quiet period of the loop that gets a task in it").quick("300ms"),
        millis("posted-at", 430, "when it gets it").quick("130ms"),
        millis("timeout", 100, "the time-out in the case never").quick("50ms"),
        millis("watched", 800, "for how long the case never is watched: eight time-outs").quick("400ms"),
        millis("period", 50, "the period of the heartbeat").positive().quick("20ms"),
    ],
    cases: &[
        Case {
            name: "queued",
            about: "tasks queued behind a task, behind a timer and to an idle loop, then a shutdown",
            scenario: queued,
            time: CaseTime::Both,
        },
        Case {
            name: "graceful",
            about: "a shutdown with tasks and timers waiting; a task in the quiet period",
            scenario: graceful,
            time: CaseTime::Both,
        },
        Case {
            name: "late",
            about: "tasks given without a pause across a shutdown",
            scenario: late,
            time: CaseTime::Both,
        },
        Case { name: "idle", about: "a shutdown of a loop that sleeps", scenario: idle, time: CaseTime::Both },
        Case {
            name: "heartbeat",
            about: "a heartbeat stopped before its sessions are closed, and behind that",
            scenario: heartbeat,
            time: CaseTime::Both,
        },
        Case { name: "stages", about: "stop accepting, drain, end", scenario: stages, time: CaseTime::Both },
        Case {
            name: "never",
            about: "a task that submits itself again, and a shutdown with a time-out",
            scenario: never,
            time: CaseTime::Both,
        },
    ],
    claims: &[
        Claim {
            id: "SD-1",
            statement: "what is queued at a shutdown is dropped by the words of text D; by its listing only behind a blocking timer (run behind a task; idle; behind a timer)",
            case: "queued",
            policies: LINKD_AND_LISTED,
            unit: Some(Unit::Count),
            text: Some(TextValue::Words("tasks in the queue are dropped")),
            stance: Stance::Refuted {
                claims: "tasks that have not run are dropped at a shutdown",
                truth: "the listing empties its queue once more behind a task or when it was idle, and drops it only behind a blocking timer (10, 10 and 0 of 10 ran)",
            },
            source: Some(Source::new(Text::D, "常见错误与边界")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "SD-2",
            statement: "after a shutdown execute does nothing and says nothing, and schedule is an error (run; refused; timers refused)",
            case: "late",
            policies: LINKD,
            source: Some(Source::new(Text::D, "在 linkd 里落地：EventLoopImpl")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "SD-3",
            statement: "a graceful shutdown runs what is queued, cancels timers, takes what comes in the quiet period at its next step of 100 ms, and ends when nothing came for that period (queued tasks run; timers cancelled; end; run of the late task; its loop's end)",
            case: "graceful",
            policies: NETTY,
            text: Some(TextValue::Words("quiet period 2 s by default")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "SD-4",
            statement: "after a shutdown execute is refused with an error, and what got in between is run or refused, never lost (refused; neither run nor refused)",
            case: "late",
            policies: NETTY,
            text: Some(TextValue::Words("RejectedExecutionException")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "SD-5",
            statement: "a loop that sleeps is woken by its shutdown and ends at once, or behind its quiet period (ms)",
            case: "idle",
            policies: BOTH_RUN,
            unit: Some(Unit::Ms),
            source: Some(Source::new(Text::D, "在 linkd 里落地：EventLoopImpl")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "SD-6",
            statement: "with the heartbeat stopped before the sessions are closed no tick sees a closed session; the other way round some do (ticks that see one)",
            case: "heartbeat",
            policies: NETTY,
            unit: Some(Unit::Count),
            source: Some(Source::new(Text::A, "心跳定时任务的正确与错误写法")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "SD-7",
            statement: "stop accepting, drain, end: three stages lose no task (accepted and not run; accepted after the first stage)",
            case: "stages",
            policies: BOTH_RUN,
            unit: Some(Unit::Count),
            source: Some(Source::new(Text::D, "任务队列：多生产者、单消费者")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "SD-8",
            statement: "the time-out of a graceful shutdown does not end a loop whose task submits itself again: not within eight time-outs (ended; still running when the watch ended)",
            case: "never",
            policies: NETTY,
            ..Claim::DEFAULT
        },
    ],
    judge,
};

fn queued(p: &Params) -> Scenario {
    let (tasks, block) = (p.count("queued"), p.duration("block"));
    let mut s = Scenario::loops(&["task-loop", "idle-loop", "timer-loop"], block.saturating_add(100 * MS));
    s.main()
        .execute_on("task-loop", task("block").block(block))
        .schedule_on("timer-loop", Duration::ZERO, task("timer").block(block))
        .until(block / 2)
        .execute_times(tasks, "task-loop", task("behind a task"))
        .shutdown_of("task-loop", None, None)
        .execute_times(tasks, "timer-loop", task("behind a timer"))
        .shutdown_of("timer-loop", None, None)
        .execute_times(tasks, "idle-loop", task("to an idle loop"))
        .shutdown_of("idle-loop", None, None);
    s
}

fn graceful(p: &Params) -> Scenario {
    let (default, quiet) = (p.duration("default-quiet"), p.duration("quiet-period"));
    let last = default.max(p.duration("posted-at").saturating_add(quiet).saturating_add(100 * MS));
    let mut s = Scenario::loops(&["loop-1", "loop-2"], last.saturating_add(250 * MS));
    let hour = Duration::from_secs(3600);
    // Netty's own is left to the policy: what is seen is what it does by default.
    let asked = (default != Grace::default().quiet).then_some(default);
    let mut ask = task("ask").shutdown_of("loop-1", asked, None);
    for n in 1..=p.count("queued").min(1000) {
        ask = ask.execute(task(&format!("queued {n}")));
    }
    s.main()
        .schedule(hour, task("timer"))
        .fixed_rate(hour, hour, task("periodic"))
        .execute(ask)
        .execute_on("loop-2", task("ask too").shutdown_of("loop-2", Some(quiet), None))
        .until(p.duration("posted-at"))
        .execute_on("loop-2", task("late task"));
    s
}

fn late(p: &Params) -> Scenario {
    let block = p.duration("block");
    let mut s = Scenario::one_loop(block.saturating_mul(4).saturating_add(100 * MS));
    let posts = (duration_millis(block) as u64).max(1) * 2;
    s.thread("poster").execute_paced(posts, MS, &["loop-1"], task("task"));
    s.main()
        .until(block)
        .shutdown_of("loop-1", Some(Duration::ZERO), None)
        .until(block.saturating_mul(3))
        .mark("later")
        .execute(task("late task"))
        .schedule(MS, task("late timer"));
    s
}

fn idle(p: &Params) -> Scenario {
    let asked = p.duration("block").saturating_mul(2);
    let mut s = Scenario::one_loop(asked.saturating_add(p.duration("block")).saturating_add(250 * MS));
    s.main().until(asked).shutdown_of("loop-1", Some(p.duration("block")), None);
    s
}

fn heartbeat(p: &Params) -> Scenario {
    let period = p.duration("period");
    let (first, second) = (period * 5 / 2, period * 11 / 2);
    let tick = |name: &str, closed: &str| {
        let sees = Condition::Equal { variable: closed.into(), value: 1 };
        task(name).when(sees, |t: TaskDef| t.mark("sees a closed session"), |t| t)
    };
    let mut s = Scenario::loops(&["right-loop", "wrong-loop"], period.saturating_mul(9));
    let rate = loopprobe::scenario::Mode::FixedRate;
    s.main()
        .periodic(rate, period, period, None, Some("right-loop"), tick("stopped first", "right closed"))
        .periodic(rate, period, period, None, Some("wrong-loop"), tick("stopped last", "wrong closed"))
        .until(first)
        .cancel("stopped first")
        .set("wrong closed", 1)
        .until(second)
        .set("right closed", 1)
        .cancel("stopped last");
    s
}

fn stages(p: &Params) -> Scenario {
    let block = p.duration("block");
    let accepts = Condition::Equal { variable: "closed".into(), value: 0 };
    let mut s = Scenario::one_loop(block.saturating_mul(6).saturating_add(100 * MS));
    let posts = (duration_millis(block) as u64).max(1) * 2;
    let work = task("work").block(MS / 2);
    s.thread("producer").paced(posts, MS, |t| t.when(accepts, |t| t.execute(work), |t| t));
    s.main()
        .until(block)
        .set("closed", 1)
        .mark("stopped accepting")
        // A task of the producer that was on its way has arrived by then.
        .block(10 * MS)
        .submit(task("drained"))
        .wait("drained", block.saturating_mul(2))
        .shutdown_of("loop-1", Some(Duration::ZERO), None);
    s
}

fn never(p: &Params) -> Scenario {
    let timeout = p.duration("timeout");
    let again = task("again").counted().block(MS).execute_again("again");
    let mut s = Scenario::one_loop(p.duration("watched"));
    s.main().execute(again).shutdown_of("loop-1", Some(timeout / 2), Some(timeout));
    s
}

fn judge(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    match e.case {
        "queued" => judge_queued(e, r),
        "graceful" => judge_graceful(e, r),
        "late" => judge_late(e, r),
        "idle" => {
            near(r, "SD-5", asked(t, "loop-1").zip(stopped(t, "loop-1")));
        }
        "heartbeat" => {
            let sees = |task: &str| {
                t.marks("sees a closed session").filter(|mark| mark.task.as_deref() == Some(task)).count()
            };
            r.exact("SD-6", sees("stopped first"), 0).note("stopped first");
            r.at_least("SD-6", Some(sees("stopped last") as f64), 1.0).note("stopped last");
        }
        "stages" => {
            let (accepted, ran) = (t.submissions("work").count(), t.starts("work").count());
            r.exact("SD-7", accepted - ran.min(accepted), 0).note(format!("of {accepted}"));
            let closed = t.marks("stopped accepting").next().map(|mark| mark.at);
            let after = t.of("work").filter(|event| {
                event.event == EventKind::Submitted && closed.is_some_and(|closed| event.at > closed.after(5 * MS))
            });
            r.exact("SD-7", after.count(), 0).note("accepted after the first stage");
        }
        _ => {
            r.exact("SD-8", t.kind(EventKind::State).count(), 1)
                .note("changes of state: only that to shutting down");
            let last = t.counted("again").last.millis_from(Time::ZERO);
            let least = duration_millis(e.params.duration("watched")) * 0.9;
            r.at_least("SD-8", Some(last), least).note("the last run, in ms: within the last tenth of the watch");
        }
    }
}

fn judge_queued(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    for (task, on) in
        [("behind a task", "task-loop"), ("to an idle loop", "idle-loop"), ("behind a timer", "timer-loop")]
    {
        let ran = t.starts(task);
        if e.policy == PolicyName::Linkd {
            // What an idle loop had begun with by then is not dropped, and one it may be just about to begin.
            let down = shut_down(t, on);
            let late = ran.filter(|start| down.is_some_and(|down| start.at > down)).count();
            if on == "idle-loop" { r.at_most("SD-1", Some(late as f64), 1.0) } else { r.exact("SD-1", late, 0) }
                .note(format!("{task}, run after the shutdown"));
        } else {
            let all = if on == "timer-loop" { 0 } else { e.params.count("queued") };
            r.exact("SD-1", ran.count(), all).note(task);
        }
    }
}

fn judge_graceful(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    let ran = t
        .kind(EventKind::Start)
        .filter(|event| event.task.as_deref().is_some_and(|task| task.starts_with("queued")));
    r.same("SD-3", ran.count()).note("queued tasks run");
    let cancelled =
        ["timer", "periodic"].into_iter().filter(|timer| t.futures.get(*timer) == Some(&FutureState::Cancelled));
    r.exact("SD-3", cancelled.count(), 2).note("timers cancelled");
    ends_when_quiet(r, "loop-1", e, asked(t, "loop-1"), "default-quiet");
    let (asked, late) = (asked(t, "loop-2"), t.start("late task").map(|start| start.at));
    near(r, "SD-3", asked.zip(late)).note("the late task's run, in ms");
    ends_when_quiet(r, "loop-2", e, late, "quiet-period");
}

/// A loop that last ran something at `last` ends no sooner than its quiet period later, and at the next step of 100 ms:
/// on a real machine each step is a little longer.
fn ends_when_quiet(r: &mut Readings, on: &str, e: &Evidence<'_>, last: Option<Time>, quiet: &str) {
    let asked = asked(e.trace, on);
    let took = |to: Option<Time>| asked.zip(to).map(|(from, to)| to.millis_from(from));
    let end = took(stopped(e.trace, on));
    let least = took(last).unwrap_or_default() + duration_millis(e.params.duration(quiet));
    r.at_least("SD-3", end, least).note(format!("the end of {on}, in ms"));
    r.at_most("SD-3", end, least + 100.0).note("the same: within one step");
}

fn judge_late(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    let id = match e.policy {
        PolicyName::Linkd | PolicyName::LinkdListed => {
            r.exact("SD-2", t.starts("late task").count(), 0).note("run");
            r.exact("SD-2", t.refusals("late task").count(), 0).note("refused");
            r.exact("SD-2", t.refusals("late timer").count(), 1).note("timers refused");
            return;
        }
        _ => "SD-4",
    };
    r.exact(id, t.refusals("late task").count(), 1).note("refused");
    let posted = t.submissions("task").count() as i64;
    let lost = posted - t.refusals("task").count() as i64 - t.starts("task").count() as i64;
    r.exact(id, lost, 0).note(format!("of {posted} posted across the shutdown neither run nor refused"));
}

/// When a loop was asked to shut down.
fn asked(t: &Trace, on: &str) -> Option<Time> {
    t.noted(EventKind::StopAsked, on).map(|event| event.at)
}

/// When a loop took no more tasks.
fn shut_down(t: &Trace, on: &str) -> Option<Time> {
    let words = format!("{on}: shut-down");
    t.noted(EventKind::State, &words).map(|event| event.at)
}

/// When a loop's thread ended.
fn stopped(t: &Trace, on: &str) -> Option<Time> {
    let mut stopped = t.kind(EventKind::Stopped);
    stopped.find(|event| &*event.thread == on).map(|event| event.at)
}

/// The time between two instants, which should be the virtual run's.
fn near<'r>(r: &'r mut Readings, id: &'static str, stretch: Option<(Time, Time)>) -> &'r mut Reading {
    let reading = r.near(id, stretch.map(|(from, to)| to.millis_from(from)));
    if let Some((from, to)) = stretch {
        reading.rests_on(from, to);
    }
    reading
}
