//! Coming back after a failure: delays that double, a cap, one pending retry, jitter, and two storms.

use std::time::Duration;

use loopprobe::backoff::{Backoff, Jitter};
use loopprobe::params::{Params, count, millis, word};
use loopprobe::policy::PolicyName;
use loopprobe::probe::{
    BOTH, Case, CaseTime, Claim, Evidence, Family, NETTY, Probe, Source, Stance, Text, TextValue, Unit,
};
use loopprobe::readings::{Better, Reading, Readings};
use loopprobe::scenario::{
    Action, AfterDrop, ChannelEvent, ClientSpec, HandlerSpec, ReconnectSpec, Reset, Role, Scenario, ServerSpec,
    Steps, Told, WaitBy, task,
};
use loopprobe::time::{Time, duration_millis};
use loopprobe::trace::{Event, EventKind, Trace};
use serde_json::json;

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
    judge,
};

const PATIENCE: Duration = Duration::from_secs(2);
/// More failures in a row than any case has.
const ENOUGH: u32 = 5000;
/// The width of a wave's bins.
const BIN_MS: f64 = 10.0;

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

fn judge(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    match e.case {
        "refused" => {
            delays(t, r, "RB-1", "client", attempts(e.params));
            r.exact("RB-1", of(t, "client", EventKind::Attempt).count(), attempts(e.params) as usize)
                .note("attempts");
            r.exact("RB-1", of(t, "client", EventKind::GaveUp).count(), 1).note("gave up");
            if matches!(e.policy, PolicyName::Netty | PolicyName::Netty41) {
                r.exact("RB-4", most_pending(t, "client"), 1);
            }
        }
        "two-loops" => alternating(e, r),
        "cap" => {
            let last = of(t, "client", EventKind::Retry).filter_map(|event| event.value).max();
            let cap =
                Backoff { base: e.params.duration("cap-base"), shift: shift(e.params), jitter: Jitter::None };
            let cap = duration_millis(cap.nominal(u32::MAX));
            r.exact("RB-3", last.map(|last| last.millis_from(Time::ZERO)), cap);
        }
        "stop" => {
            let stopped = t.kind(EventKind::StopAsked).next();
            let after =
                stopped.map(|stopped| of(t, "client", EventKind::Attempt).filter(|a| a.at > stopped.at).count());
            r.exact("RB-5", after, Some(0));
        }
        "success" => judge_success(e, r),
        "storm" => judge_storm(e, r),
        "told-twice" => {
            for (client, note) in [("guarded", "with the guard"), ("unguarded", "without")] {
                let seen = json!([of(t, client, EventKind::Attempt).count(), most_pending(t, client)]);
                r.same("RB-12", seen).note(note);
            }
        }
        "wave" => judge_wave(e, r),
        "jitter" => judge_jitter(e, r),
        _ => judge_sleep(t, r),
    }
}

/// The threads of the attempts on a group of two.
fn alternating(e: &Evidence<'_>, r: &mut Readings) {
    let threads = of(e.trace, "client", EventKind::Attempt).map(|event| event.thread.to_string());
    let expected = std::iter::once("main").chain(["client-1", "client-2"].into_iter().cycle());
    let expected: Vec<&str> = expected.take(attempts(e.params) as usize).collect();
    r.exact("RB-2", json!(threads.collect::<Vec<_>>()), json!(expected));
}

fn of<'a>(t: &'a Trace, client: &'a str, kind: EventKind) -> impl Iterator<Item = &'a Event> {
    t.on_channel(client).filter(move |event| event.event == kind)
}

/// From each failure, where the retry is armed, to the attempt that follows it.
fn delays(t: &Trace, r: &mut Readings, id: &'static str, client: &str, attempts: u32) {
    let retries: Vec<&Event> = of(t, client, EventKind::Retry).collect();
    let following: Vec<&Event> = of(t, client, EventKind::Attempt).skip(1).collect();
    for index in 0..attempts.saturating_sub(1) as usize {
        let pair = retries.get(index).zip(following.get(index));
        between(r, id, pair.map(|(retry, _)| *retry), pair.map(|(_, attempt)| *attempt))
            .note(format!("delay {}", index + 1));
    }
}

