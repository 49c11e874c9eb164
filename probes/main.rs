//! The list of probes, handed to the library's command line. One file per probe beside this one.

mod cancel;
mod clock_step;
mod execute_order;
mod fixed_rate_catchup;
mod heartbeat_delay;
mod lifecycle;
mod loop_demo;
mod offload;
mod periodic_panic;
mod reconnect_backoff;
mod task_scheduling;
mod timer_churn;
mod timer_delay;
mod timer_order;
mod timer_precision;
mod wakeup;

use loopprobe::probe::Probe;

/// All probes, in the order in which `all` runs and `list` shows them.
const PROBES: &[&Probe] = &[
    &timer_delay::PROBE,
    &heartbeat_delay::PROBE,
    &timer_precision::PROBE,
    &timer_order::PROBE,
    &fixed_rate_catchup::PROBE,
    &task_scheduling::PROBE,
    &timer_churn::PROBE,
    &clock_step::PROBE,
    &periodic_panic::PROBE,
    &execute_order::PROBE,
    &wakeup::PROBE,
    &loop_demo::PROBE,
    &cancel::PROBE,
    &reconnect_backoff::PROBE,
    &offload::PROBE,
    &lifecycle::PROBE,
];

fn main() -> std::process::ExitCode {
    loopprobe::cli::main(PROBES)
}

#[cfg(test)]
mod tests;
