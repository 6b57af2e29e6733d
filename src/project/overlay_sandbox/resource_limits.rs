//! Resource limits of a command in the overlay sandbox: processes, memory, file size, and free space on the overlay's
//! disk.

use crate::project::process_limits::lower_limit;
use rustix::fs::{Mode, OFlags, StatVfs, openat, statvfs};
use rustix::process::Resource;
use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// Maximum number of processes and threads.
const MAX_PROCESSES: u64 = 1024;
/// Maximum size of one file, in bytes.
const MAX_FILE_SIZE: u64 = 4 << 30;
/// Bytes that must stay free on the overlay's disk, or half of the bytes that were free at the start if that is less.
const MIN_FREE_BYTES: u64 = 256 << 20;
/// Inodes that must stay free on the overlay's disk, or half of those that were free at the start if that is less.
const MIN_FREE_INODES: u64 = 20_000;
/// Mount points of in-memory file systems.
const MEMORY_MOUNTS: [&str; 2] = ["/dev/shm", "/"];
/// If a process maps at least this many bytes of shared memory, only its proportional share is counted. The share takes
/// longer to read.
const LARGE_SHARED: u64 = 16 << 20;
/// Bytes of a page. Counts are slightly inexact on systems with larger pages.
const PAGE_SIZE: u64 = 4096;
/// Interval between two measurements.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Sets the limits that the kernel enforces, for this process and its children. `processes` is the overlay sandbox's
/// own `/proc`, not yet read-only.
pub fn set_kernel_limits(processes: &OwnedFd) -> io::Result<()> {
    lower_limit(Resource::Core, 0)?;
    lower_limit(Resource::Fsize, MAX_FILE_SIZE)?;
    // The kernel counts processes per user namespace, and does not limit root.
    if !rustix::process::geteuid().is_root() {
        lower_limit(Resource::Nproc, MAX_PROCESSES)?;
    }
    // Since Linux 6.14 this number applies to the namespace; before, it would change the whole system.
    if kernel_version() >= (6, 14) {
        let _ = write_setting(processes, "sys/kernel/pid_max", &MAX_PROCESSES.to_string());
    }
    // If the system runs out of memory, these processes are killed first.
    let _ = write_setting(processes, "self/oom_score_adj", "800");
    Ok(())
}

