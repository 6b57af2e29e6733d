//! Tries lines: judges them with the real policy, runs what it allows, and shortens lines that had a forbidden effect.

use super::evidence::{Effect, Forms, RunEvidence, Watch, effects, run};
use super::generate::Line;
use super::sandbox::{self, Sandbox};
use super::scratch::{PROJECTS, Scratch};
use super::words::is_decoy;
use aye::chat::Intent;
use aye::policy::{Policy, Rules, Verdict, judge_plan};
use aye::project::disk::Disk;
use aye::tools::Tool;
use aye::tools::bash_exec::BashExec;
use aye::tools::toolbox::ToolSettings;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Maximum number of findings reported per program.
const MAX_FINDINGS: usize = 24;

/// The trials of one run.
pub struct Trials {
    pub scratch: Scratch,
    disks: BTreeMap<&'static str, Disk>,
    watches: BTreeMap<&'static str, Watch>,
    forms: Forms,
    tool: BashExec,
    /// Sandbox in which every line runs; without it only lines run that the policy allows.
    sandbox: Option<Sandbox>,
    /// Lines that ran.
    pub runs: usize,
    /// Lines that were stopped by the limit of time or output.
    pub stopped: Vec<String>,
    /// By program: the shortest lines with forbidden effects, and these effects.
    pub found: BTreeMap<String, BTreeMap<Line, BTreeSet<Effect>>>,
}

impl Trials {
    pub fn new(base: &Path) -> Self {
        let scratch = Scratch::new(base);
        let disks = PROJECTS.iter().map(|(name, _)| (*name, Disk::new(&scratch.project(name)).unwrap())).collect();
        let mut trials = Self {
            scratch,
            disks,
            watches: BTreeMap::new(),
            forms: Forms::new(),
            tool: BashExec::new(ToolSettings::default()),
            sandbox: None,
            runs: 0,
            stopped: Vec::new(),
            found: BTreeMap::new(),
        };
        trials.watch_decoys();
        trials
    }

    /// Creates trials that run every line in the read-only sandbox, whatever its verdict.
    pub fn in_sandbox(base: &Path) -> Self {
        Self { sandbox: Some(Sandbox::new()), ..Self::new(base) }
    }

    fn watch_decoys(&mut self) {
        let base = &self.scratch.base;
        self.watches = PROJECTS.iter().map(|(name, _)| (*name, Watch::new(base, name))).collect();
    }

    /// Returns whether the policy allows this line without approval in the default mode.
    pub fn is_allowed(&self, project: &str, text: &str) -> bool {
        let plan = self.tool.plan_call(&json!({ "command": text }), &self.disks[project]);
        let Ok(Intent::Act(plan)) = plan else { return false };
        match judge_plan(&Policy::default(), &[], &Rules::default(), "bash_exec", &plan) {
            Verdict::Allow(_) => true,
            Verdict::Ask(_) | Verdict::Rehearse(_) | Verdict::Withhold(_) | Verdict::Deny(_) => false,
        }
    }

    /// Returns the line for the shell. `@/` stands for the scratch folder.
    pub fn text(&self, line: &str) -> String {
        line.replace("@/", &format!("{}/", self.scratch.base.display()))
    }

    /// Runs the line with or without the sandbox and returns its forbidden effects.
    fn try_line(&mut self, project: &'static str, line: &Line) -> BTreeSet<Effect> {
        let text = self.text(&line.text());
        let Some(sandbox) = &self.sandbox else {
            if !self.is_allowed(project, &text) {
                return BTreeSet::new();
            }
            self.runs += 1;
            return self.observe(project, &text);
        };
        self.runs += 1;
        let outcome = sandbox.run(&self.scratch, project, &text, &self.watches[project]);
        let mut effects = self.judge(project, &text, &outcome);
        effects.retain(|effect| !sandbox::is_known_leak(project, &text, effect) || self.is_allowed(project, &text));
        effects
    }

    /// Runs a line without a sandbox, whatever its verdict, and returns its forbidden effects.
    pub fn observe(&mut self, project: &'static str, text: &str) -> BTreeSet<Effect> {
        let outcome = run(&self.scratch, project, text, &self.watches[project]);
        self.judge(project, text, &outcome)
    }

    /// Returns the forbidden effects of a line and restores the scratch folder.
    fn judge(&mut self, project: &'static str, text: &str, ran: &RunEvidence) -> BTreeSet<Effect> {
        let effects = effects(&mut self.scratch, project, text, ran, &self.forms);
        if ran.stopped && effects.is_empty() {
            self.stopped.push(text.to_owned());
        }
        if effects.iter().any(|effect| matches!(effect, Effect::Changed(_) | Effect::Drained)) {
            self.scratch.rebuild(project);
            self.watch_decoys();
        }
        effects
    }

    /// Removes words and then characters of options as long as the line has the same effect, in fewer than 300 tries.
    fn shrink(&mut self, project: &'static str, line: Line, effect: &Effect) -> Line {
        let mut line = line;
        let mut tries = 0;
        loop {
            let words = (0..line.0.len()).map(|at| {
                let mut words = line.0.clone();
                words.remove(at);
                words
            });
            let characters = line.0.iter().enumerate().filter(|(_, word)| word.starts_with('-') && word.len() > 2);
            let characters = characters.flat_map(|(at, word)| {
                let line = &line;
                word.char_indices().skip(1).map(move |(at_byte, _)| {
                    let mut words = line.0.clone();
                    words[at].remove(at_byte);
                    words
                })
            });
            let smaller: Vec<Vec<String>> = words.chain(characters).collect();
            let next = smaller.into_iter().map(Line).find(|smaller| {
                tries += 1;
                tries < 300 && self.try_line(project, smaller).iter().any(|found| found.is_like(effect))
            });
            match next {
                Some(next) => line = next,
                None => return line,
            }
        }
    }

    /// Tries the line and stores a shortened form if it had a new effect.
    pub fn try_and_store(&mut self, project: &'static str, line: Line) {
        for effect in self.try_line(project, &line) {
            let findings = self.found.entry(program_of(&line)).or_default();
            let explains = |(known_line, effects): (&Line, &BTreeSet<Effect>)| {
                effects.iter().any(|known_effect| known_effect.is_like(&effect)) && is_part(known_line, &line)
            };
            if findings.len() >= MAX_FINDINGS || findings.iter().any(explains) {
                continue;
            }
            let line = self.shrink(project, line.clone(), &effect);
            let effects = self.try_line(project, &line);
            let lines = self.found.entry(program_of(&line)).or_default();
            lines.insert(line, effects);
        }
    }
}

/// Returns whether this line contains all options and decoys of a known finding, so that it is probably the same one.
fn is_part(known: &Line, line: &Line) -> bool {
    let mut matters = known.0.iter().filter(|word| word.starts_with('-') || is_decoy(word));
    matters.all(|word| line.0.contains(word))
}

/// Returns the program of the first command; git includes its subcommand.
fn program_of(line: &Line) -> String {
    let words = if line.0.first().is_some_and(|word| word == "git") { 2 } else { 1 };
    line.0.iter().take(words).cloned().collect::<Vec<_>>().join(" ")
}
