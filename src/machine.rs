//! Facts about the machine.

use serde::Serialize;

/// Facts about the machine, for comparing results. No host name, no user name, no path.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Machine {
    /// The operating system.
    pub os: String,
}

impl Machine {
    /// Reads them.
    pub fn read() -> Machine {
        Machine { os: std::env::consts::OS.into() }
    }
}

/// The wall clock's time in UTC, RFC 3339.
pub fn started_now() -> String {
    jiff::Timestamp::now().to_string()
}
