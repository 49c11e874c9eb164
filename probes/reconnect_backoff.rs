//! Coming back after a failure: delays that double, a cap, one pending retry, jitter, and two storms.

mod judge;

use std::time::Duration;

use loopprobe::backoff::{Backoff, Jitter};
use loopprobe::params::{Params, count, millis, word};
use loopprobe::probe::{BOTH, Case, CaseTime, Claim, Family, NETTY, Probe, Source, Stance, Text, TextValue, Unit};
use loopprobe::scenario::{
    Action, AfterDrop, ChannelEvent, ClientSpec, HandlerSpec, ReconnectSpec, Reset, Role, Scenario, ServerSpec,
    Steps, Told, WaitBy, task,
};

pub(crate) const PROBE: Probe = Probe {
    name: "reconnect-backoff",
    version: 1,
    about: "When a client comes back after a failure: backoff, cap, jitter, and the storms without them",
    family: Family::Connections,
    source: Source::new(Text::A, "用 ChannelFuture 回调调度重连"),
    params: &[
        millis("base", 100, "the first delay").positive().quick("40ms"),
        count("shift", 5, "how often the delay doubles: the cap is base × 2^shift"),
        count("attempts", 4, "it gives up after so many"),
        word(
            "jitter",
            &["none", "factor", "equal", "full"],
            "how the delays of the case refused are spread; factor is 0.8 to 1.2",
        ),
        millis("cap-base", 4, "the first delay in the case cap").positive(),
        count("clients", 200, "how many are cut off together in the case wave").quick("50"),
        count("drawing-clients", 1000, "how many draw their delays in the case jitter").quick("200"),
        millis("drop-window", 2050, "how long a server that accepts and drops is watched").quick("850ms"),
        millis("link", 0, "one way of the link, in virtual time; the storm's figure is for 500us"),
        millis("steady", 1000, "how long a connection must live to take the schedule back, in the third storm"),
    ],
    cases: &[
        Case { name: "refused", about: "a port on which nobody listens", scenario: refused, time: CaseTime::Both },
        Case {
            name: "two-loops",
            about: "the same on a group of two loops",
            scenario: two_loops,
            time: CaseTime::Both,
        },
        Case { name: "cap", about: "eight attempts with a short base", scenario: cap, time: CaseTime::Both },
        Case { name: "stop", about: "stopped while a retry is pending", scenario: stop, time: CaseTime::Both },
        Case {
            name: "success",
            about: "failures, a connection, its loss, a failure again",
            scenario: success,
            time: CaseTime::Both,
        },
        Case {
            name: "storm",
            about: "a server that accepts and drops: at once, delayed, steady life",
            scenario: storm,
            time: CaseTime::Both,
        },
        Case {
            name: "told-twice",
            about: "each failure is told twice, with a guard and without",
            scenario: told_twice,
            time: CaseTime::Both,
        },
        Case { name: "wave", about: "many clients cut off together", scenario: wave, time: CaseTime::Both },
        Case {
            name: "jitter",
            about: "many clients draw their delays, in all four ways",
            scenario: jitter,
            time: CaseTime::VirtualOnly,
        },
        Case {
            name: "sleep",
            about: "the failure's callback sleeps instead of arming a timer",
            scenario: sleep,
            time: CaseTime::Both,
        },
    ],
    claims: &[
        Claim {
            id: "RB-1",
            statement: "against a closed port the delays from failure to attempt double from the base; it gives up after the last attempt",
            case: "refused",
            policies: BOTH,
            unit: Some(Unit::Ms),
            text: Some(TextValue::Words("attempts at 94, 305, 507, 909")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "RB-2",
            statement: "the first attempt is made by the caller's thread, every retry by a loop's: in a group of two they alternate",
            case: "two-loops",
            policies: NETTY,
            text: Some(TextValue::Words("always nioEventLoopGroup-2-1")),
            stance: Stance::Refuted {
                claims: "retries are always on one loop's thread, so the counter has one owner",
                truth: "true of a group of one; in a group of two each attempt's channel takes the next loop and failures alternate (Netty 4.2.13 and 4.1.48)",
            },
            ..Claim::DEFAULT
        },
        Claim {
            id: "RB-3",
            statement: "the delay stops growing at base × 2^shift",
            case: "cap",
            policies: NETTY,
            unit: Some(Unit::Ms),
            ..Claim::DEFAULT
        },
        Claim {
            id: "RB-4",
            statement: "at most one retry is ever pending",
            case: "refused",
            policies: NETTY,
            unit: Some(Unit::Count),
            ..Claim::DEFAULT
        },
        Claim {
            id: "RB-5",
            statement: "shutdown cancels the pending retry: attempts afterwards",
            case: "stop",
            policies: NETTY,
            unit: Some(Unit::Count),
            ..Claim::DEFAULT
        },
        Claim {
            id: "RB-6",
            statement: "success resets the counter: after it the next failure waits the base again",
            case: "success",
            policies: NETTY,
            unit: Some(Unit::Ms),
            ..Claim::DEFAULT
        },
        Claim {
            id: "RB-7",
            statement: "losing an established connection starts an attempt at once, with no delay, as text A's code does",
            case: "success",
            policies: NETTY,
            unit: Some(Unit::Ms),
            source: Some(Source::new(Text::A, "在 linkd-v2 里落地")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "RB-8",
            statement: "clients cut off together, no jitter: all in one wave (the spread of their next deadlines, at most half the base; the metrics have how many fall into the fullest 10 ms)",
            case: "wave",
            policies: NETTY,
            unit: Some(Unit::Ms),
            text: Some(TextValue::Words("a spike")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "RB-9",
            statement: "jitter: every delay within its bounds; the most of all clients' delays that fall into 10 ms, for nominal delays of 1, 4 and 32 bases",
            case: "jitter",
            policies: NETTY,
            text: Some(TextValue::Words("factor 0.8 to 1.2")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "RB-10",
            statement: "counter-example: sleeping in the failure's callback blocks the loop: another timer is late until the sleep ends",
            case: "sleep",
            policies: NETTY,
            unit: Some(Unit::Ms),
            ..Claim::DEFAULT
        },
        Claim {
            id: "RB-11",
            statement: "a server that accepts and drops is hit without end by text A's code; with a delay after each drop, or a reset only after steady life, it isn't (attempts)",
            case: "storm",
            policies: NETTY,
            unit: Some(Unit::Count),
            text: Some(TextValue::Words("reconnecting at once is taken for safe")),
            stance: Stance::Refuted {
                claims: "reconnecting at once after a drop, with the counter zeroed by success, is safe",
                truth: "a server that accepts and drops is hit more than 1000 times in 2 s; delay after a drop, and reset only after steady life",
            },
            source: Some(Source::new(Text::A, "在 linkd-v2 里落地")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "RB-12",
            statement: "a failure that is told twice must not start two chains (attempts and most pending: with the guard; without)",
            case: "told-twice",
            policies: NETTY,
            ..Claim::DEFAULT
        },
    ],
    judge: judge::judge,
};

const PATIENCE: Duration = Duration::from_secs(2);
/// More failures in a row than any case has.
const ENOUGH: u32 = 5000;

fn jitter_of(p: &Params) -> Jitter {
    Jitter::ALL.into_iter().find(|jitter| jitter.word() == p.word("jitter")).unwrap_or(Jitter::None)
}

fn shift(p: &Params) -> u32 {
    u32::try_from(p.count("shift")).unwrap_or(u32::MAX)
}

fn attempts(p: &Params) -> u32 {
    u32::try_from(p.count("attempts")).unwrap_or(u32::MAX)
}

fn spec(p: &Params, base: Duration, attempts: u32) -> ReconnectSpec {
    ReconnectSpec {
        backoff: Backoff { base, shift: shift(p), jitter: Jitter::None },
        attempts,
        most: ReconnectSpec::MANY,
        reset: Reset::OnConnect,
        after_drop: AfterDrop::AtOnce,
        told: Told::Once,
        wait_by: WaitBy::Timer,
    }
}

fn client(name: &str, loops: &[&str], to: Option<&str>, reconnect: ReconnectSpec) -> ClientSpec {
    ClientSpec {
        name: name.into(),
        count: 1,
        loops: loops.iter().map(|name| (*name).to_string()).collect(),
        to: to.map(Into::into),
        handlers: Vec::new(),
        reconnect: Some(reconnect),
    }
}

/// All delays of a schedule, and room for the last attempt to fail.
fn schedule_length(base: Duration, shift: u32, attempts: u32) -> Duration {
    let backoff = Backoff { base, shift, jitter: Jitter::None };
    let delays = (0..attempts.saturating_sub(1)).map(|failures| backoff.nominal(failures));
    let total = delays.fold(Duration::ZERO, Duration::saturating_add);
    total.saturating_mul(6) / 5 + Duration::from_millis(50)
}

fn against_closed_port(p: &Params, loops: &[&str], reconnect: ReconnectSpec) -> Scenario {
    let window = schedule_length(reconnect.backoff.base, reconnect.backoff.shift, reconnect.attempts);
    let mut s = Scenario::loops(loops, window);
    s.environment.link = p.duration("link");
    s.client(client("client", loops, None, reconnect));
    s.main().connect("client");
    s
}

fn refused(p: &Params) -> Scenario {
    let mut reconnect = spec(p, p.duration("base"), attempts(p));
    reconnect.backoff.jitter = jitter_of(p);
    against_closed_port(p, &["client-1"], reconnect)
}

fn two_loops(p: &Params) -> Scenario {
    against_closed_port(p, &["client-1", "client-2"], spec(p, p.duration("base"), attempts(p)))
}

fn cap(p: &Params) -> Scenario {
    against_closed_port(p, &["client-1"], spec(p, p.duration("cap-base"), shift(p).saturating_add(3)))
}

fn stop(p: &Params) -> Scenario {
    let base = p.duration("base");
    let mut s = against_closed_port(p, &["client-1"], spec(p, base, attempts(p)));
    // Half-way to the second attempt: its retry is pending.
    s.main().until(base / 2).step(Action::StopReconnecting { client: "client".into() });
    s
}

fn server(name: &str, child: Vec<HandlerSpec>) -> ServerSpec {
    ServerSpec {
        name: name.into(),
        boss: "boss-1".into(),
        workers: vec!["worker-1".into()],
        parent: vec![],
        child,
        half_closure: false,
    }
}

fn success(p: &Params) -> Scenario {
    let base = p.duration("base");
    let mut s = Scenario::loops(&["client-1", "boss-1", "worker-1"], base.saturating_mul(3));
    s.role(Role::Peer, &["boss-1", "worker-1"]);
    s.environment.link = p.duration("link");
    s.server(server("server", Vec::new()));
    s.client(client("client", &["client-1"], Some("server"), spec(p, base, ENOUGH)));
    s.main()
        .bind("server")
        .wait("server", PATIENCE)
        .connect("client")
        .until(base)
        .close("server")
        .step(Action::CloseAccepted { server: "server".into() });
    s
}

fn storm(p: &Params) -> Scenario {
    let clients = ["client-1", "client-2", "client-3"];
    let loops: Vec<&str> = clients.iter().chain(&["boss-1", "worker-1"]).copied().collect();
    let mut s = Scenario::loops(&loops, p.duration("drop-window"));
    s.role(Role::Peer, &["boss-1", "worker-1"]);
    s.environment.link = p.duration("link").max(STORM_LINK);
    let dropping = s.react(HandlerSpec::reactor("dropping").silent(), ChannelEvent::ChannelActive, None, |t| {
        t.step(Action::Close { channel: None, then: None })
    });
    s.server(server("server", vec![dropping]));
    let at_once = ReconnectSpec { attempts: ENOUGH, ..spec(p, p.duration("base"), ENOUGH) };
    let delayed = ReconnectSpec { after_drop: AfterDrop::Delayed, ..at_once };
    let steady = ReconnectSpec { reset: Reset::AfterSteady { life: p.duration("steady") }, ..delayed };
    s.client(client("at once", &["client-1"], Some("server"), at_once));
    s.client(client("delayed", &["client-2"], Some("server"), delayed));
    s.client(client("steady", &["client-3"], Some("server"), steady));
    let main = s.main().bind("server").wait("server", PATIENCE);
    main.connect("delayed").connect("steady").connect("at once");
    s
}

/// With no link at all a virtual storm has no end at its first instant.
const STORM_LINK: Duration = Duration::from_micros(500);

fn told_twice(p: &Params) -> Scenario {
    let base = p.duration("base");
    let constant = |told| {
        let mut reconnect = ReconnectSpec { told, ..spec(p, base, attempts(p)) };
        reconnect.backoff.shift = 0;
        reconnect
    };
    let window = base.saturating_mul(attempts(p)).saturating_add(Duration::from_millis(50));
    let mut s = Scenario::loops(&["client-1", "client-2"], window);
    s.environment.link = p.duration("link");
    s.client(client("guarded", &["client-1"], None, constant(Told::TwiceGuarded)));
    s.client(client("unguarded", &["client-2"], None, constant(Told::TwiceUnguarded)));
    s.main().connect("guarded").connect("unguarded");
    s
}

fn wave(p: &Params) -> Scenario {
    let base = p.duration("base");
    let mut s = Scenario::loops(&["client-1", "boss-1", "worker-1"], base.saturating_mul(8));
    s.role(Role::Peer, &["boss-1", "worker-1"]);
    s.environment.link = p.duration("link");
    s.server(server("server", Vec::new()));
    let reconnect = ReconnectSpec { after_drop: AfterDrop::Delayed, ..spec(p, base, 3) };
    let count = u32::try_from(p.count("clients")).unwrap_or(u32::MAX);
    s.client(ClientSpec { count, ..client("client", &["client-1"], Some("server"), reconnect) });
    s.main()
        .bind("server")
        .wait("server", PATIENCE)
        .connect("client")
        .until(base.saturating_mul(4))
        .mark("cut")
        .close("server")
        .step(Action::CloseAccepted { server: "server".into() });
    s
}

fn jitter(p: &Params) -> Scenario {
    let base = p.duration("base");
    let attempts = shift(p).saturating_add(2);
    let mut s = Scenario::loops(&["client-1"], schedule_length(base, shift(p), attempts));
    let count = u32::try_from(p.count("drawing-clients")).unwrap_or(u32::MAX);
    for jitter in Jitter::ALL {
        let mut reconnect = spec(p, base, attempts);
        reconnect.backoff.jitter = jitter;
        s.client(ClientSpec { count, ..client(jitter.word(), &["client-1"], None, reconnect) });
        s.main().connect(jitter.word());
    }
    s
}

fn sleep(p: &Params) -> Scenario {
    let base = p.duration("base");
    let sleeping = ReconnectSpec { wait_by: WaitBy::Sleep, ..spec(p, base, 2) };
    let mut s = Scenario::loops(&["client-1"], base.saturating_mul(3));
    s.environment.link = p.duration("link");
    s.client(client("client", &["client-1"], None, sleeping));
    s.main().schedule(base / 2, task("other timer")).connect("client");
    s
}
