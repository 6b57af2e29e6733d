//! State of a replay: position, speed and search, and what keys do.

use super::frame_search::FrameSearch;
use crate::recording::frames::Frames;
use crate::text::clean::clean_line;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::time::Duration;

/// Speeds from the slowest to the fastest.
const SPEEDS: [f64; 8] = [0.25, 0.5, 1.0, 1.5, 2.0, 4.0, 8.0, 16.0];
/// Index of the usual speed.
const USUAL_SPEED: usize = 2;
/// Time by which the arrow keys move.
const SEEK_STEP: Duration = Duration::from_secs(5);
/// Going back within this time after the start of a chapter means the chapter before.
const CHAPTER_GRACE: Duration = Duration::from_secs(1);
/// Maximum characters of a text that is searched.
const MAX_QUERY: usize = 200;

/// What a key asks of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayAction {
    Quit,
    Suspend,
    Redraw,
}

/// A recording that is replayed.
pub struct Playback {
    pub frames: Frames,
    position: Duration,
    is_playing: bool,
    speed: usize,
    /// Text that is being typed for a search.
    typed: Option<String>,
    search: Option<FrameSearch>,
    /// Result of the last key, until the next one.
    message: String,
}

impl Playback {
    /// Starts to play.
    pub fn new(frames: Frames) -> Self {
        Self {
            frames,
            position: Duration::ZERO,
            is_playing: true,
            speed: USUAL_SPEED,
            typed: None,
            search: None,
            message: String::new(),
        }
    }

    pub fn position(&self) -> Duration {
        self.position
    }

    pub fn is_playing(&self) -> bool {
        self.is_playing
    }

    /// Returns the speed; 1 is that of the recording.
    pub fn speed(&self) -> f64 {
        SPEEDS[self.speed]
    }

    /// Returns the text that is being typed for a search.
    pub fn typed(&self) -> Option<&str> {
        self.typed.as_deref()
    }

    /// Returns the search whose matches are shown.
    pub fn search(&self) -> Option<&FrameSearch> {
        self.search.as_ref()
    }

    /// Returns the result of the last key; empty if there is nothing to say.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the index of the shown frame.
    pub fn frame_index(&self) -> usize {
        self.frames.index_at(self.position)
    }

    /// Returns number and name of the current chapter, counted from 1, and the number of chapters; `None` before the first one.
    pub fn chapter(&self) -> Option<(usize, &str)> {
        let number = self.frames.chapters.partition_point(|(time, _)| *time <= self.position);
        let (_, name) = self.frames.chapters.get(number.checked_sub(1)?)?;
        Some((number, name))
    }

    /// Moves on by this time of the clock. Stops at the end.
    pub fn advance(&mut self, elapsed: Duration) {
        if self.is_playing {
            self.position = (self.position + elapsed.mul_f64(self.speed())).min(self.frames.duration);
            self.is_playing = self.position < self.frames.duration;
        }
    }

    /// Returns the time of the clock until the screen changes: the next frame, the next second in the bar, or the end. `None` while it is
    /// paused.
    pub fn next_change(&self) -> Option<Duration> {
        if !self.is_playing {
            return None;
        }
        let next_frame = self.frames.frames.get(self.frame_index() + 1).map(|frame| frame.time);
        let next_second = Duration::from_secs(self.position.as_secs() + 1);
        let next = next_frame.into_iter().chain([next_second, self.frames.duration]).min()?;
        Some(next.saturating_sub(self.position).div_f64(self.speed()))
    }

    /// Handles pasted text: it belongs to a search that is typed.
    pub fn paste(&mut self, text: &str) {
        if let Some(typed) = &mut self.typed {
            let room = MAX_QUERY.saturating_sub(typed.chars().count());
            typed.extend(clean_line(text).chars().take(room));
        }
    }

