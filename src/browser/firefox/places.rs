//! Where elements and frames of Firefox are on the page.

use super::page::FirefoxPage;
use crate::browser::driver::Driver;
use crate::browser::frame::{Element, Frame};
use crate::browser::frame_place::FramePlace;
use crate::browser::hit_test::{invisible, look_until_found};
use crate::browser::page_watch::PageError;
use crate::browser::snapshot::References;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of labels.
const MAX_LABELS: usize = 150;

/// Scrolls an element into the middle unless it is visible as a whole.
const SCROLL_INTO_VIEW: &str = "function() {
    const { left, top, right, bottom } = this.getBoundingClientRect();
    if (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight) {
        this.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    }
    return 'ok';
}";

/// Returns the first rectangle of an element that has a size: left, top, right and bottom. An empty list if none has.
const FIND_RECTANGLE: &str = "function() {
    if (!this.checkVisibility({ visibilityProperty: true })) return [];
    const found = [...this.getClientRects()].find(({ width, height }) => width * height >= 1);
    return found ? [found.left, found.top, found.right, found.bottom] : [];
}";

/// Returns the rectangle of the content of a frame; an empty list if it is rotated.
const FIND_FRAME_RECTANGLE: &str = "function() {
    for (let node = this; node instanceof Element; node = node.parentElement || node.getRootNode().host) {
        const { transform, rotate } = getComputedStyle(node), matrix = new DOMMatrix(transform);
        const isUpright = matrix.is2D && matrix.a > 0 && matrix.d > 0 && Math.abs(matrix.b) + Math.abs(matrix.c) < 1e-6;
        if (!isUpright || rotate !== 'none') return [];
    }
    const { left, top, width } = this.getBoundingClientRect(), style = getComputedStyle(this);
    const scale = width / this.offsetWidth, inset = name => parseFloat(style['padding' + name]) || 0;
    const x = left + (this.clientLeft + inset('Left')) * scale, y = top + (this.clientTop + inset('Top')) * scale;
    const size = [this.clientWidth - inset('Left') - inset('Right'), this.clientHeight - inset('Top') - inset('Bottom')];
    return [x, y, x + size[0] * scale, y + size[1] * scale];
}";

impl FirefoxPage {
    /// Scrolls an element into view, in its frame and in all around it.
    pub async fn scroll_into_view(&self, element: &Element) -> Result<(), PageError> {
        let mut chain = vec![element.clone()];
        while let Some(parent) = chain.last().and_then(|element| element.frame.parent.clone()) {
            chain.push(Element { frame: parent.frame, node: parent.owner });
        }
        for element in chain.iter().rev() {
            self.call_function(element, SCROLL_INTO_VIEW, &[]).await?;
        }
        Ok(())
    }

    /// Returns the rectangle of an element in its frame; `None` if it is not visible.
    pub async fn find_rectangle(&self, element: &Element) -> Result<Option<[f64; 4]>, PageError> {
        Ok(parse_rectangle(&self.call_function(element, FIND_RECTANGLE, &[]).await?))
    }

    /// Scrolls an element into view. Returns its middle in its frame, which the pointer would hit there and in all around it.
    pub async fn find_middle(&self, element: &Element) -> Result<(f64, f64), PageError> {
        self.scroll_into_view(element).await?;
        look_until_found(element, || self.hit_middle(element)).await
    }

    async fn hit_middle(&self, element: &Element) -> Result<(f64, f64), PageError> {
        let [left, top, right, bottom] = self.find_rectangle(element).await?.ok_or_else(invisible)?;
        let middle = ((left + right) / 2.0, (top + bottom) / 2.0);
        let places = self.place_frame(&element.frame).await?;
        let on_page = places.first().ok_or_else(invisible)?.1.of_view.to_page(middle);
        let driver: &dyn Driver = self;
        driver.check_hit(element, &places, on_page).await?;
        Ok(middle)
    }

    /// Returns a frame and all around it, with their places, the page last.
    async fn place_frame(&self, frame: &Arc<Frame>) -> Result<Vec<(Arc<Frame>, FramePlace)>, PageError> {
        let mut place = FramePlace::page();
        let mut places = Vec::new();
        for frame in frame.with_frames_around().into_iter().rev() {
            if let Some(parent) = &frame.parent {
                let hidden = || PageError::failed("The frame of the element is not visible.");
                let owner = Element { frame: parent.frame.clone(), node: parent.owner };
                let found = self.call_function(&owner, FIND_FRAME_RECTANGLE, &[]).await;
                let found = found.map_err(|error| if error == PageError::Lost { error } else { hidden() })?;
                let shown_at = parse_rectangle(&found).ok_or_else(hidden)?;
                let width = self.run_in(frame, "return innerWidth", &[]).await?["value"].as_f64().unwrap_or(0.0);
                place = place.place_inside(shown_at, width, true).ok_or_else(hidden)?;
            }
            places.push((frame.clone(), place));
        }
        places.reverse();
        Ok(places)
    }

    /// Returns the labels of visible elements.
    pub async fn find_labels(&self, references: &References) -> Result<Vec<Value>, PageError> {
        let mut elements: Vec<_> = references.elements().iter().collect();
        elements.sort_by_key(|(number, _)| **number);
        let mut places: HashMap<&str, Option<FramePlace>> = HashMap::new();
        let mut labels = Vec::new();
        for (number, found) in elements {
            let (element, frame) = (&found.element, &found.element.frame);
            if !places.contains_key(frame.id.as_str()) {
                let place = skip_failed(self.place_frame(frame).await)?;
                places.insert(&frame.id, place.and_then(|places| Some(places.first()?.1)));
            }
            let Some(Some(place)) = places.get(frame.id.as_str()) else { continue };
            let Some(rectangle) = skip_failed(self.find_rectangle(element).await)?.flatten() else { continue };
            let (left, top) = place.of_view.to_page((rectangle[0], rectangle[1]));
            let (right, bottom) = place.of_view.to_page((rectangle[2], rectangle[3]));
            if !place.contains(((left + right) / 2.0, (top + bottom) / 2.0)) {
                continue;
            }
            labels.push(json!([format!("e{number}"), left, top, right - left, bottom - top]));
            if labels.len() == MAX_LABELS {
                break;
            }
        }
        Ok(labels)
    }
}

/// Returns what is known about something visible.
fn skip_failed<T>(found: Result<T, PageError>) -> Result<Option<T>, PageError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(PageError::Lost) => Err(PageError::Lost),
        Err(PageError::Failed(_)) => Ok(None),
    }
}

fn parse_rectangle(found: &Value) -> Option<[f64; 4]> {
    let sides: Vec<f64> = found.as_array()?.iter().filter_map(Value::as_f64).collect();
    let [left, top, right, bottom] = sides[..] else { return None };
    (right - left >= 1.0 && bottom - top >= 1.0).then_some([left, top, right, bottom])
}
