//! What events say, gathered into whole chunks. Pure: the same events give the same chunks.

use super::Error;
use super::calls::Calls;
use super::fault::Fault;
use super::think::{Piece, Split};
use super::wire::{self, Delta};
use crate::chat::{Chunk, Finish, Usage};
use serde_json::Value;
use std::collections::VecDeque;

/// How the stream of events ended.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// The service said that it was over.
    Said,
    /// It just ended.
    Silent,
    /// Something broke it.
    Broken(Error),
}

/// A reply so far.
#[derive(Debug, Default)]
pub struct Gather {
    split: Split,
    calls: Calls,
    usage: Option<Usage>,
    finish: Option<Finish>,
    /// The last event that said anything said only that the reply is over.
    rests: bool,
    /// Something a person can see has come.
    seen: bool,
    over: bool,
}

/// Where chunks are put, oldest first.
pub type Out = VecDeque<Result<Chunk, Error>>;

impl Gather {
    /// Takes one event. After an error nothing more is to be taken.
    pub fn take(&mut self, event: &Value, out: &mut Out) {
        let before = out.len();
        let (mut said, mut ended) = (false, false);
        for delta in wire::read(event) {
            if self.over {
                break;
            }
            said |= matches!(delta, Delta::Text(_) | Delta::Reasoning(_) | Delta::Calls(_));
            ended |= matches!(delta, Delta::Finish(_) | Delta::Whole);
            match delta {
                Delta::Text(text) => self.words(&text, out),
                Delta::Reasoning(text) => out.push_back(Ok(Chunk::Reasoning(text))),
                Delta::Calls(parts) => {
                    if let Some((name, bytes)) = self.calls.take(parts) {
                        out.push_back(Ok(Chunk::Writing { name, bytes }));
                    }
                }
                Delta::Usage(usage) if self.usage == Some(usage) => {}
                Delta::Usage(usage) => {
                    self.usage = Some(usage);
                    out.push_back(Ok(Chunk::Usage(usage)));
                }
                Delta::Finish(word) if word == "error" => {
                    let fault = Fault { words: "it stopped with an error".to_owned(), ..Fault::default() };
                    self.fail(fault, out);
                }
                Delta::Finish(word) => self.finish = Some(finish(&word)),
                Delta::Whole => self.finish = self.finish.take().or(Some(Finish::Stop)),
                Delta::Fault(fault) => self.fail(fault, out),
            }
            self.seen |= out.iter().skip(before).any(|chunk| matches!(chunk, Ok(chunk) if is_visible(chunk)));
        }
        if said || ended {
            self.rests = ended && !said;
        }
    }

    /// Whether nothing but the count of tokens can still come. A service that gives its last words and the end in one
    /// event may be one that says "end" with every word: with that one nothing is certain before it hangs up.
    pub fn rests(&self) -> bool {
        self.rests
    }

    /// Closes the reply: its calls and [`Chunk::Done`] where it is whole, an error where it is not.
    pub fn end(&mut self, end: End, out: &mut Out) {
        if std::mem::replace(&mut self.over, true) {
            return;
        }
        self.rest(out);
        let finish = match (self.finish.take(), end) {
            (Some(finish), _) => finish,
            (None, End::Said) => Finish::Stop,
            (None, End::Silent) => {
                let why = "the service closed it without saying that the reply was over";
                out.push_back(Err(Error::Cut(why.to_owned())));
                return;
            }
            (None, End::Broken(error)) => {
                out.push_back(Err(error));
                return;
            }
        };
        out.extend(self.calls.finish().into_iter().map(|call| Ok(Chunk::Call(call))));
        out.push_back(Ok(Chunk::Done(finish)));
    }

    fn words(&mut self, text: &str, out: &mut Out) {
        out.extend(self.split.take(text).into_iter().map(|piece| Ok(chunk(piece))));
    }

    /// Text that was held back because it might have been the start of a tag.
    fn rest(&mut self, out: &mut Out) {
        out.extend(self.split.end().map(|piece| Ok(chunk(piece))));
    }

    fn fail(&mut self, fault: Fault, out: &mut Out) {
        self.rest(out);
        self.over = true;
        out.push_back(Err(match fault.status {
            // Nothing was begun: this is an answer like any other, but for the wrong envelope.
            Some(status) if !self.seen => fault.into_error(status, None),
            _ => Error::InStream(fault.sentence()),
        }));
    }
}

/// Whether a person sees something of it: after that, a request is not sent again.
pub fn is_visible(chunk: &Chunk) -> bool {
    match chunk {
        Chunk::Text(_) | Chunk::Reasoning(_) | Chunk::Writing { .. } | Chunk::Call(_) | Chunk::Done(_) => {
            true
        }
        Chunk::Usage(_) | Chunk::Retrying { .. } => false,
    }
}

fn chunk(piece: Piece) -> Chunk {
    match piece {
        Piece::Thought(text) => Chunk::Reasoning(text),
        Piece::Said(text) => Chunk::Text(text),
    }
}

