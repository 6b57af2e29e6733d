//! What the program is still doing: each effect and request that will be answered, until its answer arrives.

use crate::agent;
use crate::chat::{CallId, TurnId};
use crate::tui::event::Event;
use crate::tui::host::{HostReply, HostRequest, ListState};
use std::mem::discriminant;

/// Work that will be answered.
#[derive(Debug, Clone, PartialEq)]
enum Work {
    Plan(TurnId, CallId),
    Review(TurnId, CallId, u64),
    Run(TurnId, CallId),
    Trial(TurnId, CallId, u64),
    TrialSupport,
    UserCommand(TurnId),
    Title,
    /// A request to the host.
    Request(Box<HostRequest>),
}

/// All work that is not answered yet, with its number in the order in which it was started.
#[derive(Debug, Default)]
pub(super) struct PendingWork {
    work: Vec<(u64, Work)>,
    count: u64,
}

impl PendingWork {
    pub(super) fn is_empty(&self) -> bool {
        self.work.is_empty()
    }

    fn add(&mut self, work: Work) {
        self.count += 1;
        self.work.push((self.count, work));
    }

    /// Notes an effect that was started.
    pub(super) fn add_effect(&mut self, effect: &agent::Effect) {
        use agent::Effect;
        match effect {
            Effect::PlanCall { turn, call, .. } => self.add(Work::Plan(*turn, call.id.clone())),
            Effect::ReviewCall { turn, call, round, .. } => self.add(Work::Review(*turn, call.id.clone(), *round)),
            Effect::RunCall { turn, call, .. }
            | Effect::RehearseCall { turn, call, .. }
            | Effect::KeepTrial { turn, call, .. } => self.add(Work::Run(*turn, call.id.clone())),
            Effect::TryCall { turn, call, number, .. } => self.add(Work::Trial(*turn, call.id.clone(), *number)),
            Effect::CheckTrialSupport { .. } => self.add(Work::TrialSupport),
            Effect::RunUserCommand { turn, .. } => self.add(Work::UserCommand(*turn)),
            Effect::RequestTitle { .. } => self.add(Work::Title),
            Effect::CancelTurn { turn } => self.work.retain(|(_, work)| work.turn() != Some(*turn)),
            Effect::DropTrial { call } => {
                self.work.retain(|(_, work)| !matches!(work, Work::Trial(_, other, _) if other == call));
            }
            // A background command ends at a time of its own.
            Effect::DetachCall { call, .. } => {
                self.work.retain(|(_, work)| !matches!(work, Work::Run(_, other) if other == call));
            }
            Effect::AppendEntry(_)
            | Effect::SavePartialReply(_)
            | Effect::SaveOutput(_)
            | Effect::RequestReply { .. }
            | Effect::SwitchProfile { .. }
            | Effect::RetryNow
            | Effect::StopBackground { .. } => {}
        }
    }

    /// Notes a request that was started, if it will be answered.
    pub(super) fn add_request(&mut self, request: &HostRequest) {
        if matches!(request, HostRequest::FilterFiles(_)) {
            // A filter replaces the one before, which is not answered then.
            self.work.retain(
                |(_, work)| !matches!(work, Work::Request(other) if discriminant(&**other) == discriminant(request)),
            );
        }
        if is_answered(request) {
            self.add(Work::Request(Box::new(request.clone())));
        }
    }

    /// Removes the work that an event answers. Returns its number, by which events are put in order.
    pub(super) fn settle_by(&mut self, event: &Event) -> u64 {
        match self.work.iter().position(|(_, work)| work.is_answered_by(event)) {
            Some(index) => self.work.remove(index).0,
            None => self.work.iter().find(|(_, work)| work.is_about(event)).map_or(u64::MAX, |(number, _)| *number),
        }
    }

    /// Forgets the work of a session that was left.
    pub(super) fn forget_session(&mut self) {
        self.work.retain(|(_, work)| matches!(work, Work::Request(_)));
    }

