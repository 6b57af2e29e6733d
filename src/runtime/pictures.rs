//! Reads the pictures that the person named, right before a request is sent.

use super::Means;
use crate::chat::picture::{self, Picture};
use crate::chat::{Message, Request};
use crate::project::Reader;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// The most that one picture may have, in bytes: about what services take.
const LARGEST: usize = 5 << 20;
/// So many are shown with one request, the newest.
const MOST: usize = 20;

/// The request with the pictures that the person named in it, where the model can see. Of one that cannot be shown the
/// model is told why, behind the words that name it.
pub(super) async fn shown(means: &Means, request: Request) -> Request {
    let names = |message: &Message| match message {
        Message::Person(text) => !picture::named(text).is_empty(),
        Message::System(_) | Message::Model { .. } | Message::Tool { .. } => false,
    };
    if !means.llm.sees() || !request.messages.iter().any(names) {
        return request;
    }
    let (files, unshown) = (means.project.clone(), request.clone());
    let read = tokio::task::spawn_blocking(move || read(&*files, request)).await;
    // A reader that broke down shows nothing, and the words go all the same.
    read.unwrap_or(unshown)
}

fn read(files: &dyn Reader, mut request: Request) -> Request {
    for message in request.messages.iter_mut().rev() {
        let Message::Person(text) = message else { continue };
        let mut missing = String::new();
        for name in picture::named(text) {
            if request.pictures.iter().any(|picture| picture.name == name) {
                continue;
            }
            let found =
                if request.pictures.len() < MOST { one(files, name) } else { Err("there are too many") };
            match found {
                Ok(picture) => request.pictures.push(picture),
                Err(why) => missing.push_str(&format!("\n[@{name} is not shown: {why}]")),
            }
        }
        text.push_str(&missing);
    }
    request
}

fn one(files: &dyn Reader, name: &str) -> Result<Picture, &'static str> {
    let at = files.locate(name).map_err(|_| "it cannot be found")?;
    if !at.inside || at.sensitive {
        return Err("it is outside the project or may hold secrets");
    }
    let bytes = files.read(&at).map_err(|_| "it cannot be read")?;
    if bytes.len() > LARGEST {
        return Err("it has more than 5 MB");
    }
    let kind = picture::kind(&bytes).ok_or("it is no PNG, JPEG, GIF or WebP picture")?;
    Ok(Picture { name: name.to_owned(), kind, data: BASE64_STANDARD.encode(bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::disk::Disk;

    #[test]
    fn what_can_be_shown_is_and_of_the_rest_the_model_is_told_why() {
        let place = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| std::fs::write(place.path().join(name), bytes).unwrap();
        write("a.png", b"\x89PNG rest");
        write("text.png", b"no picture");
        write("big.gif", &[b"GIF89a".to_vec(), vec![0; LARGEST]].concat());
        let disk = Disk::new(place.path()).unwrap();
        let said = "see @a.png, @text.png, @big.gif, @none.jpg and @../out.png";
        let messages = vec![Message::Person("@a.png".into()), Message::Person(said.into())];
        let request = Request { model: "m".into(), messages, tools: vec![], most: None, pictures: vec![] };
        let request = read(&disk, request);
        assert_eq!(request.pictures.len(), 1, "each once");
        assert_eq!(
            (request.pictures[0].kind, request.pictures[0].data.as_str()),
            ("image/png", "iVBORyByZXN0")
        );
        let Message::Person(text) = &request.messages[1] else { panic!("it was said") };
        for part in [
            "[@text.png is not shown: it is no PNG",
            "[@big.gif is not shown: it has more than 5 MB]",
            "[@none.jpg is not shown: it cannot be",
            "[@../out.png is not shown: it is outside",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(request.messages[0], Message::Person("@a.png".into()));
    }
}
