//! Prompts of the client: their blocks become one user message with attachments.

use crate::chat::attachments::{Attachment, Content, MAX_BYTES};
use crate::chat::mention::write_mention;
use crate::text::byte_size::format_bytes;
use crate::text::known_secrets::KnownSecrets;
use crate::text::truncation::{truncate_end, truncate_middle};
use agent_client_protocol_schema::v1::{ContentBlock, EmbeddedResourceResource};
use std::path::{Path, PathBuf};
use url::Url;

/// Maximum bytes of an embedded text, with space for the note that its middle is left out.
const MAX_EMBEDDED_BYTES: usize = MAX_BYTES - 200;
/// Maximum number of embedded resources of a prompt.
const MAX_EMBEDDED: usize = 20;
/// Maximum characters of the name of a resource.
const MAX_NAME_CHARS: usize = 200;

/// A prompt of the client.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Prompt {
    /// What the user wrote. A linked file of the project is a mention, so that it is read under the same rules.
    pub(super) text: String,
    /// Contents that the client has embedded.
    pub(super) embedded: Vec<Embedded>,
}

/// A content that the client has embedded.
#[derive(Debug, PartialEq)]
pub(super) struct Embedded {
    pub(super) attachment: Attachment,
    /// The mention of the file that it is the content of, if it is one. It must be allowed to be mentioned.
    pub(super) mention: Option<String>,
}

/// Reads the blocks of a prompt for a session in this folder. Secrets in embedded contents are masked.
///
/// # Errors
/// Returns what cannot be accepted, as one sentence.
pub(super) fn read_prompt(blocks: Vec<ContentBlock>, folder: &Path, secrets: &KnownSecrets) -> Result<Prompt, String> {
    let mut prompt = Prompt::default();
    for block in blocks {
        match block {
            ContentBlock::Text(text) => prompt.text.push_str(&text.text),
            ContentBlock::ResourceLink(link) => prompt.add_word(&describe_link(&link.uri, folder)),
            ContentBlock::Resource(resource) => match resource.resource {
                EmbeddedResourceResource::TextResourceContents(contents) => {
                    let name = name_resource(&contents.uri, folder);
                    prompt.add_word(&name);
                    let path = file_path(&contents.uri);
                    // What a page or a service says is not from the user, whoever sends it.
                    let is_own = path.as_ref().is_some_and(|path| path.starts_with(folder));
                    let untrusted_source = (!is_own).then(|| name.clone());
                    let mention = path.and_then(|path| write_mention(&path.display().to_string()));
                    let attachment = embed(name, &secrets.mask(&contents.text), untrusted_source);
                    prompt.add_embedded(Embedded { attachment, mention })?;
                }
                _ => return Err("The prompt has a resource that is not text. Link it instead".to_owned()),
            },
            ContentBlock::Image(_) => {
                return Err("The prompt has an image, which is not supported. Name the file of the image with @".into());
            }
            _ => return Err("The prompt has a block of a kind that is not supported".to_owned()),
        }
    }
    match prompt.text.trim().is_empty() {
        true => Err("The prompt has no text".to_owned()),
        false => Ok(prompt),
    }
}

impl Prompt {
    /// Adds a word, separated from the text before it.
    fn add_word(&mut self, word: &str) {
        if !self.text.is_empty() && !self.text.ends_with(char::is_whitespace) {
            self.text.push(' ');
        }
        self.text.push_str(word);
        self.text.push(' ');
    }

    fn add_embedded(&mut self, embedded: Embedded) -> Result<(), String> {
        if self.embedded.len() >= MAX_EMBEDDED {
            return Err(format!(
                "The prompt has more than {MAX_EMBEDDED} embedded resources. Link some of them instead"
            ));
        }
        self.embedded.push(embedded);
        Ok(())
    }
}

/// Returns a bounded attachment with a text of the client.
fn embed(source: String, text: &str, untrusted_source: Option<String>) -> Attachment {
    let size = format_bytes(text.len() as u64);
    let facts = match text.len() > MAX_EMBEDDED_BYTES {
        true => format!("sent by the editor, {size}, truncated in the middle"),
        false => format!("sent by the editor, {size}"),
    };
    let text = truncate_middle(text, MAX_EMBEDDED_BYTES).into_owned();
    Attachment { source, content: Content::File { text, facts, untrusted_source } }
}

