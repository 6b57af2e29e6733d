//! A request with all its values, as a prompt shows it and as it is sent.

use crate::text::percent_encoding::percent_encode;
use crate::tools::Error;
use crate::tools::tool_file::presets::apply_presets;
use crate::tools::tool_file::template::format_value;
use crate::tools::tool_file::{HttpDefinition, QueryArray, ToolHead, project_values};
use crate::web::request::{WebRequest, own_headers};
use crate::web::target::Target;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::Path;
use std::time::Duration;

/// Media types that a response should have.
const ACCEPTED: &str = "application/json, text/*;q=0.9, */*;q=0.1";

/// A request without its credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RenderedRequest {
    pub(super) method: String,
    pub(super) url: String,
    pub(super) headers: Vec<RenderedHeader>,
    pub(super) body: Option<String>,
}

/// A header of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RenderedHeader {
    pub(super) name: String,
    pub(super) value: String,
    /// True if the value is not shown.
    pub(super) is_secret: bool,
}

impl RenderedRequest {
    /// Returns method and address.
    pub(super) fn line(&self) -> String {
        format!("{} {}", self.method, self.url)
    }

    /// Returns the request to send.
    pub(super) fn to_web_request(&self, target: Target, timeout: Duration) -> Result<WebRequest, Error> {
        let invalid = || Error::Internal("the planned request is invalid".to_owned());
        let mut headers = own_headers();
        headers.insert(ACCEPT, HeaderValue::from_static(ACCEPTED));
        for RenderedHeader { name, value, is_secret } in &self.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?;
            let mut value = HeaderValue::from_str(value).map_err(|_| invalid())?;
            value.set_sensitive(*is_secret);
            headers.insert(name, value);
        }
        let method = Method::from_bytes(self.method.as_bytes()).map_err(|_| invalid())?;
        let body = self.body.clone().map(String::into_bytes);
        Ok(WebRequest { method, target, headers, body, timeout, follows_upgrade: false })
    }
}

/// Renders the request of a call with these checked arguments.
///
/// # Errors
/// If a value is missing or has no place in the address.
pub(super) fn render_request(
    head: &ToolHead,
    http: &HttpDefinition,
    mut arguments: Map<String, Value>,
    project: &Path,
) -> Result<RenderedRequest, Error> {
    let mut values = project_values(project);
    apply_presets(&head.presets, &values, &mut arguments)?;
    for (name, value) in &arguments {
        values.insert(name, value.clone());
    }
    let mut url = http.url.render(&values).map_err(Error::Failed)?;
    let has_body = matches!(http.method, Method::POST | Method::PUT | Method::PATCH);
    match &http.query {
        Some(query) => {
            let rendered = query.iter().map(|(name, template)| (name.clone(), template.render_value(&values)));
            let is_blank = |value: &Value| value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty());
            let rendered: Vec<_> = rendered.filter(|(_, value)| !is_blank(value)).collect();
            set_query(&mut url, http.query_array, rendered.iter().map(|(name, value)| (name.as_str(), value)));
        }
        None if has_body => {}
        None => {
            let arguments = arguments.iter().map(|(name, value)| (name.as_str(), value));
            set_query(&mut url, http.query_array, arguments);
        }
    }
    let mut headers: Vec<RenderedHeader> = http.headers.iter().filter_map(to_rendered_header).collect();
    let body = match &http.body {
        _ if !has_body => None,
        None => Some(Value::Object(arguments)),
        Some(template) => Some(template.render(&values).map_err(Error::Failed)?),
    };
    if body.is_some() && !http.headers.iter().any(|(name, _)| *name == CONTENT_TYPE) {
        let (name, value) = (CONTENT_TYPE.to_string(), "application/json".to_owned());
        headers.push(RenderedHeader { name, value, is_secret: false });
    }
    let body = body.map(|body| serde_json::to_string_pretty(&body).unwrap_or_default());
    Ok(RenderedRequest { method: http.method.to_string(), url: url.to_string(), headers, body })
}

fn to_rendered_header((name, value): &(HeaderName, HeaderValue)) -> Option<RenderedHeader> {
    let text = String::from_utf8(value.as_bytes().to_vec()).ok()?;
    Some(RenderedHeader { name: name.to_string(), value: text, is_secret: value.is_sensitive() })
}

