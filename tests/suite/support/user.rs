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
    _runtime: Runtime,
    pub service: Service,
    pub place: Arc<Folder>,
}

impl User {
    /// An empty project; the service gives these replies, in order.
    pub fn new(answers: Vec<Answer>) -> Self {
        let runtime = Runtime::new().unwrap();
        let service = runtime.block_on(Service::start(answers));
        let setup = Setup::new(&[]);
        write_settings(&setup, NO_TITLES);
        Self { _runtime: runtime, service, place: setup.place.clone() }
    }

    /// Adds a file to the project.
    pub fn with(self, name: &str, text: &str) -> Self {
        self.has(name, text);
        self
    }

    /// Replaces the user's own rules.
    pub fn with_rules(self, text: &str) -> Self {
        fs::write(self.rules(), text).unwrap();
        self
    }

    /// Writes a file of the project, and creates its folders.
    pub fn has(&self, name: &str, text: &str) {
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
        self.place.path().join(path)
    }

    /// The program with these arguments, ready to start.
    pub fn setup(&self, more: &[&str]) -> Setup {
        let address = ["--base-url", &self.service.base_url, "--model", "scripted-7b"];
        let arguments: Vec<&str> = address.iter().copied().chain(more.iter().copied()).collect();
        Setup::again(&self.place, &arguments).size(110, 36)
    }

    /// Starts the program with these arguments in a terminal.
    pub fn start(&self, more: &[&str]) -> Program {
        self.setup(more).start()
    }

    /// Runs the program without a terminal; returns its output, its errors and its exit code.
    pub fn run_headless(&self, arguments: &[&str]) -> (String, String, i32) {
        Setup::again(&self.place, arguments).print("")
    }
}
