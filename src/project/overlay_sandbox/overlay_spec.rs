//! Specification of an overlay sandbox, as passed to the processes that set it up.

use super::setup_error::{AtStep, SetupError, SetupStep};
use crate::project::rehearsal::{OUTSIDE_FOLDER, UPPER};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Argument of `guard` that requests an overlay sandbox.
pub const OVERLAY_ARGUMENT: &str = "--overlay-sandbox";
/// The same for the process that already runs in its namespaces.
pub const IN_OVERLAY_ARGUMENT: &str = "--in-overlay-sandbox";

const FOLDER: &str = "--folder";
const OVERLAY: &str = "--overlay";
const PLACE: &str = "--place";
const PRIVATE: &str = "--private";
const OWN: &str = "--keep";
const UNREADABLE: &str = "--hide";
const EMPTY: &str = "--empty";
const MEMORY: &str = "--memory";
const LIVE: &str = "--live";
/// Number of bytes of paths that follow over the lifeline.
const PATHS: &str = "--paths=";

/// Specification of an overlay sandbox. All paths are absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OverlaySpec {
    /// Folder of the project.
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
    /// Memory limit of all processes together, in bytes. `None` means the default.
    pub memory: Option<u64>,
    /// True if the whole disk is visible, read-only.
    pub shows_whole_disk: bool,
    /// Files and folders outside the project that are visible, read-only, in addition to the system's programs.
    pub visible: Vec<PathBuf>,
    /// Files and folders that may hold secrets and cannot be opened.
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

    /// Returns the places that need an overlay of their own. A nested place needs one only if it shows the disk and the
    /// outer one does not, or the reverse, or if an empty or hidden folder lies between them. Otherwise its files are
    /// kept in the outer overlay.
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

    /// Encodes the specification as arguments, the first being `role`, and the bytes sent over the lifeline.
    pub fn to_arguments(&self, role: &str) -> (Vec<OsString>, Vec<u8>) {
        let flag_and_path = |name: &str, path: &Path| [OsString::from(name), path.into()];
        let mut arguments = vec![OsString::from(role)];
        arguments.extend(flag_and_path(FOLDER, &self.folder));
        arguments.extend(flag_and_path(OVERLAY, &self.overlay_folder));
        for place in &self.places {
            arguments.extend(flag_and_path(if place.shows_disk { PLACE } else { PRIVATE }, &place.path));
        }
        for (name, paths) in [(OWN, &self.own_paths), (UNREADABLE, &self.unreadable), (EMPTY, &self.empty)] {
            arguments.extend(paths.iter().flat_map(|path| flag_and_path(name, path)));
        }
        arguments.extend(self.memory.iter().flat_map(|bytes| [MEMORY.into(), bytes.to_string().into()]));
        arguments.extend(self.shows_whole_disk.then(|| LIVE.into()));
        let mut bytes = Vec::new();
        for (kind, paths) in [(b's', &self.visible), (b'm', &self.masked)] {
            for path in paths {
                bytes.push(kind);
                bytes.extend(path.as_os_str().as_bytes());
                bytes.push(0);
            }
        }
        arguments.push(format!("{PATHS}{}", bytes.len()).into());
        (arguments, bytes)
    }

    /// Parses the arguments after the role. `read_list` reads that many bytes from the lifeline. Fails if an argument
    /// is invalid: no command runs in a partial overlay sandbox.
    pub fn parse_arguments(
        arguments: impl IntoIterator<Item = OsString>,
        read_list: impl FnOnce(usize) -> io::Result<Vec<u8>>,
    ) -> Result<Self, SetupError> {
        let malformed = SetupError { step: SetupStep::Specification, errno: 0 };
        let absolute = |path: PathBuf| if path.is_absolute() { Ok(path) } else { Err(malformed) };
        let mut arguments = arguments.into_iter();
        let mut spec = Self::default();
        let mut path_bytes = None;
        while let Some(argument) = arguments.next() {
            let name = argument.to_str().ok_or(malformed)?;
            if let Some(bytes) = name.strip_prefix(PATHS) {
                path_bytes = Some(bytes.parse().map_err(|_| malformed)?);
                continue;
            }
            if name == LIVE {
                spec.shows_whole_disk = true;
                continue;
            }
            let value = arguments.next().ok_or(malformed)?;
            if name == MEMORY {
                let bytes = value.to_str().and_then(|bytes| bytes.parse().ok());
                spec.memory = Some(bytes.ok_or(malformed)?);
                continue;
            }
            let path = absolute(value.into())?;
            match name {
                FOLDER => spec.folder = path,
                OVERLAY => spec.overlay_folder = path,
                PLACE => spec.places.push(WritablePlace { path, shows_disk: true }),
                PRIVATE => spec.places.push(WritablePlace { path, shows_disk: false }),
                OWN => spec.own_paths.push(path),
                UNREADABLE => spec.unreadable.push(path),
                EMPTY => spec.empty.push(path),
                _ => return Err(malformed),
            }
        }
        let bytes = read_list(path_bytes.ok_or(malformed)?).at_step(SetupStep::Specification)?;
        for entry in bytes.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
            let path = absolute(OsStr::from_bytes(&entry[1..]).into())?;
            match entry[0] {
                b's' => spec.visible.push(path),
                b'm' => spec.masked.push(path),
                _ => return Err(malformed),
            }
        }
        let is_complete = spec.folder.is_absolute() && spec.overlay_folder.is_absolute();
        if is_complete { Ok(spec) } else { Err(malformed) }
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
        let (arguments, bytes) = spec.to_arguments(OVERLAY_ARGUMENT);
        assert_eq!(arguments[0], OVERLAY_ARGUMENT);
        let parse = |arguments: &[OsString], bytes: &[u8]| {
            let bytes = bytes.to_vec();
            OverlaySpec::parse_arguments(arguments.iter().skip(1).cloned(), move |count| {
                bytes.get(..count).map(<[u8]>::to_vec).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
            })
        };
        assert_eq!(parse(&arguments, &bytes), Ok(spec));
        assert!(parse(&arguments, &bytes[1..]).is_err(), "truncated");
        assert!(parse(&arguments[..arguments.len() - 1], &bytes).is_err(), "the list is missing");
        for arguments in [
            &["", "--paths=0"][..],
            &["", "--folder", "/p", "--paths=0"],
            &["", "--overlay", "/l", "--paths=0"],
            &["", "--folder", "p", "--overlay", "/l", "--paths=0"],
            &["", "--folder", "/p", "--overlay", "/l", "--paths=0", "--place"],
            &["", "--folder", "/p", "--overlay", "/l", "--paths=0", "--memory", "much"],
            &["", "--folder", "/p", "--overlay", "/l", "--paths=0", "--palce", "/x"],
            &["", "--folder", "/p", "--overlay", "/l", "--paths=x"],
        ] {
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            assert!(parse(&arguments, b"").is_err(), "{arguments:?}");
        }
        let arguments = ["", "--folder", "/p", "--overlay", "/l", "--paths=3"].map(OsString::from);
        assert!(parse(&arguments, b"m/a").is_ok());
        assert!(parse(&arguments, b"x/a").is_err() && parse(&arguments, b"maa").is_err());
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
