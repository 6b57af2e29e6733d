//! Whether the pointer would hit an element, in its frame and in all frames around it.

use super::driver::Driver;
use super::frame::{Element, Frame};
use super::frame_place::FramePlace;
use super::page_watch::PageError;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// Number of looks for an element of a frame, and the time between two: other processes scroll a little later.
const LOOKS: u32 = 5;
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Whether the pointer would hit the element at a point, or what is there instead. `isFrame` if the element is the frame in
/// which the pointer is to hit another one; otherwise no frame may be there, because it would receive what is for the element.
const HIT_TEST: &str = "function(x, y, isFrame) {
    let hit = document.elementFromPoint(x, y);
    while (hit && hit.shadowRoot) {
        const inner = hit.shadowRoot.elementFromPoint(x, y);
        if (!inner || inner === hit) break;
        hit = inner;
    }
    if (!hit) return 'outside';
    if (isFrame) return hit === this ? 'hit' : 'covered';
    if (['iframe', 'frame', 'object', 'embed', 'fencedframe'].includes(hit.localName)) return 'frame';
    for (let node = hit; node; node = node.parentNode || node.host) {
        if (node === this || node.control === this) return 'hit';
    }
    return 'covered';
}";

impl dyn Driver {
    /// Checks that the pointer would hit an element at a point of the page. `places` are its frame and all around it, the page
    /// last.
    pub async fn check_hit(
        &self,
        element: &Element,
        places: &[(Arc<Frame>, FramePlace)],
        on_page: (f64, f64),
    ) -> Result<(), PageError> {
        let mut node = element.node;
        for (depth, (frame, place)) in places.iter().enumerate() {
            let (x, y) = place.of_view.to_local(on_page);
            let looked_for = Element { frame: frame.clone(), node };
            let arguments = [json!(x), json!(y), json!(depth > 0)];
            match self.call_function(&looked_for, HIT_TEST, &arguments).await?.as_str() {
                Some("hit") => {}
                Some("covered") => return Err(PageError::failed("Another element covers the target.")),
                Some("frame") => {
                    let text = "A frame is at this place. Act on an element inside it, by its reference.";
                    return Err(PageError::failed(text));
                }
                _ => return Err(invisible()),
            }
            node = frame.parent.as_ref().map_or(0, |parent| parent.owner);
        }
        Ok(())
    }
}

/// Looks for an element until it is found, some times if it is in a frame.
pub async fn look_until_found<T, F>(element: &Element, look: impl Fn() -> F) -> Result<T, PageError>
where
    F: Future<Output = Result<T, PageError>>,
{
    let mut found = look().await;
    for _ in 1..LOOKS {
        if element.frame.parent.is_none() || !matches!(found, Err(PageError::Failed(_))) {
            break;
        }
        tokio::time::sleep(LOOK_INTERVAL).await;
        found = look().await;
    }
    found
}

pub fn invisible() -> PageError {
    PageError::failed("The element is not visible.")
}
