//! Where a call wants to look: told in the plan, and still the same place when the call acts.

use super::Error;
use crate::chat::escaped_path::{escape, unescape};
use crate::chat::{Access, HardLinks};
use crate::project::{self, Located, Own, Reader};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Finds what a model named, forgiving a leading `@` or `./`, line breaks at the end, and a name written as it is shown
/// (`a\nb`), if no file has exactly the name that was given.
pub fn locate(files: &dyn Reader, path: &str) -> Result<Located, Error> {
    let bare = path.trim_end_matches(['\n', '\r']);
    if bare.trim().is_empty() {
        return Err(Error::Arguments("The path is empty; “.” is the project's folder.".to_owned()));
    }
    let exact = files.locate(path)?;
    if files.exists(&exact) {
        return Ok(exact);
    }
    let name = bare.strip_prefix('@').filter(|rest| !rest.is_empty()).unwrap_or(bare);
    for other in [Some(bare.to_owned()), unescape(bare), unescape(name)].into_iter().flatten() {
        if let Some(at) = files.locate(&other).ok().filter(|at| files.exists(at)) {
            return Ok(at);
        }
    }
    Ok(files.locate(name)?)
}

/// How far reading there reaches. What this dry run put there as a whole tells nothing, wherever it is.
pub fn reading(files: &dyn Reader, at: &Located) -> Access {
    if at.own == Some(Own::Credentials) {
        Access::Own(at.shown.clone())
    } else if (at.inside && !at.sensitive && !has_hidden_names(files, at)) || files.is_rehearsed_whole(at) {
        Access::Read(vec![at.shown.clone()])
    } else {
        Access::ReadSensitive(at.shown.clone())
    }
}

/// Whether it is a file with several names (hard links) of which any may be that of a secret.
fn has_hidden_names(files: &dyn Reader, at: &Located) -> bool {
    files.link_count(at) > 1 && files.name_check()(at)
}

/// What is read of a file that a walk met: by its own name and, if that is a link, by the name of what it leads to.
pub fn reaching(files: &dyn Reader, at: &Located) -> Vec<Access> {
    let named = |shown: &Path| match at.inside && !at.sensitive {
        true => Access::Read(vec![shown.to_owned()]),
        false => Access::ReadSensitive(shown.to_owned()),
    };
    let mut all = vec![named(&at.shown)];
    if files.root().join(&at.shown) != at.real {
        all.push(named(at.real.strip_prefix(files.root()).unwrap_or(&at.real)));
    }
    all
}

/// How far writing a file there reaches.
pub fn writing(at: &Located) -> Access {
    if at.own.is_some() {
        Access::Own(at.shown.clone())
    } else if at.inside && !at.sensitive {
        Access::Write(at.shown.clone())
    } else {
        Access::WriteOutside(at.shown.clone())
    }
}

/// The file with several names that a write there replaces, if it is one.
pub fn hard_links(files: &dyn Reader, at: &Located) -> Option<HardLinks> {
    let names = files.link_count(at);
    (names > 1).then(|| HardLinks { path: at.shown.clone(), names })
}

/// Shown to users and models on one line: never empty, with what would not show escaped.
pub fn shown(at: &Located) -> String {
    let shown = escape(&at.shown);
    if shown.is_empty() { ".".to_owned() } else { shown }
}

/// A place as it was when the plan was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// As it is looked up: from the project where it is inside, so that the project's own name may be any.
    path: String,
    inside: bool,
    sensitive: bool,
    #[serde(default)]
    holds_keys: bool,
    /// Whether reading it was judged to need no approval.
    #[serde(default)]
    is_plain: bool,
}

impl Place {
    /// The place that was located; refused where its name cannot be written down.
    pub fn of(files: &dyn Reader, at: &Located) -> Result<Self, Error> {
        let name = at.shown.to_str().ok_or_else(|| {
            Error::Failed(format!("{} has a name that is not Unicode, which no call can use.", shown(at)))
        })?;
        let holds_keys = at.own == Some(Own::Credentials);
        // A folder of the project that is called `~` is not the person's home.
        let path = if at.inside { format!("./{name}") } else { name.to_owned() };
        let is_plain = matches!(reading(files, at), Access::Read(_));
        Ok(Self { path, inside: at.inside, sensitive: at.sensitive, holds_keys, is_plain })
    }

