//! Pictures of the page, with labels for the references of the last snapshot.

use super::element::middle_of_quad;
use super::page::{Page, PageError, VISIBLE_SIZE};
use super::snapshot::References;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

/// Maximum number of labels.
const MAX_LABELS: usize = 150;
/// Maximum bytes of a picture.
const MAX_PICTURE_BYTES: usize = 10 << 20;

/// Draws labels, each an array of a name and a rectangle, over the page.
const DRAW_LABELS: &str = "function(labels) {
    const host = document.createElement('div');
    host.id = 'aye-labels';
    host.ariaHidden = 'true';
    host.style.cssText = 'all:initial;position:fixed;inset:0;z-index:2147483647;pointer-events:none';
    const root = host.attachShadow({ mode: 'closed' });
    for (const [name, x, y, width, height] of labels) {
        const frame = document.createElement('div'), label = document.createElement('div');
        frame.style.cssText = `position:fixed;box-sizing:border-box;border:2px solid #d0021b;left:${x}px;top:${y}px;`
            + `width:${width}px;height:${height}px`;
        label.style.cssText = 'position:fixed;font:bold 11px/14px monospace;color:#fff;background:#d0021b;padding:0 3px;'
            + `left:${Math.max(0, x)}px;top:${Math.max(0, y - 14)}px`;
        label.textContent = name;
        root.append(frame, label);
    }
    document.documentElement.append(host);
    return 'ok';
}";
const REMOVE_LABELS: &str = "function() { document.getElementById('aye-labels')?.remove(); return 'ok'; }";

impl Page {
    /// Returns a picture of the visible part of the page, as PNG. With references, they are drawn on it.
    pub async fn capture(&self, references: Option<&References>) -> Result<Vec<u8>, PageError> {
        let document = self.send("DOM.getDocument", json!({ "depth": 0 })).await?;
        let node = document["root"]["backendNodeId"].as_i64().ok_or_else(|| PageError::failed("The page is empty."))?;
        // A call that was stopped may have left its labels.
        self.call_function(node, REMOVE_LABELS, &[]).await?;
        let labels = match references {
            Some(references) => self.find_labels(references).await?,
            None => Vec::new(),
        };
        if labels.is_empty() {
            return self.take_picture().await;
        }
        self.call_function(node, DRAW_LABELS, &[Value::Array(labels)]).await?;
        let picture = self.take_picture().await;
        self.call_function(node, REMOVE_LABELS, &[]).await?;
        picture
    }

    async fn take_picture(&self) -> Result<Vec<u8>, PageError> {
        let captured = self.send("Page.captureScreenshot", json!({ "format": "png" })).await?;
        let bytes = BASE64_STANDARD.decode(captured["data"].as_str().unwrap_or_default()).unwrap_or_default();
        if !bytes.starts_with(b"\x89PNG") || bytes.len() > MAX_PICTURE_BYTES {
            return Err(PageError::failed("The browser returned no usable picture."));
        }
        Ok(bytes)
    }

    /// Returns the labels of visible elements.
    async fn find_labels(&self, references: &References) -> Result<Vec<Value>, PageError> {
        let mut elements: Vec<_> = references.elements().iter().collect();
        elements.sort_by_key(|(number, _)| **number);
        let (width, height) = (f64::from(VISIBLE_SIZE.0), f64::from(VISIBLE_SIZE.1));
        let mut labels = Vec::new();
        for (number, element) in elements {
            let quads = match self.send("DOM.getContentQuads", json!({ "backendNodeId": element.node })).await {
                Ok(quads) => quads,
                Err(PageError::Lost) => return Err(PageError::Lost),
                // It is not visible.
                Err(PageError::Failed(_)) => continue,
            };
            let quad = &quads["quads"][0];
            let is_visible = |(x, y): &(f64, f64)| (0.0..width).contains(x) && (0.0..height).contains(y);
            let Some((x, y)) = middle_of_quad(quad).filter(is_visible) else { continue };
            let (left, top) = (quad[0].as_f64().unwrap_or(x), quad[1].as_f64().unwrap_or(y));
            labels.push(json!([format!("e{number}"), left, top, (x - left) * 2.0, (y - top) * 2.0]));
            if labels.len() == MAX_LABELS {
                break;
            }
        }
        Ok(labels)
    }
}
