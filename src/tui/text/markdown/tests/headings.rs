//! Headings differ by level.

use super::*;

#[test]
fn headings_are_styled_by_level() {
    use ratatui::style::Modifier as M;
    let heading_modifiers = |text: &str| {
        let page = lay_out_source(text, 40);
        let style = page.lines[0].spans.iter().find(|span| !span.content.trim().is_empty()).unwrap().style;
        (style.add_modifier.contains(M::UNDERLINED), style.add_modifier.contains(M::ITALIC))
    };
    assert_eq!(
        [
            heading_modifiers("# a"),
            heading_modifiers("## a"),
            heading_modifiers("### a"),
            heading_modifiers("###### a")
        ],
        [(true, false), (false, false), (false, true), (false, true)]
    );
}

#[test]
fn headings_of_three_levels_differ_without_italics_and_without_colours() {
    use ratatui::style::Modifier as M;
    let heading_style = |text: &str, theme: &Theme| {
        let page = lay_out_markdown(text, 40, theme, &|_| Existence::Unknown, &NoPictures);
        page.lines[0].spans.iter().find(|span| !span.content.trim().is_empty()).unwrap().style
    };
    for name in ["dark", "light", "colour-blind", "high-contrast", "terminal"] {
        let theme = Themes::bundled().choose_theme(name, None);
        let styles = ["# a", "## a", "### a"].map(|text| heading_style(text, &theme).remove_modifier(M::ITALIC));
        assert!(styles[0] != styles[1] && styles[1] != styles[2] && styles[0] != styles[2], "{name}: {styles:?}");
    }
    let theme = Theme::without_colours();
    let modifiers = ["# a", "## a", "### a"].map(|text| heading_style(text, &theme).add_modifier);
    assert!(
        modifiers[0] != modifiers[1] && modifiers[1] != modifiers[2] && modifiers[0] != modifiers[2],
        "{modifiers:?}"
    );
}
