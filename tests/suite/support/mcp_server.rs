//! A real MCP server for tests: over stdin and stdout as a process of its own, or over HTTP as a thread. A folder holds its
//! tools and what it received, so that a test can change and read both while it runs.

use super::folder::Folder;
use super::mcp_without_handshake::{self, has_no_handshake};
use super::oauth_server::OAuthServer;
use super::program::Program;
use super::user::User;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Environment variable with the folder of the server that this process is.
const FOLDER: &str = "AYE_TEST_MCP_SERVER";
/// Name of the test that is the server if the variable is set.
const PROCESS: &str = "mcp_servers::server_process";

/// What a call of `log` logs.
pub const LOGGED: &str = "plugh of the server";

/// A server with its folder.
pub struct McpServer {
    folder: Folder,
}

impl McpServer {
    /// A server with these tools, each a name and a description. A name selects what a call does.
    pub fn new(tools: &[(&str, &str)]) -> Self {
        let server = Self { folder: Folder::new() };
        let to_tool = |(name, description): &(&str, &str)| {
            json!({ "name": name, "description": description, "inputSchema": {
                "type": "object", "properties": { "text": { "type": "string" } },
            } })
        };
        server.set_tools(&tools.iter().map(to_tool).collect());
        server
    }

    /// Replaces the definitions of the tools.
    pub fn set_tools(&self, tools: &Value) {
        fs::write(self.folder.path().join("new"), tools.to_string()).unwrap();
        fs::rename(self.folder.path().join("new"), self.folder.path().join("tools")).unwrap();
    }

    /// The variable that the server needs, as `NAME=VALUE`, and its command line.
    pub fn command(&self) -> (String, Vec<String>) {
        let suite = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
        // Only messages may be printed to stdout, and the test harness prints more.
        let line = format!("exec \"$0\" --exact {PROCESS} --nocapture >/dev/null");
        let command = ["sh", "-c", &line, &suite].map(str::to_owned).to_vec();
        (format!("{FOLDER}={}", self.folder.path().display()), command)
    }

    /// The settings of a server that aye starts.
    pub fn stdio_settings(&self, name: &str) -> String {
        let (variable, command) = self.command();
        let (variable, folder) = variable.split_once('=').unwrap();
        format!("[mcp.{name}]\ncommand = {}\nenv = {{ {variable} = {} }}\n", json!(command), json!(folder))
    }

    /// Starts the server on a port, and returns its settings. Requests need this value of the header `x-key`.
    pub fn start_http(&self, name: &str, key: &str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let expected = format!("x-key: {key}");
        self.serve(listener, move |header| header == expected, json!(null));
        format!("[mcp.{name}]\nurl = \"http://{address}/mcp\"\nheaders = {{ x-key = \"{key}\" }}\n")
    }

    /// Starts the server on a port, and returns its address. Requests need nothing.
    pub fn start_open(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        self.serve(listener, |_| true, json!(null));
        url
    }

    /// Starts the server on a port, and returns its settings. Requests need a token of this authorization server.
    pub fn start_protected(&self, name: &str, issuer: &OAuthServer) -> String {
        self.start_scoped(name, issuer, |_, _| None)
    }

