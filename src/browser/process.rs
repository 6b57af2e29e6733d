//! The process of the browser: how it is started, and that it ends with this program.

use super::executable::BrowserProgram;
use super::page_watch::VISIBLE_SIZE;
use crate::project::stdio_program::{ProgramFolder, StdioProgram};
use rustix::process::geteuid;
use std::path::Path;
use tokio::net::UnixStream;

/// Makes the socket of its stdin and stdout the pipe of the browser, which expects it at 3 and 4. The guard sets `TMPDIR`.
const SHELL_LINE: &str = r#"exec "$@" --user-data-dir="$TMPDIR/profile" about:blank 3<&0 4>&1 </dev/null >/dev/null"#;

/// Options of the browser: no window, no files of other programs, no traffic past the proxy, and none of its own.
const OPTIONS: [&str; 26] = [
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    // A window that is closed while it waits for its first command can leave the page that opened it without an answer.
    "--block-new-web-contents",
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
    // Without it the headless shell runs all sites in one process, unlike other builds.
    "--site-per-process",
    "--no-pings",
    "--password-store=basic",
    "--use-mock-keychain",
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

/// A running browser. Dropping it ends the browser with all its processes and removes its folder.
pub struct BrowserProcess(pub StdioProgram);

impl BrowserProcess {
    /// Starts Chromium with a new profile. Its requests go through the proxy at this port of the loopback interface.
    /// Returns the socket for messages. Requires a tokio runtime.
    ///
    /// # Errors
    /// Part of a sentence.
    pub fn start_chromium(program: &BrowserProgram, proxy_port: u16) -> Result<(Self, UnixStream), String> {
        let command_line = command_line(&program.path, proxy_port, geteuid().is_root());
        let parent = std::path::absolute(std::env::temp_dir()).map_err(|error| error.to_string())?;
        let folder = ProgramFolder::PrivateIn(&parent);
        let started = StdioProgram::start(&program.aye_path, &command_line, folder, &program.environment);
        let (program, socket) = started.map_err(|error| error.to_string())?;
        Ok((Self(program), socket))
    }

    /// Explains how the browser ended, worded to follow “the browser”; `None` if it still runs.
    pub async fn explain_end(&mut self) -> Option<String> {
        self.0.explain_end().await
    }
}

fn command_line(program: &Path, proxy_port: u16, is_root: bool) -> Vec<String> {
    let mut line = ["/bin/sh", "-c", SHELL_LINE, "sh"].map(str::to_owned).to_vec();
    line.push(program.to_string_lossy().into_owned());
    line.extend(OPTIONS.iter().chain(&NETWORK_OPTIONS).map(|option| (*option).to_owned()));
    line.push(format!("--proxy-server=http://127.0.0.1:{proxy_port}"));
    let (width, height) = VISIBLE_SIZE;
    line.push(format!("--window-size={width},{height}"));
    // The sandbox of the browser refuses to run as root.
    line.extend(is_root.then(|| "--no-sandbox".to_owned()));
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_has_no_port_and_no_way_past_the_proxy() {
        let line = command_line(Path::new("/usr/bin/chromium"), 4000, false);
        assert_eq!(line[4], "/usr/bin/chromium");
        for option in ["--proxy-server=http://127.0.0.1:4000", "--proxy-bypass-list=<-loopback>", "--disable-quic"] {
            assert!(line.contains(&option.to_owned()), "{option}");
        }
        assert!(!line.iter().any(|option| option.contains("debugging-port") || option == "--no-sandbox"), "{line:?}");
        let line = command_line(Path::new("c"), 1, true);
        assert!(line.contains(&"--no-sandbox".to_owned()));
    }
}