    /// Names the work, for a report that it does not end.
    pub(super) fn describe(&self) -> String {
        match self.work.first() {
            Some((_, Work::Request(request))) => {
                let text = format!("{request:?}");
                format!("the request {}", text.split([' ', '(']).next().unwrap_or_default())
            }
            Some((_, Work::Run(_, call) | Work::Plan(_, call))) => format!("the call {call}"),
            Some(_) | None => "something that the program started".to_owned(),
        }
    }
}

impl Work {
    fn turn(&self) -> Option<TurnId> {
        match self {
            Self::Plan(turn, _)
            | Self::Review(turn, ..)
            | Self::Run(turn, _)
            | Self::Trial(turn, ..)
            | Self::UserCommand(turn) => Some(*turn),
            Self::TrialSupport | Self::Title | Self::Request(_) => None,
        }
    }

    /// Returns whether an event is the last one of this work.
    fn is_answered_by(&self, event: &Event) -> bool {
        use agent::Event as Answer;
        match (self, event) {
            (Self::Plan(_, call), Event::Agent(Answer::CallPlanned { call: other, .. }))
            | (Self::Run(_, call), Event::Agent(Answer::CallFinished { call: other, .. })) => call == other,
            (
                Self::Review(_, call, round),
                Event::Agent(Answer::CallReviewed { call: other, round: other_round, .. }),
            ) => call == other && round == other_round,
            (
                Self::Trial(_, call, number),
                Event::Agent(Answer::TrialFinished { call: other, number: other_number, .. }),
            ) => call == other && number == other_number,
            (Self::TrialSupport, Event::Agent(Answer::TrialSupportChecked { .. }))
            | (Self::Title, Event::Agent(Answer::TitleSuggested { .. })) => true,
            (Self::UserCommand(turn), Event::Agent(Answer::UserCommandFinished { turn: other, .. })) => turn == other,
            (Self::Request(request), Event::Host(reply)) => answers(request, reply),
            _ => false,
        }
    }

    /// Returns whether an event is an earlier one of this work.
    fn is_about(&self, event: &Event) -> bool {
        match (self, event) {
            (Self::Run(_, call), Event::Agent(agent::Event::CallProgressed { call: other, .. })) => call == other,
            (Self::Request(_), Event::Host(_)) => true,
            _ => false,
        }
    }
}

/// Returns whether a request is answered in every case.
fn is_answered(request: &HostRequest) -> bool {
    match request {
        HostRequest::ListSessions
        | HostRequest::OpenSession(_)
        | HostRequest::ForkSession(..)
        | HostRequest::StartSession
        | HostRequest::ReadEntryTimes(_)
        | HostRequest::CountRuleUses(..)
        | HostRequest::ListModels
        | HostRequest::ListCredentials
        | HostRequest::FindLocalServers
        | HostRequest::SaveRule { .. }
        | HostRequest::RevokeRule { .. }
        | HostRequest::ReplaceRule { .. }
        | HostRequest::ListRules
        | HostRequest::ListTools
        | HostRequest::ListSkills
        | HostRequest::ListServers { .. }
        | HostRequest::LoadRehearsal(_)
        | HostRequest::ApplyRehearsal(..)
        | HostRequest::PrepareUndo(_)
        | HostRequest::ListRewindPoints(_)
        | HostRequest::Rewind(..)
        | HostRequest::DiscardRehearsal(_)
        | HostRequest::InspectProject(_)
        | HostRequest::TrustProject { .. }
        | HostRequest::RevokeTrust(_)
        | HostRequest::ListFiles { .. }
        | HostRequest::FilterFiles(_)
        | HostRequest::ListOffers
        | HostRequest::AttachToMessage { .. }
        | HostRequest::CheckLinks(_)
        | HostRequest::ReadPicture(..)
        | HostRequest::PreviewLink(_) => true,
        HostRequest::SearchSessions(text) => !text.is_empty(),
        HostRequest::SaveUnsent(..)
        | HostRequest::UseModel(_)
        | HostRequest::ConnectCredential { .. }
        | HostRequest::UseLocalServer(_)
        | HostRequest::UseProfile { .. }
        | HostRequest::SaveKey(_)
        | HostRequest::AnswerCredential { .. }
        | HostRequest::AnswerForm { .. }
        | HostRequest::AnswerSampling { .. }
        | HostRequest::SwitchConnection(_)
        | HostRequest::SaveModel { .. }
        | HostRequest::ReloadRules
        | HostRequest::AcceptServerTools { .. }
        | HostRequest::FindPastedFiles(_)
        | HostRequest::GetServerPrompt { .. }
        | HostRequest::Workspace(_)
        | HostRequest::PasteClipboard(_)
        | HostRequest::SaveTheme(_)
        | HostRequest::AddToHistory(_) => false,
    }
}

