//! The accessibility tree of a page as indented text, in which elements that can be acted on have references.

use crate::text::clean::clean_line;
use crate::text::truncation::truncate_end;
use serde_json::Value;
use std::collections::HashMap;

/// Maximum characters of a snapshot.
pub const MAX_CHARS: usize = 20_000;
/// Characters kept free for the line that says what is missing.
const MARK_CHARS: usize = 60;
/// Maximum characters of a name or a value, and of an address.
const MAX_NAME_CHARS: usize = 400;
const MAX_URL_CHARS: usize = 200;
/// Maximum levels of indentation.
const MAX_INDENT: usize = 12;

/// Roles of elements that can be acted on even if they cannot have the focus.
const INTERACTIVE: [&str; 17] = [
    "button",
    "checkbox",
    "combobox",
    "link",
    "listbox",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "radio",
    "searchbox",
    "slider",
    "spinbutton",
    "switch",
    "tab",
    "textbox",
    "treeitem",
    "DisclosureTriangle",
];
/// Roles that are shown without a name too.
const STRUCTURE: [&str; 29] = [
    "Iframe",
    "alert",
    "alertdialog",
    "article",
    "banner",
    "cell",
    "columnheader",
    "complementary",
    "contentinfo",
    "dialog",
    "figure",
    "form",
    "grid",
    "gridcell",
    "heading",
    "list",
    "listitem",
    "main",
    "menu",
    "menubar",
    "navigation",
    "option",
    "radiogroup",
    "row",
    "rowheader",
    "table",
    "tablist",
    "tree",
    "status",
];
/// Roles that are never shown themselves, unless they can be acted on.
const HIDDEN_ROLES: [&str; 9] = [
    "InlineTextBox",
    "LineBreak",
    "ListMarker",
    "MenuListPopup",
    "RootWebArea",
    "generic",
    "none",
    "paragraph",
    "presentation",
];
/// Roles whose name repeats the text inside.
const NAMED_BY_CONTENT: [&str; 16] = [
    "button",
    "cell",
    "checkbox",
    "columnheader",
    "gridcell",
    "heading",
    "link",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "option",
    "radio",
    "rowheader",
    "switch",
    "tab",
    "treeitem",
];

/// An element of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageElement {
    /// Number by which the browser knows it.
    pub node: i64,
    /// Role and name, such as `button "Send"`.
    pub description: String,
}

/// References of elements. Each belongs to one element for as long as the browser runs.
#[derive(Debug, Clone, Default)]
pub struct References {
    document: String,
    /// References by the browser's numbers of elements.
    numbers: HashMap<i64, u32>,
    elements: HashMap<u32, PageElement>,
    last: u32,
}

/// A page as text.
#[derive(Debug, PartialEq, Eq)]
pub struct Snapshot {
    pub title: String,
    pub text: String,
}

impl References {
    /// Returns the element of a reference such as `e12`; `None` for a text of another form.
    ///
    /// # Errors
    /// One sentence for the model if the page has no such element.
    pub fn find(&self, text: &str) -> Option<Result<&PageElement, String>> {
        let number = parse_reference(text)?;
        Some(self.elements.get(&number).ok_or_else(|| format!("{text} is not on the page as it is now.")))
    }

