//! Elements of the page: finds them, calls functions on them, and points at them with the mouse.
//!
//! Functions run in a world of their own, in which scripts of the page can change nothing.

use super::page::{Page, PageError};
use super::snapshot::References;
use serde_json::{Value, json};

/// Whether the pointer would hit the element at a point, or what is there instead.
const HIT_TEST: &str = "function(x, y) {
    let hit = document.elementFromPoint(x, y);
    while (hit && hit.shadowRoot) {
        const inner = hit.shadowRoot.elementFromPoint(x, y);
        if (!inner || inner === hit) break;
        hit = inner;
    }
    if (!hit) return 'outside';
    for (let node = hit; node; node = node.parentNode || node.host) {
        if (node === this || node.control === this) return 'hit';
    }
    return 'covered';
}";

impl Page {
    /// Finds the element of a reference or of a CSS selector. Returns the browser's number of it.
    pub async fn find_element(&self, target: &str, references: &References) -> Result<i64, PageError> {
        if let Some(found) = references.find(target) {
            return found.map(|element| element.node).map_err(PageError::Failed);
        }
        let missing = || PageError::Failed("No element of the page matches the target.".to_owned());
        let document = self.send("DOM.getDocument", json!({ "depth": 0 })).await?;
        let query = json!({ "nodeId": document["root"]["nodeId"], "selector": target });
        let found = self.send("DOM.querySelector", query).await.map_err(|error| match error {
            PageError::Lost => PageError::Lost,
            PageError::Failed(_) => {
                PageError::failed("The target is neither a reference such as e1 nor a CSS selector.")
            }
        })?;
        let node = found["nodeId"].as_i64().filter(|node| *node != 0).ok_or_else(missing)?;
        let described = self.send("DOM.describeNode", json!({ "nodeId": node })).await?;
        described["node"]["backendNodeId"].as_i64().ok_or_else(missing)
    }

    /// Calls a function on an element and returns its result. A text after `error:` is an error.
    pub async fn call_function(&self, node: i64, function: &str, arguments: &[Value]) -> Result<Value, PageError> {
        let tree = self.send("Page.getFrameTree", json!({})).await?;
        let world = json!({ "frameId": tree["frameTree"]["frame"]["id"], "worldName": "aye" });
        let world = self.send("Page.createIsolatedWorld", world).await?;
        let resolve = json!({
            "backendNodeId": node, "executionContextId": world["executionContextId"], "objectGroup": "aye",
        });
        let resolved = self.send("DOM.resolveNode", resolve).await;
        let object = resolved.map_err(|error| match error {
            PageError::Lost => PageError::Lost,
            PageError::Failed(_) => PageError::failed("The element is no longer on the page."),
        })?;
        let arguments: Vec<Value> = arguments.iter().map(|argument| json!({ "value": argument })).collect();
        let call = json!({
            "objectId": object["object"]["objectId"], "functionDeclaration": function, "arguments": arguments,
            "returnByValue": true, "userGesture": true,
        });
        let called = self.send("Runtime.callFunctionOn", call).await?;
        self.send("Runtime.releaseObjectGroup", json!({ "objectGroup": "aye" })).await?;
        if !called["exceptionDetails"].is_null() {
            return Err(PageError::failed("The page does not allow this with the element."));
        }
        let value = called["result"]["value"].clone();
        match value.as_str().and_then(|text| text.strip_prefix("error:")) {
            Some(error) => Err(PageError::Failed(format!("This is not possible: {error}."))),
            None => Ok(value),
        }
    }

    /// Scrolls an element into view. Returns its middle, which the pointer would hit.
    pub async fn find_middle(&self, node: i64) -> Result<(f64, f64), PageError> {
        let node_of = || json!({ "backendNodeId": node });
        let invisible = || PageError::failed("The element is not visible.");
        let lost_or_invisible = |error| if error == PageError::Lost { PageError::Lost } else { invisible() };
        self.send("DOM.scrollIntoViewIfNeeded", node_of()).await.map_err(lost_or_invisible)?;
        let quads = self.send("DOM.getContentQuads", node_of()).await.map_err(lost_or_invisible)?;
        let (x, y) = quads["quads"].as_array().into_iter().flatten().find_map(middle_of_quad).ok_or_else(invisible)?;
        match self.call_function(node, HIT_TEST, &[json!(x), json!(y)]).await?.as_str() {
            Some("hit") => Ok((x, y)),
            Some("covered") => Err(PageError::failed("Another element covers the target.")),
            _ => Err(invisible()),
        }
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
