//! Runs what was selected, one after the other, and makes the result document of it.

use std::time::Duration;

use crate::fault::Fault;
use crate::machine::Machine;
use crate::params::Params;
use crate::policy::PolicyName;
use crate::probe::{Case, CaseTime, Probe};
use crate::result::{Document, ProbeResult, SCHEMA, Summary, Tool};
use crate::run::{Request, run_case};

/// One case of a probe under one policy.
#[derive(Clone, Debug)]
pub struct Item {
    /// The probe.
    pub probe: &'static Probe,
    /// Its case.
    pub case: &'static Case,
    /// The policy.
    pub policy: PolicyName,
    /// The probe's parameters.
    pub params: Params,
}

/// What holds for all of a session's items.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The defect to put in.
    pub fault: Option<&'static Fault>,
    /// Everything in virtual time; otherwise only the cases that real time can't do.
    pub virtual_time: bool,
    /// How often each item is run; at least 1.
    pub runs: usize,
    /// What counts as on time.
    pub tolerance: Duration,
    /// After how long a run is called stuck.
    pub limit: Option<Duration>,
    /// The seed of everything random.
    pub seed: u64,
    /// Whether `--quick` chose the parameters.
    pub quick: bool,
}

/// A session: what is run, and what its document says of the call.
#[derive(Clone, Debug)]
pub struct Session {
    /// What is run, in this order.
    pub items: Vec<Item>,
    /// How.
    pub settings: Settings,
    /// When it was started, RFC 3339.
    pub started: String,
    /// The call, without the place of the output.
    pub command: Vec<String>,
    /// The user's name for it.
    pub label: Option<String>,
}

/// Who follows a session: progress, the terminal's text, files.
pub trait Observer {
    /// Why it ends the session.
    type Stop;

    /// An item begins: the `nth` of a number of them, counted from 1.
    fn begins(&mut self, item: &Item, nth: usize, of: usize);

    /// An item is done. The document holds its result as the last one and isn't complete.
    ///
    /// # Errors
    /// When there is no use in going on.
    fn ended(&mut self, document: &Document) -> Result<(), Self::Stop>;
}

impl Session {
    /// Runs all of it, or until the observer has a reason to stop, which is then given beside the document
    /// as far as it had come. What goes wrong in an item is in its result.
    pub fn run<O: Observer>(&self, observer: &mut O) -> (Document, Option<O::Stop>) {
        self.run_with(run_case, observer)
    }

    fn run_with<O: Observer>(
        &self,
        run: impl Fn(&Request<'_>) -> ProbeResult,
        observer: &mut O,
    ) -> (Document, Option<O::Stop>) {
        let mut document = self.empty_document();
        for (index, item) in self.items.iter().enumerate() {
            observer.begins(item, index + 1, self.items.len());
            document.results.push(run(&self.request(item)));
            document.summary = Summary::of(&document.results);
            if let Err(stop) = observer.ended(&document) {
                return (document, Some(stop));
            }
        }
        document.complete = document.results.iter().all(|result| result.complete);
        (document, None)
    }

    fn request<'a>(&self, item: &'a Item) -> Request<'a> {
        let settings = &self.settings;
        Request {
            probe: item.probe,
            case: item.case,
            policy: item.policy,
            fault: settings.fault,
            virtual_time: self.is_virtual(item),
            runs: settings.runs,
            tolerance: settings.tolerance,
            limit: settings.limit,
            seed: settings.seed,
            params: &item.params,
            quick: settings.quick,
        }
    }

    fn is_virtual(&self, item: &Item) -> bool {
        self.settings.virtual_time || item.case.time == CaseTime::VirtualOnly
    }

    fn empty_document(&self) -> Document {
        let real = self.items.iter().any(|item| !self.is_virtual(item));
        Document {
            schema: SCHEMA,
            tool: Tool { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") },
            started: self.started.clone(),
            command: self.command.clone(),
            label: self.label.clone(),
            machine: real.then(Machine::read),
            complete: false,
            results: Vec::new(),
            summary: Summary::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::TimeKind;
    use crate::testing::{ALPHA, runner};

    /// Follows a session up to a number of results.
    struct UpTo(usize, Vec<bool>);

    impl Observer for UpTo {
        type Stop = &'static str;

        fn begins(&mut self, _: &Item, nth: usize, of: usize) {
            assert!(nth <= of);
        }

        fn ended(&mut self, document: &Document) -> Result<(), &'static str> {
            self.1.push(document.complete);
            if document.results.len() < self.0 { Ok(()) } else { Err("enough") }
        }
    }

    fn session(virtual_time: bool) -> Session {
        let item = |case: &'static Case| Item {
            probe: &ALPHA,
            case,
            policy: PolicyName::Netty,
            params: Params::defaults(ALPHA.params, false),
        };
        Session {
            items: ALPHA.cases.iter().map(item).collect(),
            settings: Settings {
                fault: None,
                virtual_time,
                runs: 1,
                tolerance: Duration::from_millis(10),
                limit: None,
                seed: 1,
                quick: false,
            },
            started: "2026-01-02T03:04:05Z".into(),
            command: vec!["loopprobe".into()],
            label: None,
        }
    }

    #[test]
    fn a_document_is_complete_only_at_the_end() {
        let mut observer = UpTo(9, Vec::new());
        let (document, None) = session(false).run_with(runner, &mut observer) else {
            panic!("it was stopped");
        };
        assert_eq!(observer.1, [false, false]);
        assert!(document.complete && document.machine.is_some());
        assert_eq!(document.results[0].time, TimeKind::Real);
        assert_eq!(document.results[1].time, TimeKind::Virtual, "what real time can't do");
    }

    #[test]
    fn virtual_results_carry_no_machine() {
        let (document, _) = session(true).run_with(runner, &mut UpTo(9, Vec::new()));
        assert!(document.machine.is_none());
    }

    #[test]
    fn a_stopped_session_keeps_what_there_is() {
        let (document, why) = session(true).run_with(runner, &mut UpTo(1, Vec::new()));
        assert_eq!((document.results.len(), document.complete, why), (1, false, Some("enough")));
    }
}
