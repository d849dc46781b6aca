//! Translates `budget`, `reliability` and `eval_gate` into limits and gates.

use super::super::compose::Entries;
use super::super::reader::Reader;
use crate::diagnostic::Diagnostic;
use crate::source::{Node, Span};

const BUDGET_KEYS: &[&str] = &["max_tokens_per_session", "max_usd_per_task", "alert_at_percent", "on_exceed"];
const RELIABILITY_KEYS: &[&str] = &["enabled", "recovery", "budget_governor", "guardrails", "confidence"];
const GOVERNOR_KEYS: &[&str] =
    &["enabled", "max_degradations_per_run", "degrade_output_chars", "lazy_injection_threshold"];
const CONFIDENCE_KEYS: &[&str] = &["enabled", "low_terms", "missing_requires_approval"];
const GATE_KEYS: &[&str] = &[
    "enabled",
    "release_class",
    "mode",
    "baseline_window",
    "min_baseline_runs",
    "thresholds",
    "warn_threshold",
    "block_threshold",
];
const THRESHOLD_KEYS: &[&str] =
    &["max_quality_score_drop", "max_cost_usd_increase", "max_latency_ms_increase", "max_retry_increase"];
/// The original's default for a control that is on and has no number.
const STEP_RETRIES: u64 = 2;
const DEGRADATIONS: u64 = 1;
const DEGRADED_CHARS: u64 = 400;

/// Adds `defaults`, `limits` and `gates`, if the file has them.
pub(super) fn put(file: &mut Reader<'_, '_>, native: &mut Entries) {
    let reliability = file.get("reliability");
    let controls = reliability.and_then(|block| {
        let mut reader = Reader::open(block, "`reliability`", RELIABILITY_KEYS, file.out())?;
        Some(controls(&mut reader))
    });
    let controls = controls.unwrap_or_default();
    native.put_some("defaults", controls.retry.map(|retry| single(retry.span, "retry", retry)));
    native.put_some("limits", limits(file, controls.degrade));
    let mut gates = Entries::at(file.get("eval_gate").or(reliability).unwrap_or(file.node));
    gates.put_some("guardrail", controls.guardrail);
    gates.put_some("confidence", controls.confidence);
    let eval = file.get("eval_gate").and_then(|gate| eval_gate(gate, file.out()));
    gates.put_some("eval", eval);
    native.put_some("gates", (!gates.is_empty()).then(|| gates.block()));
}

fn single(span: Span, key: &str, value: Node) -> Node {
    Node::map(span, [(key, value)])
}

#[derive(Default)]
struct Controls {
    retry: Option<Node>,
    degrade: Option<Node>,
    guardrail: Option<Node>,
    confidence: Option<Node>,
}

/// One of the four controls: its block, if any, and whether it is on.
struct Control<'n> {
    block: Option<&'n Node>,
    origin: &'n Node,
    on: bool,
}

fn controls(reader: &mut Reader<'_, '_>) -> Controls {
    let all = reader.flag("enabled");
    let control = |key| control(reader, key, all);
    let (recovery, governor) = (control("recovery"), control("budget_governor"));
    let (guardrails, confidence) = (control("guardrails"), control("confidence"));
    let out = reader.out();
    Controls {
        retry: recovery.map(|control| retry(&control, out)),
        degrade: governor.and_then(|control| degrade(&control, out)),
        guardrail: guardrails.map(|control| guardrail(&control, out)),
        confidence: confidence.map(|control| confidence_gate(&control, out)),
    }
}

/// The outer switch sets all four, an inner one sets its own. A block without a switch is on.
fn control<'n>(reader: &Reader<'n, '_>, key: &str, all: Option<bool>) -> Option<Control<'n>> {
    let block = reader.get(key);
    let own = block.and_then(|block| block.get("enabled")).and_then(Node::as_bool);
    let on = own.or(all);
    (block.is_some() || on.is_some()).then(|| Control {
        block,
        origin: block.unwrap_or(reader.node),
        on: on.unwrap_or(true),
    })
}