fn between<'r>(
    r: &'r mut Readings,
    id: &'static str,
    from: Option<&Event>,
    to: Option<&Event>,
) -> &'r mut Reading {
    let reading = r.near(id, from.zip(to).map(|(from, to)| to.at.millis_from(from.at)));
    if let Some((from, to)) = from.zip(to) {
        reading.rests_on(from.at, to.at);
    }
    reading
}

/// The most retries that were armed and whose attempt had not begun.
fn most_pending(t: &Trace, client: &str) -> i64 {
    let (mut pending, mut most, mut first) = (0i64, 0, true);
    for event in t.on_channel(client) {
        match event.event {
            EventKind::Retry => pending += 1,
            // The first attempt is nobody's retry.
            EventKind::Attempt if first => first = false,
            EventKind::Attempt => pending -= 1,
            _ => {}
        }
        most = most.max(pending);
    }
    most
}

/// Connected by the first attempt; its loss starts the second at once, and that one fails.
fn judge_success(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    let attempts: Vec<&Event> = of(t, "client", EventKind::Attempt).collect();
    let retry = of(t, "client", EventKind::Retry).next();
    let delay = retry.and_then(|retry| retry.value).map(|value| value.millis_from(Time::ZERO));
    r.exact("RB-6", delay, duration_millis(e.params.duration("base")));
    between(r, "RB-6", retry, attempts.get(2).copied()).note("from the failure to the attempt after it");
    between(r, "RB-7", of(t, "client", EventKind::Lost).next(), attempts.get(1).copied());
}

fn judge_storm(e: &Evidence<'_>, r: &mut Readings) {
    let attempts = |client| of(e.trace, client, EventKind::Attempt).count();
    let seconds = duration_millis(e.params.duration("drop-window")) / 1000.0;
    // Five hundred a second: thousand in the window by default.
    let storm = r.more_than("RB-11", attempts("at once") as f64, (seconds * 488.0).floor());
    storm.note("at once: more than this; the link of virtual time makes it 1367 in 2050 ms");
    let window = e.params.duration("drop-window");
    // A real link is faster than the virtual one: the delays alone bound what may come.
    let waiting = |delay: &dyn Fn(u32) -> Duration| {
        let mut at = Duration::ZERO;
        (0..ENOUGH)
            .take_while(|failures| {
                at = at.saturating_add(delay(*failures));
                at <= window
            })
            .count() as f64
            + 1.0
    };
    let backoff = Backoff { base: e.params.duration("base"), shift: shift(e.params), jitter: Jitter::None };
    let at_most = waiting(&|_| backoff.nominal(0));
    r.at_most("RB-11", Some(attempts("delayed") as f64), at_most).note("a delay after each drop");
    let at_most = waiting(&|failures| backoff.nominal(failures));
    r.at_most("RB-11", Some(attempts("steady") as f64), at_most).note("reset only after steady life");
    // Its counter is reset by every connection, so its delays don't grow as the steady one's do.
    let grows = r.more_than("RB-11", attempts("delayed") as f64, at_most);
    grows.note("a delay after each drop: more than growing delays let through");
}

/// The retries that follow the cut: how far their deadlines lie apart, and how many fall into the fullest bin.
fn judge_wave(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    let cut = t.marks("cut").next().map(|mark| mark.at);
    let mut due: Vec<f64> = Vec::new();
    for index in 1..=e.params.count("clients") {
        let client = format!("client#{index}");
        let retry = of(t, &client, EventKind::Retry).find(|retry| cut.is_some_and(|cut| retry.at >= cut));
        let due_at =
            retry.and_then(|retry| Some(retry.at.millis_from(Time::ZERO) + retry.value?.millis_from(Time::ZERO)));
        due.extend(due_at);
    }
    due.sort_by(f64::total_cmp);
    let spread = due.first().zip(due.last()).map(|(first, last)| last - first);
    let half = duration_millis(e.params.duration("base")) / 2.0;
    r.at_most("RB-8", spread.filter(|_| due.len() as u64 == e.params.count("clients")), half);
    let peak = due.iter().map(|from| due.iter().filter(|due| *due >= from && **due < from + BIN_MS).count()).max();
    r.metric("wave_peak_per_10ms", "1", Better::None, peak.map(|peak| peak as f64));
}

