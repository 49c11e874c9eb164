//! The control's line: what the machine did to everybody while a run was going on.

use std::fmt::Write;

use crate::result::{Noise, ProbeResult, Run};

/// The line of one run; empty in virtual time.
pub(super) fn line(run: &Run) -> String {
    let Some(noise) = &run.noise else {
        return String::new();
    };
    let mut text = format!(
        "control: {} {} every {} ms, longest stall {:.2} ms",
        sentinels(noise.sentinels),
        if noise.pinned { "pinned" } else { "not pinned (a stall of one CPU may go unseen)" },
        noise.period_ms,
        noise.longest_stall_ms
    );
    if let Some(ms) = noise.run_queue_ms {
        let _ = write!(text, ", {ms:.2} ms in the run queue");
    }
    if let Some(switches) = noise.involuntary_switches {
        let _ = write!(text, ", {switches} involuntary switches");
    }
    if let Some(ms) = noise.throttled_ms {
        let _ = write!(text, ", throttled {ms:.2} ms");
    }
    let _ = writeln!(text, "; {}", disturbances(noise));
    text
}

fn sentinels(n: usize) -> String {
    match n {
        1 => "1 sentinel".into(),
        n => format!("{n} sentinels"),
    }
}

fn disturbances(noise: &Noise) -> String {
    match noise.disturbed.as_slice() {
        [] => "nothing disturbed the run".into(),
        [first, more @ ..] => {
            let (from, to) = (first.stretch.from, first.stretch.to);
            let more = match more.len() {
                0 => String::new(),
                n => format!(" and {n} more"),
            };
            format!("disturbed from {from} to {to} ms ({}){more}", first.seen_by)
        }
    }
}

/// One line over all runs; empty for one run or in virtual time.
pub(super) fn over_runs(result: &ProbeResult) -> String {
    let noises: Vec<&Noise> = result.runs.iter().filter_map(|run| run.noise.as_ref()).collect();
    if noises.len() < 2 {
        return String::new();
    }
    let disturbed = noises.iter().filter(|noise| !noise.disturbed.is_empty()).count();
    let longest = noises.iter().map(|noise| noise.longest_stall_ms).fold(0.0, f64::max);
    format!("over {} runs: {disturbed} disturbed, longest stall {longest:.2} ms\n", noises.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readings::Stretch;
    use crate::result::Disturbance;
    use crate::testing::{result_with, run};
    use crate::time::Time;

    fn noisy(stall: f64) -> Run {
        let mut run = run(Vec::new());
        run.noise = Some(Noise {
            pinned: true,
            sentinels: 2,
            period_ms: 1.0,
            longest_stall_ms: stall,
            disturbed: vec![Disturbance {
                stretch: Stretch { from: Time::from_nanos(1_000_000), to: Time::from_nanos(3_500_000) },
                seen_by: "cpu 0".into(),
            }],
            ..Noise::default()
        });
        run
    }

    #[test]
    fn what_the_system_does_not_tell_is_left_out() {
        assert_eq!(
            line(&noisy(2.5)),
            "control: 2 sentinels pinned every 1 ms, longest stall 2.50 ms; \
             disturbed from 1.00 to 3.50 ms (cpu 0)\n"
        );
        assert_eq!(line(&run(Vec::new())), "");
    }

    #[test]
    fn several_runs_are_summed_up() {
        let mut result = result_with(&[]);
        result.runs = vec![noisy(2.5)];
        assert_eq!(over_runs(&result), "");
        result.runs.push(noisy(4.0));
        assert_eq!(over_runs(&result), "over 2 runs: 2 disturbed, longest stall 4.00 ms\n");
    }
}
