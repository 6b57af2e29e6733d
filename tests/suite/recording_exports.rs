//! `aye export`: recordings as PNG, GIF and HTML, and rewritten ones. The pictures are decoded; the page runs in Chromium.

use crate::support::browser::{dump_page, installed_browser, run_in_turn};
use crate::support::program::Setup;
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

    #[test]
    fn mistakes_are_explained() {
        let setup = setup();
        for (options, parts) in [
            (
                &["--at", "9"][..],
                &["Cannot draw demo.cast", "it has no frame at 9.0 seconds. Use a time up to 7.0 seconds."][..],
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
        assert!(shown.contains("0:00 / 0:07"), "{shown}");
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
            format!("Play 0:00 / 0:07 1 {first}"),
            format!("Play 0:01 / 0:07 1 {second}"),
            format!("Play 0:01 / 0:07 1.5 {second}"),
            format!("Play 0:07 / 0:07 1.5 {last}"),
            format!("Play 0:02 / 0:07 1.5 {second}"),
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
