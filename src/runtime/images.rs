//! Reads the images that the user mentioned, just before a request is sent.

use super::EffectContext;
use crate::chat::image::{self, Image};
use crate::chat::{Message, Request};
use crate::project::Reader;
use crate::text::workspace_address::{SCHEME, WorkspaceAddress};
use crate::workspace::Workspace;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// Maximum size of an image in bytes, about the limit of providers.
const MAX_IMAGE_BYTES: usize = 5 << 20;
const TOO_LARGE: &str = "larger than 5 MB";
/// Maximum number of images per request; the newest are sent.
const MAX_IMAGES: usize = 20;

/// Adds the images that the user mentioned to the request, if the model accepts images. If an image cannot be added, the
/// reason is appended to the message that mentions it.
pub(super) async fn attach_images(context: &EffectContext, request: Request) -> Request {
    let mentions_image =
        |message: &Message| matches!(message, Message::User(text) if !image::find_images(text).is_empty());
    if !context.llm.accepts_images() || !request.messages.iter().any(mentions_image) {
        return request;
    }
    let (files, workspace, without_images) = (context.project.clone(), context.workspace.clone(), request.clone());
    let attached = tokio::task::spawn_blocking(move || read_images(&*files, workspace.as_deref(), request)).await;
    // If reading panicked, the request is sent without images.
    attached.unwrap_or(without_images)
}

fn read_images(files: &dyn Reader, workspace: Option<&Workspace>, mut request: Request) -> Request {
    for message in request.messages.iter_mut().rev() {
        let Message::User(text) = message else { continue };
        let mut missing = String::new();
        for name in image::find_images(text) {
            if request.images.iter().any(|image| image.name == name) {
                continue;
            }
            let result = match (request.images.len() < MAX_IMAGES, name.starts_with(SCHEME)) {
                (false, _) => Err("too many images"),
                (true, true) => read_workspace_image(workspace, name),
                (true, false) => read_image(files, name),
            };
            match result {
                Ok(image) => request.images.push(image),
                Err(why) => missing.push_str(&format!("\n[@{name} is not attached: {why}]")),
            }
        }
        text.push_str(&missing);
    }
    request
}

fn read_image(files: &dyn Reader, name: &str) -> Result<Image, &'static str> {
    let location = files.locate(name).map_err(|_| "not found")?;
    if !location.is_inside || location.is_sensitive {
        return Err("outside the project or possibly secret");
    }
    encode_image(name, &files.read(&location).map_err(|_| "cannot be read")?)
}

/// Reads an image in the workspace of the session.
fn read_workspace_image(workspace: Option<&Workspace>, name: &str) -> Result<Image, &'static str> {
    let workspace = workspace.ok_or("there is no workspace")?;
    let target = name.parse::<WorkspaceAddress>().map_err(|_| "the address is invalid")?.target;
    if target.session().is_some() {
        return Err("in the workspace of another session");
    }
    let file = workspace.find(&target).map_err(|_| "not found")?;
    if file.origin.needs_approval(true) {
        return Err("possibly secret");
    }
    if file.size > MAX_IMAGE_BYTES as u64 {
        return Err(TOO_LARGE);
    }
    encode_image(name, &workspace.read(&file).map_err(|_| "cannot be read")?)
}

fn encode_image(name: &str, bytes: &[u8]) -> Result<Image, &'static str> {
    if bytes.len() > MAX_IMAGE_BYTES {
        return Err(TOO_LARGE);
    }
    let mime_type = image::detect_type(bytes).ok_or("not a PNG, JPEG, GIF or WebP image")?;
    Ok(Image { name: name.to_owned(), mime_type, data: BASE64_STANDARD.encode(bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::SessionId;
    use crate::project::disk::Disk;
    use crate::store::Places;
    use crate::text::workspace_address::WorkspacePath;
    use crate::workspace::{Limits, NewFile, Origin, Replaces};

    #[test]
    fn attaches_images_and_tells_the_model_why_one_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
        write("a.png", b"\x89PNG rest");
        write("text.png", b"no picture");
        write("big.gif", &[b"GIF89a".to_vec(), vec![0; MAX_IMAGE_BYTES]].concat());
        let disk = Disk::new(folder.path()).unwrap();
        let message = "see @a.png, @text.png, @big.gif, @none.jpg and @../out.png";
        let messages = vec![Message::User("@a.png".into()), Message::User(message.into())];
        let request = Request {
            model: "m".into(),
            messages,
            tools: vec![],
            max_tokens: None,
            images: vec![],
            answer_schema: None,
        };
        let request = read_images(&disk, None, request);
        assert_eq!(request.images.len(), 1, "an image that is mentioned twice is attached once");
        assert_eq!((request.images[0].mime_type, request.images[0].data.as_str()), ("image/png", "iVBORyByZXN0"));
        let Message::User(text) = &request.messages[1] else { panic!("a user message") };
        for part in [
            "[@text.png is not attached: not a PNG",
            "[@big.gif is not attached: larger than 5 MB]",
            "[@none.jpg is not attached: cannot be read",
            "[@../out.png is not attached: outside",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(request.messages[0], Message::User("@a.png".into()));
    }

    #[test]
    fn attaches_images_of_the_workspace_of_the_session_only() {
        let home = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(&Places::within(home.path()), SessionId("01A".into()), Limits::default());
        let write = |path: &str, bytes: &[u8]| {
            let path = WorkspacePath::parse(path).unwrap();
            workspace
                .write(&NewFile { path: &path, bytes, origin: Origin::default(), replaces: Replaces::Nothing })
                .unwrap();
        };
        write("a.png", b"\x89PNG rest");
        write("big.gif", &[b"GIF89a".to_vec(), vec![0; MAX_IMAGE_BYTES]].concat());
        let read = |name: &str| read_workspace_image(Some(&workspace), name).map(|image| image.data);
        assert_eq!(read("workspace:///a.png").as_deref(), Ok("iVBORyByZXN0"));
        assert_eq!(read("workspace:///big.gif"), Err(TOO_LARGE));
        assert_eq!(read("workspace:///none.png"), Err("not found"));
        assert_eq!(
            read("workspace:///sessions/01JDXA0000000000000000000Z/a.png"),
            Err("in the workspace of another session")
        );
        assert_eq!(read("workspace://../a.png"), Err("the address is invalid"));
    }
}
