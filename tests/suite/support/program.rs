//! The real program in a pseudo-terminal; a terminal parser reads its screen.

use super::folder::Folder;
use super::keyboard::PATIENCE;
use super::processes::read_process_files;
use super::time_limits::is_within_limit;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// The output so far, read by a separate thread.
#[derive(Default)]
pub(super) struct Output {
    pub(super) bytes: Vec<u8>,
    /// The output has ended.
    pub(super) has_ended: bool,
    /// The terminal is about to disconnect, so the thread stops reading.
    pub(super) is_disconnecting: bool,
    /// The thread stops reading, but the terminal stays connected.
    pub(super) is_paused: bool,
}

pub(super) type SharedOutput = Arc<(Mutex<Output>, Condvar)>;

/// Path of the program under test. `AYE_TEST_PROGRAM` names another one: a build to measure, or a copy for a test that
/// starts this suite again, for example as another user.
pub fn program() -> PathBuf {
    std::env::var_os("AYE_TEST_PROGRAM").map_or_else(|| env!("CARGO_BIN_EXE_aye").into(), PathBuf::from)
}

/// The command to start, isolated from the settings of this machine.
pub struct Setup {
    /// Another program to start instead of the program under test.
    other_program: Option<&'static str>,
    arguments: Vec<String>,
    rows: u16,
    columns: u16,
    /// Width and height of a cell in pixels.
    cell_pixels: (u16, u16),
    environment: Vec<(String, String)>,
    umask: Option<&'static str>,
    /// Name of the folder in which the program starts.
    folder: &'static str,
    pub root: Arc<Folder>,
}

impl Setup {
    /// The program with these arguments, in an empty project and a new home.
    pub fn new(arguments: &[&str]) -> Self {
        let root = Folder::new();
        std::fs::create_dir(root.path().join("project")).unwrap();
        std::fs::create_dir(root.path().join("home")).unwrap();
        std::fs::create_dir(root.path().join("tmp")).unwrap();
        Self::with_home(&Arc::new(root), arguments)
    }

    /// The program in an existing home and project.
    pub fn with_home(root: &Arc<Folder>, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Self {
            other_program: None,
            arguments,
            rows: 24,
            columns: 80,
            cell_pixels: (0, 0),
            environment: Vec::new(),
            umask: None,
            folder: "project",
            root: root.clone(),
        }
    }

    pub fn size(mut self, columns: u16, rows: u16) -> Self {
        (self.columns, self.rows) = (columns, rows);
        self
    }

    /// Lets the terminal tell the width and height of a cell in pixels.
    pub fn cell_pixels(mut self, width: u16, height: u16) -> Self {
        self.cell_pixels = (width, height);
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Starts another program of this machine instead, such as a shell.
    pub fn other_program(mut self, name: &'static str) -> Self {
        self.other_program = Some(name);
        self
    }

    /// Sets the umask of the program.
    pub fn umask(mut self, umask: &'static str) -> Self {
        self.umask = Some(umask);
        self
    }

    /// Starts the program in another folder than `project`, next to it. Creates the folder.
    pub fn in_folder(mut self, name: &'static str) -> Self {
        self.folder = name;
        std::fs::create_dir_all(self.root.path().join(name)).unwrap();
        self
    }

    /// The command line: the program, or a shell that sets the umask and executes it.
    fn command(&self) -> (PathBuf, Vec<String>) {
        let program = self.other_program.map_or_else(program, PathBuf::from);
        let Some(umask) = self.umask else { return (program, self.arguments.clone()) };
        let line = ["-c", "umask \"$0\"; exec \"$@\"", umask, &program.to_string_lossy()].map(str::to_owned);
        ("sh".into(), line.into_iter().chain(self.arguments.iter().cloned()).collect())
    }

    /// Writes a file into the project.
    pub fn with_file(self, path: &str, text: &str) -> Self {
        let path = self.root.path().join("project").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn variables(&self) -> Vec<(String, String)> {
        let home = self.root.path().join("home");
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mut variables = vec![
            ("HOME".to_owned(), text(&home)),
            ("AYE_HOME".to_owned(), text(&home.join("aye"))),
            // Not the system's temporary folder: it contains this home, and the sandbox lets no command create a file
            // directly in a folder that contains aye's own files.
            ("TMPDIR".to_owned(), text(&self.root.path().join("tmp"))),
            ("PATH".to_owned(), std::env::var("PATH").unwrap_or_default()),
            ("TERM".to_owned(), "xterm-256color".to_owned()),
            ("COLORTERM".to_owned(), "truecolor".to_owned()),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
            ("NO_PROXY".to_owned(), "127.0.0.1".to_owned()),
        ];
        variables.extend(self.environment.iter().cloned());
        variables
    }

    /// Runs the program without a terminal; returns its output, its errors and its exit code.
    pub fn run_piped(&self, input: &str) -> (String, String, i32) {
        self.run_piped_to(input, std::process::Stdio::piped())
    }

    /// The same with the output redirected.
    pub fn run_piped_to(&self, input: &str, out: std::process::Stdio) -> (String, String, i32) {
        let mut child = self.spawn_piped(out);
        // A program may end without reading its input, which closes the pipe.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let result = child.wait_with_output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&result.stdout), text(&result.stderr), result.status.code().unwrap_or(-1))
    }

    /// Starts the program without a terminal, with its input and its errors in pipes.
    pub fn spawn_piped(&self, out: std::process::Stdio) -> std::process::Child {
        let (program, arguments) = self.command();
        std::process::Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(self.variables())
            .current_dir(self.root.path().join(self.folder))
            .stdin(std::process::Stdio::piped())
            .stdout(out)
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Starts the program in a terminal.
    pub fn start(self) -> Program {
        let (pixel_width, pixel_height) = (self.columns * self.cell_pixels.0, self.rows * self.cell_pixels.1);
        let size = PtySize { rows: self.rows, cols: self.columns, pixel_width, pixel_height };
        let pair = native_pty_system().openpty(size).unwrap();
        let (program, arguments) = self.command();
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
        command.env_clear();
        for (name, value) in self.variables() {
            command.env(name, value);
        }
        command.cwd(self.root.path().join(self.folder));
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let output = SharedOutput::default();
        let mut reader = pair.master.try_clone_reader().unwrap();
        let writer = pair.master.take_writer().unwrap();
        let shared = output.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 65536];
            loop {
                let count = reader.read(&mut buffer).unwrap_or(0);
                let mut output = shared.0.lock().unwrap();
                output.bytes.extend_from_slice(&buffer[..count]);
                output.has_ended = count == 0 || output.is_disconnecting;
                shared.1.notify_all();
                if output.has_ended {
                    return;
                }
                while output.is_paused {
                    output = shared.1.wait(output).unwrap();
                }
            }
        });
        Program {
            child,
            master: Some(pair.master),
            writer: Some(writer),
            output,
            parser: vt100::Parser::new(cell_count(self.rows), cell_count(self.columns), 0),
            read_count: 0,
            last_press: None,
            root: self.root,
        }
    }
}

