//! The values of the catalogue, worked out by hand: nothing here comes from a run.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// What each claim reads, by policy, with default parameters: from the catalogue, not from a run.
pub(super) fn catalogue() -> BTreeMap<(&'static str, &'static str), Vec<Value>> {
    let order = json!(["execute", "B", "C begins", "C ends", "D", "close listener"]);
    let order_linkd = json!(["execute", "B", "C begins", "C ends", "D"]);
    let refused = json!("refused: blocking operation");
    BTreeMap::from([
        (("netty", "TD-1"), vec![json!(true)]),
        (("netty", "TD-2"), vec![json!(0.0)]),
        (("netty", "TD-3"), vec![json!(0.0), json!(0.0)]),
        (("netty", "TD-4"), vec![json!(250.0)]),
        (("netty", "TD-5"), vec![json!(true)]),
        (("netty", "TD-6"), vec![order]),
        (("linkd", "TD-6"), vec![order_linkd]),
        (("linkd", "TD-4"), vec![json!(250.0)]),
        (("netty", "HD-1"), vec![json!(400.0)]),
        (("linkd", "HD-1"), vec![json!(400.0)]),
        (("linkd", "HD-2"), vec![json!(1), json!(500.0)]),
        (("linkd-listed", "HD-2"), vec![json!(0), json!(500.0)]),
        (("netty", "TP-1"), vec![json!(0.0)]),
        (("netty", "TP-2"), vec![json!(0.0)]),
        (
            ("netty", "TO-1"),
            vec![json!(["task 1", "task 2", "task 3", "first", "second", "last"])],
        ),
        (
            ("netty", "TO-2"),
            vec![json!(["first", "second", "third", "fourth"])],
        ),
        (
            ("netty", "TO-3"),
            vec![
                json!(["armed", "arming ends", "below zero", "zero"]),
                json!(0.0),
                json!(0.0),
            ],
        ),
        (("netty", "TO-5"), vec![json!(1), json!(1), json!(11)]),
        (("linkd", "TO-5"), vec![json!(1), json!(1), json!(11)]),
        (("linkd-listed", "TO-6"), vec![json!(0), json!(11)]),
        (("netty", "TO-7"), vec![json!(0), json!(2.0)]),
        (("linkd", "TO-7"), vec![json!(0), json!(2.0)]),
        (("linkd-listed", "TO-7"), vec![json!(1), json!(2.0)]),
        (("netty", "TO-8"), vec![json!(300.0), json!(500.0), json!(800.0)]),
        (("netty", "TS-1"), vec![json!("submit: done with submit-result")]),
        (("netty", "TS-2"), vec![json!(0.0), json!(0.0)]),
        (("netty", "TS-3"), vec![json!(3), json!(true)]),
        (("linkd", "TS-3"), vec![json!(3), json!(true)]),
        (
            ("netty", "EO-1"),
            vec![json!(["outer goes on", "outer ends", "change"])],
        ),
        (
            ("linkd", "EO-1"),
            vec![json!(["outer goes on", "outer ends", "change"])],
        ),
        (("netty", "EO-2"), vec![json!(1000), json!(0)]),
        (("netty", "EO-3"), vec![json!(3000), json!(0)]),
        (("netty", "EO-4"), vec![json!(1_000_000), json!(1)]),
        (("linkd", "EO-4"), vec![json!(1_000_000), json!(1)]),
        (
            ("netty", "EO-5"),
            vec![
                json!(["first", "nested", "second"]),
                json!(["first", "second", "nested"]),
                json!(1000),
                json!(1),
            ],
        ),
        (("netty", "EO-6"), vec![json!("state is 0"), json!("state is 1")]),
        (("linkd", "LD-1"), vec![json!(1), json!(4), json!(0), json!(0)]),
        (("linkd", "LD-2"), vec![json!(2.0)]),
        (("linkd", "LD-3"), vec![json!(0.0)]),
        (
            ("netty", "CA-1"),
            vec![json!(0), json!("cancelled"), json!(0), json!("cancelled")],
        ),
        (
            ("netty", "CA-2"),
            vec![
                json!("not cancelled: done or running"),
                json!("success"),
                json!("cancelled"),
                json!(1),
                json!(true),
            ],
        ),
        (
            ("netty", "CA-3"),
            vec![
                json!("not cancelled: done or running"),
                json!(200.0),
                json!("cancelled"),
                json!(40.0),
                json!("cancelled"),
                json!(200.0),
            ],
        ),
        (("netty", "CA-4"), vec![json!(3), json!(3)]),
        (("linkd", "CA-4"), vec![json!(3), json!(3)]),
        (("linkd", "TC-1"), vec![json!(100_000), json!(100_000)]),
        (("netty", "TC-2"), vec![json!(100_000), json!(1000)]),
        (("netty", "TC-3"), vec![json!(0), json!(10)]),
        (("linkd", "TC-3"), vec![json!(0), json!(10)]),
        (("netty", "CS-1"), vec![json!(1000.0), json!(0.0), json!(0.0)]),
        (
            ("netty", "CS-2"),
            vec![json!(61_000.0), json!(3_600_000.0), json!(-4500.0), json!(60)],
        ),
        (("netty", "WK-1"), vec![json!(0.0)]),
        (("netty", "WK-2"), vec![json!(0.0), json!(0.0)]),
        (("linkd", "WK-2"), vec![json!(1.0), json!(0.0)]),
        (("netty", "WK-3"), vec![json!(1000)]),
        (("netty", "WK-4"), vec![json!(100.0)]),
        // Two posts: p s R C D with the second p and s in any of its places are 10 schedules, p p s likewise 4; with C
        // and D exchanged only p s R D p s C loses.
        (("netty", "WK-5"), vec![json!(0), json!(1)]),
        (("linkd", "WK-5"), vec![json!(0), json!(1)]),
        (("netty", "WK-6"), vec![json!(0), json!(0), json!(0)]),
        (("netty", "WK-7"), vec![json!(2.0)]),
        (
            ("netty", "WK-8"),
            vec![
                json!({ "waits": 1, "wakeups": 1 }),
                json!({ "waits": 0, "wakeups": 0 }),
            ],
        ),
        (("netty", "FR-1"), vec![json!(9), json!(0.0)]),
        (("netty", "FR-2"), vec![json!(31)]),
        (("linkd", "FR-3"), vec![json!(21), json!(50.0)]),
        (("netty", "FR-4"), vec![json!(21), json!(50.0)]),
        (("netty", "FR-5"), vec![json!(80.0), json!(0.0)]),
        (("netty", "FR-6"), vec![json!(130.0)]),
        (("netty", "FR-7"), vec![json!(9), json!(1), json!(1)]),
        (("netty", "FR-8"), vec![json!("burst")]),
        (("linkd", "FR-8"), vec![json!("restart")]),
        (("netty", "FR-9"), vec![json!(10.0), json!(1010.0), json!(1010.0)]),
        (("linkd", "FR-9"), vec![json!(10.0), json!(1010.0), json!(1010.0)]),
        (("netty", "PP-1"), vec![json!("loop-1")]),
        (("netty", "PP-2"), vec![json!(1)]),
        (("linkd", "PP-2"), vec![json!(1)]),
        (("netty", "PP-3"), vec![json!(1)]),
        (("netty", "PP-4"), vec![json!(0), json!("failed")]),
        (("linkd", "PP-5"), vec![json!(6), json!(1)]),
        (("netty", "PP-6"), vec![json!(6), json!([1])]),
        (("netty", "PP-7"), vec![json!(1)]),
        (("netty", "PP-8"), vec![json!(1)]),
        (("netty", "BW-1"), vec![refused.clone(), json!(0.0)]),
        (("netty", "BW-2"), vec![json!("done")]),
        (("netty", "BW-3"), vec![refused.clone(), json!(0.0)]),
        (
            ("netty", "BW-4"),
            vec![refused, json!(0.0), json!("stopped at the limit"), json!(300.0)],
        ),
        (
            ("netty", "BW-5"),
            vec![json!("stopped at the limit"), json!(300.0)],
        ),
        (
            ("netty", "BW-6"),
            vec![
                json!("done"),
                json!("stopped at the limit"),
                json!("stopped at the limit"),
            ],
        ),
        (("linkd", "SL-1"), vec![json!(["slow task", "slow timer"])]),
        (("linkd-listed", "SL-1"), vec![json!([])]),
        (("linkd", "SL-2"), vec![json!(80.0), json!(80.0)]),
        (("netty", "SL-3"), vec![json!(0), json!(300.0), json!(299.0)]),
        (
            ("netty", "SR-1"),
            vec![
                json!(1),
                json!(19),
                json!(0.0),
                json!(0.0),
                json!(0.0),
                json!(0.0),
            ],
        ),
        (("netty", "QC-1"), vec![json!(100)]),
        (("netty", "QC-2"), vec![json!(84), json!(16), json!(0.0)]),
        (("netty", "QC-3"), vec![json!(4490.0), json!(4480.0), json!(0)]),
        (("netty", "QC-4"), vec![json!(4.0), json!(0), json!(100)]),
        (
            ("netty", "QC-6"),
            vec![
                json!([[0, 0, "started"], [100, 1, "started"], [0, 101, "started"]]),
                // 100 ms of block over 101 tasks, to the nanosecond.
                json!(0.990099),
            ],
        ),
        (("netty", "ST-1"), vec![json!("not-started"), json!(1), json!(4)]),
        (
            ("netty", "ST-2"),
            vec![json!([
                "not-started",
                "started",
                "shutting-down",
                "shut-down",
                "terminated"
            ])],
        ),
        (("linkd", "SD-1"), vec![json!(0), json!(0.0), json!(0)]),
        (("linkd-listed", "SD-1"), vec![json!(10), json!(10), json!(0)]),
        (("linkd", "SD-2"), vec![json!(0), json!(0), json!(1)]),
        (
            ("netty", "SD-3"),
            vec![
                json!(10),
                json!(2),
                json!(2000.0),
                json!(2000.0),
                json!(500.0),
                json!(1500.0),
                json!(1500.0),
            ],
        ),
        (("netty", "SD-4"), vec![json!(1), json!(0)]),
        // It has been quiet for longer than its quiet period when it is asked.
        (("netty", "SD-5"), vec![json!(0.0)]),
        (("linkd", "SD-5"), vec![json!(0.0)]),
        (("netty", "SD-6"), vec![json!(0), json!(3.0)]),
        (("netty", "SD-7"), vec![json!(0), json!(0)]),
        (("linkd", "SD-7"), vec![json!(0), json!(0)]),
        (
            ("netty41", "IO-1"),
            vec![json!(64), json!(64), json!(64), json!([0, 1])],
        ),
        // The arming task and the flood's behind it make 64, looked at first after 1000 (or 100): 1563 × 64 − 1 of
        // 0.01, 16 × 64 − 1 of 1, 63 of 50, 2 × 64 − 1 of 1; the timer then stands behind one more, and was due at 10.
        (
            ("netty", "IO-2"),
            vec![json!(990.32), json!(1014.0), json!(3190.0), json!(118.0)],
        ),
        (
            ("netty", "GE-1"),
            vec![
                json!(["globalEventExecutor-1-1", "globalEventExecutor-1-2"]),
                json!(1),
                json!(700.0),
            ],
        ),
        (
            ("netty", "GE-2"),
            vec![
                json!("globalEventExecutor-1: failed: unsupported operation"),
                json!(1),
            ],
        ),
        (("netty", "GE-3"), vec![json!(200.0)]),
    ])
}
