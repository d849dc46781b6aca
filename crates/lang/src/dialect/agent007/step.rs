//! Translates one step, by its type.

use super::super::compose::Entries;
use super::super::reader::Reader;
use super::template::{Reads, rewrite};
use super::verdict::{depends_on, evaluator, routes};
use super::wiring::Wiring;
use crate::diagnostic::Diagnostic;
use crate::source::{Node, Span};

/// The types of steps.
pub(super) const TYPES: &[&str] = &["execute", "evaluator", "router", "sub-workflow", "extract", "multi-agent"];

const KEYS: &[&str] = &[
    "id",
    "agent",
    "type",
    "prompt",
    "skill",
    "model",
    "inputs",
    "depends_on",
    "output",
    "requires_approval",
    "approval_prompt",
    "evaluate",
    "routes",
    "workflow",
    "extract",
    "cache",
    "workers",
];
const TALKING: &[&str] = &["execute", "evaluator", "router", "multi-agent"];
/// Keys that only some types read.
const OWNED: &[(&str, &[&str])] = &[
    ("prompt", TALKING),
    ("skill", TALKING),
    ("model", TALKING),
    ("evaluate", &["evaluator"]),
    ("routes", &["router"]),
    ("workflow", &["sub-workflow"]),
    ("extract", &["extract"]),
    ("workers", &["multi-agent"]),
];
const EXTRACT_KEYS: &[&str] = &["tool", "input", "compact"];
const WORKER_KEYS: &[&str] = &["persona", "skills", "run"];

/// A step and its context.
struct Step<'n, 'o, 'f> {
    reader: Reader<'n, 'o>,
    kind: &'n str,
    wiring: &'f Wiring<'n>,
    reads: &'f mut Reads,
    native: Entries,
}

/// The step in native keys.
pub(super) fn to_native<'n>(
    node: &'n Node,
    wiring: &Wiring<'n>,
    reads: &mut Reads,
    out: &mut Vec<Diagnostic>,
) -> Option<Node> {
    let what = node.get("id").and_then(Node::as_text).map_or("a step".to_owned(), |id| format!("step `{id}`"));
    let mut reader = Reader::open(node, what, KEYS, out)?;
    let kind = reader.word("type", TYPES).and_then(Node::as_text).unwrap_or("execute");
    let mut step = Step { reader, kind, wiring, reads, native: Entries::at(node) };
    step.put_all();
    Some(step.native.block())
}

impl<'n> Step<'n, '_, '_> {
    fn put_all(&mut self) {
        self.refuse_foreign_keys();
        let id = self.reader.filled_text("id");
        self.native.put_some("id", id.map(|id| self.wiring.ids.native(id)));
        self.native.put_some("depends_on", depends_on(&mut self.reader, self.wiring));
        self.put_action();
        let output = self.reader.text("output").map(|output| self.output(output));
        self.native.put_some("output", output);
        self.put_review();
        let cache = self.reader.flag("cache").and_then(|_| self.reader.get("cache"));
        self.native.put_some("cache", cache.cloned());
        self.put_decision(id.and_then(Node::as_text).unwrap_or_default());
    }

    fn refuse_foreign_keys(&mut self) {
        for (key, kinds) in OWNED {
            if !kinds.contains(&self.kind) {
                let why = format!("only a step of type {} reads it", kinds.join(", "));
                self.reader.without_effect(key, &why);
            }
        }
    }

    fn put_action(&mut self) {
        let agent = self.reader.filled_text("agent");
        match self.kind {
            "sub-workflow" => self.put_workflow(),
            "extract" => self.put_extract(),
            _ => {
                let agent = agent.map(|agent| self.agent(agent));
                self.native.put_some("agent", agent);
                self.put_prompt();
            }
        }
    }

    fn agent(&mut self, persona: &Node) -> Node {
        let model = self.reader.text("model");
        let team = if self.kind == "multi-agent" { self.team() } else { None };
        if model.is_none() && team.is_none() {
            return persona.clone();
        }
        let mut agent = Entries::at(persona);
        agent.put("persona", persona.clone());
        agent.put_some("model", model.cloned());
        let is_small = team.is_none();
        agent.put_some("team", team);
        if is_small { agent.flow() } else { agent.block() }
    }

    fn team(&mut self) -> Option<Node> {
        if self.is_empty_list("workers") {
            self.reader.missing("workers");
        }
        let workers = self.reader.list("workers");
        let team: Vec<Node> = workers.iter().filter_map(|worker| member(worker, self.reader.out())).collect();
        self.reader.get("workers").map(|origin| Node::seq(origin.span, team))
    }

    fn is_empty_list(&self, key: &str) -> bool {
        self.reader.get(key).is_none_or(|list| list.items().is_some_and(<[Node]>::is_empty))
    }

    fn put_prompt(&mut self) {
        let prompt = self.reader.text("prompt");
        let skill = self.reader.text("skill");
        match (skill, prompt) {
            (Some(skill), _) => {
                self.reader.without_effect("prompt", "`skill` is there and gives the text");
                let mut prompt = Entries::at(skill);
                prompt.put("skill", skill.clone());
                self.native.put("prompt", prompt.flow());
            }
            (None, Some(prompt)) => {
                let prompt = self.rewritten(prompt);
                self.native.put("prompt", prompt);
            }
            (None, None) => {
                self.report_no_prompt();
                self.put_placeholder();
            }
        }
    }

