//! Why there is no overlay sandbox: which step failed, with the real cause and the setting that would change it.

use rustix::io::Errno;
use std::io;

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
    /// Making a root of its own.
    Root,
    /// Closing what may hold secrets.
    Masks,
}

impl Step {
    const ALL: [Self; 14] = [
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
        Self::Root,
        Self::Masks,
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
            Self::Root => "it can have no root of its own",
            Self::Masks => "files that may hold secrets cannot be closed in it",
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
        let value = |name: &str| {
            let path = format!("/proc/sys/{}", name.replace('.', "/"));
            Some(std::fs::read_to_string(path).ok()?.trim().to_owned())
        };
        if let Some(cause) = self.cause(value) {
            return f.write_str(&cause);
        }
        f.write_str(self.step.words())?;
        match self.errno {
            0 => Ok(()),
            errno => write!(f, " ({})", io::Error::from_raw_os_error(errno.into())),
        }
    }
}

/// The limits of what the namespaces of an overlay sandbox are counted by, with the words for them.
const LIMITS: [(&str, &str); 6] = [
    ("user.max_user_namespaces", "user namespaces"),
    ("user.max_mnt_namespaces", "mount namespaces"),
    ("user.max_pid_namespaces", "process namespaces"),
    ("user.max_ipc_namespaces", "IPC namespaces"),
    ("user.max_uts_namespaces", "host name namespaces"),
    ("user.max_net_namespaces", "network namespaces"),
];

impl Unstaged {
    /// Finds the setting of the system that is why, and says how to change it; `value` reads one, such as
    /// `user.max_user_namespaces`. `None` if none is known to be.
    fn cause(self, value: impl Fn(&str) -> Option<String>) -> Option<String> {
        let is = |errno: Errno| i32::from(self.errno) == errno.raw_os_error();
        let is_step = |steps: &[Step]| steps.contains(&self.step);
        let making = is_step(&[Step::Namespaces, Step::Person]);
        let mounting = is_step(&[
            Step::Overlay,
            Step::Closing,
            Step::Devices,
            Step::Processes,
            Step::Places,
            Step::Root,
            Step::Masks,
        ]);
        let reached = |what: &str, name: &str, value: &str| {
            format!("the limit of {what} is reached ({name} = {value}). Raise it with `sysctl`")
        };
        if making && is(Errno::NOSPC) {
            let known = LIMITS.map(|(name, what)| (name, what, value(name)));
            let at_zero = known.iter().find(|(_, _, value)| value.as_deref() == Some("0"));
            let (name, what, value) = at_zero.or(known.iter().find(|(_, _, value)| value.is_some()))?;
            return Some(reached(what, name, value.as_deref()?));
        }
        // The disk of the layer is asked for room by the overlay alone.
        if mounting && self.step != Step::Overlay && is(Errno::NOSPC) {
            return Some(reached("mounts", "fs.mount-max", &value("fs.mount-max")?));
        }
        if (making || mounting) && (is(Errno::PERM) || is(Errno::ACCESS)) {
            let forbids = [
                ("kernel.unprivileged_userns_clone", "0", "1"),
                ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
            ];
            let (name, is, wanted) =
                forbids.into_iter().find(|(name, forbidden, _)| value(name).as_deref() == Some(forbidden))?;
            return Some(format!(
                "this system lets no ordinary user make namespaces ({name} = {is}). Allow it with `sysctl {name}={wanted}`"
            ));
        }
        None
    }

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

    #[test]
    fn every_reason_has_bytes_and_words_of_its_own() {
        for step in Step::ALL {
            let why = Unstaged { step, errno: 1 };
            let [at, errno] = why.bytes();
            assert_eq!(Unstaged::of(at, errno), why);
            assert!(Unstaged { step, errno: 22 }.to_string().ends_with("(Invalid argument (os error 22))"));
        }
    }

    #[test]
    fn the_setting_of_the_system_that_is_why_is_named_with_what_to_do() {
        let said = |step, errno: Errno, system: &[(&str, &str)]| {
            let value = |name: &str| {
                system.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            };
            let errno = u8::try_from(errno.raw_os_error()).unwrap();
            Unstaged { step, errno }.cause(value)
        };
        let plain = [
            ("user.max_user_namespaces", "96365"),
            ("user.max_mnt_namespaces", "96365"),
            ("user.max_pid_namespaces", "96365"),
            ("fs.mount-max", "100000"),
            ("kernel.unprivileged_userns_clone", "1"),
            ("kernel.apparmor_restrict_unprivileged_userns", "0"),
        ];
        let with = |name: &str, value: &'static str| {
            plain.map(|(known, old)| (known, if known == name { value } else { old }))
        };
        let check = |step, errno, system: &[(&str, &str)], expected: &str| {
            assert_eq!(said(step, errno, system).as_deref(), Some(expected));
        };
        check(
            Step::Namespaces,
            Errno::NOSPC,
            &with("user.max_user_namespaces", "0"),
            "the limit of user namespaces is reached (user.max_user_namespaces = 0). Raise it with `sysctl`",
        );
        check(
            Step::Namespaces,
            Errno::NOSPC,
            &with("user.max_mnt_namespaces", "0"),
            "the limit of mount namespaces is reached (user.max_mnt_namespaces = 0). Raise it with `sysctl`",
        );
        check(
            Step::Namespaces,
            Errno::NOSPC,
            &plain,
            "the limit of user namespaces is reached (user.max_user_namespaces = 96365). Raise it with `sysctl`",
        );
        check(
            Step::Places,
            Errno::NOSPC,
            &with("fs.mount-max", "10"),
            "the limit of mounts is reached (fs.mount-max = 10). Raise it with `sysctl`",
        );
        check(
            Step::Namespaces,
            Errno::PERM,
            &with("kernel.unprivileged_userns_clone", "0"),
            "this system lets no ordinary user make namespaces (kernel.unprivileged_userns_clone = 0). Allow it with `sysctl kernel.unprivileged_userns_clone=1`",
        );
        for step in [Step::Person, Step::Root, Step::Overlay] {
            check(
                step,
                Errno::ACCESS,
                &with("kernel.apparmor_restrict_unprivileged_userns", "1"),
                "this system lets no ordinary user make namespaces (kernel.apparmor_restrict_unprivileged_userns = 1). Allow it with `sysctl kernel.apparmor_restrict_unprivileged_userns=0`",
            );
        }
        for (step, errno) in [
            (Step::Overlay, Errno::NOSPC),
            (Step::Layer, Errno::NOSPC),
            (Step::Namespaces, Errno::PERM),
            (Step::Overlay, Errno::INVAL),
            (Step::Told, Errno::PERM),
        ] {
            assert_eq!(said(step, errno, &plain), None, "{step:?} {errno}");
        }
        // No limit of namespaces or mounts is a disk without room.
        assert!(!Unstaged { step: Step::Namespaces, errno: 28 }.is_full());
        assert!(!Unstaged { step: Step::Places, errno: 28 }.is_full());
        assert!(Unstaged { step: Step::Overlay, errno: 28 }.is_full());
    }
}
