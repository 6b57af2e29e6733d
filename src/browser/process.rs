//! The process of the browser: how it is started, and that it ends with this program.

use super::executable::BrowserProgram;
use super::profile_folder::ProfileFolder;
use crate::project::stdio_program::StdioProgram;
use rustix::process::geteuid;
use std::ffi::OsString;
use std::path::Path;
use tokio::net::UnixStream;

/// Makes the socket of its stdin and stdout the pipe of the browser, which expects it at 3 and 4.
const SHELL_LINE: &str = r#"exec "$@" 3<&0 4>&1 </dev/null >/dev/null"#;

/// Options of the browser: no window, no files of other programs, no traffic past the proxy, and none of its own.
const OPTIONS: [&str; 25] = [
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--disable-gpu",
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    "--no-pings",
    "--password-store=basic",
    "--use-mock-keychain",
    "--window-size=1280,800",
    // Addresses of the maker, which are requested even so. Nothing listens there.
    "--gaia-url=http://127.0.0.1:9/",
    "--google-apis-url=http://127.0.0.1:9/",
    "--google-base-url=http://127.0.0.1:9/",
    "--gcm-checkin-url=http://127.0.0.1:9/",
    "--disable-features=AutofillServerCommunication,MediaRouter,NetworkTimeServiceQuerying,OptimizationHints,PreconnectToSearch,PreconnectToSearchDesktop,Prerender2",
];

/// Options that keep traffic from passing the proxy: loopback addresses have no exception, names are not resolved, and
/// protocols over UDP are off.
const NETWORK_OPTIONS: [&str; 5] = [
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
];

/// A running browser. Dropping it ends the browser with all its processes.
pub struct BrowserProcess {
    program: StdioProgram,
    /// Dropped after the program.
    _folder: ProfileFolder,
}

impl BrowserProcess {
    /// Starts the browser with a new profile. Its requests go through the proxy at this port of the loopback interface.
    /// Returns the socket for messages. Requires a tokio runtime.
    ///
    /// # Errors
    /// Part of a sentence.
    pub fn start(program: &BrowserProgram, proxy_port: u16) -> Result<(Self, UnixStream), String> {
        let folder = ProfileFolder::create(&std::env::temp_dir());
        let folder = folder.map_err(|error| format!("its folder cannot be created: {error}"))?;
        let command_line = command_line(&program.path, folder.path(), proxy_port, geteuid().is_root());
        let own = ["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"];
        let own = own.map(|name| (name.into(), folder.path().as_os_str().to_owned()));
        let environment: Vec<(OsString, OsString)> = program.environment.iter().cloned().chain(own).collect();
        let started = StdioProgram::start(&program.aye_path, &command_line, folder.path(), &environment);
        let (program, socket) = started.map_err(|error| error.to_string())?;
        Ok((Self { program, _folder: folder }, socket))
    }

    /// Explains how the browser ended, worded to follow “the browser”; `None` if it still runs.
    pub async fn explain_end(&mut self) -> Option<String> {
        self.program.explain_end().await
    }
}

fn command_line(program: &Path, folder: &Path, proxy_port: u16, is_root: bool) -> Vec<String> {
    let mut line = ["/bin/sh", "-c", SHELL_LINE, "sh"].map(str::to_owned).to_vec();
    line.push(program.to_string_lossy().into_owned());
    line.extend(OPTIONS.iter().chain(&NETWORK_OPTIONS).map(|option| (*option).to_owned()));
    line.push(format!("--proxy-server=http://127.0.0.1:{proxy_port}"));
    line.push(format!("--user-data-dir={}", folder.join("profile").display()));
    // The sandbox of the browser refuses to run as root.
    line.extend(is_root.then(|| "--no-sandbox".to_owned()));
    line.push("about:blank".to_owned());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_has_no_port_and_no_way_past_the_proxy() {
        let line = command_line(Path::new("/usr/bin/chromium"), Path::new("/tmp/f"), 4000, false);
        assert_eq!(line[4], "/usr/bin/chromium");
        for option in ["--proxy-server=http://127.0.0.1:4000", "--proxy-bypass-list=<-loopback>", "--disable-quic"] {
            assert!(line.contains(&option.to_owned()), "{option}");
        }
        assert!(!line.iter().any(|option| option.contains("debugging-port") || option == "--no-sandbox"), "{line:?}");
        let line = command_line(Path::new("c"), Path::new("/tmp/f"), 1, true);
        assert!(line.contains(&"--no-sandbox".to_owned()));
    }
}
