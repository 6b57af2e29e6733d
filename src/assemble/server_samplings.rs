//! Asks the user, and then the session's model, what an MCP server wants to ask it.

use super::screen_requests::ScreenRequests;
use super::settings_profiles::SettingsProfiles;
use crate::chat::sampling::{SamplingRequest, SamplingStep};
use crate::mcp::sampling_prompts::{SampledAnswer, Sampler, SamplingRefusal};
use crate::tools::prompt_tool::PromptModels;
use crate::tui::host::{HostReply, SamplingReview, SamplingSubject};
use async_trait::async_trait;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc;

/// The prompts for requests of MCP servers of this run.
pub(super) struct ServerSamplings {
    requests: ScreenRequests<bool>,
    profiles: Arc<SettingsProfiles>,
}

/// The step that is recorded if the server stops waiting.
struct PendingStep<'a> {
    samplings: &'a ServerSamplings,
    step: Option<SamplingStep>,
}

impl Drop for PendingStep<'_> {
    fn drop(&mut self) {
        let Some(step) = self.step.take() else { return };
        self.samplings.requests.send_later(HostReply::SamplingStepped(Box::new(step)));
    }
}

impl ServerSamplings {
    pub(super) fn new(profiles: Arc<SettingsProfiles>) -> Self {
        Self { requests: ScreenRequests::new(HostReply::SamplingWithdrawn), profiles }
    }

    /// Shows the prompts on this screen from now on.
    pub(super) fn set_screen(&self, replies: mpsc::Sender<HostReply>) {
        self.requests.set_screen(replies);
    }

    /// Passes on a decision. One on a prompt that was withdrawn is dropped.
    pub(super) fn answer(&self, id: u64, is_approved: bool) {
        self.requests.answer(id, is_approved);
    }

    /// Asks the user. The screen records the decision before it answers.
    async fn ask(&self, subject: SamplingSubject) -> Result<(), SamplingRefusal> {
        let show = |id| HostReply::SamplingRequested(Arc::new(SamplingReview { id, subject }));
        match self.requests.ask(show).await {
            Some(true) => Ok(()),
            Some(false) => Err(SamplingRefusal::Denied),
            None => Err(SamplingRefusal::Failed("No user can be asked.".to_owned())),
        }
    }
}

#[async_trait]
impl Sampler for ServerSamplings {
    async fn sample(&self, request: SamplingRequest) -> Result<SampledAnswer, SamplingRefusal> {
        let _turn = self.requests.take_turn().await;
        let find_target = || self.profiles.find_target(None, None);
        let target = find_target().map_err(SamplingRefusal::Failed)?;
        let (server, model) = (request.server.clone(), target.describe());
        self.ask(SamplingSubject::Request { request: request.clone(), model: model.clone() }).await?;
        let start = Instant::now();
        let answered = |text: &str, error: Option<&str>, usage| SamplingStep::Answered {
            server: server.clone(),
            text: text.to_owned(),
            error: error.map(str::to_owned),
            usage,
            took_ms: u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        let stopped = answered("", Some("the server stopped waiting before the model answered"), None);
        let mut pending = PendingStep { samplings: self, step: Some(stopped) };
        let (answer, usage) = match find_target() {
            Ok(current) if current == target => self.profiles.sample(&target, &request).await,
            _ => (Err("another model is in use since you were asked, and nothing was sent".to_owned()), None),
        };
        let answer = match answer {
            Ok(answer) if answer.text.trim().is_empty() => Err("its answer is empty".to_owned()),
            answer => answer,
        };
        pending.step = None;
        let step = match &answer {
            Ok(answer) => answered(&answer.text, None, usage),
            Err(reason) => answered("", Some(reason), usage),
        };
        self.requests.send(HostReply::SamplingStepped(Box::new(step))).await;
        let answer =
            answer.map_err(|reason| SamplingRefusal::Failed(format!("The model gave no answer: {reason}.")))?;
        pending.step = Some(SamplingStep::Returned { server: server.clone(), is_approved: false, by: None });
        let subject = SamplingSubject::Answer { server: server.clone(), model, text: answer.text.clone() };
        let decision = self.ask(subject).await;
        // The screen has recorded it.
        pending.step = None;
        decision.map(|()| SampledAnswer { text: answer.text, model: target.model, is_cut_off: answer.is_cut_off })
    }

    async fn warn(&self, notice: String) {
        self.requests.warn(notice).await;
    }
}
