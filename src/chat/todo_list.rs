//! The todo list of the model: the steps of its work, as it last wrote them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::Write;

/// Name of the tool that writes the list.
pub const TODO_WRITE: &str = "todo_write";

/// Maximum number of todos.
pub const MAX_TODOS: usize = 50;
/// Maximum bytes of each text of a todo.
pub const MAX_TODO_BYTES: usize = 400;

/// The todos, in the model's order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TodoList {
    pub todos: Vec<Todo>,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Todo {
    /// What to do: `Run the tests`.
    pub content: String,
    /// The same while it is done: `Running the tests`.
    pub active_form: String,
    pub status: TodoStatus,
}

/// State of a todo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    Pending,
    InProgress,
    Completed,
}

impl Todo {
    /// Returns the text that fits its state.
    pub fn text(&self) -> &str {
        if self.status == TodoStatus::InProgress { &self.active_form } else { &self.content }
    }
}

impl TodoList {
    /// Returns the list in the arguments of a call; `None` if it is missing or beyond a limit. The arguments may be an object in a JSON
    /// string.
    pub fn from_arguments(arguments: &Value) -> Option<Self> {
        let list: Self = match arguments {
            Value::String(inner) => serde_json::from_str(inner).ok()?,
            arguments => Self::deserialize(arguments).ok()?,
        };
        list.check().is_ok().then_some(list)
    }

    /// Checks the limits.
    ///
    /// # Errors
    /// What is wrong and what was expected.
    pub fn check(&self) -> Result<(), String> {
        if self.todos.len() > MAX_TODOS {
            return Err(format!("{} todos were given; expected at most {MAX_TODOS}", self.todos.len()));
        }
        for (index, todo) in self.todos.iter().enumerate() {
            for (name, text) in [("content", &todo.content), ("activeForm", &todo.active_form)] {
                if text.trim().is_empty() {
                    return Err(format!("todos[{index}].{name} is empty; expected a few words"));
                }
                if text.len() > MAX_TODO_BYTES {
                    return Err(format!(
                        "todos[{index}].{name} has {} bytes; expected at most {MAX_TODO_BYTES}",
                        text.len()
                    ));
                }
            }
        }
        match self.count(TodoStatus::InProgress) {
            0 | 1 => Ok(()),
            count => Err(format!("{count} todos are in_progress; expected at most one")),
        }
    }

    /// Returns the number of todos in this state.
    pub fn count(&self, status: TodoStatus) -> usize {
        self.todos.iter().filter(|todo| todo.status == status).count()
    }

    /// Returns whether a todo is left to do.
    pub fn is_open(&self) -> bool {
        self.todos.iter().any(|todo| todo.status != TodoStatus::Completed)
    }

    /// Returns the index of the todo that is worked on: the one in progress, else the first pending one.
    pub fn current_index(&self) -> Option<usize> {
        let find = |status| self.todos.iter().position(|todo| todo.status == status);
        find(TodoStatus::InProgress).or_else(|| find(TodoStatus::Pending))
    }

    /// Describes the progress in a few words: `2 of 5 done`.
    pub fn progress(&self) -> String {
        match self.todos.len() {
            0 => "no todos".to_owned(),
            count => format!("{} of {count} done", self.count(TodoStatus::Completed)),
        }
    }

    /// Writes the list as a task list in Markdown; the todo in progress has the mark `[-]`.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for todo in &self.todos {
            let mark = match todo.status {
                TodoStatus::Completed => 'x',
                TodoStatus::InProgress => '-',
                TodoStatus::Pending => ' ',
            };
            let _ = writeln!(text, "- [{mark}] {}", todo.content);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn list(statuses: &[&str]) -> Value {
        let todo = |(index, status): (usize, &&str)| json!({"content": format!("Do {index}"), "activeForm": format!("Doing {index}"), "status": status});
        json!({ "todos": statuses.iter().enumerate().map(todo).collect::<Vec<_>>() })
    }

    #[test]
    fn a_list_has_at_most_one_todo_in_progress() {
        let two = TodoList::deserialize(&list(&["in_progress", "in_progress"])).unwrap();
        assert_eq!(two.check(), Err("2 todos are in_progress; expected at most one".to_owned()));
        assert_eq!(TodoList::from_arguments(&list(&["in_progress", "in_progress"])), None);
        assert!(TodoList::from_arguments(&list(&["completed", "in_progress", "pending"])).is_some());
    }

    #[test]
    fn limits_are_exact() {
        assert!(TodoList::from_arguments(&list(&["pending"; MAX_TODOS])).is_some());
        let many = TodoList::deserialize(&list(&["pending"; MAX_TODOS + 1])).unwrap();
        assert_eq!(many.check(), Err("51 todos were given; expected at most 50".to_owned()));
        for (bytes, is_accepted) in [(0, false), (1, true), (MAX_TODO_BYTES, true), (MAX_TODO_BYTES + 1, false)] {
            let mut todos = list(&["pending"]);
            todos["todos"][0]["content"] = "x".repeat(bytes).into();
            assert_eq!(TodoList::from_arguments(&todos).is_some(), is_accepted, "{bytes}");
        }
    }

    #[test]
    fn a_list_in_a_string_is_accepted_and_nothing_unknown_is() {
        let text = Value::String(list(&["pending"]).to_string());
        assert!(TodoList::from_arguments(&text).is_some());
        let mut unknown = list(&["pending"]);
        unknown["todos"][0]["owner"] = "me".into();
        assert_eq!(TodoList::from_arguments(&unknown), None);
        assert_eq!(TodoList::from_arguments(&list(&["done"])), None);
    }

    #[test]
    fn the_current_todo_is_the_one_in_progress_else_the_first_pending_one() {
        let current = |statuses: &[&str]| TodoList::from_arguments(&list(statuses)).unwrap().current_index();
        assert_eq!(current(&["pending", "in_progress"]), Some(1));
        assert_eq!(current(&["completed", "pending", "pending"]), Some(1));
        assert_eq!(current(&["completed"]), None);
        assert_eq!(current(&[]), None);
    }
}
