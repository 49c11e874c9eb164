//! The exit codes: what each means, and which one a run of probes ends with.

use crate::result::ProbeResult;
use crate::verdict::Verdict;

/// Nothing is broken.
pub const OK: u8 = 0;
/// A claim is broken.
pub const BROKEN: u8 = 1;
/// The call or an input was wrong, nothing was selected, or the output could not be written.
pub const USAGE: u8 = 2;
/// Something selected could not run, failed or timed out, or no claim was judged or observed.
pub const NOT_RUN: u8 = 3;
/// With `--strict`: something was inconclusive.
pub const INCONCLUSIVE: u8 = 4;
/// Interrupted, as shells report it: 128 + SIGINT. What was written until then is whole.
pub const INTERRUPTED: u8 = 130;

/// The code for some results. If several apply: [`BROKEN`], [`NOT_RUN`], [`INCONCLUSIVE`], in this order.
/// [`USAGE`] goes before all of them, but such a call has no results.
pub fn of(results: &[ProbeResult], strict: bool) -> u8 {
    let any = |verdict: Verdict| {
        results
            .iter()
            .any(|result| result.verdict == verdict || result.claims.iter().any(|c| c.verdict == verdict))
    };
    let judged = [Verdict::Holds, Verdict::Observed, Verdict::Inconclusive];
    if any(Verdict::Broken) {
        BROKEN
    } else if any(Verdict::Error) || any(Verdict::Timeout) || !judged.into_iter().any(any) {
        NOT_RUN
    } else if strict && any(Verdict::Inconclusive) {
        INCONCLUSIVE
    } else {
        OK
    }
}

/// What a code means, for the last line of a report and for the help.
pub const fn meaning(code: u8) -> &'static str {
    match code {
        OK => "nothing is broken",
        BROKEN => "a claim is broken",
        USAGE => "wrong call or input, nothing selected, or the output could not be written",
        NOT_RUN => "something could not run or timed out, or no claim was judged or observed",
        INCONCLUSIVE => "with --strict: something was inconclusive",
        INTERRUPTED => "interrupted",
        _ => "unknown",
    }
}

/// The codes, for the help.
pub const ALL: [u8; 6] = [OK, BROKEN, USAGE, NOT_RUN, INCONCLUSIVE, INTERRUPTED];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn code(verdicts: &[Verdict], strict: bool) -> u8 {
        of(&[testing::result_with(verdicts)], strict)
    }

    #[test]
    fn broken_goes_before_error_and_error_before_inconclusive() {
        use Verdict::*;
        assert_eq!(code(&[Holds, Observed], true), OK);
        assert_eq!(code(&[Holds, Error, Inconclusive, Broken], true), BROKEN);
        assert_eq!(code(&[Holds, Timeout, Inconclusive], true), NOT_RUN);
        assert_eq!(code(&[Holds, Inconclusive], true), INCONCLUSIVE);
        assert_eq!(code(&[Holds, Inconclusive], false), OK);
    }

    #[test]
    fn nothing_judged_is_no_success() {
        use Verdict::*;
        assert_eq!(of(&[], false), NOT_RUN);
        assert_eq!(code(&[], false), NOT_RUN);
        assert_eq!(code(&[Skipped, Unsupported], false), NOT_RUN);
        assert_eq!(code(&[Skipped, Unsupported, Observed], false), OK);
    }

    #[test]
    fn a_result_that_failed_without_claims_counts() {
        let mut failed = testing::result_with(&[]);
        failed.verdict = Verdict::Error;
        assert_eq!(of(&[testing::result_with(&[Verdict::Holds]), failed], false), NOT_RUN);
    }
}
