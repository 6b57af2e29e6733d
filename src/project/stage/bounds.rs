//! How much a command on the stage may take: processes, memory, the size of a file, and of the layer's disk.

use rustix::fs::{Mode, OFlags, openat, statvfs};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

/// Processes and threads at a time.
const PROCESSES: u64 = 1024;
/// Bytes of one file.
const FILE: u64 = 4 << 30;
/// Bytes that stay free on the layer's disk; where there were less than twice as many, half of those.
const FREE: u64 = 256 << 20;
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
    let free = || statvfs(folder).ok().map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize));
    let least = free().map_or(0, |free| FREE.min(free / 2));
    loop {
        std::thread::sleep(PACE);
        let (count, memory) = taken();
        if count > PROCESSES {
            return format!("it had more than {PROCESSES} processes");
        }
        if memory > most {
            return format!("it took more than {} MB of memory", most >> 20);
        }
        if free().is_some_and(|free| free < least) {
            return format!(
                "the disk that holds the layer gets full: less than {} are left on it",
                if least >> 20 > 0 { format!("{} MB", least >> 20) } else { format!("{} kB", least >> 10) }
            );
        }
    }
}

/// Half of what the machine has.
fn memory_at_most() -> u64 {
    let system = rustix::system::sysinfo();
    let bytes = (system.totalram as u64).saturating_mul(u64::from(system.mem_unit));
    (bytes / 2).max(512 << 20)
}

/// Processes, and the bytes they hold alone.
fn taken() -> (u64, u64) {
    let (mut count, mut pages) = (0, 0);
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        if !entry.file_name().as_encoded_bytes().first().is_some_and(u8::is_ascii_digit) {
            continue;
        }
        count += 1;
        pages += alone(&entry.path());
    }
    (count, pages * PAGE)
}

/// Pages of one process that are no file's.
fn alone(process: &Path) -> u64 {
    let text = fs::read_to_string(process.join("statm")).unwrap_or_default();
    let mut fields = text.split(' ').skip(1).map(|field| field.parse::<u64>().unwrap_or(0));
    let (resident, shared) = (fields.next().unwrap_or(0), fields.next().unwrap_or(0));
    resident.saturating_sub(shared)
}
