//! Lists models and profiles for the screen, and switches between them.

use super::host::Around;
use super::model::Model;
use super::wiring::ask_window;
use crate::config;
use crate::llm::models::Model as Offered;
use crate::llm::{Keyed, local};
use crate::tui::host::{Listed, LocalServer, ModelRow, Models, Reached, Reply};
use std::sync::PoisonError;
use std::time::Duration;

/// Time limit for a provider's list of models.
const LIST: Duration = Duration::from_secs(20);

impl Around {
    /// Switches to another provider. The session continues with it once the screen has recorded the switch in the
    /// session. If the session is empty, or is the tour, a new session starts instead.
    fn go_to(&mut self, made: anyhow::Result<Model>) {
        let model = match made {
            Ok(model) => model,
            Err(error) => return self.tell(Reply::Notice(format!("{error:#}"))),
        };
        for warning in &model.warnings {
            self.tell(Reply::Notice(warning.clone()));
        }
        if self.begun && !self.model.seen.tour {
            self.reaches += 1;
            let (session, number, connection) = (self.session.clone(), self.reaches, model.seen.clone());
            self.tell(Reply::Reached(Box::new(Reached { session, number, connection })));
            self.reached.push((number, model));
            return;
        }
        if self.model.seen.tour {
            self.wiring.folder.clone_from(&self.real_folder);
        }
        let session = self.wiring.begin(&model, self.connecting.dry_run);
        self.hand_over(session);
    }

    pub(super) fn take_up(&mut self, number: u64) {
        let at = self.reached.iter().position(|(reached, _)| *reached == number);
        if let Some((_, model)) = at.map(|at| self.reached.remove(at)) {
            let mut runtime = self.runtime.lock().unwrap_or_else(PoisonError::into_inner);
            runtime.talk_to(model.llm.clone());
            if model.seen.window.is_none() {
                ask_window(&mut runtime, true, &model, model.name.clone());
            }
            drop(runtime);
            self.model = model;
        }
    }

    pub(super) fn use_model(&mut self, name: String) {
        self.model.seen.model.clone_from(&name);
        self.model.seen.window = None;
        let mut runtime = self.runtime.lock().unwrap_or_else(PoisonError::into_inner);
        ask_window(&mut runtime, true, &self.model, name.clone());
        drop(runtime);
        self.model.name = name;
    }

    pub(super) fn use_profile(&mut self, profile: &str, model: &str) {
        let model = Some(model).filter(|model| !model.is_empty());
        self.go_to(self.connecting.to_profile(profile, model));
    }

    pub(super) fn use_local(&mut self, server: &LocalServer) {
        let made = self.connecting.to_address(&server.address, server.models.first().map(String::as_str));
        let told = made.map(|mut model| {
            let name = if model.name.is_empty() { "the model" } else { &model.name };
            model.seen.source = format!("{name} of {}, found on this machine", server.name);
            model
        });
        self.go_to(told);
    }

    pub(super) fn keep_key(&mut self, key: &str) {
        let in_use = self.model.profile.as_deref().map(|profile| (profile, self.model.name.as_str()));
        let made = self.connecting.with_key(key, in_use);
        self.go_to(made);
    }

    /// Saves the model for the next start in the settings.
    pub(super) fn keep_model(&self, profile: String, address: &str, model: String) {
        let named = Some(profile).filter(|profile| !profile.is_empty());
        let profile = match (named, address) {
            (Some(profile), _) => Some(profile),
            (None, "") => self.model.profile.clone(),
            (None, address) => self.connecting.profile_at(address),
        };
        let Some(profile) = profile else {
            return self.tell(Reply::Notice(
                "Cannot save the model: no profile of the settings has its address. Add it as base_url under [profiles.NAME].".to_owned(),
            ));
        };
        let file = self.wiring.places.settings();
        self.aside(move || {
            let named = Some(&model).filter(|model| !model.is_empty());
            let kept = named
                .map_or(Ok(()), |model| config::set(&file, &["profiles", &profile, "model"], model.as_str()))
                .and_then(|()| config::set(&file, &["model", "profile"], profile.as_str()));
            Some(match kept {
                Err(error) => Reply::Notice(format!("Cannot save the model: {error}.")),
                Ok(()) => {
                    let what = named.map_or(profile.clone(), |model| format!("{model} of {profile}"));
                    Reply::SettingSaved(format!("saved: aye starts with {what} from now on"))
                }
            })
        });
    }

    pub(super) fn look_for_local(&self) {
        let replies = self.replies.clone();
        tokio::spawn(async move {
            let server = |found: local::Server| LocalServer {
                name: found.name,
                address: found.base_url,
                models: found.models.into_iter().map(|model| model.id).collect(),
            };
            let found = local::find().await.into_iter().map(server).collect();
            let _ = replies.send(Reply::Local(found)).await;
        });
    }

    /// Sends the available models as they become known: first the other profiles, then the servers on this machine, and
    /// the current provider's list once it arrives.
    pub(super) fn list_models(&self) {
        let Some(service) = self.model.service.clone() else {
            return self.tell(Reply::Notice("The tour is a script and has no other models.".to_owned()));
        };
        let present = self.model.profile.clone();
        let usable = self.connecting.usable().into_iter();
        let usable = usable.filter(|connection| Some(&connection.profile) != present.as_ref());
        let (lasting, servers): (Vec<_>, Vec<_>) = usable
            .partition(|connection| connection.has_key() || !config::ready::is_server(&connection.profile));
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
            let tell = |listed: Listed, others: &[ModelRow]| {
                replies.send(Reply::Models(Models { listed, others: others.to_vec() }))
            };
            let listing = tokio::spawn(list(service));
            // The screen may be closed.
            let _ = tell(Listed::Asking, &others).await;
            for found in local::find().await {
                let profile = servers.iter().find(|server| server.base_url == found.base_url);
                let Some(profile) = profile.map(|server| server.profile.clone()) else { continue };
                others.extend(
                    found
                        .models
                        .into_iter()
                        .filter(|model| model.talks)
                        .map(|model| ModelRow { profile: profile.clone(), ..row(model) }),
                );
            }
            let _ = tell(Listed::Asking, &others).await;
            let listed = listing.await.unwrap_or_else(|_| Listed::Failed("internal error".to_owned()));
            let _ = tell(listed, &others).await;
        });
    }
}

async fn list(service: Keyed) -> Listed {
    match tokio::time::timeout(LIST, service.models()).await {
        Ok(Ok(models)) => Listed::These(models.into_iter().map(row).collect()),
        Ok(Err(error)) => Listed::Failed(error.to_string()),
        Err(_) => Listed::Failed(format!("no answer within {} s", LIST.as_secs())),
    }
}

fn row(model: Offered) -> ModelRow {
    let price = model.price.map(|price| (price.input, price.cached, price.output));
    ModelRow { profile: String::new(), model: model.id, window: model.context, price }
}
