//! The list of MCP servers, the tools of one of them, and accepting those that changed.

use super::popup_stack;
use crate::chat::ServerReport;
use crate::tui::host::HostRequest;
use crate::tui::parts::confirmation::{AnswerLabels, Confirmation};
use crate::tui::parts::picker::{Picker, Row};
use crate::tui::popup::{ConfirmedAction, List, Popup};
use crate::tui::state::State;

/// Opens the list; its rows follow when the host has found them. In a dry run no server is started.
pub fn open_server_list(state: &mut State) {
    let picker = Picker::new("MCP servers", "Loading", Vec::new()).with_action_hint("enter open".to_owned());
    state.viewport.popups.push(Popup::List(picker, List::Servers(Vec::new())));
    state.send_request(HostRequest::ListServers { connects: !state.agent.is_dry_run() });
}

/// Shows the servers in the open list.
pub fn set_servers(state: &mut State, servers: Vec<ServerReport>) {
    for popup in &mut state.viewport.popups {
        if let Popup::List(picker, List::Servers(listed)) = popup {
            picker.set_empty_text("No MCP server. Add one with: aye mcp add NAME -- COMMAND");
            picker.set_rows(servers.iter().map(server_row).collect());
            listed.clone_from(&servers);
        }
    }
}

fn server_row(server: &ServerReport) -> Row {
    let changed = match server.changed_count {
        0 => String::new(),
        count => format!(" · {count} changed"),
    };
    Row::new(&server.name).with_secondary(&server.place).with_detail(&format!("{}{changed}", server.status))
}

/// Opens the tools of the server in a row, or the difference if they changed. The list stays open below.
pub fn open_server_row(state: &mut State, picker: Picker, servers: Vec<ServerReport>, row: usize) {
    let server = servers.get(row).cloned();
    state.viewport.popups.push(Popup::List(picker, List::Servers(servers)));
    let Some(ServerReport { name, place, status, tools, change, note, .. }) = server else { return };
    let Some(change) = change else {
        let text = format!("{place}\n{status}\n{note}\n\n{}", tools.join("\n"));
        return popup_stack::open_reader(state, &format!("MCP server {name}"), &text, false);
    };
    let fact = format!("MCP server {name}: {place}");
    let note = "Not offered to the model and not called until you accept:".to_owned();
    let facts = [fact, note].into_iter().chain(change.lines).collect();
    let labels = AnswerLabels { confirm: "accept", cancel: "keep out" };
    let confirmation = Confirmation::new("Accept these changes of tools?", labels, facts).with_difference();
    let action = ConfirmedAction::AcceptServerTools(name, change.digest);
    state.viewport.popups.push(Popup::Confirmation(confirmation, action));
}
