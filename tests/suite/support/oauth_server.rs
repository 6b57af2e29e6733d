//! An OAuth authorization server on this machine: authorization code with PKCE, and rotated refresh tokens.

use super::tls_service::{read_request, serve_connections};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use reqwest::Url;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, MutexGuard};

/// What the server knows.
#[derive(Default)]
pub struct ServerState {
    /// Parameters of the sign-in of each code.
    codes: HashMap<String, HashMap<String, String>>,
    access_token: String,
    refresh_token: String,
    issued_count: usize,
    /// Seconds for which an access token is valid.
    pub lifetime: u64,
    /// Number of requests for the tokens of a sign-in on another device.
    pub device_polls: usize,
    /// Whether the user approved that sign-in; `None` until then.
    pub is_device_approved: Option<bool>,
    /// True if the metadata names the device endpoint.
    pub has_device_endpoint: bool,
    /// Secret that a client needs, if any.
    pub client_secret: Option<String>,
    /// True if that secret must be in a header, and not in the form.
    pub takes_secret_in_header: bool,
    refusals: Vec<String>,
    /// The service named in each request for a sign-in or tokens.
    pub resources: Vec<String>,
    /// Number of clients that registered themselves.
    pub registered_count: usize,
    /// True if the metadata leaves out the supported challenge methods.
    pub hides_pkce: bool,
    /// True if there is no metadata.
    pub has_no_metadata: bool,
    /// Address of the token endpoint in the metadata, if it is another one.
    pub token_endpoint: Option<String>,
    /// The server that redirects name (`iss`); if any, the metadata says that they do.
    pub redirect_issuer: Option<String>,
    /// The scopes of each sign-in, in order.
    pub scopes: Vec<String>,
    refresh_count: usize,
    /// Runs once, before the next answer to a refresh token.
    pub before_refresh: Option<Box<dyn FnOnce() + Send>>,
}

pub struct OAuthServer {
    /// Address of the server, which is its issuer.
    pub issuer: String,
    state: Arc<Mutex<ServerState>>,
}

impl OAuthServer {
    pub fn start() -> Self {
        Self::start_with(|_, _| None)
    }

    /// Starts a server that also serves the requests that this function answers.
    pub fn start_with(answer: impl Fn(&str, &ServerState) -> Option<String> + Send + Sync + 'static) -> Self {
        let state = Arc::new(Mutex::new(ServerState { lifetime: 3600, ..ServerState::default() }));
        let shared = state.clone();
        let port = serve_connections(move |mut stream| {
            let request = read_request(&mut stream);
            // The port is known from the request, because the server is one of this machine.
            let port = stream.local_addr().unwrap().port();
            let mut state = shared.lock().unwrap();
            let response = answer(&request, &state).unwrap_or_else(|| state.answer(&request, port));
            drop(state);
            let _ = stream.write_all(response.as_bytes());
        });
        Self { issuer: format!("http://127.0.0.1:{port}"), state }
    }

    pub fn state(&self) -> MutexGuard<'_, ServerState> {
        self.state.lock().unwrap()
    }

    /// Returns a function that tells whether a token is valid.
    pub fn token_check(&self) -> impl Fn(&str) -> bool + Send + Sync + 'static {
        let state = self.state.clone();
        move |token| state.lock().unwrap().is_valid(token)
    }

    /// Returns a function that returns the scopes of the last sign-in.
    pub fn scope_check(&self) -> impl Fn() -> Vec<String> + Send + Sync + 'static {
        let state = self.state.clone();
        move || state.lock().unwrap().scopes.last().iter().flat_map(|text| text.split(' ')).map(str::to_owned).collect()
    }

    /// Number of requests with a refresh token.
    pub fn refresh_count(&self) -> usize {
        self.state().refresh_count
    }

    /// Refused token requests, each with the reason.
    pub fn refusals(&self) -> Vec<String> {
        self.state().refusals.clone()
    }

    /// Lets the access token be invalid from now on, as after a revocation.
    pub fn revoke_access(&self) {
        self.state().access_token.clear();
    }

    /// Lets the refresh token be invalid from now on.
    pub fn revoke_refresh(&self) {
        self.state().refresh_token.clear();
    }

    /// All tokens that are valid now.
    pub fn valid_tokens(&self) -> [String; 2] {
        let state = self.state();
        [state.access_token.clone(), state.refresh_token.clone()]
    }

    /// Acts as the browser of a user who signs in at this address. Returns the address that the server redirects to.
    pub fn sign_in(&self, address: &str) -> String {
        let response = get(address);
        let location = response.lines().find_map(|line| line.strip_prefix("location: "));
        location.unwrap_or_else(|| panic!("no redirect: {response}")).to_owned()
    }
}