    /// As [`Self::start_protected`]. A request is refused with the challenge that this function returns for the scopes of the last
    /// sign-in and the message.
    pub fn start_scoped(
        &self,
        name: &str,
        issuer: &OAuthServer,
        refuse: impl Fn(&[String], &Value) -> Option<String> + Send + Sync + 'static,
    ) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let is_valid = issuer.token_check();
        let allows = move |header: &str| header.strip_prefix("authorization: bearer ").is_some_and(&is_valid);
        let metadata =
            json!({ "resource": url, "authorization_servers": [issuer.issuer], "scopes_supported": ["notes"] });
        let granted = issuer.scope_check();
        self.serve_with(listener, allows, metadata, move |message| refuse(&granted(), message));
        format!("[mcp.{name}]\nurl = \"{url}\"\n")
    }

    /// Starts the server and an authorization server at the same origin, without metadata of the service, as before the protocol
    /// of 2025-06-18. Returns its settings.
    pub fn start_with_own_issuer(&self, name: &str) -> (OAuthServer, String) {
        let folder = self.folder.path().to_owned();
        let issuer = OAuthServer::start_with(move |request, issuer| {
            let (head, body) = request.split_once("\r\n\r\n").filter(|(head, _)| head.contains(" /mcp "))?;
            let token = head.lines().find_map(|line| line.strip_prefix("authorization: Bearer "));
            if !token.is_some_and(|token| issuer.is_valid(token)) {
                return Some(http_response("401 Unauthorized\r\nWWW-Authenticate: Bearer", ""));
            }
            let Ok(message) = serde_json::from_str(body) else {
                return Some(http_response("405 Method Not Allowed", ""));
            };
            let mut answers = Vec::new();
            receive(&folder, &message, &mut |answer| answers.push(answer));
            Some(match &answers[..] {
                [] => http_response("202 Accepted", ""),
                answers => http_response("200 OK\r\nContent-Type: application/json", &answers[0].to_string()),
            })
        });
        let settings = format!("[mcp.{name}]\nurl = \"{}/mcp\"\n", issuer.issuer);
        (issuer, settings)
    }

    /// Serves requests that have an allowed header, each on a thread of its own. The metadata of the service is `null` if it
    /// has none.
    fn serve(&self, listener: TcpListener, allows: impl Fn(&str) -> bool + Send + Sync + 'static, metadata: Value) {
        self.serve_with(listener, allows, metadata, |_| None);
    }

    /// As [`Self::serve`]. A message for which `refuse` returns a challenge is answered with status 403.
    fn serve_with(
        &self,
        listener: TcpListener,
        allows: impl Fn(&str) -> bool + Send + Sync + 'static,
        metadata: Value,
        refuse: impl Fn(&Value) -> Option<String> + Send + Sync + 'static,
    ) {
        let (folder, allows, refuse) = (self.folder.path().to_owned(), Arc::new(allows), Arc::new(refuse));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if folder.join("gone").exists() {
                    break;
                }
                let (folder, allows, metadata, refuse) =
                    (folder.clone(), allows.clone(), metadata.clone(), refuse.clone());
                std::thread::spawn(move || serve_http(stream, &folder, &*allows, &metadata, &*refuse));
            }
        });
    }

    /// The messages received so far.
    pub fn received(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.folder.path().join("received")).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The names of the tools called so far.
    pub fn calls(&self) -> Vec<String> {
        let received = self.received();
        let calls = received.iter().filter(|message| message["method"] == "tools/call");
        calls.map(|call| call["params"]["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Waits until a message with this method was received.
    pub fn wait_for(&self, method: &str) -> Value {
        let deadline = Instant::now() + super::keyboard::PATIENCE;
        loop {
            if let Some(message) = self.received().into_iter().rfind(|message| message["method"] == method) {
                return message;
            }
            assert!(Instant::now() < deadline, "no {method} in {:#?}", self.received());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until this program has connected to the server and offers its tools. Only for the first server of the user.
    pub fn until_offered(&self, program: &mut Program, user: &User) {
        self.wait_for("tools/list");
        // The program stores the definitions, and then sends them to its session.
        let catalogue = user.path("home/aye/data/mcp.json");
        program.until_condition("the definitions of the server", |_| catalogue.exists());
        program.until_all_threads_rest();
    }

    /// The number of messages with this method received so far.
    pub fn count_received(&self, method: &str) -> usize {
        self.received().iter().filter(|message| message["method"] == method).count()
    }

    /// Kills the process that was started last.
    pub fn kill(&self) {
        kill_process(*self.pids().last().unwrap());
    }

    /// Kills the process that was started first.
    pub fn kill_first(&self) {
        kill_process(self.pids()[0]);
    }

    /// Lets processes of the server end as soon as they are started, or run again.
    pub fn set_broken(&self, is_broken: bool) {
        let file = self.folder.path().join("broken");
        if is_broken { fs::write(file, "").unwrap() } else { fs::remove_file(file).unwrap() }
    }

    /// Lets the server answer the handshake only once the other server has received one.
    pub fn answer_after(&self, other: &Self) {
        fs::write(self.folder.path().join("other"), other.folder.path().to_str().unwrap()).unwrap();
    }

    /// The process IDs of all processes that were this server.
    pub fn pids(&self) -> Vec<i32> {
        let text = fs::read_to_string(self.folder.path().join("pids")).unwrap_or_default();
        text.lines().map(|line| line.parse().unwrap()).collect()
    }

    /// Sets the parameters of the question that calls of `form` ask.
    pub fn set_form(&self, parameters: &Value) {
        fs::write(self.folder.path().join("form"), parameters.to_string()).unwrap();
    }

    /// Sets the requests for the model that a call of `sample` makes at once, and one of `insist` one after the other.
    pub fn set_samplings(&self, parameters: &[Value]) {
        fs::write(self.folder.path().join("samplings"), json!(parameters).to_string()).unwrap();
    }

    /// Waits for the replies to all requests for the model, in the order of the requests.
    pub fn wait_for_samplings(&self, count: usize) -> Vec<Value> {
        let deadline = Instant::now() + super::keyboard::PATIENCE;
        loop {
            let received = self.received();
            let reply = |number: usize| received.iter().rfind(|message| message["id"] == format!("sample-{number}"));
            if let Some(replies) = (0..count).map(reply).collect::<Option<Vec<_>>>() {
                return replies.into_iter().cloned().collect();
            }
            assert!(Instant::now() < deadline, "not {count} replies in {received:#?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits for the reply to the question.
    pub fn wait_for_reply(&self) -> Value {
        let deadline = Instant::now() + super::keyboard::PATIENCE;
        loop {
            let received = self.received();
            if let Some(reply) = received.iter().rfind(|message| message["id"] == "form") {
                return reply["result"].clone();
            }
            assert!(Instant::now() < deadline, "no reply in {received:#?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sets the resources, each an address and its text.
    pub fn set_resources(&self, resources: &[(&str, &str)]) {
        let to_resource = |(uri, text): &(&str, &str)| json!({ "uri": uri, "name": format!("Title of {uri}"), "_meta": { "text": text } });
        let list: Value = resources.iter().map(to_resource).collect();
        fs::write(self.folder.path().join("resources"), list.to_string()).unwrap();
    }

    /// Sets the text of the only prompt, `summary`, with the arguments `topic` and, if given, `style`.
    pub fn set_prompt(&self, text: &str) {
        let arguments = json!([{ "name": "topic", "required": true }, { "name": "style" }]);
        let prompts = json!([{ "name": "summary", "description": "Sums up", "arguments": arguments }]);
        fs::write(self.folder.path().join("prompts"), prompts.to_string()).unwrap();
        fs::write(self.folder.path().join("prompt"), text).unwrap();
    }

    /// Makes it a server of the protocol version without a handshake.
    pub fn without_handshake(self) -> Self {
        fs::write(self.folder.path().join("without_handshake"), "").unwrap();
        self
    }

    /// Lets a call of `wait` return.
    pub fn finish_waiting(&self) {
        fs::write(self.folder.path().join("finish"), "").unwrap();
    }
}

/// Runs the server over stdin and stdout if this process was started for it; never returns then.
pub fn run_server_process() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    append(&folder.join("pids"), &std::process::id().to_string());
    if folder.join("broken").exists() {
        std::process::exit(4);
    }
    // stdin and stdout are one socket.
    let mut out = fs::File::from(std::io::stdin().as_fd().try_clone_to_owned().unwrap());
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        receive(&folder, &message, &mut |answer| writeln!(out, "{answer}").unwrap_or_default());
    }
    std::process::exit(0);
}

/// Records one message and handles it.
fn receive(folder: &Path, message: &Value, send: &mut dyn FnMut(Value)) {
    append(&folder.join("received"), &message.to_string());
    match has_no_handshake(folder) {
        true => mcp_without_handshake::handle(folder, message, send),
        false => handle_message(folder, message, send),
    }
}

/// Handles one message, and sends answers and notifications.
pub(super) fn handle_message(folder: &Path, message: &Value, send: &mut dyn FnMut(Value)) {
    let id = &message["id"];
    let answer = |result: Value| json!({ "jsonrpc": "2.0", "id": id, "result": result });
    match message["method"].as_str() {
        Some("initialize") => {
            wait_for_other(folder);
            let can_change = json!({ "listChanged": true });
            send(answer(json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": can_change, "resources": can_change, "prompts": can_change, "logging": {} },
                "serverInfo": { "name": "test", "version": "1" },
            })));
        }
        Some("tools/list") => {
            let tools: Value = serde_json::from_slice(&fs::read(folder.join("tools")).unwrap()).unwrap();
            send(answer(json!({ "tools": tools })));
        }
        Some("tools/call") => {
            let (name, token) =
                (message["params"]["name"].as_str().unwrap(), &message["params"]["_meta"]["progressToken"]);
            fs::write(folder.join("asking"), id.to_string()).unwrap();
            if let Some(result) = run_tool(folder, name, token, &message["params"]["arguments"], send) {
                send(answer(result));
            }
        }
        Some("resources/list") => send(answer(json!({ "resources": read_list(folder, "resources") }))),
        Some("resources/read") => {
            let uri = &message["params"]["uri"];
            let resources = read_list(folder, "resources");
            match resources.as_array().unwrap().iter().find(|resource| resource["uri"] == *uri) {
                Some(resource) => {
                    send(answer(json!({ "contents": [{ "uri": uri, "text": resource["_meta"]["text"] }] })));
                }
                None => send(json!({
                    "jsonrpc": "2.0", "id": id, "error": { "code": -32002, "message": "no such\u{1B}[2J resource" },
                })),
            }
        }
        Some("prompts/list") => send(answer(json!({ "prompts": read_list(folder, "prompts") }))),
        Some("prompts/get") => {
            let text = fs::read_to_string(folder.join("prompt")).unwrap();
            let text = text.replace("ARGUMENTS", &message["params"]["arguments"].to_string());
            let message = json!({ "role": "user", "content": { "type": "text", "text": text } });
            send(answer(json!({ "messages": [message] })));
        }
        Some("ping") => send(answer(json!({}))),
        // The user's reply to the form is the result of the call that asked.
        None if id == "form" => {
            let call = fs::read_to_string(folder.join("asking")).unwrap();
            let content = json!([{ "type": "text", "text": format!("the user replied {}", message["result"]) }]);
            let call: Value = serde_json::from_str(&call).unwrap();
            send(json!({ "jsonrpc": "2.0", "id": call, "result": { "content": content } }));
        }
        // The replies to the requests for the model are the result of the call that made them.
        None if id.as_str().is_some_and(|id| id.starts_with("sample-")) => finish_sampling(folder, send),
        Some(_) | None => {}
    }
}

/// Waits until the other server has received a handshake, if one is set.
fn wait_for_other(folder: &Path) {
    let Ok(other) = fs::read_to_string(folder.join("other")) else { return };
    let received = Path::new(&other).join("received");
    while !fs::read_to_string(&received).unwrap_or_default().contains("\"initialize\"") {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The request for the model with this number.
fn sampling_request(folder: &Path, number: usize) -> Value {
    let (id, params) = (format!("sample-{number}"), &read_list(folder, "samplings")[number]);
    json!({ "jsonrpc": "2.0", "id": id, "method": "sampling/createMessage", "params": params })
}

/// Answers the call that asked once all replies are there. `insist` makes a request after the reply to the one before.
fn finish_sampling(folder: &Path, send: &mut dyn FnMut(Value)) {
    let received = fs::read_to_string(folder.join("received")).unwrap();
    let messages = received.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let is_reply = |message: &Value| message["id"].as_str().is_some_and(|id| id.starts_with("sample-"));
    let replies: Vec<Value> = messages.filter(is_reply).collect();
    let count = read_list(folder, "samplings").as_array().unwrap().len();
    let sent = received.lines().any(|line| line.contains("\"name\":\"insist\"")).then_some(replies.len());
    if let Some(next) = sent.filter(|next| *next < count) {
        send(sampling_request(folder, next));
    } else if replies.len() == count {
        let call = fs::read_to_string(folder.join("asking")).unwrap();
        let call: Value = serde_json::from_str(&call).unwrap();
        let text = replies.iter().map(|reply| format!("{} {}", reply["result"], reply["error"])).collect::<String>();
        let content = json!([{ "type": "text", "text": format!("the replies are {text}") }]);
        send(json!({ "jsonrpc": "2.0", "id": call, "result": { "content": content } }));
    }
}

/// The list in this file; empty if there is none.
pub(super) fn read_list(folder: &Path, name: &str) -> Value {
    fs::read(folder.join(name)).map_or(json!([]), |text| serde_json::from_slice(&text).unwrap())
}

/// Runs a call; `None` if it is never answered.
fn run_tool(folder: &Path, name: &str, token: &Value, arguments: &Value, send: &mut dyn FnMut(Value)) -> Option<Value> {
    let text = |text: String| Some(json!({ "content": [{ "type": "text", "text": text }] }));
    match name {
        "hang" => None,
        "die" => std::process::exit(3),
        "fail" => Some(json!({ "content": [{ "type": "text", "text": "no such thing" }], "isError": true })),
        "huge" => text("long line\n".repeat(100_000)),
        "hidden" => text("be\u{202E}fore \u{1B}[31mred \u{E0041}tag".to_owned()),
        "place" => {
            let names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
            text(format!("{} {}", std::env::current_dir().unwrap().display(), names.join(" ")))
        }
        "announce" | "announce_resources" | "announce_prompts" => {
            let kind = name.strip_prefix("announce_").unwrap_or("tools");
            send(json!({ "jsonrpc": "2.0", "method": format!("notifications/{kind}/list_changed") }));
            text("announced".to_owned())
        }
        "log" => {
            let params = json!({ "level": "warning", "logger": "own", "data": { "detail": LOGGED } });
            send(json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params }));
            text("logged".to_owned())
        }
        "ask" => {
            for (id, method) in [("s", "sampling/createMessage"), ("e", "elicitation/create"), ("r", "roots/list")] {
                let schema = json!({ "type": "object", "properties": { "password": { "type": "string" } } });
                let params = match id {
                    "s" => json!({ "messages": [], "maxTokens": 9 }),
                    "e" => json!({ "message": "Your password?", "requestedSchema": schema }),
                    _ => json!({}),
                };
                send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
            }
            text("asked".to_owned())
        }
        "form" | "late" => {
            let form: Value = serde_json::from_slice(&fs::read(folder.join("form")).unwrap()).unwrap();
            let request = json!({ "jsonrpc": "2.0", "id": "form", "method": "elicitation/create", "params": form });
            if name == "late" {
                let call: Value = serde_json::from_slice(&fs::read(folder.join("asking")).unwrap()).unwrap();
                send(json!({ "jsonrpc": "2.0", "id": call, "result": { "content": [] } }));
            }
            send(request);
            None
        }
        "sample" => {
            let count = read_list(folder, "samplings").as_array().unwrap().len();
            (0..count).for_each(|number| send(sampling_request(folder, number)));
            None
        }
        "insist" => {
            send(sampling_request(folder, 0));
            None
        }
        "wait" => {
            let progress = json!({ "progressToken": token, "progress": 3, "total": 10, "message": "half\u{202E}way" });
            send(json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": progress }));
            while !folder.join("finish").exists() {
                std::thread::sleep(Duration::from_millis(10));
            }
            text("waited".to_owned())
        }
        _ => text(format!("you said {}", arguments["text"].as_str().unwrap_or_default())),
    }
}

fn kill_process(pid: i32) {
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

fn http_response(head: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
}

fn append(file: &Path, line: &str) {
    let mut file = fs::File::options().create(true).append(true).open(file).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// Serves the requests of one connection. A request with one answer gets it as JSON, one with several gets a stream.
fn serve_http(
    stream: TcpStream,
    folder: &Path,
    allows: &dyn Fn(&str) -> bool,
    metadata: &Value,
    refuse: &dyn Fn(&Value) -> Option<String>,
) {
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    let (mut line, mut length, mut is_allowed) = (String::new(), 0, false);
    if reader.read_line(&mut line).unwrap_or(0) == 0 {
        return;
    }
    let is_post = line.starts_with("POST /mcp ");
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header).unwrap_or(0) == 0 || header.trim().is_empty() {
            break;
        }
        let header = header.trim().to_ascii_lowercase();
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        is_allowed |= allows(&header);
    }
    let mut body = vec![0; length];
    let _ = reader.read_exact(&mut body);
    let mut respond = |head: &str, body: &str| {
        let _ = writer.write_all(http_response(head, body).as_bytes());
    };
    if !metadata.is_null() && line.starts_with("GET /.well-known/oauth-protected-resource/mcp ") {
        return respond("200 OK\r\nContent-Type: application/json", &metadata.to_string());
    }
    if !is_allowed {
        return respond("401 Unauthorized\r\nWWW-Authenticate: Bearer", "");
    }
    let message = serde_json::from_slice::<Value>(&body);
    let Some(message) = message.ok().filter(|_| is_post) else { return respond("405 Method Not Allowed", "") };
    if let Some(challenge) = refuse(&message) {
        return respond(&format!("403 Forbidden\r\nWWW-Authenticate: {challenge}"), "");
    }
    if let Some(kind @ ("vanish" | "vanish_after_event")) = message["params"]["name"].as_str() {
        append(&folder.join("received"), &message.to_string());
        fs::write(folder.join("gone"), "").unwrap();
        // The loop that accepts connections sees it with the next one.
        while TcpStream::connect(writer.local_addr().unwrap()).is_ok() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let event = if kind == "vanish" { "" } else { "id: 1\ndata:\n\n" };
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close";
        let _ = writer.write_all(format!("{head}\r\n\r\n{event}").as_bytes());
        return;
    }
    let mut answers = Vec::new();
    receive(folder, &message, &mut |answer| answers.push(answer));
    match &answers[..] {
        [] => respond("202 Accepted", ""),
        [answer] => respond("200 OK\r\nContent-Type: application/json", &answer.to_string()),
        answers => {
            let events: String = answers.iter().map(|answer| format!("data: {answer}\n\n")).collect();
            respond("200 OK\r\nContent-Type: text/event-stream", &events);
        }
    }
}
