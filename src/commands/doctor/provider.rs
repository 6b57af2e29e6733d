//! Checks the model: its address, its key, and whether the provider answers.

use super::finding::Finding;
use crate::assemble::connected_model::ConnectedModel;
use crate::assemble::connector::Connector;
use crate::config::{Connection, Origin};
use crate::llm::local_servers;
use crate::text::clean::clean_line;
use std::time::Duration;

/// Time limit for the provider.
const TIME_LIMIT: Duration = Duration::from_millis(2200);
/// Models listed per local server.
const MAX_LISTED: usize = 3;

/// Checks the configured connection, and lists the servers that run on this machine.
pub(super) async fn check_provider(is_tour: bool, connector: &Connector) -> Vec<Finding> {
    let connection = if is_tour { Ok(None) } else { connector.configured_connection() };
    let (findings, servers) = match connection {
        Ok(Some(connection)) => {
            tokio::join!(check_connection(connection), local_servers::find_local_servers())
        }
        Ok(None) => {
            let advice = "set the variable of a key, such as OPENAI_API_KEY, or use --base-url; until then aye \
                runs the tour";
            (vec![Finding::note("model", "none is configured", advice)], local_servers::find_local_servers().await)
        }
        Err(problem) => {
            let advice = "correct the setting, or use --profile or --base-url";
            (vec![Finding::problem("model", problem.to_string(), advice)], local_servers::find_local_servers().await)
        }
    };
    let local_findings = servers.iter().map(|server| {
        let models: Vec<_> = server.models.iter().take(MAX_LISTED).map(|model| clean_line(&model.id)).collect();
        let ellipsis = if server.models.len() > MAX_LISTED { ", …" } else { "" };
        let models = if models.is_empty() { String::new() } else { format!(": {}{ellipsis}", models.join(", ")) };
        Finding::ok("local", format!("{} at {}{models}", server.name, server.base_url))
    });
    findings.into_iter().chain(local_findings).collect()
}

/// Checks the configured model.
async fn check_connection(connection: Connection) -> Vec<Finding> {
    let area = "model";
    let mut findings = vec![Finding::ok(area, connection.describe())];
    findings.push(check_key(&connection));
    if let Some(origin) = &connection.key_elsewhere {
        let message = format!("the key saved for {origin} is not sent to {}", connection.origin());
        findings.push(Finding::note("key", message, "enter a key for this address with /connect"));
    }
    if let Some(warning) = &connection.warning {
        findings.push(Finding::note(area, warning, "use an https address if possible"));
    }
    if connection.has_key_command {
        let advice = "run aye models to test it with the key";
        findings.push(Finding::note(
            area,
            "the provider was not tested, because that would run the key command",
            advice,
        ));
        return findings;
    }
    // The longer waits that a provider may ask for are accepted only while a user watches.
    let is_watched = false;
    let Some(provider) = ConnectedModel::configured(&connection, is_watched).provider else { return findings };
    let origin = connection.origin();
    findings.push(match tokio::time::timeout(TIME_LIMIT, provider.models()).await {
        Err(_) => {
            let message = format!("{origin} did not answer within {:.1} s", TIME_LIMIT.as_secs_f32());
            Finding::problem(area, message, "try again; a server that loads its model, or a proxy, may need longer")
        }
        Ok(Err(error)) => {
            let advice = "check the address, the key and the proxy, and whether the server runs";
            Finding::problem(area, format!("{origin}: {}", clean_line(&error.to_string())), advice)
        }
        Ok(Ok(models)) => match &connection.model {
            Some(wanted) if !models.is_empty() && !models.iter().any(|model| is_same_model(&model.id, wanted)) => {
                let message = format!("{origin} answers, but {wanted} is not among its {} models", models.len());
                Finding::note(area, message, "aye models lists them; some providers do not list all models")
            }
            Some(_) | None => Finding::ok(area, format!("{origin} answers, with {} models", models.len())),
        },
    });
    findings
}

/// Returns whether a listed name is the wanted model; some providers add a prefix.
fn is_same_model(listed: &str, wanted: &str) -> bool {
    listed == wanted || listed.strip_prefix("models/") == Some(wanted)
}

/// Reports where the key comes from, never the key itself.
fn check_key(connection: &Connection) -> Finding {
    let area = "key";
    match (&connection.key_origin, connection.has_key()) {
        (Origin::Default, false) => Finding::ok(area, "none needed"),
        (Origin::Command(program), _) => {
            Finding::ok(area, format!("from the command {program}, which is run when it is needed"))
        }
        (origin, true) => Finding::ok(area, format!("from {origin}")),
        (origin, false) if connection.lacks_key => {
            let advice = "set the variable, or enter the key with /connect";
            Finding::problem(area, format!("missing: {origin} is not set"), advice)
        }
        (origin, false) => {
            Finding::ok(area, format!("none, and {origin} is not set; a server on this machine needs none"))
        }
    }
}
