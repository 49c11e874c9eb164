//! A blocking handler on the loop and off it.

mod judge;

use std::time::Duration;

use loopprobe::params::{Params, count, millis};
use loopprobe::probe::{Case, CaseTime, Claim, Family, NETTY, Probe, Source, Text, TextValue, Unit};
use loopprobe::scenario::{
    Action, ChannelEvent, ClientSpec, HandlerSpec, Role, Scenario, ServerSpec, Steps, TaskDef, task,
};

pub(crate) const PROBE: Probe = Probe {
    name: "offload",
    version: 1,
    about: "A blocking handler freezes every connection of its loop; off the loop it doesn't",
    family: Family::Connections,
    source: Source::new(Text::C, "把耗时任务移出 EventLoop"),
    params: &[
        millis("slow", 3000, "how long the handler blocks for \"slow\"").quick("300ms"),
        millis("gap", 100, "how long after \"slow\" the other connection sends \"fast\""),
        millis("wave", 200, "how long each of four connections blocks in the case four").quick("100ms"),
        count("posts", 200, "how many tasks are given to a busy business thread in the case queue"),
    ],
    cases: &[
        Case {
            name: "on-loop",
            about: "the handler blocks the worker's loop",
            scenario: on_loop,
            time: CaseTime::Both,
        },
        Case {
            name: "group",
            about: "the handler on a business group of two",
            scenario: group,
            time: CaseTime::Both,
        },
        Case {
            name: "group-of-one",
            about: "the handler on a business group of one",
            scenario: group_of_one,
            time: CaseTime::Both,
        },
        Case {
            name: "four",
            about: "four connections on a business group of two",
            scenario: four,
            time: CaseTime::Both,
        },
        Case {
            name: "dispatch",
            about: "the handler gives the work to a pool and takes the answer back",
            scenario: dispatch,
            time: CaseTime::Both,
        },
        Case {
            name: "async",
            about: "a continuation, where it falls and sent to the loop",
            scenario: asynchronous,
            time: CaseTime::Both,
        },
        Case {
            name: "queue",
            about: "tasks given to a busy business thread",
            scenario: queue,
            time: CaseTime::Both,
        },
    ],
    claims: &[
        Claim {
            id: "OF-1",
            statement: "on the loop: fast is answered only when slow is done: its latency",
            case: "on-loop",
            policies: NETTY,
            unit: Some(Unit::Ms),
            text: Some(TextValue::Words("3436 against 3412 for slow: 24 apart")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "OF-2",
            statement: "even the second connection's active waits, for registration is a task of the same loop: connect to active",
            case: "on-loop",
            policies: NETTY,
            unit: Some(Unit::Ms),
            text: Some(TextValue::Words("active at 16.074, slow done at 16.063")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "OF-3",
            statement: "on a business group of two fast is answered at once, slow after its block: the two latencies",
            case: "group",
            policies: NETTY,
            unit: Some(Unit::Ms),
            text: Some(TextValue::Words("404 and 3387, from the client's start")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "OF-4",
            statement: "then the handler's callbacks, active too, are on the business thread; in-loop is false",
            case: "group",
            policies: NETTY,
            text: Some(TextValue::Words("defaultEventExecutorGroup-4-1, inEventLoop=false")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "OF-5",
            statement: "on a business group of one fast waits as before: its latency",
            case: "group-of-one",
            policies: NETTY,
            unit: Some(Unit::Ms),
            ..Claim::DEFAULT
        },
        Claim {
            id: "OF-6",
            statement: "four connections, two business threads: the second wave starts one block later",
            case: "four",
            policies: NETTY,
            unit: Some(Unit::Ms),
            text: Some(TextValue::Words("text A: about 205")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "OF-7",
            statement: "one channel's callbacks on the group stay in order, one thread for each channel",
            case: "four",
            policies: NETTY,
            ..Claim::DEFAULT
        },
        Claim {
            id: "OF-8",
            statement: "dispatch to a pool and back: the work on the pool's thread, the write on the loop's",
            case: "dispatch",
            policies: NETTY,
            source: Some(Source::new(Text::C, "方案二：业务线程池 + 回到 EventLoop")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "OF-9",
            statement: "a continuation runs on the thread that completed the stage, not on the loop, unless it is sent there",
            case: "async",
            policies: NETTY,
            source: Some(Source::new(Text::C, "方案三：CompletableFuture 编排")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "OF-10",
            statement: "the group's queue has no bound: what is given while it is busy waits, all of it",
            case: "queue",
            policies: NETTY,
            unit: Some(Unit::Count),
            ..Claim::DEFAULT
        },
    ],
    judge: judge::judge,
};

const PATIENCE: Duration = Duration::from_secs(2);
/// When the first message is sent: the connections are up by then.
const BEGIN: Duration = Duration::from_millis(100);

fn window(p: &Params) -> Duration {
    BEGIN + p.duration("slow").saturating_add(p.duration("gap")).saturating_add(Duration::from_millis(200))
}

fn scenario(p: &Params, business: &[&str]) -> Scenario {
    let loops: Vec<&str> = ["boss-1", "worker-1", "client-1"].iter().chain(business).copied().collect();
    let mut s = Scenario::loops(&loops, window(p));
    s.role(Role::Executor, business);
    s.role(Role::Peer, &["client-1"]);
    s
}

fn serve(s: &mut Scenario, handler: HandlerSpec) {
    s.server(ServerSpec {
        name: "server".into(),
        boss: "boss-1".into(),
        workers: vec!["worker-1".into()],
        parent: vec![],
        child: HandlerSpec::lines(1024).into_iter().chain([handler]).collect(),
        half_closure: false,
    });
    s.main().bind("server").wait("server", PATIENCE);
}

fn client(s: &mut Scenario, name: &str) {
    let handlers = HandlerSpec::lines(1024).into_iter().chain([HandlerSpec::reactor("client")]).collect();
    let loops = vec!["client-1".into()];
    s.client(ClientSpec {
        name: name.into(),
        count: 1,
        loops,
        to: Some("server".into()),
        handlers,
        reconnect: None,
    });
}

/// The text's handler: blocks for "slow", answers "fast" at once.
fn business(p: &Params, s: &mut Scenario) -> HandlerSpec {
    let slow = p.duration("slow");
    let handler = HandlerSpec::reactor("business");
    let handler =
        s.react(handler, ChannelEvent::ChannelRead, Some("slow"), |t| t.block(slow).reply("slow-done\n"));
    s.react(handler, ChannelEvent::ChannelRead, Some("fast"), |t| t.reply("fast-done\n"))
}

/// The text's client: one connection sends "slow", and a gap later another one "fast".
fn slow_then_fast(p: &Params, mut s: Scenario, group: &[&str]) -> Scenario {
    let handler = business(p, &mut s).on_group(group);
    serve(&mut s, handler);
    client(&mut s, "slow");
    client(&mut s, "fast");
    s.main()
        .connect("slow")
        .wait("slow", PATIENCE)
        .until(BEGIN)
        .send("slow", "slow\n")
        .until(BEGIN + p.duration("gap") / 2)
        .connect("fast")
        .wait("fast", PATIENCE)
        .until(BEGIN + p.duration("gap"))
        .send("fast", "fast\n");
    s
}

fn on_loop(p: &Params) -> Scenario {
    slow_then_fast(p, scenario(p, &[]), &[])
}

fn group(p: &Params) -> Scenario {
    slow_then_fast(p, scenario(p, &["business-1", "business-2"]), &["business-1", "business-2"])
}

fn group_of_one(p: &Params) -> Scenario {
    slow_then_fast(p, scenario(p, &["business-1"]), &["business-1"])
}

const FOUR: [&str; 4] = ["first", "second", "third", "fourth"];

fn four(p: &Params) -> Scenario {
    let mut s = scenario(p, &["business-1", "business-2"]);
    s.window = BEGIN + p.duration("wave").saturating_mul(2).saturating_add(Duration::from_millis(200));
    let wave = p.duration("wave");
    let handler = HandlerSpec::reactor("business").on_group(&["business-1", "business-2"]);
    let handler = s.react(handler, ChannelEvent::ChannelRead, Some("a"), |t| t.block(wave));
    serve(&mut s, handler);
    for name in FOUR {
        client(&mut s, name);
        s.main().connect(name).wait(name, PATIENCE);
    }
    s.main().until(BEGIN);
    for name in FOUR {
        s.main().send(name, "a\nb\nc\n");
    }
    s
}

fn dispatch(p: &Params) -> Scenario {
    let mut s = scenario(p, &["business-1"]);
    let work = |t: TaskDef| {
        t.execute_on(
            "business-1",
            task("work").block(p.duration("gap")).execute_on("channel", task("write back").reply("done\n")),
        )
    };
    let handler = s.react(HandlerSpec::reactor("dispatching"), ChannelEvent::ChannelRead, Some("work"), work);
    one_message(s, handler, "work\n", p)
}

fn asynchronous(p: &Params) -> Scenario {
    let mut s = scenario(p, &["business-1"]);
    s.add(task("stage").block(p.duration("gap")));
    s.add(task("second stage").block(p.duration("gap")));
    s.add(task("continuation").reply("there\n"));
    s.add(task("continuation on the loop").reply("back\n"));
    let compose = |task: &str, then: &str, on_loop| Action::Compose {
        task: task.into(),
        pool: "business-1".into(),
        then: then.into(),
        on_loop,
    };
    let both = |t: TaskDef| {
        t.step(compose("stage", "continuation", false)).step(compose(
            "second stage",
            "continuation on the loop",
            true,
        ))
    };
    let handler = s.react(HandlerSpec::reactor("composing"), ChannelEvent::ChannelRead, Some("work"), both);
    one_message(s, handler, "work\n", p)
}

fn one_message(mut s: Scenario, handler: HandlerSpec, text: &str, p: &Params) -> Scenario {
    s.window = BEGIN + p.duration("gap").saturating_mul(2).saturating_add(Duration::from_millis(200));
    serve(&mut s, handler);
    client(&mut s, "client");
    s.main().connect("client").wait("client", PATIENCE).until(BEGIN).send("client", text);
    s
}

fn queue(p: &Params) -> Scenario {
    let mut s = Scenario::loops(&["business-1"], p.duration("gap").saturating_mul(2));
    s.role(Role::Executor, &["business-1"]);
    // It is busy until after the end of the window, so that what waits is still there to be counted.
    s.main().execute(task("busy").block(p.duration("gap").saturating_mul(3))).until(p.duration("gap"));
    s.add(task("post"));
    for _ in 0..p.count("posts") {
        s.main().step(Action::Execute { task: "post".into(), on: None });
    }
    s
}
