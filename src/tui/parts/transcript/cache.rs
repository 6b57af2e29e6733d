//! What was laid out once and need not be again. Beside the state, never in it: without it the picture is the same.

use super::extent::Extent;
use super::pieces::Pieces;
use super::{Ground, entry, live, picture};
use crate::chat::link::Target;
use crate::chat::picture::Size;
use crate::tui::host::There;
use crate::tui::text::{Page, markdown};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// So much stays laid out beside what is near the view, in bytes as far as they can be told.
const KEPT: usize = 6 * 1024 * 1024;
/// So many entries around the one that was asked for last stay laid out, though they take up to twice as much: a screen
/// is about to show them. What was shown last stays in any case.
const NEAR: usize = 12;

/// What an allocation costs beside its own bytes: the allocator's own, and room that a growing list holds ready.
const ALLOCATED: usize = 64;

/// One item of the transcript laid out: an entry, or what is live.
#[derive(Debug, Clone, Default)]
pub struct Laid {
    /// Its lines in one or more pieces, top first.
    pub pages: Vec<Arc<Page>>,
    /// Its lines in all.
    pub height: usize,
}

impl Laid {
    /// Puts a piece below.
    pub fn add(&mut self, page: Arc<Page>) {
        self.height += page.lines.len();
        self.pages.push(page);
    }

    /// About the bytes it takes, with what each allocation costs beside its own: a session of many short entries is
    /// mostly that.
    fn weight(&self) -> usize {
        let spans = |line: &ratatui::text::Line<'_>| -> usize {
            line.spans.iter().map(|span| size_of_val(span) + span.content.len() + ALLOCATED).sum()
        };
        let lines = |page: &Page| -> usize {
            page.lines.iter().map(|line| size_of_val(line) + spans(line) + ALLOCATED).sum()
        };
        let pages = self.pages.iter().map(|page| size_of::<Page>() + lines(page) + 3 * ALLOCATED);
        size_of::<Kept>() + ALLOCATED + pages.sum::<usize>()
    }

    /// In one piece.
    pub fn of(page: Page) -> Self {
        Self { height: page.lines.len(), pages: vec![Arc::new(page)] }
    }

    /// The piece that holds this line, and which of its lines it is.
    pub fn line(&self, mut line: usize) -> Option<(&Page, usize)> {
        // The end is asked for most.
        if let Some(last) = self.pages.last() {
            let before = self.height - last.lines.len();
            if line >= before {
                return (line < self.height).then(|| (last.as_ref(), line - before));
            }
        }
        for page in &self.pages {
            if line < page.lines.len() {
                return Some((page, line));
            }
            line -= page.lines.len();
        }
        None
    }
}

/// Everything that was laid out, and what the outside said while it was.
#[derive(Default)]
pub struct Cache {
    width: usize,
    theme: String,
    kept: HashMap<usize, Box<Kept>>,
    /// Of every item that was laid out once: whether it was toggled, and how many lines it has.
    heights: Vec<Option<(bool, u32)>>,
    /// Counts the times that the screen's lines were asked for.
    frame: u64,
    live: live::Live,
    outside: Outsides,
    /// Bytes of what is kept.
    weight: usize,
    /// How far it all reaches, for the bar.
    pub extent: Extent,
    /// Entries laid out since the start, for tests of what a frame costs.
    pub laid_out: usize,
}

struct Kept {
    laid: Arc<Laid>,
    /// The frame that asked for it last.
    used: u64,
    weight: usize,
    /// Of a reply with words.
    pieces: Option<Pieces>,
    toggled: bool,
    /// Where something outside was not known yet: what was known then.
    known: Option<u64>,
}

/// What the layout has asked the outside, and what came back.
#[derive(Default)]
pub struct Outsides {
    exist: RefCell<HashMap<Target, Option<There>>>,
    wanted: RefCell<Vec<Target>>,
    missed: Cell<bool>,
    known: u64,
    /// Lines of replies laid out since the start, for tests of what a frame costs.
    lines: Cell<usize>,
}

impl Cache {
    /// An item laid out for this ground: an entry, or what is live behind the last.
    pub fn item(&mut self, ground: &Ground<'_>, toggled: &HashSet<usize>, item: usize) -> Arc<Laid> {
        self.fit(ground);
        let Some(entry) = ground.agent.session.entries().get(item) else {
            return Arc::new(self.live.lay_out(ground, &self.outside));
        };
        let toggled = toggled.contains(&item);
        let old = self.kept.get_mut(&item).filter(|kept| kept.toggled == toggled);
        if let Some(kept) = old
            && kept.known.is_none_or(|known| known == self.outside.known)
        {
            kept.used = self.frame;
            return kept.laid.clone();
        }
        self.laid_out += 1;
        let before = self.drop_kept(item).and_then(|kept| kept.pieces);
        let (laid, known, pieces) = match entry::words(entry) {
            Some(words) => {
                let pieces = before.or_else(|| self.live.take(words)).unwrap_or_default();
                let (laid, pieces) = self.reply(ground, item, toggled, words, pieces);
                (laid, pieces.lacks(), Some(pieces))
            }
            None => {
                self.outside.missed.set(false);
                let page = entry::lay_out(ground, item, toggled, &self.outside);
                let lacks = self.outside.missed.get();
                (Laid::of(page), lacks.then_some(self.outside.known), None)
            }
        };
        if self.heights.len() <= item {
            self.heights.resize(item + 1, None);
        }
        self.heights[item] = Some((toggled, u32::try_from(laid.height).unwrap_or(u32::MAX)));
        let (weight, laid) = (laid.weight(), Arc::new(laid));
        self.weight += weight;
        let kept = Kept { laid: laid.clone(), used: self.frame, weight, pieces, toggled, known };
        self.kept.insert(item, Box::new(kept));
        if self.weight > KEPT {
            self.forget_far_from(item);
        }
        laid
    }

