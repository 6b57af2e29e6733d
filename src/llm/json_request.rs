//! Requests of a JSON document other than a reply, limited in size and time.

use super::address::add_query;
use reqwest::header::HeaderMap;
use reqwest::{Client, Url};
use serde_json::Value;
use std::time::Duration;

/// Requests a JSON document. Returns `None` on any error, if it has more than `max_bytes`, and after `limit`.
pub async fn get_json(
    http: &Client,
    mut url: Url,
    query: &[(String, String)],
    headers: &HeaderMap,
    max_bytes: usize,
    limit: Duration,
) -> Option<Value> {
    add_query(&mut url, query);
    let request = async {
        let mut response = http.get(url).headers(headers.clone()).send().await.ok()?;
        if !response.status().is_success() {
            return None;
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.ok()? {
            body.extend_from_slice(&chunk);
            if body.len() > max_bytes {
                return None;
            }
        }
        serde_json::from_slice(&body).ok()
    };
    tokio::time::timeout(limit, request).await.ok().flatten()
}
