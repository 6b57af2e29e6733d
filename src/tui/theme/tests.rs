//! Contrast of the bundled themes, inheritance, and warnings about invalid lines.

use super::catalog::BUNDLED_THEMES;
use super::output_colours::contrast_ratio;
use super::*;
use crate::text::terminal_palette::palette_rgb;
use crate::tui::parts::frame::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

/// Backgrounds assumed for themes that do not set one.
const DARK: [u8; 3] = [0x16, 0x18, 0x1c];
const LIGHT: [u8; 3] = [0xff, 0xff, 0xff];

fn rgb(colour: Color) -> [u8; 3] {
    match colour {
        Color::Rgb(red, green, blue) => [red, green, blue],
        Color::Indexed(index @ 16..) => palette_rgb(index),
        other => panic!("{other:?} has no known RGB value"),
    }
}

/// Asserts the contrast of every text role on every background it is drawn on.
fn assert_readable(theme: &Theme, min_contrast: f64) {
    let background = theme.background.bg.map_or(if theme.is_light { LIGHT } else { DARK }, rgb);
    let text = rgb(theme.text.fg.expect("the text has a colour"));
    let code = rgb(theme.code_block.bg.expect("code blocks have a background"));
    // Borders need less contrast, and backgrounds have no text.
    for role in ROLES.iter().filter(|role| !role.starts_with("border") && !role.ends_with("ground")) {
        let style = theme.role(role).unwrap();
        let fg = style.fg.map_or(text, rgb);
        let mut backgrounds = vec![style.bg.map_or(background, rgb)];
        if role.starts_with("syntax") {
            backgrounds = vec![background, code, rgb(theme.added.bg.unwrap()), rgb(theme.removed.bg.unwrap())];
        }
        for background in backgrounds {
            let contrast = contrast_ratio(fg, background);
            assert!(contrast >= min_contrast, "{} of {} is {contrast:.2}:1 on {background:02x?}", role, theme.name);
        }
    }
    let border = contrast_ratio(rgb(theme.border.fg.unwrap()), background);
    assert!(border >= 3.0, "the border of {} is {border:.2}:1", theme.name);
}

#[test]
fn every_theme_is_readable() {
    for (name, min_contrast) in [("dark", 4.5), ("light", 4.5), ("colour-blind", 4.5), ("high-contrast", 7.0)] {
        let theme = Themes::bundled().choose_theme(name, None);
        assert_eq!(theme.name, name);
        assert_readable(&theme, min_contrast);
        assert_readable(&adapt_to_depth(theme, ColourDepth::Palette), 4.5);
    }
}

#[test]
fn bundled_themes_are_complete_and_without_warnings() {
    let themes = Themes::bundled();
    let as_own = BUNDLED_THEMES.map(|(name, text)| (name.to_owned(), text.to_owned()));
    assert_eq!(Themes::with_themes(&as_own).warnings, []);
    let names = themes.names();
    assert_eq!(names, ["dark", "light", "high-contrast", "colour-blind", "terminal"]);
    for theme in themes.all() {
        for pair in [(theme.added, theme.removed), (theme.added_part, theme.added), (theme.dim, theme.text)] {
            assert_ne!(pair.0, pair.1, "{}", theme.name);
        }
    }
}

#[test]
fn terminal_theme_uses_only_the_terminals_colours() {
    let theme = Themes::bundled().choose_theme("terminal", None);
    for role in ROLES {
        let style = theme.role(role).unwrap();
        for colour in [style.fg, style.bg].into_iter().flatten() {
            assert!(!matches!(colour, Color::Rgb(..) | Color::Indexed(_)), "{role}");
            assert_ne!(Some(Color::DarkGray), style.fg, "{role} may be the background's colour");
        }
        assert!(!style.add_modifier.contains(Modifier::HIDDEN));
    }
}

#[test]
fn added_and_removed_lines_differ_without_red_and_green() {
    let theme = Themes::bundled().choose_theme("colour-blind", None);
    let pairs = [
        (theme.added.fg, theme.removed.fg),
        (theme.added.bg, theme.removed.bg),
        (theme.added_part.bg, theme.removed_part.bg),
    ];
    for (added, removed) in pairs {
        let ([red, _, blue], [other_red, _, other_blue]) = (rgb(added.unwrap()), rgb(removed.unwrap()));
        // Blue and yellow are distinguishable with every colour vision deficiency.
        assert!(i32::from(blue) - i32::from(red) > 30 && i32::from(other_red) - i32::from(other_blue) > 30);
    }
}