/// Opens the block of a control and checks its switch.
fn open<'n, 'o>(
    control: &Control<'n>,
    what: &str,
    keys: &[&str],
    out: &'o mut Vec<Diagnostic>,
) -> Option<Reader<'n, 'o>> {
    let mut reader = Reader::open(control.block?, what, keys, out)?;
    reader.flag("enabled");
    Some(reader)
}

fn number(origin: &Node, value: u64) -> Node {
    Node::plain(origin.span, value.to_string())
}

fn retry(control: &Control<'_>, out: &mut Vec<Diagnostic>) -> Node {
    let mut reader = open(control, "`recovery`", &["enabled", "max_step_retries"], out);
    let max = reader.as_mut().and_then(|reader| reader.count("max_step_retries")).unwrap_or(STEP_RETRIES);
    let mut retry = Entries::at(control.origin);
    if control.on {
        // The original tries again at least once, after an error of any kind.
        retry.put("max", number(control.origin, max.max(1)));
        retry.put("on", Node::plain(control.origin.span, "any"));
    } else {
        retry.put("max", number(control.origin, 0));
    }
    retry.flow()
}

fn degrade(control: &Control<'_>, out: &mut Vec<Diagnostic>) -> Option<Node> {
    let mut reader = open(control, "`budget_governor`", GOVERNOR_KEYS, out);
    let mut count = |key: &str, otherwise| reader.as_mut().and_then(|reader| reader.count(key)).unwrap_or(otherwise);
    let (chars, max) = (count("degrade_output_chars", DEGRADED_CHARS), count("max_degradations_per_run", DEGRADATIONS));
    if let Some(reader) = &mut reader {
        let why = "outputs are stored whole and shown to later prompts as `output.show` says";
        reader.without_effect("lazy_injection_threshold", why);
    }
    let mut degrade = Entries::at(control.origin);
    degrade.put("chars", number(control.origin, chars));
    degrade.put("max", number(control.origin, max));
    control.on.then(|| degrade.flow())
}

fn guardrail(control: &Control<'_>, out: &mut Vec<Diagnostic>) -> Node {
    let mut gate = switched(control);
    if let Some(mut reader) = open(control, "`guardrails`", &["enabled", "terms"], out) {
        put_terms(&mut reader, ("terms", "terms"), &mut gate);
    }
    gate.block()
}

fn confidence_gate(control: &Control<'_>, out: &mut Vec<Diagnostic>) -> Node {
    let mut gate = switched(control);
    if let Some(mut reader) = open(control, "`confidence`", CONFIDENCE_KEYS, out) {
        put_terms(&mut reader, ("low_terms", "low_terms"), &mut gate);
        if let Some(review) = reader.flag("missing_requires_approval") {
            let origin = reader.get("missing_requires_approval").unwrap_or(reader.node);
            gate.put("when_missing", Node::plain(origin.span, if review { "review" } else { "pass" }));
        }
    }
    gate.block()
}

fn switched(control: &Control<'_>) -> Entries {
    let mut gate = Entries::at(control.origin);
    gate.put("enabled", Node::plain(control.origin.span, control.on.to_string()));
    gate
}

fn put_terms(reader: &mut Reader<'_, '_>, (from, to): (&str, &str), gate: &mut Entries) {
    let terms: Vec<Node> = reader.texts(from).into_iter().cloned().collect();
    if let Some(origin) = reader.get(from).filter(|_| !terms.is_empty()) {
        gate.put(to, super::flow_list(origin, terms));
    }
}

