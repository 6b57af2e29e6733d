//! Sets up the configured reviewers: the hooks and the model reviewer.

use super::Connecting;
use super::model::{Model, home};
use crate::agent;
use crate::chat::SessionId;
use crate::config::{self, Config};
use crate::project::hook::Hook;
use crate::runtime::{Consultants, OtherModel};
use anyhow::{Result, anyhow};
use std::time::Duration;

/// The reviewers, for the agent, which decides when to ask them, and for the runtime, which runs them.
#[derive(Clone, Default)]
pub(super) struct Advisers {
    pub(super) who: agent::Advisers,
    how: Consultants,
}

impl Advisers {
    /// Reads the reviewers from the settings. Also returns notices for the user. Nothing runs or connects yet. `keys`
    /// names environment variables that hold keys.
    pub(super) fn of(connecting: &Connecting, keys: &[String]) -> (Self, Vec<String>) {
        let config = &connecting.settings.config;
        let mut notices = Vec::new();
        let hooks = config.hooks.iter();
        let who = agent::Advisers {
            hooks: hooks.clone().map(|(name, hook)| told(name, hook)).collect(),
            second_reader: config.second_reader.profile.is_some(),
        };
        let run = |hook: &config::Hook| {
            Hook::new(super::myself(), hook.command.clone(), home(), keys, hook.seconds)
        };
        let how = Consultants {
            session: String::new(),
            hooks: hooks.map(|(name, hook)| (name.clone(), run(hook))).collect(),
            reader: reader(connecting, config, &mut notices),
        };
        (Self { who, how }, notices)
    }

    /// Returns the reviewers for a session.
    pub(super) fn in_session(&self, id: &SessionId) -> Consultants {
        Consultants { session: id.0.clone(), ..self.how.clone() }
    }
}

fn told(name: &str, hook: &config::Hook) -> agent::Hook {
    agent::Hook { name: name.to_owned(), tools: hook.tools.clone(), in_dry_run: hook.dry_run }
}

fn reader(connecting: &Connecting, config: &Config, notices: &mut Vec<String>) -> Option<OtherModel> {
    let set = &config.second_reader;
    let (other, told) = other(connecting, set.profile.as_ref()?, set.model.as_deref(), set.seconds);
    if let Err(why) = &other.llm {
        notices.push(format!(
            "The model reviewer is not available: {why}. Every call it should review asks you instead."
        ));
    }
    notices.extend(told);
    Some(other)
}

/// Sets up the model that simulates results in a dry run. Also returns notices for the user.
pub(super) fn simulator(connecting: &Connecting) -> Option<(OtherModel, Vec<String>)> {
    let set = &connecting.settings.config.dry_run;
    let (other, mut told) =
        other(connecting, set.simulator.as_ref()?, set.simulator_model.as_deref(), set.simulator_seconds);
    if let Err(why) = &other.llm {
        told.push(format!(
            "The simulator of the dry run is not available: {why}. Simulated results are generated samples instead."
        ));
    }
    Some((other, told))
}

/// Sets up a model for requests outside the session. Also returns notices for the user. Nothing is connected yet.
fn other(
    connecting: &Connecting,
    profile: &str,
    model: Option<&str>,
    seconds: u64,
) -> (OtherModel, Vec<String>) {
    let (limit, profile_name) = (Duration::from_secs(seconds), profile.to_owned());
    let (llm, model, told) = match self::model(connecting, profile, model) {
        Ok(model) => (Ok(model.llm), model.name, model.warnings),
        Err(why) => (Err(format!("{why:#}")), String::new(), Vec::new()),
    };
    (OtherModel { llm, model, profile: profile_name, limit }, told)
}

/// Returns the model of a profile, at its own address and with its own key, without a fallback model.
fn model(connecting: &Connecting, profile: &str, model: Option<&str>) -> Result<Model> {
    if profile.is_empty() {
        return Err(anyhow!("its settings are invalid"));
    }
    let connection =
        connecting.at_profile(profile, model)?.ok_or_else(|| anyhow!("no model is configured"))?;
    if connection.lacks_key {
        return Err(anyhow!("the profile {profile} has no key; {} is not set", connection.key_from));
    }
    Ok(Model::configured(&connection, false))
}
