//! What holds a command back while it runs: promised on its card, and raised before it starts or it is not run.

use serde::{Deserialize, Serialize, Serializer};
use std::path::{Path, PathBuf};

/// What holds a command back while it runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "walls", content = "as", rename_all = "snake_case")]
pub enum Walls {
    /// Nothing was said of it.
    #[default]
    Unsaid,
    /// Nothing does; with why, in words that follow “no sandbox here: ”.
    Absent(Box<str>),
    /// It reaches this and no more.
    Raised(Box<Openings>),
}

/// How far a walled command reaches.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Openings {
    /// The places it may write in beside its folder; absolute, links resolved.
    #[serde(serialize_with = "as_unicode")]
    pub write: Vec<PathBuf>,
    /// Whether it may use the network.
    pub network: bool,
    /// Whether it may talk to other programs of this machine through their sockets.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sockets: bool,
}

impl Walls {
    /// Walls that let a command reach this and no more.
    pub fn raised(reach: Openings) -> Self {
        Self::Raised(Box::new(reach))
    }

    /// Whether nothing that runs within can reach the network, nor a program outside that could reach it instead.
    pub fn is_offline(&self) -> bool {
        match self {
            Self::Unsaid | Self::Absent(_) => false,
            Self::Raised(reach) => !reach.network && !reach.sockets,
        }
    }

    /// Whether nothing was said of it.
    pub fn is_unsaid(&self) -> bool {
        *self == Self::Unsaid
    }

    /// The same for a call that asks for the network, or does not.
    pub fn with_network(&self, network: bool) -> Self {
        match self {
            Self::Unsaid => Self::Unsaid,
            Self::Absent(why) => Self::Absent(why.clone()),
            Self::Raised(reach) => {
                Self::raised(Openings { network: reach.network || network, ..(**reach).clone() })
            }
        }
    }

    /// What the card says of it: `network off · may write here and in /tmp`. Empty where nothing was said. `asked` is
    /// what the call wants the network for.
    pub fn words(&self, asked: Option<&str>, home: Option<&Path>) -> String {
        let parts: Vec<String> = self.parts(asked, home).into_iter().map(|(words, _)| words).collect();
        parts.join(" · ")
    }

    /// The same part by part, each with whether it says that something is open which is closed as a rule.
    pub fn parts(&self, asked: Option<&str>, home: Option<&Path>) -> Vec<(String, bool)> {
        let wanted = asked.map(|what| format!(" (“{what}”)")).unwrap_or_default();
        let mut parts = Vec::new();
        match self {
            Self::Unsaid => {}
            Self::Absent(why) => {
                let words = format!("no sandbox here: {why}; it may write and reach whatever you may");
                parts.push((words, true));
                if asked.is_some() {
                    parts.push((format!("asks for the network{wanted}"), true));
                }
            }
            Self::Raised(reach) => {
                parts.push(match reach.network {
                    true => (format!("network ON{wanted}"), true),
                    false => ("network off".to_owned(), false),
                });
                if reach.sockets {
                    parts.push(("sockets of other programs ON".to_owned(), true));
                }
                parts.push((format!("may write {}", places(&reach.write, home)), false));
            }
        }
        parts
    }
}

/// `here`, `here and in /tmp`, `here, in /tmp and in ~/.cache`.
fn places(write: &[PathBuf], home: Option<&Path>) -> String {
    let names: Vec<String> = write.iter().map(|place| format!("in {}", short(place, home))).collect();
    match names.split_last() {
        None => "here".to_owned(),
        Some((last, [])) => format!("here and {last}"),
        Some((last, rest)) => format!("here, {} and {last}", rest.join(", ")),
    }
}

/// A path with `~` for the person's home.
fn short(path: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

fn as_unicode<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r21_the_card_says_how_far_a_command_reaches() {
        let walls = |write: &[&str], network, sockets| {
            let write = write.iter().map(PathBuf::from).collect();
            Walls::raised(Openings { write, network, sockets })
        };
        let home = Some(Path::new("/home/ada"));
        for (walls, asked, expected) in [
            (walls(&[], false, false), None, "network off · may write here"),
            (walls(&["/tmp"], false, false), None, "network off · may write here and in /tmp"),
            (
                walls(&["/tmp", "/home/ada/.cargo"], true, false),
                Some("to fetch crates"),
                "network ON (“to fetch crates”) · may write here, in /tmp and in ~/.cargo",
            ),
            (
                walls(&["/tmp"], true, true),
                None,
                "network ON · sockets of other programs ON · may write here and in /tmp",
            ),
            (
                Walls::Absent("this kernel has no Landlock".into()),
                None,
                "no sandbox here: this kernel has no Landlock; it may write and reach whatever you may",
            ),
            (
                Walls::Absent("x".into()),
                Some("y"),
                "no sandbox here: x; it may write and reach whatever you may · asks for the network (“y”)",
            ),
            (Walls::Unsaid, Some("y"), ""),
        ] {
            assert_eq!(walls.words(asked, home), expected);
        }
    }

    #[test]
    fn the_network_is_on_for_the_call_that_asks_and_stays_on_where_it_always_is() {
        let off = Walls::raised(Openings::default());
        let on = Walls::raised(Openings { network: true, ..Openings::default() });
        assert_eq!(off.with_network(false), off);
        assert_eq!(off.with_network(true), on);
        let sockets = Walls::raised(Openings { sockets: true, ..Openings::default() });
        let offline =
            [&off, &on, &sockets, &Walls::Unsaid, &Walls::Absent("x".into())].map(Walls::is_offline);
        assert_eq!(offline, [true, false, false, false, false]);
        assert_eq!(on.with_network(false), on);
    }
}
