//! What Claude Code says it has used: of a request, of a turn, of a session.

use indexmap::IndexMap;
use longhaul_core::Json;

use super::super::event::Look;
use super::super::notes::{less, most, sum};
use crate::contract::Meter;

/// Of one request, or of the requests of the agent itself.
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

/// Of all models together, helpers and side requests too.
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

/// What a turn has used. A turn has several results where something ran in the background, and each tells its part; what
/// the stream shows of every message is the least that it can be.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    before: Meter,
    /// What the session had used before the first result.
    base: Option<Meter>,
    /// The parts of all results.
    parts: Meter,
    /// What all results tell, by whichever of their numbers is larger.
    told: Meter,
    /// What the stream shows, by message.
    shown: IndexMap<String, Meter>,
    /// The sum of that when the last result came.
    settled: Meter,
    /// The message that is being written.
    writing: String,
}

impl Ledger {
    /// For a turn whose session has used this much before it.
    pub(super) fn new(before: Meter) -> Self {
        Self { before, ..Self::default() }
    }

    /// A message comes in several events, of which each says more about what it used.
    pub(super) fn message(&mut self, id: &str, usage: &Json) {
        if !id.is_empty() && usage.is_object() {
            let known = self.shown.entry(id.to_owned()).or_default();
            *known = most(*known, of_request(usage));
        }
    }

    /// A part of a message as it is written. Only the end of it says how long it became.
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

    /// A result tells what was used since the last one, and what the session has used in all, which is returned.
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

    /// What was used so far.
    pub(super) fn used(&self) -> Meter {
        sum(most(self.told, self.settled), less(self.all_shown(), self.settled))
    }

    /// Whether something was used that no result has told.
    pub(super) fn is_open(&self) -> bool {
        self.all_shown() != self.settled
    }

    fn all_shown(&self) -> Meter {
        self.shown.values().copied().fold(Meter::default(), sum)
    }
}
