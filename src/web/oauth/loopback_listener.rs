//! Receives the redirect of the browser on this machine.

use super::Authorization;
use reqwest::Url;
use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Maximum bytes of a request's head.
const MAX_HEAD_BYTES: usize = 16 << 10;
/// Time limit of one connection, so that one that sends nothing does not block the next.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(5);
/// Path of the redirect.
const PATH: &str = "/callback";

/// A port of this machine that waits for one redirect.
pub struct LoopbackListener {
    listener: TcpListener,
    /// The address for the authorization server.
    pub redirect_uri: String,
}

impl LoopbackListener {
    /// Listens on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// If no port is available.
    pub async fn bind() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let redirect_uri = format!("http://127.0.0.1:{}{PATH}", listener.local_addr()?.port());
        Ok(Self { listener, redirect_uri })
    }

    /// Waits for the redirect of this sign-in, and returns its code. Any other request is answered and ignored.
    ///
    /// # Errors
    /// One sentence, if the server refused, the redirect is of another server, or nothing arrived within the time limit.
    pub async fn receive_code(self, authorization: &Authorization, time_limit: Duration) -> Result<String, String> {
        let receive = async {
            loop {
                let Ok((stream, _)) = self.listener.accept().await else { continue };
                let served = tokio::time::timeout(CONNECTION_TIMEOUT, serve(stream, authorization)).await;
                if let Ok(Some(result)) = served {
                    return result;
                }
            }
        };
        let minutes = time_limit.as_secs().div_ceil(60);
        let timed_out = || Err(format!("No sign-in within {minutes} min; nothing was saved."));
        tokio::time::timeout(time_limit, receive).await.unwrap_or_else(|_| timed_out())
    }
}

/// Answers one request. Returns the result if it is the redirect.
async fn serve(mut stream: TcpStream, authorization: &Authorization) -> Option<Result<String, String>> {
    let head = read_head(&mut stream).await?;
    let target =
        head.strip_prefix("GET ").and_then(|rest| rest.split(' ').next()).filter(|target| target.starts_with('/'));
    let url = target.and_then(|target| Url::parse(&format!("http://127.0.0.1{target}")).ok());
    let result = url.filter(|url| url.path() == PATH).and_then(|url| authorization.check_redirect(&url));
    let (status, text) = match &result {
        Some(Ok(_)) => ("200 OK", "Signed in. You can close this page and return to the terminal."),
        Some(Err(_)) => ("200 OK", "The sign-in failed. Return to the terminal."),
        None => ("404 Not Found", "This is not the sign-in that the terminal waits for."),
    };
    let length = text.len();
    let response = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {length}\r\ncache-control: no-store\r\nreferrer-policy: no-referrer\r\nconnection: close\r\n\r\n{text}"
    );
    // The code counts even if the browser has closed the connection.
    let _ = stream.write_all(response.as_bytes()).await;
    let _ = stream.shutdown().await;
    result
}

/// Reads up to the end of the head. `None` if it is too long or no text.
async fn read_head(stream: &mut TcpStream) -> Option<String> {
    let (mut head, mut buffer) = (Vec::new(), [0; 1024]);
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        head.extend_from_slice(&buffer[..count]);
        if head.len() > MAX_HEAD_BYTES {
            return None;
        }
    }
    String::from_utf8(head).ok()
}
