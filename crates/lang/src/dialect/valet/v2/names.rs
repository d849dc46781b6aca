//! What `variables`, `outputs` and `loop` mean natively at the place that is being written.

use indexmap::IndexMap;

use super::survey::{Body, Producer, Survey};
use crate::diagnostic::{Diagnostic, closest};
use crate::dialect::spelling::{no_effect, quoted, respelled, step_reference, value_name, walk};
use crate::dialect::valet::writer::{Reference, Scope};
use crate::source::Span;

/// Names at a place.
pub(super) struct Names {
    /// What the first look saw.
    pub(super) survey: Survey,
    /// The inputs that were read, and where first.
    pub(super) inputs: IndexMap<String, Span>,
    bodies: Vec<Body>,
    loops: Vec<Loop>,
}

/// What a loop calls its item and its position, as written.
#[derive(Debug, Clone)]
pub(super) struct Loop {
    /// The item.
    pub(super) item: String,
    /// The position.
    pub(super) index: String,
}

impl Names {
    /// Names of a file, outside all steps.
    pub(super) fn new(survey: Survey) -> Self {
        Self { survey, inputs: IndexMap::new(), bodies: Vec::new(), loops: Vec::new() }
    }

    /// Goes into a list of steps, inside a loop's if there is one.
    pub(super) fn enter(&mut self, body: Body, around: Option<Loop>) {
        self.bodies.push(body);
        self.loops.extend(around);
    }

    /// Comes out again.
    pub(super) fn leave(&mut self, was_loop: bool) {
        self.bodies.pop();
        if was_loop {
            self.loops.pop();
        }
    }

    /// The native name of an output. A loop's name would hide it inside the loop, so it gives way.
    pub(super) fn output_name(&self, key: &str) -> String {
        let name = value_name(key);
        if self.survey.loop_names.contains(&name) { name + "_" } else { name }
    }

    fn variable(&mut self, path: &[&str], reference: &Reference<'_>, out: &mut Vec<Diagnostic>) -> String {
        let Some((first, rest)) = path.split_first() else {
            return "inputs".to_owned();
        };
        match *first {
            "_trigger" => return walk("trigger".into(), rest.iter().copied()),
            "_payload" => return walk("trigger.payload".into(), rest.iter().copied()),
            "loop" if !self.loops.is_empty() => return self.of_loop(rest, reference, out),
            "task" => return walk("task".into(), rest.iter().copied()),
            _ => {}
        }
        let bound = self.loops.iter().rev().any(|around| around.item == *first || around.index == *first);
        if bound {
            return walk(value_name(first), rest.iter().copied());
        }
        self.input(first, rest, reference, out)
    }

    fn input(&mut self, first: &str, rest: &[&str], at: &Reference<'_>, out: &mut Vec<Diagnostic>) -> String {
        let name = value_name(first);
        if name != first && !self.inputs.contains_key(&name) {
            out.push(respelled(at.span, "the variable", first, &name));
        }
        let base = format!("inputs.{name}");
        self.inputs.entry(name).or_insert(at.span);
        walk(base, rest.iter().copied())
    }

    fn of_loop(&self, path: &[&str], reference: &Reference<'_>, out: &mut Vec<Diagnostic>) -> String {
        match (self.loops.last(), path) {
            (Some(around), ["item", rest @ ..]) => walk(value_name(&around.item), rest.iter().copied()),
            (Some(around), ["index", rest @ ..]) => walk(value_name(&around.index), rest.iter().copied()),
            (None, _) => unreadable(reference, "there is no loop around this step", out),
            (Some(_), _) => unreadable(reference, "a loop has `loop.item` and `loop.index`", out),
        }
    }

    fn output(&self, path: &[&str], reference: &Reference<'_>, out: &mut Vec<Diagnostic>) -> String {
        let Some((key, rest)) = path.split_first() else {
            return unreadable(reference, "say which output: `outputs.name`", out);
        };
        let Some(producers) = self.survey.producers.get(*key) else {
            out.push(self.never_set(key, reference.span));
            return if reference.in_condition { "none".to_owned() } else { quoted("") };
        };
        let visible = producers.iter().rev().find(|producer| self.bodies.contains(&producer.body));
        match visible.or(producers.last()) {
            Some(producer) => {
                Output { names: self, key, producer, visible: visible.is_some() }.read(rest, reference, out)
            }
            None => quoted(""),
        }
    }

