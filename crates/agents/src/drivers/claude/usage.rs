//! What Claude Code says it has used: of a request, of a turn, of a session.

use longhaul_core::Json;

use super::super::event::Look;
use super::super::notes::sum;
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

/// Of this turn, as exactly as a `result` tells it.
pub(super) fn of_turn(result: &Json, total: Meter, before: Meter) -> Meter {
    let since = result.at("/model_usage_since_last_result");
    if since.is_object() {
        return of_models(since, &Json::Null);
    }
    let usd = total.usd.map(|usd| (usd - before.usd.unwrap_or_default()).max(0.0));
    Meter { usd, ..of_request(result.at("/usage")) }
}
