//! Where frames are on the page: coordinates of a frame, of its process and of the page.

use super::frame::Frame;
use super::page::Page;
use super::page_watch::{PageError, VISIBLE_SIZE};
use serde_json::{Value, json};
use std::sync::Arc;

/// Coordinates that are moved and scaled on the page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    x: f64,
    y: f64,
    scale: f64,
}

/// A rectangle on the page: left, top, right and bottom.
pub type Bounds = [f64; 4];

/// Where a frame is on the page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FramePlace {
    /// Places the coordinates in which the process of the frame describes elements.
    pub of_session: Placement,
    /// Places the coordinates that scripts of the frame see.
    pub of_view: Placement,
    /// The part of the page in which the frame can be visible.
    pub bounds: Bounds,
}

impl Placement {
    const PAGE: Self = Self { x: 0.0, y: 0.0, scale: 1.0 };

    pub fn to_page(self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x + x * self.scale, self.y + y * self.scale)
    }

    pub fn to_local(self, (x, y): (f64, f64)) -> (f64, f64) {
        ((x - self.x) / self.scale, (y - self.y) / self.scale)
    }
}

impl FramePlace {
    /// Returns the place of the page itself.
    pub fn page() -> Self {
        let bounds = [0.0, 0.0, f64::from(VISIBLE_SIZE.0), f64::from(VISIBLE_SIZE.1)];
        Self { of_session: Placement::PAGE, of_view: Placement::PAGE, bounds }
    }

    /// Returns whether a point of the page is inside the bounds.
    pub fn contains(&self, (x, y): (f64, f64)) -> bool {
        let [left, top, right, bottom] = self.bounds;
        (left..right).contains(&x) && (top..bottom).contains(&y)
    }

    /// Returns the place of a frame inside this one, which its element shows at this rectangle. `width` is that of its view.
    pub fn place_inside(&self, shown_at: Bounds, width: f64, has_own_session: bool) -> Option<Self> {
        let [left, top, right, bottom] = shown_at;
        let (left, top) = self.of_session.to_page((left, top));
        let (right, bottom) = self.of_session.to_page((right, bottom));
        let scale = (right - left) / width;
        if !(scale.is_finite() && scale > 0.0) {
            return None;
        }
        let of_view = Placement { x: left, y: top, scale };
        let around = self.bounds;
        let bounds = [left.max(around[0]), top.max(around[1]), right.min(around[2]), bottom.min(around[3])];
        Some(Self { of_session: if has_own_session { of_view } else { self.of_session }, of_view, bounds })
    }
}

impl Page {
    /// Returns a frame and all around it, with their places, the page last.
    pub async fn place_frame(&self, frame: &Arc<Frame>) -> Result<Vec<(Arc<Frame>, FramePlace)>, PageError> {
        let mut place = FramePlace::page();
        let mut places = Vec::new();
        for frame in frame.with_frames_around().into_iter().rev() {
            if let Some(parent) = &frame.parent {
                let invisible = || PageError::failed("The frame of the element is not visible.");
                let of_owner = json!({ "backendNodeId": parent.owner });
                let model = self.send_to(&parent.frame, "DOM.getBoxModel", of_owner).await;
                let model = model.map_err(|error| if error == PageError::Lost { error } else { invisible() })?;
                let shown_at = parse_upright(&model["model"]["content"]).ok_or_else(invisible)?;
                let width = self.evaluate(frame, "innerWidth").await?.as_f64().unwrap_or(0.0);
                let has_own_session = frame.session != parent.frame.session;
                place = place.place_inside(shown_at, width, has_own_session).ok_or_else(invisible)?;
            }
            places.push((frame.clone(), place));
        }
        places.reverse();
        Ok(places)
    }
}

/// Returns the rectangle of four corners; `None` if it is rotated, mirrored or empty.
fn parse_upright(quad: &Value) -> Option<Bounds> {
    let corners: Vec<f64> = quad.as_array()?.iter().filter_map(Value::as_f64).collect();
    let [x1, y1, x2, y2, x3, y3, x4, y4] = corners[..] else { return None };
    let is_same = |a: f64, b: f64| (a - b).abs() < 0.5;
    let is_upright = is_same(y1, y2) && is_same(x2, x3) && is_same(y3, y4) && is_same(x1, x4);
    (is_upright && x3 - x1 >= 1.0 && y3 - y1 >= 1.0).then_some([x1, y1, x3, y3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_nested_frames_are_moved_scaled_and_clipped() {
        let page = FramePlace::page();
        // A frame of the same process at half its size, and one of another process inside it.
        let outer = page.place_inside([100.0, 50.0, 300.0, 150.0], 400.0, false).unwrap();
        assert_eq!(outer.of_view.to_page((40.0, 20.0)), (120.0, 60.0));
        assert_eq!(outer.of_session, Placement::PAGE, "its process describes elements as the page does");
        let inner = outer.place_inside([110.0, 60.0, 410.0, 90.0], 600.0, true).unwrap();
        assert_eq!(inner.of_session, inner.of_view);
        assert_eq!(inner.of_view.to_page((20.0, 10.0)), (120.0, 65.0));
        assert_eq!(inner.of_view.to_local((120.0, 65.0)), (20.0, 10.0));
        assert_eq!(inner.bounds, [110.0, 60.0, 300.0, 90.0], "the frame around it hides a part");
        assert!(inner.contains((299.0, 60.0)) && !inner.contains((301.0, 60.0)) && !inner.contains((120.0, 95.0)));
        assert_eq!(page.place_inside([0.0, 0.0, 10.0, 10.0], 0.0, true), None);
    }

    #[test]
    fn only_an_upright_frame_has_a_place() {
        assert_eq!(parse_upright(&json!([1, 2, 11, 2, 11, 6, 1, 6])), Some([1.0, 2.0, 11.0, 6.0]));
        for quad in [
            json!(null),
            json!([1, 2, 11, 2, 11, 2, 1, 2]),
            json!([1, 2, 11, 3, 10, 8, 0, 7]),
            json!([11, 2, 1, 2, 1, 6, 11, 6]),
        ] {
            assert_eq!(parse_upright(&quad), None, "{quad}");
        }
    }
}
