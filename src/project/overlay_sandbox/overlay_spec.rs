//! Specification of an overlay sandbox, as passed to the processes that set it up.

use super::setup_error::{SetupError, SetupStep};
use crate::project::rehearsal::{OUTSIDE_FOLDER, UPPER};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Argument of `guard` that requests an overlay sandbox.
pub const OVERLAY_ARGUMENT: &str = "--stage";
/// The same for the process that already runs in its namespaces.
pub const IN_OVERLAY_ARGUMENT: &str = "--on-stage";

const FOLDER: &str = "--folder";
const LAYER: &str = "--layer";
const PLACE: &str = "--place";
const PRIVATE: &str = "--private";
const KEEP: &str = "--keep";
const HIDE: &str = "--hide";
const EMPTY: &str = "--empty";
const MEMORY: &str = "--memory";
const LIVE: &str = "--live";
/// Number of bytes of paths that follow over the lifeline.
const PATHS: &str = "--paths=";

/// Specification of an overlay sandbox. All paths are absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OverlaySpec {
    pub folder: PathBuf,
    /// Folder of the overlays.
    pub overlay_folder: PathBuf,
    /// Folders outside the project that also get overlays, outer folders before inner ones.
    pub places: Vec<WritablePlace>,
    /// aye's own folders and files, which are hidden.
    pub own_paths: Vec<PathBuf>,
    /// Files that cannot be read: aye's keys.
    pub unreadable: Vec<PathBuf>,
    /// Folders that exist but are empty, such as the home.
    pub empty: Vec<PathBuf>,
    /// Memory limit of all processes together, in bytes. `None` means half of the machine's memory.
    pub memory: Option<u64>,
    /// True if the whole disk is visible, read-only.
    pub shows_whole_disk: bool,
    /// Files and folders outside the project that are visible, read-only, in addition to the system's programs.
    pub visible: Vec<PathBuf>,
    pub masked: Vec<PathBuf>,
}

/// A folder outside the project that commands write in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WritablePlace {
    pub path: PathBuf,
    /// True if the folder shows the content of the disk. Otherwise it starts empty.
    pub shows_disk: bool,
}

impl OverlaySpec {
    /// Returns the folder of the changes outside the project: each file and folder at its absolute path.
    pub fn outside_upper(layer: &Path) -> PathBuf {
        layer.join(OUTSIDE_FOLDER).join(UPPER)
    }

    /// Returns the folder of the changes at or below `place`, a folder outside the project.
    pub fn place_upper(layer: &Path, place: &Path) -> PathBuf {
        Self::outside_upper(layer).join(place.strip_prefix("/").unwrap_or(place))
    }

    /// Sets the places: only existing folders outside the project, each once.
    pub fn with_places(mut self, places: impl IntoIterator<Item = WritablePlace>) -> Self {
        let is_device = |path: &Path| ["/dev", "/proc", "/sys"].iter().any(|of| path.starts_with(of));
        let real = places.into_iter().filter_map(|WritablePlace { path, shows_disk }| {
            Some(WritablePlace { path: path.canonicalize().ok()?, shows_disk })
        });
        let mut real: Vec<WritablePlace> = real
            .filter(|WritablePlace { path, .. }| path.is_dir() && path.parent().is_some())
            .filter(|WritablePlace { path, .. }| !is_device(path) && !path.starts_with(&self.folder))
            .collect();
        real.sort();
        // Of two entries for one folder, the one that shows less sorts first.
        real.dedup_by(|one, other| one.path == other.path);
        self.places = real;
        self
    }

    /// Returns the places that need an overlay of their own. A nested place needs one only if it shows the disk and the
    /// outer one does not, or the reverse; otherwise its files are kept in the outer overlay.
    pub fn overlay_places(&self) -> impl Iterator<Item = &WritablePlace> {
        let covers = |outer: &WritablePlace, inner: &WritablePlace| {
            let is_same = self.shows_whole_disk || outer.shows_disk == inner.shows_disk;
            let parts = |between: &PathBuf| {
                between != &inner.path && inner.path.starts_with(between) && between.starts_with(&outer.path)
            };
            let is_place = |path: &PathBuf| self.places.iter().any(|place| place.path == *path);
            let mut others = self.empty.iter().chain(&self.own_paths).filter(|path| !is_place(path));
            let is_in = outer.path != inner.path && inner.path.starts_with(&outer.path);
            is_same && is_in && !others.any(parts)
        };
        self.places.iter().filter(move |inner| !self.places.iter().any(|outer| covers(outer, inner)))
    }

