//! Events as the store keeps them: JSON text, with large values moved out into blobs.
//!
//! A body is the JSON of an event, or `{"refs": […], "body": …}`: the event with `null` in some places, and beside it which blob
//! belongs where. Nothing inside an event is ever taken for a reference.
//!
//! **Invariant:** decoding what was encoded gives the same event, whatever it holds and however large it is.

use longhaul_core::Json;
use longhaul_core::event::{Envelope, Event, VERSION};
use longhaul_store::{Blob, EventId, Hash, NewEvent, Store, StoredEvent};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::engine::Error;

/// Bodies up to this size stay whole.
const BODY_BYTES_WHOLE: usize = 32 << 10;
/// Values from this size on move out of larger bodies.
const VALUE_BYTES_OUT: usize = 4 << 10;
/// A list or mapping moves out as a whole if so much of it is in parts that would not move by themselves…
const REST_BYTES_OUT: usize = 16 << 10;
/// …or if it has more parts that would.
const PARTS_MAX: usize = 64;
/// How a body begins that has something beside it. No event begins like this.
const WRAPPED: &str = r#"{"refs":"#;
/// How bodies of earlier versions refer to a blob, in place of a text.
const OLD_KEY: &str = "$blob";

/// A body that refers to blobs.
#[derive(Serialize, Deserialize)]
struct Wrapped<T> {
    refs: Vec<Ref>,
    body: T,
}

/// A value that is in a blob.
#[derive(Serialize, Deserialize)]
struct Ref {
    /// Where it belongs: a JSON pointer.
    at: String,
    /// What holds it.
    blob: String,
    /// Whether the blob is the text itself, and not JSON.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    text: bool,
}

/// Events, and the blobs they refer to. Their ids follow one that is new: to draw each one again costs as much as to encode it.
pub(crate) fn encode_all(envelopes: &[Envelope], blobs: &mut Vec<Blob>) -> Result<Vec<NewEvent>, Error> {
    let ids = std::iter::successors(Some(Uuid::now_v7().as_u128()), |id| Some(id.wrapping_add(1)));
    envelopes.iter().zip(ids).map(|(envelope, id)| encode(envelope, EventId(id), blobs)).collect()
}

fn encode(envelope: &Envelope, id: EventId, blobs: &mut Vec<Blob>) -> Result<NewEvent, Error> {
    Ok(NewEvent { id, at_ms: envelope.at, body: body(&envelope.event, blobs)? })
}

/// What is kept of something that happened, and the blobs it refers to.
pub(crate) fn body<T: Serialize>(event: &T, blobs: &mut Vec<Blob>) -> Result<String, Error> {
    let body = serde_json::to_string(event).map_err(Error::encoding)?;
    let is_plain = !body.contains(OLD_KEY);
    if body.len() <= BODY_BYTES_WHOLE && is_plain {
        return Ok(body);
    }
    let mut value = serde_json::to_value(event).map_err(Error::encoding)?;
    let mut out = Out { refs: Vec::new(), blobs };
    if body.len() > BODY_BYTES_WHOLE {
        out.parts(&mut value, &mut String::new());
    }
    if out.refs.is_empty() && is_plain {
        return Ok(body);
    }
    serde_json::to_string(&Wrapped { refs: out.refs, body: value }).map_err(Error::encoding)
}

/// Values on their way out of a body.
struct Out<'a> {
    refs: Vec<Ref>,
    blobs: &'a mut Vec<Blob>,
}

impl Out<'_> {
    /// Looks at a value of some size: it moves as a whole, or its large parts do.
    fn value(&mut self, value: &mut Json, at: &mut String) {
        if value.is_string() || goes_whole(value) {
            self.whole(value, at);
        } else {
            self.parts(value, at);
        }
    }

    fn parts(&mut self, value: &mut Json, at: &mut String) {
        let length = at.len();
        for (key, part) in parts_mut(value).filter(|(_, part)| bytes(part) >= VALUE_BYTES_OUT) {
            at.push('/');
            at.push_str(&key);
            self.value(part, at);
            at.truncate(length);
        }
    }

    fn whole(&mut self, value: &mut Json, at: &str) {
        let (bytes, text) = match value.take() {
            Json::String(text) => (text.into_bytes(), true),
            other => (other.to_string().into_bytes(), false),
        };
        let blob = Blob::new(bytes);
        self.refs.push(Ref { at: at.to_owned(), blob: blob.hash.to_string(), text });
        if !self.blobs.iter().any(|known| known.hash == blob.hash) {
            self.blobs.push(blob);
        }
    }
}

/// Whether a list or mapping is large because of many parts, not because of a few.
fn goes_whole(value: &Json) -> bool {
    let (mut rest, mut large) = (0, 0);
    for part in parts(value) {
        match bytes(part) {
            small if small < VALUE_BYTES_OUT => rest += small,
            _ => large += 1,
        }
    }
    rest >= REST_BYTES_OUT || large > PARTS_MAX
}

fn parts(value: &Json) -> Box<dyn Iterator<Item = &Json> + '_> {
    match value {
        Json::Array(items) => Box::new(items.iter()),
        Json::Object(map) => Box::new(map.values()),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => Box::new(std::iter::empty()),
    }
}

