//! The provider that a stored session continues with: its own, if known and available.

use super::connected_model::{CONNECT_ADVICE, ConnectedModel};
use super::connector::Connector;
use crate::chat::Entry;
use crate::store::session_reader::StoredSession;
use std::path::Path;

/// The provider of a continued session.
pub(super) struct SessionProvider {
    pub(super) model: ConnectedModel,
    /// Model that the session's file names, if the provider is the session's own or none is configured.
    pub(super) session_model: Option<String>,
    /// True if the provider of the session is not available and another one replaces it.
    pub(super) is_replaced: bool,
    /// Notices for the user before anything is sent, one sentence each.
    pub(super) notices: Vec<String>,
    /// Reason why a headless run must not continue the session, and the flags that choose a provider.
    pub(super) conflict: Option<String>,
}

/// What a session's file says about its provider.
#[derive(Debug, Default)]
struct ProviderRecord {
    /// Empty if the address was given for one run only, or if unknown.
    profile: String,
    /// Address given for one run only; empty if unknown.
    base_url: String,
    /// Model that the session began with; that of the last reply if the header names none.
    model: Option<String>,
    /// All models that replied or were chosen.
    models: Vec<String>,
    is_tour: bool,
}

impl ProviderRecord {
    fn read(stored: &StoredSession, tour: &Path) -> Self {
        let mut record = Self::default();
        if let Some(header) = stored.header.clone() {
            let is_tour_folder = tour.canonicalize().is_ok_and(|tour| tour == header.folder);
            let has_provider = !header.profile.is_empty() || !header.base_url.is_empty();
            record.is_tour = is_tour_folder && header.model == "tour" && !has_provider;
            (record.profile, record.base_url, record.models) = (header.profile, header.base_url, vec![header.model]);
        }
        for entry in &stored.entries {
            if let Entry::Switched { profile: Some(profile), .. } = entry {
                record.profile.clone_from(profile);
            }
            if let Entry::Switched { model, .. } | Entry::Replied { model, .. } = entry {
                record.models.push(model.clone());
            }
        }
        record.models.retain(|name| !name.is_empty());
        let first_model = stored.header.as_ref().map(|header| header.model.clone()).filter(|name| !name.is_empty());
        let reply_model =
            |entry: &Entry| if let Entry::Replied { model, .. } = entry { Some(model.clone()) } else { None };
        let last_model = || stored.entries.iter().rev().find_map(reply_model).filter(|name| !name.is_empty());
        record.model = first_model.or_else(last_model);
        record
    }

    /// Describes where the session began: `m-7b at http://127.0.0.1:8080/v1`.
    fn describe(&self) -> String {
        let model = self.model.as_deref().unwrap_or("the server's default model");
        match self.base_url.as_str() {
            "" => model.to_owned(),
            address => format!("{model} at {address}"),
        }
    }
}

/// Chooses the provider of a stored session. `configured` is used if a flag or variable names it for this run, or if the
/// session has no provider of its own that is known and available. The script of the tour is used for sessions of the
/// tour only.
pub(super) fn choose_provider(
    stored: &StoredSession,
    configured: &ConnectedModel,
    connector: &Connector,
    tour: &Path,
) -> SessionProvider {
    let record = ProviderRecord::read(stored, tour);
    let mut choice = SessionProvider {
        model: configured.clone(),
        session_model: None,
        is_replaced: false,
        notices: Vec::new(),
        conflict: None,
    };
    let may_choose_provider = !connector.is_provider_overridden();
    if !record.profile.is_empty() {
        if may_choose_provider && configured.profile.as_ref() != Some(&record.profile) {
            choice.connect_profile(&record, connector);
        }
        let is_own = choice.model.profile.as_ref() == Some(&record.profile);
        choice.session_model = record.model.clone().filter(|_| is_own);
    } else if !record.base_url.is_empty() {
        if may_choose_provider && !is_same_address(&configured.base_url, &record.base_url) {
            choice.connect_address(&record, connector);
        }
        let is_own = is_same_address(&choice.model.base_url, &record.base_url);
        choice.session_model = record.model.clone().filter(|_| is_own);
    } else if may_choose_provider
        && configured.provider.is_some()
        && !(configured.name.is_empty() || record.models.is_empty() || record.models.contains(&configured.name))
    {
        // The configured model does not occur in the session, so the session probably used another provider.
        choice.report_unknown_provider(&record, connector);
    }
    if choice.model.connection_info.is_tour && !record.is_tour {
        choice.model = ConnectedModel::unconfigured();
    }
    if choice.model.connection_info.is_unconfigured {
        choice.session_model = record.model;
        if connector.is_interactive {
            let notice =
                format!("No provider is configured. Press alt-c to connect to one, or start again: {CONNECT_ADVICE}.");
            choice.notices.push(notice);
        }
    }
    choice
}

impl SessionProvider {
    fn connect_profile(&mut self, record: &ProviderRecord, connector: &Connector) {
        let profile = &record.profile;
        match connector.connect_profile(profile, None) {
            Ok(connected) => {
                self.notices.extend(connected.warnings.iter().cloned());
                self.model = connected;
            }
            Err(error) => self.report_unavailable(profile, &error, connector),
        }
    }

    fn connect_address(&mut self, record: &ProviderRecord, connector: &Connector) {
        let address = &record.base_url;
        match connector.connect_address(address, record.model.as_deref()) {
            Ok(mut connected) => {
                connected.connection_info.source = format!("{}, where this session began", record.describe());
                self.notices.extend(connected.warnings.iter().cloned());
                if self.model.provider.is_some() {
                    let (began, configured) = (record.describe(), &self.model.connection_info.source);
                    self.notices.push(format!(
                        "This session began with {began} and continues there, not with {configured}. To choose another \
                         provider, use /model, or start with --base-url or --profile."
                    ));
                    self.conflict = Some(format!(
                        "it began with {began}, but {configured} is configured. Nothing was sent. Choose one: --base-url \
                         {address}{}",
                        or_profile_flag(connector)
                    ));
                }
                self.model = connected;
            }
            Err(error) => self.report_unavailable(address, &error, connector),
        }
    }

    fn report_unavailable(&mut self, provider: &str, error: &anyhow::Error, connector: &Connector) {
        self.notices.push(format!("This session used {provider}, which is not available: {error:#}."));
        if self.model.provider.is_some() {
            self.is_replaced = true;
            self.conflict = Some(format!(
                "it used {provider}, which is not available ({error:#}), and {} is configured. Nothing was sent. Choose a \
                 provider: --base-url URL{}",
                self.model.connection_info.source,
                or_profile_flag(connector)
            ));
        }
    }

    fn report_unknown_provider(&mut self, record: &ProviderRecord, connector: &Connector) {
        let (began, configured) = (record.describe(), &self.model.connection_info.source);
        self.notices.push(format!(
            "This session began with {began} at a provider that is not recorded, and continues with {configured}."
        ));
        self.conflict = Some(format!(
            "it began with {began} at a provider that is not recorded, but {configured} is configured. Nothing was sent. \
             Choose a provider: --base-url URL{}",
            or_profile_flag(connector)
        ));
    }
}

/// Returns ` or --profile NAME` with the profile of the configured provider; empty if none is configured.
fn or_profile_flag(connector: &Connector) -> String {
    let configured = connector.configured_connection().ok().flatten();
    configured.map(|connection| format!(" or --profile {}", connection.profile)).unwrap_or_default()
}

fn is_same_address(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim_end_matches('/')
}