#[test]
fn theme_sets_its_background_unless_the_terminals_suits_it() {
    let background = |name: &str, light| {
        let themes = Themes::bundled().adapted_to_terminal(ColourDepth::True, light);
        themes.choose_theme(name, light).background.bg
    };
    let colour = |[red, green, blue]: [u8; 3]| Some(Color::Rgb(red, green, blue));
    for (name, light) in [("dark", false), ("colour-blind", false), ("light", true)] {
        let expected = colour(if light { LIGHT } else { DARK });
        assert_eq!(background(name, Some(light)), None, "{name}");
        assert_eq!((background(name, Some(!light)), background(name, None)), (expected, expected), "{name}");
    }
    assert_eq!(background("terminal", None), None);
    assert_eq!(background("high-contrast", Some(false)), colour([0, 0, 0]));
}

#[test]
fn background_of_a_users_theme_is_always_drawn() {
    let user_themes = [("mine".into(), "inherits = 'dark'\nbackground = { bg = '#101010' }".into())];
    for light in [None, Some(false), Some(true)] {
        let themes = Themes::with_themes(&user_themes).adapted_to_terminal(ColourDepth::True, light);
        assert_eq!(themes.choose_theme("mine", light).background.bg, Some(Color::Rgb(16, 16, 16)));
    }
}

#[test]
fn auto_follows_the_terminal() {
    let themes = Themes::bundled();
    let name = |setting, light| themes.choose_theme(setting, light).name;
    assert_eq!((name("auto", Some(true)), name("auto", Some(false))), ("light".into(), "dark".into()));
    assert_eq!((name("auto", None), name("no such", Some(true))), ("dark".into(), "light".into()));
    assert_eq!(name("terminal", Some(true)), "terminal");
}

/// Returns the user's theme with this TOML text, and the warnings about it.
fn load_user_theme(text: &str) -> (Theme, Vec<ThemeWarning>) {
    let themes = Themes::with_themes(&[("mine".into(), text.into())]);
    (themes.get("mine").unwrap(), themes.warnings)
}

#[test]
fn users_theme_inherits_all_other_roles() {
    let (theme, warnings) = load_user_theme(
        "inherits = 'dark'\naccent = { fg = 'blue', bold = true }\ndim = 244\n[palette]\nblue = '#00f'\n",
    );
    let dark = Themes::bundled().choose_theme("dark", None);
    assert_eq!(warnings, []);
    assert_eq!(theme.accent, Style::new().fg(Color::Rgb(0, 0, 255)).add_modifier(Modifier::BOLD));
    assert_eq!(theme.dim, Style::new().fg(Color::Indexed(244)));
    assert_eq!(theme.text, dark.text);
    assert_eq!(theme.syntax_function.fg, Some(Color::Rgb(0, 0, 255)), "inherited roles follow the palette");
}

#[test]
fn invalid_line_causes_a_warning_and_keeps_the_theme() {
    let text = "inherits = 'dark'\naccent = 'bleu'\ntextt = 'red'\ndim = { fg = 'red', blink = true }\nlight = 3\nlink = = \nwarning = '#ff0000'\n";
    let (theme, warnings) = load_user_theme(text);
    let dark = Themes::bundled().choose_theme("dark", None);
    assert_eq!(theme.accent, dark.accent);
    assert_eq!(theme.warning, Style::new().fg(Color::Rgb(255, 0, 0)));
    assert_eq!(theme.dim.fg, dark.danger.fg, "valid keys of a role are used, with the red of the palette");
    let lines: Vec<usize> = warnings.iter().map(|warning| warning.line).collect();
    assert!([2, 3, 4, 5, 6].iter().all(|line| lines.contains(line)), "{warnings:#?}");
    assert!(warnings.iter().all(|warning| warning.file == "mine.toml"));
    assert!(warnings.iter().any(|warning| warning.message.contains("`bleu` is not a colour; allowed are #rrggbb")));
    assert!(warnings.iter().any(|warning| warning.message.contains("unknown role `textt`")));
}

#[test]
fn renamed_roles_keep_their_old_names_for_one_release() {
    let (theme, warnings) = load_user_theme(
        "inherits = 'dark'\nground = { bg = '#101010' }\nspare_ground = { bg = '#202020' }\nperson = 'red'\nuser = 'green'\nfound = 'black'\n",
    );
    let (background, fallback_background) = (Color::Rgb(16, 16, 16), Color::Rgb(32, 32, 32));
    assert_eq!((theme.background.bg, theme.fallback_background.bg), (Some(background), Some(fallback_background)));
    assert_eq!(theme.user.fg, Themes::bundled().choose_theme("dark", None).success.fg, "the new name counts");
    assert_eq!(theme.search_match.fg, Some(Color::Black));
    let texts: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "mine.toml:2: `ground` is now `background`; the old name works in this release",
            "mine.toml:3: `spare_ground` is now `fallback_background`; the old name works in this release",
            "mine.toml:4: `person` is now `user`; both are given and only the new name counts",
            "mine.toml:6: `found` is now `search_match`; the old name works in this release",
        ]
    );
}

