//! Requests the model list of a provider.

use super::Error;
use super::models::{Model, parse_models};
use super::transport::{Transport, unwrap_error};
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use async_openai::traits::RequestOptionsBuilder;
use reqwest::Response;
use serde_json::Value;
use tower::BoxError;

/// Requests the list at `{base}/models`, in the provider's order. The idle limit applies to the whole request.
///
/// # Errors
/// Fails if there is no list of models within the idle limit.
pub(super) async fn request_models(transport: &Transport) -> Result<Vec<Model>, Error> {
    let limit = transport.idle_limit;
    tokio::time::timeout(limit, list_models(transport)).await.unwrap_or(Err(Error::Idle(limit)))
}

async fn list_models(transport: &Transport) -> Result<Vec<Model>, Error> {
    let sender = transport.clone();
    let client = transport.openai_client(move |factory| send_list_request(sender.clone(), factory));
    let models = client.models().headers(transport.headers.clone()).query(&transport.query).map_err(unwrap_error)?;
    let list = match models.list_byot::<Value>().await {
        Ok(body) => parse_models(&body),
        Err(OpenAIError::JSONDeserialize(..)) => None,
        Err(error) => return Err(unwrap_error(error)),
    };
    match list {
        Some(list) => Ok(list),
        None => {
            let advice = transport.advise_address().await;
            Err(Error::InvalidReply(format!("Cannot list the models: the response is not a list of models. {advice}")))
        }
    }
}

/// Sends the request for a list, which is read with a limit on its time and its size.
async fn send_list_request(transport: Transport, factory: HttpRequestFactory) -> Result<Response, BoxError> {
    let request = transport.build_request(factory).await?;
    let (_, mut body) = transport.send_request(request).await?;
    body.peek_all().await?;
    Ok(http::Response::new(reqwest::Body::from(body.peeked_text())).into())
}
