//! Asks the user on the screen what an MCP server wants to know.

use super::screen_requests::ScreenRequests;
use crate::chat::{FormReply, ServerForm};
use crate::mcp::form_prompts::FormPrompts;
use crate::tui::host::{FormRequest, HostReply};
use async_trait::async_trait;
use std::sync::Arc;
use tokio::sync::mpsc;

/// The prompts for forms of this run.
pub(super) struct ServerForms {
    requests: ScreenRequests<FormReply>,
}

impl ServerForms {
    pub(super) fn new() -> Self {
        Self { requests: ScreenRequests::new(HostReply::FormWithdrawn) }
    }

    /// Shows the prompts on this screen from now on.
    pub(super) fn set_screen(&self, replies: mpsc::Sender<HostReply>) {
        self.requests.set_screen(replies);
    }

    /// Passes on the reply to a form. A reply to one that was withdrawn is dropped.
    pub(super) fn answer(&self, id: u64, reply: FormReply) {
        self.requests.answer(id, reply);
    }
}

#[async_trait]
impl FormPrompts for ServerForms {
    async fn ask(&self, form: ServerForm) -> FormReply {
        let _turn = self.requests.take_turn().await;
        let show = |id| HostReply::FormRequested(Arc::new(FormRequest { id, form }));
        self.requests.ask(show).await.unwrap_or(FormReply::Declined)
    }

    async fn warn(&self, notice: String) {
        self.requests.warn(notice).await;
    }
}
