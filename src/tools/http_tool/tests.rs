//! Requests with a credential: who receives it, and what happens without it.

use super::*;
use crate::tools::memory_project::MemoryProject;
use crate::tools::tests::{plan_call, run_call};
use crate::tools::tool_file::{ToolKind, parse_tool};
use crate::web::request_credentials::NoCredentials;
use std::sync::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Has one credential for one origin.
struct OneCredential(String);

impl RequestCredentials for OneCredential {
    fn header(&self, name: &str, url: &reqwest::Url) -> Result<(HeaderName, HeaderValue), String> {
        match name == "service" && url.origin().ascii_serialization() == self.0 {
            true => Ok((reqwest::header::AUTHORIZATION, HeaderValue::from_static("Bearer secret-of-the-service"))),
            false => Err(format!("The credential “{name}” is for {} only.", self.0)),
        }
    }
}

/// Starts a server that answers each request with the next response. Returns its origin and what it received.
async fn start_server(responses: Vec<String>) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let received = Arc::<Mutex<Vec<String>>>::default();
    let log = received.clone();
    tokio::spawn(async move {
        for response in responses {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut bytes = [0; 8192];
            let length = stream.read(&mut bytes).await.unwrap();
            log.lock().unwrap().push(String::from_utf8_lossy(&bytes[..length]).into_owned());
            stream.write_all(response.as_bytes()).await.unwrap();
        }
    });
    (origin, received)
}

fn response(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn build_tool(url: &str, lines: &str, credentials: Arc<dyn RequestCredentials>) -> HttpTool {
    let text = format!(
        "name = \"get\"\ntype = \"http_api\"\nmethod = \"GET\"\nurl = \"{url}\"\ncredential = \"service\"\nallow_private = true\n{lines}"
    );
    let parsed = parse_tool("get.toml", &text);
    let definition = parsed.definition.unwrap_or_else(|| panic!("{:?}", parsed.problems));
    let ToolKind::Http(http) = definition.kind else { panic!("a request") };
    // The other host of these tests is allowed, so that only the origin protects the credential.
    let client = Arc::new(WebClient::new(PrivateHosts(vec!["127.0.0.1".into()])));
    HttpTool::new(definition.head, *http, &client, credentials)
}

async fn call(tool: &HttpTool) -> (Plan, Result<String, String>) {
    let files = MemoryProject::with_files(&[]);
    let plan = plan_call(tool, json!({}), &files).unwrap();
    let result = run_call(tool, &plan, &files).await.map_err(|error| error.to_string());
    (plan, result)
}

#[tokio::test]
async fn a_credential_is_sent_and_neither_planned_nor_returned() {
    let (origin, received) = start_server(vec![response("200 OK", "", "you sent Bearer secret-of-the-service")]).await;
    let tool =
        build_tool(&origin, "headers = { authorization = \"of the file\" }", Arc::new(OneCredential(origin.clone())));
    let (plan, result) = call(&tool).await;
    assert!(result.unwrap().ends_with("you sent [credential]"));
    let request = received.lock().unwrap()[0].to_lowercase();
    assert!(request.contains("authorization: bearer secret-of-the-service\r\n"), "{request}");
    assert_eq!(request.matches("authorization:").count(), 1, "{request}");
    let planned = format!("{plan:?}");
    assert!(
        !planned.contains("secret-of-the-service") && planned.contains("added by aye: the credential “service”"),
        "{planned}"
    );
    let Preview::Text(preview) = &plan.preview else { panic!("{plan:?}") };
    assert!(preview.contains("authorization: [redacted]") && !preview.contains("of the file"), "{preview}");
}

#[tokio::test]
async fn no_request_is_sent_without_its_credential() {
    let (origin, received) = start_server(vec![response("200 OK", "", "sent")]).await;
    let missing = call(&build_tool(&origin, "", Arc::new(NoCredentials))).await.1;
    let other = call(&build_tool(&origin, "", Arc::new(OneCredential("https://other.example".into())))).await.1;
    assert!(missing.unwrap_err().contains("is missing"));
    assert!(other.unwrap_err().contains("is for https://other.example only"));
    assert!(received.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_redirect_to_another_origin_is_not_followed() {
    let (other, other_received) = start_server(vec![response("200 OK", "", "reached")]).await;
    let to_other = response("302 Found", &format!("Location: {other}/x\r\n"), "");
    let to_same = response("302 Found", "Location: /y\r\n", "");
    let (origin, received) = start_server(vec![to_same, to_other]).await;
    let tool = build_tool(&origin, "", Arc::new(OneCredential(origin.clone())));
    let error = call(&tool).await.1.unwrap_err();
    assert!(error.contains(&format!("redirects to {other}")), "{error}");
    assert!(other_received.lock().unwrap().is_empty(), "the other origin was reached");
    let requests = received.lock().unwrap().clone();
    assert!(requests.len() == 2 && requests[1].starts_with("GET /y "), "{requests:?}");
}

#[tokio::test]
async fn a_server_that_never_finishes_ends_with_the_time_limit() {
    let endless = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nstart".to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        // A response before the request would be an error of its own.
        let mut request = [0; 8192];
        assert!(stream.read(&mut request).await.unwrap() > 0);
        stream.write_all(endless.as_bytes()).await.unwrap();
        std::future::pending::<()>().await;
    });
    let tool = build_tool(&origin, "timeout_ms = 200", Arc::new(OneCredential(origin.clone())));
    let error = call(&tool).await.1.unwrap_err();
    assert_eq!(error, "127.0.0.1 did not answer within 0.2 s.");
}

/// Has a token that can be renewed once.
struct RenewedToken;

impl RequestCredentials for RenewedToken {
    fn header(&self, _: &str, _: &reqwest::Url) -> Result<(HeaderName, HeaderValue), String> {
        Ok((reqwest::header::AUTHORIZATION, HeaderValue::from_static("Bearer old-token")))
    }

    fn renew_header(
        &self,
        _: &str,
        _: &reqwest::Url,
        rejected: &HeaderValue,
    ) -> Result<Option<(HeaderName, HeaderValue)>, String> {
        assert_eq!(rejected, "Bearer old-token");
        Ok(Some((reqwest::header::AUTHORIZATION, HeaderValue::from_static("Bearer new-token"))))
    }
}

#[tokio::test]
async fn a_rejected_token_is_renewed_once_and_withheld_wherever_the_text_is_cut() {
    // The server repeats the new token where the result ends.
    let echo = format!("{}Bearer new-token", "x".repeat((16 << 10) - 8));
    let (origin, received) = start_server(vec![response("401 No", "", ""), response("200 OK", "", &echo)]).await;
    let (_, result) = call(&build_tool(&origin, "", Arc::new(RenewedToken))).await;
    let result = result.unwrap();
    assert!(!result.contains("Bearer") && !result.contains("new-"), "{}", &result[result.len() - 60..]);
    let tokens: Vec<bool> = received.lock().unwrap().iter().map(|text| text.contains("Bearer new-token")).collect();
    assert_eq!(tokens, [false, true]);
    let (origin, received) = start_server(vec![response("401 No", "", ""), response("401 No", "", "")]).await;
    let (_, result) = call(&build_tool(&origin, "", Arc::new(RenewedToken))).await;
    assert!(result.unwrap_err().to_string().contains("401") && received.lock().unwrap().len() == 2);
}