    /// Lays out a reply, of which some pieces may be laid out already.
    fn reply(
        &self,
        ground: &Ground<'_>,
        item: usize,
        toggled: bool,
        words: &str,
        mut pieces: Pieces,
    ) -> (Laid, Pieces) {
        let entry = &ground.agent.session.entries()[item];
        pieces.close(ground, words, &self.outside);
        pieces.end(ground, words, &self.outside);
        let before = entry::before(ground, entry, toggled);
        let follows = !before.lines.is_empty() || pieces.height() > 0;
        let after = entry::after(ground, entry, follows);
        let mut laid = Laid::default();
        if !follows && after.lines.is_empty() {
            return (laid, pieces);
        }
        laid.add(Arc::new(entry::spaced(ground, item, before)));
        pieces.add_to(&mut laid);
        laid.add(Arc::new(after));
        (laid, pieces)
    }

    /// How many lines an item takes.
    pub fn height(&mut self, ground: &Ground<'_>, toggled: &HashSet<usize>, item: usize) -> usize {
        self.fit(ground);
        match self.heights.get(item) {
            Some(Some((as_now, height))) if *as_now == toggled.contains(&item) => *height as usize,
            _ => self.item(ground, toggled, item).height,
        }
    }

    /// The lines of a screen are about to be asked for.
    pub fn begin(&mut self) {
        self.frame += 1;
    }

    /// Another session is shown.
    pub fn clear(&mut self) {
        self.extent = Extent::default();
        self.forget();
    }

    fn forget(&mut self) {
        self.kept.clear();
        self.weight = 0;
        self.heights.clear();
        self.live = live::Live::default();
    }

    /// Keeps whether what links name is there. What was laid out without knowing may have another height now.
    pub fn exist(&mut self, found: Vec<(Target, There)>) {
        for (item, _) in self.kept.iter().filter(|(_, kept)| kept.known.is_some()) {
            if let Some(height) = self.heights.get_mut(*item) {
                *height = None;
            }
        }
        let known = self.outside.exist.get_mut();
        known.extend(found.into_iter().map(|(target, is)| (target, Some(is))));
        self.outside.known += 1;
    }

    /// What has to be looked for; each is given out once.
    pub fn take_wanted(&mut self) -> Vec<Target> {
        std::mem::take(self.outside.wanted.get_mut())
    }

    /// Bytes of what is kept laid out, as far as they can be told.
    pub fn weight(&self) -> usize {
        self.weight
    }

    /// Lines of replies laid out since the start, for tests of what a frame costs.
    pub fn lines_laid_out(&self) -> usize {
        self.outside.lines.get()
    }

    fn fit(&mut self, ground: &Ground<'_>) {
        if self.width != ground.width || self.theme != ground.theme.name {
            self.forget();
            (self.width, self.theme) = (ground.width, ground.theme.name.clone());
        }
    }

    fn drop_kept(&mut self, item: usize) -> Option<Box<Kept>> {
        let kept = self.kept.remove(&item)?;
        self.weight -= kept.weight;
        Some(kept)
    }

    /// Forgets what is farthest from an item, until there is room again.
    fn forget_far_from(&mut self, item: usize) {
        let unseen = self.kept.iter().filter(|(_, kept)| kept.used + 1 < self.frame);
        let mut far: Vec<usize> = unseen.map(|(at, _)| *at).collect();
        far.sort_by_key(|at| at.abs_diff(item));
        while let Some(at) = far.pop() {
            let room = if at.abs_diff(item) > NEAR { KEPT * 3 / 4 } else { KEPT * 2 };
            if self.weight <= room {
                return;
            }
            self.drop_kept(at);
        }
    }
}

impl Outsides {
    /// How often something came that was not known before.
    pub fn known(&self) -> u64 {
        self.known
    }

    /// Lays out a part of a reply; and where something was not known, what was known then.
    pub fn lay_out(&self, ground: &Ground<'_>, text: &str) -> (Page, Option<u64>) {
        self.missed.set(false);
        let page = self.markdown(ground, ground.width, text);
        self.lines.set(self.lines.get() + page.lines.len());
        let lacks = self.missed.get();
        (page, lacks.then_some(self.known))
    }

    /// Lays out markdown, remembering what was not known.
    pub fn markdown(&self, ground: &Ground<'_>, width: usize, text: &str) -> Page {
        let picture = |target: &Target| picture::words(ground, self, target);
        markdown::layout(text, width, ground.theme, &|target| self.exists(target), &picture)
    }

    /// Whether what a link names is there; not until it is known.
    pub fn exists(&self, target: &Target) -> bool {
        match target {
            Target::Web(_) => true,
            Target::Workspace(_) => false,
            Target::File { .. } => self.known_of(target) != There::No,
        }
    }

    /// The picture that a link names; none until it is known.
    pub fn picture(&self, target: &Target) -> Option<Size> {
        match target {
            Target::File { .. } => match self.known_of(target) {
                There::Picture(size) => Some(size),
                There::No | There::Yes => None,
            },
            Target::Web(_) | Target::Workspace(_) => None,
        }
    }

    fn known_of(&self, target: &Target) -> There {
        let mut exist = self.exist.borrow_mut();
        let known = exist.entry(target.clone()).or_insert_with(|| {
            self.wanted.borrow_mut().push(target.clone());
            None
        });
        if known.is_none() {
            self.missed.set(true);
        }
        known.unwrap_or(There::No)
    }
}
