//! The question prompt for a form of an MCP server. Its answers go to the server and nowhere else.

use super::QuestionPrompt;
use super::declining::Declining;
use super::question_layout::QuestionContext;
use crate::chat::{CallId, FormReply};
use crate::tui::effect::Effect;
use crate::tui::host::{FormRequest, HostRequest};
use crate::tui::keys::{Action, Scope};
use crate::tui::parts::frame::PromptContext;
use crate::tui::parts::listening::Listening;
use crate::tui::prompts::prompt::{DrawnPrompt, KeyResult, Prompt, PromptCommand, PromptFacts, PromptSubject};
use crossterm::event::{KeyEvent, KeyEventKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::sync::Arc;
use std::time::Duration;

/// Prompt for a form.
#[derive(Debug)]
pub struct ServerFormPrompt {
    request: Arc<FormRequest>,
    prompt: QuestionPrompt,
}

impl ServerFormPrompt {
    pub fn new(request: Arc<FormRequest>) -> Self {
        // The id is not that of a call: no answer of this prompt is one to a call.
        let prompt = QuestionPrompt::new(CallId(String::new()), &request.form.questions);
        Self { prompt: QuestionPrompt { is_for_server: true, ..prompt }, request }
    }

    fn reply(&self, reply: FormReply) -> KeyResult {
        let (id, server) = (self.request.id, &self.request.form.server);
        let notice = match &reply {
            FormReply::Accepted(_) => format!("Sent to MCP server {server}"),
            FormReply::Declined => format!("Declined to answer MCP server {server}"),
            FormReply::Cancelled => format!("Cancelled the question of MCP server {server}"),
        };
        KeyResult::Run(vec![
            PromptCommand::IgnoreRepeats,
            PromptCommand::CloseForm(id),
            PromptCommand::Notify(notice),
            PromptCommand::Effect(Effect::Request(HostRequest::AnswerForm { id, reply })),
        ])
    }

    /// Sends the answers of the question prompt as a reply to the server, or explains what is wrong with them.
    fn convert(&self, result: KeyResult) -> KeyResult {
        let KeyResult::Run(commands) = &result else { return result };
        let answer = commands.iter().find_map(|command| match command {
            PromptCommand::Answer(_, answer) => Some(answer),
            _ => None,
        });
        match answer.map(|answer| self.request.form.to_reply(answer)) {
            Some(Ok(reply)) => self.reply(reply),
            Some(Err(problem)) => KeyResult::Explained(format!("Not sent: {problem}")),
            None => result,
        }
    }
}

impl Prompt for ServerFormPrompt {
    fn is_about(&self, subject: PromptSubject<'_>) -> bool {
        matches!(subject, PromptSubject::Form(request) if request.id == self.request.id)
    }

    fn scope(&self) -> Scope {
        Scope::Question
    }

    fn is_question(&self) -> bool {
        // It is neither parked nor saved.
        false
    }

    fn notification(&self) -> &'static str {
        "An MCP server has a question"
    }

    fn prompt_height(&self, facts: &PromptFacts<'_>, width: u16) -> u16 {
        self.prompt.preferred_height(&self.request.form.questions, width, facts.context.theme)
    }

    fn draw_prompt(&self, facts: &PromptFacts<'_>, area: Rect, buffer: &mut Buffer) -> DrawnPrompt {
        let form = &self.request.form;
        let origin = format!("server {} asks", form.server);
        self.prompt.draw(&form.questions, Some(&origin), &QuestionContext::new(facts), area, buffer)
    }

    fn record_frame(&mut self, now: Duration, drawn: DrawnPrompt) {
        self.prompt.record_frame(now, drawn);
    }

    fn first_drawn(&self) -> Option<Duration> {
        self.prompt.first_drawn
    }

    fn handle_prompt_key(&mut self, key: &KeyEvent, facts: &PromptFacts<'_>) -> KeyResult {
        let PromptContext { keys, listening, .. } = facts.context;
        if listening.is_listening() && self.prompt.open_field.is_none() && key.kind == KeyEventKind::Press {
            match keys.lookup(Scope::Question, key) {
                Some(Action::AnswerLater) => return self.reply(FormReply::Cancelled),
                Some(Action::Note) => return KeyResult::Explained("A server receives no notes".to_owned()),
                Some(_) | None => {}
            }
        }
        if listening.is_listening()
            && let Some(result) = self.prompt.handle_declining_key(key, keys, facts.now)
        {
            let is_declined = matches!(self.prompt.declining, Declining::Until(_));
            return if is_declined { self.reply(FormReply::Declined) } else { result };
        }
        let result = self.prompt.handle_key(key, keys, &self.request.form.questions, listening);
        self.convert(result)
    }

    fn is_writing(&self) -> bool {
        self.prompt.is_writing()
    }

    fn takes_text(&self, listening: Listening) -> bool {
        self.prompt.takes_text(listening)
    }

    fn insert_paste(&mut self, text: &str) -> bool {
        self.prompt.insert_paste(text)
    }

    fn scroll_content(&mut self, lines: isize) -> bool {
        self.prompt.scroll_content(lines)
    }
}
