//! `aye export`: recordings as PNG, GIF and HTML, and rewritten ones. The pictures are decoded; the page runs in Chromium.

use crate::support::browser::{dump_page, installed_browser, run_in_turn};
use crate::support::program::Setup;
#[cfg(all(feature = "recording-images", feature = "images"))]
use crate::support::report_skipped;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Colours of text and background.
const THEME: &str = r##""theme":{"fg":"#ffffff","bg":"#102030","palette":""}"##;

/// A recording of 20 columns and 4 rows with a hostile title, a chapter, and frames at 0, 1 and 4 seconds.
fn demo() -> String {
    let header = format!(r#"{{"version":2,"width":20,"height":4,"title":"<b>demo</b>",{THEME}}}"#);
    let events = [
        json!([0, "o", "\u{1b}[?25l╭──╮\r\n│\u{1b}[41m \u{1b}[0m日│"]),
        json!([1, "o", "\u{1b}]0;title\u{7}\u{1b}]52;c;aGk=\u{7}<script>"]),
        json!([1.5, "m", "Chapter </script><script>document.title='broken'</script>"]),
        json!([4, "o", "\u{1b}[2J\u{1b}[4;1Hlast frame"]),
    ];
    format!("{header}\n{}\n", events.map(|event| event.to_string()).join("\n"))
}

/// Runs `aye export FORMAT demo.cast --output NAME`. Returns the file, or the error.
fn export(setup: &Setup, format: &str, options: &[&str]) -> Result<Vec<u8>, String> {
    let name = format!("out.{format}");
    let arguments = [&["export", format, "demo.cast", "--output", &name], options].concat();
    let (output, errors, code) = Setup::with_home(&setup.root, &arguments).run_piped("");
    assert_eq!(output, "");
    let file = setup.root.path().join("project").join(&name);
    match code {
        0 => Ok(std::fs::read(file).unwrap()),
        _ => Err(errors),
    }
}

fn setup() -> Setup {
    Setup::new(&[]).with_file("demo.cast", &demo())
}

#[cfg(all(feature = "recording-images", feature = "images"))]
mod pictures {
    use super::*;
    use image::codecs::gif::GifDecoder;
    use image::{AnimationDecoder, Rgba, RgbaImage};
    use std::process::Command;

    const BACKGROUND: Rgba<u8> = Rgba([0x10, 0x20, 0x30, 255]);

    /// The pixels of a cell in a picture without a window.
    fn cell(picture: &RgbaImage, column: u32, row: u32, scale: u32) -> Vec<Rgba<u8>> {
        let (left, top) = ((14 + column * 9) * scale, (14 + row * 18) * scale);
        (0..18 * scale)
            .flat_map(|y| (0..9 * scale).map(move |x| (x, y)))
            .map(|(x, y)| *picture.get_pixel(left + x, top + y))
            .collect()
    }

    fn is_inked(picture: &RgbaImage, column: u32, row: u32, scale: u32) -> bool {
        cell(picture, column, row, scale).iter().any(|pixel| *pixel != BACKGROUND)
    }

    #[test]
    fn a_png_picture_is_one_frame() {
        let setup = setup();
        let decode = |bytes: Vec<u8>| image::load_from_memory(&bytes).unwrap().to_rgba8();
        let first = decode(export(&setup, "png", &["--at", "0.5", "--no-window", "--scale", "2"]).unwrap());
        assert_eq!(first.dimensions(), (2 * (20 * 9 + 28), 2 * (4 * 18 + 28)));
        assert!(cell(&first, 1, 1, 2).iter().all(|pixel| *pixel == Rgba([0xcd, 0, 0, 255])));
        for (column, row) in [(0, 0), (3, 0), (0, 1), (2, 1), (3, 1), (4, 1)] {
            assert!(is_inked(&first, column, row, 2), "{column} {row}");
        }
        for (column, row) in [(4, 0), (5, 1), (0, 2), (19, 3)] {
            assert!(!is_inked(&first, column, row, 2), "{column} {row}");
        }
        let last = decode(export(&setup, "png", &["--force", "--no-window"]).unwrap());
        assert!(is_inked(&last, 0, 3, 1) && !is_inked(&last, 0, 0, 1));
        assert_eq!(decode(export(&setup, "png", &["--force"]).unwrap()).dimensions(), (20 * 9 + 28, 4 * 18 + 28 + 34));
    }

    #[test]
    fn a_gif_picture_has_the_frames_of_the_recording_at_their_times() {
        let setup = setup();
        let bytes = export(&setup, "gif", &["--no-window"]).unwrap();
        let frames = GifDecoder::new(std::io::Cursor::new(bytes)).unwrap().into_frames().collect_frames().unwrap();
        let times: Vec<u32> = frames.iter().map(|frame| frame.delay().numer_denom_ms().0).collect();
        assert_eq!(times, [1000, 3000, 3000]);
        for (frame, time) in frames.iter().zip(["0", "1", "4"]) {
            let picture = export(&setup, "png", &["--force", "--no-window", "--at", time]).unwrap();
            assert!(image::load_from_memory(&picture).unwrap().to_rgba8() == *frame.buffer(), "frame at {time}");
        }
    }

    /// Returns ImageMagick's converter, if it is installed.
    fn image_magick() -> Option<&'static str> {
        let is_own = |name: &&str| {
            let version = Command::new(name).arg("-version").output();
            version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("ImageMagick"))
        };
        let found = ["magick", "convert-im6", "convert"].into_iter().find(is_own);
        if found.is_none() {
            report_skipped("ImageMagick is not installed");
        }
        found
    }

    #[test]
    fn image_magick_shows_the_frames_of_a_gif_picture() {
        let Some(converter) = image_magick() else { return };
        let script = "size = \"60x15\"\n[[step]]\ntype = \"go\"\n[[step]]\npress = \"enter\"\n[[step]]\n\
                      reply = \"Some *words* 日本語 and `code`.\"\n[[step]]\nwait = \"code\"\n";
        let setup = Setup::new(&[]).with_file("own.toml", script);
        let (_, error, code) =
            Setup::with_home(&setup.root, &["demo", "play", "own.toml", "--record", "demo.cast"]).run_piped("");
        assert_eq!(code, 0, "{error}");
        let bytes = export(&setup, "gif", &[]).unwrap();
        let frames = GifDecoder::new(std::io::Cursor::new(&bytes)).unwrap().into_frames().collect_frames().unwrap();
        assert!(frames.len() > 10, "{}", frames.len());
        // Each frame of the file holds only what changed; the converter puts them together.
        let file = setup.root.path().join("project/out.gif");
        let output = Command::new(converter).arg(file).args(["-coalesce", "-depth", "8", "rgba:-"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let expected: Vec<&[u8]> = frames.iter().map(|frame| frame.buffer().as_raw().as_slice()).collect();
        assert_eq!(output.stdout.len(), expected.iter().map(|frame| frame.len()).sum::<usize>());
        let shown = output.stdout.chunks(expected[0].len());
        let different: Vec<usize> =
            shown.zip(expected).enumerate().filter(|(_, (shown, frame))| shown != frame).map(|(at, _)| at).collect();
        assert_eq!(different, [0; 0], "of {} frames", frames.len());
        let last = export(&setup, "png", &["--force"]).unwrap();
        let last = image::load_from_memory(&last).unwrap().to_rgba8();
        assert!(output.stdout.ends_with(last.as_raw()), "the last frame is that of the other picture");
    }

    #[test]
    fn mistakes_are_explained() {
        let setup = setup();
        for (options, parts) in [
            (
                &["--at", "9"][..],
                &["Cannot draw demo.cast", "it has no frame at 9.0 seconds. Use a time up to 4.0 seconds."][..],
            ),
            (&["--at", "soon"], &["--at", "expected a number of seconds, such as 1.5"]),
            (&["--scale", "3"], &["--scale", "1..=2"]),
        ] {
            let error = export(&setup, "png", options).unwrap_err();
            assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        }
        assert!(!setup.root.path().join("project/out.png").exists());
        let large = "{\"version\":2,\"width\":1000,\"height\":1000}\n";
        let large = Setup::new(&[]).with_file("demo.cast", large);
        assert!(export(&large, "gif", &[]).unwrap_err().contains("is too large"));
    }
}

#[test]
fn a_recording_is_rewritten_in_the_other_version_with_shorter_pauses() {
    let setup = setup();
    let text = String::from_utf8(export(&setup, "cast", &["--version", "3", "--idle", "0.5"]).unwrap()).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["version"], &lines[0]["term"]["cols"]), (&json!(3), &json!(20)));
    let times: Vec<f64> = lines[1..].iter().map(|line| line[0].as_f64().unwrap()).collect();
    assert_eq!(times, [0.0, 0.5, 0.5, 0.5]);
    let error = export(&setup, "cast", &["--force", "--idle", "never"]).unwrap_err();
    assert!(error.contains("--idle") && error.contains("such as 1.5"), "{error}");
    let error = export(&setup, "cast", &["--force", "--version", "1"]).unwrap_err();
    assert!(error.contains("--version") && error.contains("2, 3"), "{error}");
    let same = export(&setup, "cast", &["--force"]).unwrap();
    assert!(String::from_utf8(same).unwrap().starts_with("{\"version\":2,\"width\":20,\"height\":4,"));
}

