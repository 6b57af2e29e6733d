//! Checks the keys of a tool that sends a request.

use super::definition::HttpDefinition;
use super::definition_fields::{KeyLines, ToolFields};
use super::file_problems::{Problems, check_path, check_timeout};
use super::template::Template;
use super::url_template::UrlTemplate;
use super::value_template::ValueTemplate;
use crate::text::redaction::is_secret_name;
use reqwest::Method;
use reqwest::header::{self, HeaderName, HeaderValue};
use std::time::Duration;

/// Default time limit in milliseconds.
const DEFAULT_TIMEOUT_MS: u64 = 5_000;
/// Headers that the client sets.
const CLIENT_HEADERS: &[HeaderName] = &[
    header::HOST,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::CONNECTION,
    header::UPGRADE,
    header::TE,
    header::TRAILER,
    header::EXPECT,
    header::ACCEPT_ENCODING,
];

/// Builds the request from its keys; `None` if there is none without a method or an address.
pub(super) fn build_http(
    fields: &ToolFields,
    lines: &KeyLines<'_>,
    problems: &mut Problems<'_>,
) -> Option<HttpDefinition> {
    let method = parse_method(fields, lines, problems);
    let url = parse_url(fields, lines, problems);
    let headers = parse_headers(fields, lines, problems);
    let query = fields.query.as_ref().map(|query| parse_query(query, fields, lines, problems));
    let body = parse_body(fields, method.as_ref(), lines, problems);
    let timeout_ms = check_timeout(fields, lines, problems).unwrap_or(DEFAULT_TIMEOUT_MS);
    if fields.credential.as_ref().is_some_and(|name| name.trim().is_empty()) {
        problems.report(lines.line_of_key("credential"), "credential is empty");
    }
    let results = fields.results.clone();
    if results.as_ref().is_some_and(|paths| [&paths.list, &paths.title, &paths.url].iter().any(|path| path.is_empty()))
    {
        problems.report(lines.line_of_key("results"), "results needs a list, and a title and url in each result");
    }
    let method = method?;
    let is_external = match (fields.effect.as_deref(), method == Method::GET) {
        (None, is_read) => !is_read,
        (Some("external"), _) => true,
        (Some("read"), true) => false,
        (Some("read"), false) => {
            let message = format!("effect cannot be \"read\" for {method}: it can only be raised");
            problems.report(lines.line_of_key("effect"), message);
            true
        }
        (Some(effect), _) => {
            let message = format!("effect is {effect:?}. Use \"read\" or \"external\"");
            problems.report(lines.line_of_key("effect"), message);
            true
        }
    };
    Some(HttpDefinition {
        method,
        url: url?,
        headers,
        credential: fields.credential.clone(),
        query,
        query_array: fields.query_array,
        body,
        timeout: Duration::from_millis(timeout_ms),
        allow_private: fields.allow_private,
        is_external,
        results,
    })
}

fn parse_method(fields: &ToolFields, lines: &KeyLines<'_>, problems: &mut Problems<'_>) -> Option<Method> {
    let written = fields.method.as_ref().and_then(serde_json::Value::as_str).map(str::to_ascii_uppercase);
    let methods = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
    let method = methods.into_iter().find(|method| Some(method.as_str()) == written.as_deref());
    if method.is_none() {
        problems.report(lines.line_of_key("method"), "method must be one of GET, POST, PUT, PATCH, DELETE");
    }
    method
}

fn parse_url(fields: &ToolFields, lines: &KeyLines<'_>, problems: &mut Problems<'_>) -> Option<UrlTemplate> {
    let line = lines.line_of_key("url");
    let Some(text) = &fields.url else {
        problems.report(line, "url is missing");
        return None;
    };
    match UrlTemplate::parse(text) {
        Ok(url) => {
            url.paths().for_each(|path| check_path(path, fields, line, problems));
            for (name, value) in url.sample().query_pairs() {
                if is_secret_name(&name) && value != "x" {
                    let message = format!("url contains the value of {name}, which is shown in prompts and sessions");
                    problems.warn(line, message);
                }
            }
            Some(url)
        }
        Err(error) => {
            problems.report(line, format!("url: {error}"));
            None
        }
    }
}

fn parse_headers(
    fields: &ToolFields,
    lines: &KeyLines<'_>,
    problems: &mut Problems<'_>,
) -> Vec<(HeaderName, HeaderValue)> {
    let mut headers: Vec<(HeaderName, HeaderValue)> = Vec::new();
    for (name, value) in &fields.headers {
        let line = lines.line_in_section("headers", name);
        let (Ok(parsed_name), Ok(mut parsed_value)) =
            (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value))
        else {
            problems.report(line, format!("header {name:?} has an invalid name or value"));
            continue;
        };
        if CLIENT_HEADERS.contains(&parsed_name) {
            problems.report(line, format!("header {name} is set by aye"));
        } else if headers.iter().any(|(other, _)| *other == parsed_name) {
            problems.report(line, format!("header {name} is given twice"));
        }
        if value.contains("{{") {
            problems.report(
                line,
                format!(
                    "header {name} contains a placeholder, which only url, query, body_template and presets may have"
                ),
            );
        }
        if is_secret_name(name) {
            parsed_value.set_sensitive(true);
            let message = format!("header {name} is written in the file; a secret belongs into a credential");
            problems.warn(line, message);
        }
        headers.push((parsed_name, parsed_value));
    }
    headers
}

fn parse_query(
    query: &std::collections::BTreeMap<String, String>,
    fields: &ToolFields,
    lines: &KeyLines<'_>,
    problems: &mut Problems<'_>,
) -> Vec<(String, Template)> {
    let mut parsed = Vec::new();
    for (name, text) in query {
        let line = lines.line_in_section("query", name);
        match Template::parse(text) {
            Ok(template) => {
                template.paths().for_each(|path| check_path(path, fields, line, problems));
                parsed.push((name.clone(), template));
            }
            Err(error) => problems.report(line, format!("query.{name}: {error}")),
        }
    }
    parsed
}

fn parse_body(
    fields: &ToolFields,
    method: Option<&Method>,
    lines: &KeyLines<'_>,
    problems: &mut Problems<'_>,
) -> Option<ValueTemplate> {
    let body = fields.body_template.as_ref()?;
    let line = lines.line_of_key("body_template");
    if !body.is_object() {
        problems.report(line, "body_template must be a table");
    }
    if matches!(method, Some(&Method::GET | &Method::DELETE)) {
        problems.report(line, "body_template is for POST, PUT and PATCH only");
    }
    match ValueTemplate::parse(body) {
        Ok(template) => {
            template.visit_paths(&mut |path| check_path(path, fields, line, problems));
            Some(template)
        }
        Err(error) => {
            problems.report(line, format!("body_template: {error}"));
            None
        }
    }
}