    /// Handles a key.
    pub fn handle_key(&mut self, key: KeyEvent) -> Option<ReplayAction> {
        if key.kind == KeyEventKind::Release {
            return None;
        }
        self.message.clear();
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return match key.code {
                KeyCode::Char('c' | 'd') => Some(ReplayAction::Quit),
                KeyCode::Char('z') => Some(ReplayAction::Suspend),
                KeyCode::Char('l') => Some(ReplayAction::Redraw),
                _ => None,
            };
        }
        if self.typed.is_some() {
            self.handle_search_key(key.code);
            return None;
        }
        match key.code {
            KeyCode::Char('q') => return Some(ReplayAction::Quit),
            KeyCode::Esc if self.search.take().is_none() => return Some(ReplayAction::Quit),
            KeyCode::Char(' ') => self.toggle(),
            KeyCode::Left => self.go_to(self.position.saturating_sub(SEEK_STEP)),
            KeyCode::Right => self.go_to(self.position + SEEK_STEP),
            KeyCode::Home => self.go_to(Duration::ZERO),
            KeyCode::End => self.go_to(self.frames.duration),
            KeyCode::Char(digit @ '0'..='9') => {
                self.go_to(self.frames.duration * (u32::from(digit) - u32::from('0')) / 10);
            }
            KeyCode::Char('.') => self.step(1),
            KeyCode::Char(',') => self.step(-1),
            KeyCode::Char('+' | '=') => self.speed = (self.speed + 1).min(SPEEDS.len() - 1),
            KeyCode::Char('-') => self.speed = self.speed.saturating_sub(1),
            KeyCode::Char(']') | KeyCode::PageDown => self.next_chapter(),
            KeyCode::Char('[') | KeyCode::PageUp => self.previous_chapter(),
            KeyCode::Char('/') => self.typed = Some(String::new()),
            KeyCode::Char('n') => self.find_again(true),
            KeyCode::Char('N') => self.find_again(false),
            _ => {}
        }
        None
    }

    fn handle_search_key(&mut self, code: KeyCode) {
        let Some(typed) = &mut self.typed else { return };
        match code {
            KeyCode::Char(c) if typed.chars().count() < MAX_QUERY => typed.push(c),
            KeyCode::Backspace if typed.pop().is_none() => self.typed = None,
            KeyCode::Esc => self.typed = None,
            KeyCode::Enter => {
                let query = std::mem::take(typed);
                self.typed = None;
                if !query.trim().is_empty() {
                    self.start_search(&query);
                }
            }
            _ => {}
        }
    }

    fn start_search(&mut self, query: &str) {
        let search = FrameSearch::new(query, &self.frames.frames);
        let stays = search.has_match(self.frame_index());
        self.search = Some(search);
        if stays {
            self.is_playing = false;
        } else {
            self.find_again(true);
        }
    }

    /// Goes to the next frame, or the one before, at which the text appears, and pauses there.
    fn find_again(&mut self, is_forward: bool) {
        let Some(search) = &self.search else {
            self.message = "No search text · / search".to_owned();
            return;
        };
        match search.find(self.frame_index(), is_forward) {
            Some(index) => {
                if index == self.frame_index() {
                    self.message = "This is the only match".to_owned();
                }
                self.is_playing = false;
                self.go_to(self.frames.frames[index].time);
            }
            None => self.message = format!("Not found: {}", clean_line(search.query())),
        }
    }

    fn toggle(&mut self) {
        self.is_playing = !self.is_playing;
        if self.is_playing && self.position >= self.frames.duration {
            self.position = Duration::ZERO;
        }
    }

    fn go_to(&mut self, position: Duration) {
        self.position = position.min(self.frames.duration);
    }

    /// Goes to the next frame, or the one before, and pauses.
    fn step(&mut self, count: isize) {
        self.is_playing = false;
        let index = self.frame_index().saturating_add_signed(count).min(self.frames.frames.len() - 1);
        self.go_to(self.frames.frames[index].time);
    }

    fn next_chapter(&mut self) {
        match self.frames.chapters.iter().find(|(time, _)| *time > self.position) {
            Some((time, _)) => self.go_to(*time),
            None if self.frames.chapters.is_empty() => self.message = "The recording has no chapters".to_owned(),
            None => self.message = "This is the last chapter".to_owned(),
        }
    }

    fn previous_chapter(&mut self) {
        let limit = self.position.saturating_sub(CHAPTER_GRACE);
        let start = self.frames.chapters.iter().rev().find(|(time, _)| *time <= limit && *time < self.position);
        self.go_to(start.map_or(Duration::ZERO, |(time, _)| *time));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::cast_reader::Recording;

    fn playback() -> Playback {
        let header = r#"{"version":2,"width":20,"height":2}"#;
        let lines = "[0, \"o\", \"a\"]\n[4, \"m\", \"One\"]\n[4, \"o\", \"b\"]\n[10, \"o\", \"c\"]\n[12, \"m\", \"Two\"]\n[17, \"o\", \"end\"]\n[20, \"o\", \"\"]\n";
        Playback::new(Frames::play(&Recording::parse(&format!("{header}\n{lines}")).unwrap()).unwrap())
    }

    fn press(playback: &mut Playback, keys: &str) -> Vec<ReplayAction> {
        let code = |c| match c {
            '<' => KeyCode::Left,
            '>' => KeyCode::Right,
            '\r' => KeyCode::Enter,
            '\u{1b}' => KeyCode::Esc,
            c => KeyCode::Char(c),
        };
        keys.chars().filter_map(|c| playback.handle_key(KeyEvent::new(code(c), KeyModifiers::NONE))).collect()
    }

    fn seconds(playback: &Playback) -> f64 {
        playback.position().as_secs_f64()
    }

    #[test]
    fn it_plays_at_its_speed_to_the_end_and_from_the_start_again() {
        let mut playback = playback();
        assert_eq!(playback.next_change(), Some(Duration::from_secs(1)));
        playback.advance(Duration::from_millis(3_500));
        assert_eq!(playback.next_change(), Some(Duration::from_millis(500)), "the frame at 4 seconds");
        press(&mut playback, "+++");
        assert_eq!((playback.speed(), playback.next_change()), (4.0, Some(Duration::from_millis(125))));
        playback.advance(Duration::from_secs(1));
        assert_eq!((seconds(&playback), playback.frame_index()), (7.5, 1));
        playback.advance(Duration::from_secs(60));
        assert_eq!((seconds(&playback), playback.is_playing(), playback.next_change()), (20.0, false, None));
        press(&mut playback, " ");
        assert_eq!((seconds(&playback), playback.is_playing()), (0.0, true));
        press(&mut playback, "----------");
        assert_eq!(playback.speed(), 0.25);
        press(&mut playback, " ");
        playback.advance(Duration::from_secs(9));
        assert_eq!(seconds(&playback), 0.0, "it is paused");
    }

    #[test]
    fn keys_seek_by_time_tenths_frames_and_chapters() {
        let mut playback = playback();
        for (keys, position) in [
            (">", 5.0),
            ("<<", 0.0),
            ("5", 10.0),
            ("9", 18.0),
            (">>", 20.0),
            ("0", 0.0),
            (".", 4.0),
            (".", 10.0),
            (",", 4.0),
            (",,,", 0.0),
            ("....", 17.0),
            ("0]", 4.0),
            ("]", 12.0),
            ("[", 4.0),
            ("[", 0.0),
            ("9[", 12.0),
        ] {
            press(&mut playback, keys);
            assert_eq!(seconds(&playback), position, "{keys}");
        }
        assert_eq!(playback.chapter(), Some((2, "Two")));
        press(&mut playback, "]");
        assert_eq!((playback.message(), seconds(&playback)), ("This is the last chapter", 12.0));
        assert!(!playback.is_playing(), "a step pauses");
    }

    #[test]
    fn a_search_pauses_where_the_text_appears() {
        let mut playback = playback();
        press(&mut playback, "/EN");
        assert_eq!(playback.typed(), Some("EN"));
        playback.paste("d");
        press(&mut playback, "\r");
        assert_eq!((seconds(&playback), playback.is_playing(), playback.typed()), (17.0, false, None));
        press(&mut playback, "0/ab\r");
        assert_eq!(seconds(&playback), 4.0);
        press(&mut playback, "n");
        assert_eq!((playback.message(), seconds(&playback)), ("This is the only match", 4.0));
        press(&mut playback, "/zzz\r");
        assert_eq!((playback.message(), seconds(&playback)), ("Not found: zzz", 4.0));
        press(&mut playback, "/");
        playback.paste("\u{1b}]0;x\u{7}\n");
        assert!(!playback.typed().unwrap().contains(char::is_control));
        press(&mut playback, "\u{1b}");
        assert_eq!(press(&mut playback, "/q\u{1b}"), [], "keys are text while a search is typed");
        assert!(press(&mut playback, "\u{1b}").is_empty() && playback.search().is_none(), "esc ends the search first");
        press(&mut playback, "N");
        assert_eq!(playback.message(), "No search text · / search");
        assert_eq!(press(&mut playback, "q\u{1b}"), [ReplayAction::Quit; 2]);
        let control = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL);
        assert_eq!(playback.handle_key(control('c')), Some(ReplayAction::Quit));
        assert_eq!(playback.handle_key(control('z')), Some(ReplayAction::Suspend));
    }
}
