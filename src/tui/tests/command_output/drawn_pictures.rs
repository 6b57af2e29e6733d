//! Pictures drawn in the transcript and on pages.

use super::*;
use crate::chat::image::{ImageSize, StripFormat, StripLayout};
use crate::text::link::LinkTarget;
use crate::text::workspace_address::AddressTarget;
use crate::tui::host::{HostReply, LinkStatus};
use crate::tui::parts::file_page::FilePage;
use crate::tui::parts::link_page::LinkPage;
use crate::tui::parts::pictures::{PictureData, PictureForm, Pixels, Protocol};
use crate::tui::popup::{Popup, Reader, ReaderBody};
use crate::tui::text::PictureKey;
use crate::tui::workspace_data::{FilePreview, ListedFile, PreviewContent};
use ratatui::style::Color;
use std::sync::Arc;

/// 8 columns and 4 rows.
const SIZE: ImageSize = ImageSize { pixels: (64, 64), bytes: 84_000 };
const RED: [u8; 4] = [255, 0, 0, 255];
const BLUE: [u8; 4] = [0, 0, 255, 255];

fn screen_with_pictures(entries: impl IntoIterator<Item = Entry>) -> Screen {
    let mut screen = Screen::with_entries(entries);
    screen.state.lookups.pictures.protocol = Some(Protocol::Blocks);
    screen
}

/// Answers the pending link checks: everything is a picture of this size, except web addresses.
fn answer_checks(screen: &mut Screen) {
    screen.draw_frame();
    let targets = screen.state.lookups.take_pending();
    let statuses = targets.into_iter().map(|target| (target, LinkStatus::Picture(SIZE))).collect();
    screen.handle_event(Event::Host(HostReply::LinkStatuses(statuses)));
    screen.draw_frame();
}

/// Reads the requested pictures: each has a red and a blue pixel in every cell. Returns them in the order of the requests.
fn answer_pictures(screen: &mut Screen) -> Vec<Arc<PictureKey>> {
    let mut read = Vec::new();
    while let Some((key, form)) = screen.state.lookups.pictures.take_request() {
        let PictureForm::Pixels(width, height) = form else { panic!("{form:?}") };
        let row = |y: u32| if y.is_multiple_of(2) { RED } else { BLUE }.repeat(width as usize);
        let pixels = Pixels { width: width as usize, rgba: (0..height).flat_map(row).collect() };
        screen.handle_event(Event::Host(HostReply::PictureRead(Ok(PictureData::Pixels(pixels)))));
        read.push(key);
        screen.draw_frame();
    }
    read
}

