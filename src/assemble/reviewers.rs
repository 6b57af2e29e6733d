//! Sets up the configured reviewers: the hooks and the model reviewer.

use super::connected_model::{ConnectedModel, home_folder};
use super::connector::Connector;
use crate::agent;
use crate::chat::SessionId;
use crate::config::{self, Config};
use crate::project::guard::own_program;
use crate::project::hook::Hook;
use crate::runtime::{self, SideModel};
use std::time::Duration;

/// The reviewers in two forms: for the agent, which decides when to ask them, and for the runtime, which runs them.
#[derive(Clone, Default)]
pub(super) struct Reviewers {
    pub(super) agent_reviewers: agent::Reviewers,
    runners: runtime::Reviewers,
}

impl Reviewers {
    /// Reads the reviewers from the settings. Also returns notices for the user. Nothing runs or connects yet.
    /// `key_variables` are the names of the environment variables that hold keys.
    pub(super) fn from_settings(connector: &Connector, key_variables: &[String]) -> (Self, Vec<String>) {
        let config = &connector.settings.config;
        let mut notices = Vec::new();
        let hooks = config.hooks.iter();
        let agent_reviewers = agent::Reviewers {
            hooks: hooks.clone().map(|(name, hook)| hook_for_agent(name, hook)).collect(),
            has_model_reviewer: config.model_reviewer.profile.is_some(),
        };
        let create_hook = |hook: &config::Hook| {
            Hook::new(own_program(), hook.command.clone(), home_folder(), key_variables, hook.seconds)
        };
        let runners = runtime::Reviewers {
            session: String::new(),
            hooks: hooks.map(|(name, hook)| (name.clone(), create_hook(hook))).collect(),
            model: model_reviewer(connector, config, &mut notices),
        };
        (Self { agent_reviewers, runners }, notices)
    }

    /// Returns the reviewers for a session.
    pub(super) fn for_session(&self, id: &SessionId) -> runtime::Reviewers {
        runtime::Reviewers { session: id.0.clone(), ..self.runners.clone() }
    }
}

fn hook_for_agent(name: &str, hook: &config::Hook) -> agent::HookReviewer {
    agent::HookReviewer { name: name.to_owned(), tools: hook.tools.clone(), in_dry_run: hook.dry_run }
}

fn model_reviewer(connector: &Connector, config: &Config, notices: &mut Vec<String>) -> Option<SideModel> {
    let settings = &config.model_reviewer;
    let (reviewer, model_notices) =
        side_model(connector, settings.profile.as_ref()?, settings.model.as_deref(), settings.seconds);
    if let Err(reason) = &reviewer.llm {
        notices.push(format!(
            "The model reviewer is not available: {reason}. aye asks about every call it should review instead."
        ));
    }
    notices.extend(model_notices);
    Some(reviewer)
}

/// Sets up the model that simulates results in a dry run. Also returns notices for the user.
pub(super) fn connect_simulator(connector: &Connector) -> Option<(SideModel, Vec<String>)> {
    let settings = &connector.settings.config.dry_run;
    let (simulator, mut notices) = side_model(
        connector,
        settings.simulator.as_ref()?,
        settings.simulator_model.as_deref(),
        settings.simulator_seconds,
    );
    if let Err(reason) = &simulator.llm {
        notices.push(format!(
            "The simulator of the dry run is not available: {reason}. Simulated results are generated samples instead."
        ));
    }
    Some((simulator, notices))
}

/// Sets up a model for requests outside the session, without a fallback model. Also returns notices for the user. Nothing
/// is connected yet.
fn side_model(connector: &Connector, profile: &str, model: Option<&str>, seconds: u64) -> (SideModel, Vec<String>) {
    let (limit, profile_name) = (Duration::from_secs(seconds), profile.to_owned());
    let connection = connector.side_connection(profile, model);
    // The longer waits that a provider may ask for are accepted only while a user watches.
    let is_watched = false;
    let (llm, model, notices) = match connection.map(|connection| ConnectedModel::configured(&connection, is_watched)) {
        Ok(model) => (Ok(model.llm), model.name, model.warnings),
        Err(error) => (Err(format!("{error:#}")), String::new(), Vec::new()),
    };
    (SideModel { llm, model, profile: profile_name, limit }, notices)
}