#[test]
fn a_page_plays_in_a_browser_and_shows_text_as_text() {
    let setup = setup();
    let page = String::from_utf8(export(&setup, "html", &[]).unwrap()).unwrap();
    assert!(page.contains("default-src 'none'") && page.contains("<title>&lt;b&gt;demo&lt;/b&gt;</title>"), "{page}");
    let Some(browser) = installed_browser() else { return };
    let file: PathBuf = setup.root.path().join("project/out.html");
    run_in_turn(|| {
        let shown = dump_page(&browser, &format!("file://{}", file.display()));
        assert!(shown.contains("<title>&lt;b&gt;demo&lt;/b&gt;</title>"), "{shown}");
        // The script ran: it made a line for each row, and an option for the chapter.
        assert_eq!(shown.matches("class=\"line\"").count(), 4, "{shown}");
        assert!(
            shown.contains("0:01 Chapter &lt;/script&gt;&lt;script&gt;document.title='broken'&lt;/script&gt;</option>"),
            "{shown}"
        );
        assert!(shown.contains("0:00 / 0:04"), "{shown}");
        assert!(shown.contains("<path d=\"M") && shown.contains(">日</span>"), "{shown}");
        // Nothing was added to the page by the text of the recording.
        assert_eq!(shown.matches("<script").count(), 2, "{shown}");
    });
}

