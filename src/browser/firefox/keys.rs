//! Input actions of WebDriver: keys and the pointer.

use crate::browser::keystroke::Keystroke;
use serde_json::{Value, json};

/// Characters by which WebDriver names keys that enter none.
const KEYS: [(&str, char); 30] = [
    ("Alt", '\u{e00a}'),
    ("Control", '\u{e009}'),
    ("Meta", '\u{e03d}'),
    ("Shift", '\u{e008}'),
    ("Enter", '\u{e007}'),
    ("Tab", '\u{e004}'),
    ("Escape", '\u{e00c}'),
    ("Backspace", '\u{e003}'),
    ("Delete", '\u{e017}'),
    ("Insert", '\u{e016}'),
    ("Home", '\u{e011}'),
    ("End", '\u{e010}'),
    ("PageUp", '\u{e00e}'),
    ("PageDown", '\u{e00f}'),
    ("ArrowLeft", '\u{e012}'),
    ("ArrowUp", '\u{e013}'),
    ("ArrowRight", '\u{e014}'),
    ("ArrowDown", '\u{e015}'),
    ("F1", '\u{e031}'),
    ("F2", '\u{e032}'),
    ("F3", '\u{e033}'),
    ("F4", '\u{e034}'),
    ("F5", '\u{e035}'),
    ("F6", '\u{e036}'),
    ("F7", '\u{e037}'),
    ("F8", '\u{e038}'),
    ("F9", '\u{e039}'),
    ("F10", '\u{e03a}'),
    ("F11", '\u{e03b}'),
    ("F12", '\u{e03c}'),
];

/// Returns the source of actions that presses and releases a key. `None` if WebDriver has no such key.
pub fn key_source(keystroke: &Keystroke) -> Option<Value> {
    let find = |name: &str| KEYS.iter().find(|(known, _)| *known == name).map(|(_, character)| *character);
    let key = keystroke.key();
    let mut characters = key.chars();
    let character = match (characters.next(), characters.next()) {
        // Those of WebDriver would be keys.
        (Some('\u{e000}'..='\u{e05d}'), None) => return None,
        (Some(character), None) => character,
        _ => find(key)?,
    };
    let modifiers: Vec<char> = keystroke.modifiers().filter_map(find).collect();
    let pressed = modifiers.iter().chain([&character]).map(|key| json!({ "type": "keyDown", "value": key }));
    let released = [&character].into_iter().chain(modifiers.iter().rev());
    let actions: Vec<Value> = pressed.chain(released.map(|key| json!({ "type": "keyUp", "value": key }))).collect();
    Some(json!({ "type": "key", "id": "keys", "actions": actions }))
}

/// Returns the source of actions that moves the pointer to a point of the visible part, and presses its button there.
pub fn pointer_source((x, y): (f64, f64), clicks: u32) -> Value {
    let mut actions = vec![json!({ "type": "pointerMove", "x": whole(x), "y": whole(y) })];
    for _ in 0..clicks {
        actions.extend(["pointerDown", "pointerUp"].map(|kind| json!({ "type": kind, "button": 0 })));
    }
    json!({ "type": "pointer", "id": "pointer", "actions": actions })
}

/// Returns the pixel of a coordinate.
#[allow(clippy::cast_possible_truncation)]
fn whole(coordinate: f64) -> i64 {
    coordinate.floor() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_pressed_with_their_modifiers() {
        let values = |text: &str| {
            let source = key_source(&Keystroke::parse(text).unwrap())?;
            let actions = source["actions"].as_array().unwrap().clone();
            Some(
                actions.iter().map(|action| action["value"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(","),
            )
        };
        assert_eq!(values("a").as_deref(), Some("a,a"));
        assert_eq!(values("Enter").as_deref(), Some("\u{e007},\u{e007}"));
        assert_eq!(values("Space").as_deref(), Some(" , "));
        assert_eq!(values("Ctrl+Shift+F5").as_deref(), Some("\u{e009},\u{e008},\u{e035},\u{e035},\u{e008},\u{e009}"));
        assert_eq!(values("ContextMenu"), None);
        assert_eq!(values("\u{e007}"), None, "a character of a page is no key");
        let clicks = |count| pointer_source((1.9, 2.0), count)["actions"].as_array().unwrap().len();
        assert_eq!((clicks(0), clicks(2)), (1, 5));
    }
}