fn first_rows(screen: &mut Screen, rows: usize) -> String {
    screen.screen_text().lines().skip(2).take(rows).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_picture_is_drawn_below_its_paragraph_and_below_its_line_in_a_message() {
    let text = "Look:\n\n- ![start](docs/shot.png) here\n\nThe end.";
    let mut screen = screen_with_pictures([user_message("see @a.png"), reply_entry(text), turn_end()]);
    answer_checks(&mut screen);
    let waiting = first_rows(&mut screen, 8);
    assert!(waiting.contains("64 × 64") && !waiting.contains('▀'), "the captions stay while it is read: {waiting}");
    assert_eq!(answer_pictures(&mut screen).len(), 2);
    insta::assert_snapshot!(first_rows(&mut screen, 14), @r"
     ▌ see @a.png
       a.png · 64 × 64 · 84.0 kB · ctrl-o open or copy
       ▀▀▀▀▀▀▀▀
       ▀▀▀▀▀▀▀▀
       ▀▀▀▀▀▀▀▀
       ▀▀▀▀▀▀▀▀

     Look:

     • start · docs/shot.png · 64 × 64 · 84.0 kB · ctrl-o open or copy here
       ▀▀▀▀▀▀▀▀
       ▀▀▀▀▀▀▀▀
       ▀▀▀▀▀▀▀▀
       ▀▀▀▀▀▀▀▀
    ");
    let mut buffer = Buffer::empty(Rect::new(0, 0, 80, 24));
    view::draw_screen(&screen.state, &mut LayoutCache::default(), &mut buffer);
    let cell = buffer.content.iter().find(|cell| cell.symbol() == "▀").unwrap();
    assert_eq!((cell.fg, cell.bg), (Color::Rgb(255, 0, 0), Color::Rgb(0, 0, 255)));
}

#[test]
fn a_picture_that_cannot_be_read_keeps_its_caption() {
    let mut screen = screen_with_pictures([user_message("go"), reply_entry("![start](docs/shot.png)"), turn_end()]);
    answer_checks(&mut screen);
    let caption = first_rows(&mut screen, 8);
    screen.state.lookups.pictures.take_request().unwrap();
    screen.handle_event(Event::Host(HostReply::PictureRead(Err("it is damaged".into()))));
    assert_eq!(first_rows(&mut screen, 8), caption);
    assert_eq!(screen.state.lookups.pictures.take_request(), None);
}

#[test]
fn no_picture_is_requested_from_the_web_or_if_pictures_are_off() {
    let web = "![a](https://a.example/x.png) and <https://a.example/y.png>";
    let mut screen = screen_with_pictures([user_message("go"), reply_entry(web), turn_end()]);
    answer_checks(&mut screen);
    assert_eq!(screen.state.lookups.pictures.take_request(), None);
    // A link to a picture is no picture.
    let mut screen = screen_with_pictures([user_message("go"), reply_entry("[a](x.png), y.png"), turn_end()]);
    answer_checks(&mut screen);
    assert_eq!(screen.state.lookups.pictures.take_request(), None);
    let mut screen = Screen::with_entries([user_message("@x.png"), reply_entry("![a](x.png)"), turn_end()]);
    answer_checks(&mut screen);
    screen.state.lookups.pictures.protocol = Some(Protocol::Blocks);
    assert_eq!(screen.state.lookups.pictures.take_request(), None);
}

#[test]
fn a_short_reply_does_not_fill_the_screen_with_pictures() {
    let text = format!("{}{}", "![a](a.png)\n\n![b](a.png:1)\n\n".repeat(50), {
        (0..50).map(|number| format!("![c]({number}.png)\n\n")).collect::<String>()
    });
    let mut screen = screen_with_pictures([user_message("go"), reply_entry(&text), turn_end()]);
    answer_checks(&mut screen);
    let read: Vec<String> = answer_pictures(&mut screen).iter().map(|key| key.target.to_string()).collect();
    assert!(
        (1..=21).contains(&read.len()) && read.iter().filter(|path| path.starts_with("a.png")).count() <= 1,
        "{read:?}"
    );
}

#[test]
fn a_list_over_a_picture_shows_no_rest_of_it() {
    let mut screen = screen_with_pictures([user_message("go"), reply_entry("![start](docs/shot.png)"), turn_end()]);
    answer_checks(&mut screen);
    answer_pictures(&mut screen);
    assert!(screen.screen_text().contains('▀'));
    screen.press_key("alt-m");
    let list = screen.screen_text();
    assert!(!screen.state.viewport.popups.is_empty() && !list.contains('▀'), "{list}");
    screen.press_key("esc");
    assert!(screen.screen_text().contains('▀'));
}

#[test]
fn a_popup_covers_pictures_and_a_link_hint_is_shown_once() {
    let mut screen = screen_with_pictures([user_message("go"), reply_entry("![start](docs/shot.png)"), turn_end()]);
    answer_checks(&mut screen);
    answer_pictures(&mut screen);
    assert!(screen.screen_text().contains('▀'));
    screen.press_key("ctrl-o");
    let hints = screen.screen_text();
    assert!(hints.contains('▀') && !hints.contains(" s "), "one hint: {hints}");
    screen.press_key("esc");
    screen.press_key("f1");
    let help = screen.screen_text();
    assert!(!help.contains('▀'), "{help}");
}

#[test]
fn pictures_are_drawn_on_the_pages_of_files_and_links() {
    let preview = || {
        let content = PreviewContent::NoText("A picture.");
        Arc::new(Ok(FilePreview { facts: vec!["image/png".into()], content, omission: String::new() }))
    };
    let file = ListedFile { id: "01A".into(), path: "shot.png".into(), version: 1, size: 9, time: String::new() };
    let mut page = FilePage::new(file, AddressTarget::Id("01A".into(), None));
    page.set_preview(preview());
    let target = Arc::new(LinkTarget::File { path: "docs/shot.png".into(), line: None, end: None, column: None });
    let link_page = LinkPage { target, preview: Some(preview()) };
    for body in [ReaderBody::File(Box::new(page)), ReaderBody::Link(Arc::new(link_page))] {
        let mut screen = screen_with_pictures([user_message("go"), turn_end()]);
        let (title, top, layout) = ("shot.png".to_owned(), Default::default(), Default::default());
        let reader = Reader { title, text: "".into(), body, whole_text: None, search: None, top, layout };
        screen.state.viewport.popups.push(Popup::Reader(reader));
        answer_checks(&mut screen);
        assert_eq!(answer_pictures(&mut screen).len(), 1);
        let text = screen.screen_text();
        assert_eq!(text.lines().filter(|line| line.contains("▀▀▀▀▀▀▀▀")).count(), 4, "{text}");
    }
}

#[test]
fn only_visible_rows_are_drawn() {
    let text = format!("![start](docs/shot.png)\n\n{}", "A line.\n\n".repeat(9));
    let mut screen = screen_with_pictures([user_message("go"), reply_entry(&text), turn_end()]);
    answer_checks(&mut screen);
    answer_pictures(&mut screen);
    let rows = |screen: &mut Screen| screen.screen_text().lines().filter(|line| line.contains('▀')).count();
    let seen: Vec<usize> = (20..32)
        .map(|height| {
            screen.resize_screen(80, height);
            rows(&mut screen)
        })
        .collect();
    assert!(seen.windows(2).all(|pair| pair[0] <= pair[1]) && seen.contains(&2) && seen.last() == Some(&4), "{seen:?}");
    // A picture whose caption is not on the screen has a hint itself.
    let partial = 20 + seen.iter().position(|count| *count == 2).unwrap() as u16;
    screen.resize_screen(80, partial);
    assert!(!screen.screen_text().contains("64 × 64"), "{}", screen.screen_text());
    screen.press_key("ctrl-o");
    assert!(screen.screen_text().contains(" OPEN "), "{}", screen.screen_text());
    screen.press_key("esc");
    screen.resize_screen(80, 20);
    screen.press_key("page-up");
    assert_eq!(rows(&mut screen), 4);
}

#[test]
fn a_picture_that_the_terminal_stores_is_drawn_as_placeholders_and_text_has_none() {
    let text = "![start](docs/shot.png)\n\nA \u{10EEEE}\u{305}\u{305} in the text.";
    let mut screen = screen_with_pictures([user_message("go"), reply_entry(text), turn_end()]);
    screen.state.lookups.pictures.protocol = Some(Protocol::Kitty { first_id: 0x01_02_03 });
    answer_checks(&mut screen);
    let (_, form) = screen.state.lookups.pictures.take_request().unwrap();
    assert_eq!(form, PictureForm::Png(64, 64));
    screen.handle_event(Event::Host(HostReply::PictureRead(Ok(PictureData::Png(b"PNG".to_vec())))));
    let buffer = screen.draw_frame();
    let cells: Vec<_> = buffer.content.iter().filter(|cell| cell.symbol().starts_with('\u{10EEEE}')).collect();
    assert_eq!(cells.len(), 8 * 4);
    assert_eq!(cells[0].symbol(), "\u{10EEEE}\u{305}\u{305}");
    assert_eq!(cells[8 * 4 - 1].symbol(), "\u{10EEEE}\u{310}\u{33f}");
    assert!(cells.iter().all(|cell| cell.fg == Color::Rgb(1, 2, 3)));
}

/// Returns a screen on which a picture in strips is read.
fn screen_with_strips() -> Screen {
    let mut screen = screen_with_pictures([user_message("go"), reply_entry("![start](docs/shot.png)"), turn_end()]);
    screen.state.lookups.pictures.protocol = Some(Protocol::Sixel);
    screen.state.lookups.pictures.set_cell_pixels((8, 16));
    answer_checks(&mut screen);
    let (_, form) = screen.state.lookups.pictures.take_request().unwrap();
    let strips = StripLayout { format: StripFormat::Sixel, picture: (64, 64), strip: (64, 16), count: 4 };
    assert_eq!(form, PictureForm::Strips(strips));
    let strips = (0..4).map(|row| format!("strip {row}").into_bytes()).collect();
    screen.handle_event(Event::Host(HostReply::PictureRead(Ok(PictureData::Strips(strips)))));
    screen
}

/// Draws the screen and returns the bytes of the strips that are not covered.
fn uncovered_strips(screen: &mut Screen) -> Vec<String> {
    let (width, height) = screen.state.viewport.size;
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    let drawn = view::draw_screen(&screen.state, &mut LayoutCache::default(), &mut buffer);
    let uncovered = drawn.strips.iter().filter(|strip| strip.is_uncovered(&buffer));
    uncovered.map(|strip| String::from_utf8(strip.bytes().to_vec()).unwrap()).collect()
}

#[test]
fn strips_of_a_picture_are_drawn_on_blank_cells_of_their_own() {
    let mut screen = screen_with_strips();
    assert_eq!(uncovered_strips(&mut screen), ["strip 0", "strip 1", "strip 2", "strip 3"]);
    let buffer = screen.draw_frame();
    let cells: Vec<_> = buffer.content.iter().filter(|cell| cell.symbol() == "\u{a0}").collect();
    assert_eq!(cells.len(), 8 * 4);
    assert!(cells.chunks(8).all(|row| row.iter().all(|cell| cell.fg == row[0].fg)));
    assert!(cells.chunks(8).map(|row| row[0].fg).collect::<Vec<_>>().windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn popups_cover_strips_and_a_page_has_its_own() {
    let mut screen = screen_with_strips();
    // A list and the help dim the screen.
    for key in ["alt-m", "f1"] {
        screen.press_key(key);
        assert!(uncovered_strips(&mut screen).is_empty(), "{key}");
        screen.press_key("esc");
        assert_eq!(uncovered_strips(&mut screen).len(), 4, "{key}");
    }
    // The hint of the link is drawn over a part of it.
    screen.press_key("ctrl-o");
    let with_hint = uncovered_strips(&mut screen);
    screen.press_key("esc");
    assert!(with_hint.len() >= 3, "{with_hint:?}");
    let target = Arc::new(LinkTarget::File { path: "docs/shot.png".into(), line: None, end: None, column: None });
    let content = PreviewContent::NoText("A picture.");
    let preview = FilePreview { facts: vec!["image/png".into()], content, omission: String::new() };
    let body = ReaderBody::Link(Arc::new(LinkPage { target, preview: Some(Arc::new(Ok(preview))) }));
    let (title, top, layout) = ("shot.png".to_owned(), Default::default(), Default::default());
    let reader = Reader { title, text: "".into(), body, whole_text: None, search: None, top, layout };
    screen.state.viewport.popups.push(Popup::Reader(reader));
    assert_eq!(uncovered_strips(&mut screen), ["strip 0", "strip 1", "strip 2", "strip 3"]);
}

#[test]
fn a_picture_is_not_higher_than_a_small_screen() {
    let large = ImageSize { pixels: (800, 800), bytes: 84_000 };
    let mut screen = screen_with_pictures([user_message("go"), reply_entry("![start](a.png)"), turn_end()]);
    let mut picture_rows = |height| {
        screen.resize_screen(60, height);
        screen.draw_frame();
        let targets = screen.state.lookups.take_pending();
        let statuses = targets.into_iter().map(|target| (target, LinkStatus::Picture(large))).collect();
        screen.handle_event(Event::Host(HostReply::LinkStatuses(statuses)));
        screen.draw_frame();
        answer_pictures(&mut screen);
        let text = screen.screen_text();
        assert!(text.contains("start · a.png"), "the caption and all rows are visible: {text}");
        text.lines().filter(|line| line.contains('▀')).count()
    };
    assert_eq!([15, 24, 36].map(&mut picture_rows), [8, 17, 18]);
}