/// Presses keys of the page, and puts what it shows into its title.
const DRIVER: &str = "<script>addEventListener('load', () => {
  const press = (key) => document.dispatchEvent(new KeyboardEvent('keydown', { key, cancelable: true }));
  const find = (id) => document.getElementById(id);
  const results = [];
  const note = () => {
    getSelection().selectAllChildren(find('screen'));
    const text = getSelection().toString().split('\\n').map((line) => line.trimEnd()).join('|');
    results.push(`${find('play').textContent} ${find('time').textContent} ${find('speed').value} ${text}`);
  };
  press('0'); if (find('play').textContent === 'Pause') press(' ');
  note(); press('.'); note(); press(']'); press('+'); note(); press('End'); note(); press('ArrowLeft'); note(); press(' ');
  results.push(find('play').textContent);
  document.title = `RESULTS ${results.join(' / ')} END`;
});</script>";

#[test]
fn keys_of_a_page_play_and_its_policy_stops_other_scripts() {
    let setup = setup();
    let page = String::from_utf8(export(&setup, "html", &[]).unwrap()).unwrap();
    let Some(browser) = installed_browser() else { return };
    let start = page.find("<meta http-equiv").unwrap();
    let end = start + page[start..].find('>').unwrap() + 1;
    let folder = setup.root.path().join("project");
    let show = |name: &str, text: String| {
        std::fs::write(folder.join(name), text).unwrap();
        dump_page(&browser, &format!("file://{}", folder.join(name).display()))
    };
    run_in_turn(|| {
        let guarded = show("guarded.html", page.replace("</body>", &format!("{DRIVER}</body>")));
        assert!(!guarded.contains("<title>RESULTS"), "{guarded}");
        let free = format!("{}{}", &page[..start], &page[end..]);
        let driven = show("driven.html", free.replace("</body>", &format!("{DRIVER}</body>")));
        let title = driven.split("<title>").nth(1).unwrap().split("</title>").next().unwrap();
        let first = "╭──╮|│ 日│";
        let second = format!("{first}&lt;script&gt;");
        let last = "|||last frame";
        let expected = [
            format!("Play 0:00 / 0:04 1 {first}"),
            format!("Play 0:01 / 0:04 1 {second}"),
            format!("Play 0:01 / 0:04 1.5 {second}"),
            format!("Play 0:04 / 0:04 1.5 {last}"),
            format!("Play 0:00 / 0:04 1.5 {first}"),
            "Pause".to_owned(),
        ];
        let trimmed = |text: &str| {
            text.split(" / ").map(|part| part.trim_end_matches('|').to_owned()).collect::<Vec<_>>().join(" / ")
        };
        assert_eq!(
            trimmed(title.trim_start_matches("RESULTS ").trim_end_matches(" END")),
            trimmed(&expected.join(" / ")),
            "{driven}"
        );
    });
}