    /// The same place, looked up anew: what became a link to elsewhere since the plan is refused.
    pub fn again(&self, files: &dyn Reader) -> Result<Located, Error> {
        let at = files.locate(&self.path)?;
        if Self::of(files, &at)? == *self { Ok(at) } else { Err(project::Error::Changed(at.shown).into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Intent;
    use crate::project::Writer;
    use crate::project::scene::Scene;
    use crate::project::shell::Shell;
    use crate::tools::memory::Memory;
    use crate::tools::search_text::SearchText;
    use crate::tools::{Hands, LeftOut, Tool};
    use std::sync::Arc;

    fn check(path: &str, expected: &str) {
        let files = Memory::with(&[("src/a.rs", ""), ("@odd", ""), ("line\nbreak", "")]);
        let found = locate(&files, path).map(|at| shown(&at)).unwrap_or_else(|error| error.to_string());
        assert_eq!(found, expected, "{path}");
    }

    #[test]
    fn what_models_put_before_a_path_is_forgiven() {
        check("src/a.rs", "src/a.rs");
        check("./src/a.rs", "src/a.rs");
        check("@src/a.rs", "src/a.rs");
        check("@./src/a.rs", "src/a.rs");
        check("@odd", "@odd");
        check(".", ".");
        check("src/a.rs\n", "src/a.rs");
        check("new\n", "new");
        check("line\nbreak", "line\\nbreak");
        check("line\\nbreak", "line\\nbreak");
        check("@line\\nbreak", "line\\nbreak");
        check("no\\nsuch", "no\\nsuch");
        check("back\\slash", "back\\slash");
        check(" ", "The path is empty; “.” is the project's folder.");
    }

    #[test]
    fn a_place_that_is_no_longer_what_was_planned_is_refused() {
        let files = Memory::with(&[("a", "")]);
        let mut place = Place::of(&files, &locate(&files, "a").unwrap()).unwrap();
        assert!(place.again(&files).is_ok());
        place.sensitive = true;
        assert!(place.again(&files).unwrap_err().to_string().contains("has changed"));
    }

    #[test]
    fn r13_a_file_with_names_that_may_be_secrets_is_read_with_a_prompt_live_and_in_a_dry_run() {
        let files = [(".env", "K=1"), ("a", "x"), ("elsewhere", "x"), ("one", "x"), ("target/x", "x")];
        let scene = Scene::new(&files);
        let base = scene.place.path();
        let link = |from: &str, to: &Path| std::fs::hard_link(scene.real(from), to).unwrap();
        link(".env", &scene.real("notes"));
        link("a", &scene.real("b"));
        link("elsewhere", &base.join("out"));
        link("target/x", &base.join("store"));
        // What a command links in a dry run has names that are not looked for.
        std::fs::write(scene.upper("made"), "x").unwrap();
        std::fs::hard_link(scene.upper("made"), scene.upper("linked")).unwrap();
        std::fs::create_dir(scene.upper("target")).unwrap();
        std::fs::hard_link(scene.upper("made"), scene.upper("target/built")).unwrap();
        let both: [&dyn Reader; 2] = [&*scene.disk, &*scene.rehearsal];
        for files in both {
            for (path, plain) in [
                ("notes", false),
                ("elsewhere", false),
                ("a", true),
                ("b", true),
                ("one", true),
                ("target/x", true),
                (".env", false),
            ] {
                let access = reading(files, &files.locate(path).unwrap());
                assert_eq!(matches!(access, Access::Read(_)), plain, "{path}: {access:?}");
            }
        }
        let made = reading(&*scene.rehearsal, &scene.rehearsal.locate("made").unwrap());
        assert!(matches!(made, Access::ReadSensitive(_)), "{made:?}");
        // A search through the folder leaves them out.
        let found = |files: &dyn Reader| {
            let check = files.name_check();
            let mut hidden = Vec::new();
            let root = files.locate(".").unwrap();
            let walk = files.walk(&root, false, &mut |found| {
                if !found.folder && check(&found.at) {
                    hidden.push(found.at.shown.display().to_string());
                }
                std::ops::ControlFlow::Continue(())
            });
            walk.unwrap();
            hidden
        };
        assert_eq!(found(&*scene.disk), ["elsewhere", "notes"]);
        assert_eq!(found(&*scene.rehearsal), ["elsewhere", "linked", "made", "notes"]);
    }

    #[tokio::test]
    async fn r13_a_search_leaves_out_a_hard_link_to_a_secret() {
        let scene = Scene::new(&[(".env", "hunter2\n"), ("a", "hunter2 is none\n")]);
        std::fs::hard_link(scene.real(".env"), scene.real("notes")).unwrap();
        let both: [Arc<dyn Writer>; 2] = [scene.disk.clone(), scene.rehearsal.clone()];
        for project in both {
            let arguments = serde_json::json!({ "pattern": "hunter2" });
            let Ok(Intent::Act(plan)) = SearchText.plan(&arguments, &*project) else {
                panic!("it is planned")
            };
            let shell = Arc::new(Shell::new("/nowhere".into()));
            let hands = Hands { project, shell, left_out: LeftOut::default(), progress: Arc::new(|_| {}) };
            let found = SearchText.act(&plan, &hands).await.unwrap();
            assert!(found.starts_with("a:1: hunter2 is none\n[skipped, may hold secrets: 2;"), "{found}");
        }
    }
}
