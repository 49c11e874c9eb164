//! What the traces of `lifecycle` say: callbacks, their order and their threads.

use loopprobe::probe::Evidence;
use loopprobe::readings::Readings;
use loopprobe::trace::{Event, EventKind, Trace};
use serde_json::json;

pub(super) fn judge(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    match e.case {
        "main" => judge_conversation(t, r),
        "exception" => {
            r.exact("LC-9", t.on_channel("server#1").filter(|event| event.event == EventKind::Warned).count(), 1);
            r.exact("LC-9", texts_read(t, "client"), json!(["pong"])).note("what the client reads afterwards");
        }
        "parent-close" => _ = r.exact("LC-10", texts_read(t, "client"), json!(["pong"])),
        "half-closure" => {
            let closing = kinds_after(t, "closing#1", EventKind::ChannelActive);
            r.exact(
                "LC-11",
                closing,
                json!(["channelReadComplete", "channelInactive", "channelUnregistered", "handlerRemoved"]),
            )
            .note("by default");
            let staying = kinds_after(t, "staying#1", EventKind::ChannelActive);
            r.exact("LC-11", staying, json!(["channelReadComplete", "inputShutdown", "sent"])).note("allowed");
            r.exact("LC-11", texts_read(t, "second"), json!(["still here"])).note("what the client still reads");
        }
        _ => {
            let expected = [
                "handlerAdded",
                "channelRegistered",
                "channelActive",
                "channelRead",
                "channelReadComplete",
                "channelInactive",
                "channelUnregistered",
                "handlerRemoved",
            ];
            r.exact("LC-12", callbacks(t, "embedded"), json!(expected));
        }
    }
}

fn judge_conversation(t: &Trace, r: &mut Readings) {
    let child = callbacks(t, "server#1");
    let expected = [
        "handlerAdded",
        "channelRegistered",
        "channelActive",
        "channelRead",
        "channelRead",
        "channelReadComplete",
        "channelRead",
        "channelReadComplete",
        "channelInactive",
        "channelUnregistered",
        "handlerRemoved",
    ];
    r.exact("LC-1", child, json!(expected));
    r.exact("LC-2", json!([threads(t, "server#1"), threads(t, "server")]), json!([["worker-1"], ["boss-1"]]));
    let seen = t.on_channel("server").find(|event| event.event == EventKind::ChannelRead);
    let added = t.on_channel("server#1").find(|event| event.event == EventKind::HandlerAdded);
    let before = seen.zip(added).map(|(seen, added)| position(t, seen) < position(t, added));
    r.exact("LC-3", before, Some(true)).note("seen by the parent before it is added");
    r.exact("LC-3", answers(t, "server"), json!(["it has no loop yet"]));
    let completes =
        |channel: &str| callbacks(t, channel).into_iter().filter(|kind| kind == "channelReadComplete").count();
    let first: Vec<String> = callbacks(t, "server#1").into_iter().skip(3).take(3).collect();
    r.exact("LC-4", first, json!(["channelRead", "channelRead", "channelReadComplete"]));
    // Two answers in one or two batches, "byebye" in one; then the end of the stream.
    let last: Vec<String> = callbacks(t, "client").into_iter().rev().skip(3).take(3).collect();
    r.exact("LC-4", last, json!(["channelReadComplete", "channelReadComplete", "channelRead"]))
        .note(format!("at the end of the stream, the last first ({} read-completes in all)", completes("client")));
    let beginning: Vec<String> = kinds(t.on_channel("client")).into_iter().take(4).collect();
    r.exact("LC-5", beginning, json!(["handlerAdded", "channelRegistered", "future-done", "channelActive"]));
    let known = "the remote address is known";
    r.exact("LC-6", answers_about_address(t), json!([known, known]));
    r.exact("LC-6", callbacks(t, "server#1").pop(), Some("handlerRemoved")).note("the last callback");
    r.exact(
        "LC-7",
        closing(t),
        json!([
            "socket closed",
            "close future",
            "close()",
            "close returned",
            "channelInactive",
            "channelUnregistered",
            "handlerRemoved"
        ]),
    );
    let late = t.of("late write").find(|event| event.event == EventKind::FutureDone);
    r.exact("LC-8", late.and_then(|event| event.note.as_deref()), Some("failed: the channel is closed"));
    r.exact("LC-8", t.marks("write returned").count(), 1).note("the call returned");
    let parent: Vec<String> = kinds(t.on_channel("server")).into_iter().skip(1).take(3).collect();
    let parent: Vec<&str> = parent.iter().map(|kind| if kind == "future-done" { "bound" } else { kind }).collect();
    r.exact("LC-13", parent, json!(["channelRegistered", "bound", "channelActive"]));
}

