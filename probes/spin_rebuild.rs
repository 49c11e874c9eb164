//! A poller that returns for nothing, again and again.

use std::time::Duration;

use loopprobe::params::{Params, count};
use loopprobe::probe::{
    Case, CaseTime, Claim, Evidence, Family, Kind, LINKD, NETTY, Probe, Source, Text, TextValue, Unit,
};
use loopprobe::readings::Readings;
use loopprobe::scenario::{EmptyReturns, Scenario, Steps, task};
use loopprobe::time::Time;

const MS: Duration = Duration::from_millis(1);
/// When the returns for nothing begin.
const FROM: Duration = Duration::from_millis(10);
/// When a task is posted behind them.
const POSTED: Duration = Duration::from_millis(20);
/// When the timer is due.
const DUE: Duration = Duration::from_millis(50);

pub(crate) const PROBE: Probe = Probe {
    name: "spin-rebuild",
    version: 1,
    about: "A poller that returns for nothing is made anew, or the loop spins",
    family: Family::Failures,
    source: Source::new(Text::C, "EventLoop 的三件事"),
    params: &[
        count("returns", 600, "how often the poller of the first loop returns for nothing"),
        count("endless", 10_000, "how often that of the second does: the cause outlives the first new poller")
            .quick("1100"),
    ],
    cases: &[Case {
        name: "main",
        about: "two loops with a timer each, whose pollers return for nothing before a task is posted",
        scenario,
        time: CaseTime::VirtualOnly,
    }],
    claims: &[
        Claim {
            id: "SR-1",
            statement: "after 512 returns for nothing in a row the poller is made anew, and after as many again once more; what was registered survives (new pollers of either loop; the task posted then, ms late; the timer armed before, ms late)",
            policies: NETTY,
            unit: Some(Unit::Count),
            text: Some(TextValue::Words("rebuilt at 512")),
            ..Claim::DEFAULT
        },
        Claim {
            id: "SR-2",
            statement: "without that guard the loop spins: how often the poller was asked, with no work to do (either loop; new pollers)",
            policies: LINKD,
            kind: Kind::Observed,
            unit: Some(Unit::Count),
            ..Claim::DEFAULT
        },
    ],
    judge,
};

const LOOPS: [&str; 2] = ["loop-1", "loop-2"];

fn scenario(p: &Params) -> Scenario {
    let mut s = Scenario::loops(&LOOPS, DUE.saturating_add(10 * MS));
    for (on, returns) in LOOPS.iter().zip(["returns", "endless"]) {
        s.environment.spurious_returns.push(EmptyReturns {
            on: (*on).into(),
            from: Time::ZERO.after(FROM),
            count: p.count(returns),
        });
    }
    s.main()
        .schedule(DUE, task("timer 1"))
        .schedule_on("loop-2", DUE, task("timer 2"))
        .until(POSTED)
        .execute(task("task 1"))
        .execute_on("loop-2", task("task 2"));
    s
}

fn judge(e: &Evidence<'_>, r: &mut Readings) {
    let t = e.trace;
    if e.policy == loopprobe::policy::PolicyName::Netty || e.policy == loopprobe::policy::PolicyName::Netty41 {
        for (counters, returns) in t.loops.iter().zip(["returns", "endless"]) {
            let returns = e.params.count(returns);
            r.exact("SR-1", counters.rebuilds, returns / 512)
                .note(format!("new pollers of {} for {returns} returns", counters.name));
        }
        for task in ["task 1", "task 2"] {
            let late = t.start(task).map(|start| start.at.millis_from(Time::ZERO.after(POSTED)));
            r.near("SR-1", late).note(task);
        }
        for timer in ["timer 1", "timer 2"] {
            r.near("SR-1", t.lateness(timer)).note(timer);
        }
    } else {
        for counters in &t.loops {
            r.observed("SR-2", counters.polls)
                .note(format!("polls of {}, {} new pollers", counters.name, counters.rebuilds));
        }
    }
}
