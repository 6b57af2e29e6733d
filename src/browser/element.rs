//! Elements of the page and its frames: finds them, calls functions on them, and points at them with the mouse.
//!
//! Functions run in a world of their own, in which scripts of the page can change nothing.

use super::driver::Driver;
use super::frame::{Element, Frame};
use super::hit_test::{invisible, look_until_found};
use super::page::Page;
use super::page_watch::PageError;
use serde_json::{Value, json};

impl Page {
    /// Finds the first element of the page itself that a CSS selector matches.
    pub async fn find_by_selector(&self, selector: &str) -> Result<Element, PageError> {
        let missing = || PageError::Failed("No element of the page matches the target.".to_owned());
        let document = self.send("DOM.getDocument", json!({ "depth": 0 })).await?;
        let query = json!({ "nodeId": document["root"]["nodeId"], "selector": selector });
        let found = self.send("DOM.querySelector", query).await.map_err(|error| match error {
            PageError::Lost => PageError::Lost,
            PageError::Failed(_) => {
                PageError::failed("The target is neither a reference such as e1 nor a CSS selector.")
            }
        })?;
        let node = found["nodeId"].as_i64().filter(|node| *node != 0).ok_or_else(missing)?;
        let described = self.send("DOM.describeNode", json!({ "nodeId": node })).await?;
        let node = described["node"]["backendNodeId"].as_i64().ok_or_else(missing)?;
        Ok(Element { frame: self.main_frame(), node })
    }

    /// Returns the element of the whole document of the page.
    pub async fn find_root(&self) -> Result<Element, PageError> {
        let document = self.send("DOM.getDocument", json!({ "depth": 0 })).await?;
        let node = document["root"]["backendNodeId"].as_i64().ok_or_else(|| PageError::failed("The page is empty."))?;
        Ok(Element { frame: self.main_frame(), node })
    }

    /// Sends a command about an element, whose number is added.
    pub async fn send_about(&self, element: &Element, method: &str) -> Result<Value, PageError> {
        self.send_to(&element.frame, method, json!({ "backendNodeId": element.node })).await
    }

    /// Returns a world in the frame, in which scripts of it can change nothing.
    pub async fn create_world(&self, frame: &Frame) -> Result<Value, PageError> {
        let world = json!({ "frameId": frame.id, "worldName": "aye" });
        Ok(self.send_to(frame, "Page.createIsolatedWorld", world).await?["executionContextId"].take())
    }

    /// Calls a function on an element and returns its result. A text after `error:` is an error.
    pub async fn call_function(
        &self,
        element: &Element,
        function: &str,
        arguments: &[Value],
    ) -> Result<Value, PageError> {
        let frame = &element.frame;
        let is_gone = |error| match error {
            PageError::Lost => PageError::Lost,
            PageError::Failed(_) => PageError::failed("The element is no longer on the page."),
        };
        let world = self.create_world(frame).await.map_err(is_gone)?;
        let resolve = json!({ "backendNodeId": element.node, "executionContextId": world, "objectGroup": "aye" });
        let object = self.send_to(frame, "DOM.resolveNode", resolve).await.map_err(is_gone)?;
        let arguments: Vec<Value> = arguments.iter().map(|argument| json!({ "value": argument })).collect();
        let call = json!({
            "objectId": object["object"]["objectId"], "functionDeclaration": function, "arguments": arguments,
            "returnByValue": true, "userGesture": true,
        });
        let called = self.send_to(frame, "Runtime.callFunctionOn", call).await?;
        self.send_to(frame, "Runtime.releaseObjectGroup", json!({ "objectGroup": "aye" })).await?;
        if !called["exceptionDetails"].is_null() {
            return Err(PageError::failed("The page does not allow this with the element."));
        }
        let value = called["result"]["value"].clone();
        match value.as_str().and_then(|text| text.strip_prefix("error:")) {
            Some(error) => Err(PageError::Failed(format!("This is not possible: {error}."))),
            None => Ok(value),
        }
    }

    /// Scrolls an element into view. Returns its middle on the page, which the pointer would hit.
    pub async fn find_middle(&self, element: &Element) -> Result<(f64, f64), PageError> {
        self.send_about(element, "DOM.scrollIntoViewIfNeeded").await.map_err(lost_or_invisible)?;
        look_until_found(element, || self.hit_middle(element)).await
    }

    /// Returns the middle of an element on the page, if the pointer would hit it in its frame, and its frame in all around it.
    async fn hit_middle(&self, element: &Element) -> Result<(f64, f64), PageError> {
        let quads = self.send_about(element, "DOM.getContentQuads").await.map_err(lost_or_invisible)?;
        let middle = quads["quads"].as_array().into_iter().flatten().find_map(middle_of_quad).ok_or_else(invisible)?;
        let places = self.place_frame(&element.frame).await?;
        let middle = places.first().ok_or_else(invisible)?.1.of_session.to_page(middle);
        let driver: &dyn Driver = self;
        driver.check_hit(element, &places, middle).await?;
        Ok(middle)
    }

    /// Moves the pointer to a point, and presses the left button there `clicks` times.
    pub async fn click_at(&self, (x, y): (f64, f64), clicks: u32) -> Result<(), PageError> {
        let event = |kind: &str, count: u32| {
            let (button, buttons) = if count == 0 { ("none", 0) } else { ("left", 1) };
            json!({ "type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": count })
        };
        self.send("Input.dispatchMouseEvent", event("mouseMoved", 0)).await?;
        for count in 1..=clicks {
            self.send("Input.dispatchMouseEvent", event("mousePressed", count)).await?;
            self.send("Input.dispatchMouseEvent", event("mouseReleased", count)).await?;
        }
        Ok(())
    }
}

fn lost_or_invisible(error: PageError) -> PageError {
    if error == PageError::Lost { error } else { invisible() }
}

/// Returns the middle of four corners; `None` if they enclose nothing.
pub fn middle_of_quad(quad: &Value) -> Option<(f64, f64)> {
    let corners: Vec<f64> = quad.as_array()?.iter().filter_map(Value::as_f64).collect();
    let [x1, y1, x2, y2, x3, y3, x4, y4] = corners[..] else { return None };
    let area = (x1 * y2 - x2 * y1 + x2 * y3 - x3 * y2 + x3 * y4 - x4 * y3 + x4 * y1 - x1 * y4).abs() / 2.0;
    (area >= 1.0).then_some(((x1 + x2 + x3 + x4) / 4.0, (y1 + y2 + y3 + y4) / 4.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_quad_needs_an_area() {
        assert_eq!(middle_of_quad(&json!([0, 0, 10, 0, 10, 4, 0, 4])), Some((5.0, 2.0)));
        assert_eq!(middle_of_quad(&json!([0, 0, 10, 0, 10, 0, 0, 0])), None);
        for quad in [json!(null), json!([1, 2]), json!([0, 0, "x", 0, 10, 4, 0, 4])] {
            assert_eq!(middle_of_quad(&quad), None);
        }
    }
}
