//! Lists models and profiles for the screen, and switches between them.

use super::connected_model::ConnectedModel;
use super::screen_host::ScreenHost;
use super::session_builder::ask_window;
use crate::config;
use crate::llm::models::Model as Offered;
use crate::llm::{AuthProvider, local_servers};
use crate::tui::host::{HostReply, LocalServer, ModelList, ModelRow, Models, PendingConnection};
use std::sync::PoisonError;
use std::time::Duration;

/// Time limit for a provider's list of models.
const LIST_TIMEOUT: Duration = Duration::from_secs(20);

impl ScreenHost {
    /// Switches to another provider. The session continues with it once the screen has recorded the switch in the
    /// session. If the session is empty, or is the tour, a new session starts instead.
    fn switch_to(&mut self, made: anyhow::Result<ConnectedModel>) {
        let model = match made {
            Ok(model) => model,
            Err(error) => return self.send(HostReply::Notice(format!("{error:#}"))),
        };
        for warning in &model.warnings {
            self.send(HostReply::Notice(warning.clone()));
        }
        if self.has_entries && !self.model.shown.is_tour {
            self.switch_count += 1;
            let (session, number, connection) = (self.session.clone(), self.switch_count, model.shown.clone());
            self.send(HostReply::Connected(Box::new(PendingConnection { session, number, connection })));
            self.pending_switches.push((number, model));
            return;
        }
        if self.model.shown.is_tour {
            self.wiring.folder.clone_from(&self.project_folder);
        }
        let session = self.wiring.start_session(&model, self.connecting.dry_run);
        self.open_session(session);
    }

    pub(super) fn confirm_switch(&mut self, number: u64) {
        let at = self.pending_switches.iter().position(|(reached, _)| *reached == number);
        if let Some((_, model)) = at.map(|at| self.pending_switches.remove(at)) {
            let mut runtime = self.runtime.lock().unwrap_or_else(PoisonError::into_inner);
            runtime.set_model(model.llm.clone());
            if model.shown.context_window.is_none() {
                ask_window(&mut runtime, true, &model, model.name.clone());
            }
            drop(runtime);
            self.model = model;
        }
    }

    pub(super) fn switch_model(&mut self, name: String) {
        self.model.shown.model.clone_from(&name);
        self.model.shown.context_window = None;
        let mut runtime = self.runtime.lock().unwrap_or_else(PoisonError::into_inner);
        ask_window(&mut runtime, true, &self.model, name.clone());
        drop(runtime);
        self.model.name = name;
    }

    pub(super) fn switch_profile(&mut self, profile: &str, model: &str) {
        let model = Some(model).filter(|model| !model.is_empty());
        self.switch_to(self.connecting.connect_profile(profile, model));
    }

    pub(super) fn switch_to_local(&mut self, server: &LocalServer) {
        let made = self.connecting.connect_address(&server.address, server.models.first().map(String::as_str));
        let told = made.map(|mut model| {
            let name = if model.name.is_empty() { "the model" } else { &model.name };
            model.shown.source = format!("{name} of {}, found on this machine", server.name);
            model
        });
        self.switch_to(told);
    }

    pub(super) fn save_key(&mut self, key: &str) {
        let in_use = self.model.profile.as_deref().map(|profile| (profile, self.model.name.as_str()));
        let made = self.connecting.connect_with_key(key, in_use);
        self.switch_to(made);
    }

    /// Saves the model for the next start in the settings.
    pub(super) fn save_model(&self, profile: String, address: &str, model: String) {
        let named = Some(profile).filter(|profile| !profile.is_empty());
        let profile = match (named, address) {
            (Some(profile), _) => Some(profile),
            (None, "") => self.model.profile.clone(),
            (None, address) => self.connecting.profile_at(address),
        };
        let Some(profile) = profile else {
            return self.send(HostReply::Notice(
                "Cannot save the model: no profile of the settings has its address. Add it as base_url under [profiles.NAME].".to_owned(),
            ));
        };
        let file = self.wiring.places.settings();
        self.run_in_background(move || {
            let named = Some(&model).filter(|model| !model.is_empty());
            let kept = named
                .map_or(Ok(()), |model| config::write_setting(&file, &["profiles", &profile, "model"], model.as_str()))
                .and_then(|()| config::write_setting(&file, &["model", "profile"], profile.as_str()));
            Some(match kept {
                Err(error) => HostReply::Notice(format!("Cannot save the model: {error}.")),
                Ok(()) => {
                    let what = named.map_or(profile.clone(), |model| format!("{model} of {profile}"));
                    HostReply::SettingSaved(format!("saved: aye starts with {what} from now on"))
                }
            })
        });
    }

    pub(super) fn find_local_servers(&self) {
        let replies = self.replies.clone();
        tokio::spawn(async move {
            let server = |found: local_servers::Server| LocalServer {
                name: found.name,
                address: found.base_url,
                models: found.models.into_iter().map(|model| model.id).collect(),
            };
            let found = local_servers::find_local_servers().await.into_iter().map(server).collect();
            let _ = replies.send(HostReply::LocalServers(found)).await;
        });
    }

    /// Sends the available models as they become known: first the other profiles, then the servers on this machine, and
    /// the current provider's list once it arrives.
    pub(super) fn list_models(&self) {
        let Some(service) = self.model.provider.clone() else {
            return self.send(HostReply::Notice("The tour is a script and has no other models.".to_owned()));
        };
        let present = self.model.profile.clone();
        let usable = self.connecting.usable_connections().into_iter();
        let usable = usable.filter(|connection| Some(&connection.profile) != present.as_ref());
        let (lasting, servers): (Vec<_>, Vec<_>) = usable.partition(|connection| {
            connection.has_key() || !config::built_in_profiles::is_local_server(&connection.profile)
        });
        let mut others: Vec<ModelRow> = lasting
            .into_iter()
            .map(|connection| ModelRow {
                model: connection.model.unwrap_or_default(),
                profile: connection.profile,
                ..ModelRow::default()
            })
            .collect();
        let replies = self.replies.clone();
        tokio::spawn(async move {
            let tell = |listed: ModelList, others: &[ModelRow]| {
                replies.send(HostReply::Models(Models { listed, others: others.to_vec() }))
            };
            let listing = tokio::spawn(fetch_models(service));
            // The screen may be closed.
            let _ = tell(ModelList::Loading, &others).await;
            for found in local_servers::find_local_servers().await {
                let profile = servers.iter().find(|server| server.base_url == found.base_url);
                let Some(profile) = profile.map(|server| server.profile.clone()) else { continue };
                others.extend(
                    found
                        .models
                        .into_iter()
                        .filter(|model| model.is_chat)
                        .map(|model| ModelRow { profile: profile.clone(), ..model_row(model) }),
                );
            }
            let _ = tell(ModelList::Loading, &others).await;
            let listed = listing.await.unwrap_or_else(|_| ModelList::Failed("internal error".to_owned()));
            let _ = tell(listed, &others).await;
        });
    }
}

async fn fetch_models(service: AuthProvider) -> ModelList {
    match tokio::time::timeout(LIST_TIMEOUT, service.models()).await {
        Ok(Ok(models)) => ModelList::Models(models.into_iter().map(model_row).collect()),
        Ok(Err(error)) => ModelList::Failed(error.to_string()),
        Err(_) => ModelList::Failed(format!("no answer within {} s", LIST_TIMEOUT.as_secs())),
    }
}

fn model_row(model: Offered) -> ModelRow {
    let price = model.price.map(|price| (price.input, price.cached, price.output));
    ModelRow { profile: String::new(), model: model.id, context_window: model.context_window, price }
}