#[test]
fn circular_inheritance_is_ignored_with_a_warning() {
    let user_themes =
        [("a", "inherits = 'b'\ntext = 'red'"), ("b", "inherits = 'a'\ndim = 'blue'"), ("c", "inherits = 'z'")];
    let themes = Themes::with_themes(&user_themes.map(|(name, text)| (name.into(), text.into())));
    let a = themes.get("a").unwrap();
    assert_eq!((a.text.fg, a.dim.fg), (Some(Color::Red), Some(Color::Blue)));
    assert!(themes.warnings.iter().any(|warning| warning.message.contains("ignoring this circular")));
    assert!(themes.warnings.iter().any(|warning| warning.to_string().starts_with("c.toml:1: unknown theme `z`")));
}

#[test]
fn reads_a_folder_of_themes_that_may_be_missing() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine.toml"), "inherits = 'light'").unwrap();
    std::fs::write(folder.path().join("notes.txt"), "not a theme").unwrap();
    std::fs::write(folder.path().join("broken.toml"), [0xff, 0xfe]).unwrap();
    // It has no size and no end.
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("endless.toml")).unwrap();
    let themes = Themes::with_folder(folder.path());
    assert!(themes.get("mine").unwrap().is_light);
    let bundled = Themes::bundled().all().len();
    assert_eq!((themes.all().len(), themes.warnings.len()), (bundled + 1, 2));
    assert_eq!(Themes::with_folder(&folder.path().join("none")).all().len(), bundled);
}

/// Returns the lowest contrast of any character in a row of a frame.
fn lowest_contrast(theme: &Theme, frame: &Frame<'_>, row: u16) -> f64 {
    let mut buffer = Buffer::empty(Rect::new(0, 0, 60, 5));
    frame.draw(buffer.area, &mut buffer, theme);
    let background = theme.background.bg.map_or(if theme.is_light { LIGHT } else { DARK }, rgb);
    let cells = (0..60).map(|x| &buffer[(x, row)]).filter(|cell| cell.symbol().is_ascii());
    let cells = cells.filter(|cell| cell.symbol() != " ");
    cells.map(|cell| contrast_ratio(rgb(cell.fg), background)).fold(f64::INFINITY, f64::min)
}

#[test]
fn keys_of_a_listening_prompt_are_readable_in_every_theme() {
    let hints = ["y yes · a always… · n no".to_owned()];
    let frame = Frame { title: "run?", hints: &hints, is_listening: true, ..Frame::default() };
    let danger = Frame { is_destructive: true, ..frame.clone() };
    let with_message = Frame { message: "too soon · press it again", ..frame.clone() };
    for name in ["dark", "light", "colour-blind", "high-contrast"] {
        for depth in [ColourDepth::True, ColourDepth::Palette] {
            let theme = adapt_to_depth(Themes::bundled().choose_theme(name, None), depth);
            // The title is in row 0 of the frame; hints and message are in its last row.
            for (label, frame, row) in [("hints", &frame, 4), ("danger", &danger, 0), ("message", &with_message, 4)] {
                let contrast = lowest_contrast(&theme, frame, row);
                assert!(contrast >= 4.5, "{label} in {name}: {contrast:.2}:1");
            }
        }
    }
    let theme = Themes::bundled().choose_theme("terminal", None);
    let mut buffer = Buffer::empty(Rect::new(0, 0, 60, 5));
    frame.draw(buffer.area, &mut buffer, &theme);
    let (key, label) = (&buffer[(3, 4)], &buffer[(5, 4)]);
    assert!(key.symbol() == "y" && key.modifier == Modifier::BOLD, "{key:?}");
    assert!(label.symbol() == "y" && label.modifier.is_empty(), "the terminal's own colour: {label:?}");
    let inactive = Frame { is_listening: false, ..frame };
    inactive.draw(buffer.area, &mut buffer, &theme);
    assert_eq!(buffer[(3, 4)].modifier, theme.dim.add_modifier, "the keys are dim until the prompt accepts answers");
}
