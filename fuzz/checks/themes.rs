//! Theme files: any content yields a theme, and problems are reported.

use aye::text::link::Existence;
use aye::tui::text::markdown;
use aye::tui::theme::{ColourDepth, Themes};

/// Checks these bytes as a theme of the user.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let themes = Themes::with_themes(&[("mine".to_owned(), text)]);
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
    for warning in &themes.warnings {
        // A redefined colour may break a bundled theme, which is reported for the file of that theme.
        let own = warning.file.starts_with("mine");
        assert!(!own || warning.line <= lines, "{warning} is after the end of the file");
        assert!(!warning.message.is_empty());
    }
    for depth in [ColourDepth::None, ColourDepth::Sixteen, ColourDepth::Palette, ColourDepth::True] {
        for light in [None, Some(true), Some(false)] {
            let theme = themes.clone().adapted_to_terminal(depth, light).choose_theme("mine", light);
            let page = markdown::lay_out_markdown(
                "# *a* `b`\n\n> c",
                20,
                &theme,
                &|_| Existence::Exists,
                &markdown::NoPictures,
            );
            assert_eq!(page.lines.len(), 3);
        }
    }
}
