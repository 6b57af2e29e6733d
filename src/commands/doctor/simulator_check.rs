//! Checks where simulated results of a dry run come from.

use super::finding::Finding;
use super::rules_check;
use crate::config::{Credentials, Overrides, Settings};

/// Reports the source of results for tools without an example. No model is asked.
pub(super) fn check_simulator(
    is_tour: bool,
    settings: &Settings,
    credentials: &Credentials,
    flags: &Overrides,
) -> Finding {
    let (area, set) = ("simulator", &settings.config.dry_run);
    let Some(profile) = &set.simulator else {
        let words = "off: simulated results are samples generated from the tool's schema";
        return Finding::ok(area, words);
    };
    if is_tour {
        return Finding::ok(area, "not used in the tour; simulated results are generated samples");
    }
    match rules_check::describe_side_model(settings, credentials, flags, profile, set.simulator_model.as_deref()) {
        Ok(words) => {
            Finding::ok(area, format!("results are simulated by {words}, time limit {} s each", set.simulator_seconds))
        }
        Err(why) => {
            let words =
                format!("the model of dry_run.simulator is not available, so results are generated samples: {why:#}");
            Finding::problem(area, words, "correct or remove dry_run.simulator in the settings")
        }
    }
}
