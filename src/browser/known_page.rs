//! The page between two calls: what calls are planned for.

use super::snapshot::References;
use super::step::{ActionKind, Step};
use crate::web::target::Target;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The page as the last call left it.
#[derive(Debug, Clone)]
pub struct KnownPage {
    pub target: Target,
    /// Name of the document.
    pub document: String,
    pub references: Arc<References>,
    /// Host of the frame that receives keys, if it is another one.
    pub focused_host: Option<String>,
    /// Addresses that `back` and `forward` lead to.
    pub history: [Option<String>; 2],
}

/// What a call on the page was planned for. It is compared with the page before anything is done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedPage {
    pub host: String,
    /// Name of the document and path of its address, for an action with a target or a key.
    pub document: Option<(String, String)>,
    /// Description of the element of a reference.
    pub element: Option<String>,
    /// Host of the frame that the action is done in, if it is another one.
    #[serde(default)]
    pub frame_host: Option<String>,
    /// Address in the history.
    pub address: Option<String>,
}

impl KnownPage {
    /// Returns what a call is planned for, which only looks at the page if it has no step.
    ///
    /// # Errors
    /// One sentence for the model.
    pub fn plan_call(&self, step: Option<&Step>) -> Result<PlannedPage, String> {
        let mut planned = PlannedPage { host: self.target.host.clone(), ..PlannedPage::default() };
        let Some(step) = step else { return Ok(planned) };
        planned.document = step.is_for_document().then(|| (self.document.clone(), self.target.url.path().to_owned()));
        if let Some(found) = self.references.find(&step.target).transpose()? {
            planned.element = Some(found.description.clone());
            planned.frame_host = found.element.frame.host.clone().filter(|host| *host != planned.host);
        }
        if step.action == ActionKind::Press {
            planned.frame_host = self.focused_host.clone();
        }
        let [back, forward] = &self.history;
        let address = match step.action {
            ActionKind::Back => back,
            ActionKind::Forward => forward,
            ActionKind::Click
            | ActionKind::Dblclick
            | ActionKind::Fill
            | ActionKind::Type
            | ActionKind::Scroll
            | ActionKind::Hover
            | ActionKind::Press
            | ActionKind::Check
            | ActionKind::Uncheck
            | ActionKind::Select
            | ActionKind::Wait
            | ActionKind::Reload => return Ok(planned),
        };
        planned.address = Some(address.clone().ok_or("The history has no page there.")?);
        Ok(planned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::target::{PrivateHosts, parse_target};

    #[test]
    fn a_call_with_a_target_or_a_key_is_planned_for_one_document() {
        let target = parse_target("https://a.example/pay?to=b#c", &PrivateHosts::default()).unwrap();
        let history = [Some("https://a.example/".to_owned()), None];
        let references = Arc::default();
        let known = KnownPage { target, document: "D".into(), references, focused_host: None, history };
        for action in ActionKind::ALL {
            let (has_target, has_value) = action.arguments();
            let text = |given: bool| given.then(|| "a".to_owned());
            let step = Step::from_arguments(action, text(has_target), text(has_value), None).unwrap();
            let planned = known.plan_call(Some(&step));
            let expected_address = match action {
                ActionKind::Back => Some("https://a.example/".to_owned()),
                ActionKind::Forward => {
                    assert_eq!(planned, Err("The history has no page there.".to_owned()));
                    continue;
                }
                _ => None,
            };
            let planned = planned.unwrap();
            let document = Some(("D".to_owned(), "/pay".to_owned())).filter(|_| has_target || has_value);
            assert_eq!((planned.document, planned.address), (document, expected_address), "{action:?}");
        }
        let step = Step::from_arguments(ActionKind::Click, Some("e1".into()), None, None).unwrap();
        assert_eq!(known.plan_call(Some(&step)), Err("e1 is not on the page as it is now.".to_owned()));
        assert_eq!(known.plan_call(None).unwrap().document, None);
        // Keys go to the frame with the focus, whatever the page is.
        let press = Step::from_arguments(ActionKind::Press, None, Some("Enter".into()), None).unwrap();
        let known = KnownPage { focused_host: Some("b.example".into()), ..known };
        assert_eq!(known.plan_call(Some(&press)).unwrap().frame_host.as_deref(), Some("b.example"));
    }
}
