//! Images of requests.

use super::*;
use crate::chat::SessionId;
use crate::project::disk::Disk;
use crate::store::Places;
use crate::text::workspace_address::WorkspacePath;
use crate::workspace::{Limits, NewFile, Origin, Replaces};

/// Prepares an image without decoding it: one that holds `large` is scaled.
fn prepare(bytes: &[u8]) -> Result<ModelPicture, String> {
    image::detect_type(bytes).ok_or("not a PNG, JPEG, GIF or WebP image")?;
    let encoded = ModelPicture::Encoded { bytes: b"\x89PNG small".to_vec(), from: (4000, 3000), to: (1568, 1176) };
    Ok(if bytes.ends_with(b"large") { encoded } else { ModelPicture::Unchanged })
}

#[test]
fn attaches_images_and_tells_the_model_why_one_is_missing_or_changed() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("a.png", b"\x89PNG rest");
    write("text.png", b"no picture");
    write("big.png", b"\x89PNG large");
    let disk = Disk::new(folder.path()).unwrap();
    let message = "see @a.png, @text.png, @big.png, @none.jpg and @../out.png";
    let messages = vec![Message::User("@a.png".into()), Message::User(message.into())];
    let request =
        Request { model: "m".into(), messages, tools: vec![], max_tokens: None, images: vec![], answer_schema: None };
    let reader = ImageReader { files: &disk, workspace: None, prepared: &PreparedImages::default(), prepare };
    let request = reader.attach(request);
    let sent: Vec<_> = request.images.iter().map(|image| (image.name.as_str(), image.data.as_str())).collect();
    assert_eq!(
        sent,
        [("a.png", "iVBORyByZXN0"), ("big.png", "iVBORyBzbWFsbA==")],
        "an image that is mentioned twice is attached once"
    );
    let Message::User(text) = &request.messages[1] else { panic!("a user message") };
    for part in [
        "[@text.png is not attached: not a PNG",
        "[@big.png was scaled from 4000 × 3000 to 1568 × 1176 pixels]",
        "[@none.jpg is not attached: cannot be read",
        "[@../out.png is not attached: outside",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(request.messages[0], Message::User("@a.png".into()));
}

#[test]
fn attaches_images_of_the_workspace_of_the_session_only() {
    let (home, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let workspace = Workspace::new(&Places::within(home.path()), SessionId("01A".into()), Limits::default());
    let write = |path: &str, bytes: &[u8]| {
        let path = WorkspacePath::parse(path).unwrap();
        workspace
            .write(&NewFile {
                path: &path,
                bytes,
                origin: Origin::default(),
                replaces: Replaces::Nothing,
                media_type: None,
            })
            .unwrap();
    };
    write("a.png", b"\x89PNG rest");
    write("big.gif", &[b"GIF89a".to_vec(), vec![0; MAX_SOURCE_BYTES as usize]].concat());
    let disk = Disk::new(folder.path()).unwrap();
    let prepared = PreparedImages::default();
    let reader = ImageReader { files: &disk, workspace: Some(&workspace), prepared: &prepared, prepare };
    let read = |name: &str| reader.read_workspace_file(name);
    assert_eq!(read("workspace:///a.png").as_deref(), Ok(&b"\x89PNG rest"[..]));
    assert_eq!(read("workspace:///big.gif"), Err("larger than 32.0 MB".to_owned()));
    assert_eq!(read("workspace:///none.png"), Err("not found".to_owned()));
    assert_eq!(
        read("workspace:///sessions/01JDXA0000000000000000000Z/a.png"),
        Err("in the workspace of another session".to_owned())
    );
    assert_eq!(read("workspace://../a.png"), Err("the address is invalid".to_owned()));
}