fn limits(file: &mut Reader<'_, '_>, degrade: Option<Node>) -> Option<Node> {
    let budget = file.get("budget");
    let origin = budget.cloned().or_else(|| degrade.clone())?;
    let mut limits = Entries::at(&origin);
    let mut on_exceed = None;
    if let Some(mut reader) = budget.and_then(|node| Reader::open(node, "`budget`", BUDGET_KEYS, file.out())) {
        put_number(&mut reader, ("max_tokens_per_session", "tokens"), &mut limits);
        put_number(&mut reader, ("max_usd_per_task", "usd"), &mut limits);
        put_number(&mut reader, ("alert_at_percent", "alert_at"), &mut limits);
        on_exceed = Some(exceeded(&mut reader));
        if degrade.is_some() {
            reader.without_effect("on_exceed", "`budget_governor` is on, and shortens outputs instead");
        }
    }
    let degraded = degrade.as_ref().map(|degrade| Node::plain(degrade.span, "degrade"));
    limits.put_some("on_exceed", degraded.or(on_exceed));
    limits.put_some("degrade", degrade);
    Some(limits.block())
}

fn exceeded(budget: &mut Reader<'_, '_>) -> Node {
    let word = budget.word("on_exceed", &["pause", "stop", "alert-only"]);
    let native = match word.and_then(Node::as_text) {
        Some("pause") => "ask",
        Some("alert-only") => "warn",
        _ => "fail",
    };
    Node::plain(word.unwrap_or(budget.node).span, native)
}

fn put_number(reader: &mut Reader<'_, '_>, (from, to): (&str, &str), native: &mut Entries) {
    let value = reader.number(from).and_then(|_| reader.get(from));
    native.put_some(to, value.cloned());
}

fn eval_gate(node: &Node, out: &mut Vec<Diagnostic>) -> Option<Node> {
    let mut gate = Reader::open(node, "`eval_gate`", GATE_KEYS, out)?;
    let mut native = Entries::at(node);
    for (from, to) in [("enabled", "enabled"), ("release_class", "release")] {
        let value = gate.flag(from).and_then(|_| gate.get(from));
        native.put_some(to, value.cloned());
    }
    native.put_some("mode", gate.word("mode", &["fail-open", "fail-closed"]).cloned());
    put_number(&mut gate, ("baseline_window", "window"), &mut native);
    put_number(&mut gate, ("min_baseline_runs", "min_runs"), &mut native);
    native.put_some("thresholds", thresholds(&mut gate));
    Some(native.block())
}

fn thresholds(gate: &mut Reader<'_, '_>) -> Option<Node> {
    let block = gate.get("thresholds");
    let mut native = Entries::at(block.or_else(|| gate.get("block_threshold")).unwrap_or(gate.node));
    if block.is_none_or(|block| block.get("max_quality_score_drop").is_none()) {
        put_number(gate, ("block_threshold", "quality_drop"), &mut native);
        note_block_threshold(gate);
    } else {
        gate.without_effect("block_threshold", "`max_quality_score_drop` is there and decides");
    }
    gate.without_effect("warn_threshold", "there is one threshold, and `mode` says whether it warns or blocks");
    if let Some(mut reader) = block.and_then(|node| Reader::open(node, "`thresholds`", THRESHOLD_KEYS, gate.out())) {
        put_number(&mut reader, ("max_quality_score_drop", "quality_drop"), &mut native);
        put_number(&mut reader, ("max_cost_usd_increase", "usd_increase"), &mut native);
        let slack = reader.count("max_latency_ms_increase").zip(reader.get("max_latency_ms_increase"));
        native.put_some("latency_increase", slack.map(|(ms, origin)| Node::plain(origin.span, format!("{ms}ms"))));
        put_number(&mut reader, ("max_retry_increase", "retry_increase"), &mut native);
    }
    native.flow_if_any()
}

fn note_block_threshold(gate: &mut Reader<'_, '_>) {
    if let Some(origin) = gate.get("block_threshold") {
        let message = "`block_threshold` is taken as `thresholds.quality_drop`; the original ignores it";
        gate.report(Diagnostic::note("LH0602", origin.span, message).label("a fraction of the score"));
    }
}
