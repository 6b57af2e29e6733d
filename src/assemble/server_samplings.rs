//! Asks the user, and then the session's model, what an MCP server wants to ask it.

use super::screen_requests::ScreenRequests;
use super::settings_profiles::{SettingsProfiles, find_session_target, sample_model};
use crate::chat::sampling::{SamplingRequest, SamplingStep};
use crate::mcp::sampling_prompts::{SampledAnswer, Sampler, SamplingRefusal};
use crate::tui::host::{HostReply, SamplingReview, SamplingSubject};
use async_trait::async_trait;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// The prompts for requests of MCP servers of this run.
pub(super) struct ServerSamplings {
    requests: ScreenRequests<bool>,
    profiles: Arc<SettingsProfiles>,
}

/// Steps that are recorded if the server stops waiting.
struct PendingSteps<'a> {
    requests: &'a ScreenRequests<bool>,
    steps: Vec<SamplingStep>,
}

impl Drop for PendingSteps<'_> {
    fn drop(&mut self) {
        for step in self.steps.drain(..) {
            self.requests.send_later(HostReply::SamplingStepped(Box::new(step)));
        }
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
        // The one that is shown is asked, whatever the session continues with meanwhile.
        let session = self.profiles.session_model().map_err(SamplingRefusal::Failed)?;
        let target = find_session_target(&session).map_err(SamplingRefusal::Failed)?;
        let (server, model) = (request.server.clone(), target.describe());
        let answered = |text: &str, error: Option<&str>, usage, took: Duration| SamplingStep::Answered {
            server: server.clone(),
            text: text.to_owned(),
            error: error.map(str::to_owned),
            usage,
            took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        };
        let stopped = answered("", Some("the server stopped waiting before the model answered"), None, Duration::ZERO);
        let abandoned = SamplingStep::Returned { server: server.clone(), is_approved: false, by: None };
        // From here on, because an approval may be recorded and never arrive. Without one the screen ignores the step.
        let mut pending = PendingSteps { requests: &self.requests, steps: vec![stopped] };
        let subject = SamplingSubject::Request { request: request.clone(), model: model.clone() };
        self.ask(subject).await.inspect_err(|_| pending.steps.clear())?;
        let start = Instant::now();
        let (answer, usage) = sample_model(&session, &request).await;
        let answer = match answer {
            Ok(answer) if answer.text.trim().is_empty() => Err("its answer is empty".to_owned()),
            answer => answer,
        };
        let step = match &answer {
            Ok(answer) => answered(&answer.text, None, usage, start.elapsed()),
            Err(reason) => answered("", Some(reason), usage, start.elapsed()),
        };
        pending.steps = std::iter::once(step.clone()).chain(answer.is_ok().then_some(abandoned)).collect();
        self.requests.send(HostReply::SamplingStepped(Box::new(step))).await;
        pending.steps.remove(0);
        let answer =
            answer.map_err(|reason| SamplingRefusal::Failed(format!("The model gave no answer: {reason}.")))?;
        let subject = SamplingSubject::Answer { server: server.clone(), model, text: answer.text.clone() };
        let decision = self.ask(subject).await;
        // The screen has recorded it.
        pending.steps.clear();
        decision.map(|()| SampledAnswer { text: answer.text, model: target.model, is_cut_off: answer.is_cut_off })
    }

    async fn warn(&self, notice: String) {
        self.requests.warn(notice).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::connected_model::ConnectedModel;
    use crate::assemble::connected_model::tests::parse_connection;
    use crate::config::{Overrides, Settings};
    use crate::scripted::{Scripted, says};
    use crate::store::Places;
    use serde_json::json;
    use std::path::Path;

    /// A session's model at this port of one host.
    fn connect_model(port: u16, model: &Scripted) -> ConnectedModel {
        let file = format!("[profiles.p]\nbase_url = \"http://localhost:{port}/v1\"\nmodel = \"m\"");
        let is_watched = false;
        let connected = ConnectedModel::configured(&parse_connection(&file), is_watched);
        ConnectedModel { llm: Arc::new(model.clone()), ..connected }
    }

    /// The prompts of a session with this model, on a screen that takes one reply at a time.
    fn samplings_with(model: &Scripted) -> (ServerSamplings, mpsc::Receiver<HostReply>) {
        let no_variables = |_: &str| None;
        let settings = Settings::from_layers([], &no_variables, &Overrides::default());
        let profiles =
            SettingsProfiles::new(Arc::new(settings), &Overrides::default(), &Places::within(Path::new("/none")));
        profiles.set_session_model(&connect_model(1, model));
        let samplings = ServerSamplings::new(Arc::new(profiles));
        let (replies, screen) = mpsc::channel(1);
        samplings.set_screen(replies);
        (samplings, screen)
    }

    fn request() -> SamplingRequest {
        let message = json!({ "role": "user", "content": { "type": "text", "text": "Hi" } });
        SamplingRequest::parse("files", &json!({ "messages": [message], "maxTokens": 9 })).unwrap()
    }

    /// Runs the request until the user is asked, and returns the number of the prompt.
    async fn wait_for_prompt(sampling: &mut (impl Future + Unpin), screen: &mut mpsc::Receiver<HostReply>) -> u64 {
        let shown = async {
            loop {
                if let HostReply::SamplingRequested(review) = screen.recv().await.unwrap() {
                    return review.id;
                }
            }
        };
        tokio::select! {
            id = shown => id,
            _ = sampling => panic!("it ended without the user"),
        }
    }

    #[tokio::test]
    async fn the_model_that_was_shown_is_asked() {
        let (shown, other) = (Scripted::new([says("Hello")]), Scripted::new([says("Wrong")]));
        let (samplings, mut screen) = samplings_with(&shown);
        let mut sampling = samplings.sample(request());
        let id = wait_for_prompt(&mut sampling, &mut screen).await;
        samplings.profiles.set_session_model(&connect_model(2, &other));
        samplings.answer(id, true);
        let id = wait_for_prompt(&mut sampling, &mut screen).await;
        samplings.answer(id, true);
        assert_eq!(sampling.await.unwrap().text, "Hello");
        assert_eq!(other.requests().lock().unwrap().len(), 0, "the same name and host do not make it the same model");
    }

    /// Returns the words for the next steps that the screen receives.
    async fn next_steps(screen: &mut mpsc::Receiver<HostReply>, count: usize) -> Vec<&'static str> {
        let mut names = Vec::new();
        while names.len() < count {
            let reply = tokio::time::timeout(Duration::from_secs(60), screen.recv()).await.expect("a step is missing");
            match reply.unwrap() {
                HostReply::SamplingStepped(step) => names.push(step.state_name()),
                HostReply::SamplingWithdrawn(_) => names.push("withdrawn"),
                _ => {}
            }
        }
        names
    }

    #[tokio::test]
    async fn an_approval_that_is_never_received_has_an_end() {
        let (samplings, mut screen) = samplings_with(&Scripted::new([]));
        let mut sampling = samplings.sample(request());
        let id = wait_for_prompt(&mut sampling, &mut screen).await;
        samplings.answer(id, true);
        drop(sampling);
        assert_eq!(next_steps(&mut screen, 1).await, ["not answered"]);
    }

    #[tokio::test]
    async fn a_prompt_is_withdrawn_before_the_end_is_recorded() {
        for _ in 0..100 {
            let (samplings, mut screen) = samplings_with(&Scripted::new([]));
            let mut sampling = samplings.sample(request());
            wait_for_prompt(&mut sampling, &mut screen).await;
            // The screen is busy.
            samplings.warn(String::new()).await;
            drop(sampling);
            assert_eq!(next_steps(&mut screen, 2).await, ["withdrawn", "not answered"], "it could still be approved");
        }
    }

    #[tokio::test]
    async fn a_denial_needs_no_end() {
        let (samplings, mut screen) = samplings_with(&Scripted::new([]));
        let mut sampling = samplings.sample(request());
        let id = wait_for_prompt(&mut sampling, &mut screen).await;
        samplings.answer(id, false);
        assert_eq!(sampling.await, Err(SamplingRefusal::Denied));
        samplings.requests.send_later(HostReply::SamplingWithdrawn(id));
        assert_eq!(next_steps(&mut screen, 1).await, ["withdrawn"]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_is_recorded_if_the_server_stops_waiting_while_the_screen_is_busy() {
        let (samplings, mut screen) = samplings_with(&Scripted::new([says("Hello")]));
        let mut sampling = samplings.sample(request());
        let id = wait_for_prompt(&mut sampling, &mut screen).await;
        samplings.answer(id, true);
        samplings.warn(String::new()).await;
        tokio::time::timeout(Duration::from_secs(1), &mut sampling).await.unwrap_err();
        drop(sampling);
        assert_eq!(next_steps(&mut screen, 2).await, ["answered", "abandoned"]);
        assert!(screen.try_recv().is_err(), "nothing else");
    }
}
