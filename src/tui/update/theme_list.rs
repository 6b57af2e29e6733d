//! The list of themes.

use crate::tui::parts::picker::{IN_USE, Picker, Row};
use crate::tui::popup::{List, Popup};
use crate::tui::state::State;
use crate::tui::theme::Theme;

/// Value in the settings for the theme that follows the terminal.
const AUTO_THEME: &str = "auto";

/// Opens the list of themes. Each is previewed when the cursor reaches it.
pub fn open_themes(state: &mut State) {
    let description = |theme: &Theme| match (theme.name.as_str(), theme.is_light) {
        ("terminal", _) => "the terminal's own sixteen colours",
        ("colour-blind", false) => "for dark terminals, no red against green",
        ("high-contrast", false) => "for dark terminals, the strongest contrast",
        (_, true) => "for light terminals",
        (_, false) => "for dark terminals",
    };
    let is_auto = state.settings.theme == AUTO_THEME;
    let current_theme = Box::new(state.theme.clone());
    let in_use_mark = |is_current| if is_current { IN_USE } else { "" };
    let named_rows = state.themes.all().into_iter().map(|theme| {
        Row::new(&theme.name)
            .with_secondary(description(&theme))
            .with_detail(in_use_mark(!is_auto && theme.name == current_theme.name))
    });
    let auto_detail = match is_auto {
        true => format!("{} now · {IN_USE}", state.settings.auto_theme),
        false => format!("{} now", state.settings.auto_theme),
    };
    let items = [Row::new(AUTO_THEME).with_secondary("follows the terminal").with_detail(&auto_detail)]
        .into_iter()
        .chain(named_rows)
        .collect();
    let current_index = match is_auto {
        true => None,
        false => state.themes.names().iter().position(|name| *name == current_theme.name),
    };
    let mut picker = Picker::new("Themes", "", items);
    picker.select(current_index.map_or(0, |index| index + 1));
    state.viewport.popups.push(Popup::List(picker, List::Themes(current_theme)));
}

/// Returns the theme in a row of the list and the name that is stored in the settings.
pub fn theme_at_row(state: &State, row: usize) -> Option<(String, Theme)> {
    match row.checked_sub(1) {
        None => Some((AUTO_THEME.to_owned(), state.themes.choose_theme(&state.settings.auto_theme, None))),
        Some(index) => {
            let name = *state.themes.names().get(index)?;
            Some((name.to_owned(), state.themes.get(name)?))
        }
    }
}
