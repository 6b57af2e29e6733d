//! Pictures of the page, with labels for the references of the last snapshot.

use super::driver::Driver;
use super::element::middle_of_quad;
use super::page::Page;
use super::page_watch::PageError;
use super::snapshot::{PageElement, References};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use std::collections::HashMap;

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

impl dyn Driver {
    /// Returns a picture of the visible part of the page, as PNG. With references, they are drawn on it.
    pub async fn capture(&self, references: Option<&References>) -> Result<Vec<u8>, PageError> {
        let root = self.find_root().await?;
        // A call that was stopped may have left its labels.
        self.call_function(&root, REMOVE_LABELS, &[]).await?;
        let labels = match references {
            Some(references) => self.find_labels(references).await?,
            None => Vec::new(),
        };
        if labels.is_empty() {
            return decode_picture(&self.take_picture().await?);
        }
        self.call_function(&root, DRAW_LABELS, &[Value::Array(labels)]).await?;
        let picture = self.take_picture().await;
        self.call_function(&root, REMOVE_LABELS, &[]).await?;
        decode_picture(&picture?)
    }
}

impl Page {
    /// Returns a picture of the visible part of the page, in Base64.
    pub async fn take_picture(&self) -> Result<String, PageError> {
        let captured = self.send("Page.captureScreenshot", json!({ "format": "png" })).await?;
        Ok(captured["data"].as_str().unwrap_or_default().to_owned())
    }

    /// Returns the labels of visible elements.
    pub async fn find_labels(&self, references: &References) -> Result<Vec<Value>, PageError> {
        let mut elements: Vec<_> = references.elements().iter().collect();
        elements.sort_by_key(|(number, _)| **number);
        let mut places = HashMap::new();
        let mut labels = Vec::new();
        for (number, PageElement { element, .. }) in elements {
            let frame = &element.frame;
            if !places.contains_key(&frame.id) {
                let place = skip_invisible(self.place_frame(frame).await)?;
                places.insert(frame.id.clone(), place.and_then(|places| Some(places.first()?.1)));
            }
            let Some(Some(place)) = places.get(&frame.id) else { continue };
            let Some(quads) = skip_invisible(self.send_about(element, "DOM.getContentQuads").await)? else { continue };
            let quad = &quads["quads"][0];
            let Some(middle) = middle_of_quad(quad) else { continue };
            let corner = (quad[0].as_f64().unwrap_or(middle.0), quad[1].as_f64().unwrap_or(middle.1));
            let ((x, y), (left, top)) = (place.of_session.to_page(middle), place.of_session.to_page(corner));
            if !place.contains((x, y)) {
                continue;
            }
            labels.push(json!([format!("e{number}"), left, top, (x - left) * 2.0, (y - top) * 2.0]));
            if labels.len() == MAX_LABELS {
                break;
            }
        }
        Ok(labels)
    }
}

fn decode_picture(base64: &str) -> Result<Vec<u8>, PageError> {
    let bytes = BASE64_STANDARD.decode(base64).unwrap_or_default();
    if !bytes.starts_with(b"\x89PNG") || bytes.len() > MAX_PICTURE_BYTES {
        return Err(PageError::failed("The browser returned no usable picture."));
    }
    Ok(bytes)
}

/// Returns what is known about something visible.
fn skip_invisible<T>(found: Result<T, PageError>) -> Result<Option<T>, PageError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(PageError::Lost) => Err(PageError::Lost),
        Err(PageError::Failed(_)) => Ok(None),
    }
}
