//! The built-in loop as a subject: carries a scenario out, in real or in virtual time, and gives the trace.

mod channels;
mod crew;
mod entrance;
mod env;
mod futures;
mod hand_over;
mod interpret;
mod loops;
mod net;
mod stage;
mod tally;

use std::time::Duration;

use thiserror::Error;

use crate::policy::Policy;
use crate::result::Noise;
use crate::scenario::{Scenario, ScenarioError};
use crate::trace::Trace;
use crate::world::Stuck;

pub use stage::{run_real, run_virtual};

use crate::scenario::Model;
use crate::wakeup_model;

/// The version of the built-in loop that results carry.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What came of a scenario.
#[derive(Debug)]
pub struct Outcome {
    /// What happened.
    pub trace: Trace,
    /// What the machine did meanwhile; none in virtual time.
    pub noise: Option<Noise>,
}

/// Why a scenario could not be carried out.
#[derive(Debug, Error)]
pub enum RunError {
    /// It makes no sense.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The policy lacks something that it needs.
    #[error("the loop has no {what}")]
    Unsupported {
        /// What is missing.
        what: &'static str,
    },
    /// The operating system refused something.
    #[error("the system refused {what}: {error}")]
    System {
        /// What was asked of it.
        what: &'static str,
        /// Its answer.
        error: std::io::Error,
    },
    /// The process may not open as many descriptors as the clients need.
    #[error(
        "{needed} descriptors are needed and {limit} are allowed; raise the limit (ulimit -n {needed}) or ask for fewer clients"
    )]
    Descriptors {
        /// How many the scenario needs.
        needed: u64,
        /// How many the process may have.
        limit: u64,
    },
    /// A judge read a claim that the probe doesn't have, or left one out: a defect of the probe.
    #[error("the judge's readings and the claims of case {case} differ at {id}; this is a defect of the probe")]
    Judge {
        /// The claim's id.
        id: String,
        /// The case.
        case: &'static str,
    },
    /// Virtual time can't go on.
    #[error(transparent)]
    Stuck(#[from] Stuck),
    /// A thread did not end within the limit.
    #[error("{thread} had not ended {} after the start", humantime::format_duration(*limit))]
    Timeout {
        /// The thread.
        thread: String,
        /// The limit.
        limit: Duration,
    },
}

/// What exploring a model came to, as a trace.
fn explore(model: &Model, policy: &Policy) -> Outcome {
    let Model::Wakeup { posts } = model;
    Outcome { trace: wakeup_model::trace(policy.wake, *posts), noise: None }
}

/// Checks that a policy can carry a scenario out.
///
/// # Errors
/// The scenario's own error, or what the policy lacks.
pub fn check(scenario: &Scenario, policy: &Policy) -> Result<(), RunError> {
    scenario.check()?;
    env::supports(scenario, policy)
}
