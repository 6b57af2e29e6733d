//! Lists models and profiles for the screen, and switches between them.

use super::ScreenHost;
use crate::assemble::connected_model::{ConnectedModel, request_context_window};
use crate::config;
use crate::llm::models::Model as ListedModel;
use crate::llm::{AuthProvider, local_servers};
use crate::tui::host::{HostReply, LocalServer, ModelList, ModelRow, Models, PendingConnection};
use std::sync::PoisonError;
use std::time::Duration;

/// Time limit for a provider's list of models.
const LIST_TIMEOUT: Duration = Duration::from_secs(20);

impl ScreenHost {
    /// Switches to another provider. The session continues with it once the screen has recorded the switch in the
    /// session. If the session is empty, or is the tour, a new session starts instead.
    fn switch_to(&mut self, connected: anyhow::Result<ConnectedModel>) {
        let model = match connected {
            Ok(model) => model,
            Err(error) => return self.send(HostReply::Notice(format!("{error:#}"))),
        };
        for warning in &model.warnings {
            self.send(HostReply::Notice(warning.clone()));
        }
        if self.has_entries && !self.model.connection_info.is_tour {
            self.switch_count += 1;
            let (session, number, connection) =
                (self.session.clone(), self.switch_count, model.connection_info.clone());
            self.send(HostReply::Connected(Box::new(PendingConnection { session, number, connection })));
            self.pending_switches.push((number, model));
            return;
        }
        if self.model.connection_info.is_tour {
            self.session_builder.folder.clone_from(&self.project_folder);
        }
        let session = self.session_builder.start_session(&model, self.connector.dry_run);
        self.open_session(session, None);
    }

    /// Starts to use the provider of the pending switch with this number, once the screen has recorded the switch.
    pub(super) fn confirm_switch(&mut self, number: u64) {
        let position = self.pending_switches.iter().position(|(pending_number, _)| *pending_number == number);
        if let Some((_, model)) = position.map(|index| self.pending_switches.remove(index)) {
            let mut runtime = self.runtime.lock().unwrap_or_else(PoisonError::into_inner);
            runtime.context.llm = model.llm.clone();
            if model.connection_info.context_window.is_none() {
                let is_interactive = true;
                request_context_window(&mut runtime, is_interactive, &model, model.name.clone());
            }
            drop(runtime);
            self.session_builder.tool_factory.set_session_model(&model);
            self.model = model;
        }
    }

    /// Switches to another model of the same provider.
    pub(super) fn switch_model(&mut self, name: String) {
        self.model.connection_info.model.clone_from(&name);
        self.model.connection_info.context_window = None;
        let mut runtime = self.runtime.lock().unwrap_or_else(PoisonError::into_inner);
        let is_interactive = true;
        request_context_window(&mut runtime, is_interactive, &self.model, name.clone());
        drop(runtime);
        self.model.name = name;
        self.session_builder.tool_factory.set_session_model(&self.model);
    }

    pub(super) fn switch_profile(&mut self, profile: &str, model: &str) {
        let model = Some(model).filter(|model| !model.is_empty());
        self.switch_to(self.connector.connect_profile(profile, model));
    }

    pub(super) fn switch_to_local(&mut self, server: &LocalServer) {
        let connected = self.connector.connect_address(&server.address, server.models.first().map(String::as_str));
        let labelled = connected.map(|mut model| {
            let name = if model.name.is_empty() { "the model" } else { &model.name };
            model.connection_info.source = format!("{name} of {}, found on this machine", server.name);
            model
        });
        self.switch_to(labelled);
    }

    pub(super) fn save_key(&mut self, key: &str) {
        let current = self.model.profile.as_deref().map(|profile| (profile, self.model.name.as_str()));
        let connected = self.connector.connect_with_key(key, current);
        self.switch_to(connected);
    }

