//! The accessibility trees of a page and its frames as indented text, in which elements that can be acted on have references.

use super::frame::{Element, Frame, FrameContent};
use crate::text::clean::clean_line;
use crate::text::truncation::truncate_end;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

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
    pub element: Element,
    /// Role and name, such as `button "Send"`.
    pub description: String,
}

/// References of elements. Each belongs to one element for as long as the browser runs.
#[derive(Debug, Clone, Default)]
pub struct References {
    /// Document of the page.
    document: String,
    /// References by the document of an element and its number there.
    numbers: HashMap<(String, i64), u32>,
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

    /// Begins the snapshot of a page and its frames. References of other documents are void.
    fn begin_snapshot(&mut self, contents: &[FrameContent]) {
        let is_shown = |document: &String| contents.iter().any(|content| content.frame.document == *document);
        self.numbers.retain(|(document, _), _| is_shown(document));
        self.document = contents.first().map(|content| content.frame.document.clone()).unwrap_or_default();
        self.elements.clear();
    }

    fn insert(&mut self, element: Element, description: String) -> u32 {
        let number = *self.numbers.entry((element.frame.document.clone(), element.node)).or_insert_with(|| {
            self.last += 1;
            self.last
        });
        self.elements.insert(number, PageElement { element, description });
        number
    }
}

/// Parses a reference such as `e12`.
fn parse_reference(text: &str) -> Option<u32> {
    text.strip_prefix('e').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()
}

/// The nodes of one frame.
struct FrameNodes<'a> {
    frame: &'a Arc<Frame>,
    by_id: HashMap<&'a str, &'a Value>,
    root: Option<&'a Value>,
}

/// Renders the accessibility trees of frames, the first of which is the page. Links to other hosts show their address.
pub fn render_snapshot(contents: &[FrameContent], references: &mut References) -> Snapshot {
    references.begin_snapshot(contents);
    let frames: Vec<FrameNodes<'_>> = contents.iter().map(FrameNodes::new).collect();
    let total: usize = frames.iter().map(|frame| frame.by_id.len()).sum();
    let root = frames.first().and_then(|page| Some((page, page.root?)));
    let page_host = frames.first().and_then(|page| page.frame.host.as_deref());
    let mut writer = SnapshotWriter::default();
    let mut seen = 0;
    let mut stack: Vec<(&FrameNodes<'_>, &Value, usize, String)> =
        root.map(|(page, root)| (page, root, 0, String::new())).into_iter().collect();
    while let Some((frame, node, depth, name_above)) = stack.pop() {
        // A tree has each node once, whatever the browser sends.
        seen += 1;
        if seen > total {
            break;
        }
        let role = node["role"]["value"].as_str().unwrap_or_default();
        let shown = frames.iter().find(|shown| role == "Iframe" && shown.is_shown_by(frame, node));
        let mut line = describe_node(node, &name_above, frame.frame, references);
        if let Some(line) = line.as_mut().filter(|_| role == "Iframe") {
            match shown.map(|shown| shown.frame.host.as_deref()) {
                None => line.push_str(" (content not shown)"),
                Some(host) if host != page_host => line.push_str(&format!(" (of {})", host.unwrap_or_default())),
                Some(_) => {}
            }
        }
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
        if let Some((shown, root)) = shown.and_then(|shown| Some((shown, shown.root?))) {
            stack.push((shown, root, depth_below, String::new()));
            continue;
        }
        let children = node["childIds"].as_array().map(Vec::as_slice).unwrap_or_default();
        let children = children.iter().rev().filter_map(|id| frame.by_id.get(id.as_str()?));
        stack.extend(children.map(|child| (frame, *child, depth_below, name_below.clone())));
    }
    let title = root.map(|(_, root)| clean_name(&root["name"]["value"])).unwrap_or_default();
    Snapshot { title, text: writer.finish() }
}

impl<'a> FrameNodes<'a> {
    fn new(content: &'a FrameContent) -> Self {
        let nodes = content.tree["nodes"].as_array().map(Vec::as_slice).unwrap_or_default();
        let by_id = nodes.iter().filter_map(|node| Some((node["nodeId"].as_str()?, node))).collect();
        let root = nodes.iter().find(|node| node["parentId"].is_null());
        Self { frame: &content.frame, by_id, root }
    }

    /// Returns whether a node of a frame is the element that shows this one.
    fn is_shown_by(&self, frame: &FrameNodes<'_>, node: &Value) -> bool {
        let parent = self.frame.parent.as_ref();
        parent.is_some_and(|parent| {
            parent.frame.id == frame.frame.id && node["backendDOMNodeId"].as_i64() == Some(parent.owner)
        })
    }
}

/// Returns the line of a node; `None` if it is not shown itself.
fn describe_node(node: &Value, name_above: &str, frame: &Arc<Frame>, references: &mut References) -> Option<String> {
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
        // A frame has no reference: it would receive what is meant for an element inside.
        "option" | "MenuListOption" | "Iframe" => false,
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
        let element = Element { frame: frame.clone(), node: number };
        let reference = references.insert(element, line.clone());
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
    let url = property("url").and_then(Value::as_str).filter(|_| role == "link").unwrap_or_default();
    if reqwest::Url::parse(url)
        .is_ok_and(|url| url.host_str().is_some_and(|other| Some(other) != frame.host.as_deref()))
    {
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
