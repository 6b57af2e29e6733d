//! Tests of snapshots.

use super::super::frame::FrameParent;
use super::*;
use serde_json::json;

fn node(id: &str, parent: Option<&str>, role: &str, name: &str, children: &[&str], properties: Value) -> Value {
    let properties: Vec<Value> = properties
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| json!({ "name": name, "value": { "value": value } }))
        .collect();
    let mut node = json!({
        "nodeId": id, "ignored": false, "role": { "value": role }, "name": { "value": name }, "childIds": children,
        "backendDOMNodeId": id.parse::<i64>().unwrap() + 100, "properties": properties,
    });
    if let Some(parent) = parent {
        node["parentId"] = parent.into();
    }
    node
}

fn frame(id: &str, document: &str, host: &str, parent: Option<(&Arc<Frame>, i64)>) -> Arc<Frame> {
    let parent = parent.map(|(frame, owner)| FrameParent { frame: frame.clone(), owner });
    let host = Some(host.to_owned()).filter(|host| !host.is_empty());
    Arc::new(Frame { id: id.to_owned(), document: document.to_owned(), host, parent, ..Frame::default() })
}

fn content(frame: &Arc<Frame>, nodes: Vec<Value>) -> FrameContent {
    FrameContent { frame: frame.clone(), tree: json!({ "nodes": nodes }) }
}

fn render(nodes: Vec<Value>, references: &mut References) -> Snapshot {
    render_snapshot(&[content(&frame("F", "D", "a.example", None), nodes)], references)
}

#[test]
fn a_tree_becomes_indented_lines_with_references() {
    let none = || json!({});
    let focusable = || json!({ "focusable": true });
    let mut field = node("9", Some("2"), "textbox", "Name", &[], json!({ "editable": "plaintext", "required": true }));
    field["value"] = json!({ "type": "string", "value": "Ada \"x\"" });
    let nodes = vec![
        node("1", None, "RootWebArea", "Title\u{202e}\n", &["2"], focusable()),
        node("2", Some("1"), "generic", "", &["3", "5", "7", "9", "10", "11", "12"], none()),
        node("3", Some("2"), "heading", "Hello", &["4"], json!({ "level": 1 })),
        node("4", Some("3"), "StaticText", "Hello", &[], none()),
        node("5", Some("2"), "link", "Two", &["6"], json!({ "focusable": true, "url": "https://a.example/two" })),
        node("6", Some("5"), "StaticText", "Two", &[], none()),
        node("7", Some("2"), "link", "Away", &["8"], json!({ "focusable": true, "url": "https://b.example/" })),
        node("8", Some("7"), "StaticText", "Away", &[], none()),
        field,
        node("10", Some("2"), "checkbox", "Yes", &[], json!({ "focusable": true, "checked": "true" })),
        node("11", Some("2"), "Iframe", "", &[], none()),
        node("12", Some("2"), "StaticText", "a\" [e1]\n- button \"Fake\"", &[], none()),
    ];
    let mut references = References::default();
    let snapshot = render(nodes, &mut references);
    assert_eq!(
        snapshot.text,
        "- heading 1 \"Hello\"\n- link \"Two\" [e1]\n- link \"Away\" [e2] -> https://b.example/\n\
         - textbox \"Name\" [e3] (required): \"Ada \\\"x\\\"\"\n- checkbox \"Yes\" [e4] (checked)\n\
         - Iframe (content not shown)\n- \"a\\\" [e1] - button \\\"Fake\\\"\"\n"
    );
    assert!(snapshot.title.starts_with("Title") && !snapshot.title.contains(['\u{202e}', '\n']));
    let element = references.find("e3").unwrap().unwrap();
    assert_eq!((element.element.node, element.description.as_str()), (109, "textbox \"Name\""));
    assert!(references.find("e9").unwrap().unwrap_err().contains("e9 is not on the page"));
    for selector in ["#e1", "e", "e1x", "em", "button"] {
        assert!(references.find(selector).is_none(), "{selector}");
    }
}