fn write_setting(folder: &OwnedFd, path: &str, value: &str) -> io::Result<()> {
    let file = openat(folder, path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    fs::File::from(file).write_all(value.as_bytes())
}

/// Returns the kernel's version.
fn kernel_version() -> (u32, u32) {
    let system = rustix::system::uname();
    let release = system.release().to_string_lossy().into_owned();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Checks the limits that the kernel does not enforce while the command runs. Returns only when one is exceeded, with a
/// text that describes it. `folder` has an overlay mounted over it, so its free space is that of the overlay's disk.
/// `memory` is the memory limit in bytes; `None` means the default limit.
pub fn watch_limits(folder: &Path, memory: Option<u64>) -> String {
    let memory_limit = memory.unwrap_or_else(default_memory_limit);
    let measure_disk = || statvfs(folder).ok();
    let disk_at_start = measure_disk();
    let min_free_bytes = disk_at_start.as_ref().map_or(0, |disk| MIN_FREE_BYTES.min(free_bytes(disk) / 2));
    // File systems without a limit on the number of files report 0 files.
    let min_free_inodes =
        disk_at_start.filter(|disk| disk.f_files > 0).map_or(0, |disk| MIN_FREE_INODES.min(disk.f_favail / 2));
    loop {
        std::thread::sleep(CHECK_INTERVAL);
        let (count, used_memory) = measure_usage();
        if count > MAX_PROCESSES {
            return format!("it started more than {MAX_PROCESSES} processes");
        }
        if used_memory > memory_limit {
            return format!("it used more than {} MB of memory", memory_limit >> 20);
        }
        let Some(disk) = measure_disk() else { continue };
        if free_bytes(&disk) < min_free_bytes {
            return format!(
                "the disk that holds the overlay is nearly full: less than {} are free",
                if min_free_bytes >> 20 > 0 {
                    format!("{} MB", min_free_bytes >> 20)
                } else {
                    format!("{} kB", min_free_bytes >> 10)
                }
            );
        }
        if disk.f_favail < min_free_inodes {
            return format!(
                "the disk that holds the overlay is nearly full: fewer than {min_free_inodes} more files fit on it"
            );
        }
    }
}

fn free_bytes(disk: &StatVfs) -> u64 {
    disk.f_bavail.saturating_mul(disk.f_frsize)
}

/// Returns the default memory limit in bytes: half of the machine's memory, but at least 512 MB.
fn default_memory_limit() -> u64 {
    let system = rustix::system::sysinfo();
    let bytes = (system.totalram as u64).saturating_mul(u64::from(system.mem_unit));
    (bytes / 2).max(512 << 20)
}

/// Returns the number of processes and the bytes they use: private memory, shared memory, and in-memory files. Memory
/// that is counted twice, such as a mapped in-memory file, only makes the limit apply earlier.
fn measure_usage() -> (u64, u64) {
    let (mut count, mut bytes) = (0, 0);
    let mut files = HashMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        if !entry.file_name().as_encoded_bytes().first().is_some_and(u8::is_ascii_digit) {
            continue;
        }
        count += 1;
        bytes += private_pages(&entry.path()) * PAGE_SIZE + shared_bytes(&entry.path());
        collect_unnamed_files(&entry.path(), &mut files);
    }
    (count, bytes + files.values().sum::<u64>() + named_file_bytes() + system_v_bytes())
}

/// Returns the pages of one process that belong to no file.
fn private_pages(process: &Path) -> u64 {
    let text = fs::read_to_string(process.join("statm")).unwrap_or_default();
    let mut fields = text.split(' ').skip(1).map(|field| field.parse::<u64>().unwrap_or(0));
    let (resident, shared) = (fields.next().unwrap_or(0), fields.next().unwrap_or(0));
    resident.saturating_sub(shared)
}

/// Returns the bytes of shared memory mapped by a process. A large amount is divided among the processes that map it.
fn shared_bytes(process: &Path) -> u64 {
    let shared = parse_kilobytes(&process.join("status"), "RssShmem:").unwrap_or(0);
    if shared < LARGE_SHARED {
        shared
    } else {
        parse_kilobytes(&process.join("smaps_rollup"), "Pss_Shmem:").unwrap_or(shared)
    }
}

/// Reads the value of a line such as `RssShmem:  12 kB`, in bytes.
fn parse_kilobytes(file: &Path, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

/// Collects the unnamed in-memory files that a process holds open: bytes by device and inode.
fn collect_unnamed_files(process: &Path, files: &mut HashMap<(u64, u64), u64>) {
    for descriptor in fs::read_dir(process.join("fd")).into_iter().flatten().flatten() {
        let is_memory = |target: &Path| target.as_os_str().as_encoded_bytes().starts_with(b"/memfd:");
        if fs::read_link(descriptor.path()).is_ok_and(|target| is_memory(&target))
            && let Ok(metadata) = fs::metadata(descriptor.path())
        {
            // The system counts in blocks of 512 bytes.
            files.insert((metadata.dev(), metadata.ino()), metadata.blocks() * 512);
        }
    }
}

/// Returns the bytes of in-memory files that have a name.
fn named_file_bytes() -> u64 {
    let used_bytes = |path: &str| {
        let statistics = statvfs(path).ok()?;
        // The root may be the system's own root on a disk.
        let is_memory = rustix::fs::statfs(path).is_ok_and(|statistics| statistics.f_type as u64 == TMPFS_MAGIC);
        is_memory.then(|| statistics.f_blocks.saturating_sub(statistics.f_bfree).saturating_mul(statistics.f_frsize))
    };
    MEMORY_MOUNTS.iter().filter_map(|path| used_bytes(path)).sum()
}

/// Magic number of in-memory file systems.
const TMPFS_MAGIC: u64 = 0x0102_1994;

/// Returns the bytes of System V shared memory, which remains allocated after the last process that uses it has exited.
fn system_v_bytes() -> u64 {
    let text = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let mut lines = text.lines();
    let resident_column = lines.next().and_then(|names| names.split_whitespace().position(|name| name == "rss"));
    let Some(column) = resident_column else { return 0 };
    lines.filter_map(|line| line.split_whitespace().nth(column)?.parse::<u64>().ok()).sum()
}
