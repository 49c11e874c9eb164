//! One named choice of a policy, as a scenario can ask for it: a counter-example beside the right way in the same run.
//!
//! A loop of a scenario carries a list of them, applied in order to the policy that the run was asked for, after any
//! fault: what the scenario says about a loop stays so, and a fault changes the rest.

use serde::{Deserialize, Serialize};

use crate::policy::{Cancelled, Policy, RunningCancel, Submission, TimerClock, WakeUp};

/// A choice and its value; in files an object with one key, as in `{"wake": "never"}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// Where a task given to `execute` runs.
    Submission(Submission),
    /// When posts wake the loop.
    Wake(WakeUp),
    /// Which clock timers are kept by.
    Clock(TimerClock),
    /// What becomes of a cancelled timer or task.
    Cancelled(Cancelled),
    /// What a cancel does to a task that runs.
    RunningCancel(RunningCancel),
}

impl Choice {
    /// The policy with this choice made.
    pub fn apply(self, policy: Policy) -> Policy {
        match self {
            Choice::Submission(submission) => Policy { submission, ..policy },
            Choice::Wake(wake) => Policy { wake, ..policy },
            Choice::Clock(clock) => Policy { clock, ..policy },
            Choice::Cancelled(cancelled) => Policy { cancelled, ..policy },
            Choice::RunningCancel(running_cancel) => Policy { running_cancel, ..policy },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::PolicyName;

    #[test]
    fn a_choice_changes_its_field_only_and_reads_as_words() {
        let netty = PolicyName::Netty.policy();
        let changed = Choice::Wake(WakeUp::Never).apply(netty);
        assert_eq!(changed, Policy { wake: WakeUp::Never, ..netty });
        let json = serde_json::to_string(&Choice::Submission(Submission::InlineOnLoop)).unwrap();
        assert_eq!(json, r#"{"submission":"inline-on-loop"}"#);
    }
}
