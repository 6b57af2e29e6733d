//! What was laid out once and need not be again. Beside the state, never in it: without it the picture is the same.

use super::{Ground, entry, live};
use crate::chat::link::Target;
use crate::tui::text::code::{Colours, Highlights, Job};
use crate::tui::text::markdown::Outside;
use crate::tui::text::{Page, markdown};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// So many entries stay laid out; a screen shows far fewer.
const PAGES: usize = 600;

/// One item of the transcript laid out: an entry, or what is live.
#[derive(Debug, Clone, Default)]
pub struct Laid {
    /// Its lines in one or more pieces, top first.
    pub pages: Vec<Arc<Page>>,
    /// Its lines in all.
    pub height: usize,
}

impl Laid {
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
    kept: HashMap<usize, Kept>,
    heights: HashMap<usize, (bool, usize)>,
    live: live::Live,
    outside: Outsides,
    /// Entries laid out since the start, for tests of what a frame costs.
    pub laid_out: usize,
}

struct Kept {
    laid: Laid,
    toggled: bool,
    /// Where something outside was not known yet: what was known then.
    known: Option<u64>,
}

/// What the layout has asked the outside, and what came back.
#[derive(Default)]
pub struct Outsides {
    highlights: RefCell<Highlights>,
    exist: RefCell<HashMap<Target, Option<bool>>>,
    wanted: RefCell<Vec<Target>>,
    missed: Cell<bool>,
    known: u64,
}

impl Cache {
    /// An item laid out for this ground: an entry, or what is live behind the last.
    pub fn item(&mut self, ground: &Ground<'_>, toggled: &HashSet<usize>, item: usize) -> Laid {
        self.fit(ground);
        if item >= ground.agent.session.entries().len() {
            return self.live.lay_out(ground, &self.outside);
        }
        let toggled = toggled.contains(&item);
        if let Some(kept) = self.kept.get(&item)
            && kept.toggled == toggled
            && kept.known.is_none_or(|known| known == self.outside.known)
        {
            return kept.laid.clone();
        }
        self.outside.missed.set(false);
        self.laid_out += 1;
        let page = entry::lay_out(ground, item, toggled, &self.outside);
        let known = (page.plain_for_now || self.outside.missed.get()).then_some(self.outside.known);
        let laid = Laid::of(page);
        self.heights.insert(item, (toggled, laid.height));
        if self.kept.len() >= PAGES {
            self.forget_far_from(item);
        }
        self.kept.insert(item, Kept { laid: laid.clone(), toggled, known });
        laid
    }

    /// How many lines an item takes.
    pub fn height(&mut self, ground: &Ground<'_>, toggled: &HashSet<usize>, item: usize) -> usize {
        self.fit(ground);
        match self.heights.get(&item) {
            Some((as_now, height)) if *as_now == toggled.contains(&item) => *height,
            _ => self.item(ground, toggled, item).height,
        }
    }

    /// Another session is shown.
    pub fn clear(&mut self) {
        self.kept.clear();
        self.heights.clear();
        self.live = live::Live::default();
    }

    /// Keeps the colours of some code.
    pub fn coloured(&mut self, job: Job, colours: Colours) {
        self.outside.highlights.get_mut().insert(job, colours);
        self.outside.known += 1;
    }

    /// Keeps whether what links name is there.
    pub fn exist(&mut self, found: Vec<(Target, bool)>) {
        let known = self.outside.exist.get_mut();
        known.extend(found.into_iter().map(|(target, is)| (target, Some(is))));
        self.outside.known += 1;
    }

    /// What has to be coloured, and what has to be looked for; each is given out once.
    pub fn take_wanted(&mut self) -> (Vec<Job>, Vec<Target>) {
        (self.outside.highlights.get_mut().take_wanted(), std::mem::take(self.outside.wanted.get_mut()))
    }

    fn fit(&mut self, ground: &Ground<'_>) {
        if self.width != ground.width || self.theme != ground.theme.name {
            self.clear();
            (self.width, self.theme) = (ground.width, ground.theme.name.clone());
        }
    }

    fn forget_far_from(&mut self, item: usize) {
        self.kept.retain(|other, _| other.abs_diff(item) < PAGES / 3);
    }
}

impl Outsides {
    /// Lays out markdown, remembering what was not known.
    pub fn markdown(&self, ground: &Ground<'_>, width: usize, text: &str) -> Page {
        let mut highlights = self.highlights.borrow_mut();
        let mut colours = |job: &Job| highlights.colours(job);
        let exists = |target: &Target| self.exists(target);
        markdown::layout(text, width, ground.theme, &mut Outside { colours: &mut colours, exists: &exists })
    }

    /// Whether what a link names is there; not until it is known.
    pub fn exists(&self, target: &Target) -> bool {
        match target {
            Target::Web(_) => true,
            Target::Workspace(_) => false,
            Target::File { .. } => {
                let mut exist = self.exist.borrow_mut();
                let known = exist.entry(target.clone()).or_insert_with(|| {
                    self.wanted.borrow_mut().push(target.clone());
                    None
                });
                if known.is_none() {
                    self.missed.set(true);
                }
                known.unwrap_or(false)
            }
        }
    }
}