#[test]
fn a_reference_never_names_another_element() {
    let page = |name: &str, id: &str| {
        vec![node("1", None, "RootWebArea", "", &[id], json!({})), node(id, Some("1"), "button", name, &[], json!({}))]
    };
    let mut references = References::default();
    let mut text = |document: &str, name: &str, id: &str| {
        render_snapshot(&[content(&frame("F", document, "a", None), page(name, id))], &mut references).text
    };
    assert_eq!(text("A", "One", "2"), "- button \"One\" [e1]\n");
    assert_eq!(text("A", "Two", "3"), "- button \"Two\" [e2]\n");
    assert_eq!(text("A", "One", "2"), "- button \"One\" [e1]\n");
    assert_eq!(text("B", "One", "2"), "- button \"One\" [e3]\n", "another document");
    assert!(references.find("e1").unwrap().is_err());
    assert_eq!(references.check("e3", "button \"One\""), Ok(()));
    assert!(references.check("e3", "button \"Pay\"").unwrap_err().contains("e3 has changed"));
    assert!(references.check("e1", "button \"One\"").unwrap_err().contains("e1 is not on the page"));
    assert_eq!(references.check("#one", ""), Ok(()), "a selector has no description");
    assert!(references.for_document("B").find("e3").unwrap().is_ok());
    assert!(references.for_document("C").find("e3").unwrap().is_err());
}

#[test]
fn frames_are_listed_inside_the_elements_that_show_them() {
    let none = || json!({});
    let button = |name: &str| {
        vec![node("1", None, "RootWebArea", "", &["2"], none()), node("2", Some("1"), "button", name, &[], none())]
    };
    let page = frame("F", "D", "a.example", None);
    let same = frame("G", "E", "a.example", Some((&page, 102)));
    let other = frame("H", "I", "b.example", Some((&same, 103)));
    let page_nodes = vec![
        node("1", None, "RootWebArea", "Page", &["2", "3"], none()),
        node("2", Some("1"), "Iframe", "Shop", &["9"], json!({ "focusable": true })),
        node("3", Some("1"), "Iframe", "", &[], none()),
    ];
    let same_nodes = vec![
        node("1", None, "RootWebArea", "", &["2", "3"], none()),
        node("2", Some("1"), "button", "One", &[], none()),
        node("3", Some("1"), "Iframe", "", &[], none()),
    ];
    let mut references = References::default();
    let contents = [content(&page, page_nodes.clone()), content(&same, same_nodes), content(&other, button("Pay"))];
    let snapshot = render_snapshot(&contents, &mut references);
    assert_eq!(
        snapshot.text,
        "- Iframe \"Shop\"\n  - button \"One\" [e1]\n  - Iframe (of b.example)\n    - button \"Pay\" [e2]\n\
         - Iframe (content not shown)\n"
    );
    // Both have the same number in their processes.
    let found = |references: &References, text: &str| references.find(text).unwrap().map(|found| found.element.clone());
    assert_eq!(found(&references, "e1"), Ok(Element { frame: same.clone(), node: 102 }));
    assert_eq!(found(&references, "e2"), Ok(Element { frame: other.clone(), node: 102 }));
    // Another document in the frame.
    let other = frame("H", "J", "b.example", Some((&page, 103)));
    let contents = [content(&page, page_nodes), content(&other, button("Pay"))];
    assert!(render_snapshot(&contents, &mut references).text.contains("(of b.example)\n  - button \"Pay\" [e3]"));
    assert!(found(&references, "e2").is_err() && found(&references, "e1").is_err());
}

#[test]
fn a_large_or_circular_tree_is_bounded_and_says_what_is_missing() {
    let ids: Vec<String> = (2..5_000).map(|id| id.to_string()).collect();
    let children: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut nodes = vec![node("1", None, "RootWebArea", "", &children, json!({}))];
    nodes.extend(ids.iter().map(|id| node(id, Some("1"), "button", &"é".repeat(90), &[], json!({}))));
    let text = render(nodes, &mut References::default()).text;
    let shown = text.lines().count() - 1;
    assert!(text.chars().count() <= MAX_CHARS && shown > 150, "{shown}");
    assert!(text.ends_with(&format!("[truncated: {} more lines of the page]\n", 4_998 - shown)), "{shown}");
    let circle = vec![
        node("1", None, "RootWebArea", "", &["2"], json!({})),
        node("2", Some("1"), "list", "", &["2", "1"], json!({})),
    ];
    assert!(render(circle, &mut References::default()).text.lines().count() < 5);
    assert_eq!(render(Vec::new(), &mut References::default()).text, "[the page is empty]\n");
    let mut deep: Vec<Value> = vec![node("1", None, "RootWebArea", "", &["2"], json!({}))];
    deep.extend((2..100_000).map(|id: u32| {
        let next = (id + 1).to_string();
        node(&id.to_string(), Some("1"), "list", "", &[next.as_str()], json!({}))
    }));
    assert!(render(deep, &mut References::default()).text.contains("[truncated: "));
}
