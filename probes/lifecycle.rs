//! The life of a connection: which callback comes when, and on which thread.

mod judge;

use std::time::Duration;

use loopprobe::params::{Params, count, millis};
use loopprobe::probe::{Case, CaseTime, Claim, Family, NETTY, Probe, Source, Stance, Text, TextValue};
use loopprobe::scenario::{
    Action, ChannelEvent, ClientSpec, HandlerSpec, Scenario, ServerSpec, Steps, TaskDef, task,
};

pub(crate) const PROBE: Probe = Probe {
    name: "lifecycle",
    version: 1,
    about: "Which callback of a connection comes when, and on which thread",
    family: Family::Connections,
    source: Source::new(Text::C, "一次连接过程发生了什么"),
    params: &[
        millis("hello-at", 100, "when the client sends \"hello\" and \"iron man\", in one go"),
        millis("bye-at", 200, "when it sends \"bye\", to which the server answers and closes"),
        millis("window", 300, "how long it is watched"),
        count("frame-limit", 1024, "the longest line in bytes"),
    ],
    cases: &[
        Case {
            name: "main",
            about: "one server, one client: connect, two lines, bye",
            scenario: conversation,
            time: CaseTime::Both,
        },
        Case {
            name: "exception",
            about: "a handler raises an error that nobody takes",
            scenario: exception,
            time: CaseTime::Both,
        },
        Case {
            name: "parent-close",
            about: "the listening channel is closed",
            scenario: parent_close,
            time: CaseTime::Both,
        },
        Case {
            name: "half-closure",
            about: "the client ends its side, with half closure off and on",
            scenario: half_closure,
            time: CaseTime::Both,
        },
        Case { name: "embedded", about: "a channel without a socket", scenario: embedded, time: CaseTime::Both },
    ],
    claims: &[
        Claim {
            id: "LC-1",
            statement: "an accepted channel's callbacks: handlerAdded, registered, active, reads and read-completes, inactive, unregistered, handlerRemoved",
            policies: NETTY,
            text: Some(TextValue::Words("the same, without handlerRemoved")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "LC-2",
            statement: "all of a child's callbacks are on one worker's thread, the parent's on the boss's",
            policies: NETTY,
            text: Some(TextValue::Words("3-1 and 2-1")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "LC-3",
            statement: "the parent sees the accepted child before the child's handlerAdded, and the child's loop is not known yet",
            policies: NETTY,
            text: Some(TextValue::Words("IllegalStateException")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "LC-4",
            statement: "two lines in one read: two reads, one read-complete; the end of the stream brings one more without a read",
            policies: NETTY,
            text: Some(TextValue::Words("2 reads, 1 read-complete")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "LC-5",
            statement: "the client is registered before it is active; a listener of its connect runs on the loop before active",
            policies: NETTY,
            ..Claim::DEFAULT
        },
        Claim {
            id: "LC-6",
            statement: "at inactive, and still at unregistered, the remote address is there; the last callback is handlerRemoved",
            policies: NETTY,
            text: Some(TextValue::Words("only inactive knows it")),
            stance: Stance::Refuted {
                claims: "only channelInactive can still get the remote address",
                truth: "channelUnregistered can too, and handlerRemoved comes last (Netty 4.2.13 and 4.1.48)",
            },
            ..Claim::DEFAULT
        },
        Claim {
            id: "LC-7",
            statement: "close: socket closed, close future done, the future of close(), then inactive, unregistered, handlerRemoved; close() on the loop is complete when it returns",
            policies: NETTY,
            text: Some(TextValue::Words("inactive first, close future last")),
            stance: Stance::Refuted {
                claims: "channelInactive, socket closed, channelUnregistered, close future",
                truth: "socket, close future and its listeners, the future of close(), channelInactive, channelUnregistered, handlerRemoved (Netty 4.2.13 and 4.1.48)",
            },
            ..Claim::DEFAULT
        },
        Claim {
            id: "LC-8",
            statement: "a write after close fails through its future; nothing is raised at the call",
            policies: NETTY,
            ..Claim::DEFAULT
        },
        Claim {
            id: "LC-9",
            statement: "an error that no handler takes: one warning at the tail, and the connection stays open",
            case: "exception",
            policies: NETTY,
            ..Claim::DEFAULT
        },
        Claim {
            id: "LC-10",
            statement: "closing the listening channel leaves what it accepted open: it goes on echoing",
            case: "parent-close",
            policies: NETTY,
            ..Claim::DEFAULT
        },
        Claim {
            id: "LC-11",
            statement: "half closure is off by default (the peer's FIN closes all); allowed, there is an input-shutdown event and writing still works",
            case: "half-closure",
            policies: NETTY,
            ..Claim::DEFAULT
        },
        Claim {
            id: "LC-12",
            statement: "an embedded channel: handlerAdded, registered, active when made; read, read-complete; inactive, unregistered when finished",
            case: "embedded",
            policies: NETTY,
            text: Some(TextValue::Words("the same lists")),
            source: Some(Source::new(Text::C, "用 EmbeddedChannel 验证生命周期")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "LC-13",
            statement: "the listening channel is registered before its bind and active after it",
            policies: NETTY,
            text: Some(TextValue::Words("registered after a successful bind")),
            stance: Stance::Refuted {
                claims: "the parent is registered after a successful bind",
                truth: "registered, bound, active (Netty 4.2.13 and 4.1.48)",
            },
            ..Claim::DEFAULT
        },
    ],
    judge: judge::judge,
};

/// The longest that a bind or connect may take before the scenario goes on without it.
const PATIENCE: Duration = Duration::from_secs(2);

fn loops(p: &Params) -> Scenario {
    Scenario::loops(&["boss-1", "worker-1", "client-1"], p.duration("window"))
}

fn lines(p: &Params) -> Vec<HandlerSpec> {
    HandlerSpec::lines(usize::try_from(p.count("frame-limit")).unwrap_or(usize::MAX))
}

fn server(p: &Params, name: &str, handler: HandlerSpec) -> ServerSpec {
    let child = lines(p).into_iter().chain([handler]).collect();
    ServerSpec {
        name: name.into(),
        boss: "boss-1".into(),
        workers: vec!["worker-1".into()],
        parent: vec![],
        child,
        half_closure: false,
    }
}

fn client(p: &Params, name: &str, to: &str) -> ClientSpec {
    let handlers = lines(p).into_iter().chain([HandlerSpec::reactor("client")]).collect();
    ClientSpec {
        name: name.into(),
        count: 1,
        loops: vec!["client-1".into()],
        to: Some(to.into()),
        handlers,
        reconnect: None,
    }
}

fn conversation(p: &Params) -> Scenario {
    let mut s = loops(p);
    let child = HandlerSpec::reactor("lifecycle");
    let child = s.react(child, ChannelEvent::ChannelRead, Some("hello"), |t| t.reply("echo: hello\n"));
    let child = s.react(child, ChannelEvent::ChannelRead, Some("iron man"), |t| t.reply("echo: iron man\n"));
    let child = s.react(child, ChannelEvent::ChannelRead, Some("bye"), |t| {
        t.step(Action::OnClosed { channel: None, task: "closed".into() })
            .reply("byebye\n")
            .step(Action::Close { channel: None, then: Some("close done".into()) })
            .mark("close returned")
            .step(Action::Write { text: "too late\n".into(), channel: None, then: Some("late write".into()) })
            .mark("write returned")
    });
    s.add(task("closed").step(Action::AskOpen));
    s.add(task("close done"));
    s.add(task("late write"));
    let ask = |t: TaskDef| t.step(Action::AskRemote);
    let child = s.react(child, ChannelEvent::ChannelInactive, None, ask);
    let child = s.react(child, ChannelEvent::ChannelUnregistered, None, ask);
    let parent =
        s.react(HandlerSpec::reactor("parent"), ChannelEvent::ChannelRead, None, |t| t.step(Action::AskLoop));
    s.server(ServerSpec { parent: vec![parent], ..server(p, "server", child) });
    s.client(client(p, "client", "server"));
    s.main()
        .bind("server")
        .wait("server", PATIENCE)
        .connect("client")
        .wait("client", PATIENCE)
        .until(p.duration("hello-at"))
        .send("client", "hello\niron man\n")
        .until(p.duration("bye-at"))
        .send("client", "bye\n");
    s
}

/// A server that echoes "ping", and a client that sends first this, then "ping".
fn with_ping(p: &Params, mut s: Scenario, child: HandlerSpec, first: impl FnOnce(&mut Scenario)) -> Scenario {
    let child = s.react(child, ChannelEvent::ChannelRead, Some("ping"), |t| t.reply("pong\n"));
    s.server(server(p, "server", child));
    s.client(client(p, "client", "server"));
    s.main()
        .bind("server")
        .wait("server", PATIENCE)
        .connect("client")
        .wait("client", PATIENCE)
        .until(p.duration("hello-at"));
    first(&mut s);
    s.main().until(p.duration("bye-at")).send("client", "ping\n");
    s
}

fn exception(p: &Params) -> Scenario {
    let mut s = loops(p);
    let child = s.react(HandlerSpec::reactor("failing"), ChannelEvent::ChannelRead, Some("boom"), |t| t.throw());
    with_ping(p, s, child, |s| _ = s.main().send("client", "boom\n"))
}

fn parent_close(p: &Params) -> Scenario {
    with_ping(p, loops(p), HandlerSpec::reactor("echo"), |s| _ = s.main().close("server"))
}

fn half_closure(p: &Params) -> Scenario {
    let mut s = loops(p);
    let stays =
        s.react(HandlerSpec::reactor("stays"), ChannelEvent::InputShutdown, None, |t| t.reply("still here\n"));
    s.server(server(p, "closing", HandlerSpec::reactor("closes")));
    s.server(ServerSpec { half_closure: true, ..server(p, "staying", stays) });
    s.client(client(p, "first", "closing"));
    s.client(client(p, "second", "staying"));
    let end = |channel: &str| Action::EndOutput { channel: channel.into() };
    s.main()
        .bind("closing")
        .bind("staying")
        .wait("closing", PATIENCE)
        .wait("staying", PATIENCE)
        .connect("first")
        .connect("second")
        .wait("first", PATIENCE)
        .wait("second", PATIENCE)
        .until(p.duration("hello-at"))
        .step(end("first"))
        .step(end("second"));
    s
}

fn embedded(p: &Params) -> Scenario {
    let mut s = Scenario::one_loop(p.duration("window"));
    let handlers = vec![HandlerSpec::reactor("recorder")];
    s.main().step(Action::Embed { handlers, messages: vec!["hello".into()] });
    s
}