    /// Checks that the element of a reference is still what an earlier snapshot said, since a page may change its elements.
    ///
    /// # Errors
    /// One sentence for the model.
    pub fn check(&self, text: &str, expected: &str) -> Result<(), String> {
        match self.find(text).transpose()? {
            Some(element) if element.description != expected => {
                Err(format!("{text} has changed since the call was planned. Nothing was done."))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Returns these references if they belong to the document, and none otherwise.
    pub fn for_document(&self, document: &str) -> Self {
        if self.document == document { self.clone() } else { Self::default() }
    }

    /// Returns all elements by their references.
    pub fn elements(&self) -> &HashMap<u32, PageElement> {
        &self.elements
    }

    /// Begins the snapshot of a document. References of another document are void.
    fn begin_snapshot(&mut self, document: &str) {
        if self.document != document {
            document.clone_into(&mut self.document);
            self.numbers.clear();
        }
        self.elements.clear();
    }

    fn insert(&mut self, node: i64, description: String) -> u32 {
        let number = *self.numbers.entry(node).or_insert_with(|| {
            self.last += 1;
            self.last
        });
        self.elements.insert(number, PageElement { node, description });
        number
    }
}

/// Parses a reference such as `e12`.
fn parse_reference(text: &str) -> Option<u32> {
    text.strip_prefix('e').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()
}

/// Renders the nodes of an accessibility tree. `host` is that of the page: links to other hosts show their address.
pub fn render_snapshot(tree: &Value, document: &str, host: &str, references: &mut References) -> Snapshot {
    references.begin_snapshot(document);
    let nodes = tree["nodes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let by_id: HashMap<&str, &Value> = nodes.iter().filter_map(|node| Some((node["nodeId"].as_str()?, node))).collect();
    let root = nodes.iter().find(|node| node["parentId"].is_null());
    let mut writer = SnapshotWriter::default();
    let mut seen = 0;
    let mut stack: Vec<(&Value, usize, String)> = root.map(|root| (root, 0, String::new())).into_iter().collect();
    while let Some((node, depth, name_above)) = stack.pop() {
        // A tree has each node once, whatever the browser sends.
        seen += 1;
        if seen > nodes.len() {
            break;
        }
        let line = describe_node(node, &name_above, host, references);
        let role = node["role"]["value"].as_str().unwrap_or_default();
        let (depth_below, name_below) = match line {
            Some(line) => {
                writer.push_line(depth, &line);
                let names_content = NAMED_BY_CONTENT.contains(&role);
                (depth + 1, if names_content { clean_name(&node["name"]["value"]) } else { String::new() })
            }
            None => (depth, name_above),
        };
        if role == "StaticText" {
            continue;
        }
        let children = node["childIds"].as_array().map(Vec::as_slice).unwrap_or_default();
        let children = children.iter().rev().filter_map(|id| by_id.get(id.as_str()?));
        stack.extend(children.map(|child| (*child, depth_below, name_below.clone())));
    }
    let title = root.map(|root| clean_name(&root["name"]["value"])).unwrap_or_default();
    Snapshot { title, text: writer.finish() }
}

/// Returns the line of a node; `None` if it is not shown itself.
fn describe_node(node: &Value, name_above: &str, host: &str, references: &mut References) -> Option<String> {
    let role = node["role"]["value"].as_str().unwrap_or_default();
    let name = clean_name(&node["name"]["value"]);
    if node["ignored"] == true || role == "RootWebArea" {
        return None;
    }
    if role == "StaticText" {
        return (!name.is_empty() && !name_above.contains(&name)).then(|| quote(&name));
    }
    let property = |name: &str| {
        let properties = node["properties"].as_array().map(Vec::as_slice).unwrap_or_default();
        properties.iter().find(|property| property["name"] == name).map(|property| &property["value"]["value"])
    };
    let is_true = |name: &str| property(name).is_some_and(|value| *value == true || *value == "true");
    let is_focusable = is_true("focusable");
    let can_act = match role {
        "option" | "MenuListOption" => false,
        "generic" => is_focusable,
        role => is_focusable || INTERACTIVE.contains(&role) || property("editable").is_some(),
    };
    let is_named = !name.is_empty() && !HIDDEN_ROLES.contains(&role);
    let is_shown = can_act || is_named || STRUCTURE.contains(&role);
    if !is_shown {
        return None;
    }
    let mut line = clean_line(role).into_owned();
    if let Some(level) = property("level").and_then(Value::as_u64).filter(|_| role == "heading") {
        line.push_str(&format!(" {level}"));
    }
    if !name.is_empty() {
        line.push_str(&format!(" {}", quote(&name)));
    }
    if let (true, Some(number)) = (can_act, node["backendDOMNodeId"].as_i64()) {
        let reference = references.insert(number, line.clone());
        line.push_str(&format!(" [e{reference}]"));
    }
    let states = ["checked", "selected", "pressed", "expanded", "disabled", "required", "readonly"];
    states.iter().filter(|state| is_true(state)).for_each(|state| line.push_str(&format!(" ({state})")));
    if property("checked").is_some_and(|checked| *checked == "mixed") {
        line.push_str(" (partly checked)");
    }
    let value = clean_name(&node["value"]["value"]);
    if !value.is_empty() && value != name {
        line.push_str(&format!(": {}", quote(&value)));
    }
    if role == "Iframe" {
        line.push_str(" (content not shown)");
    }
    let url = property("url").and_then(Value::as_str).filter(|_| role == "link").unwrap_or_default();
    if reqwest::Url::parse(url).is_ok_and(|url| url.host_str().is_some_and(|other| other != host)) {
        line.push_str(&format!(" -> {}", truncate_end(&clean_line(url), MAX_URL_CHARS)));
    }
    Some(line)
}

/// Returns text of the page on one clean line.
fn clean_name(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    };
    truncate_end(&clean_line(&text), MAX_NAME_CHARS)
}

/// Quotes text of the page, so that it cannot look like a part of the snapshot.
fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Collects lines up to [`MAX_CHARS`], and counts the others.
#[derive(Default)]
struct SnapshotWriter {
    text: String,
    chars: usize,
    missing: usize,
}

impl SnapshotWriter {
    fn push_line(&mut self, depth: usize, line: &str) {
        let indent = depth.min(MAX_INDENT) * 2;
        let chars = indent + 2 + line.chars().count() + 1;
        if self.missing > 0 || self.chars + chars > MAX_CHARS - MARK_CHARS {
            self.missing += 1;
            return;
        }
        self.chars += chars;
        self.text.push_str(&format!("{:indent$}- {line}\n", ""));
    }

    fn finish(mut self) -> String {
        match (self.missing, self.text.is_empty()) {
            (0, true) => self.text.push_str("[the page is empty]\n"),
            (0, false) => {}
            (missing, _) => self.text.push_str(&format!("[truncated: {missing} more lines of the page]\n")),
        }
        self.text
    }
}

#[cfg(test)]
mod tests;
