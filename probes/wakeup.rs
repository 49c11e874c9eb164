//! When a post wakes the loop: no more often than needed, and never less.

use std::time::Duration;

use loopprobe::choice::Choice;
use loopprobe::params::{ParamKind, ParamSpec, Params, count, millis};
use loopprobe::policy::WakeUp;
use loopprobe::probe::{
    Case, CaseTime, Claim, Evidence, Family, Kind, NETTY, Probe, Source, Text, TextValue, Unit,
};
use loopprobe::readings::Readings;
use loopprobe::scenario::{Model, Scenario, Steps, TaskDef, task};
use loopprobe::trace::{EventKind, Gauges, Trace};
use loopprobe::wakeup_model::COUNTS;
use serde_json::json;

pub(crate) const PROBE: Probe = Probe {
    name: "wakeup",
    version: 1,
    about: "A post wakes a sleeping loop once; too many wake-ups cost, a missing one lets a task sleep",
    family: Family::Tasks,
    source: Source::new(Text::D, "wakeup：叫醒 select，但别为每个任务叫一次"),
    params: &[
        count("posts", 1000, "how many tasks are posted while the loop is blocked").quick("100"),
        millis("timer", 100, "how long after a post that wakes nobody the next timer is due")
            .positive()
            .quick("50ms"),
        millis("idle", 1200, "how long an idle loop is watched").positive().quick("100ms"),
        ParamSpec {
            name: "threads",
            about: "how many threads post in the model",
            kind: ParamKind::Count { default: 2, least: 1, most: 20 },
            quick: None,
        },
    ],
    cases: &[
        Case {
            name: "asleep",
            about: "a post to an idle loop, and to one that posts don't wake",
            scenario: asleep,
            time: CaseTime::Both,
        },
        Case {
            name: "busy",
            about: "many posts to a blocked loop, and to one that every post wakes; posts of the loop's own",
            scenario: busy,
            time: CaseTime::Both,
        },
        Case {
            name: "sticky",
            about: "a wake-up that comes before the wait",
            scenario: sticky,
            time: CaseTime::Both,
        },
        Case {
            name: "model",
            about: "every schedule of the flag's steps, in the loop's order and with the flag cleared late",
            scenario: model,
            time: CaseTime::VirtualOnly,
        },
    ],
    claims: &[
        Claim {
            id: "WK-1",
            statement: "a task posted to an idle loop runs at once, with no I/O to wake it: from the post to its start",
            case: "asleep",
            unit: Some(Unit::Ms),
            source: Some(Source::new(Text::D, "常见错误与边界")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "WK-2",
            statement: "posts while a wake-up is pending or the loop is busy cause one system call at most, not one each, and none is left behind (wake-ups; from the block's end to the last start)",
            case: "busy",
            unit: Some(Unit::Count),
            text: Some(TextValue::Words("wakeups=2 for 3 submissions")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "WK-3",
            statement: "counter-example, a wake-up on every post: as many wake-ups as posts",
            case: "busy",
            unit: Some(Unit::Count),
            source: Some(Source::new(Text::D, "常见错误与边界")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "WK-4",
            statement: "counter-example, no wake-up: the task sleeps until the next timer is due: from the post to its start",
            case: "asleep",
            unit: Some(Unit::Ms),
            text: Some(TextValue::Words("until the next connection sends data")),
            source: Some(Source::new(Text::D, "常见错误与边界")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "WK-5",
            statement: "no schedule of the flag's steps lets a post sleep; with the flag cleared behind the tasks (counter-example) one does (losing schedules; with the flag cleared late)",
            case: "model",
            unit: Some(Unit::Count),
            text: Some(TextValue::Words("the other way round tasks are missed")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "WK-6",
            statement: "a post from the loop itself or while it is busy needs no wake-up, nor does a timer behind the first one (wake-ups of each)",
            case: "busy",
            policies: NETTY,
            unit: Some(Unit::Count),
            source: Some(Source::new(Text::B, "5.2 唤醒机制详解")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "WK-7",
            statement: "a wake-up is sticky: one made before the wait ends the next wait: waits from the block to the next timer",
            case: "sticky",
            unit: Some(Unit::Count),
            ..Claim::DEFAULT
        },
        Claim {
            id: "WK-8",
            statement: "what a task from outside costs, and what an idle loop does (waits and wake-ups for one task; for none)",
            case: "asleep",
            policies: NETTY,
            kind: Kind::Observed,
            text: Some(TextValue::Words(
                "measured: Netty 4.2 on NIO two of each and one a second when idle, 4.1 one and none",
            )),
            ..Claim::DEFAULT
        },
    ],
    judge,
};

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// When an idle loop gets its post.
const POST_AT: Duration = ms(50);
/// Long enough for a post to have been run.
const SETTLE: Duration = ms(20);
/// The timer that blocks its loop, and for how long; a task in front of it in the same turn has set the flag.
const BLOCK_AT: Duration = ms(55);
const BLOCK: Duration = ms(50);
const POSTS_AT: Duration = ms(80);
const OWN_POSTS: u64 = 10;

fn asleep(p: &Params) -> Scenario {
    let idle_from = POST_AT.saturating_add(SETTLE);
    let idle_to = idle_from.saturating_add(p.duration("idle"));
    let timer_at = POST_AT.saturating_add(p.duration("timer"));
    let mut s = Scenario::loops(&["loop-1", "never woken"], idle_to.max(timer_at).saturating_add(SETTLE));
    s.choose("never woken", Choice::Wake(WakeUp::Never));
    s.main()
        .schedule_on("never woken", timer_at, task("timer"))
        .until(POST_AT)
        .gauges_of("loop-1")
        .execute_on("loop-1", task("posted"))
        .execute_on("never woken", task("posted to the other"))
        .until(idle_from)
        .gauges_of("loop-1")
        .until(idle_to)
        .gauges_of("loop-1");
    s
}

fn busy(p: &Params) -> Scenario {
    let posts = p.count("posts");
    let own = |t: TaskDef| t.gauges().repeat(OWN_POSTS, |t| t.execute(task("own post").counted())).gauges();
    let later = BLOCK_AT + BLOCK + ms(100);
    let mut s = Scenario::loops(&["loop-1", "always woken"], later + ms(100));
    s.choose("always woken", Choice::Wake(WakeUp::Every));
    s.main()
        .schedule_on("loop-1", BLOCK_AT, task("block").block(BLOCK))
        .schedule_on("always woken", BLOCK_AT, task("block of the other").block(BLOCK))
        .schedule_on("loop-1", later, task("first timer"))
        .until(POST_AT)
        .execute_on("loop-1", task("in front").block(ms(10)))
        .until(POSTS_AT)
        .gauges_of("loop-1")
        .execute_times(posts, "loop-1", task("post").counted())
        .gauges_of("loop-1")
        .gauges_of("always woken")
        .execute_times(posts, "always woken", task("post to the other").counted())
        .gauges_of("always woken")
        .until(BLOCK_AT + BLOCK + ms(30))
        .execute_on("loop-1", own(task("posting")))
        .until(BLOCK_AT + BLOCK + ms(60))
        .gauges_of("loop-1")
        .schedule_on("loop-1", ms(200), task("later timer"))
        .gauges_of("loop-1");
    s
}

fn sticky(_: &Params) -> Scenario {
    // The loop wakes itself: whatever delays other threads, the wake-up comes before the wait.
    let block = task("block").block(BLOCK / 2).wake("loop-1").block(BLOCK / 2).gauges();
    let mut s = Scenario::one_loop(ms(200));
    s.main().schedule(ms(20), block).schedule(ms(150), task("next timer").gauges());
    s
}

fn model(p: &Params) -> Scenario {
    let mut s = Scenario::one_loop(Duration::ZERO);
    s.model = Some(Model::Wakeup { posts: u32::try_from(p.count("threads")).unwrap_or(u32::MAX) });
    s
}

fn judge(e: &Evidence<'_>, r: &mut Readings) {
    match e.case {
        "asleep" => judge_asleep(e, r),
        "busy" => judge_busy(e, r),
        "sticky" => judge_sticky(e.trace, r),
        _ => judge_model(e.trace, r),
    }
}

fn is_netty(e: &Evidence<'_>) -> bool {
    NETTY.contain(e.policy)
}

/// From the post of a task to its start, in ms, and whether it was seen to start.
fn latency(t: &Trace, task: &str) -> Option<f64> {
    let posted = t.of(task).find(|event| event.event == EventKind::Submitted)?;
    Some(t.start(task)?.at.millis_from(posted.at))
}

fn rest_on_task(reading: &mut loopprobe::readings::Reading, t: &Trace, task: &str) {
    let posted = t.of(task).find(|event| event.event == EventKind::Submitted);
    if let Some((posted, start)) = posted.zip(t.start(task)) {
        reading.rests_on(posted.at, start.at);
    }
}

fn judge_asleep(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    rest_on_task(r.near("WK-1", latency(t, "posted")), t, "posted");
    let other = "posted to the other";
    rest_on_task(r.near("WK-4", latency(t, other)), t, other);
    if is_netty(e) {
        let seen: Vec<Gauges> = t.gauges("main").copied().collect();
        for (pair, note) in seen.windows(2).zip(["for one task", "for none"]) {
            let polls = pair[1].polls - pair[0].polls;
            let wakeups = pair[1].wakeups - pair[0].wakeups;
            r.observed("WK-8", json!({ "waits": polls, "wakeups": wakeups })).note(note);
        }
    }
}

/// How many wake-ups were made between one look at the gauges and the next, for each pair of looks.
fn wakeups(t: &Trace, by: &str) -> Vec<u64> {
    let seen: Vec<Gauges> = t.gauges(by).copied().collect();
    seen.chunks_exact(2).map(|pair| pair[1].wakeups - pair[0].wakeups).collect()
}

fn judge_busy(e: &Evidence<'_>, r: &mut Readings) {
    let (t, posts) = (e.trace, e.params.count("posts"));
    let by_main = wakeups(t, "main");
    let of = |nth: usize| by_main.get(nth).copied();
    r.at_most("WK-2", of(0).map(|n| n as f64), 1.0).note(format!("for {posts} posts"));
    let last = t.counted("post");
    let behind = t.end("block").filter(|_| last.runs == posts);
    let waited = behind.map(|end| last.last.millis_from(end.at));
    let reading = r.near("WK-2", waited);
    reading.note("from the block's end to the last one's start, in ms");
    if let Some(end) = behind {
        reading.rests_on(end.at, last.last);
    }
    r.exact("WK-3", of(1), posts);
    if is_netty(e) {
        let own = wakeups(t, "posting").first().copied();
        r.exact("WK-6", own, 0).note("posts of the loop's own");
        r.exact("WK-6", of(0), 0).note("posts while it is busy");
        r.exact("WK-6", of(2), 0).note("a timer behind the first one");
    }
}

fn judge_sticky(t: &Trace, r: &mut Readings) {
    let polls = |by: &'static str| t.gauges(by).next().map(|gauges| gauges.polls);
    let waits = polls("block").zip(polls("next timer")).map(|(before, after)| (after - before) as f64);
    // The wait that the wake-up ends, and the one for the timer.
    r.at_least("WK-7", waits, 2.0);
}

fn judge_model(t: &Trace, r: &mut Readings) {
    let [all, losing, all_late, losing_late] = COUNTS.map(|name| t.counted(name).runs);
    r.exact("WK-5", losing, 0).note(format!("of {all} schedules"));
    r.same("WK-5", losing_late).note(format!("of {all_late} schedules with the flag cleared behind the tasks"));
}
