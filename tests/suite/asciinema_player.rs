//! Recordings in the player of asciinema, in a browser: it shows what aye itself draws of them.
//!
//! `AYE_TEST_ASCIINEMA_PLAYER` names its script, `dist/bundle/asciinema-player.min.js` of the npm package, beside which its
//! style sheet is.

use crate::support::browser::{installed_browser, run_page};
use crate::support::program::Setup;
use crate::support::report_skipped;
use aye::recording::cast_reader::Recording;
use aye::recording::frames::{Frame, Frames};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use unicode_segmentation::UnicodeSegmentation;

/// Seeks to each of the times, and writes what the player shows then into the page. Frames of animation are timers, because a
/// browser without a window has none.
const DRIVER: &str = "(async () => {
  window.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 16);
  const player = AsciinemaPlayer.create({ data: CAST }, document.getElementById('player'), { preload: true });
  await player.play();
  await player.pause();
  const frames = [];
  for (const time of TIMES) {
    await player.seek(time);
    await new Promise((done) => setTimeout(done, 300));
    frames.push([...document.querySelectorAll('.ap-line')].map((line) => [...line.children].map((run) => {
      const style = getComputedStyle(run);
      return {
        column: Number(run.style.getPropertyValue('--offset')),
        text: run.textContent,
        colour: style.color.match(/[0-9]+/g).map(Number),
        bold: Number(style.fontWeight) >= 600,
        italic: style.fontStyle === 'italic',
      };
    })));
  }
  const bytes = new TextEncoder().encode(JSON.stringify(frames));
  document.getElementById('result').textContent = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
})().catch((error) => { document.getElementById('result').textContent = `failed: ${error}`; });";

/// Text of one style in a row of the player.
#[derive(Deserialize)]
struct ShownRun {
    column: u16,
    text: String,
    colour: Vec<u8>,
    bold: bool,
    italic: bool,
}

/// Text and style of a cell: colour, bold, italic.
type Cell = (String, Vec<u8>, bool, bool);

/// Returns whether the player draws a character as a shape instead of text.
fn is_shape(text: &str) -> bool {
    text.chars().all(|c| matches!(c, '┃' | '╹' | '╻' | '\u{2580}'..='■' | '◢'..='◥'))
}

/// Removes what joins characters or chooses their form, which the player leaves out.
fn without_joiners(text: &str) -> String {
    text.replace(['\u{200d}', '\u{fe0f}'], "")
}

/// The cells of a frame by row and column, without blank ones.
fn cells_of_frame(frame: &Frame) -> BTreeMap<(usize, u16), Cell> {
    let rows = frame.rows.iter().enumerate();
    let glyphs = rows.flat_map(|(row, runs)| {
        runs.iter().flat_map(move |run| run.glyphs().map(move |(column, _, text)| (row, column, text, run.style)))
    });
    let drawn = glyphs.filter(|(_, _, text, style)| !text.trim().is_empty() && !is_shape(text) && !style.is_dim);
    drawn
        .map(|(row, column, text, style)| {
            ((row, column), (without_joiners(text), style.colour.to_vec(), style.is_bold, style.is_italic))
        })
        .collect()
}

/// The cells that the player shows.
fn cells_of_player(rows: &[Vec<ShownRun>]) -> BTreeMap<(usize, u16), Cell> {
    let mut cells = BTreeMap::new();
    for (row, runs) in rows.iter().enumerate() {
        for run in runs {
            let mut column = run.column;
            for text in run.text.graphemes(true) {
                if !text.trim().is_empty() {
                    cells
                        .insert((row, column), (without_joiners(text), run.colour[..3].to_vec(), run.bold, run.italic));
                }
                column += aye::text::width::text_width(text) as u16;
            }
        }
    }
    cells
}

