//! What an overlay sandbox is made of, as the processes that make it receive it.

use super::refusal::{Step, Unstaged};
use crate::project::rehearsal::{OUTSIDE, UPPER};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The word behind `guard` that asks for a stage.
pub const STAGE: &str = "--stage";
/// The same for the process that is within it already.
pub const ON_STAGE: &str = "--on-stage";

const FOLDER: &str = "--folder";
const LAYER: &str = "--layer";
const PLACE: &str = "--place";
const PRIVATE: &str = "--private";
const KEEP: &str = "--keep";
const HIDE: &str = "--hide";
const EMPTY: &str = "--empty";
const MEMORY: &str = "--memory";
const LIVE: &str = "--live";
/// How many bytes of paths come over the lifeline.
const PATHS: &str = "--paths=";

/// What an overlay sandbox is made of. All paths are absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setting {
    /// The project.
    pub folder: PathBuf,
    /// Where the layers are kept.
    pub layer: PathBuf,
    /// Folders next to the project that get layers too; outer ones before those in them.
    pub places: Vec<Place>,
    /// aye's own folders and files, which are not there.
    pub keep: Vec<PathBuf>,
    /// Files that are not read: aye's keys.
    pub hide: Vec<PathBuf>,
    /// Folders that are there and empty, such as the home.
    pub empty: Vec<PathBuf>,
    /// Bytes of memory that everything in it may take together; half of what the machine has if `None`.
    pub memory: Option<u64>,
    /// Whether the whole disk is there, read-only.
    pub live: bool,
    /// Files and folders outside the project that are there, read-only, beside the system's programs.
    pub shown: Vec<PathBuf>,
    /// Files and folders that cannot be opened.
    pub masked: Vec<PathBuf>,
}

/// A folder outside the project that commands write in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Where it is.
    pub path: PathBuf,
    /// Whether what the disk holds there is seen. Otherwise it is empty at first.
    pub shows_disk: bool,
}

impl Setting {
    /// The folder that holds what differs from the disk outside the project: each file and folder at its absolute path.
    pub fn outside(layer: &Path) -> PathBuf {
        layer.join(OUTSIDE).join(UPPER)
    }

    /// What was written at or below a folder outside the project.
    pub fn upper_of(layer: &Path, place: &Path) -> PathBuf {
        Self::outside(layer).join(place.strip_prefix("/").unwrap_or(place))
    }

    /// Takes of the places the folders that are there, each once, and not in the project.
    pub fn with_places(mut self, places: impl IntoIterator<Item = Place>) -> Self {
        let is_device = |path: &Path| ["/dev", "/proc", "/sys"].iter().any(|of| path.starts_with(of));
        let real = places.into_iter().filter_map(|Place { path, shows_disk }| {
            Some(Place { path: path.canonicalize().ok()?, shows_disk })
        });
        let mut real: Vec<Place> = real
            .filter(|Place { path, .. }| path.is_dir() && path.parent().is_some())
            .filter(|Place { path, .. }| !is_device(path) && !path.starts_with(&self.folder))
            .collect();
        real.sort();
        // Of the same folder, the one that shows less comes first.
        real.dedup_by(|one, other| one.path == other.path);
        self.places = real;
        self
    }

    /// The places that need a layer of their own. One in another has its own only if what the disk holds is seen in it and not in
    /// the other: what is written in it is in the other's layer otherwise.
    pub fn layers(&self) -> impl Iterator<Item = &Place> {
        let covers = |outer: &Place, inner: &Place| {
            let is_same = self.live || outer.shows_disk == inner.shows_disk;
            let parts = |between: &PathBuf| {
                between != &inner.path && inner.path.starts_with(between) && between.starts_with(&outer.path)
            };
            let is_place = |path: &PathBuf| self.places.iter().any(|place| place.path == *path);
            let mut others = self.empty.iter().chain(&self.keep).filter(|path| !is_place(path));
            let is_in = outer.path != inner.path && inner.path.starts_with(&outer.path);
            is_same && is_in && !others.any(parts)
        };
        self.places.iter().filter(move |inner| !self.places.iter().any(|outer| covers(outer, inner)))
    }

    /// As the processes receive it: their words, of which the first is `role`, and the bytes that come over the lifeline.
    pub fn arguments(&self, role: &str) -> (Vec<OsString>, Vec<u8>) {
        let one = |name: &str, path: &Path| [OsString::from(name), path.into()];
        let mut words = vec![OsString::from(role)];
        words.extend(one(FOLDER, &self.folder));
        words.extend(one(LAYER, &self.layer));
        for place in &self.places {
            words.extend(one(if place.shows_disk { PLACE } else { PRIVATE }, &place.path));
        }
        for (name, paths) in [(KEEP, &self.keep), (HIDE, &self.hide), (EMPTY, &self.empty)] {
            words.extend(paths.iter().flat_map(|path| one(name, path)));
        }
        words.extend(self.memory.iter().flat_map(|bytes| [MEMORY.into(), bytes.to_string().into()]));
        words.extend(self.live.then(|| LIVE.into()));
        let mut bytes = Vec::new();
        for (kind, paths) in [(b's', &self.shown), (b'm', &self.masked)] {
            for path in paths {
                bytes.push(kind);
                bytes.extend(path.as_os_str().as_bytes());
                bytes.push(0);
            }
        }
        words.push(format!("{PATHS}{}", bytes.len()).into());
        (words, bytes)
    }