/// Nominal delays of 1, 4 and 32 bases, by how many failures came before.
const NOMINAL: [u32; 3] = [0, 2, 5];

/// The bounds of the catalogue for 1000 clients and a base of 100 ms: none, factor, equal and full.
const PEAKS: [[(usize, usize); 3]; 4] = [
    [(1000, 1000), (1000, 1000), (1000, 1000)],
    [(250, 300), (68, 92), (12, 21)],
    [(200, 240), (54, 73), (11, 19)],
    [(104, 134), (31, 44), (7, 14)],
];

fn judge_jitter(e: &Evidence<'_>, r: &mut Readings) {
    let clients = e.params.count("drawing-clients");
    // The catalogue's bounds are for its own numbers; with others the virtual run's peaks are what is shown.
    let as_in_catalogue = clients == 1000 && e.params.duration("base") == Duration::from_millis(100);
    for (jitter, bounds) in Jitter::ALL.into_iter().zip(PEAKS) {
        let mut peaks = Vec::new();
        let mut outside = 0;
        for failures in NOMINAL {
            let drawn = draws(e.trace, jitter.word(), clients, failures as usize);
            outside += drawn.iter().filter(|delay| !within(e.params, jitter, failures, **delay)).count();
            outside += usize::try_from(clients).unwrap_or(usize::MAX) - drawn.len();
            peaks.push(peak(&drawn));
        }
        r.exact("RB-9", outside, 0).note(format!("{}: delays outside their bounds or missing", jitter.word()));
        if as_in_catalogue {
            let held = peaks.iter().zip(bounds).all(|(peak, (least, most))| (least..=most).contains(peak));
            r.exact("RB-9", held, true).note(format!("{}: peaks {peaks:?} of {bounds:?}", jitter.word()));
        } else {
            r.same("RB-9", json!(peaks)).note(jitter.word());
        }
    }
}

/// Every client's delay after so many failures, in ms.
fn draws(t: &Trace, jitter: &str, clients: u64, failures: usize) -> Vec<f64> {
    let mut by_client: std::collections::BTreeMap<&str, Vec<f64>> = std::collections::BTreeMap::new();
    for retry in t.kind(EventKind::Retry) {
        let (Some(channel), Some(delay)) = (retry.channel.as_deref(), retry.value) else { continue };
        if channel.strip_prefix(jitter).is_some_and(|rest| clients == 1 || rest.starts_with('#')) {
            by_client.entry(channel).or_default().push(delay.millis_from(Time::ZERO));
        }
    }
    by_client.values().filter_map(|delays| delays.get(failures).copied()).collect()
}

fn within(p: &Params, jitter: Jitter, failures: u32, delay: f64) -> bool {
    let nominal = Backoff { base: p.duration("base"), shift: shift(p), jitter }.nominal(failures);
    let (least, most) = jitter.bounds(nominal);
    (duration_millis(least)..=duration_millis(most)).contains(&delay)
}

/// The most delays in a bin of 10 ms, bins beginning at 0.
fn peak(delays: &[f64]) -> usize {
    let mut bins: std::collections::BTreeMap<i64, usize> = std::collections::BTreeMap::new();
    for delay in delays {
        *bins.entry((delay / BIN_MS).floor() as i64).or_default() += 1;
    }
    bins.into_values().max().unwrap_or(0)
}

fn judge_sleep(t: &Trace, r: &mut Readings) {
    let reading = r.near("RB-10", t.lateness("other timer"));
    if let (Some(failed), Some(timer)) = (of(t, "client", EventKind::Retry).next(), t.start("other timer")) {
        reading.rests_on(failed.at, timer.at);
    }
}