/// Returns a mention of a file of the project, or the name of another resource.
fn describe_link(uri: &str, folder: &Path) -> String {
    let name = name_resource(uri, folder);
    let is_project_file = file_path(uri).is_some_and(|path| path != folder && path.starts_with(folder));
    write_mention(&name).filter(|_| is_project_file).unwrap_or(name)
}

/// Returns the path of a file, relative to the project if inside, or the address of another resource.
fn name_resource(uri: &str, folder: &Path) -> String {
    match file_path(uri) {
        Some(path) if path == folder => path.display().to_string(),
        Some(path) => path.strip_prefix(folder).unwrap_or(&path).display().to_string(),
        None => truncate_end(uri, MAX_NAME_CHARS),
    }
}

/// Returns the path of a `file:` address.
fn file_path(uri: &str) -> Option<PathBuf> {
    Url::parse(uri).ok().filter(|url| url.scheme() == "file")?.to_file_path().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(blocks: Value) -> Result<Prompt, String> {
        read_prompt(
            serde_json::from_value(blocks).unwrap(),
            Path::new("/src/app"),
            &["sk-1234567890"].into_iter().collect(),
        )
    }

    #[test]
    fn links_to_the_project_become_mentions() {
        let link = |uri: &str| json!({ "type": "resource_link", "name": "x", "uri": uri });
        let text = |text: &str| json!({ "type": "text", "text": text });
        let prompt =
            read(json!([text("see"), link("file:///src/app/a%20b.rs"), text("and"), link("file:///etc/hosts")]));
        assert_eq!(prompt.unwrap().text, "see @\"a b.rs\" and /etc/hosts ");
        let prompt = read(json!([link("https://a.example/x"), link("file:///src/app"), link("not an address")]));
        assert_eq!(prompt.unwrap().text, "https://a.example/x /src/app not an address ");
    }

    #[test]
    fn embedded_text_is_attached_once_and_bounded() {
        let embed = |text: &str| {
            let resource = json!({ "uri": "file:///src/app/a.rs", "text": text });
            json!([{ "type": "text", "text": "explain" }, { "type": "resource", "resource": resource }])
        };
        let prompt = read(embed("fn a() {}")).unwrap();
        assert_eq!(prompt.text, "explain a.rs ");
        let content = Content::File {
            text: "fn a() {}".into(),
            facts: "sent by the editor, 9 bytes".into(),
            untrusted_source: None,
        };
        let attachment = Attachment { source: "a.rs".into(), content };
        assert_eq!(prompt.embedded, [Embedded { attachment, mention: Some("@/src/app/a.rs".into()) }]);
        let text_of = |blocks| match read(blocks).unwrap().embedded.remove(0).attachment.content {
            Content::File { text, .. } => text,
            content => panic!("{content:?}"),
        };
        assert!(text_of(embed(&"x".repeat(1 << 20))).len() <= MAX_BYTES);
        // Masked before it is truncated: no part of a key is left at the cut.
        let keys = "sk-1234567890 ".repeat(10_000);
        assert!(!text_of(embed(&keys)).contains("sk-"));
    }

    #[test]
    fn embedded_text_from_elsewhere_is_untrusted() {
        let resource = json!({ "uri": "https://a.example/x", "text": "do this" });
        let prompt = read(json!([{ "type": "text", "text": "see" }, { "type": "resource", "resource": resource }]));
        let embedded = prompt.unwrap().embedded.remove(0);
        let Content::File { untrusted_source, .. } = embedded.attachment.content else { panic!() };
        assert_eq!((untrusted_source.as_deref(), embedded.mention), (Some("https://a.example/x"), None));
    }

    #[test]
    fn what_cannot_be_sent_to_a_model_is_an_error() {
        let blob = json!({ "uri": "file:///a", "blob": "AAAA" });
        for block in [
            json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" }),
            json!({ "type": "audio", "data": "AAAA", "mimeType": "audio/wav" }),
            json!({ "type": "resource", "resource": blob }),
            json!({ "type": "text", "text": " " }),
        ] {
            assert!(read(json!([block])).is_err(), "{block}");
        }
        assert!(read(json!([])).is_err());
    }
}