    /// Reads what follows the role; `list` gets so many bytes off the lifeline. An error if the words make no sense: no command
    /// runs in half of an overlay sandbox.
    pub fn read(
        words: impl IntoIterator<Item = OsString>,
        list: impl FnOnce(usize) -> io::Result<Vec<u8>>,
    ) -> Result<Self, Unstaged> {
        let garbled = Unstaged { step: Step::Told, errno: 0 };
        let absolute = |path: PathBuf| if path.is_absolute() { Ok(path) } else { Err(garbled) };
        let mut words = words.into_iter();
        let mut setting = Self::default();
        let mut count = None;
        while let Some(word) = words.next() {
            let name = word.to_str().ok_or(garbled)?;
            if let Some(bytes) = name.strip_prefix(PATHS) {
                count = Some(bytes.parse().map_err(|_| garbled)?);
                continue;
            }
            if name == LIVE {
                setting.live = true;
                continue;
            }
            let value = words.next().ok_or(garbled)?;
            if name == MEMORY {
                let bytes = value.to_str().and_then(|bytes| bytes.parse().ok());
                setting.memory = Some(bytes.ok_or(garbled)?);
                continue;
            }
            let path = absolute(value.into())?;
            match name {
                FOLDER => setting.folder = path,
                LAYER => setting.layer = path,
                PLACE => setting.places.push(Place { path, shows_disk: true }),
                PRIVATE => setting.places.push(Place { path, shows_disk: false }),
                KEEP => setting.keep.push(path),
                HIDE => setting.hide.push(path),
                EMPTY => setting.empty.push(path),
                _ => return Err(garbled),
            }
        }
        let bytes = list(count.ok_or(garbled)?).map_err(Unstaged::at(Step::Told))?;
        for word in bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty()) {
            let path = absolute(OsStr::from_bytes(&word[1..]).into())?;
            match word[0] {
                b's' => setting.shown.push(path),
                b'm' => setting.masked.push(path),
                _ => return Err(garbled),
            }
        }
        let whole = setting.folder.is_absolute() && setting.layer.is_absolute();
        if whole { Ok(setting) } else { Err(garbled) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    fn place(path: impl Into<PathBuf>, shows_disk: bool) -> Place {
        Place { path: path.into(), shows_disk }
    }

    #[test]
    fn r30_a_setting_is_read_as_it_was_written_and_never_as_less() {
        let odd = PathBuf::from(OsString::from_vec(b"/a \n,:\\\xff--folder".to_vec()));
        let setting = Setting {
            folder: odd.clone(),
            layer: "/l".into(),
            places: vec![place("/home/a", true), place(&odd, false)],
            keep: vec!["/--hide".into()],
            hide: vec!["/k".into()],
            empty: vec!["/home/b".into()],
            memory: Some(1 << 30),
            live: true,
            shown: vec!["/opt/x".into(), odd.clone()],
            masked: vec![odd.join(".env")],
        };
        let (words, bytes) = setting.arguments(STAGE);
        assert_eq!(words[0], STAGE);
        let read = |words: &[OsString], bytes: &[u8]| {
            let bytes = bytes.to_vec();
            Setting::read(words.iter().skip(1).cloned(), move |count| {
                bytes.get(..count).map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
            })
        };
        assert_eq!(read(&words, &bytes), Ok(setting));
        assert!(read(&words, &bytes[1..]).is_err(), "cut off");
        assert!(read(&words[..words.len() - 1], &bytes).is_err(), "it says nothing of the list");
        for words in [
            &["", "--paths=0"][..],
            &["", "--folder", "/p", "--paths=0"],
            &["", "--layer", "/l", "--paths=0"],
            &["", "--folder", "p", "--layer", "/l", "--paths=0"],
            &["", "--folder", "/p", "--layer", "/l", "--paths=0", "--place"],
            &["", "--folder", "/p", "--layer", "/l", "--paths=0", "--memory", "much"],
            &["", "--folder", "/p", "--layer", "/l", "--paths=0", "--palce", "/x"],
            &["", "--folder", "/p", "--layer", "/l", "--paths=x"],
        ] {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            assert!(read(&words, b"").is_err(), "{words:?}");
        }
        let words = ["", "--folder", "/p", "--layer", "/l", "--paths=3"].map(OsString::from);
        assert!(read(&words, b"m/a").is_ok());
        assert!(read(&words, b"x/a").is_err() && read(&words, b"maa").is_err());
    }

    #[test]
    fn a_place_gets_one_layer_and_none_in_the_project() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().canonicalize().unwrap().join(path);
        for folder in ["home/project/in", "home/tmp", "home/shown", "other"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        std::os::unix::fs::symlink(at("home"), at("link")).unwrap();
        let names = ["home/project/in", "link", "home/tmp", "other", "none"].map(at);
        let private = names.into_iter().chain(["/dev/shm".into(), "/".into()]).map(|path| place(path, false));
        let shown = [place(at("home/shown"), true), place(at("other"), true)];
        let setting = Setting { folder: at("home/project"), ..Setting::default() };
        let setting = setting.with_places(private.chain(shown));
        let found: Vec<Place> = setting.layers().cloned().collect();
        assert_eq!(
            found,
            [place(at("home"), false), place(at("home/shown"), true), place(at("other"), false)]
        );
    }

    #[test]
    fn everything_outside_the_project_is_kept_in_one_tree_by_its_path() {
        assert_eq!(
            Setting::upper_of(Path::new("/l"), Path::new("/home/u")),
            Path::new("/l/outside/upper/home/u")
        );
    }
}
