//! Pictures of the clipboard, which become files of the session's workspace.

use super::ScreenHost;
use crate::chat::image::detect_type;
use crate::documents::clipboard::{ClipboardContent, read_clipboard};
use crate::text::workspace_address::{WorkspaceAddress, WorkspacePath};
use crate::tui::host::{HostReply, PastedContent};
use crate::workspace::{NewFile, Origin, Replaces, Workspace};

/// Names that are tried for a picture.
const MAX_NAMES: usize = 10_000;

impl ScreenHost {
    /// Reads the system's clipboard, unless the terminal sent the picture on its own.
    pub(super) fn paste_clipboard(&self, picture: Option<Vec<u8>>) {
        let workspace = self.workspace();
        self.run_in_background(move || {
            let content = match picture.map_or_else(read_clipboard, check_picture) {
                Ok(ClipboardContent::Picture(png)) => store_picture(&workspace, &png).map(PastedContent::Picture),
                Ok(ClipboardContent::Text(text)) => Ok(PastedContent::Text(text)),
                Err(reason) => Err(reason),
            };
            let content = content.map_err(|reason| {
                format!("Cannot read the clipboard: {reason}. Paste text with the terminal's own key.")
            });
            Some(HostReply::ClipboardRead(workspace.session().clone(), content))
        });
    }
}

/// Checks a picture that the terminal sent.
fn check_picture(bytes: Vec<u8>) -> Result<ClipboardContent, String> {
    match detect_type(&bytes) {
        Some("image/png") => Ok(ClipboardContent::Picture(bytes)),
        _ => Err("what the terminal sent is no PNG".to_owned()),
    }
}

/// Stores a picture under the first free name, and returns the address of the file.
fn store_picture(workspace: &Workspace, png: &[u8]) -> Result<String, String> {
    for number in 1..=MAX_NAMES {
        let name = format!("pasted-{number}.png");
        let address = format!("workspace:///{name}");
        let target = address.parse::<WorkspaceAddress>().map_err(|error| error.to_string())?.target;
        // Looked up first: a write stores the bytes before it finds that the name is taken.
        if workspace.find(&target).is_ok() {
            continue;
        }
        let path = WorkspacePath::parse(&name).map_err(|error| error.to_string())?;
        let origin = Origin { tool: "paste".to_owned(), ..Origin::default() };
        match workspace.write(&NewFile {
            path: &path,
            bytes: png,
            origin,
            replaces: Replaces::Nothing,
            media_type: None,
        }) {
            Ok(_) => return Ok(address),
            Err(crate::workspace::Error::Exists(_)) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    Err("the workspace has too many pasted pictures".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::SessionId;
    use crate::store::Places;
    use crate::workspace::Limits;

    #[test]
    fn a_picture_of_the_terminal_must_be_one() {
        let png = b"\x89PNG\r\n\x1a\n".to_vec();
        assert_eq!(check_picture(png.clone()), Ok(ClipboardContent::Picture(png)));
        assert_eq!(check_picture(b"text".to_vec()).unwrap_err(), "what the terminal sent is no PNG");
    }

    #[test]
    fn each_pasted_picture_gets_a_name_of_its_own() {
        let home = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(&Places::within(home.path()), SessionId("01A".into()), Limits::default());
        assert_eq!(store_picture(&workspace, b"one").as_deref(), Ok("workspace:///pasted-1.png"));
        assert_eq!(store_picture(&workspace, b"two").as_deref(), Ok("workspace:///pasted-2.png"));
    }
}
