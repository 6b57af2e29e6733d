//! A request of a tool: its method, address, headers and body, and which redirects it permits.

use super::target::Target;
use reqwest::Method;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, HeaderMap, HeaderValue, USER_AGENT};
use std::time::Duration;

/// Time limit of a request for a page with all its redirects.
const PAGE_TIMEOUT: Duration = Duration::from_secs(30);

/// A request exactly as it is sent.
#[derive(Debug, Clone)]
pub struct WebRequest {
    pub method: Method,
    pub target: Target,
    pub headers: HeaderMap,
    pub body: Option<Vec<u8>>,
    /// Time limit of the request with all its redirects.
    pub timeout: Duration,
    /// True if a redirect from `http` to `https` on the same host is followed, which changes the port and so the origin.
    pub follows_upgrade: bool,
}

/// A request that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestError {
    /// One sentence for the model.
    pub message: String,
    /// True if no connection could be made, so that the server has received nothing.
    pub is_connect: bool,
}

impl From<String> for RequestError {
    fn from(message: String) -> Self {
        Self { message, is_connect: false }
    }
}

impl WebRequest {
    /// Creates the request for a page.
    pub(super) fn get_page(target: Target) -> Self {
        let accepted = "text/markdown, text/html;q=0.9, text/*;q=0.8, application/json;q=0.8, */*;q=0.1";
        let mut headers = own_headers();
        headers.insert(ACCEPT, HeaderValue::from_static(accepted));
        Self { method: Method::GET, target, headers, body: None, timeout: PAGE_TIMEOUT, follows_upgrade: true }
    }

    /// Returns whether the method only reads.
    pub(super) fn is_read(&self) -> bool {
        matches!(self.method, Method::GET | Method::HEAD)
    }

    /// Returns whether a redirect to this target is followed: to the same origin only, except for an upgrade.
    pub(super) fn may_follow(&self, next: &Target) -> bool {
        let is_same_host = next.host == self.target.host;
        let is_upgrade = self.follows_upgrade && next.url.scheme() == "https" && next.url.port().is_none();
        is_same_host && (next.url.origin() == self.target.url.origin() || is_upgrade)
    }
}

/// Returns the headers of every request: the name of this program, and that compressed responses are not read.
pub fn own_headers() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(USER_AGENT, HeaderValue::from_static(concat!("aye/", env!("CARGO_PKG_VERSION"))));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::target::{PrivateHosts, parse_target};

    #[test]
    fn a_redirect_is_followed_to_the_same_origin_only() {
        let target = |text: &str| parse_target(text, &PrivateHosts::default()).unwrap();
        let page = WebRequest::get_page(target("http://a.example/x"));
        let tool = WebRequest { follows_upgrade: false, ..page.clone() };
        for (next, page_follows, tool_follows) in [
            ("http://a.example/y", true, true),
            ("http://a.example:80/y", true, true),
            ("https://a.example/x", true, false),
            ("https://a.example:8443/x", false, false),
            ("http://a.example:8080/x", false, false),
            ("http://b.example/x", false, false),
            ("https://b.a.example/x", false, false),
        ] {
            let followed = (page.may_follow(&target(next)), tool.may_follow(&target(next)));
            assert_eq!(followed, (page_follows, tool_follows), "{next}");
        }
    }
}
