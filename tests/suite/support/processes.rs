//! Processes of this machine.

/// Reads this file of each process in `/proc`, such as `cmdline`. Skips those where it cannot be read. Returns the ID of
/// each process with the content.
pub fn read_process_files(file: &str) -> Vec<(i32, Vec<u8>)> {
    let read = |entry: std::fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        Some((pid, std::fs::read(entry.path().join(file)).ok()?))
    };
    std::fs::read_dir("/proc").expect("there is a /proc").flatten().filter_map(read).collect()
}

/// Counts the processes whose command line contains this text. A zero byte follows each argument.
pub fn count_command_lines_with(text: &str) -> usize {
    let lines = read_process_files("cmdline");
    lines.iter().filter(|(_, line)| String::from_utf8_lossy(line).contains(text)).count()
}
