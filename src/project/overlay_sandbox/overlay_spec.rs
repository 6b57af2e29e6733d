//! Specification of an overlay sandbox, as passed to the processes that set it up.

use super::setup_error::{SetupError, SetupStep};
use crate::project::rehearsal::{OUTSIDE_FOLDER, UPPER};
use crate::project::spec_encoding::{self, Paths, absolute_path, absolute_paths};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Argument of `guard` that requests an overlay sandbox.
pub const OVERLAY_ARGUMENT: &str = "--overlay-sandbox";
/// The same for the process that already runs in its namespaces.
pub const IN_OVERLAY_ARGUMENT: &str = "--in-overlay-sandbox";

/// Specification of an overlay sandbox. All paths are absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverlaySpec {
    /// Folder of the project.
    #[serde(with = "absolute_path")]
    pub folder: PathBuf,
    /// Folder of the overlays.
    #[serde(with = "absolute_path")]
    pub overlay_folder: PathBuf,
    /// Folders outside the project that also get overlays, outer folders before inner ones.
    pub places: Vec<WritablePlace>,
    /// aye's own folders and files, which are hidden.
    #[serde(with = "absolute_paths")]
    pub own_paths: Vec<PathBuf>,
    /// Files that cannot be read: aye's keys.
    #[serde(with = "absolute_paths")]
    pub unreadable: Vec<PathBuf>,
    /// Folders that exist but are empty, such as the home.
    #[serde(with = "absolute_paths")]
    pub empty: Vec<PathBuf>,
    /// Memory limit of all processes together, in bytes. `None` means the default.
    pub memory: Option<u64>,
    /// True if the whole disk is visible, read-only.
    pub shows_whole_disk: bool,
    /// Files and folders outside the project that are visible, read-only, in addition to the system's programs.
    #[serde(skip)]
    pub visible: Vec<PathBuf>,
    /// Files and folders that may hold secrets and cannot be opened.
    #[serde(skip)]
    pub masked: Vec<PathBuf>,
}

/// A folder outside the project that commands write in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct WritablePlace {
    #[serde(with = "absolute_path")]
    pub path: PathBuf,
    /// True if the folder shows the content of the disk. Otherwise it starts empty.
    pub shows_disk: bool,
}

impl OverlaySpec {
    /// Returns the folder of the changes outside the project: each file and folder at its absolute path.
    pub fn outside_upper(overlay_folder: &Path) -> PathBuf {
        overlay_folder.join(OUTSIDE_FOLDER).join(UPPER)
    }

    /// Returns the folder of the changes at or below `place`, a folder outside the project.
    pub fn place_upper(overlay_folder: &Path, place: &Path) -> PathBuf {
        Self::outside_upper(overlay_folder).join(place.strip_prefix("/").unwrap_or(place))
    }

    /// Sets the places: only existing folders outside the project, each once.
    pub fn with_places(mut self, places: impl IntoIterator<Item = WritablePlace>) -> Self {
        let is_device = |path: &Path| ["/dev", "/proc", "/sys"].iter().any(|folder| path.starts_with(folder));
        let real = places.into_iter().filter_map(|WritablePlace { path, shows_disk }| {
            Some(WritablePlace { path: path.canonicalize().ok()?, shows_disk })
        });
        let mut real: Vec<WritablePlace> = real
            .filter(|WritablePlace { path, .. }| path.is_dir() && path.parent().is_some())
            .filter(|WritablePlace { path, .. }| !is_device(path) && !path.starts_with(&self.folder))
            .collect();
        real.sort();
        // Of two entries for one folder, the one that shows less sorts first.
        real.dedup_by(|later, earlier| later.path == earlier.path);
        self.places = real;
        self
    }

    /// Returns the places that need an overlay of their own. A nested place needs one only if an empty or hidden folder
    /// lies between it and the outer one, or if only one of the two shows the disk, unless the whole disk is visible.
    /// Otherwise its files are kept in the outer overlay.
    pub fn overlay_places(&self) -> impl Iterator<Item = &WritablePlace> {
        let covers = |outer: &WritablePlace, inner: &WritablePlace| {
            let is_same_kind = self.shows_whole_disk || outer.shows_disk == inner.shows_disk;
            let separates = |between: &PathBuf| {
                between != &inner.path && inner.path.starts_with(between) && between.starts_with(&outer.path)
            };
            let is_place = |path: &PathBuf| self.places.iter().any(|place| place.path == *path);
            let mut folders_between = self.empty.iter().chain(&self.own_paths).filter(|path| !is_place(path));
            let is_nested = outer.path != inner.path && inner.path.starts_with(&outer.path);
            is_same_kind && is_nested && !folders_between.any(separates)
        };
        self.places.iter().filter(move |inner| !self.places.iter().any(|outer| covers(outer, inner)))
    }

