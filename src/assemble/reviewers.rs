//! Sets up the configured reviewers: the hooks and the model reviewer.

use super::connected_model::{ConnectedModel, home_folder};
use super::connector::Connector;
use crate::agent;
use crate::chat::SessionId;
use crate::config::{self, Config};
use crate::project::hook::Hook;
use crate::runtime::{self, SideModel};
use anyhow::{Result, anyhow};
use std::time::Duration;

/// The reviewers, for the agent, which decides when to ask them, and for the runtime, which runs them.
#[derive(Clone, Default)]
pub(super) struct Reviewers {
    pub(super) rules_for_agent: agent::Reviewers,
    runners: runtime::Reviewers,
}

impl Reviewers {
    /// Reads the reviewers from the settings. Also returns notices for the user. Nothing runs or connects yet. `keys`
    /// names environment variables that hold keys.
    pub(super) fn from_settings(connecting: &Connector, keys: &[String]) -> (Self, Vec<String>) {
        let config = &connecting.settings.config;
        let mut notices = Vec::new();
        let hooks = config.hooks.iter();
        let who = agent::Reviewers {
            hooks: hooks.clone().map(|(name, hook)| hook_for_agent(name, hook)).collect(),
            has_model_reviewer: config.model_reviewer.profile.is_some(),
        };
        let run = |hook: &config::Hook| {
            Hook::new(super::own_program::own_program(), hook.command.clone(), home_folder(), keys, hook.seconds)
        };
        let how = runtime::Reviewers {
            session: String::new(),
            hooks: hooks.map(|(name, hook)| (name.clone(), run(hook))).collect(),
            model: model_reviewer(connecting, config, &mut notices),
        };
        (Self { rules_for_agent: who, runners: how }, notices)
    }

    /// Returns the reviewers for a session.
    pub(super) fn for_session(&self, id: &SessionId) -> runtime::Reviewers {
        runtime::Reviewers { session: id.0.clone(), ..self.runners.clone() }
    }
}

fn hook_for_agent(name: &str, hook: &config::Hook) -> agent::HookReviewer {
    agent::HookReviewer { name: name.to_owned(), tools: hook.tools.clone(), in_dry_run: hook.dry_run }
}

fn model_reviewer(connecting: &Connector, config: &Config, notices: &mut Vec<String>) -> Option<SideModel> {
    let set = &config.model_reviewer;
    let (other, told) = side_model(connecting, set.profile.as_ref()?, set.model.as_deref(), set.seconds);
    if let Err(why) = &other.llm {
        notices
            .push(format!("The model reviewer is not available: {why}. Every call it should review asks you instead."));
    }
    notices.extend(told);
    Some(other)
}

/// Sets up the model that simulates results in a dry run. Also returns notices for the user.
pub(super) fn connect_simulator(connecting: &Connector) -> Option<(SideModel, Vec<String>)> {
    let set = &connecting.settings.config.dry_run;
    let (other, mut told) =
        side_model(connecting, set.simulator.as_ref()?, set.simulator_model.as_deref(), set.simulator_seconds);
    if let Err(why) = &other.llm {
        told.push(format!(
            "The simulator of the dry run is not available: {why}. Simulated results are generated samples instead."
        ));
    }
    Some((other, told))
}

/// Sets up a model for requests outside the session. Also returns notices for the user. Nothing is connected yet.
fn side_model(connecting: &Connector, profile: &str, model: Option<&str>, seconds: u64) -> (SideModel, Vec<String>) {
    let (limit, profile_name) = (Duration::from_secs(seconds), profile.to_owned());
    let (llm, model, told) = match self::profile_model(connecting, profile, model) {
        Ok(model) => (Ok(model.llm), model.name, model.warnings),
        Err(why) => (Err(format!("{why:#}")), String::new(), Vec::new()),
    };
    (SideModel { llm, model, profile: profile_name, limit }, told)
}

/// Returns the model of a profile, at its own address and with its own key, without a fallback model.
fn profile_model(connecting: &Connector, profile: &str, model: Option<&str>) -> Result<ConnectedModel> {
    if profile.is_empty() {
        return Err(anyhow!("its settings are invalid"));
    }
    let connection = connecting.profile_connection(profile, model)?.ok_or_else(|| anyhow!("no model is configured"))?;
    if connection.lacks_key {
        return Err(anyhow!("the profile {profile} has no key; {} is not set", connection.key_from));
    }
    Ok(ConnectedModel::configured(&connection, false))
}