/// Adds parameters to an address. Those of the address stay, except any with the same name.
fn set_query<'a>(url: &mut Url, lists: QueryArray, parameters: impl Iterator<Item = (&'a str, &'a Value)>) {
    let parameters: Vec<(&str, &Value)> = parameters.filter(|(_, value)| !value.is_null()).collect();
    if parameters.is_empty() {
        return;
    }
    let own = url.query().unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
    // The names are decoded in the same order.
    let names = url.query_pairs().map(|(name, _)| name.into_owned());
    let is_kept = |name: &String| !parameters.iter().any(|(other, _)| other == name);
    let mut pairs: Vec<String> =
        own.zip(names).filter(|(_, name)| is_kept(name)).map(|(pair, _)| pair.to_owned()).collect();
    for (name, value) in parameters {
        let name = percent_encode(name);
        match (value, lists) {
            (Value::Array(items), QueryArray::Repeat) => {
                pairs.extend(items.iter().map(|item| format!("{name}={}", percent_encode(&format_value(item)))));
            }
            (Value::Array(items), QueryArray::Csv) => {
                let items: Vec<String> = items.iter().map(|item| percent_encode(&format_value(item))).collect();
                pairs.push(format!("{name}={}", items.join(",")));
            }
            (value, _) => pairs.push(format!("{name}={}", percent_encode(&format_value(value)))),
        }
    }
    url.set_query(Some(&pairs.join("&")));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::tool_file::{ToolKind, parse_tool};
    use serde_json::json;

    /// Renders the request of a tool with these lines in its file.
    fn render(lines: &str, arguments: Value) -> Result<RenderedRequest, String> {
        let text = format!("name = \"Find\"\ntype = \"http_api\"\n{lines}");
        let parsed = parse_tool("find.toml", &text);
        let definition = parsed.definition.unwrap_or_else(|| panic!("{:?}", parsed.problems));
        let ToolKind::Http(http) = definition.kind else { panic!("a request") };
        let arguments = arguments.as_object().unwrap().clone();
        render_request(&definition.head, &http, arguments, Path::new("/projects/app"))
            .map_err(|error| error.to_string())
    }

    fn url(lines: &str, arguments: Value) -> String {
        render(lines, arguments).unwrap().url
    }

    #[test]
    fn arguments_of_a_get_are_parameters_of_the_address() {
        let get = "method = \"get\"\nurl = \"https://h.example/x?a=1&b=%202\"\n";
        assert_eq!(url(get, json!({})), "https://h.example/x?a=1&b=%202");
        assert_eq!(url(get, json!({ "c": "d e", "n": 1 })), "https://h.example/x?a=1&b=%202&c=d%20e&n=1");
        assert_eq!(url(get, json!({ "a": true })), "https://h.example/x?b=%202&a=true");
        let list = json!({ "l": ["x", 2], "o": { "k": "&" } });
        assert_eq!(
            url(get, list.clone()),
            "https://h.example/x?a=1&b=%202&l=%5B%22x%22%2C2%5D&o=%7B%22k%22%3A%22%26%22%7D"
        );
        let repeat = format!("{get}query_array = \"repeat\"\n");
        assert!(url(&repeat, list.clone()).contains("&l=x&l=2&o="));
        let csv = format!("{get}query_array = \"csv\"\n");
        assert!(url(&csv, list).contains("&l=x,2&o="));
        let delete = "method = \"DELETE\"\nurl = \"https://h.example/{{id}}\"\n";
        let request = render(delete, json!({ "id": "a/b" })).unwrap();
        assert_eq!((request.line().as_str(), request.body), ("DELETE https://h.example/a%2Fb?id=a%2Fb", None));
    }

    #[test]
    fn a_query_replaces_the_arguments() {
        let lines = "method = \"GET\"\nurl = \"https://h.example/{{id}}\"\n[query]\nq = \"{{text}}\"\nlang = \"en\"\n";
        assert_eq!(url(lines, json!({ "id": 1, "text": "a&b" })), "https://h.example/1?lang=en&q=a%26b");
        assert_eq!(url(lines, json!({ "id": 1 })), "https://h.example/1?lang=en");
    }

    #[test]
    fn arguments_of_a_post_are_its_body() {
        let post = "method = \"POST\"\nurl = \"https://h.example/x?a=1\"\n";
        let request = render(post, json!({ "a": { "b": [1, null] }, "c": "d" })).unwrap();
        assert_eq!(request.url, "https://h.example/x?a=1");
        let body: Value = serde_json::from_str(&request.body.unwrap()).unwrap();
        assert_eq!(body, json!({ "a": { "b": [1, null] }, "c": "d" }));
        assert_eq!(request.headers[0].value, "application/json");
        let template = format!("{post}[body_template]\n\"{{{{key}}}}\" = \"{{{{n}}}}\"\ntext = \"n is {{{{n}}}}\"\n");
        let request = render(&template, json!({ "key": "k", "n": 3 })).unwrap();
        let body: Value = serde_json::from_str(&request.body.unwrap()).unwrap();
        assert_eq!(body, json!({ "k": 3, "text": "n is 3" }));
    }

    #[test]
    fn presets_win_and_are_values_of_templates() {
        let lines = "method = \"POST\"\nurl = \"https://h.example/{{customer_id}}\"\n[[preset_parameters]]\nname = \"customer_id\"\ntype = \"number\"\nvalue_template = \"7\"\n[[preset_parameters]]\nname = \"project\"\ntype = \"string\"\nvalue_template = \"{{project.name}}\"\n";
        let request = render(lines, json!({ "customer_id": 8 })).unwrap();
        assert_eq!(request.url, "https://h.example/7");
        let body: Value = serde_json::from_str(&request.body.unwrap()).unwrap();
        assert_eq!(body, json!({ "customer_id": 7, "project": "app" }));
        let missing = lines.replace("{{project.name}}", "{{initial_context.phone}}");
        let error = render(&missing, json!({})).unwrap_err();
        assert!(error.contains("Preset parameter 'project' resolved to an empty value"), "{error}");
    }
}
