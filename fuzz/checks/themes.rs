//! A theme's file: whatever stands in it, there is a theme, and what is wrong in it is told.

use aye::tui::text::markdown;
use aye::tui::theme::{ColourDepth, Themes};

/// Bytes as a theme of the person's own.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let themes = Themes::with_themes(&[("mine".to_owned(), text)]);
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
    for warning in &themes.warnings {
        // A colour that is named anew may be one that no bundled theme can be drawn with: that is told of its file.
        let own = warning.file.starts_with("mine");
        assert!(!own || warning.line <= lines, "{warning} is behind the end of the file");
        assert!(!warning.message.is_empty());
    }
    for depth in [ColourDepth::None, ColourDepth::Sixteen, ColourDepth::Palette, ColourDepth::True] {
        for light in [None, Some(true), Some(false)] {
            let theme = themes.clone().adapted_to_terminal(depth, light).choose_theme("mine", light);
            let page = markdown::lay_out_markdown("# *a* `b`\n\n> c", 20, &theme, &|_| true, &|_| None);
            assert_eq!(page.lines.len(), 3);
        }
    }
}
