//! The colours found so far, and what is wanted next.

use super::{Colours, Job};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Blocks whose colours are kept; the oldest go first.
const KEPT: usize = 512;
/// Of these, how many are looked through for the beginning of code that grows.
const RECENT: usize = 8;

/// What is known of the colours of some code.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// The colours, perhaps of the first lines only.
    pub colours: Option<Arc<Colours>>,
    /// Whether they are all there will be.
    pub complete: bool,
}

impl Found {
    /// Plain code, and no waiting for more.
    pub fn plain() -> Found {
        Found { colours: None, complete: true }
    }
}

/// The colours found so far, and what is wanted next. Belongs beside the screen's state, as a cache.
#[derive(Debug, Default)]
pub struct Highlights {
    found: HashMap<Job, Arc<Colours>>,
    /// The oldest first.
    order: VecDeque<Job>,
    wanted: Vec<Job>,
    running: Vec<Job>,
}

impl Highlights {
    /// The colours if they are there; otherwise they are wanted from now on. For code that grows, the colours
    /// of the whole lines of its beginning are given until its own are there, and only one job at a time is
    /// wanted of it.
    pub fn colours(&mut self, job: &Job) -> Found {
        if let Some(colours) = self.found.get(job) {
            return Found { colours: Some(colours.clone()), complete: true };
        }
        let grows = |from: &Job| from.language == job.language && job.code.starts_with(&from.code);
        self.wanted.retain(|wanted| wanted == job || !grows(wanted));
        if !self.wanted.contains(job) && !self.running.iter().any(grows) {
            self.wanted.push(job.clone());
        }
        let beginning = self.order.iter().rev().take(RECENT).filter(|from| grows(from));
        let colours = beginning.max_by_key(|from| from.code.len()).and_then(|from| {
            let mut colours = Colours::clone(self.found.get(from)?);
            // Its last line may have been half a word.
            colours.lines.truncate(from.code.matches('\n').count());
            Some(Arc::new(colours))
        });
        Found { colours, complete: false }
    }

    /// The jobs to run now, each given out once: [`insert`](Highlights::insert) what they find.
    pub fn take_wanted(&mut self) -> Vec<Job> {
        self.running.extend(self.wanted.iter().cloned());
        std::mem::take(&mut self.wanted)
    }

    /// Keeps what a job found. Draw again after it.
    pub fn insert(&mut self, job: Job, colours: Colours) {
        self.running.retain(|running| *running != job);
        if self.found.insert(job.clone(), Arc::new(colours)).is_none() {
            self.order.push_back(job);
        }
        while self.order.len() > KEPT {
            if let Some(oldest) = self.order.pop_front() {
                self.found.remove(&oldest);
            }
        }
    }
}
