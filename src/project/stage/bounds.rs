//! How much a command on the stage may take: processes, memory, the size of a file, and of the layer's disk.

use rustix::fs::{Mode, OFlags, StatVfs, openat, statvfs};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// Processes and threads at a time.
const PROCESSES: u64 = 1024;
/// Bytes of one file.
const FILE: u64 = 4 << 30;
/// Bytes that stay free on the layer's disk; where there were less than twice as many, half of those.
const FREE: u64 = 256 << 20;
/// Files that can still be made on the layer's disk at the least; if there were fewer than twice as many, half of those.
const FREE_FILES: u64 = 20_000;
/// Where files are in memory, and not on a disk.
const IN_MEMORY: [&str; 2] = ["/dev/shm", "/"];
/// Bytes of memory that a process shares from which on its part of them is asked for, which takes a while.
const MUCH: u64 = 16 << 20;
/// Bytes of a page: what is counted is rounded a little where pages are larger.
const PAGE: u64 = 4096;
/// Between one look at what is taken and the next.
const PACE: Duration = Duration::from_millis(100);

/// Sets what the kernel holds by itself, for this process and what it starts. `processes` is the stage's own `/proc`, not
/// yet read-only.
pub fn set(processes: &OwnedFd) -> io::Result<()> {
    let lower = |resource, most: u64| {
        let most = getrlimit(resource).maximum.map_or(most, |now| now.min(most));
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
    };
    lower(Resource::Core, 0)?;
    lower(Resource::Fsize, FILE)?;
    // Counted in the namespace of persons alone, and not for root.
    if !rustix::process::geteuid().is_root() {
        lower(Resource::Nproc, PROCESSES)?;
    }
    // Since this version the number is the namespace's own; before it would be the whole system's.
    if version() >= (6, 14) {
        let _ = write_at(processes, "sys/kernel/pid_max", &PROCESSES.to_string());
    }
    // Where the system runs out of memory it ends what is here first.
    let _ = write_at(processes, "self/oom_score_adj", "800");
    Ok(())
}

fn write_at(folder: &OwnedFd, path: &str, words: &str) -> io::Result<()> {
    let file = openat(folder, path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    fs::File::from(file).write_all(words.as_bytes())
}

/// The kernel's version.
fn version() -> (u32, u32) {
    let system = rustix::system::uname();
    let release = system.release().to_string_lossy().into_owned();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// What else is taken, looked at while the command runs; returns only when it is too much, with what to say of it.
/// `folder` has a layer over it.
pub fn watch(folder: &Path, memory: Option<u64>) -> String {
    let most = memory.unwrap_or_else(memory_at_most);
    let disk = || statvfs(folder).ok();
    let start = disk();
    let least = start.as_ref().map_or(0, |disk| FREE.min(free_bytes(disk) / 2));
    // Some file systems have as many files as one likes, and say that there are none.
    let least_files =
        start.filter(|disk| disk.f_files > 0).map_or(0, |disk| FREE_FILES.min(disk.f_favail / 2));
    loop {
        std::thread::sleep(PACE);
        let (count, memory) = taken();
        if count > PROCESSES {
            return format!("it had more than {PROCESSES} processes");
        }
        if memory > most {
            return format!("it took more than {} MB of memory", most >> 20);
        }
        let Some(disk) = disk() else { continue };
        if free_bytes(&disk) < least {
            return format!(
                "the disk that holds the layer gets full: less than {} are left on it",
                if least >> 20 > 0 { format!("{} MB", least >> 20) } else { format!("{} kB", least >> 10) }
            );
        }
        if disk.f_favail < least_files {
            return format!(
                "the disk that holds the layer gets full: fewer than {least_files} files can still be made on it"
            );
        }
    }
}

fn free_bytes(disk: &StatVfs) -> u64 {
    disk.f_bavail.saturating_mul(disk.f_frsize)
}

/// Half of what the machine has.
fn memory_at_most() -> u64 {
    let system = rustix::system::sysinfo();
    let bytes = (system.totalram as u64).saturating_mul(u64::from(system.mem_unit));
    (bytes / 2).max(512 << 20)
}

/// Processes, and the bytes that they hold: their own, those they share, and those of files in memory. What is counted twice, such as
/// a file in memory that is mapped too, ends a command earlier and never later.
fn taken() -> (u64, u64) {
    let (mut count, mut bytes) = (0, 0);
    let mut files = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        if !entry.file_name().as_encoded_bytes().first().is_some_and(u8::is_ascii_digit) {
            continue;
        }
        count += 1;
        bytes += alone(&entry.path()) * PAGE + shared(&entry.path());
        unmapped(&entry.path(), &mut files);
    }
    (count, bytes + files.values().sum::<u64>() + in_memory() + segments())
}

/// Pages of one process that are no file's.
fn alone(process: &Path) -> u64 {
    let text = fs::read_to_string(process.join("statm")).unwrap_or_default();
    let mut fields = text.split(' ').skip(1).map(|field| field.parse::<u64>().unwrap_or(0));
    let (resident, shared) = (fields.next().unwrap_or(0), fields.next().unwrap_or(0));
    resident.saturating_sub(shared)
}

/// Bytes of the memory that a process shares by mapping it, its part of them.
fn shared(process: &Path) -> u64 {
    let all = kilobytes(&process.join("status"), "RssShmem:").unwrap_or(0);
    if all < MUCH { all } else { kilobytes(&process.join("smaps_rollup"), "Pss_Shmem:").unwrap_or(all) }
}

/// The bytes of a line such as `RssShmem:  12 kB`.
fn kilobytes(file: &Path, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

/// Files without a name in memory that a process holds open, by device and inode, each with its bytes.
fn unmapped(process: &Path, files: &mut HashMap<(u64, u64), u64>) {
    for open in fs::read_dir(process.join("fd")).into_iter().flatten().flatten() {
        let is_memory = |to: &Path| to.as_os_str().as_encoded_bytes().starts_with(b"/memfd:");
        if fs::read_link(open.path()).is_ok_and(|to| is_memory(&to))
            && let Ok(about) = fs::metadata(open.path())
        {
            files.insert((about.dev(), about.ino()), about.blocks() * 512);
        }
    }
}

/// Bytes of files in memory that have a name.
fn in_memory() -> u64 {
    let used = |path: &str| {
        let about = statvfs(path).ok()?;
        // The root may be the system's own, and be a disk.
        let is_memory = rustix::fs::statfs(path).is_ok_and(|about| about.f_type as u64 == TMPFS);
        is_memory.then(|| about.f_blocks.saturating_sub(about.f_bfree).saturating_mul(about.f_frsize))
    };
    IN_MEMORY.iter().filter_map(|path| used(path)).sum()
}

/// What the kernel calls a file system in memory.
const TMPFS: u64 = 0x0102_1994;

/// Bytes of System V shared memory, which stays when no process is left that uses it.
fn segments() -> u64 {
    let text = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let mut lines = text.lines();
    let resident = lines.next().and_then(|names| names.split_whitespace().position(|name| name == "rss"));
    let Some(at) = resident else { return 0 };
    lines.filter_map(|line| line.split_whitespace().nth(at)?.parse::<u64>().ok()).sum()
}