    /// Encodes the specification: the arguments, of which the first is `role`, and the bytes sent over the lifeline.
    pub fn to_arguments(&self, role: &str) -> (Vec<OsString>, Vec<u8>) {
        let one = |name: &str, path: &Path| [OsString::from(name), path.into()];
        let mut words = vec![OsString::from(role)];
        words.extend(one(FOLDER, &self.folder));
        words.extend(one(LAYER, &self.overlay_folder));
        for place in &self.places {
            words.extend(one(if place.shows_disk { PLACE } else { PRIVATE }, &place.path));
        }
        for (name, paths) in [(KEEP, &self.own_paths), (HIDE, &self.unreadable), (EMPTY, &self.empty)] {
            words.extend(paths.iter().flat_map(|path| one(name, path)));
        }
        words.extend(self.memory.iter().flat_map(|bytes| [MEMORY.into(), bytes.to_string().into()]));
        words.extend(self.shows_whole_disk.then(|| LIVE.into()));
        let mut bytes = Vec::new();
        for (kind, paths) in [(b's', &self.visible), (b'm', &self.masked)] {
            for path in paths {
                bytes.push(kind);
                bytes.extend(path.as_os_str().as_bytes());
                bytes.push(0);
            }
        }
        words.push(format!("{PATHS}{}", bytes.len()).into());
        (words, bytes)
    }

    /// Parses the arguments after the role. `list` reads so many bytes from the lifeline. Fails if an argument is
    /// invalid: no command runs in a partial overlay sandbox.
    pub fn parse_arguments(
        words: impl IntoIterator<Item = OsString>,
        list: impl FnOnce(usize) -> io::Result<Vec<u8>>,
    ) -> Result<Self, SetupError> {
        let garbled = SetupError { step: SetupStep::Specification, errno: 0 };
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
                setting.shows_whole_disk = true;
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
                LAYER => setting.overlay_folder = path,
                PLACE => setting.places.push(WritablePlace { path, shows_disk: true }),
                PRIVATE => setting.places.push(WritablePlace { path, shows_disk: false }),
                KEEP => setting.own_paths.push(path),
                HIDE => setting.unreadable.push(path),
                EMPTY => setting.empty.push(path),
                _ => return Err(garbled),
            }
        }
        let bytes = list(count.ok_or(garbled)?).map_err(SetupError::at_step(SetupStep::Specification))?;
        for word in bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty()) {
            let path = absolute(OsStr::from_bytes(&word[1..]).into())?;
            match word[0] {
                b's' => setting.visible.push(path),
                b'm' => setting.masked.push(path),
                _ => return Err(garbled),
            }
        }
        let whole = setting.folder.is_absolute() && setting.overlay_folder.is_absolute();
        if whole { Ok(setting) } else { Err(garbled) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    fn new_place(path: impl Into<PathBuf>, shows_disk: bool) -> WritablePlace {
        WritablePlace { path: path.into(), shows_disk }
    }

    #[test]
    fn r30_specification_survives_a_round_trip_and_rejects_truncation() {
        let odd = PathBuf::from(OsString::from_vec(b"/a \n,:\\\xff--folder".to_vec()));
        let setting = OverlaySpec {
            folder: odd.clone(),
            overlay_folder: "/l".into(),
            places: vec![new_place("/home/a", true), new_place(&odd, false)],
            own_paths: vec!["/--hide".into()],
            unreadable: vec!["/k".into()],
            empty: vec!["/home/b".into()],
            memory: Some(1 << 30),
            shows_whole_disk: true,
            visible: vec!["/opt/x".into(), odd.clone()],
            masked: vec![odd.join(".env")],
        };
        let (words, bytes) = setting.to_arguments(OVERLAY_ARGUMENT);
        assert_eq!(words[0], OVERLAY_ARGUMENT);
        let read = |words: &[OsString], bytes: &[u8]| {
            let bytes = bytes.to_vec();
            OverlaySpec::parse_arguments(words.iter().skip(1).cloned(), move |count| {
                bytes.get(..count).map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
            })
        };
        assert_eq!(read(&words, &bytes), Ok(setting));
        assert!(read(&words, &bytes[1..]).is_err(), "truncated");
        assert!(read(&words[..words.len() - 1], &bytes).is_err(), "the list is missing");
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
    fn each_place_gets_one_overlay_and_none_inside_the_project() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().canonicalize().unwrap().join(path);
        for folder in ["home/project/in", "home/tmp", "home/shown", "other"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        std::os::unix::fs::symlink(at("home"), at("link")).unwrap();
        let names = ["home/project/in", "link", "home/tmp", "other", "none"].map(at);
        let private = names.into_iter().chain(["/dev/shm".into(), "/".into()]).map(|path| new_place(path, false));
        let shown = [new_place(at("home/shown"), true), new_place(at("other"), true)];
        let setting = OverlaySpec { folder: at("home/project"), ..OverlaySpec::default() };
        let setting = setting.with_places(private.chain(shown));
        let found: Vec<WritablePlace> = setting.overlay_places().cloned().collect();
        assert_eq!(
            found,
            [new_place(at("home"), false), new_place(at("home/shown"), true), new_place(at("other"), false)]
        );
    }

    #[test]
    fn changes_outside_the_project_are_kept_by_absolute_path() {
        assert_eq!(
            OverlaySpec::place_upper(Path::new("/l"), Path::new("/home/u")),
            Path::new("/l/outside/upper/home/u")
        );
    }
}
