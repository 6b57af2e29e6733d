//! Reads the images that the user mentioned, just before a request is sent.

use super::EffectContext;
use crate::chat::image::{self, Image};
use crate::chat::{Message, Request};
use crate::project::Reader;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// Maximum size of an image in bytes, about the limit of providers.
const MAX_IMAGE_BYTES: usize = 5 << 20;
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
    let (files, without_images) = (context.project.clone(), request.clone());
    let attached = tokio::task::spawn_blocking(move || read_images(&*files, request)).await;
    // If reading panicked, the request is sent without images.
    attached.unwrap_or(without_images)
}

fn read_images(files: &dyn Reader, mut request: Request) -> Request {
    for message in request.messages.iter_mut().rev() {
        let Message::User(text) = message else { continue };
        let mut missing = String::new();
        for name in image::find_images(text) {
            if request.images.iter().any(|image| image.name == name) {
                continue;
            }
            let result =
                if request.images.len() < MAX_IMAGES { read_image(files, name) } else { Err("too many images") };
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
    let bytes = files.read(&location).map_err(|_| "cannot be read")?;
    if bytes.len() > MAX_IMAGE_BYTES {
        return Err("larger than 5 MB");
    }
    let mime_type = image::detect_type(&bytes).ok_or("not a PNG, JPEG, GIF or WebP image")?;
    Ok(Image { name: name.to_owned(), mime_type, data: BASE64_STANDARD.encode(bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::disk::Disk;

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
        let request = read_images(&disk, request);
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
}