/// A recording of another program: text with a cursor after it, a colour of the terminal and one of its own.
fn plain_demo() -> String {
    let output = "\u{1b}[41m \u{1b}[0m\u{1b}[38;2;1;2;3mx\u{1b}[0mab";
    format!("{{\"version\":2,\"width\":20,\"height\":4,{THEME}}}\n{}\n", json!([0, "o", output]))
}

fn export_text(setup: &Setup, format: &str, options: &[&str]) -> String {
    String::from_utf8(export(setup, format, &[&["--force"], options].concat()).unwrap()).unwrap()
}

#[test]
fn a_theme_replaces_the_colours_of_the_terminal_and_no_others() {
    let setup = Setup::new(&[]).with_file("demo.cast", &plain_demo());
    let plain = export_text(&setup, "svg", &[]);
    for colour in ["#102030", "#ffffff", "#cd0000", "#010203"] {
        assert!(plain.contains(colour), "{colour}: {plain}");
    }
    let light = export_text(&setup, "svg", &["--theme", "light"]);
    for (before, after) in [("#102030", "#ffffff"), ("#cd0000", "#b3201c"), ("#010203", "#010203")] {
        assert!(light.contains(after) && (before == after || !light.contains(before)), "{after}: {light}");
    }
    assert!(light.contains("fill=\"#262b33\">ab</text>"), "{light}");
    let page = export_text(&setup, "html", &["--theme", "light"]);
    assert!(page.contains("\"text\":\"#262b33\",\"background\":\"#ffffff\""), "{page}");
    for format in ["svg", "html"] {
        let error = export(&setup, format, &["--force", "--theme", "lihgt"]).unwrap_err();
        let expected = "Cannot use the theme \"lihgt\": it does not exist. Use one of dark, light, high-contrast, colour-blind, terminal.";
        assert!(error.contains(expected), "{error}");
    }
}

/// The colours of an SVG picture, except those of the window.
fn colours_of(svg: &str) -> std::collections::BTreeSet<&str> {
    let is_colour = |text: &&str| text[1..].bytes().all(|byte| byte.is_ascii_hexdigit());
    let colours = svg.match_indices("=\"#").filter_map(|(at, _)| svg.get(at + 2..at + 9)).filter(is_colour);
    colours.filter(|colour| !["#808080", "#ff5f57", "#febc2e", "#28c840"].contains(colour)).collect()
}

#[test]
fn a_theme_replaces_the_roles_of_the_theme_in_which_aye_was_recorded() {
    let script = "[[file]]\npath = \"a.rs\"\ntext = \"fn a() {}\"\n[[step]]\ntype = \"go\"\n[[step]]\npress = \"enter\"\n\
                  [[step]]\nreply = \"# A title\\n\\n```rust\\nfn main() { let x = 1; } // note\\n```\\n`code`\"\n[[step.call]]\n\
                  tool = \"bash_exec\"\narguments = { command = \"touch made.txt\" }\n[[step]]\nwait = \"touch made\"\n[[step]]\npause = 2\n";
    let setup = Setup::new(&[]).with_file("dark.toml", script);
    let setup = setup.with_file("light.toml", &format!("theme = \"light\"\n{script}"));
    let draw = |name: &str, theme: Option<&str>| {
        let options = theme.map_or(vec![], |theme| vec!["--theme", theme]);
        let arguments = [&["export", "svg", name, "--output", "out.svg", "--force"], &options[..]].concat();
        let (_, error, code) = Setup::with_home(&setup.root, &arguments).run_piped("");
        assert_eq!(code, 0, "{error}");
        std::fs::read_to_string(setup.root.path().join("project/out.svg")).unwrap()
    };
    let (dark, light) = (draw("dark.toml", None), draw("light.toml", None));
    assert!(colours_of(&dark).len() > 8 && colours_of(&dark).is_disjoint(&colours_of(&light)), "{dark}");
    let redrawn = draw("dark.toml", Some("light"));
    let added: Vec<_> = colours_of(&redrawn).difference(&colours_of(&light)).copied().collect();
    assert_eq!(added, [""; 0], "each colour is one of the light theme");
    let back = draw("light.toml", Some("dark"));
    let kept: Vec<_> = colours_of(&back).intersection(&colours_of(&light)).copied().collect();
    assert_eq!(kept, [""; 0], "no colour of the light theme is left");
}

