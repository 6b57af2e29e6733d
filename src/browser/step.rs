//! The actions on a page, and which arguments each has.

use super::keystroke::Keystroke;
use serde::{Deserialize, Serialize};

/// Maximum characters of a value that is entered at once, and of one that is typed key by key.
const MAX_VALUE_CHARS: usize = 10_000;
const MAX_TYPED_CHARS: usize = 2_000;

/// Kind of action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ActionKind {
    Click,
    Dblclick,
    Fill,
    Type,
    Scroll,
    Hover,
    Press,
    Check,
    Uncheck,
    Select,
    Wait,
    Back,
    Forward,
    Reload,
}

/// Direction of scrolling.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    Up,
    #[default]
    Down,
    Left,
    Right,
}

/// An action with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub action: ActionKind,
    /// Element: a reference of the snapshot or a CSS selector. Empty if the action has none.
    pub target: String,
    /// Text, key or option. Empty if the action has none.
    pub value: String,
    pub direction: Direction,
}

impl ActionKind {
    pub const ALL: [Self; 14] = [
        Self::Click,
        Self::Dblclick,
        Self::Fill,
        Self::Type,
        Self::Scroll,
        Self::Hover,
        Self::Press,
        Self::Check,
        Self::Uncheck,
        Self::Select,
        Self::Wait,
        Self::Back,
        Self::Forward,
        Self::Reload,
    ];

    /// Returns the name for the model.
    pub fn name(self) -> &'static str {
        match self {
            Self::Click => "click",
            Self::Dblclick => "dblclick",
            Self::Fill => "fill",
            Self::Type => "type",
            Self::Scroll => "scroll",
            Self::Hover => "hover",
            Self::Press => "press",
            Self::Check => "check",
            Self::Uncheck => "uncheck",
            Self::Select => "select",
            Self::Wait => "wait",
            Self::Back => "back",
            Self::Forward => "forward",
            Self::Reload => "reload",
        }
    }

    /// Returns whether the action has a target and a value.
    pub(super) fn arguments(self) -> (bool, bool) {
        match self {
            Self::Click | Self::Dblclick | Self::Hover | Self::Check | Self::Uncheck | Self::Wait => (true, false),
            Self::Fill | Self::Type | Self::Select => (true, true),
            Self::Press => (false, true),
            Self::Scroll | Self::Back | Self::Forward | Self::Reload => (false, false),
        }
    }
}

impl Step {
    /// Returns whether the action has a target or a key, so that it is for one document only.
    pub fn is_for_document(&self) -> bool {
        let (has_target, has_value) = self.action.arguments();
        has_target || has_value
    }

    /// Checks the arguments of an action.
    ///
    /// # Errors
    /// One sentence for the model.
    pub fn from_arguments(
        action: ActionKind,
        target: Option<String>,
        value: Option<String>,
        direction: Option<Direction>,
    ) -> Result<Self, String> {
        let name = action.name();
        let (has_target, has_value) = action.arguments();
        // Models send empty texts for what they leave out.
        let target = target.filter(|target| !target.trim().is_empty());
        let value = value.filter(|value| has_value || !value.is_empty());
        match (&target, &value) {
            (None, _) if has_target => return Err(format!("{name} needs a target.")),
            (Some(_), _) if !has_target => return Err(format!("{name} has no target.")),
            (_, None) if has_value => return Err(format!("{name} needs a value.")),
            (_, Some(_)) if !has_value => return Err(format!("{name} has no value.")),
            _ => {}
        }
        if direction.is_some_and(|direction| direction != Direction::default()) && action != ActionKind::Scroll {
            return Err(format!("{name} has no direction."));
        }
        let (target, value) = (target.unwrap_or_default(), value.unwrap_or_default());
        let limit = if action == ActionKind::Type { MAX_TYPED_CHARS } else { MAX_VALUE_CHARS };
        if value.chars().count() > limit {
            return Err(format!("The value is longer than {limit} characters."));
        }
        match action {
            ActionKind::Press => drop(Keystroke::parse(&value)?),
            ActionKind::Type if value.is_empty() => return Err("type needs a value.".to_owned()),
            ActionKind::Type if value.chars().any(|c| c.is_control() && c != '\n' && c != '\t') => {
                return Err("The value has a character that no key enters.".to_owned());
            }
            _ => {}
        }
        Ok(Self { action, target, value, direction: direction.unwrap_or_default() })
    }
}

impl Direction {
    pub fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Left => "left",
            Self::Right => "right",
        }
    }

    /// Returns the horizontal and the vertical direction.
    pub fn to_signs(self) -> (i32, i32) {
        match self {
            Self::Up => (0, -1),
            Self::Down => (0, 1),
            Self::Left => (-1, 0),
            Self::Right => (1, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_the_fourteen_actions_has_its_arguments() {
        assert_eq!(ActionKind::ALL.len(), 14);
        for action in ActionKind::ALL {
            let word = serde_json::to_value(action).unwrap();
            assert_eq!(word, action.name());
            let (has_target, has_value) = action.arguments();
            let check = |target: bool, value: bool, direction: Option<Direction>| {
                let text = |given: bool, text: &str| given.then(|| text.to_owned());
                Step::from_arguments(action, text(target, "e1"), text(value, "a"), direction)
            };
            assert!(check(has_target, has_value, None).is_ok(), "{word}");
            assert!(check(!has_target, has_value, None).is_err(), "{word}");
            assert!(check(has_target, !has_value, None).is_err(), "{word}");
            assert!(check(has_target, has_value, Some(Direction::Down)).is_ok(), "{word}");
            let is_scroll = action == ActionKind::Scroll;
            assert_eq!(check(has_target, has_value, Some(Direction::Up)).is_ok(), is_scroll, "{word}");
        }
    }

    #[test]
    fn values_are_checked() {
        let step = |action, value: &str| Step::from_arguments(action, Some("e1".into()), Some(value.into()), None);
        assert!(step(ActionKind::Fill, "").is_ok(), "an empty value empties a field");
        assert!(step(ActionKind::Type, "").is_err() && step(ActionKind::Type, "a\u{1b}").is_err());
        assert!(step(ActionKind::Type, "a\n\tb").is_ok());
        assert!(step(ActionKind::Click, "").is_ok());
        assert!(step(ActionKind::Fill, &"é".repeat(10_000)).is_ok());
        assert!(step(ActionKind::Fill, &"é".repeat(10_001)).is_err());
        assert!(step(ActionKind::Type, &"a".repeat(2_001)).is_err());
        let press = |value: &str| Step::from_arguments(ActionKind::Press, None, Some(value.into()), None);
        assert!(press("Control+a").is_ok() && press("Enterr").is_err());
    }
}
