//! `aye skills`: lists the skills of the user and of the project, and shows one.

use super::folder::open_places;
use super::output::print_lines;
use crate::assemble::skills::{FoundSkill, find_skills, format_skills};
use crate::assemble::tool_files::open_source;
use crate::cli::skills::SkillsCommand;
use crate::cli::{FolderOptions, ReportOptions, bail_usage};
use crate::print::json_line;
use crate::store::Places;
use crate::text::clean::{clean_line, clean_text};
use crate::text::reveal::reveal_line;
use anyhow::Result;
use std::process::ExitCode;

/// Runs the command.
pub(super) fn run(command: &SkillsCommand) -> Result<ExitCode> {
    match command {
        SkillsCommand::List(ReportOptions { json, place }) => {
            let (places, skills) = load(place)?;
            print_lines(match json {
                true => skills.iter().map(|skill| json_line(&skill.to_json())).collect(),
                false => format_skills(&skills, &places),
            })
        }
        SkillsCommand::Show { name, place } => print_lines(show(&load(place)?.1, name)?),
    }
}

fn load(place: &FolderOptions) -> Result<(Places, Vec<FoundSkill>)> {
    let (places, folder) = open_places(place)?;
    let source = open_source(&places, &folder, Vec::new(), 0);
    let skills = find_skills(&places, &source);
    Ok((places, skills))
}

/// Describes one skill and returns its text. Invisible characters are marked.
fn show(skills: &[FoundSkill], name: &str) -> Result<Vec<String>> {
    let named = || skills.iter().filter(|skill| skill.name() == name);
    // Of two with this name the one in use is shown.
    let Some(skill) = named().find(|skill| skill.is_usable()).or_else(|| named().next()) else {
        let mut names: Vec<&str> = skills.iter().map(FoundSkill::name).collect();
        names.dedup();
        let advice = match names.as_slice() {
            [] => "There are no skills. See: aye help skills.".to_owned(),
            names => format!("Use one of: {}.", names.join(", ")),
        };
        bail_usage!("Cannot find the skill {name:?}. {}", clean_line(&advice))
    };
    let mut lines = vec![format!("{name} · {} · {} · {}", skill.describe_state(), skill.origin(), skill.file)];
    if let Some(text) = &skill.text {
        lines.extend([text.description.clone(), String::new()]);
        lines.extend(text.body.lines().map(reveal_line));
    }
    Ok(lines.iter().map(|line| clean_text(line).into_owned()).collect())
}
