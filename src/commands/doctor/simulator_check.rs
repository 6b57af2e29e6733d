//! Checks where simulated results of a dry run come from.

use super::finding::Finding;
use super::rules_check;
use crate::config::{Credentials, Overrides, Settings};

/// Reports the source of simulated results for tools without a fixture. Sends no request.
pub(super) fn check_simulator(
    is_tour: bool,
    settings: &Settings,
    credentials: &Credentials,
    flags: &Overrides,
) -> Finding {
    let (area, dry_run) = ("simulator", &settings.config.dry_run);
    let Some(profile) = &dry_run.simulator else {
        let message = "off: simulated results are samples generated from the tool's schema";
        return Finding::ok(area, message);
    };
    if is_tour {
        return Finding::ok(area, "not used in the tour; simulated results are generated samples");
    }
    match rules_check::describe_side_model(settings, credentials, flags, profile, dry_run.simulator_model.as_deref()) {
        Ok(description) => Finding::ok(
            area,
            format!("results are simulated by {description}, time limit {} s each", dry_run.simulator_seconds),
        ),
        Err(error) => {
            let message =
                format!("the model of dry_run.simulator is not available, so results are generated samples: {error:#}");
            Finding::problem(area, message, "correct or remove dry_run.simulator in the settings")
        }
    }
}
