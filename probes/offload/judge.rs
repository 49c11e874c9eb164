//! What the traces of `offload` say: latencies and threads.

use loopprobe::probe::Evidence;
use loopprobe::readings::{Reading, Readings};
use loopprobe::trace::{Event, EventKind, Trace};
use serde_json::json;

use super::FOUR;

pub(super) fn judge(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    match e.case {
        "on-loop" => {
            latency(t, r, "OF-1", "fast");
            active_after_connect(t, r);
        }
        "group" => {
            latency(t, r, "OF-3", "fast").note("fast");
            latency(t, r, "OF-3", "slow").note("slow");
            let seen: Vec<_> = ["server#1", "server#2"].iter().map(|channel| threads(t, channel)).collect();
            r.exact("OF-4", json!(seen), json!([["business-1"], ["business-2"]]));
            let in_loop = handler_events(t, "server#1").filter(|event| event.in_loop).count();
            r.fact("OF-4", in_loop, 0).note("callbacks that were in the loop");
        }
        "group-of-one" => _ = latency(t, r, "OF-5", "fast"),
        "four" => judge_four(t, r),
        "dispatch" => r_threads(t, r, "OF-8", &[("work", "business-1"), ("write back", "worker-1")]),
        "async" => {
            r_threads(t, r, "OF-9", &[("continuation", "business-1"), ("continuation on the loop", "worker-1")]);
        }
        _ => {
            let posts = usize::try_from(e.params.count("posts")).unwrap_or(usize::MAX);
            let pending = t.loops.first().map(|counters| counters.pending_tasks);
            r.exact("OF-10", pending, posts as u64);
        }
    }
}

/// From a client's message to its answer.
fn latency<'r>(t: &Trace, r: &'r mut Readings, id: &'static str, client: &str) -> &'r mut Reading {
    let sent = t.on_channel(client).find(|event| event.event == EventKind::Sent);
    let answer = t.on_channel(client).find(|event| event.event == EventKind::ChannelRead);
    between(r, id, sent, answer)
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

fn active_after_connect(t: &Trace, r: &mut Readings) {
    let connected = t.on_channel("fast").find(|event| event.event == EventKind::ChannelActive);
    let active = t.on_channel("server#2").find(|event| event.event == EventKind::ChannelActive);
    between(r, "OF-2", connected, active);
}

fn handler_events<'a>(t: &'a Trace, channel: &'a str) -> impl Iterator<Item = &'a Event> {
    t.on_channel(channel).filter(|event| event.event.word().starts_with("channel"))
}

fn threads(t: &Trace, channel: &str) -> Vec<String> {
    let mut threads: Vec<String> = handler_events(t, channel).map(|event| event.thread.to_string()).collect();
    threads.sort();
    threads.dedup();
    threads
}

fn judge_four(t: &Trace, r: &mut Readings) {
    let channels: Vec<String> = (1..=FOUR.len()).map(|which| format!("server#{which}")).collect();
    let mut begun: Vec<&Event> = channels
        .iter()
        .filter_map(|channel| t.on_channel(channel).find(|event| event.event == EventKind::ChannelRead))
        .collect();
    begun.sort_by_key(|event| event.at);
    // The first of the second wave, counted from the first of all.
    between(r, "OF-6", begun.first().copied(), begun.get(2).copied());
    let order = |channel: &String| -> String {
        let reads = t.on_channel(channel).filter(|event| event.event == EventKind::ChannelRead);
        reads.filter_map(|event| event.note.as_deref()).map(str::to_string).collect()
    };
    r.exact("OF-7", json!(channels.iter().map(order).collect::<Vec<_>>()), json!(vec!["abc"; 4]));
    let pinned: Vec<Vec<String>> = channels.iter().map(|channel| threads(t, channel)).collect();
    r.exact("OF-7", json!(pinned), json!([["business-1"], ["business-2"], ["business-1"], ["business-2"]]))
        .note("the threads of each channel");
}

fn r_threads(t: &Trace, r: &mut Readings, id: &'static str, wanted: &[(&str, &str)]) {
    let thread = |(task, _): &(&str, &str)| t.start(task).map(|event| event.thread.to_string());
    let seen: Vec<Option<String>> = wanted.iter().map(thread).collect();
    r.exact(id, json!(seen), json!(wanted.iter().map(|(_, thread)| *thread).collect::<Vec<_>>()));
}