/// Times just before the screen changes after it stood for a while, at most this many.
fn times_at_rest(frames: &Frames, count: usize) -> Vec<Duration> {
    let ends = frames.frames.iter().skip(1).map(|frame| frame.time).chain([frames.duration]);
    let gaps = frames.frames.iter().zip(ends).filter(|(frame, end)| *end - frame.time > Duration::from_millis(300));
    let times: Vec<Duration> = gaps.map(|(_, end)| end - Duration::from_millis(20)).collect();
    times.iter().step_by(times.len().div_ceil(count).max(1)).copied().collect()
}

#[test]
fn the_player_of_asciinema_shows_what_was_recorded() {
    let Some(player) = std::env::var_os("AYE_TEST_ASCIINEMA_PLAYER") else {
        return report_skipped("AYE_TEST_ASCIINEMA_PLAYER is not set");
    };
    let Some(browser) = installed_browser() else { return };
    let player = PathBuf::from(player);
    let styles = std::fs::read_to_string(player.with_file_name("asciinema-player.css")).unwrap();
    let player = std::fs::read_to_string(player).unwrap();
    let text = "Wide 日本語 and ✓, *slanted*, **bold**, `code`:\n\n```rust\nfn main() { let x = 1; }\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |";
    let script = format!(
        "size = \"80x24\"\n[[step]]\ntype = \"go\"\n[[step]]\npress = \"enter\"\n[[step]]\nreply = {}\n[[step]]\nwait = \"main\"\n",
        json!(text)
    );
    let setup = Setup::new(&[]).with_file("own.toml", &script);
    let folder = setup.root.path().join("project");
    for (name, version) in [("tour", "3"), ("own.toml", "3"), ("own.toml", "2")] {
        let arguments =
            ["demo", "play", name, "--record", "a.cast", "--force", "--hidden", "--record-version", version];
        let (out, error, code) = Setup::with_home(&setup.root, &arguments).run_piped("");
        assert_eq!(code, 0, "{out}{error}");
        let cast = std::fs::read_to_string(folder.join("a.cast")).unwrap();
        let frames = Frames::play(&Recording::parse(&cast).unwrap()).unwrap();
        let times = times_at_rest(&frames, 12);
        assert!(times.len() >= 2, "{name}: {times:?}");
        let seconds: Vec<f64> = times.iter().map(Duration::as_secs_f64).collect();
        let driver = DRIVER.replace("CAST", &json!(cast).to_string()).replace("TIMES", &json!(seconds).to_string());
        let [player, driver] = [&*player, &*driver].map(|script| script.replace("</", "<\\/"));
        let page = format!(
            "<!doctype html><meta charset=utf-8><style>{styles}</style><div id=player></div><pre id=result></pre><script>{player}</script><script>{driver}</script>"
        );
        std::fs::write(folder.join("page.html"), page).unwrap();
        let shown = run_page(&browser, &format!("file://{}", folder.join("page.html").display()));
        let result = shown.split("<pre id=\"result\">").nth(1).and_then(|rest| rest.split("</pre>").next());
        let result = result.and_then(|result| BASE64_STANDARD.decode(result).ok());
        let result = result.unwrap_or_else(|| panic!("{name}: no result in {} bytes", shown.len()));
        let shown: Vec<Vec<Vec<ShownRun>>> = serde_json::from_slice(&result).unwrap();
        assert_eq!(shown.len(), times.len());
        for (rows, time) in shown.iter().zip(times) {
            let frame = &frames.frames[frames.index_at(time)];
            let (mut expected, mut found) = (cells_of_frame(frame), cells_of_player(rows));
            found.retain(|place, cell| expected.contains_key(place) || !is_shape(&cell.0));
            // The player reverses the cell of the cursor.
            let cursor = frame.cursor.map(|(column, row)| (usize::from(row), column));
            for cells in [&mut expected, &mut found] {
                cells.retain(|place, _| Some(*place) != cursor);
            }
            assert!(expected.len() > 40, "{name} at {time:?}");
            for (place, cell) in &expected {
                assert_eq!(found.get(place), Some(cell), "{name} at {time:?}, row and column {place:?}");
            }
            assert_eq!(found.len(), expected.len(), "{name} at {time:?} shows more");
        }
    }
}
