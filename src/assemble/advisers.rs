//! Whoever the person's settings name to be asked about calls: the hooks and the second reader.

use super::Connecting;
use super::model::{Model, home};
use crate::agent;
use crate::chat::SessionId;
use crate::config::{self, Config};
use crate::project::hook::Hook;
use crate::runtime::{Consultants, OtherModel};
use anyhow::{Result, anyhow};
use std::time::Duration;

/// Those who are asked, for the agent, which says when, and for the runtime, which does it.
#[derive(Clone, Default)]
pub(super) struct Advisers {
    pub(super) who: agent::Advisers,
    how: Consultants,
}

impl Advisers {
    /// As the settings say, and what the person should know of them. Nobody is asked or connected to yet. `keys` are
    /// variables that hold keys.
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

    /// Those of this session.
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
            "The second reader cannot be asked: {why}. You are asked about whatever would go ahead."
        ));
    }
    notices.extend(told);
    Some(other)
}

/// The model that imagines what would come of what a dry run leaves undone, and what the person should know of it.
pub(super) fn simulator(connecting: &Connecting) -> Option<(OtherModel, Vec<String>)> {
    let set = &connecting.settings.config.dry_run;
    let (other, mut told) =
        other(connecting, set.simulator.as_ref()?, set.simulator_model.as_deref(), set.simulator_seconds);
    if let Err(why) = &other.llm {
        told.push(format!(
            "The simulator of the dry run cannot be asked: {why}. What is not run has a sample for its result."
        ));
    }
    Some((other, told))
}

/// A model that is asked beside the talk, and what its connection should tell the person. Nothing is connected to yet.
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

/// The model at a profile, at its own address and with its own key; nothing that stands in for another is asked here.
fn model(connecting: &Connecting, profile: &str, model: Option<&str>) -> Result<Model> {
    if profile.is_empty() {
        return Err(anyhow!("its settings are wrong"));
    }
    let connection = connecting.at_profile(profile, model)?.ok_or_else(|| anyhow!("no model is there"))?;
    if connection.lacks_key {
        return Err(anyhow!("the profile {profile} has no key; {} is not set", connection.key_from));
    }
    Ok(Model::configured(&connection, false))
}
