//! Tests of typing into the form and drawing it.

use super::*;
use crate::tui::tests::buffer_text;
use crossterm::event::KeyCode;
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::json;

fn sample_tool() -> ToolSpec {
    ToolSpec {
        name: "t".into(),
        description: "d".into(),
        parameters: json!({"type": "object", "required": ["command"], "properties": {
            "command": {"type": "string"}, "seconds": {"type": "integer"}, "quick": {"type": "boolean"},
            "list": {"type": "array"}, "share": {"type": "number"}}})
        .into(),
        ..ToolSpec::default()
    }
}

fn open_form(arguments: Value) -> Form {
    Form::new(Some(&sample_tool()), &arguments.to_string()).expect("there are fields")
}

fn press_key(form: &mut Form, code: KeyCode) -> KeyResult {
    form.handle_key(&KeyEvent::from(code), &Keymap::default())
}

/// Presses Enter and returns the submitted arguments, if they are valid.
fn submit_form(form: &mut Form) -> Option<Value> {
    assert_eq!(press_key(form, KeyCode::Enter), KeyResult::Accepted);
    form.submit()
}

fn fill_field(form: &mut Form, name: &str, text: &str) {
    form.focused = form.fields.iter().position(|field| field.name == name).expect("a field");
    form.apply_editor_text(text);
}

fn draw_form(form: &Form, width: u16, height: u16) -> String {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    form.draw(area, &mut buffer, &crate::tui::theme::Theme::without_colours());
    buffer_text(&buffer)
}

#[test]
fn unedited_arguments_are_unchanged() {
    for arguments in [
        json!({"command": "ls"}),
        json!({"command": "", "seconds": 3}),
        json!({"command": "a\nb\tc", "list": ["x", {"y": null}], "quick": false, "share": 0.5}),
        json!({"command": "\u{202e}gnp.exe \u{1b}[31m"}),
        json!({"command": "x", "more": {"deep": [1, "2"]}, "other": "text"}),
        json!({"command": ["not", "a", "text"]}),
    ] {
        assert_eq!(submit_form(&mut open_form(arguments.clone())), Some(arguments));
    }
}

#[test]
fn a_field_accepts_only_values_of_its_schema_type() {
    let mut form = open_form(json!({"command": "ls"}));
    for (name, text, value) in [
        ("seconds", "12", json!(12)),
        ("quick", " true ", json!(true)),
        ("list", r#"["a"]"#, json!(["a"])),
        ("share", "0.25", json!(0.25)),
        ("share", ".5", json!(0.5)),
        ("share", "5", json!(5)),
        ("command", " 12 ", json!(" 12 ")),
    ] {
        fill_field(&mut form, name, text);
        let Some(arguments) = submit_form(&mut form) else { panic!("{name}: {form:?}") };
        assert_eq!(arguments[name], value, "{name}");
    }
    for (name, text, message) in [
        ("seconds", "1.5", "seconds must be a whole number"),
        ("seconds", "99999999999999999999", "seconds must be a whole number"),
        ("quick", "yes", "quick must be true or false"),
        ("share", "NaN", "share must be a number"),
        ("list", "[1", "list must be JSON, for example [\"a\", \"b\"]"),
    ] {
        fill_field(&mut form, name, text);
        form.focused = 0;
        assert_eq!(submit_form(&mut form), None, "{name}");
        assert_eq!(form.error.as_deref(), Some(message));
        assert_eq!(form.fields[form.focused].name, name, "the invalid field is focused");
        fill_field(&mut form, name, "");
    }
}

#[test]
fn a_required_field_must_be_filled() {
    // A required text may be empty. Required values of other types must be filled.
    let mut missing = open_form(json!({"seconds": 3}));
    assert!(submit_form(&mut missing).is_some_and(|arguments| arguments["command"] == ""));
    let spec = ToolSpec {
        parameters: json!({"required": ["n"], "properties": {"n": {"type": "integer"}}}).into(),
        ..sample_tool()
    };
    let mut missing = Form::new(Some(&spec), "{}").expect("a field");
    assert_eq!(submit_form(&mut missing), None);
    assert_eq!(missing.error.as_deref(), Some("n is required"));
}

#[test]
fn characters_go_to_the_focused_field() {
    let mut form = open_form(json!({"command": "ls", "seconds": 3}));
    press_key(&mut form, KeyCode::Char('y'));
    press_key(&mut form, KeyCode::Down);
    press_key(&mut form, KeyCode::Char('0'));
    press_key(&mut form, KeyCode::Up);
    form.insert_paste(" -l\ny");
    let Some(arguments) = submit_form(&mut form) else { panic!("{form:?}") };
    assert_eq!(arguments, json!({"command": "lsy -l y", "seconds": 30}));
    assert_eq!(press_key(&mut form, KeyCode::Esc), KeyResult::Cancelled);
}

#[test]
fn multiline_text_is_edited_in_the_editor() {
    let mut form = open_form(json!({"command": "a\nb"}));
    assert_eq!(form.focused_text(), "a\nb");
    assert_eq!(
        press_key(&mut form, KeyCode::Char('x')),
        KeyResult::Handled,
        "typing does not change text that is not visible"
    );
    form.apply_editor_text("a\nb\nc");
    let Some(arguments) = submit_form(&mut form) else { panic!("{form:?}") };
    assert_eq!(arguments["command"], "a\nb\nc");
}

#[test]
fn arguments_that_are_not_an_object_have_no_form() {
    for arguments in ["", "[1]", "null", "{", "\"x\""] {
        assert_eq!(Form::new(None, arguments), None, "{arguments}");
    }
    assert_eq!(Form::new(None, "{}"), None, "nothing to change");
}

#[test]
fn the_focused_field_is_always_visible() {
    let mut form = open_form(json!({"command": "cargo test retry", "seconds": 30}));
    assert_eq!(
        draw_form(&form, 40, 6),
        "❯ command  cargo test retry\n  seconds  30\n  quick\n  list\n  share\ncommand: text, required"
    );
    form.focused = 4;
    assert_eq!(draw_form(&form, 40, 3), "  list\n❯ share\nshare: a number, optional");
    assert_eq!(draw_form(&form, 40, 1), "❯ share");
}

proptest! {
    #[test]
    fn r09_model_text_stays_inside_the_form(
        name in "\\PC{0,12}", text in any::<String>(), width in 0u16..60, height in 0u16..8, at in 0usize..6,
    ) {
        let mut form = open_form(json!({"command": text, name: text}));
        form.focused = at % form.fields.len();
        let shown = draw_form(&form, width, height);
        prop_assert!(shown.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'), "{shown:?}");
    }
}
