//! Requests the model list of a provider.

use super::address::add_query;
use super::client::HttpClient;
use super::connection_error::connection_error;
use super::error_response::{read_error_response, redirect_error};
use super::models::{Model, parse_models};
use super::response_body::Body;
use super::timeouts::Pulse;
use super::{Error, address_advice};
use reqwest::Url;
use reqwest::header::HeaderMap;
use std::time::Duration;

/// Requests the list at `{base}/models`, in the provider's order.
pub(super) async fn request_models(
    link: &HttpClient,
    base: &Url,
    query: &[(String, String)],
    headers: HeaderMap,
    limit: Duration,
) -> Result<Vec<Model>, Error> {
    let mut url = base.clone();
    url.set_path(&format!("{}/models", base.path().trim_end_matches('/')));
    add_query(&mut url, query);
    let asked = async {
        let response = match link.http.get(url).headers(headers.clone()).send().await {
            Ok(response) => response,
            Err(error) => {
                return Err(connection_error(&error, base, link.proxy.as_ref()).await);
            }
        };
        let (status, told, at) = (response.status(), response.headers().clone(), response.url().clone());
        if status.is_redirection() {
            return Err(redirect_error(status.as_u16(), &told, &at));
        }
        let body = Body::new(response, limit, Pulse::start_now());
        if !status.is_success() {
            let error = read_error_response(status.as_u16(), &told, body.ok(), base, link.proxy.as_ref()).await;
            return Err(address_advice::add_advice(error, link, base, query, &headers).await);
        }
        let mut body = body?;
        body.peek_all().await?;
        if let Some(list) = serde_json::from_str(&body.peeked_text()).ok().as_ref().and_then(parse_models) {
            return Ok(list);
        }
        let advice = address_advice::advise_address(link, base, query, &headers).await;
        Err(Error::InvalidReply(format!("Cannot list the models: the response is not a list of models. {advice}")))
    };
    tokio::time::timeout(limit, asked).await.unwrap_or(Err(Error::Idle(limit)))
}
