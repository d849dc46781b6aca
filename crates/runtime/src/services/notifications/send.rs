//! Sends one message over its channels.

use std::sync::Arc;
use std::time::Duration;

use longhaul_core::event::Failure;
use longhaul_core::notification::{ChannelResult, NotifyEntry, Outgoing};
use longhaul_core::plan::ErrorClass;
use tokio_util::sync::CancellationToken;

use super::journal;
use crate::engine::{Engine, Shared};
use crate::execute::kinds::notify::Notice;

/// How long one channel may take.
const CHANNEL: Duration = Duration::from_secs(30);

impl Engine {
    /// Sends a message over one channel, to see whether it works.
    pub async fn test_channel(&self, channel: &str) -> Result<(), Failure> {
        let outgoing = Outgoing {
            id: format!("test:{}", uuid::Uuid::now_v7()),
            keys: Vec::new(),
            channels: vec![channel.to_owned()],
            title: "Longhaul: a test".to_owned(),
            text: format!("This message tests the channel {channel}. Notifications about your runs look like it."),
            kind: None,
            run: None,
            step: None,
            command: Some("longhaul runs".to_owned()),
            link: self.shared.options.notify.link.clone(),
        };
        one(&self.shared, &outgoing, channel).await
    }
}

/// Begins to send a claimed message over all its channels at once. Each result is recorded as soon as it is known, so
/// that a channel that is done is not done again because of another one.
pub(super) fn begin(shared: &Arc<Shared>, outgoing: &Outgoing, sending: &mut super::Sending) {
    for channel in outgoing.channels.clone() {
        let (shared, outgoing) = (Arc::clone(shared), outgoing.clone());
        sending.spawn(async move {
            let sent = one(&shared, &outgoing, &channel).await;
            let results = vec![result(&shared, channel, sent)];
            journal::record(&shared, &NotifyEntry::Sent { id: outgoing.id, results }).await
        });
    }
}

async fn one(shared: &Shared, outgoing: &Outgoing, channel: &str) -> Result<(), Failure> {
    let run = outgoing.run.clone().unwrap_or_else(journal::id);
    let step = match &outgoing.step {
        Some(step) => step.clone(),
        None => "notify".parse().map_err(|why: String| Failure::new(ErrorClass::Invalid, why))?,
    };
    let notice = Notice {
        shared,
        run: &run,
        step,
        title: Some(shared.secrets.redact(outgoing.title.clone())),
        text: shared.secrets.redact(outgoing.text.clone()),
        to: None,
        folder: shared.artifacts.run(&run).join("notify").join(folder(&outgoing.id, channel)),
        timeout: Some(CHANNEL),
        cancel: CancellationToken::new(),
        about: Some(outgoing),
    };
    notice.send(channel).await
}

/// A folder name for the files of a program.
fn folder(id: &str, channel: &str) -> String {
    blake3::hash(format!("{id}\n{channel}").as_bytes()).to_hex()[..16].to_owned()
}

fn result(shared: &Shared, channel: String, sent: Result<(), Failure>) -> ChannelResult {
    let Err(failure) = sent else { return ChannelResult { channel, error: None, again: false } };
    let again = !failure.needs_person && failure.class != ErrorClass::Invalid;
    ChannelResult { channel, error: Some(shared.secrets.redact(failure.message)), again }
}