/// A running program and its terminal.
pub struct Program {
    child: Box<dyn Child + Send + Sync>,
    pub(super) master: Option<Box<dyn MasterPty + Send>>,
    pub(super) writer: Option<Box<dyn Write + Send>>,
    pub(super) output: SharedOutput,
    pub(super) parser: vt100::Parser,
    pub(super) read_count: usize,
    /// When the last key was pressed, and the pause before the next.
    pub(super) last_press: Option<(Instant, Duration)>,
    pub root: Arc<Folder>,
}

impl Program {
    /// The project folder.
    pub fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    /// The content of a file in the project.
    pub fn file(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.project().join(path)).ok()
    }

    /// The process ID of the program.
    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.process_id().expect("it was started")).unwrap()
    }

    /// Processes new output, and answers queries as a terminal does: for device attributes, and for the cursor's position.
    pub(super) fn process_output(&mut self) {
        let output = self.output.0.lock().unwrap();
        let new_bytes = output.bytes[self.read_count..].to_vec();
        // The query may be split between two reads.
        let start = self.read_count.saturating_sub(2);
        let query_count = output.bytes[start..].windows(3).filter(|window| *window == b"\x1b[c").count();
        let start = self.read_count.saturating_sub(3);
        let position_count = output.bytes[start..].windows(4).filter(|window| *window == b"\x1b[6n").count();
        self.read_count = output.bytes.len();
        drop(output);
        self.parser.process(&new_bytes);
        for _ in 0..query_count {
            self.send_bytes("\x1b[?62;22c");
        }
        let (row, column) = self.parser.screen().cursor_position();
        for _ in 0..position_count {
            self.send_bytes(&format!("\x1b[{};{}R", row + 1, column + 1));
        }
    }

    /// The screen as text, one line per row.
    pub fn screen(&mut self) -> String {
        self.process_output();
        self.parser.screen().contents()
    }

    /// Returns whether the alternate screen, mouse reports and bracketed paste are off and the cursor is visible.
    pub fn is_restored(&mut self) -> bool {
        self.process_output();
        let screen = self.parser.screen();
        !screen.alternate_screen()
            && !screen.bracketed_paste()
            && !screen.hide_cursor()
            && screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None
    }

    /// Returns whether the terminal echoes and buffers lines, as before the start of the program.
    pub fn is_echoing(&self) -> bool {
        let modes = self.master.as_ref().and_then(|master| master.get_termios());
        modes.is_some_and(|modes| {
            let flags = format!("{:?}", modes.local_flags);
            ["ECHO", "ICANON"].iter().all(|flag| flags.split([' ', '(', ')', '|']).any(|set_flag| set_flag == *flag))
        })
    }

    /// The visible content of every cell: its character and attributes, or the background color of a blank.
    pub fn cell_styles(&mut self) -> Vec<String> {
        self.process_output();
        let screen = self.parser.screen();
        let (rows, columns) = screen.size();
        let cells = (0..rows.get()).flat_map(|y| (0..columns.get()).map(move |x| (y, x)));
        let describe_cell = |(y, x)| {
            let cell = screen.cell(y, x).unwrap();
            let text = cell.contents().trim();
            let attributes = (cell.bold(), cell.dim(), cell.italic(), cell.underline(), cell.inverse());
            match text.is_empty() && !cell.underline() && !cell.inverse() {
                true => format!("{:?}", cell.bgcolor()),
                false => format!("{text} {:?} on {:?} {attributes:?}", cell.fgcolor(), cell.bgcolor()),
            }
        };
        cells.map(describe_cell).collect()
    }

    /// The width of the screen in columns.
    pub fn screen_width(&self) -> usize {
        usize::from(self.parser.screen().size().1.get())
    }

    /// All output so far.
    pub fn bytes(&self) -> Vec<u8> {
        self.output.0.lock().unwrap().bytes.clone()
    }

    /// Waits for a fixed time, to check that something does not happen. To wait for something, use `until`.
    pub fn wait_ms(&mut self, milliseconds: u64) {
        std::thread::sleep(Duration::from_millis(milliseconds));
        self.process_output();
    }

    /// Resizes the terminal.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        self.master.as_ref().expect("the terminal is there").resize(size).unwrap();
        self.parser.screen_mut().set_size(cell_count(rows), cell_count(columns));
    }

    /// Sends a signal to the program, but not to its children.
    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.pid()).expect("a process id");
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// The exit code if the program has ended; does not wait.
    pub fn try_exit_code(&mut self) -> Option<u32> {
        self.child.try_wait().unwrap().map(|status| status.exit_code())
    }

    /// Waits until the program has ended; returns its exit code, or 128 plus the signal.
    pub fn wait_for_exit(&mut self) -> u32 {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(code) = self.try_exit_code() {
                self.read_last_output();
                return code;
            }
            if Instant::now() > deadline {
                let screen = self.screen();
                panic!("the program did not end:\n{screen}");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Reads the last output, which may still be in transit. Processes left running may hold the terminal open and are
    /// not waited for.
    fn read_last_output(&mut self) {
        let output = self.output.0.lock().unwrap();
        let limit = Duration::from_secs(2);
        drop(self.output.1.wait_timeout_while(output, limit, |output| !output.has_ended && !output.is_paused).unwrap());
        self.process_output();
    }

    /// Waits until the program has ended; returns its exit code. Fails if that takes longer than the limit.
    pub fn wait_for_exit_within(&mut self, limit: Duration) -> u32 {
        let started = Instant::now();
        let mut elapsed = Duration::ZERO;
        while self.try_exit_code().is_none() && elapsed < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
            elapsed = started.elapsed();
        }
        let code = self.wait_for_exit();
        assert!(is_within_limit(limit, elapsed), "the program took {elapsed:?}:\n{}", self.screen());
        code
    }
}