/// Requests an address with GET. Returns the whole response.
pub fn get(address: &str) -> String {
    let url = Url::parse(address).unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", url.port().unwrap())).unwrap();
    let target = format!("{}?{}", url.path(), url.query().unwrap_or_default());
    write!(stream, "GET {target} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n").unwrap();
    let mut response = String::new();
    let _ = stream.read_to_string(&mut response);
    response
}

/// Returns the fields of a client that names itself in a header.
fn parse_basic_header(head: &str) -> Option<[(String, String); 2]> {
    let value = head.lines().find_map(|line| line.strip_prefix("authorization: Basic "))?;
    let text = String::from_utf8(STANDARD.decode(value).ok()?).ok()?;
    let (id, secret) = text.split_once(':')?;
    let decode = |text: &str| parse_form(text).into_keys().collect();
    Some([("client_id".to_owned(), decode(id)), ("client_secret".to_owned(), decode(secret))])
}

impl ServerState {
    pub fn is_valid(&self, token: &str) -> bool {
        !self.access_token.is_empty() && token == self.access_token
    }

    fn answer(&mut self, request: &str, port: u16) -> String {
        let (head, body) = request.split_once("\r\n\r\n").unwrap_or((request, ""));
        let mut words = head.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or("/"));
        let issuer = format!("http://127.0.0.1:{port}");
        let url = Url::parse(&format!("{issuer}{target}")).unwrap();
        match (method, url.path()) {
            ("POST", "/device") => json_response(
                200,
                &json!({
                    "device_code": "device-s3cret", "user_code": "WDJB-MJHT", "interval": 0, "expires_in": 600,
                    "verification_uri": format!("{issuer}/enter"),
                }),
            ),
            ("GET", "/.well-known/oauth-authorization-server") if !self.has_no_metadata => json_response(
                200,
                &json!({
                    "device_authorization_endpoint": self.has_device_endpoint.then(|| format!("{issuer}/device")),
                    "issuer": issuer,
                    "authorization_endpoint": format!("{issuer}/authorize"),
                    "token_endpoint": self.token_endpoint.clone().unwrap_or_else(|| format!("{issuer}/token")),
                    "authorization_response_iss_parameter_supported": self.redirect_issuer.is_some(),
                    "registration_endpoint": format!("{issuer}/register"),
                    "code_challenge_methods_supported": (!self.hides_pkce).then_some(["S256"]),
                    "token_endpoint_auth_methods_supported":
                        self.takes_secret_in_header.then_some(["client_secret_basic"]),
                }),
            ),
            ("POST", "/register") => {
                let client: Value = serde_json::from_str(body).unwrap();
                assert!(client["redirect_uris"][0].as_str().unwrap().starts_with("http://127.0.0.1:"), "{client}");
                self.registered_count += 1;
                let expected = if self.takes_secret_in_header { "client_secret_basic" } else { "none" };
                assert_eq!(client["token_endpoint_auth_method"], expected);
                let secret = self.client_secret.clone().filter(|_| self.takes_secret_in_header);
                json_response(201, &json!({ "client_id": "my-client", "client_secret": secret }))
            }
            ("GET", "/authorize") => self.authorize(&url),
            ("POST", "/token") => {
                let mut form: HashMap<String, String> = parse_form(body);
                if self.takes_secret_in_header {
                    assert!(!form.contains_key("client_id") && !form.contains_key("client_secret"), "{form:?}");
                    form.extend(parse_basic_header(head).into_iter().flatten());
                }
                match self.issue(&form) {
                    Ok(tokens) => json_response(200, &tokens),
                    Err(reason) if form["grant_type"].ends_with("device_code") => {
                        json_response(400, &json!({ "error": reason }))
                    }
                    Err(reason) => {
                        self.refusals.push(reason.clone());
                        let description =
                            format!("{reason} {}", form.get("refresh_token").cloned().unwrap_or_default());
                        json_response(400, &json!({ "error": "invalid_grant", "error_description": description }))
                    }
                }
            }
            _ => json_response(404, &json!({})),
        }
    }

    fn authorize(&mut self, url: &Url) -> String {
        let parameters: HashMap<String, String> = url.query_pairs().into_owned().collect();
        for (name, value) in [("response_type", "code"), ("client_id", "my-client"), ("code_challenge_method", "S256")]
        {
            assert_eq!(parameters[name], value, "{url}");
        }
        self.resources.extend(parameters.get("resource").cloned());
        self.scopes.push(parameters.get("scope").cloned().unwrap_or_default());
        let code = format!("code-{}", self.codes.len());
        let mut redirect = Url::parse(&parameters["redirect_uri"]).unwrap();
        redirect.query_pairs_mut().append_pair("code", &code).append_pair("state", &parameters["state"]);
        if let Some(issuer) = self.redirect_issuer.as_deref().filter(|issuer| !issuer.is_empty()) {
            redirect.query_pairs_mut().append_pair("iss", issuer);
        }
        self.codes.insert(code, parameters);
        format!("HTTP/1.1 302 Found\r\nlocation: {redirect}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    }

    fn issue(&mut self, form: &HashMap<String, String>) -> Result<Value, String> {
        let field = |name: &str| form.get(name).cloned().unwrap_or_default();
        self.resources.extend(form.get("resource").cloned());
        if field("client_id") != "my-client"
            || self.client_secret.as_ref().is_some_and(|secret| *secret != field("client_secret"))
        {
            return Err("unknown client".to_owned());
        }
        match field("grant_type").as_str() {
            "authorization_code" => {
                let Some(started) = self.codes.remove(&field("code")) else { return Err("unknown code".to_owned()) };
                let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(field("code_verifier")));
                if started["code_challenge"] != challenge || started["redirect_uri"] != field("redirect_uri") {
                    return Err("another sign-in".to_owned());
                }
            }
            "urn:ietf:params:oauth:grant-type:device_code" => {
                self.device_polls += 1;
                match self.is_device_approved {
                    _ if field("device_code") != "device-s3cret" => return Err("invalid_grant".to_owned()),
                    Some(true) => {}
                    Some(false) => return Err("access_denied".to_owned()),
                    None => return Err("authorization_pending".to_owned()),
                }
            }
            "refresh_token" => {
                self.refresh_count += 1;
                if let Some(run) = self.before_refresh.take() {
                    run();
                }
                if self.refresh_token.is_empty() || field("refresh_token") != self.refresh_token {
                    // A refresh token that is used twice was stolen: nothing stays valid.
                    (self.refresh_token, self.access_token) = Default::default();
                    return Err("the refresh token is not valid".to_owned());
                }
            }
            other => return Err(format!("grant type {other}")),
        }
        self.issued_count += 1;
        self.access_token = format!("access-s3cret-{:04}", self.issued_count);
        self.refresh_token = format!("refresh-s3cret-{:04}", self.issued_count);
        Ok(json!({
            "access_token": self.access_token, "token_type": "Bearer", "expires_in": self.lifetime,
            "refresh_token": self.refresh_token,
        }))
    }
}

fn parse_form(body: &str) -> HashMap<String, String> {
    Url::parse(&format!("http://form/?{body}")).unwrap().query_pairs().into_owned().collect()
}

fn json_response(status: u16, body: &Value) -> String {
    let body = body.to_string();
    let length = body.len();
    format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}