    /// Saves the profile and model of the next start in the settings. If `profile` is empty, saves the profile with
    /// this address, or the current profile if the address is empty too. An empty `model` means the profile's own.
    pub(super) fn save_model(&self, profile: String, address: &str, model: String) {
        let chosen_profile = Some(profile).filter(|profile| !profile.is_empty());
        let profile = match (chosen_profile, address) {
            (Some(profile), _) => Some(profile),
            (None, "") => self.model.profile.clone(),
            (None, address) => self.connector.profile_at(address),
        };
        let Some(profile) = profile else {
            return self.send(HostReply::Notice(
                "Cannot save the model: no profile of the settings has its address. Add it as base_url under [profiles.NAME].".to_owned(),
            ));
        };
        let file = self.session_builder.places.settings();
        self.run_in_background(move || {
            let result = config::setting_writer::save_default_model(&file, &profile, &model);
            Some(match result {
                Err(error) => HostReply::Notice(format!("Cannot save the model: {error}. Correct this and try again.")),
                Ok(()) => {
                    let description = if model.is_empty() { profile } else { format!("{model} of {profile}") };
                    HostReply::SettingSaved(format!("saved: aye starts with {description} from now on"))
                }
            })
        });
    }

    pub(super) fn find_local_servers(&self) {
        let replies = self.replies.clone();
        tokio::spawn(async move {
            let to_local_server = |server: local_servers::Server| LocalServer {
                name: server.name,
                address: server.base_url,
                models: server.models.into_iter().map(|model| model.id).collect(),
            };
            let servers = local_servers::find_local_servers().await.into_iter().map(to_local_server).collect();
            let _ = replies.send(HostReply::LocalServers(servers)).await;
        });
    }

    /// Sends the available models as they become known: first the other profiles, then the servers on this machine, and
    /// the current provider's list once it arrives.
    pub(super) fn list_models(&self) {
        let Some(provider) = self.model.provider.clone() else {
            return self.send(HostReply::Notice("The tour is a script and has no other models.".to_owned()));
        };
        let current_profile = self.model.profile.clone();
        let usable = self.connector.usable_connections().into_iter();
        let usable = usable.filter(|connection| Some(&connection.profile) != current_profile.as_ref());
        // A local server without a key is listed only if it answers.
        let (usable_now, local_profiles): (Vec<_>, Vec<_>) = usable.partition(|connection| {
            connection.has_key() || !config::built_in_profiles::is_local_server(&connection.profile)
        });
        let mut others: Vec<ModelRow> = usable_now
            .into_iter()
            .map(|connection| ModelRow {
                model: connection.model.unwrap_or_default(),
                profile: connection.profile,
                ..ModelRow::default()
            })
            .collect();
        let replies = self.replies.clone();
        tokio::spawn(async move {
            let send_list = |listed: ModelList, others: &[ModelRow]| {
                replies.send(HostReply::Models(Models { listed, other_models: others.to_vec() }))
            };
            let listing = tokio::spawn(fetch_models(provider));
            // The screen may be closed.
            let _ = send_list(ModelList::Loading, &others).await;
            for local in local_servers::find_local_servers().await {
                let connection = local_profiles.iter().find(|connection| connection.base_url == local.base_url);
                let Some(profile) = connection.map(|connection| connection.profile.clone()) else { continue };
                others.extend(
                    local
                        .models
                        .into_iter()
                        .filter(|model| model.is_chat)
                        .map(|model| ModelRow { profile: profile.clone(), ..model_row(model) }),
                );
            }
            let _ = send_list(ModelList::Loading, &others).await;
            let listed = listing.await.unwrap_or_else(|_| ModelList::Failed("internal error".to_owned()));
            let _ = send_list(listed, &others).await;
        });
    }
}

async fn fetch_models(provider: AuthProvider) -> ModelList {
    match tokio::time::timeout(LIST_TIMEOUT, provider.models()).await {
        Ok(Ok(models)) => ModelList::Models(models.into_iter().map(model_row).collect()),
        Ok(Err(error)) => ModelList::Failed(error.to_string()),
        Err(_) => ModelList::Failed(format!("no answer within {} s", LIST_TIMEOUT.as_secs())),
    }
}

fn model_row(model: ListedModel) -> ModelRow {
    let price = model.price.map(|price| (price.input, price.cached, price.output));
    ModelRow { profile: String::new(), model: model.id, context_window: model.context_window, price }
}
