//! Checks where simulated results of a dry run come from.

use super::finding::Finding;
use crate::assemble::connector::Connector;

/// Reports the source of simulated results for tools without a fixture. Sends no request.
pub(super) fn check_simulator(is_tour: bool, connector: &Connector) -> Finding {
    let (area, dry_run) = ("simulator", &connector.settings.config.dry_run);
    let Some(profile) = &dry_run.simulator else {
        let message = "off: simulated results are samples generated from the tool's schema";
        return Finding::ok(area, message);
    };
    if is_tour {
        return Finding::ok(area, "not used in the tour; simulated results are generated samples");
    }
    match connector.side_connection(profile, dry_run.simulator_model.as_deref()) {
        Ok(connection) => {
            let (model, seconds) = (connection.describe(), dry_run.simulator_seconds);
            Finding::ok(area, format!("results are simulated by {model}, time limit {seconds} s each"))
        }
        Err(error) => {
            let message =
                format!("the model of dry_run.simulator is not available, so results are generated samples: {error:#}");
            Finding::problem(area, message, "correct or remove dry_run.simulator in the settings")
        }
    }
}
