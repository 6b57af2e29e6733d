//! The profiles of the settings and the provider of the session, as tools of files find and ask them.

use super::connected_model::ConnectedModel;
use crate::chat::sampling::SamplingRequest;
use crate::chat::{Message, Request, Usage};
use crate::config::{self, Connection, Credentials, Overrides, Settings};
use crate::runtime::{SideAnswer, SideModel, request_any_answer};
use crate::store::Places;
use crate::tools::prompt_tool::{MAX_ANSWER_BYTES, Prompt, PromptModels, PromptTarget};
use crate::tools::transfer_tool::{ProfileFinder, ProfileTarget};
use async_trait::async_trait;
use reqwest::Url;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Maximum bytes of an answer for an MCP server.
const MAX_SAMPLED_BYTES: usize = 64 << 10;
/// Time limit of a request of an MCP server.
const SAMPLING_LIMIT: Duration = Duration::from_secs(120);

/// Finds profiles in the settings. Keys that the user entered are read for each lookup, because more may be entered.
pub(crate) struct SettingsProfiles {
    settings: Arc<Settings>,
    flags: Overrides,
    keys_file: PathBuf,
    /// The model of the open session.
    session_model: Mutex<Option<ConnectedModel>>,
}

impl SettingsProfiles {
    pub(crate) fn new(settings: Arc<Settings>, flags: &Overrides, places: &Places) -> Self {
        let (flags, keys_file) = (flags.clone(), places.credentials());
        Self { settings, flags, keys_file, session_model: Mutex::default() }
    }

    /// Sets the model of the open session. Its provider answers prompts that name no profile.
    pub(crate) fn set_session_model(&self, model: &ConnectedModel) {
        *self.session_model.lock().unwrap_or_else(PoisonError::into_inner) = Some(model.clone());
    }

    /// Returns the model of the open session.
    ///
    /// # Errors
    /// Why none can be asked, in one sentence.
    pub(crate) fn session_model(&self) -> Result<ConnectedModel, String> {
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

/// Returns where the model of a session is asked.
///
/// # Errors
/// Why its address cannot be read.
pub(crate) fn find_session_target(session: &ConnectedModel) -> Result<PromptTarget, String> {
    let (_, host) = split_address(&session.base_url)?;
    Ok(PromptTarget { profile: None, model: session.name.clone(), host, is_of_session: true })
}

/// Sends a request of an MCP server to the model of a session, and returns the answer with its usage, if reported.
pub(crate) async fn sample_model(
    session: &ConnectedModel,
    request: &SamplingRequest,
) -> (Result<SideAnswer, String>, Option<Usage>) {
    let (llm, model, profile) = (Ok(session.llm.clone()), session.name.clone(), String::new());
    let side_model = SideModel { llm, model, profile, limit: SAMPLING_LIMIT };
    let messages = request.messages.iter().map(|message| match message.is_of_model {
        true => Message::Model { text: message.text.clone(), calls: Vec::new(), echo: None },
        false => Message::User(message.text.clone()),
    });
    let body = Request { messages: messages.collect(), max_tokens: Some(request.max_tokens), ..Request::default() };
    ask_side_model(&side_model, &request.system, body, MAX_SAMPLED_BYTES).await
}

/// Sends a request to a model outside the conversation, with the system prompt first unless it is blank.
async fn ask_side_model(
    side_model: &SideModel,
    system: &str,
    request: Request,
    max_bytes: usize,
) -> (Result<SideAnswer, String>, Option<Usage>) {
    let system = Some(system).filter(|system| !system.trim().is_empty());
    let system = system.map(|system| Message::System(system.to_owned()));
    let messages = system.into_iter().chain(request.messages).collect();
    let request = Request { model: side_model.model.clone(), messages, ..request };
    let mut usage = None;
    let answer = request_any_answer(side_model, async { Ok(request) }, max_bytes, &mut usage).await;
    (answer, usage)
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
            let target = find_session_target(&session?)?;
            let model = model.map_or(target.model, str::to_owned);
            return Ok(PromptTarget { model, ..target });
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
        let request = Request {
            messages: vec![Message::User(prompt.text.clone())],
            max_tokens: Some(prompt.max_tokens),
            answer_schema: prompt.schema.clone(),
            ..Request::default()
        };
        let (answer, usage) = ask_side_model(&side_model, &prompt.system, request, MAX_ANSWER_BYTES).await;
        (answer.and_then(SideAnswer::into_complete), usage)
    }
}
