//! Finds local model servers for users who have not configured a provider.

use super::models::Model;
use super::timeouts::Pulse;
use super::transport::Transport;
use super::{address, client, models_request};
use futures::future::join_all;
use reqwest::header::HeaderMap;
use std::time::Duration;

/// Time limit for each server.
const PROBE_TIMEOUT: Duration = Duration::from_millis(200);

/// Known servers and their default ports.
#[rustfmt::skip]
const KNOWN_SERVERS: [(&str, u16); 8] = [
    ("Ollama", 11434), ("LM Studio", 1234), ("llama.cpp", 8080), ("vLLM", 8000), ("SGLang", 30000), ("KoboldCpp", 5001),
    ("LiteLLM", 4000), ("Jan", 1337),
];

/// A model server that answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    /// Name of the server that usually uses this port.
    pub name: String,
    /// Base address, as in [`super::Settings::base_url`].
    pub base_url: String,
    /// Models it offers. May be empty.
    pub models: Vec<Model>,
}

/// Requests the model lists of all known local ports concurrently. Takes 200 ms at most, sends no key, and ignores
/// errors.
pub async fn find_local_servers() -> Vec<Server> {
    find_servers_at(&KNOWN_SERVERS).await
}

/// Like `find_local_servers`, with other names and ports.
pub async fn find_servers_at(servers: &[(&str, u16)]) -> Vec<Server> {
    let probes = join_all(servers.iter().map(|(name, port)| probe_server(name, *port)));
    probes.await.into_iter().flatten().collect()
}

async fn probe_server(name: &str, port: u16) -> Option<Server> {
    let base_url = format!("http://127.0.0.1:{port}/v1");
    let url = address::parse_base_address(&base_url).ok()?;
    let http = client::build_client(&url, &client::ConnectionOptions::default()).ok()?;
    let (query, headers, pulse) = (Vec::new(), HeaderMap::new(), Pulse::start_now());
    let transport = Transport { http, base: url, query, headers, idle_limit: PROBE_TIMEOUT, pulse };
    let models = models_request::request_models(&transport).await.ok()?;
    Some(Server { name: name.to_owned(), base_url, models })
}
