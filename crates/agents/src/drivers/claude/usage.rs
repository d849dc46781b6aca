//! Reads the usage that Claude Code reports: of a request, of a turn, of a session.

use indexmap::IndexMap;
use longhaul_core::Json;

use super::super::event::Look;
use super::super::notes::{less, most, sum};
use crate::contract::Meter;

/// The usage of one request, or of the agent's own requests.
pub(super) fn of_request(usage: &Json) -> Meter {
    let cached = usage.count("/cache_read_input_tokens");
    let written = usage.count("/cache_creation_input_tokens");
    Meter {
        input_tokens: usage.count("/input_tokens").saturating_add(cached).saturating_add(written),
        cached_tokens: cached,
        output_tokens: usage.count("/output_tokens"),
        usd: None,
    }
}

/// The usage of all models, including subagents and side requests.
pub(super) fn of_models(models: &Json, usd: &Json) -> Meter {
    let all = models.as_object().into_iter().flat_map(|models| models.values().map(of_model));
    let total = all.fold(Meter::default(), sum);
    Meter { usd: usd.as_f64().or(total.usd), ..total }
}

fn of_model(model: &Json) -> Meter {
    let cached = model.count("/cacheReadInputTokens");
    let written = model.count("/cacheCreationInputTokens");
    Meter {
        input_tokens: model.count("/inputTokens").saturating_add(cached).saturating_add(written),
        cached_tokens: cached,
        output_tokens: model.count("/outputTokens"),
        usd: model.at("/costUSD").as_f64(),
    }
}

/// The usage of a turn. A turn with background tasks has several results, and each reports its part. The usage that the
/// stream shows for every message is the minimum.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    before: Meter,
    /// The usage of the session before the first result.
    base: Option<Meter>,
    /// The sum of the parts of all results.
    parts: Meter,
    /// The sum of all results, with the larger of their two numbers each.
    told: Meter,
    /// The usage that the stream shows, by message.
    shown: IndexMap<String, Meter>,
    /// That sum when the last result came.
    settled: Meter,
    /// The message that is being written.
    writing: String,
}

impl Ledger {
    /// For a turn whose session has already used this much.
    pub(super) fn new(before: Meter) -> Self {
        Self { before, ..Self::default() }
    }

    /// Notes the usage of a message. A message comes in several events, and each one reports more of its usage.
    pub(super) fn message(&mut self, id: &str, usage: &Json) {
        if !id.is_empty() && usage.is_object() {
            let known = self.shown.entry(id.to_owned()).or_default();
            *known = most(*known, of_request(usage));
        }
    }

    /// Notes a part of a message. Only its end says how long the message became.
    pub(super) fn part(&mut self, event: &Json) {
        match event.text("/type") {
            "message_start" => {
                event.text("/message/id").clone_into(&mut self.writing);
                self.message(event.text("/message/id"), event.at("/message/usage"));
            }
            "message_delta" => self.message(&self.writing.clone(), event.at("/usage")),
            _ => {}
        }
    }

    /// Notes a result: the usage since the last one. Returns the total of the session.
    pub(super) fn result(&mut self, result: &Json) -> Meter {
        let total = of_models(result.at("/modelUsage"), result.at("/total_cost_usd"));
        let since = result.at("/model_usage_since_last_result");
        let (part, base) = if since.is_object() {
            let part = of_models(since, &Json::Null);
            (part, less(total, part))
        } else {
            let part = of_request(result.at("/usage"));
            (part, Meter { usd: self.before.usd, ..less(total, part) })
        };
        let base = *self.base.get_or_insert(base);
        self.parts = sum(self.parts, part);
        self.told = most(self.parts, less(total, base));
        self.settled = self.all_shown();
        total
    }

    /// The usage so far.
    pub(super) fn used(&self) -> Meter {
        sum(most(self.told, self.settled), less(self.all_shown(), self.settled))
    }

    /// Whether something was used that no result has reported.
    pub(super) fn is_open(&self) -> bool {
        self.all_shown() != self.settled
    }

    fn all_shown(&self) -> Meter {
        self.shown.values().copied().fold(Meter::default(), sum)
    }
}
