//! The values of the choices about a loop's thread, its queue, its end and the waits on it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::time::millis;

/// What becomes of a task for which a bounded queue has no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FullQueue {
    /// The submission is refused at once (Netty's `RejectedExecutionHandlers.reject`).
    Refuses,
    /// It is taken and never runs (the JDK's `DiscardPolicy`).
    Discards,
}

/// When a loop that the scenario leaves unstarted gets its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadStart {
    /// By the first task, however many threads race to give it (Netty's `startThread`).
    FirstTask,
    /// Together with the loop.
    WithLoop,
}

/// What a shutdown does to the tasks and timers that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// Tasks run, timers are cancelled, tasks are taken until a quiet period is over (Netty's `shutdownGracefully`).
    Graceful,
    /// Nothing that waits runs any more (text D's words).
    DropsQueue,
    /// The turn under way ends as any other, and no further one begins (text D's listing).
    EndsTurn,
}

/// What becomes of a task that is given to a loop which has shut down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LateTask {
    /// It is refused; one that got into the queue in between is taken out of it and refused (Netty).
    Refused,
    /// Nothing, without a word (text D's `execute`).
    Ignored,
}

/// Which waits for a future a loop's thread refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoopWait {
    /// Those for an incomplete future of the same loop (Netty's `checkDeadLock`).
    RefusedForOwn,
    /// Those for any incomplete future, whoever must complete it.
    RefusedForAny,
    /// Those for any future of the same loop, complete or not.
    RefusedEvenDone,
    /// None: they block.
    Allowed,
}

/// How long a drain of the queue may go on before I/O and timers get their turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskSlice {
    /// For this long, 100 ms at least (Netty 4.2).
    Time {
        /// The slice.
        #[serde(rename = "slice_ms", with = "millis")]
        slice: Duration,
    },
    /// For the time that I/O took × (100 − ratio) ÷ ratio; at 100 without end (Netty 4.1).
    Share {
        /// The share of I/O in percent, 1 to 100.
        io_ratio: u8,
    },
    /// Until the queue is empty, with what its tasks put into it (text D).
    Unlimited,
    /// As many tasks as waited when it began.
    WhatWaits,
}

/// How long the global executor's thread lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobalLife {
    /// Until a tick of a task of its own, one every second, finds nothing else to do (Netty's `quietPeriodTask`).
    UntilQuiet,
    /// As long as the program.
    Forever,
}

/// What a shutdown of the global executor does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobalShutdown {
    /// Nothing: its future has failed (Netty).
    Unsupported,
    /// What it does to a loop.
    Supported,
}