    /// Encodes the specification as arguments, the first being `role`, and the frame sent over the lifeline, the socket
    /// between aye and the guard.
    pub fn to_arguments(&self, role: &str) -> (Vec<OsString>, Vec<u8>) {
        let sent_paths = (Paths(self.visible.clone()), Paths(self.masked.clone()));
        (vec![role.into(), spec_encoding::to_argument(self)], spec_encoding::to_frame(&sent_paths))
    }

    /// Decodes the argument after the role, without the paths sent over the lifeline. Fails if it is invalid: no command
    /// runs in a partial overlay sandbox.
    pub fn from_argument(argument: Option<OsString>) -> Result<Self, SetupError> {
        spec_encoding::from_argument(argument).ok_or(MALFORMED)
    }

    /// Adds the paths sent over the lifeline.
    pub fn with_sent_paths(self, lifeline: impl Read) -> Result<Self, SetupError> {
        let (Paths(visible), Paths(masked)) = spec_encoding::from_frame(lifeline).ok_or(MALFORMED)?;
        Ok(Self { visible, masked, ..self })
    }
}

const MALFORMED: SetupError = SetupError { step: SetupStep::Specification, errno: 0 };

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    fn new_place(path: impl Into<PathBuf>, shows_disk: bool) -> WritablePlace {
        WritablePlace { path: path.into(), shows_disk }
    }

    #[test]
    fn r30_specification_survives_a_round_trip_and_rejects_truncation() {
        let odd_path = PathBuf::from(OsString::from_vec(b"/a \n,:\\\xff--folder".to_vec()));
        let spec = OverlaySpec {
            folder: odd_path.clone(),
            overlay_folder: "/l".into(),
            places: vec![new_place("/home/a", true), new_place(&odd_path, false)],
            own_paths: vec!["/--hide".into()],
            unreadable: vec!["/k".into()],
            empty: vec!["/home/b".into()],
            memory: Some(1 << 30),
            shows_whole_disk: true,
            visible: vec!["/opt/x".into(), odd_path.clone()],
            masked: vec![odd_path.join(".env")],
        };
        let (mut arguments, frame) = spec.to_arguments(OVERLAY_ARGUMENT);
        assert_eq!(arguments[0], OVERLAY_ARGUMENT);
        let argument = arguments.pop().and_then(|argument| argument.into_string().ok()).unwrap();
        let parse = |argument: &str, frame: &[u8]| {
            OverlaySpec::from_argument(Some(argument.into())).and_then(|spec| spec.with_sent_paths(frame))
        };
        assert_eq!(parse(&argument, &frame), Ok(spec));
        assert_eq!(OverlaySpec::from_argument(None), Err(MALFORMED));
        for invalid in [
            String::new(),
            "{}".to_owned(),
            argument[..argument.len() - 1].to_owned(),
            argument.replace("/l", "l"),
            argument.replace("/k", "k"),
            argument.replace("/home/a", "home/a"),
            argument.replace("1073741824", "\"much\""),
            argument.replace("places", "palces"),
        ] {
            assert_ne!(invalid, argument);
            assert_eq!(parse(&invalid, &frame), Err(MALFORMED), "{invalid}");
        }
        assert!(parse(&argument, &[&frame[..], b"T"].concat()).is_ok(), "the next bytes on the lifeline are not read");
        let too_long = [&u64::MAX.to_le_bytes()[..], &frame[8..]].concat();
        let relative = spec_encoding::to_frame(&(["opt"], ["/m"]));
        for invalid in [&frame[1..], &frame[..frame.len() - 1], &[], &too_long, &relative] {
            assert_eq!(parse(&argument, invalid), Err(MALFORMED));
        }
    }

    #[test]
    fn each_place_gets_one_overlay_and_none_inside_the_project() {
        let root = tempfile::tempdir().unwrap();
        let path_to = |path: &str| root.path().canonicalize().unwrap().join(path);
        for folder in ["home/project/in", "home/tmp", "home/shown", "other"] {
            std::fs::create_dir_all(path_to(folder)).unwrap();
        }
        std::os::unix::fs::symlink(path_to("home"), path_to("link")).unwrap();
        let names = ["home/project/in", "link", "home/tmp", "other", "none"].map(path_to);
        let private_places =
            names.into_iter().chain(["/dev/shm".into(), "/".into()]).map(|path| new_place(path, false));
        let disk_places = [new_place(path_to("home/shown"), true), new_place(path_to("other"), true)];
        let spec = OverlaySpec { folder: path_to("home/project"), ..OverlaySpec::default() };
        let spec = spec.with_places(private_places.chain(disk_places));
        let overlay_places: Vec<WritablePlace> = spec.overlay_places().cloned().collect();
        assert_eq!(
            overlay_places,
            [
                new_place(path_to("home"), false),
                new_place(path_to("home/shown"), true),
                new_place(path_to("other"), false)
            ]
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
