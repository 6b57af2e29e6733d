//! Where a call wants to look: told in the plan, and still the same place when the call acts.

use super::Error;
use crate::chat::Access;
use crate::project::{self, Located, Reader};
use serde::{Deserialize, Serialize};

/// Finds what a model named, forgiving a leading `@` or `./`.
pub fn locate(files: &dyn Reader, path: &str) -> Result<Located, Error> {
    let path = path.trim_end_matches(['\n', '\r']);
    if path.trim().is_empty() {
        return Err(Error::Arguments("The path is empty; “.” is the project's folder.".to_owned()));
    }
    if let Some(rest) = path.strip_prefix('@')
        && !rest.is_empty()
    {
        let as_it_is = files.locate(path)?;
        if !files.exists(&as_it_is) {
            return Ok(files.locate(rest)?);
        }
        return Ok(as_it_is);
    }
    Ok(files.locate(path)?)
}

/// How far reading there reaches.
pub fn reading(at: &Located) -> Access {
    if at.inside && !at.sensitive {
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

/// Shown to people and models: never empty.
pub fn shown(at: &Located) -> String {
    let shown = at.shown.to_string_lossy();
    if shown.is_empty() { ".".to_owned() } else { shown.into_owned() }
}

/// A place as it was when the plan was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// As it is looked up: from the project where it is inside, so that the project's own name may be any.
    path: String,
    inside: bool,
    sensitive: bool,
}

impl Place {
    /// The place that was located; refused where its name cannot be written down.
    pub fn of(at: &Located) -> Result<Self, Error> {
        let name = at.shown.to_str().ok_or_else(|| {
            Error::Failed(format!("{} has a name that is not Unicode, which no call can use.", shown(at)))
        })?;
        // A folder of the project that is called `~` is not the person's home.
        let path = if at.inside { format!("./{name}") } else { name.to_owned() };
        Ok(Self { path, inside: at.inside, sensitive: at.sensitive })
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
        let files = Memory::with(&[("src/a.rs", ""), ("@odd", "")]);
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
