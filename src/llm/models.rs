//! Which models a service offers.

use super::{Error, fault};
use reqwest::header::HeaderMap;
use reqwest::{Client, Url};
use serde_json::Value;
use std::time::Duration;

/// The most of a list that is read, in bytes.
const LARGEST: usize = 8 << 20;

/// A model as its service lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// Its name in a request.
    pub id: String,
    /// How many tokens a talk with it may have, where the service says so.
    pub context: Option<u64>,
}

/// Asks for the list at `{base}/models`, in the service's order.
pub(super) async fn list(
    http: Client,
    base: &Url,
    headers: HeaderMap,
    limit: Duration,
) -> Result<Vec<Model>, Error> {
    let url = format!("{}/models", base.as_str().trim_end_matches('/'));
    let asked = async {
        let mut response =
            http.get(url).headers(headers).send().await.map_err(|error| fault::unreached(&error, base))?;
        if !response.status().is_success() {
            return Err(fault::refused(response).await);
        }
        let mut body = Vec::new();
        while let Some(piece) =
            response.chunk().await.map_err(|error| Error::Cut(fault::innermost(&error)))?
        {
            body.extend_from_slice(&piece);
            if body.len() > LARGEST {
                return Err(Error::NotAModel("the list of models has no end".to_owned()));
            }
        }
        let words = || Error::NotAModel("the service has no list of models at this address".to_owned());
        read(&serde_json::from_slice(&body).map_err(|_| words())?).ok_or_else(words)
    };
    tokio::time::timeout(limit, asked).await.unwrap_or(Err(Error::Idle(limit)))
}

fn read(body: &Value) -> Option<Vec<Model>> {
    let list =
        ["data", "models"].iter().find_map(|key| body.get(*key)?.as_array()).or_else(|| body.as_array())?;
    Some(list.iter().filter_map(model).collect())
}

fn model(entry: &Value) -> Option<Model> {
    let id = ["id", "name", "model"]
        .iter()
        .find_map(|key| entry.get(*key)?.as_str())
        .or_else(|| entry.as_str())?;
    let own = ["context_length", "max_model_len", "context_window", "max_context_length"];
    let context = own.iter().find_map(|key| entry.get(*key)?.as_u64());
    let trained =
        || entry.get("meta").and_then(|meta| meta.get("n_ctx").or_else(|| meta.get("n_ctx_train"))?.as_u64());
    Some(Model { id: id.to_owned(), context: context.or_else(trained) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_of_every_shape_are_read() {
        let check = |body: Value, expected: Option<&[(&str, Option<u64>)]>| {
            let models = expected.map(|list| {
                list.iter().map(|(id, context)| Model { id: (*id).into(), context: *context }).collect()
            });
            assert_eq!(read(&body), models, "{body}");
        };
        check(
            json!({"data": [{"id": "a"}, {"id": "b", "context_length": 9}]}),
            Some(&[("a", None), ("b", Some(9))]),
        );
        check(json!({"data": [{"id": "a", "meta": {"n_ctx_train": 7}}]}), Some(&[("a", Some(7))]));
        check(json!({"models": [{"name": "a"}, {}, 3]}), Some(&[("a", None)]));
        check(json!([{"id": "a", "max_model_len": 5}, "b"]), Some(&[("a", Some(5)), ("b", None)]));
        check(json!({"data": []}), Some(&[]));
        check(json!({"error": "no"}), None);
    }
}
