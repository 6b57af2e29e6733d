//! Templates of addresses: a placeholder can change neither the scheme, the host nor the folders of the path.

use super::template::{Template, TemplatePart, TemplateValues, format_value};
use crate::text::percent_encoding::percent_encode;
use reqwest::Url;
use serde_json::Value;

/// The template of an `http` or `https` address. Scheme and host contain no placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlTemplate {
    template: Template,
    /// The address with `x` for each placeholder.
    sample: Url,
    /// The text as it was written.
    source: String,
}

impl UrlTemplate {
    /// Parses a template.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let template = Template::parse_with(text, check_literal)?;
        let authority_start = text.find("://").map_or(0, |start| start + 3);
        let authority_end = text[authority_start..].find(['/', '?', '#']).map(|end| authority_start + end);
        if text.find("{{").is_some_and(|first| authority_end.is_none_or(|end| first < end)) {
            return Err("scheme and host cannot contain a placeholder".to_owned());
        }
        let sample_text = render_parts(&template, |_| Ok("x".to_owned()))?;
        check_segments(&sample_text)?;
        let sample = Url::parse(&sample_text).map_err(|error| format!("it is no address ({error})"))?;
        if !matches!(sample.scheme(), "http" | "https") || !sample.has_host() {
            return Err("it must be an http or https address with a host".to_owned());
        }
        if !sample.username().is_empty() || sample.password().is_some() {
            return Err("it contains a user name or password; use a credential".to_owned());
        }
        Ok(Self { template, sample, source: text.to_owned() })
    }

    /// Returns the text as it was written.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// Returns an address with the same scheme and host.
    pub fn sample(&self) -> &Url {
        &self.sample
    }

    /// Returns the paths of all placeholders.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.template.paths()
    }

    /// Renders the address. Every value is percent-encoded completely.
    ///
    /// # Errors
    /// If a placeholder has no value, one that is a list or an object, or one that would change the path's folders.
    pub fn render(&self, values: &TemplateValues) -> Result<Url, String> {
        let failed = |why: String| format!("URL template rendering failed: {why}");
        let rendered = render_parts(&self.template, |part| {
            let TemplatePart::Placeholder(placeholder) = part else { return Ok(String::new()) };
            let path = placeholder.path();
            match placeholder.resolve(values).as_deref() {
                None => Err(format!("“{path}” has no value")),
                Some(Value::Array(_)) => Err(format!("“{path}” is a list")),
                Some(Value::Object(_)) => Err(format!("“{path}” is an object")),
                Some(value) => match format_value(value) {
                    text if text.is_empty() => Err(format!("“{path}” is empty")),
                    text => Ok(percent_encode(&text)),
                },
            }
        });
        let rendered = rendered.and_then(|text| check_segments(&text).map(|()| text)).map_err(failed)?;
        let url = Url::parse(&rendered).map_err(|error| failed(error.to_string()))?;
        let count_segments = |url: &Url| url.path_segments().map_or(0, Iterator::count);
        match url.origin() == self.sample.origin() && count_segments(&url) == count_segments(&self.sample) {
            true => Ok(url),
            false => Err(failed("a value would change the host or the folders of the path".to_owned())),
        }
    }
}

/// Joins the literal parts and what `render` returns for each placeholder.
fn render_parts(
    template: &Template,
    render: impl Fn(&TemplatePart) -> Result<String, String>,
) -> Result<String, String> {
    let to_text = |part: &TemplatePart| match part {
        TemplatePart::Literal(text) => Ok(text.clone()),
        TemplatePart::Placeholder(_) => render(part),
    };
    template.parts.iter().map(to_text).collect()
}

/// Checks a literal part: no character that a parser of addresses removes or replaces.
fn check_literal(text: &str) -> Result<String, String> {
    if text.contains(['{', '}']) {
        return Err("braces are not balanced".to_owned());
    }
    if text.contains(|c: char| c == '\\' || c.is_whitespace() || c.is_control()) {
        return Err("it contains a space, a backslash or a control character".to_owned());
    }
    let is_escape = |rest: &str| rest.len() >= 2 && rest.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
    if !text.split('%').skip(1).all(is_escape) {
        return Err("a percent sign is not followed by two hexadecimal digits".to_owned());
    }
    Ok(text.to_owned())
}

