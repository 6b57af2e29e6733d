//! Model servers found on this machine, for a person who has set up nothing.

use super::models::{self, Model};
use super::{address, client};
use futures::future::join_all;
use reqwest::header::HeaderMap;
use std::time::Duration;

/// How long each may take to answer.
const LIMIT: Duration = Duration::from_millis(200);

/// The servers people run, and where each listens unless told otherwise.
const KNOWN: [(&str, u16); 8] = [
    ("Ollama", 11434),
    ("LM Studio", 1234),
    ("llama.cpp", 8080),
    ("vLLM", 8000),
    ("SGLang", 30000),
    ("KoboldCpp", 5001),
    ("LiteLLM", 4000),
    ("Jan", 1337),
];

/// A model server that answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    /// What usually listens there; a guess by its port.
    pub name: String,
    /// Its base address, as [`super::Settings::base_url`] wants it.
    pub base_url: String,
    /// What it offers; may be empty.
    pub models: Vec<Model>,
}

/// Asks all known ports of this machine at once for their models. Takes a fifth of a second at most, sends no key,
/// and finds nothing rather than failing.
pub async fn find() -> Vec<Server> {
    find_at(&KNOWN).await
}

/// The same for other names and ports.
pub async fn find_at(places: &[(&str, u16)]) -> Vec<Server> {
    let asked = join_all(places.iter().map(|(name, port)| ask(name, *port)));
    asked.await.into_iter().flatten().collect()
}

async fn ask(name: &str, port: u16) -> Option<Server> {
    let base_url = format!("http://127.0.0.1:{port}/v1");
    let url = address::parse(&base_url).ok()?;
    let link = client::build(&url, &client::Way::default()).ok()?;
    let models = models::list(&link, &url, &[], HeaderMap::new(), LIMIT).await.ok()?;
    Some(Server { name: name.to_owned(), base_url, models })
}
