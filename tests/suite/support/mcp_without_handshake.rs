//! The test server as one of the protocol version 2026-07-28: without a handshake, with questions as results of calls, and with
//! a subscription to changes.

use super::mcp_server::{handle_message, read_list};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

pub const VERSION: &str = "2026-07-28";
/// The state that the server wants back with the answers.
const STATE: &str = "opaque \u{1F980} state";

/// Returns whether the server in this folder has no handshake.
pub fn has_no_handshake(folder: &Path) -> bool {
    folder.join("without_handshake").exists()
}

/// Handles one message, and sends answers and notifications.
pub fn handle(folder: &Path, message: &Value, send: &mut dyn FnMut(Value)) {
    let (id, params) = (&message["id"], &message["params"]);
    let result = |mut result: Value| {
        result["resultType"] = json!("complete");
        (result["ttlMs"], result["cacheScope"]) = (json!(0), json!("private"));
        json!({ "jsonrpc": "2.0", "id": id, "result": result })
    };
    let fail = |code: i64, text: &str| {
        let data = json!({ "supported": [VERSION] });
        json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": text, "data": data } })
    };
    let ask = |requests: Value| {
        let required = json!({ "resultType": "input_required", "inputRequests": requests, "requestState": STATE });
        json!({ "jsonrpc": "2.0", "id": id, "result": required })
    };
    let said = |text: String| result(json!({ "content": [{ "type": "text", "text": text }] }));
    let answers = &params["inputResponses"];
    match (message["method"].as_str(), params["name"].as_str()) {
        (Some("initialize"), _) => send(fail(-32022, "Unsupported protocol version")),
        (Some(_), _) if !id.is_null() && params["_meta"]["io.modelcontextprotocol/protocolVersion"] != VERSION => {
            send(fail(-32602, "a request without its version"));
        }
        (Some("server/discover"), _) => send(result(json!({
            "supportedVersions": [VERSION], "serverInfo": { "name": "test", "version": "1" },
            "capabilities": { "tools": { "listChanged": true }, "resources": {}, "prompts": {} },
        }))),
        (Some("subscriptions/listen"), _) => {
            fs::write(folder.join("subscription"), id.to_string()).unwrap();
            send(json!({
                "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
                "params": { "_meta": subscription(folder), "notifications": params["notifications"] },
            }));
        }
        (Some("tools/call"), Some("announce")) => {
            let params = json!({ "_meta": subscription(folder) });
            send(json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": params }));
            send(said("announced".to_owned()));
        }
        (Some("tools/call"), Some(name @ ("form" | "sample" | "insist"))) => {
            if answers.is_null() || name == "insist" {
                let (method, params) = match name {
                    "sample" => ("sampling/createMessage", read_list(folder, "samplings")[0].clone()),
                    _ => ("elicitation/create", read_list(folder, "form")),
                };
                let roots = json!({ "method": "roots/list" });
                send(ask(json!({ "question": { "method": method, "params": params }, "roots": roots })));
            } else if params["requestState"] != STATE {
                send(fail(-32602, "the state is not the same"));
            } else {
                send(said(format!("the replies are {answers}")));
            }
        }
        (Some("tools/call"), Some("many")) => {
            let question = json!({ "method": "roots/list" });
            let questions = (0..21).map(|number| (format!("question {number}"), question.clone())).collect();
            send(ask(Value::Object(questions)));
        }
        (Some("tools/call"), Some("unsubscribe")) => {
            let subscriber: Value = serde_json::from_slice(&fs::read(folder.join("subscription")).unwrap()).unwrap();
            let end = json!({ "resultType": "complete", "_meta": subscription(folder) });
            send(json!({ "jsonrpc": "2.0", "id": subscriber, "result": end }));
            send(said("unsubscribed".to_owned()));
        }
        (Some("tools/call"), Some("silent")) => send(json!({
            "jsonrpc": "2.0", "id": id, "result": { "resultType": "input_required", "requestState": STATE },
        })),
        // Nothing was said about the state of a question that another call asked.
        (Some("tools/call"), _) if !answers.is_null() || !params["requestState"].is_null() => {
            send(fail(-32602, "answers without a question"));
        }
        _ => handle_message(folder, message, &mut |mut answer| {
            if answer["result"].is_object() {
                answer = result(answer["result"].take());
            }
            send(answer);
        }),
    }
}

/// The metadata of notifications for the subscriber.
fn subscription(folder: &Path) -> Value {
    let id: Value = serde_json::from_slice(&fs::read(folder.join("subscription")).unwrap()).unwrap();
    json!({ "io.modelcontextprotocol/subscriptionId": id })
}
