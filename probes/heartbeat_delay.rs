//! A blocking task holds a heartbeat up, and the slow-task watch names it.

use std::time::Duration;

use loopprobe::params::{Params, millis};
use loopprobe::policy::PolicyName;
use loopprobe::probe::{
    Case, CaseTime, Claim, Evidence, Family, LINKD_AND_LISTED, Probe, Source, Stance, Text, TextValue, Unit,
};
use loopprobe::readings::Readings;
use loopprobe::scenario::{Scenario, Steps, task};

pub(crate) const PROBE: Probe = Probe {
    name: "heartbeat-delay",
    version: 1,
    about: "A blocking task holds up a heartbeat that is due meanwhile",
    family: Family::Timers,
    source: Source::new(Text::D, "一次阻塞，所有定时器一起迟到"),
    params: &[
        millis("heartbeat-due", 200, "when the heartbeat is due"),
        millis("submit-at", 100, "when the blocking task is given to the loop"),
        millis("block", 500, "how long it blocks the loop").quick("250ms"),
    ],
    cases: &[Case {
        name: "main",
        about: "a heartbeat timer and a task that blocks across its deadline",
        scenario,
        time: CaseTime::Both,
    }],
    claims: &[
        Claim {
            id: "HD-1",
            statement: "the heartbeat runs right after the blocking task ends: its lateness",
            unit: Some(Unit::Ms),
            text: Some(TextValue::Words("task 136 to 653, heartbeat at 654")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "HD-2",
            statement: "the slow task is named in one warning with its duration; it is not interrupted",
            policies: LINKD_AND_LISTED,
            text: Some(TextValue::Words("one warning, \"slow task\" and its ms")),
            stance: Stance::Refuted {
                claims: "a task over the threshold of 50 ms is reported",
                truth: "true of the words; the listing defines the watch and never calls it, so it warns of nothing",
            },
            ..Claim::DEFAULT
        },
    ],
    judge,
};

fn scenario(p: &Params) -> Scenario {
    let busy_until = p.duration("submit-at").saturating_add(p.duration("block"));
    let last = busy_until.max(p.duration("heartbeat-due"));
    let mut s = Scenario::one_loop(last.saturating_add(Duration::from_millis(50)));
    s.main()
        .schedule(p.duration("heartbeat-due"), task("heartbeat"))
        .until(p.duration("submit-at"))
        .execute(task("blocking task").block(p.duration("block")));
    s
}

fn judge(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    let reading = r.near("HD-1", t.lateness("heartbeat"));
    if let (Some(task), Some(heartbeat)) = (t.start("blocking task"), t.start("heartbeat")) {
        reading.rests_on(task.at, heartbeat.at);
    }
    if matches!(e.policy, PolicyName::Linkd | PolicyName::LinkdListed) {
        // What is on the page decides: text D's watch warns above 50 ms, its listing never.
        let warns = e.policy == PolicyName::Linkd && e.params.duration("block") > Duration::from_millis(50);
        let seen = t.warnings("blocking task").count();
        let words = t.warnings("blocking task").next().and_then(|event| event.note.clone());
        let reading = r.exact("HD-2", seen, usize::from(warns));
        if let Some(words) = words {
            reading.note(words.to_string());
        }
        let ran =
            t.start("blocking task").zip(t.end("blocking task")).map(|(start, end)| end.at.millis_from(start.at));
        let least = loopprobe::time::duration_millis(e.params.duration("block"));
        r.at_least("HD-2", ran, least).note("how long it ran, in ms: never less than its block");
    }
}