#[test]
fn padding_window_and_cursor_are_left_out_on_request() {
    let setup = Setup::new(&[]).with_file("demo.cast", &plain_demo());
    let svg = export_text(&setup, "svg", &["--padding", "0", "--no-window"]);
    assert!(svg.contains("viewBox=\"0 0 168.0 72.0\"") && svg.contains("<svg x=\"0\" y=\"0\""), "{svg}");
    let svg = export_text(&setup, "svg", &["--padding", "20"]);
    assert!(svg.contains("viewBox=\"0 0 208.0 146.0\"") && svg.contains("<svg x=\"20\" y=\"54\""), "{svg}");
    let cursor = "opacity=\".5\"";
    assert!(svg.contains(cursor) && !export_text(&setup, "svg", &["--no-cursor"]).contains(cursor));
    let page = export_text(&setup, "html", &["--padding", "33", "--no-window", "--no-cursor"]);
    assert!(page.contains("<body class=\"bare\">") && !page.contains("<h1>"), "{page}");
    assert!(page.contains("\"frames\":[[0,null,"), "{page}");
    assert!(export_text(&setup, "html", &[]).contains("\"frames\":[[0,[4,0],"));
    for format in ["svg", "html"] {
        for wrong in ["-1", "501", "wide", "2.5"] {
            let error = export(&setup, format, &["--force", &format!("--padding={wrong}")]).unwrap_err();
            assert!(error.contains("--padding") && error.contains(wrong), "{error}");
        }
    }
    let Some(browser) = installed_browser() else { return };
    std::fs::write(setup.root.path().join("project/bare.html"), page).unwrap();
    let file = setup.root.path().join("project/bare.html");
    run_in_turn(|| {
        let shown = dump_page(&browser, &format!("file://{}", file.display()));
        assert!(shown.contains("padding: 33px") && shown.contains("background: rgb(16, 32, 48)"), "{shown}");
        assert!(!shown.contains("class=\"cursor\""), "{shown}");
    });
}

#[cfg(all(feature = "recording-images", feature = "images"))]
#[test]
fn pictures_have_the_padding_times_the_scale_and_no_cursor_on_request() {
    let setup = Setup::new(&[]).with_file("demo.cast", &plain_demo());
    let draw = |format: &str, options: &[&str]| {
        let options = [&["--force", "--no-window"], options].concat();
        image::load_from_memory(&export(&setup, format, &options).unwrap()).unwrap().to_rgba8()
    };
    for format in ["png", "gif"] {
        assert_eq!(draw(format, &["--padding", "5", "--scale", "2"]).dimensions(), (2 * (180 + 10), 2 * (72 + 10)));
        let bare = draw(format, &["--padding", "0", "--no-cursor"]);
        assert_eq!(bare.dimensions(), (180, 72));
        let with_cursor = draw(format, &["--padding", "0"]);
        // The fifth cell is blank but for the cursor.
        assert_ne!(with_cursor.get_pixel(40, 9), bare.get_pixel(40, 9));
        assert_eq!(bare.get_pixel(40, 9), &image::Rgba([0x10, 0x20, 0x30, 255]));
        let light = draw(format, &["--padding", "0", "--no-cursor", "--theme", "light"]);
        assert_eq!(light.get_pixel(4, 9), &image::Rgba([0xb3, 0x20, 0x1c, 255]));
    }
    let (large, wide) = (["--padding", "500", "--scale", "2"], draw("png", &["--padding", "500"]));
    assert_eq!(wide.dimensions(), (1180, 1072));
    assert_eq!(draw("png", &large).dimensions(), (2360, 2144));
}
