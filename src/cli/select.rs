//! What is run: which cases of which probes under which policies, in which order.

use clap::ArgMatches;

use super::Stop;
use super::options::Options;
use crate::params::{ParamValue, Params};
use crate::policy::PolicyName;
use crate::probe::{Case, Probe};
use crate::session::Item;

/// The items that the options select.
///
/// Without `--policy` a case runs under the policies that its claims name. With it, under each that was asked
/// for and that some claim of the case is about; a case asked for by name runs even without a claim.
pub(super) fn items(
    probes: &[&'static Probe],
    options: &Options,
    matches: &ArgMatches,
) -> Result<Vec<Item>, Stop> {
    let mut items = Vec::new();
    for probe in probes {
        let params = params(probe, options, matches);
        for policy in PolicyName::ALL {
            let cases = probe.cases.iter();
            for case in cases.filter(|case| is_selected(probe, case, policy, options)) {
                items.push(Item { probe, case, policy, params: params.clone() });
            }
        }
    }
    if items.is_empty() {
        return Err(Stop::Refused(nothing(options)));
    }
    Ok(items)
}

fn is_selected(probe: &Probe, case: &'static Case, policy: PolicyName, options: &Options) -> bool {
    let by_name = options.cases.iter().any(|name| name == case.name);
    if !by_name && !options.cases.is_empty() {
        return false;
    }
    if options.policies.is_empty() {
        return probe.claims_of(case.name, policy).any(|claim| claim.policies.named.contains(&policy));
    }
    options.policies.contains(&policy) && (by_name || probe.claims_of(case.name, policy).next().is_some())
}

fn nothing(options: &Options) -> String {
    let names: Vec<&str> = options.policies.iter().map(|policy| policy.word()).collect();
    if names.is_empty() {
        "nothing is selected; loopprobe list shows what there is".into()
    } else {
        format!(
            "nothing is selected: no claim is about policy {}; leave out --policy, or give --policy all",
            names.join(", ")
        )
    }
}

/// The defaults, changed by what the command line says.
fn params(probe: &'static Probe, options: &Options, matches: &ArgMatches) -> Params {
    let mut params = Params::defaults(probe.params, options.quick);
    for spec in probe.params {
        // `all` has no parameters, and asking for one that isn't declared is an error.
        if let Ok(Some(value)) = matches.try_get_one::<ParamValue>(spec.name) {
            params.set(spec, value.clone());
        }
    }
    params
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args;
    use crate::testing::PROBES;

    fn selected(args: &[&str]) -> Result<Vec<Item>, Stop> {
        let matches = args::command(PROBES).try_get_matches_from([&["loopprobe"], args].concat()).unwrap();
        let (name, matches) = matches.subcommand().unwrap();
        let probes: Vec<&'static Probe> =
            PROBES.iter().copied().filter(|probe| name == "all" || name == probe.name).collect();
        items(&probes, &Options::of(matches), matches)
    }

    fn names(args: &[&str]) -> Vec<String> {
        let items = selected(args).unwrap();
        let name = |item: &Item| format!("{}/{}/{}", item.probe.name, item.case.name, item.policy);
        items.iter().map(name).collect()
    }

    #[test]
    fn each_case_runs_under_the_policies_that_its_claims_name() {
        assert_eq!(names(&["alpha"]), ["alpha/main/netty", "alpha/other/linkd"]);
        assert_eq!(names(&["all"]), ["alpha/main/netty", "alpha/other/linkd", "beta/main/netty"]);
    }

    #[test]
    fn a_policy_selects_what_its_claims_are_about() {
        assert_eq!(names(&["alpha", "--policy", "netty41"]), ["alpha/main/netty41"]);
        assert_eq!(
            names(&["alpha", "--policy", "linkd", "--policy", "linkd"]),
            ["alpha/main/linkd", "alpha/other/linkd"]
        );
        assert_eq!(names(&["beta", "--policy", "all"]).len(), 4);
    }

    #[test]
    fn a_case_asked_for_by_name_needs_no_claim() {
        assert_eq!(names(&["alpha", "--case", "other", "--policy", "netty"]), ["alpha/other/netty"]);
    }

    #[test]
    fn selecting_nothing_is_refused() {
        let refused = selected(&["all", "--case", "other", "--policy", "linkd"]);
        assert!(refused.is_ok());
        let none = items(&[], &Options::of(&matches()), &matches());
        assert!(matches!(none, Err(Stop::Refused(why)) if why.contains("nothing is selected")));
    }

    fn matches() -> ArgMatches {
        let matches = args::command(PROBES).try_get_matches_from(["loopprobe", "all"]).unwrap();
        matches.subcommand_matches("all").unwrap().clone()
    }

    #[test]
    fn parameters_given_win_over_quick_and_quick_over_defaults() {
        let count = |args: &[&str]| selected(args).unwrap()[0].params.count("count");
        assert_eq!(count(&["alpha"]), 2000);
        assert_eq!(count(&["alpha", "--quick"]), 300);
        assert_eq!(count(&["alpha", "--quick", "--count", "7"]), 7);
        assert_eq!(count(&["all", "--quick"]), 300);
    }
}
