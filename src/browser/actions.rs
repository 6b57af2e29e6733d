//! Does the actions on the page.

use super::driver::Driver;
use super::frame::Element;
use super::keystroke::Keystroke;
use super::page_watch::{HistoryEntry, LoadStage, PageError};
use super::snapshot::References;
use super::step::{ActionKind, Direction, Step};
use serde_json::{Value, json};
use std::time::Duration;

/// Time for which an element is waited for, and the time between two looks.
const WAIT_TIME: Duration = Duration::from_secs(30);
const WAIT_INTERVAL: Duration = Duration::from_millis(200);

/// Focuses a field and selects its content. Returns how its value is entered.
const PREPARE_FIELD: &str = "function(selects) {
    // Keys go to what has the focus, which a script may have moved elsewhere.
    const prepared = () => {
        const active = this.getRootNode().activeElement;
        const isFocused = active === this || this.isContentEditable && active?.isContentEditable;
        return isFocused ? 'text' : 'error:the field does not take the focus';
    };
    if (this.disabled) return 'error:the field is disabled';
    if (this.readOnly) return 'error:the field is read-only';
    if (this instanceof HTMLInputElement) {
        const pressed = ['checkbox', 'radio', 'file', 'button', 'submit', 'reset', 'image', 'hidden'];
        if (pressed.includes(this.type)) return 'error:the element is no text field';
        if (['date', 'time', 'month', 'week', 'datetime-local', 'color', 'range'].includes(this.type)) return 'set';
        this.focus();
        if (selects) this.select();
        return prepared();
    }
    if (this instanceof HTMLTextAreaElement) {
        this.focus();
        if (selects) this.select();
        return prepared();
    }
    if (this.isContentEditable) {
        this.focus();
        const range = document.createRange();
        range.selectNodeContents(this);
        if (!selects) range.collapse(false);
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        return prepared();
    }
    return 'error:the element is no text field';
}";

/// Sets the value of a field that has no text.
const SET_FIELD: &str = "function(value) {
    this.focus();
    this.value = value;
    this.dispatchEvent(new Event('input', { bubbles: true }));
    this.dispatchEvent(new Event('change', { bubbles: true }));
    return this.value === value ? 'ok' : 'error:the field does not accept this value';
}";

/// Selects an option by its value or its text.
const SELECT_OPTION: &str = "function(value) {
    if (!(this instanceof HTMLSelectElement)) return 'error:the element is no list of options';
    if (this.disabled) return 'error:the list is disabled';
    const options = [...this.options];
    const found = options.find(option => option.value === value)
        || options.find(option => option.label.trim() === value.trim());
    if (!found) return 'error:the list has no such option';
    if (found.disabled) return 'error:the option is disabled';
    this.focus();
    found.selected = true;
    this.dispatchEvent(new Event('input', { bubbles: true }));
    this.dispatchEvent(new Event('change', { bubbles: true }));
    return 'ok';
}";

/// Returns whether a box is checked.
const READ_CHECKED: &str = "function() {
    if (this instanceof HTMLInputElement && ['checkbox', 'radio'].includes(this.type)) return this.checked;
    const state = this.getAttribute('aria-checked');
    return state === null ? 'error:the element cannot be checked' : state === 'true';
}";

/// Scrolls what is in the middle of the window by most of its size. Returns whether it moved.
const SCROLL: &str = "function(x, y) {
    const middle = document.elementFromPoint(innerWidth / 2, innerHeight / 2);
    const root = document.scrollingElement || document.documentElement;
    for (let element = middle; ; element = element ? element.parentElement || root : root) {
        const before = [element?.scrollLeft, element?.scrollTop];
        const size = element === root || !element ? [innerWidth, innerHeight] : [element.clientWidth, element.clientHeight];
        element?.scrollBy({ left: x * size[0] * 0.8, top: y * size[1] * 0.8, behavior: 'instant' });
        if (element && (element.scrollLeft !== before[0] || element.scrollTop !== before[1])) return true;
        if (element === root) return false;
    }
}";

