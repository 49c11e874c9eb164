//! Runs one case of a probe under one policy and judges it.

use std::time::Duration;

use crate::fault::Fault;
use crate::params::Params;
use crate::policy::PolicyName;
use crate::probe::{Case, Probe};
use crate::result::ProbeResult;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The probe.
    pub probe: &'static Probe,
    /// Its case.
    pub case: &'static Case,
    /// The policy.
    pub policy: PolicyName,
    /// The defect to put in.
    pub fault: Option<&'static Fault>,
    /// In virtual time.
    pub virtual_time: bool,
    /// How often; at least 1.
    pub runs: usize,
    /// What counts as on time.
    pub tolerance: Duration,
    /// After how long a run is called stuck; absent: twice its window and 10 s.
    pub limit: Option<Duration>,
    /// The seed of everything random.
    pub seed: u64,
    /// The parameters.
    pub params: &'a Params,
    /// Whether `--quick` chose them.
    pub quick: bool,
}

/// Runs it. Whatever goes wrong is in the result: its verdict is then `error` or `timeout`.
pub fn run_case(request: &Request<'_>) -> ProbeResult {
    let _ = request;
    unimplemented!("being written")
}
