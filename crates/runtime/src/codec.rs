//! Events as the store keeps them: JSON text, with large texts moved out into blobs.
//!
//! **Invariant:** decoding what was encoded gives the same event, whatever its size.

use longhaul_core::Json;
use longhaul_core::event::{Envelope, Event, VERSION};
use longhaul_store::{Blob, EventId, Hash, NewEvent, Store, StoredEvent};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::engine::Error;

/// Bodies up to this size stay whole.
const BODY_BYTES_WHOLE: usize = 32 << 10;
/// Texts from this size on move out of larger bodies.
const TEXT_BYTES_OUT: usize = 4 << 10;
/// The key of a mapping that stands for a text in a blob.
const BLOB_KEY: &str = "$blob";

/// Events, and the blobs they refer to. Their ids follow one that is new: to draw each one anew costs as much as to encode it.
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
    if body.len() <= BODY_BYTES_WHOLE {
        return Ok(body);
    }
    let mut value = serde_json::to_value(event).map_err(Error::encoding)?;
    move_out(&mut value, blobs);
    Ok(value.to_string())
}

fn move_out(value: &mut Json, blobs: &mut Vec<Blob>) {
    match value {
        Json::String(text) if text.len() >= TEXT_BYTES_OUT => {
            let blob = Blob::new(text.as_bytes());
            *value = serde_json::json!({BLOB_KEY: blob.hash.to_string()});
            if !blobs.iter().any(|known| known.hash == blob.hash) {
                blobs.push(blob);
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| move_out(item, blobs)),
        Json::Object(map) => map.values_mut().for_each(|item| move_out(item, blobs)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

/// The event that a row holds.
pub(crate) async fn decode(row: StoredEvent, store: &dyn Store) -> Result<Envelope, Error> {
    let event: Event = what(&row.body, store).await?;
    Ok(Envelope { v: VERSION, seq: row.seq, at: row.at_ms, event })
}

/// What a body says.
pub(crate) async fn what<T: DeserializeOwned>(body: &str, store: &dyn Store) -> Result<T, Error> {
    if !body.contains(BLOB_KEY) {
        return serde_json::from_str(body).map_err(Error::decoding);
    }
    let mut value: Json = serde_json::from_str(body).map_err(Error::decoding)?;
    bring_in(&mut value, store).await?;
    serde_json::from_value(value).map_err(Error::decoding)
}

async fn bring_in(value: &mut Json, store: &dyn Store) -> Result<(), Error> {
    let mut hashes = Vec::new();
    find(value, &mut hashes);
    for hash in hashes {
        let parsed: Hash = hash.parse().map_err(|_| Error::Damaged(format!("`{hash}` is not a blob")))?;
        let bytes = store.blob(parsed).await?.ok_or_else(|| Error::Damaged(format!("blob {hash} is missing")))?;
        let text = String::from_utf8(bytes).map_err(|_| Error::Damaged(format!("blob {hash} is not text")))?;
        put_back(value, &hash, &text);
    }
    Ok(())
}

fn reference(value: &Json) -> Option<&str> {
    value.as_object().filter(|map| map.len() == 1)?.get(BLOB_KEY)?.as_str()
}

fn find(value: &Json, hashes: &mut Vec<String>) {
    if let Some(hash) = reference(value) {
        hashes.push(hash.to_owned());
        return;
    }
    match value {
        Json::Array(items) => items.iter().for_each(|item| find(item, hashes)),
        Json::Object(map) => map.values().for_each(|item| find(item, hashes)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}

fn put_back(value: &mut Json, hash: &str, text: &str) {
    if reference(value) == Some(hash) {
        *value = Json::String(text.to_owned());
        return;
    }
    match value {
        Json::Array(items) => items.iter_mut().for_each(|item| put_back(item, hash, text)),
        Json::Object(map) => map.values_mut().for_each(|item| put_back(item, hash, text)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}