    fn never_set(&self, key: &str, span: Span) -> Diagnostic {
        let known = self.survey.producers.keys().map(String::as_str);
        Diagnostic::warning("LH0602", span, format!("`outputs.{key}` is always empty: no step leaves it"))
            .label("nothing sets this")
            .did_you_mean(key, known, |_| None)
    }
}

impl Scope for Names {
    fn read(&mut self, reference: &Reference<'_>, out: &mut Vec<Diagnostic>) -> String {
        let segments = reference.segments();
        match segments.as_slice() {
            ["variables", rest @ ..] => self.variable(rest, reference, out),
            ["outputs", rest @ ..] => self.output(rest, reference, out),
            ["loop", rest @ ..] => self.of_loop(rest, reference, out),
            bare if reference.in_condition => self.variable(bare, reference, out),
            other => match closest(other.first().unwrap_or(&""), &["variables", "outputs", "loop"]) {
                Some(meant) => unreadable(reference, &format!("did you mean `{meant}`?"), out),
                None => unreadable(reference, "paths begin with `variables`, `outputs` or `loop`", out),
            },
        }
    }
}

/// An output that is being read.
struct Output<'a> {
    names: &'a Names,
    key: &'a str,
    producer: &'a Producer,
    visible: bool,
}

impl Output<'_> {
    fn read(&self, path: &[&str], reference: &Reference<'_>, out: &mut Vec<Diagnostic>) -> String {
        let step = step_reference(&self.producer.id);
        match (self.producer.kind.as_str(), path) {
            ("bash", _) => self.of_command(path, reference, out),
            ("loop", ["iterations"]) if self.visible => format!("{step}.items | length"),
            ("parallel", ["branchCount"]) => self.producer.branches.to_string(),
            ("approval", ["approved"]) if self.visible => format!("{step}.approved"),
            ("conditional" | "loop" | "parallel" | "approval" | "notify", _) => {
                let why = format!("a `{}` step leaves nothing to read", self.producer.kind);
                out.push(no_effect(reference.span, reference.path, &why));
                if reference.in_condition { "none".to_owned() } else { quoted("") }
            }
            _ => walk(self.whole(), path.iter().copied()),
        }
    }

    /// The name of the output, or the way to it through its step.
    fn whole(&self) -> String {
        match published(self.names, self.key, self.producer) {
            Some(name) => name,
            None => format!("{}.output", step_reference(&self.producer.id)),
        }
    }

    /// A command leaves an object there; here its parts are found beside the output.
    fn of_command(&self, path: &[&str], reference: &Reference<'_>, out: &mut Vec<Diagnostic>) -> String {
        let step = step_reference(&self.producer.id);
        match path {
            // An object is true as soon as it is there, and never equal to anything.
            [] if reference.in_condition => format!("({} is defined)", self.whole()),
            [] if self.visible => {
                format!("{{'exitCode': {step}.exit_code, 'stdout': {step}.stdout, 'stderr': {step}.stderr}}")
            }
            [] => {
                let message = format!("`{}` is what the command printed", reference.path);
                out.push(Diagnostic::note("LH0605", reference.span, message).label("only its standard output"));
                self.whole()
            }
            ["stdout", rest @ ..] => walk(self.whole(), rest.iter().copied()),
            ["exitCode"] if self.visible => format!("{step}.exit_code"),
            // A command that exits otherwise has failed the run.
            ["exitCode"] => "0".to_owned(),
            ["stderr", rest @ ..] if self.visible => walk(format!("{step}.stderr"), rest.iter().copied()),
            _ => {
                let why = "a command leaves `stdout`, `stderr` and `exitCode`";
                out.push(no_effect(reference.span, reference.path, why));
                if reference.in_condition { "none".to_owned() } else { quoted("") }
            }
        }
    }
}

/// The native name under which a step publishes its output, if it does. Steps whose id cannot be a
/// name are read through `steps`, unless they stand where `steps` does not reach.
pub(super) fn published(names: &Names, key: &str, producer: &Producer) -> Option<String> {
    let name = names.output_name(key);
    let nested = producer.body != Body::top();
    let wanted = producer.named || names.survey.read.contains(key) && (name == key || nested);
    wanted.then_some(name)
}

fn unreadable(reference: &Reference<'_>, help: &str, out: &mut Vec<Diagnostic>) -> String {
    let message = format!("`{}` cannot be read here", reference.path);
    out.push(Diagnostic::error("LH0303", reference.span, message).label("unknown name").help(help));
    quoted("")
}
