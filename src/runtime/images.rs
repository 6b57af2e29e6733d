//! Reads the images that the user mentioned, just before a request is sent.

mod prepared_images;

use super::EffectContext;
use crate::chat::image::{self, Image, MAX_SOURCE_BYTES};
use crate::chat::{Access, Message, Request};
use crate::documents::picture::{ModelPicture, prepare_for_model, read_project_picture};
use crate::project::Reader;
use crate::text::byte_size::format_bytes;
use crate::text::workspace_address::{SCHEME, WorkspaceAddress};
use crate::tools::planned_path::read_access;
use crate::workspace::Workspace;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
pub(super) use prepared_images::PreparedImages;

/// Maximum number of images per request; the newest are sent.
const MAX_IMAGES: usize = 20;

/// Reads the images of a request.
struct ImageReader<'a> {
    files: &'a dyn Reader,
    workspace: Option<&'a Workspace>,
    prepared: &'a PreparedImages,
    prepare: fn(&[u8]) -> Result<ModelPicture, String>,
}

/// Adds the images that the user mentioned to the request, if the model accepts images, scaled down if they are large. If an
/// image cannot be added or was scaled, that is appended to the message that mentions it.
pub(super) async fn attach_images(context: &EffectContext, request: Request) -> Request {
    let mentions_image =
        |message: &Message| matches!(message, Message::User(text) if !image::find_images(text).is_empty());
    if !context.llm.accepts_images() || !request.messages.iter().any(mentions_image) {
        return request;
    }
    let (files, workspace, without_images) = (context.project.clone(), context.workspace.clone(), request.clone());
    let prepared = context.prepared_images.clone();
    let attached = tokio::task::spawn_blocking(move || {
        let (workspace, prepare) = (workspace.as_deref(), prepare_for_model);
        ImageReader { files: &*files, workspace, prepared: &prepared, prepare }.attach(request)
    });
    // If reading panicked, the request is sent without images.
    attached.await.unwrap_or(without_images)
}

impl ImageReader<'_> {
    fn attach(&self, mut request: Request) -> Request {
        for message in request.messages.iter_mut().rev() {
            let Message::User(text) = message else { continue };
            let mut notes = String::new();
            for name in image::find_images(text) {
                if request.images.iter().any(|image| image.name == name) {
                    continue;
                }
                let bytes = match (request.images.len() < MAX_IMAGES, name.starts_with(SCHEME)) {
                    (false, _) => Err("too many images".to_owned()),
                    (true, true) => self.read_workspace_file(name),
                    (true, false) => self.read_file(name),
                };
                match bytes.and_then(|bytes| self.encode(name, &bytes)) {
                    Ok((image, note)) => {
                        request.images.push(image);
                        notes.push_str(&note);
                    }
                    Err(why) => notes.push_str(&format!("\n[@{name} is not attached: {why}]")),
                }
            }
            text.push_str(&notes);
        }
        request
    }

    fn read_file(&self, name: &str) -> Result<Vec<u8>, String> {
        let location = self.files.locate(name).map_err(|_| "not found")?;
        // Also a hard link may be the name of a secret.
        if self.files.exists(&location) && !matches!(read_access(self.files, &location), Access::Read(_)) {
            return Err("outside the project or possibly secret".to_owned());
        }
        read_project_picture(self.files, &location)
    }

    /// Reads a file in the workspace of the session.
    fn read_workspace_file(&self, name: &str) -> Result<Vec<u8>, String> {
        let workspace = self.workspace.ok_or("there is no workspace")?;
        let target = name.parse::<WorkspaceAddress>().map_err(|_| "the address is invalid")?.target;
        if target.session().is_some() {
            return Err("in the workspace of another session".to_owned());
        }
        let file = workspace.find(&target).map_err(|_| "not found")?;
        if file.origin.needs_approval(true) {
            return Err("possibly secret".to_owned());
        }
        if file.size > MAX_SOURCE_BYTES {
            return Err(format!("larger than {}", format_bytes(MAX_SOURCE_BYTES)));
        }
        workspace.read(&file).map_err(|_| "cannot be read".to_owned())
    }

    /// Returns the image as it is sent, and a note if it was changed.
    fn encode(&self, name: &str, bytes: &[u8]) -> Result<(Image, String), String> {
        let picture = self.prepared.get_or_prepare(bytes, self.prepare)?;
        let (sent, note) = match &*picture {
            ModelPicture::Unchanged => (bytes, String::new()),
            ModelPicture::Encoded { bytes, from, to } => (&bytes[..], describe_change(name, *from, *to)),
        };
        let mime_type = image::detect_type(sent).ok_or("not a PNG, JPEG, GIF or WebP image")?;
        Ok((Image { name: name.to_owned(), mime_type, data: BASE64_STANDARD.encode(sent) }, note))
    }
}

/// Returns the line that tells the model how an image was changed.
fn describe_change(name: &str, from: (u32, u32), to: (u32, u32)) -> String {
    match from == to {
        true => format!("\n[@{name} was compressed again at {} × {} pixels]", to.0, to.1),
        false => format!("\n[@{name} was scaled from {} × {} to {} × {} pixels]", from.0, from.1, to.0, to.1),
    }
}

#[cfg(test)]
mod tests;
