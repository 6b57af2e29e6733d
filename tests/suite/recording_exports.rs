//! `aye export`: recordings as PNG and GIF. The pictures are decoded.

use crate::support::program::Setup;
use serde_json::json;

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
        assert_eq!(decode(export(&setup, "png", &["--force", "--no-window", "--at", "last"]).unwrap()), last);
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
            (&["--at", "soon"], &["--at", "expected a number of seconds, such as 1.5, or `last`"]),
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
