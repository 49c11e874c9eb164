//! What the traces of `reconnect-backoff` say: attempts, delays and how they are spread.

use std::collections::BTreeMap;
use std::time::Duration;

use loopprobe::backoff::{Backoff, Jitter};
use loopprobe::params::Params;
use loopprobe::policy::PolicyName;
use loopprobe::probe::Evidence;
use loopprobe::readings::{Better, Reading, Readings};
use loopprobe::time::{Time, duration_millis};
use loopprobe::trace::{Event, EventKind, Trace};
use serde_json::json;

use super::{ENOUGH, attempts, shift};

/// The width of a wave's bins.
const BIN_MS: f64 = 10.0;

pub(super) fn judge(e: &Evidence<'_>, r: &mut Readings) {
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
    let mut by_client: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
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
    let mut bins: BTreeMap<i64, usize> = BTreeMap::new();
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