/// Services have many words for the same; one that nobody knows is an ordinary end.
fn finish(word: &str) -> Finish {
    match word.to_ascii_lowercase().as_str() {
        "length" | "max_tokens" | "max_output_tokens" | "model_length" => Finish::Length,
        "content_filter" | "safety" | "recitation" | "prohibited_content" | "blocklist" | "sensitive" => {
            Finish::Filtered(super::fault::clip(word, 60))
        }
        _ => Finish::Stop,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::ToolCall;
    use serde_json::json;

    fn gather(events: &[Value], end: End) -> Vec<Result<Chunk, Error>> {
        let (mut gather, mut out) = (Gather::default(), Out::new());
        for event in events {
            gather.take(event, &mut out);
        }
        gather.end(end, &mut out);
        out.into()
    }

    fn says(text: &str) -> Value {
        json!({"choices": [{"delta": {"content": text}}]})
    }

    fn ends(word: &str) -> Value {
        json!({"choices": [{"delta": {}, "finish_reason": word}]})
    }

    fn text(text: &str) -> Result<Chunk, Error> {
        Ok(Chunk::Text(text.into()))
    }

    fn done(finish: Finish) -> Result<Chunk, Error> {
        Ok(Chunk::Done(finish))
    }

    #[test]
    fn r48_a_reply_is_whole_only_if_the_service_said_so() {
        let cut = || Err(Error::Cut("the service closed it without saying that the reply was over".into()));
        assert_eq!(gather(&[says("a")], End::Silent), [text("a"), cut()]);
        assert_eq!(gather(&[], End::Silent), [cut()]);
        assert_eq!(gather(&[says("a")], End::Said), [text("a"), done(Finish::Stop)]);
        assert_eq!(gather(&[says("a"), ends("stop")], End::Silent), [text("a"), done(Finish::Stop)]);
        let broken = End::Broken(Error::Cut("reset".into()));
        assert_eq!(gather(&[says("a")], broken.clone()), [text("a"), Err(Error::Cut("reset".into()))]);
        assert_eq!(gather(&[says("a"), ends("stop")], broken), [text("a"), done(Finish::Stop)]);
        assert_eq!(gather(&[says("<thi")], End::Silent), [text("<thi"), cut()]);
    }

    #[test]
    fn r48_every_way_to_end_is_understood() {
        for (word, finish) in [
            ("stop", Finish::Stop),
            ("tool_calls", Finish::Stop),
            ("something_new", Finish::Stop),
            ("length", Finish::Length),
            ("MAX_TOKENS", Finish::Length),
            ("content_filter", Finish::Filtered("content_filter".into())),
        ] {
            assert_eq!(gather(&[ends(word)], End::Silent), [done(finish)], "{word}");
        }
        let whole = json!({"choices": [{"message": {"content": "a"}}]});
        assert_eq!(gather(&[whole], End::Silent), [text("a"), done(Finish::Stop)]);
    }

    #[test]
    fn a_service_that_says_the_end_with_every_word_is_heard_out() {
        let both = json!({"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]});
        let usage = json!({"choices": [], "usage": {"prompt_tokens": 5}});
        let rests = |events: &[Value]| {
            let (mut gather, mut out) = (Gather::default(), Out::new());
            events.iter().for_each(|event| gather.take(event, &mut out));
            gather.rests()
        };
        assert!(!rests(std::slice::from_ref(&both)));
        assert!(!rests(&[ends("stop"), both.clone()]));
        assert!(rests(&[both.clone(), ends("stop"), usage]));
        assert_eq!(gather(&[both.clone(), both], End::Silent), [text("a"), text("a"), done(Finish::Stop)]);
    }

    #[test]
    fn calls_come_whole_after_the_text_and_before_the_end() {
        let call = |arguments: &str| json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": arguments}}]}}]});
        let usage = json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 1}});
        let counted = Usage { input: 5, cached: 0, output: 1 };
        let whole = ToolCall { id: "c".into(), name: "f".into(), arguments: r#"{"x":1}"#.into() };
        let writing = |bytes| Ok(Chunk::Writing { name: "f".into(), bytes });
        assert_eq!(
            gather(
                &[call(r#"{"x""#), says("so"), call(":1}"), ends("stop"), usage.clone(), usage],
                End::Said
            ),
            [
                writing(4),
                text("so"),
                writing(7),
                Ok(Chunk::Usage(counted)),
                Ok(Chunk::Call(whole)),
                done(Finish::Stop)
            ]
        );
        let half = gather(&[call(r#"{"x""#)], End::Silent);
        assert!(
            !half.iter().any(|chunk| matches!(chunk, Ok(Chunk::Call(_)))),
            "half a call is never one: {half:?}"
        );
    }

    #[test]
    fn thoughts_are_kept_apart_from_text() {
        let thought = |text: &str| Ok(Chunk::Reasoning(text.into()));
        let both = json!({"choices": [{"delta": {"content": "a", "reasoning": "r"}}]});
        assert_eq!(gather(&[both], End::Said), [thought("r"), text("a"), done(Finish::Stop)]);
        assert_eq!(
            gather(&[says("<thi"), says("nk>hm</th"), says("ink>\na")], End::Said),
            [thought("hm"), text("a"), done(Finish::Stop)]
        );
    }

    #[test]
    fn r48_an_error_ends_the_reply_and_is_told_in_its_own_words() {
        let error = json!({"error": {"message": "overloaded", "code": 529}});
        assert_eq!(
            gather(std::slice::from_ref(&error), End::Said),
            [Err(Error::Service { status: 529, code: None, words: "overloaded".into(), retry_after: None })]
        );
        assert_eq!(
            gather(&[says("a"), error, says("b")], End::Said),
            [text("a"), Err(Error::InStream("overloaded".into())),]
        );
        let finished = gather(&[ends("error")], End::Said);
        assert_eq!(finished, [Err(Error::InStream("it stopped with an error".into()))]);
    }
}
