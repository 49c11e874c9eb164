//! The list of probes, handed to the library's command line. One file per probe beside this one.

mod fixed_rate_catchup;
mod heartbeat_delay;
mod lifecycle;
mod offload;
mod periodic_panic;
mod reconnect_backoff;
mod timer_delay;
mod timer_precision;

use loopprobe::probe::Probe;

/// All probes, in the order in which `all` runs and `list` shows them.
const PROBES: &[&Probe] = &[
    &timer_delay::PROBE,
    &heartbeat_delay::PROBE,
    &timer_precision::PROBE,
    &fixed_rate_catchup::PROBE,
    &periodic_panic::PROBE,
    &reconnect_backoff::PROBE,
    &offload::PROBE,
    &lifecycle::PROBE,
];

fn main() -> std::process::ExitCode {
    loopprobe::cli::main(PROBES)
}

#[cfg(test)]
mod tests;