    /// Adds an action in place of a missing one that was reported, to avoid a second finding.
    fn put_placeholder(&mut self) {
        self.native.put("prompt", Node::text(self.reader.node.span, ""));
    }

    fn report_no_prompt(&mut self) {
        // A `prompt` of the wrong type was reported already.
        if self.reader.get("prompt").or_else(|| self.reader.get("skill")).is_none() {
            let message = format!("{} needs either `prompt` or `skill`", self.reader.what);
            let span = self.reader.node.span;
            self.reader.report(Diagnostic::error("LH0109", span, message).label("neither is here"));
        }
    }

    fn rewritten(&mut self, node: &Node) -> Node {
        rewrite(node, &self.wiring.names, self.reads, self.reader.out())
    }

    fn put_workflow(&mut self) {
        let Some(name) = self.reader.filled_text("workflow") else { return self.put_placeholder() };
        self.native.put("workflow", name.clone());
        let mut with = Entries::at(name);
        with.put("task", Node::text(name.span, "{{ task }}"));
        self.native.put("with", with.flow());
    }

    fn put_extract(&mut self) {
        let Some(extract) = self.reader.get("extract") else {
            self.reader.missing("extract");
            return self.put_placeholder();
        };
        let Some(mut block) = Reader::open(extract, "`extract`", EXTRACT_KEYS, self.reader.out()) else {
            return self.put_placeholder();
        };
        let tool = block.filled_text("tool");
        let compact = block.flag("compact").and_then(|_| block.get("compact"));
        let compact = compact.cloned().unwrap_or_else(|| Node::plain(extract.span, "true"));
        let input = block.get("input");
        if input.is_none() {
            block.missing("input");
        }
        let Some(tool) = tool else { return self.put_placeholder() };
        let name = tool.as_text().unwrap_or_default().trim_start_matches("etr.");
        self.native.put("tool", Node::plain(tool.span, format!("etr.{name}")));
        let mut args = Entries::at(extract);
        let input = input.map(|input| self.rewritten(input));
        args.put_some("input", input);
        args.put("compact", compact);
        self.native.put("args", args.block());
    }

    fn output(&self, output: &Node) -> Node {
        match output.as_text().and_then(|name| self.wiring.names.get(name)) {
            Some(native) => Node::plain(output.span, native.as_str()),
            None => output.clone(),
        }
    }

    fn put_review(&mut self) {
        let text = self.reader.text("approval_prompt");
        if self.reader.flag("requires_approval") != Some(true) {
            return self.reader.without_effect("approval_prompt", "`requires_approval` is not true");
        }
        let span = self.reader.get("requires_approval").map_or(self.reader.node.span, |flag| flag.span);
        let review = text.map_or_else(|| Node::plain(span, "true"), verbatim);
        self.native.put("review", review);
    }

    fn put_decision(&mut self, id: &str) {
        match self.kind {
            "evaluator" => self.put_evaluator(id),
            "router" => self.put_routes(id),
            _ => {}
        }
    }

    fn put_evaluator(&mut self, id: &str) {
        let Some(block) = self.reader.get("evaluate") else { return self.reader.missing("evaluate") };
        let decision = evaluator(id, block, self.wiring, self.reader.out()).unwrap_or_default();
        self.native.put_some("next", decision.next);
        self.native.put_some("rewind", decision.rewind);
    }

    fn put_routes(&mut self, id: &str) {
        if self.is_empty_list("routes") {
            self.reader.missing("routes");
        }
        self.reader.list("routes");
        let next = self.reader.get("routes").and_then(|list| routes(id, list, self.wiring, self.reader.out()));
        self.native.put_some("next", next);
    }
}

/// The original shows the text as it is; a native review is a template.
fn verbatim(text: &Node) -> Node {
    let plain = text.as_text().unwrap_or_default();
    if ["{{", "{%", "{#"].iter().any(|open| plain.contains(open)) {
        return Node::text(text.span, format!("{{% raw %}}{plain}{{% endraw %}}"));
    }
    text.clone()
}

fn member(worker: &Node, out: &mut Vec<Diagnostic>) -> Option<Node> {
    let mut reader = Reader::open(worker, "a worker", WORKER_KEYS, out)?;
    let mut native = Entries::at(worker);
    native.put_some("persona", reader.filled_text("persona").cloned());
    let skills = reader.texts("skills");
    let span: Option<Span> = reader.get("skills").map(|list| list.span).filter(|_| !skills.is_empty());
    native.put_some("skills", span.map(|span| flow(span, skills)));
    native.put_some("run", reader.word("run", &["parallel", "sequential"]).cloned());
    Some(native.flow())
}

fn flow(span: Span, items: Vec<&Node>) -> Node {
    Node::new(span, crate::source::Value::Seq(items.into_iter().cloned().collect(), true))
}
