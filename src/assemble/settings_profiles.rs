//! The profiles of the settings and the provider of the session, as tools of files find and ask them.

use super::connected_model::ConnectedModel;
use crate::chat::sampling::SamplingRequest;
use crate::chat::{Message, Request, Usage};
use crate::config::{self, Connection, Credentials, Overrides, Settings};
use crate::runtime::{SideAnswer, SideModel, request_answer, request_any_answer};
use crate::store::Places;
use crate::tools::prompt_tool::{MAX_ANSWER_BYTES, Prompt, PromptModels, PromptTarget};
use crate::tools::transfer_tool::{ProfileFinder, ProfileTarget};
use async_trait::async_trait;
use reqwest::Url;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Maximum bytes of an answer for an MCP server.
const MAX_SAMPLED_BYTES: usize = 64 << 10;
/// Time limit of a request of an MCP server.
const SAMPLING_LIMIT: Duration = Duration::from_secs(120);

/// Finds profiles in the settings. Keys that the user entered are read for each lookup, because more may be entered.
pub(crate) struct SettingsProfiles {
    settings: Settings,
    flags: Overrides,
    keys_file: PathBuf,
    /// The model of the open session.
    session_model: Mutex<Option<ConnectedModel>>,
}

impl SettingsProfiles {
    pub(crate) fn new(settings: &Settings, flags: &Overrides, places: &Places) -> Self {
        let (settings, flags, keys_file) = (settings.clone(), flags.clone(), places.credentials());
        Self { settings, flags, keys_file, session_model: Mutex::default() }
    }

    /// Sets the model of the open session. Its provider answers prompts that name no profile.
    pub(crate) fn set_session_model(&self, model: &ConnectedModel) {
        *self.session_model.lock().unwrap_or_else(PoisonError::into_inner) = Some(model.clone());
    }

    /// Sends a request of an MCP server to the session's model.
    pub(crate) async fn sample(
        &self,
        target: &PromptTarget,
        request: &SamplingRequest,
    ) -> (Result<SideAnswer, String>, Option<Usage>) {
        let llm = self.session_model().map(|session| session.llm);
        let (model, profile) = (target.model.clone(), String::new());
        let side_model = SideModel { llm, model: model.clone(), profile, limit: SAMPLING_LIMIT };
        let system = Some(&request.system).filter(|system| !system.trim().is_empty());
        let messages = request.messages.iter().map(|message| match message.is_of_model {
            true => Message::Model { text: message.text.clone(), calls: Vec::new(), echo: None },
            false => Message::User(message.text.clone()),
        });
        let request = Request {
            model,
            messages: system.cloned().map(Message::System).into_iter().chain(messages).collect(),
            max_tokens: Some(request.max_tokens),
            ..Request::default()
        };
        let mut usage = None;
        let answer = request_any_answer(&side_model, async { Ok(request) }, MAX_SAMPLED_BYTES, &mut usage).await;
        (answer, usage)
    }

    fn session_model(&self) -> Result<ConnectedModel, String> {
        let model = self.session_model.lock().unwrap_or_else(PoisonError::into_inner).clone();
        model.filter(|model| model.provider.is_some()).ok_or_else(|| "No provider is connected.".to_owned())
    }

    /// Returns the connection of a profile.
    fn find_connection(&self, name: &str, model: Option<&str>) -> Result<Connection, String> {
        let credentials = Credentials::load(&self.keys_file).unwrap_or_default();
        let connection = config::resolve_other_profile(&self.settings, &self.flags, &credentials, name, model)
            .map_err(|problem| problem.message)?;
        match connection.lacks_key {
            true => Err(format!("The profile {name} has no key: {} is not set.", connection.key_origin)),
            false => Ok(connection),
        }
    }
}

/// Returns the origin of an address, and its host in lower case.
fn split_address(base_url: &str) -> Result<(String, String), String> {
    let url = Url::parse(base_url).map_err(|error| error.to_string())?;
    Ok((url.origin().ascii_serialization(), url.host_str().unwrap_or_default().to_ascii_lowercase()))
}

impl ProfileFinder for SettingsProfiles {
    fn check_profile(&self, name: &str) -> Result<(), String> {
        match self.settings.config.profiles.contains_key(name) {
            true => Ok(()),
            // The error lists similar names.
            false => self.find_connection(name, None).map(|_| ()),
        }
    }

    fn find_profile(&self, name: &str) -> Result<ProfileTarget, String> {
        let connection = self.find_connection(name, None)?;
        let (_, host) = split_address(&connection.base_url)?;
        Ok(ProfileTarget { model: connection.model, host })
    }
}

#[async_trait]
impl PromptModels for SettingsProfiles {
    fn find_target(&self, profile: Option<&str>, model: Option<&str>) -> Result<PromptTarget, String> {
        let session = self.session_model();
        let Some(name) = profile else {
            let session = session?;
            let (_, host) = split_address(&session.base_url)?;
            let model = model.map_or(session.name, str::to_owned);
            return Ok(PromptTarget { profile: None, model, host, is_of_session: true });
        };
        let connection = self.find_connection(name, model)?;
        let (origin, host) = split_address(&connection.base_url)?;
        let session_origin = session.and_then(|session| split_address(&session.base_url)).map(|(origin, _)| origin);
        Ok(PromptTarget {
            profile: Some(name.to_owned()),
            model: connection.model.unwrap_or_default(),
            host,
            is_of_session: session_origin.is_ok_and(|session_origin| session_origin == origin),
        })
    }

    async fn ask(&self, target: &PromptTarget, prompt: &Prompt) -> (Result<String, String>, Option<Usage>) {
        let connect = || match &target.profile {
            None => self.session_model().map(|session| session.llm),
            Some(name) => {
                let model = Some(target.model.as_str()).filter(|model| !model.is_empty());
                let is_watched = false;
                self.find_connection(name, model).map(|found| ConnectedModel::configured(&found, is_watched).llm)
            }
        };
        let profile = target.profile.clone().unwrap_or_default();
        let side_model = SideModel { llm: connect(), model: target.model.clone(), profile, limit: prompt.timeout };
        let system = Some(&prompt.system).filter(|system| !system.trim().is_empty());
        let request = Request {
            model: target.model.clone(),
            messages: system
                .cloned()
                .map(Message::System)
                .into_iter()
                .chain([Message::User(prompt.text.clone())])
                .collect(),
            max_tokens: Some(prompt.max_tokens),
            answer_schema: prompt.schema.clone(),
            ..Request::default()
        };
        let mut usage = None;
        let answer = request_answer(&side_model, async { Ok(request) }, MAX_ANSWER_BYTES, &mut usage).await;
        (answer, usage)
    }
}