/// Returns whether a reply is the last one to a request. A notice instead of the result says why there is none.
fn answers(request: &HostRequest, reply: &HostReply) -> bool {
    match (request, reply) {
        (HostRequest::ListSessions, HostReply::Sessions(_))
        | (HostRequest::SearchSessions(_), HostReply::SearchResults { is_complete: true, .. })
        | (
            HostRequest::OpenSession(_)
            | HostRequest::ForkSession(..)
            | HostRequest::StartSession
            | HostRequest::ApplyRehearsal(..)
            | HostRequest::Rewind(..),
            HostReply::Opened(_),
        )
        | (HostRequest::ReadEntryTimes(_), HostReply::EntryTimes(..))
        | (HostRequest::CountRuleUses(..), HostReply::RuleUses(_))
        | (HostRequest::ListModels, HostReply::Models(_))
        | (HostRequest::ListCredentials, HostReply::Credentials(_))
        | (HostRequest::FindLocalServers, HostReply::LocalServers(_))
        | (HostRequest::SaveRule { .. }, HostReply::RuleSaved { .. })
        | (HostRequest::RevokeRule { .. }, HostReply::RuleRevoked { .. })
        | (HostRequest::ReplaceRule { .. }, HostReply::RuleReplaced { .. })
        | (HostRequest::ListRules | HostRequest::ListTools | HostRequest::ListSkills, HostReply::TextPage(..))
        | (HostRequest::ListServers { .. }, HostReply::Servers(_))
        | (HostRequest::LoadRehearsal(_), HostReply::Rehearsal(_))
        | (HostRequest::PrepareUndo(_), HostReply::UndoPrepared(_))
        | (HostRequest::ListRewindPoints(_), HostReply::RewindPoints(_))
        | (HostRequest::DiscardRehearsal(_), HostReply::Done(_))
        | (HostRequest::InspectProject(_) | HostRequest::TrustProject { .. }, HostReply::ProjectFiles { .. })
        | (HostRequest::TrustProject { .. } | HostRequest::RevokeTrust(_), HostReply::TrustChanged { .. })
        | (HostRequest::FilterFiles(_), HostReply::FilesFiltered(..))
        | (HostRequest::ListOffers, HostReply::Offers(..))
        | (HostRequest::AttachToMessage { .. }, HostReply::MessageAttached { .. })
        | (HostRequest::CheckLinks(_), HostReply::LinkStatuses(_))
        | (HostRequest::ReadPicture(..), HostReply::PictureRead(_))
        | (HostRequest::PreviewLink(_), HostReply::LinkPreviewed(..)) => true,
        (HostRequest::ListFiles { .. }, HostReply::Files { completeness, .. }) => *completeness != ListState::Scanning,
        (HostRequest::CheckLinks(_) | HostRequest::ReadPicture(..) | HostRequest::InspectProject(_), _) => false,
        (_, HostReply::Notice(_)) => true,
        _ => false,
    }
}
