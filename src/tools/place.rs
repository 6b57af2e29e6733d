//! Where a call wants to look: told in the plan, and still the same place when the call acts.

use super::Error;
use crate::chat::escaped_path::{escape, unescape};
use crate::chat::{Access, HardLinks};
use crate::project::{self, Located, Own, Reader};
use serde::{Deserialize, Serialize};

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

/// How far reading there reaches.
pub fn reading(at: &Located) -> Access {
    if at.own == Some(Own::Credentials) {
        Access::Own(at.shown.clone())
    } else if at.inside && !at.sensitive {
        Access::Read(vec![at.shown.clone()])
    } else {
        Access::ReadSensitive(at.shown.clone())
    }
}

/// The same of a file that a walk met: by its own name and, where that is a link, by the name of what it leads to.
pub fn reaching(files: &dyn Reader, at: &Located) -> Vec<Access> {
    let mut all = vec![reading(at)];
    if files.root().join(&at.shown) != at.real {
        let led = at.real.strip_prefix(files.root()).unwrap_or(&at.real);
        all.push(reading(&Located { shown: led.to_owned(), ..at.clone() }));
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
}

impl Place {
    /// The place that was located; refused where its name cannot be written down.
    pub fn of(at: &Located) -> Result<Self, Error> {
        let name = at.shown.to_str().ok_or_else(|| {
            Error::Failed(format!("{} has a name that is not Unicode, which no call can use.", shown(at)))
        })?;
        let holds_keys = at.own == Some(Own::Credentials);
        // A folder of the project that is called `~` is not the person's home.
        let path = if at.inside { format!("./{name}") } else { name.to_owned() };
        Ok(Self { path, inside: at.inside, sensitive: at.sensitive, holds_keys })
    }

    /// The same place, looked up anew: what became a link to elsewhere since the plan is refused.
    pub fn again(&self, files: &dyn Reader) -> Result<Located, Error> {
        let at = files.locate(&self.path)?;
        if Self::of(&at)? == *self { Ok(at) } else { Err(project::Error::Changed(at.shown).into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::memory::Memory;

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
        let mut place = Place::of(&locate(&files, "a").unwrap()).unwrap();
        assert!(place.again(&files).is_ok());
        place.sensitive = true;
        assert!(place.again(&files).unwrap_err().to_string().contains("has changed"));
    }
}