impl dyn Driver {
    /// Does an action, `back` and `forward` only to this address. Only documents of the allowed hosts can become the page.
    pub async fn act(&self, step: &Step, address: Option<&str>, references: &References) -> Result<(), PageError> {
        let node = || self.find_element(&step.target, references);
        match step.action {
            ActionKind::Back => {
                let [back, _] = self.read_history().await?;
                return self.go_through_history(back, address).await;
            }
            ActionKind::Forward => {
                let [_, forward] = self.read_history().await?;
                return self.go_through_history(forward, address).await;
            }
            ActionKind::Reload => return self.reload_page().await,
            ActionKind::Wait => return self.wait_for_element(&step.target, references).await,
            ActionKind::Scroll => return self.scroll(step.direction).await,
            ActionKind::Press => {
                let key = Keystroke::parse(&step.value).map_err(PageError::Failed)?;
                self.press(&key, None).await?;
            }
            ActionKind::Click => self.click(&node().await?, 1).await?,
            ActionKind::Dblclick => self.click(&node().await?, 2).await?,
            ActionKind::Hover => self.click(&node().await?, 0).await?,
            ActionKind::Check => self.set_checked(&node().await?, true).await?,
            ActionKind::Uncheck => self.set_checked(&node().await?, false).await?,
            ActionKind::Fill => self.fill(&node().await?, &step.value).await?,
            ActionKind::Type => self.type_text(&node().await?, &step.value).await?,
            ActionKind::Select => {
                self.call_function(&node().await?, SELECT_OPTION, &[json!(step.value)]).await?;
            }
        }
        self.watch().settle().await
    }

    async fn type_text(&self, element: &Element, text: &str) -> Result<(), PageError> {
        let kind = self.call_function(element, PREPARE_FIELD, &[json!(false)]).await?;
        if kind != "text" {
            return Err(PageError::failed("Only text can be typed there; use fill."));
        }
        self.check_focus(element).await?;
        for character in text.chars() {
            // A page must not receive what is typed for a frame of another host.
            if element.frame.parent.is_some() {
                self.check_focus(element).await?;
            }
            let name = match character {
                '\n' => "Enter".to_owned(),
                '\t' => "Tab".to_owned(),
                character => character.to_string(),
            };
            self.press(&Keystroke::parse(&name).map_err(PageError::Failed)?, Some(element)).await?;
        }
        Ok(())
    }

    async fn fill(&self, element: &Element, value: &str) -> Result<(), PageError> {
        self.scroll_into_view(element).await?;
        let kind = self.call_function(element, PREPARE_FIELD, &[json!(true)]).await?;
        if kind == "set" {
            return self.call_function(element, SET_FIELD, &[json!(value)]).await.map(drop);
        }
        self.check_focus(element).await?;
        if value.is_empty() {
            return self.press(&Keystroke::parse("Delete").map_err(PageError::Failed)?, Some(element)).await;
        }
        self.insert_text(element, value).await
    }

    async fn set_checked(&self, element: &Element, wanted: bool) -> Result<(), PageError> {
        if self.call_function(element, READ_CHECKED, &[]).await? == wanted {
            return Ok(());
        }
        self.click(element, 1).await?;
        self.watch().settle().await?;
        match self.call_function(element, READ_CHECKED, &[]).await {
            Ok(state) if state != wanted => Err(PageError::failed("The click did not change the element.")),
            Err(PageError::Lost) => Err(PageError::Lost),
            // The click may have replaced the element.
            Ok(_) | Err(PageError::Failed(_)) => Ok(()),
        }
    }

    async fn scroll(&self, direction: Direction) -> Result<(), PageError> {
        let (x, y) = direction.to_signs();
        let root = self.find_root().await?;
        let has_moved = self.call_function(&root, SCROLL, &[json!(x), json!(y)]).await?;
        if has_moved != Value::Bool(true) {
            self.watch().add_note(&format!("Nothing was scrolled: there is no more {}.", direction.name()));
        }
        self.watch().settle().await
    }

    async fn wait_for_element(&self, target: &str, references: &References) -> Result<(), PageError> {
        let look = async {
            loop {
                let found = match self.find_element(target, references).await {
                    Ok(element) => self.is_visible(&element).await,
                    Err(error) => Err(error),
                };
                match found {
                    Ok(true) => return Ok(()),
                    Err(PageError::Lost) => return Err(PageError::Lost),
                    Ok(false) | Err(PageError::Failed(_)) => tokio::time::sleep(WAIT_INTERVAL).await,
                }
            }
        };
        let waited = tokio::time::timeout(WAIT_TIME, look).await;
        waited.unwrap_or_else(|_| {
            let seconds = WAIT_TIME.as_secs();
            Err(PageError::Failed(format!("The target did not appear within {seconds} s.")))
        })
    }

    async fn go_through_history(&self, entry: Option<HistoryEntry>, address: Option<&str>) -> Result<(), PageError> {
        let Some(entry) = entry.filter(|entry| Some(entry.url.as_str()) == address) else {
            return Err(PageError::failed("The history has changed since the call was planned. Nothing was done."));
        };
        self.open_history_entry(&entry).await?;
        self.watch().settle().await
    }

    async fn reload_page(&self) -> Result<(), PageError> {
        let before = self.watch().state().document;
        self.reload().await?;
        self.watch().settle().await?;
        self.refresh().await?;
        if self.watch().state().document == before {
            self.watch().add_note("The page was not reloaded.");
            return Ok(());
        }
        self.watch().wait_for_stage(LoadStage::Load).await
    }
}
