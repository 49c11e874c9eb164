//! The list of probes, handed to the library's command line. One file per probe beside this one.

mod blocking_wait;
mod cancel;
mod clock_step;
mod execute_order;
mod fixed_rate_catchup;
mod global_executor;
mod heartbeat_delay;
mod io_share;
mod lifecycle;
mod loop_demo;
mod offload;
mod periodic_panic;
mod queue_capacity;
mod reconnect_backoff;
mod shutdown;
mod slow_task;
mod spin_rebuild;
mod task_scheduling;
mod thread_start;
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
    &blocking_wait::PROBE,
    &slow_task::PROBE,
    &spin_rebuild::PROBE,
    &execute_order::PROBE,
    &wakeup::PROBE,
    &loop_demo::PROBE,
    &queue_capacity::PROBE,
    &thread_start::PROBE,
    &shutdown::PROBE,
    &io_share::PROBE,
    &global_executor::PROBE,
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