/// Parts with their keys, as a pointer has them.
fn parts_mut(value: &mut Json) -> Box<dyn Iterator<Item = (String, &mut Json)> + '_> {
    match value {
        Json::Array(items) => Box::new(items.iter_mut().enumerate().map(|(index, item)| (index.to_string(), item))),
        Json::Object(map) => {
            Box::new(map.iter_mut().map(|(key, item)| (key.replace('~', "~0").replace('/', "~1"), item)))
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => Box::new(std::iter::empty()),
    }
}

/// About how long a value is as JSON.
fn bytes(value: &Json) -> usize {
    match value {
        Json::String(text) => text.len() + 2,
        Json::Array(items) => items.iter().map(|item| bytes(item) + 1).sum::<usize>() + 2,
        Json::Object(map) => map.iter().map(|(key, item)| key.len() + bytes(item) + 4).sum::<usize>() + 2,
        Json::Null | Json::Bool(_) | Json::Number(_) => 8,
    }
}

/// The event that a row holds.
pub(crate) async fn decode(row: StoredEvent, store: &dyn Store) -> Result<Envelope, Error> {
    let event: Event = what(&row.body, store).await?;
    Ok(Envelope { v: VERSION, seq: row.seq, at: row.at_ms, event })
}

/// What a body says.
pub(crate) async fn what<T: DeserializeOwned>(body: &str, store: &dyn Store) -> Result<T, Error> {
    if body.starts_with(WRAPPED) {
        let Wrapped { refs, body: mut value } = read::<Wrapped<Json>>(body)?;
        for one in refs {
            bring_in(&one, &mut value, store).await?;
        }
        return meaning(value);
    }
    if !body.contains(OLD_KEY) {
        return read(body).map_err(|error| newer(body).unwrap_or(error));
    }
    let mut value: Json = read(body)?;
    old::bring_in(&mut value, store).await?;
    meaning(value)
}

/// JSON however deep it is: what is kept must be readable.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let value = T::deserialize(&mut reader).map_err(Error::decoding)?;
    reader.end().map_err(Error::decoding).map(|()| value)
}

fn meaning<T: DeserializeOwned>(value: Json) -> Result<T, Error> {
    let kind = value.get("event").and_then(Json::as_str).map(str::to_owned);
    serde_json::from_value(value)
        .map_err(|error| not_known(kind.as_deref(), &error.to_string()).unwrap_or_else(|| Error::decoding(error)))
}

/// The error for a body that a newer version wrote.
fn newer(body: &str) -> Option<Error> {
    #[derive(Deserialize)]
    struct Kind {
        event: String,
    }
    let kind: Kind = read(body).ok()?;
    let why = serde_json::from_value::<Event>(serde_json::json!({"event": kind.event})).err()?;
    not_known(Some(&kind.event), &why.to_string())
}

fn not_known(kind: Option<&str>, why: &str) -> Option<Error> {
    why.starts_with("unknown variant").then(|| Error::Newer(kind.unwrap_or("?").to_owned()))
}

async fn bring_in(one: &Ref, value: &mut Json, store: &dyn Store) -> Result<(), Error> {
    let hash: Hash = one.blob.parse().map_err(|_| Error::Damaged(format!("`{}` is not a blob", one.blob)))?;
    let text = text_of(hash, store).await?;
    let place = value.pointer_mut(&one.at).ok_or_else(|| Error::Damaged(format!("there is no `{}`", one.at)))?;
    *place = if one.text { Json::String(text) } else { read(&text)? };
    Ok(())
}

async fn text_of(hash: Hash, store: &dyn Store) -> Result<String, Error> {
    let bytes = store.blob(hash).await?.ok_or_else(|| Error::Damaged(format!("blob {hash} is missing")))?;
    String::from_utf8(bytes).map_err(|_| Error::Damaged(format!("blob {hash} is not text")))
}

/// Bodies of earlier versions, in which a mapping with one key stands for a text in a blob.
mod old {
    use super::{Error, Hash, Json, OLD_KEY, Store, parts, text_of};

    pub(super) async fn bring_in(value: &mut Json, store: &dyn Store) -> Result<(), Error> {
        let mut hashes = Vec::new();
        find(value, &mut hashes);
        for hash in hashes {
            put_back(value, hash, &text_of(hash, store).await?);
        }
        Ok(())
    }

    /// A mapping that only looks like a reference is what somebody's data was.
    fn reference(value: &Json) -> Option<Hash> {
        value.as_object().filter(|map| map.len() == 1)?.get(OLD_KEY)?.as_str()?.parse().ok()
    }

    fn find(value: &Json, hashes: &mut Vec<Hash>) {
        match reference(value) {
            Some(hash) => hashes.push(hash),
            None => parts(value).for_each(|part| find(part, hashes)),
        }
    }

    fn put_back(value: &mut Json, hash: Hash, text: &str) {
        if reference(value) == Some(hash) {
            *value = Json::String(text.to_owned());
            return;
        }
        super::parts_mut(value).for_each(|(_, part)| put_back(part, hash, text));
    }
}

#[cfg(test)]
mod tests;
