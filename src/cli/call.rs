//! The call as the document records it: long options with their values, without the place of the output.

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

/// Left out: they say where the document goes and what it is called, not what is in it.
const LEFT_OUT: [&str; 2] = ["output", "label"];

/// The call that gives the same results, whatever abbreviations were used. `command` is the built tree.
pub(super) fn canonical(command: &Command, name: &str, matches: &ArgMatches) -> Vec<String> {
    let mut call = vec!["loopprobe".to_owned(), name.to_owned()];
    let Some(sub) = command.find_subcommand(name) else {
        return call;
    };
    for arg in sub.get_arguments() {
        let id = arg.get_id().as_str();
        // Asking about an id that isn't there panics: --help has no value.
        let given = matches.try_contains_id(id).unwrap_or(false)
            && matches.value_source(id) == Some(ValueSource::CommandLine);
        if !given || LEFT_OUT.contains(&id) {
            continue;
        }
        let option = format!("--{id}");
        if arg.get_action().takes_values() {
            for value in matches.get_raw(id).into_iter().flatten() {
                call.extend([option.clone(), value.to_string_lossy().into_owned()]);
            }
        } else {
            call.push(option);
        }
    }
    call
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args;
    use crate::testing::PROBES;

    fn call(args: &[&str]) -> String {
        let mut command = args::command(PROBES);
        let matches = command.try_get_matches_from_mut([&["loopprobe"], args].concat()).unwrap();
        let (name, matches) = matches.subcommand().unwrap();
        canonical(&command, name, matches).join(" ")
    }

    #[test]
    fn every_way_to_write_an_option_is_the_same_call() {
        let wanted = "loopprobe alpha --policy linkd --virtual --runs 3 --c-due 5ms";
        assert_eq!(call(&["alpha", "--virtual", "-n3", "--policy=linkd", "--c-due", "5ms"]), wanted);
    }

    #[test]
    fn where_it_goes_is_nobodys_business() {
        let wanted = "loopprobe alpha --virtual --quiet";
        for output in [["-qo", "/home/me/x"], ["-q", "-o/home/me/x"], ["-q", "--output=/home/me/x"]] {
            let args = [&["alpha", "--virtual", "--label", "me"], output.as_slice()].concat();
            assert_eq!(call(&args), wanted);
        }
    }

    #[test]
    fn repeated_options_stay_repeated() {
        assert_eq!(
            call(&["alpha", "--case", "main", "--case", "other"]),
            "loopprobe alpha --case main --case other"
        );
    }
}
