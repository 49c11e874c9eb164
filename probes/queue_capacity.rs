//! How many tasks a loop's queue holds, and what happens to those for which there is no room.

use std::time::Duration;

use loopprobe::choice::Choice;
use loopprobe::params::{Params, count, millis};
use loopprobe::policy::PolicyName;
use loopprobe::probe::{
    BOTH, Case, CaseTime, Claim, Evidence, Family, NETTY, Probe, Source, Stance, Text, TextValue, Unit,
};
use loopprobe::readings::Readings;
use loopprobe::scenario::{Scenario, Steps, task};
use loopprobe::stats::greatest;
use loopprobe::time::{Time, duration_millis};
use loopprobe::trace::{EventKind, Trace};

const MS: Duration = Duration::from_millis(1);

pub(crate) const PROBE: Probe = Probe {
    name: "queue-capacity",
    version: 1,
    about: "How many tasks a queue holds, and what becomes of those for which there is no room",
    family: Family::Tasks,
    source: Source::new(Text::B, "2.2 队列容量调优实战"),
    params: &[
        count("posts", 100, "how many tasks are posted to a blocked loop"),
        count("bound", 16, "how many tasks the bounded queue holds"),
        millis("block", 100, "how long the loop is blocked meanwhile").quick("50ms"),
        millis("mean", 2, "how long a task takes, for the text's rule").positive(),
        count("rate", 5000, "how many tasks are posted in a second, for the text's rule").quick("1000"),
        millis("posting", 1000, "for how long they are posted").positive().quick("200ms"),
        count("loops", 20, "over how many loops the same rate is spread").at_most(1000).quick("4"),
        count("in-flight", 4, "how many tasks a submitter has under way at most"),
    ],
    cases: &[
        Case {
            name: "blocked",
            about: "more posts than a bounded queue holds, to blocked loops with and without a bound",
            scenario: blocked,
            time: CaseTime::Both,
        },
        Case {
            name: "rule",
            about: "the text's rate against one loop with the text's capacity, with twice of it, and against many loops",
            scenario: rule,
            time: CaseTime::Both,
        },
        Case {
            name: "in-flight",
            about: "a submitter that waits while too many of its tasks are under way",
            scenario: in_flight,
            time: CaseTime::Both,
        },
    ],
    claims: &[
        Claim {
            id: "QC-1",
            statement: "the default queue has no bound: with the loop blocked it holds every post (how many wait)",
            case: "blocked",
            policies: BOTH,
            unit: Some(Unit::Count),
            text: Some(TextValue::Words("16 by default, a LinkedBlockingQueue")),
            stance: Stance::Refuted {
                claims: "the default queue is a LinkedBlockingQueue of 16",
                truth: "event loops have an unbounded MPSC queue (4.2.13 and 4.1.48 took a million tasks); only DefaultEventExecutor and GlobalEventExecutor use a LinkedBlockingQueue, unbounded too; 16 is the least bound one can set",
            },
            source: Some(Source::new(Text::B, "2.1 任务入队流程")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "QC-2",
            statement: "a bounded queue refuses at once what does not fit; nothing blocks and nothing in it is lost (refused; run; ms for all posts)",
            case: "blocked",
            policies: NETTY,
            unit: Some(Unit::Count),
            source: Some(Source::new(Text::B, "2.1 任务入队流程")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "QC-3",
            statement: "capacity = mean time × rate / 1000 is Little's law for tasks in service: one loop refuses what it has no time for, whatever the capacity; spread over enough loops none is refused (refused with the rule's capacity; with twice of it; over many loops)",
            case: "rule",
            policies: NETTY,
            unit: Some(Unit::Count),
            text: Some(TextValue::Words("capacity 10 avoids rejection")),
            stance: Stance::Refuted {
                claims: "a capacity of mean ms × peak tasks/s / 1000 avoids rejection",
                truth: "tasks of 2 ms at 5000 a second are ten loops' work; one loop does 500 a second and refuses the other 90 % with a capacity of 10, and of 20",
            },
            ..Claim::DEFAULT
        },
        Claim {
            id: "QC-4",
            statement: "a submitter that limits its tasks in flight keeps the queue below the limit, and none is refused (most waiting; refused; run)",
            case: "in-flight",
            policies: BOTH,
            unit: Some(Unit::Count),
            source: Some(Source::new(Text::A, "常见错误与边界")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "QC-6",
            statement: "queue depth, tasks run, mean task time, I/O time and thread state are there to be read while the loop runs (before; during; behind the block)",
            case: "blocked",
            policies: BOTH,
            source: Some(Source::new(Text::B, "7.2 监控指标建设")),
            ..Claim::DEFAULT
        },
    ],
    judge,
};

fn blocked(p: &Params) -> Scenario {
    let (posts, block) = (p.count("posts"), p.duration("block"));
    let half = block / 2;
    let mut s = Scenario::loops(&["loop-1", "bounded"], block.saturating_add(100 * MS));
    s.choose("bounded", Choice::QueueBound(usize::try_from(p.count("bound")).unwrap_or(usize::MAX)));
    s.main()
        .gauges_of("loop-1")
        .execute_on("loop-1", task("block").block(block))
        .execute_on("bounded", task("block too").block(block))
        .until(half)
        .execute_times(posts, "loop-1", task("post"))
        .gauges_of("loop-1")
        .mark("posting")
        .execute_times(posts, "bounded", task("bounded post"))
        .mark("posted")
        .until(block.saturating_add(50 * MS))
        .gauges_of("loop-1");
    s
}

fn rule_capacity(p: &Params) -> u64 {
    let service = duration_millis(p.duration("mean")) * p.count("rate") as f64 / 1000.0;
    (service as u64).max(1)
}

fn rule(p: &Params) -> Scenario {
    let (mean, posting) = (p.duration("mean"), p.duration("posting"));
    let every = Duration::from_secs(1) / u32::try_from(p.count("rate")).unwrap_or(u32::MAX);
    let posts = posts_of_rule(p);
    let many: Vec<String> = (1..=p.count("loops")).map(|n| format!("many-{n}")).collect();
    let mut names = vec!["rule", "twice"];
    names.extend(many.iter().map(String::as_str));
    let mut s = Scenario::loops(&names, posting.saturating_add(mean * 50).saturating_add(100 * MS));
    let capacity = usize::try_from(rule_capacity(p)).unwrap_or(usize::MAX);
    s.choose("rule", Choice::QueueBound(capacity));
    s.choose("twice", Choice::QueueBound(capacity.saturating_mul(2)));
    for name in &many {
        s.choose(name, Choice::QueueBound(capacity));
    }
    let work = |name: &str| task(name).counted().block(mean);
    s.thread("posts to one").execute_paced(posts, every, &["rule"], work("one"));
    s.thread("posts to twice").execute_paced(posts, every, &["twice"], work("two"));
    let loops = p.count("loops");
    let names: Vec<&str> = many.iter().map(String::as_str).collect();
    let step = every.saturating_mul(u32::try_from(loops).unwrap_or(u32::MAX));
    s.thread("posts to many").execute_paced(posts / loops, step, &names, work("many"));
    s
}

fn posts_of_rule(p: &Params) -> u64 {
    (p.count("rate") as f64 * duration_millis(p.duration("posting")) / 1000.0) as u64
}

fn in_flight(p: &Params) -> Scenario {
    let (posts, mean) = (p.count("posts"), p.duration("mean"));
    let all = mean.saturating_mul(u32::try_from(posts).unwrap_or(u32::MAX));
    let mut s = Scenario::one_loop(all.saturating_mul(2).saturating_add(100 * MS));
    s.permits("in flight", p.count("in-flight"));
    let work = task("work").block(mean).release("in flight");
    s.main().repeat(posts, |t| t.acquire("in flight", 100 * mean).execute(work.clone()).gauges());
    s
}

fn judge(e: &Evidence<'_>, r: &mut Readings) {
    match e.case {
        "blocked" => judge_blocked(e, r),
        "rule" => judge_rule(e, r),
        _ => judge_in_flight(e, r),
    }
}

fn judge_blocked(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    let gauges: Vec<_> = t.gauges("main").collect();
    let depth = |n: usize| gauges.get(n).map(|gauges| gauges.pending_tasks);
    r.same("QC-1", depth(1));
    if matches!(e.policy, PolicyName::Netty | PolicyName::Netty41) {
        let refused = t.refusals("bounded post").count();
        r.same("QC-2", refused).note("refused");
        r.same("QC-2", t.starts("bounded post").count()).note("run");
        let took = t.marks("posting").next().zip(t.marks("posted").next());
        let took = took.map(|(from, to)| to.at.millis_from(from.at));
        r.at_most("QC-2", took, duration_millis(e.params.duration("block")) / 2.0)
            .note("ms for all posts, fewer than the loop is blocked");
    }
    let state = |n: usize| gauges.get(n).map(|gauges| gauges.state.word());
    let read: Vec<_> = (0..3).map(|n| (depth(n), gauges.get(n).map(|g| g.tasks), state(n))).collect();
    r.same("QC-6", serde_json::json!(read))
        .note("tasks waiting, tasks run, state: before, during and behind the block");
    let mean = gauges.get(2).map(|gauges| gauges.mean_task_time.millis_from(Time::ZERO));
    let least = duration_millis(e.params.duration("block")) / (e.params.count("posts") + 1) as f64;
    r.at_least("QC-6", mean, (least * 1e6).floor() / 1e6).note("mean task time behind the block, in ms");
    let io = gauges.get(2).map(|gauges| gauges.io_time.millis_from(Time::ZERO));
    r.at_most("QC-6", io, 0.0).note("I/O time, in ms: there are no connections");
}

fn judge_rule(e: &Evidence<'_>, r: &mut Readings) {
    let (t, p) = (e.trace, e.params);
    let capacity = rule_capacity(p);
    for (task, capacity) in [("one", capacity), ("two", capacity * 2)] {
        let refused: Vec<_> = t.refusals(task).collect();
        // However slow the posting and the loop were, it can't have taken more: what it ran while it was posted to,
        // one under way, and a full queue.
        let ran = t.counted.get(task).map_or(0, |counted| counted.runs);
        let accepted = posts_of_rule(p) - refused.len() as u64;
        r.at_least("QC-3", Some(refused.len() as f64), least_refused(p, t, task, capacity)).note(format!(
            "of {} with a capacity of {capacity}, {accepted} were taken and {ran} ran",
            posts_of_rule(p)
        ));
    }
    r.exact("QC-3", t.refusals("many").count(), 0).note(format!("over {} loops", p.count("loops")));
}

/// What one loop can't but refuse: all that it had no time for and no room.
fn least_refused(p: &Params, t: &Trace, task: &str, capacity: u64) -> f64 {
    let last = t.refusals(task).last().map_or(Time::ZERO, |event| event.at);
    let served = last.millis_from(Time::ZERO) / duration_millis(p.duration("mean"));
    posts_of_rule(p) as f64 - served.ceil() - capacity as f64
}

fn judge_in_flight(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    let deepest = greatest(t.gauges("main").map(|gauges| gauges.pending_tasks as f64));
    r.at_most("QC-4", deepest, e.params.count("in-flight") as f64).note("most waiting");
    r.exact("QC-4", t.kind(EventKind::Rejected).count(), 0).note("refused");
    r.exact("QC-4", t.starts("work").count(), e.params.count("posts")).note("run");
}
