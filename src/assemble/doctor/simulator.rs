//! What stands in for the results of what a dry run leaves undone.

use super::finding::Finding;
use super::rules;
use crate::cli::Cli;
use crate::config::{Credentials, Overrides, Settings};

/// Where such a result comes from when the tool has no example of its own. Nobody is asked.
pub(super) fn look(cli: &Cli, settings: &Settings, credentials: &Credentials, flags: &Overrides) -> Finding {
    let (area, set) = ("simulator", &settings.config.dry_run);
    let Some(profile) = &set.simulator else {
        let words =
            "off: what a dry run leaves undone has a sample of the tool's declared form for its result";
        return Finding::well(area, words);
    };
    if cli.tour {
        return Finding::well(
            area,
            "no model is asked in the tour; what a dry run leaves undone has a sample",
        );
    }
    match rules::reader(settings, credentials, flags, profile, set.simulator_model.as_deref()) {
        Ok(words) => Finding::well(
            area,
            format!(
                "what a dry run leaves undone is imagined by {words}, for at most {} s each",
                set.simulator_seconds
            ),
        ),
        Err(why) => {
            let words =
                format!("the model of dry_run.simulator cannot be asked, so a sample stands in: {why:#}");
            Finding::wrong(area, words, "correct it under [dry_run], or leave that out")
        }
    }
}
