//! Behaviour probes for event loops.
//!
//! Data flows one way: a probe's parameters make a [`scenario`], a loop under test carries it out and leaves a
//! [`trace`], the probe's judge makes [`readings`] of it, [`verdict`] turns those into what is said of each claim,
//! and [`result`] is what is written as JSON and printed.

pub mod backoff;
pub mod builtin;
pub mod calendar;
pub mod channel;
pub mod choice;
pub mod cli;
pub mod clock;
pub mod control;
pub mod event_loop;
pub mod fault;
pub mod machine;
pub mod missed;
pub mod net;
pub mod output;
pub mod params;
pub mod permits;
pub mod policy;
pub mod poller;
pub mod probe;
pub mod promise;
pub mod random;
pub mod readings;
pub mod reconnect;
pub mod recorder;
pub mod render;
pub mod result;
pub mod run;
pub mod scenario;
pub mod session;
pub mod stats;
pub mod sys;
#[cfg(test)]
mod testing;
pub mod time;
pub mod trace;
pub mod verdict;
pub mod wakeup_model;
pub mod world;
