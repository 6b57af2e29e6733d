//! Transport to a server at an address: streamable HTTP.

use crate::web::client::build_service_client;
use reqwest::Client;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use std::collections::{BTreeMap, HashMap};

/// Maximum bytes of an answer.
const MAX_ANSWER_BYTES: usize = 16 << 20;

/// Opens the transport. Nothing is sent yet.
///
/// # Errors
/// One sentence, worded to follow the server's name, without the values of headers.
pub(super) async fn open_transport(
    url: &str,
    headers: &BTreeMap<String, String>,
) -> Result<StreamableHttpClientTransport<Client>, String> {
    let parse_header = |(name, value): (&String, &String)| {
        let header = HeaderName::try_from(name.as_str()).ok().zip(HeaderValue::try_from(value.as_str()).ok());
        header.ok_or_else(|| format!("its header {name:?} cannot be sent"))
    };
    let headers: HashMap<HeaderName, HeaderValue> = headers.iter().map(parse_header).collect::<Result<_, _>>()?;
    let built = tokio::task::spawn_blocking(build_service_client).await;
    let client = built.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(headers)
        .max_json_response_size(MAX_ANSWER_BYTES)
        .max_sse_event_size(MAX_ANSWER_BYTES);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}