fn is_callback(event: &Event) -> bool {
    let word = event.event.word();
    word.starts_with("channel")
        || word.starts_with("handler")
        || word == "inputShutdown"
        || word == "exceptionCaught"
}

fn kinds<'a>(events: impl Iterator<Item = &'a Event>) -> Vec<String> {
    let wanted =
        |event: &&Event| is_callback(event) || (event.event == EventKind::FutureDone && event.task.is_none());
    events.filter(wanted).map(|event| event.event.word().to_string()).collect()
}

fn callbacks(t: &Trace, channel: &str) -> Vec<String> {
    t.on_channel(channel).filter(|event| is_callback(event)).map(|event| event.event.word().to_string()).collect()
}

fn kinds_after(t: &Trace, channel: &str, first: EventKind) -> Vec<String> {
    let events = t.on_channel(channel).skip_while(|event| event.event != first).skip(1);
    events.map(|event| event.event.word().to_string()).collect()
}

fn threads(t: &Trace, channel: &str) -> Vec<String> {
    let mut threads: Vec<String> =
        t.on_channel(channel).filter(|e| is_callback(e)).map(|e| e.thread.to_string()).collect();
    threads.sort();
    threads.dedup();
    threads
}

fn texts_read(t: &Trace, channel: &str) -> Vec<String> {
    let reads = t.on_channel(channel).filter(|event| event.event == EventKind::ChannelRead);
    reads.filter_map(|event| event.note.as_deref()).map(str::to_string).collect()
}

fn answers(t: &Trace, channel: &str) -> Vec<String> {
    let answers = t.on_channel(channel).filter(|event| event.event == EventKind::Answered);
    answers.filter_map(|event| event.note.as_deref()).map(str::to_string).collect()
}

fn answers_about_address(t: &Trace) -> Vec<String> {
    answers(t, "server#1").into_iter().filter(|answer| answer.contains("address")).collect()
}

/// What followed the close, in order.
fn closing(t: &Trace) -> Vec<&'static str> {
    let steps = t.on_channel("server#1").filter_map(|event| {
        match (event.event, event.task.as_deref(), event.note.as_deref()) {
            (EventKind::Answered, Some("closed"), Some("the socket is closed")) => Some("socket closed"),
            (EventKind::Start, Some("closed"), _) => Some("close future"),
            (EventKind::Start, Some("close done"), _) => Some("close()"),
            (EventKind::Mark, _, Some("close returned")) => Some("close returned"),
            (EventKind::ChannelInactive, ..) => Some("channelInactive"),
            (EventKind::ChannelUnregistered, ..) => Some("channelUnregistered"),
            (EventKind::HandlerRemoved, ..) => Some("handlerRemoved"),
            _ => None,
        }
    });
    let mut steps: Vec<&'static str> = steps.collect();
    // The close future's listener is what asks whether the socket is closed: an answer of "closed" means before it.
    if let Some(at) = steps.iter().position(|step| *step == "socket closed")
        && at > 0
        && steps[at - 1] == "close future"
    {
        steps.swap(at - 1, at);
    }
    steps
}

fn position(t: &Trace, event: &Event) -> usize {
    t.events.iter().position(|other| std::ptr::eq(other, event)).unwrap_or(usize::MAX)
}
