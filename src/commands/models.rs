//! `aye models`: lists the provider's models, one per line.

use super::output::{print_lines, print_notices};
use crate::assemble::{Start, prepare_start};
use crate::cli::commands::Models;
use crate::cli::{ChatOptions, bail_usage};
use crate::llm::models::Model;
use crate::print::json_line;
use crate::text::clean::clean_line;
use crate::tui::parts::status_bar::format_tokens;
use anyhow::{Result, anyhow};
use serde_json::json;
use std::io::IsTerminal;
use std::process::ExitCode;

/// Lists the models in the provider's order: with details in a terminal, only the names otherwise, or as JSON.
pub(super) async fn run(arguments: Models) -> Result<ExitCode> {
    let Models { json, connection, place } = arguments;
    let options = ChatOptions { connection, folder: place.folder, tour: place.tour, ..ChatOptions::default() };
    let Start { model, notices, .. } = prepare_start(options)?;
    print_notices(notices)?;
    let Some(provider) = model.provider else {
        bail_usage!(
            "Cannot list the models: no provider is configured. Set the environment variable of its key, or use --profile or \
             --base-url."
        );
    };
    let models = provider.models().await.map_err(|error| anyhow!("Cannot list the models: {error}"))?;
    let is_terminal = std::io::stdout().is_terminal();
    let model_line = |model: Model| match (json, is_terminal) {
        (true, _) => model_json(&model),
        (false, true) => model_text(&model),
        (false, false) => model.id,
    };
    print_lines(models.into_iter().map(model_line))
}

fn model_json(model: &Model) -> String {
    let price = model.price;
    json_line(&json!({
        "model": model.id,
        "context": model.context_window,
        "price_input": price.map(|price| price.input),
        "price_cached": price.map(|price| price.cached),
        "price_output": price.map(|price| price.output),
        "is_chat": model.is_chat,
        // The name of version 0.1, kept for one release.
        "talks": model.is_chat,
    }))
}

fn model_text(model: &Model) -> String {
    let context = model.context_window.map(|context| format!("  {} context", format_tokens(context)));
    let price = model.price.map(|price| format!("  ${} / ${} per million tokens", price.input, price.output));
    let parts = [Some(clean_line(&model.id).into_owned()), context, price];
    parts.into_iter().flatten().collect()
}
