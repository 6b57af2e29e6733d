//! System paths that every sandboxed command may read: programs, their libraries, and files they need to start.

/// Folders of the system's programs and libraries. Some are links to others of them.
pub const PROGRAMS: [&str; 12] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/snap",
    "/home/linuxbrew/.linuxbrew",
    "/run/current-system",
];
/// Subfolders of these that stay closed: they hold settings of the administrator and data of other programs.
pub const CLOSED_SUBFOLDERS: [&str; 4] =
    ["/usr/local/etc", "/usr/local/var", "/usr/etc", "/home/linuxbrew/.linuxbrew/etc"];

/// Single files that programs need to start or to show names, times and sizes. None contains user data.
pub const FILES: [&str; 29] = [
    "/etc/ld.so.cache",
    "/etc/ld.so.preload",
    "/etc/ld-musl-x86_64.path",
    "/etc/ld-musl-aarch64.path",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/locale.conf",
    "/etc/default/locale",
    "/etc/passwd",
    "/etc/group",
    "/etc/nsswitch.conf",
    "/etc/magic",
    "/etc/magic.mime",
    "/etc/mime.types",
    "/etc/os-release",
    "/etc/debian_version",
    "/etc/lsb-release",
    "/etc/hostname",
    "/proc/meminfo",
    "/proc/uptime",
    "/proc/loadavg",
    "/proc/stat",
    "/proc/version",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/ngroups_max",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu/online",
];

/// Additional paths for builds: CA certificates, `/etc/hosts` and port names, and settings of compilers, terminals and
/// fonts. They contain no private keys, passwords or login targets.
pub const BUILD_PATHS: [&str; 34] = [
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ssl/certs",
    "/etc/ssl/cert.pem",
    "/etc/ssl/openssl.cnf",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/openssl.cnf",
    "/etc/pki/ca-trust",
    "/etc/pki/java",
    "/etc/crypto-policies",
    "/etc/alternatives",
    "/etc/terminfo",
    "/etc/fonts",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/networks",
    "/etc/gai.conf",
    "/etc/shells",
    "/etc/inputrc",
    "/etc/papersize",
    "/etc/mailcap",
    "/etc/mke2fs.conf",
    "/etc/perl",
    "/etc/python3",
    "/etc/maven/m2.conf",
    "/etc/maven/logging",
    "/etc/sgml",
    "/etc/xml",
    "/etc/texmf",
];

/// Parts of `/sys` with the number of processors and the size of pages.
pub const HARDWARE_PATHS: [&str; 3] =
    ["/sys/devices/system/cpu", "/sys/devices/system/node", "/sys/kernel/mm/transparent_hugepage"];
