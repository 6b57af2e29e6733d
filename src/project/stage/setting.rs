//! What a stage is made of, as the processes that set it are told, and what can be in its way.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// The word behind `guard` that asks for a stage.
pub const STAGE: &str = "--stage";
/// The same for the process that is within it already.
pub const ON_STAGE: &str = "--on-stage";

const FOLDER: &str = "--folder";
const LAYER: &str = "--layer";
const PLACE: &str = "--place";
const KEEP: &str = "--keep";
const HIDE: &str = "--hide";
const MEMORY: &str = "--memory";

/// What a stage is made of. All paths are absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setting {
    /// The project.
    pub folder: PathBuf,
    /// Where the layers are kept.
    pub layer: PathBuf,
    /// Folders beside the project that get layers too; outer ones before those in them.
    pub places: Vec<PathBuf>,
    /// aye's own folders, which are empty on the stage.
    pub keep: Vec<PathBuf>,
    /// Files that are not read: aye's keys.
    pub hide: Vec<PathBuf>,
    /// Bytes of memory that everything on it may take together; half of what the machine has where it is not said.
    pub memory: Option<u64>,
}

impl Setting {
    /// Of the places those that need a layer of their own: folders that are there, each once, and not in the project. One
    /// in another has its own too: the way to it need not be the person's.
    pub fn new(
        folder: PathBuf,
        layer: PathBuf,
        places: Vec<PathBuf>,
        keep: Vec<PathBuf>,
        hide: Vec<PathBuf>,
    ) -> Self {
        let is_device = |place: &PathBuf| ["/dev", "/proc", "/sys"].iter().any(|of| place.starts_with(of));
        let real = places.iter().filter_map(|place| place.canonicalize().ok());
        let mut real: Vec<PathBuf> = real
            .filter(|place| place.is_dir() && place.parent().is_some())
            .filter(|place| !is_device(place) && !place.starts_with(&folder))
            .collect();
        real.sort();
        real.dedup();
        let places = real;
        Self { folder, layer, places, keep, hide, memory: None }
    }

    /// As the processes are told of it; `role` is [`STAGE`] or [`ON_STAGE`].
    pub fn arguments(&self, role: &str) -> Vec<OsString> {
        let one = |name: &str, path: &Path| [OsString::from(name), path.into()];
        let mut words = vec![OsString::from(role)];
        words.extend(one(FOLDER, &self.folder));
        words.extend(one(LAYER, &self.layer));
        for (name, paths) in [(PLACE, &self.places), (KEEP, &self.keep), (HIDE, &self.hide)] {
            words.extend(paths.iter().flat_map(|path| one(name, path)));
        }
        words.extend(self.memory.iter().flat_map(|bytes| [MEMORY.into(), bytes.to_string().into()]));
        words
    }

    /// Reads what follows the role. An error where the words make no sense: no command runs on half a stage.
    pub fn read(words: impl IntoIterator<Item = OsString>) -> Result<Self, Unstaged> {
        let garbled = Unstaged { step: Step::Told, errno: 0 };
        let mut words = words.into_iter();
        let mut setting = Self::default();
        while let Some(word) = words.next() {
            if word == MEMORY {
                let bytes = words.next().and_then(|bytes| bytes.to_str()?.parse().ok());
                setting.memory = Some(bytes.ok_or(garbled)?);
                continue;
            }
            let path = words.next().map(PathBuf::from).filter(|path| path.is_absolute()).ok_or(garbled)?;
            match word.to_str() {
                Some(FOLDER) => setting.folder = path,
                Some(LAYER) => setting.layer = path,
                Some(PLACE) => setting.places.push(path),
                Some(KEEP) => setting.keep.push(path),
                Some(HIDE) => setting.hide.push(path),
                Some(_) | None => return Err(garbled),
            }
        }
        let whole = setting.folder.is_absolute() && setting.layer.is_absolute();
        if whole { Ok(setting) } else { Err(garbled) }
    }
}

/// What is done for a stage, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Understanding what it is made of.
    Told,
    /// Making the folders of the layer.
    Layer,
    /// Leaving the system's namespaces.
    Namespaces,
    /// Saying who is who in the new one.
    Person,
    /// The project is a file system's root, or holds another one.
    Project,
    /// Laying the layer over the project.
    Overlay,
    /// Making all else read-only.
    Closing,
    /// Devices.
    Devices,
    /// Processes.
    Processes,
    /// Putting the layers in their places.
    Places,
    /// Limits.
    Bounds,
    /// Starting its first process.
    First,
}