/// The child processes of a process, and theirs.
pub fn list_descendants(pid: i32) -> Vec<i32> {
    let children = read_process_files("stat").into_iter().filter_map(|(child, stat)| {
        let stat = String::from_utf8_lossy(&stat);
        // After the name in parentheses follow the state and the ID of the parent process.
        let parent: i32 = stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok()?;
        (parent == pid).then_some(child)
    });
    children.flat_map(|child| [vec![child], list_descendants(child)].concat()).collect()
}

/// A number of seconds that no other test on this machine passes to `sleep`, to recognize processes by; a new one each
/// time.
pub fn unique_sleep_seconds() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    assert!(number < 256, "at most 256 numbers per process");
    1_000_000 + 256 * std::process::id() + number
}

/// Counts the processes on this machine that sleep this many seconds.
pub fn count_sleeping(seconds: u32) -> usize {
    let line = format!("sleep\0{seconds}\0");
    read_process_files("cmdline").iter().filter(|(_, command_line)| command_line == line.as_bytes()).count()
}

/// Waits until no process sleeps this many seconds; fails after three seconds.
pub fn wait_until_none_sleeps(seconds: u32) {
    let started = Instant::now();
    while count_sleeping(seconds) > 0 {
        assert!(
            is_within_limit(Duration::from_secs(3), started.elapsed()),
            "{} processes are left",
            count_sleeping(seconds)
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn cell_count(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).expect("a terminal has a size")
}

impl Drop for Program {
    fn drop(&mut self) {
        // The process ID of an ended program may be in use by another process. A killed program is reaped, so that its
        // locks are released.
        if self.try_exit_code().is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
