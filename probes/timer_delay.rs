//! One blocking task delays every later timer on its loop.

use std::time::Duration;

use loopprobe::params::{Params, millis};
use loopprobe::policy::PolicyName;
use loopprobe::probe::{
    BOTH, Case, CaseTime, Claim, Evidence, Family, NETTY, Probe, Source, Text, TextValue, Unit,
};
use loopprobe::readings::Readings;
use loopprobe::scenario::{ClientSpec, Role, Scenario, ServerSpec, Steps, task};
use loopprobe::stats::least;
use loopprobe::trace::{Event, EventKind, Trace};

pub(crate) const PROBE: Probe = Probe {
    name: "timer-delay",
    version: 1,
    about: "A blocking timer delays every later timer on its loop",
    family: Family::Timers,
    source: Source::new(Text::A, "任务与定时器在同一条线程上排队"),
    params: &[
        millis("b-due", 100, "when timer B is due"),
        millis("c-due", 150, "when timer C is due"),
        millis("c-block", 300, "how long timer C blocks the loop").quick("150ms"),
        millis("d-due", 200, "when timer D is due"),
        millis("close-at", 700, "when the channel is closed").quick("400ms"),
    ],
    cases: &[Case {
        name: "main",
        about: "a connected channel: execute, timers B, C (blocking) and D, and a close listener",
        scenario,
        time: CaseTime::Both,
    }],
    claims: &[
        Claim {
            id: "TD-1",
            statement: "a task given to execute from another thread runs on the loop's thread, never on the caller's",
            text: Some(TextValue::Words("238 ms, inEventLoop=true")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "TD-2",
            statement: "a timer never runs before its deadline (B, C, D): the least lateness",
            unit: Some(Unit::Ms),
            text: Some(TextValue::Words("B at +100, C at +150")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "TD-3",
            statement: "an undisturbed timer runs about on time (B; C beside it)",
            unit: Some(Unit::Ms),
            text: Some(TextValue::Words("about 0 late; text C: 9 for 200")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "TD-4",
            statement: "D waits for C's block to end: its lateness",
            unit: Some(Unit::Ms),
            text: Some(TextValue::Number(251.0)),
            ..Claim::DEFAULT
        },
        Claim {
            id: "TD-5",
            statement: "the close listener runs on the loop's thread, not on the one that registered it",
            policies: NETTY,
            text: Some(TextValue::Words("945 ms, inEventLoop=true")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "TD-6",
            statement: "order: execute, B, C begins, C ends, D, close listener (text D's loop has no listener)",
            policies: BOTH,
            text: Some(TextValue::Words("the same")),
            ..Claim::DEFAULT
        },
    ],
    judge,
};

/// The longest that the bind or the connect may take before the scenario goes on without it.
const PATIENCE: Duration = Duration::from_secs(2);

fn scenario(p: &Params) -> Scenario {
    let busy_until = p.duration("c-due").saturating_add(p.duration("c-block"));
    let last = [p.duration("b-due"), p.duration("d-due"), p.duration("close-at"), busy_until].into_iter().max();
    let window = last.unwrap_or_default().saturating_add(Duration::from_millis(50));
    let mut s = Scenario::loops(&["loop-1", "server-1"], window);
    s.role(Role::Peer, &["server-1"]);
    s.server(ServerSpec {
        name: "server".into(),
        boss: "server-1".into(),
        workers: vec!["server-1".into()],
        parent: vec![],
        child: vec![],
        half_closure: false,
    });
    s.client(ClientSpec {
        name: "channel".into(),
        count: 1,
        loops: vec!["loop-1".into()],
        to: Some("server".into()),
        handlers: vec![],
        reconnect: None,
    });
    s.main()
        .bind("server")
        .wait("server", PATIENCE)
        .connect("channel")
        .wait("channel", PATIENCE)
        .execute(task("execute"))
        .schedule(p.duration("b-due"), task("B"))
        .schedule(p.duration("c-due"), task("C").block(p.duration("c-block")))
        .schedule(p.duration("d-due"), task("D"))
        .on_closed("channel", task("close listener"))
        .until(p.duration("close-at"))
        .close("channel");
    s
}

fn judge(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    r.fact("TD-1", t.start("execute").map(|event| event.in_loop), Some(true));
    r.at_least("TD-2", least(["B", "C", "D"].iter().filter_map(|timer| t.lateness(timer))), 0.0);
    for timer in ["B", "C"] {
        near_start(r, "TD-3", t, timer, t.start(timer)).note(timer);
    }
    // D rests on all that happened since C was armed: C's own start and the length of its block.
    near_start(r, "TD-4", t, "D", t.start("D"));
    if e.policy != PolicyName::Linkd && e.policy != PolicyName::LinkdListed {
        r.fact("TD-5", t.start("close listener").map(|event| event.in_loop), Some(true));
    }
    r.same("TD-6", order(t, e.policy));
}

fn near_start<'r>(
    r: &'r mut Readings,
    id: &'static str,
    t: &Trace,
    timer: &str,
    start: Option<&Event>,
) -> &'r mut loopprobe::readings::Reading {
    let armed = t.of(timer).find(|event| event.event == EventKind::Submitted);
    let reading = r.near(id, t.lateness(timer));
    if let (Some(armed), Some(start)) = (armed, start) {
        reading.rests_on(armed.at, start.at);
    }
    reading
}

fn order(t: &Trace, policy: PolicyName) -> Vec<String> {
    let has_listener = matches!(policy, PolicyName::Netty | PolicyName::Netty41);
    let steps = t.events.iter().filter_map(|event| match (event.task.as_deref()?, event.event) {
        ("C", EventKind::Start) => Some("C begins".to_string()),
        ("C", EventKind::End) => Some("C ends".to_string()),
        ("close listener", EventKind::Start) if !has_listener => None,
        (task, EventKind::Start) => Some(task.to_string()),
        _ => None,
    });
    steps.collect()
}