impl Step {
    const ALL: [Self; 12] = [
        Self::Told,
        Self::Layer,
        Self::Namespaces,
        Self::Person,
        Self::Project,
        Self::Overlay,
        Self::Closing,
        Self::Devices,
        Self::Processes,
        Self::Places,
        Self::Bounds,
        Self::First,
    ];

    fn words(self) -> &'static str {
        match self {
            Self::Told => "what it is made of was not understood",
            Self::Layer => "the folders of its layer cannot be made",
            Self::Namespaces => "this system lets nobody make the namespaces it takes",
            Self::Person => "this system does not say who is who in a user namespace",
            Self::Project => "the project is a whole file system, or holds another one",
            Self::Overlay => "no layer can be laid over the project's file system",
            Self::Closing => "the rest of the disk cannot be made read-only; that takes Linux 5.12 or newer",
            Self::Devices => "it can have no devices of its own",
            Self::Processes => "it can have no list of processes of its own",
            Self::Places => "its layers cannot be put in their places",
            Self::Bounds => "its limits cannot be set",
            Self::First => "its first process cannot be started",
        }
    }
}

/// Why there is no stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unstaged {
    /// What could not be done.
    pub step: Step,
    /// The system's number for why; 0 where it gave none.
    pub errno: u8,
}

impl std::error::Error for Unstaged {}

impl std::fmt::Display for Unstaged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.step.words())?;
        match self.errno {
            0 => Ok(()),
            errno => write!(f, " ({})", io::Error::from_raw_os_error(errno.into())),
        }
    }
}

impl Unstaged {
    /// That this could not be done, for this reason.
    pub fn at(step: Step) -> impl FnOnce(io::Error) -> Self {
        move |error| {
            let errno = error.raw_os_error().and_then(|code| u8::try_from(code).ok());
            Self { step, errno: errno.unwrap_or(0) }
        }
    }

    /// Whether the layer's disk has no room for it, which passes. Where the system lets nobody make one more namespace, or
    /// mount, it has the same word.
    pub fn is_full(self) -> bool {
        matches!(self.step, Step::Layer | Step::Overlay)
            && crate::project::is_full(&io::Error::from_raw_os_error(self.errno.into()))
    }

    /// Its two bytes on the guard's lifeline.
    pub fn bytes(self) -> [u8; 2] {
        let at = Step::ALL.iter().position(|step| *step == self.step);
        [at.and_then(|at| u8::try_from(at).ok()).unwrap_or(0), self.errno]
    }

    /// The one of these bytes.
    pub fn of(step: u8, errno: u8) -> Self {
        Self { step: Step::ALL.get(usize::from(step)).copied().unwrap_or(Step::Told), errno }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn r30_a_setting_is_read_as_it_was_written_and_never_as_less() {
        let odd = PathBuf::from(OsString::from_vec(b"/a \n,:\\\xff--folder".to_vec()));
        let setting = Setting {
            folder: odd.clone(),
            layer: "/l".into(),
            places: vec!["/home/a".into(), odd],
            keep: vec!["/--hide".into()],
            hide: vec!["/k".into()],
            memory: Some(1 << 30),
        };
        let words = setting.arguments(STAGE);
        assert_eq!(words[0], STAGE);
        assert_eq!(Setting::read(words.into_iter().skip(1)), Ok(setting));
        for words in [
            &[][..],
            &["--folder", "/p"],
            &["--layer", "/l"],
            &["--folder", "p", "--layer", "/l"],
            &["--folder", "/p", "--layer", "/l", "--place"],
            &["--folder", "/p", "--layer", "/l", "--memory", "much"],
            &["--folder", "/p", "--layer", "/l", "--palce", "/x"],
        ] {
            let words = words.iter().map(OsString::from);
            assert!(Setting::read(words.clone()).is_err(), "{words:?}");
        }
    }

    #[test]
    fn a_place_gets_one_layer_and_none_in_the_project() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().canonicalize().unwrap().join(path);
        for folder in ["home/project/in", "home/tmp", "other"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        std::os::unix::fs::symlink(at("home"), at("link")).unwrap();
        let names = ["home/project/in", "link", "home/tmp", "other", "none"].map(at);
        let places = names.into_iter().chain(["/dev/shm".into(), "/".into()]).collect();
        let setting = Setting::new(at("home/project"), at("layer"), places, Vec::new(), Vec::new());
        assert_eq!(setting.places, [at("home"), at("home/tmp"), at("other")]);
    }

    #[test]
    fn every_reason_has_bytes_and_words_of_its_own() {
        for step in Step::ALL {
            let why = Unstaged { step, errno: 1 };
            let [at, errno] = why.bytes();
            assert_eq!(Unstaged::of(at, errno), why);
            assert!(why.to_string().ends_with("(Operation not permitted (os error 1))"), "{why}");
        }
    }
}
