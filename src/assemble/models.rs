//! `aye models`: lists the provider's models, one per line.

use super::{Mistake, Start};
use crate::llm::models::Model;
use crate::tui::parts::status::tokens;
use crate::tui::text::clean::{clean, one_line};
use anyhow::{Result, anyhow};
use serde_json::json;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

/// Lists the models in the provider's order. A pipe gets only the names, or JSON with all details.
pub(super) async fn run(start: Start) -> Result<ExitCode> {
    let Some(service) = start.model.service else {
        return Err(Mistake(
            "no provider is configured: set the environment variable of its key, or use --profile or --base-url"
                .to_owned(),
        )
        .into());
    };
    let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
    for notice in start.notices {
        writeln!(err, "aye: {}", clean(&notice))?;
    }
    let models = service.models().await.map_err(|error| anyhow!("Cannot list the models: {error}"))?;
    let told = out.is_terminal();
    for model in models {
        let line = match (start.cli.json, told) {
            (true, _) => in_json(&model),
            (false, true) => in_words(&model),
            (false, false) => model.id,
        };
        match writeln!(out, "{line}") {
            // The reader of the pipe has closed it.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => break,
            written => written?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn in_json(model: &Model) -> String {
    let price = model.price;
    json!({
        "model": model.id,
        "context": model.context,
        "price_input": price.map(|price| price.input),
        "price_cached": price.map(|price| price.cached),
        "price_output": price.map(|price| price.output),
        "talks": model.talks,
    })
    .to_string()
}

fn in_words(model: &Model) -> String {
    let context = model.context.map(|context| format!("  {} context", tokens(context)));
    let price = model.price.map(|price| format!("  ${} / ${} per million tokens", price.input, price.output));
    let parts = [Some(one_line(&model.id).into_owned()), context, price];
    parts.into_iter().flatten().collect()
}