/// Fails if a segment of the path is `.` or `..`, also percent-encoded, which a parser of addresses resolves.
fn check_segments(address: &str) -> Result<(), String> {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let is_dots = |segment: &str| matches!(segment.to_ascii_lowercase().replace("%2e", ".").as_str(), "." | "..");
    match path.split('/').any(is_dots) {
        true => Err("a part of the path is “.” or “..”".to_owned()),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn render(template: &str, value: Value) -> Result<String, String> {
        let mut values = TemplateValues::default();
        values.insert("id", value);
        UrlTemplate::parse(template)?.render(&values).map(|url| url.to_string())
    }

    #[test]
    fn encodes_values_completely() {
        let rendered = render("https://h.example/a/{{id}}?q={{id}}&r=1", json!("a/b&c ?%#ü+")).unwrap();
        let encoded = "a%2Fb%26c%20%3F%25%23%C3%BC%2B";
        assert_eq!(rendered, format!("https://h.example/a/{encoded}?q={encoded}&r=1"));
        assert_eq!(render("https://h.example/{{id}}", json!(12)).unwrap(), "https://h.example/12");
        assert_eq!(render("https://h.example/{{id}}", json!(true)).unwrap(), "https://h.example/true");
        assert_eq!(render("https://h.example/{{no | all}}", json!(1)).unwrap(), "https://h.example/all");
    }

    #[test]
    fn refuses_values_that_are_no_text_or_change_the_path() {
        for value in [json!([1]), json!({}), json!(null), json!(""), json!(" "), json!("."), json!("..")] {
            let error = render("https://h.example/a/{{id}}/b", value.clone()).unwrap_err();
            assert!(error.starts_with("URL template rendering failed: "), "{value}: {error}");
        }
        assert!(render("https://h.example/.{{id}}", json!(".")).is_err());
        assert!(render("https://h.example/%2E{{id}}/x", json!(".")).is_err());
        assert!(render("https://h.example/{{id}}", json!("..%2f..")).is_ok());
    }

    #[test]
    fn invalid_templates_are_errors() {
        for template in [
            "{{scheme}}://h.example/",
            "https://{{id}}/",
            "https://{{id}}.h.example/x",
            "https://h.example{{id}}/x",
            "https://h.example:{{id}}/x",
            "https://h.example{{id}}",
            "https://{{id}}@h.example/x",
            "https://h.example/{{id}",
            "https://h.example/{id}}",
            "https://h.example/%2{{id}}",
            "https://h.example/a\\{{id}}",
            "https://h.example/a b",
            "https://h.example/../{{id}}",
            "https://user:secret@h.example/",
            "ftp://h.example/",
            "file:///etc/passwd",
            "h.example/x",
            "https://",
            "",
        ] {
            assert!(UrlTemplate::parse(template).is_err(), "{template}");
        }
    }

    proptest! {
        /// Whatever a value is, it stays one segment or one parameter of the address.
        #[test]
        fn a_value_stays_at_its_place(value in "(\\PC|[./\\\\%#?&@:\r\n\t 2eEfF]){1,12}") {
            for template in ["https://h.example:8443/a/{{id}}/b?k={{id}}&l=m", "https://h.example:8443/a/p.{{id}}/b?k={{id}}&l=m"] {
                let Ok(rendered) = render(template, json!(value)) else { continue };
                let url = Url::parse(&rendered).unwrap();
                prop_assert_eq!((url.scheme(), url.host_str(), url.port()), ("https", Some("h.example"), Some(8443)));
                prop_assert_eq!(url.fragment(), None);
                let segments: Vec<&str> = url.path_segments().unwrap().collect();
                prop_assert!(segments.len() == 3 && segments[0] == "a" && segments[2] == "b", "{:?}", segments);
                let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
                prop_assert_eq!(pairs, vec![("k".to_owned(), value.clone()), ("l".to_owned(), "m".to_owned())]);
            }
        }
    }
}
