//! A user with one project, and a scripted service: the program can be started in them as often as a test needs.

use super::folder::Folder;
use super::program::{Program, Setup};
use super::service::{Answer, Service};
use super::stored_files::{NO_TITLES, write_settings};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// The user, the project and the service.
pub struct User {
    runtime: Runtime,
    pub service: Service,
    pub root: Arc<Folder>,
}

impl User {
    /// An empty project; the service gives these replies, in order.
    pub fn new(answers: Vec<Answer>) -> Self {
        let runtime = Runtime::new().unwrap();
        let service = runtime.block_on(Service::start(answers));
        let setup = Setup::new(&[]);
        write_settings(&setup, NO_TITLES);
        Self { runtime, service, root: setup.root.clone() }
    }

    /// Replaces the replies of the service.
    pub fn with_answers(mut self, answers: Vec<Answer>) -> Self {
        self.service = self.runtime.block_on(Service::start(answers));
        self
    }

    /// Adds a file to the project.
    pub fn with_project_file(self, name: &str, text: &str) -> Self {
        self.write_file(name, text);
        self
    }

    /// Replaces the user's own rules.
    pub fn with_rules(self, text: &str) -> Self {
        fs::write(self.rules(), text).unwrap();
        self
    }

    /// Writes a file of the project, and creates its folders.
    pub fn write_file(&self, name: &str, text: &str) {
        let file = self.project().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// The folder that the program works in.
    pub fn project(&self) -> PathBuf {
        self.path("project")
    }

    /// The file with the user's rules.
    pub fn rules(&self) -> PathBuf {
        self.path("home/aye/config/rules.toml")
    }

    /// A path in the folder that contains the project and the home.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    /// The program with these arguments, ready to start.
    pub fn setup(&self, extra_arguments: &[&str]) -> Setup {
        let address = ["--base-url", &self.service.base_url, "--model", "scripted-7b"];
        let arguments: Vec<&str> = address.iter().copied().chain(extra_arguments.iter().copied()).collect();
        Setup::with_home(&self.root, &arguments).size(110, 36)
    }

    /// Starts the program with these arguments in a terminal.
    pub fn start(&self, extra_arguments: &[&str]) -> Program {
        self.setup(extra_arguments).start()
    }

    /// Runs the program without a terminal; returns its output, its errors and its exit code.
    pub fn run_headless(&self, arguments: &[&str]) -> (String, String, i32) {
        Setup::with_home(&self.root, arguments).run_piped("")
    }
}
