//! Facts about the machine.

use serde::Serialize;

/// Facts about the machine, for comparing results. No host name, no user name, no path.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Machine {
    /// The operating system.
    pub os: String,
}
