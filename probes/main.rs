//! The binary: the list of probes, handed to the library's command line.

use std::process::ExitCode;

use loopprobe::probe::Probe;

/// All probes, in the order in which they are listed and run.
static PROBES: &[&Probe] = &[];

fn main() -> ExitCode {
    loopprobe::cli::main(PROBES)
}

#[cfg(test)]
mod tests {
    use super::PROBES;

    #[test]
    fn the_command_line_is_sound() {
        loopprobe::cli::command(PROBES).debug_assert();
    }
}
