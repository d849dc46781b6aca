//! Evaluating expressions and rendering templates, within bounds.
//!
//! Two environments: strict, in which a name that is not set is an error, and lenient, in which it reads
//! as nothing, for workflows written for systems that do so. Compiled texts are remembered; what they
//! evaluate to depends on nothing but the values given.
//!
//! **Invariant:** no text can read a file, a variable, a clock, or call anything; fuel and output size are
//! bounded.

mod functions;
mod outside;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};
use std::sync::{Arc, LazyLock, Mutex};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind, Expression, Template, UndefinedBehavior, Value};

use outside::Notes;
pub use outside::{Given, Key, Root, Slot, Source, fill};

use crate::Json;
use crate::plan::{Arg, Compat};

/// Instructions that one evaluation may take.
const FUEL: u64 = 2_000_000;
/// Bytes that one rendering may produce.
const OUTPUT_BYTES_MAX: usize = 16 << 20;
/// Texts that are remembered before the memory is cleared.
const REMEMBERED_MAX: usize = 20_000;

/// Why a text could not be evaluated, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem(pub String);

/// Where values come from: each text asks only for the roots it names.
pub trait Names {
    /// The value of a root name; `None` if it is not set.
    fn root(&self, name: &str) -> Option<Json>;
    /// What `steps.<id>` is; `None` if there is no such step.
    fn step(&self, id: &str) -> Option<Json>;
    /// Ids of all steps that can be read, for texts that compute which one they want.
    fn step_ids(&self) -> Vec<String>;
    /// Whether `env.<name>` and `secrets.<name>` may be written: only where work is rendered.
    fn reads_outside(&self) -> bool {
        false
    }
}

/// How values are read and printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Manner {
    lenient: bool,
    python: bool,
    /// Whether nothing may be asked for a part of it, as long as nobody prints that.
    patient: bool,
}

/// How a problem with a name that is not set begins.
const NOT_SET: &str = "a name is not set";

impl Manner {
    /// The manner that a unit asks for.
    pub fn of(compat: &[Compat]) -> Self {
        let has = |one: Compat| compat.contains(&one);
        Self { lenient: has(Compat::LenientNames), python: has(Compat::PythonText), patient: false }
    }

    /// Evaluates strictly; where that meets a name that is not set in a text that provides for it (`v.notes | default('none')`),
    /// once more so that parts of nothing are nothing. What would print nothing is a mistake all the same.
    fn evaluate<T>(self, provides: bool, evaluate: impl Fn(Self) -> Result<T, Problem>) -> Result<T, Problem> {
        match evaluate(self) {
            Err(Problem(said)) if provides && !self.lenient && said.starts_with(NOT_SET) => {
                evaluate(Self { patient: true, ..self }).map_err(|_| Problem(said))
            }
            strictly => strictly,
        }
    }

    /// Whether a text may come to nothing because what it reads is not set.
    fn nothing(self, text: &str) -> Result<(), Problem> {
        if self.lenient { Ok(()) } else { Err(Problem(format!("{NOT_SET}: `{text}` is undefined"))) }
    }

    fn environment(self) -> &'static Environment<'static> {
        match (self.lenient, self.patient, self.python) {
            (true, _, false) => &LENIENT,
            (true, _, true) => &LENIENT_PYTHON,
            (false, true, false) => &PATIENT,
            (false, true, true) => &PATIENT_PYTHON,
            (false, false, false) => &STRICT,
            (false, false, true) => &STRICT_PYTHON,
        }
    }
}

/// Whether a text says what holds where something is not set.
fn provides(text: &str) -> bool {
    text.contains("default") || text.contains("defined")
}

static STRICT: LazyLock<Environment<'static>> = LazyLock::new(|| environment(UndefinedBehavior::Strict, false));
static LENIENT: LazyLock<Environment<'static>> = LazyLock::new(|| environment(UndefinedBehavior::Chainable, false));
static STRICT_PYTHON: LazyLock<Environment<'static>> = LazyLock::new(|| environment(UndefinedBehavior::Strict, true));
static LENIENT_PYTHON: LazyLock<Environment<'static>> =
    LazyLock::new(|| environment(UndefinedBehavior::Chainable, true));
static PATIENT: LazyLock<Environment<'static>> = LazyLock::new(|| patient(false));
static PATIENT_PYTHON: LazyLock<Environment<'static>> = LazyLock::new(|| patient(true));

fn patient(python: bool) -> Environment<'static> {
    let mut environment = environment(UndefinedBehavior::Chainable, python);
    environment.set_formatter(move |out, state, value| match value.is_undefined() {
        true => Err(Error::from(ErrorKind::UndefinedError)),
        false => functions::print(python, out, state, value),
    });
    environment
}

fn environment(undefined: UndefinedBehavior, python: bool) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(undefined);
    environment.set_fuel(Some(FUEL));
    environment.set_syntax(syntax());
    functions::add(&mut environment);
    environment.set_formatter(move |out, state, value| functions::print(python, out, state, value));
    environment
}

/// A text keeps its last line break.
fn syntax() -> SyntaxConfig {
    SyntaxConfig::builder().keep_trailing_newline(true).build().unwrap_or_default()
}

/// The value of an expression.
pub fn value(text: &str, manner: Manner, names: &dyn Names) -> Result<Json, Problem> {
    Ok(given_value(text, manner, names)?.value)
}

fn given_value(text: &str, manner: Manner, names: &dyn Names) -> Result<Given, Problem> {
    manner.evaluate(provides(text), |manner| value_in(text, manner, names))
}

fn value_in(text: &str, manner: Manner, names: &dyn Names) -> Result<Given, Problem> {
    let compiled = remembered(text, manner)?;
    let (context, notes) = compiled.roots.context(names);
    let value = compiled.expression.eval(context).map_err(|error| problem(&error))?;
    if value.is_undefined() {
        // Nothing, where nothing is allowed, reads as empty text, in a command as in a prompt.
        return manner.nothing(text).map(|()| Json::String(String::new()).into());
    }
    let given = match &notes {
        Some(_) => outside::given(&value)?,
        None => to_json(&value)?.into(),
    };
    notes.map_or(Ok(()), |notes| notes.check())?;
    shallow(given)
}

/// Refuses what is nested too deeply to be kept.
fn shallow(given: Given) -> Result<Given, Problem> {
    match crate::value::is_too_deep(&given.value) {
        false => Ok(given),
        true => Err(Problem(crate::value::TOO_DEEP.to_owned())),
    }
}

/// Whether an expression holds.
pub fn holds(text: &str, manner: Manner, names: &dyn Names) -> Result<bool, Problem> {
    manner.evaluate(provides(text), |manner| holds_in(text, manner, names))
}

fn holds_in(text: &str, manner: Manner, names: &dyn Names) -> Result<bool, Problem> {
    let compiled = remembered(text, manner)?;
    let (context, notes) = compiled.roots.context(names);
    let value = compiled.expression.eval(context).map_err(|error| problem(&error))?;
    if value.is_undefined() {
        manner.nothing(text)?;
    }
    notes.map_or(Ok(()), |notes| notes.check())?;
    Ok(value.is_true())
}

/// A template rendered to text. `templates` are what it may include.
pub fn text(
    source: &str,
    manner: Manner,
    names: &dyn Names,
    templates: &indexmap::IndexMap<String, String>,
) -> Result<String, Problem> {
    Ok(written(source, manner, names, templates)?.0)
}

/// A rendered text, and the places in it that the machine fills in.
type Written = (String, Vec<Slot>);

fn written(
    source: &str,
    manner: Manner,
    names: &dyn Names,
    templates: &indexmap::IndexMap<String, String>,
) -> Result<Written, Problem> {
    let provides = provides(source) || templates.values().any(|template| provides(template));
    manner.evaluate(provides, |manner| text_in(source, manner, names, templates))
}

fn text_in(
    source: &str,
    manner: Manner,
    names: &dyn Names,
    templates: &indexmap::IndexMap<String, String>,
) -> Result<Written, Problem> {
    if templates.is_empty() {
        let environment = manner.environment();
        let template = environment.template_from_str(source).map_err(|error| problem(&error))?;
        return render(&template, names);
    }
    let mut environment = manner.environment().clone();
    for (name, source) in templates {
        environment.add_template_owned(name.clone(), source.clone()).map_err(|error| problem(&error))?;
    }
    let template = environment.template_from_str(source).map_err(|error| problem(&error))?;
    let mut roots = Roots::of(template.undeclared_variables(true));
    for name in templates.keys() {
        let included = environment.get_template(name).map_err(|error| problem(&error))?;
        roots.add(included.undeclared_variables(true));
    }
    render_with(&template, roots.context(names))
}

fn render(template: &Template<'_, '_>, names: &dyn Names) -> Result<Written, Problem> {
    render_with(template, Roots::of(template.undeclared_variables(true)).context(names))
}

fn render_with(template: &Template<'_, '_>, (context, notes): Context) -> Result<Written, Problem> {
    let mut out = Bounded { bytes: Vec::new(), notes: notes.clone() };
    template.render_captured_to(context, &mut out).map_err(|error| problem(&error))?;
    let text = String::from_utf8(out.bytes).map_err(|_| Problem("the text is not UTF-8".to_owned()))?;
    match notes {
        Some(notes) => notes.cut(text),
        None => Ok((text, Vec::new())),
    }
}

/// A value that may have to be computed.
pub fn arg(arg: &Arg, manner: Manner, names: &dyn Names) -> Result<Json, Problem> {
    Ok(given(arg, manner, names, &indexmap::IndexMap::new())?.value)
}

/// A value that may have to be computed, with the places that the machine fills in. `templates` are what texts may include.
pub fn given(
    arg: &Arg,
    manner: Manner,
    names: &dyn Names,
    templates: &indexmap::IndexMap<String, String>,
) -> Result<Given, Problem> {
    let inner = |arg: &Arg| given(arg, manner, names, &indexmap::IndexMap::new());
    match arg {
        Arg::Json(value) => Ok(value.clone().into()),
        Arg::Expr(expr) => given_value(&expr.0, manner, names),
        Arg::Text(source) => {
            let (text, slots) = written(&source.0, manner, names, templates)?;
            Ok(Given { value: Json::String(text), slots })
        }
        Arg::List(items) => {
            let mut slots = Vec::new();
            let item = |(index, item): (usize, &Arg)| Ok(inner(item)?.into_part(&Key::Index(index), &mut slots));
            let items = items.iter().enumerate().map(item).collect::<Result<_, Problem>>()?;
            shallow(Given { value: Json::Array(items), slots })
        }
        Arg::Map(entries) => {
            let mut slots = Vec::new();
            let entry = |(key, item): (&String, &Arg)| {
                Ok((key.clone(), inner(item)?.into_part(&Key::Name(key.clone()), &mut slots)))
            };
            let entries = entries.iter().map(entry).collect::<Result<_, Problem>>()?;
            shallow(Given { value: Json::Object(entries), slots })
        }
    }
}

struct Compiled {
    expression: Expression<'static, 'static>,
    roots: Roots,
}

type Memory = HashMap<(Manner, String), Arc<Compiled>>;

static MEMORY: LazyLock<Mutex<Memory>> = LazyLock::new(Mutex::default);

fn remembered(text: &str, manner: Manner) -> Result<Arc<Compiled>, Problem> {
    let key = (manner, text.to_owned());
    if let Ok(memory) = MEMORY.lock()
        && let Some(compiled) = memory.get(&key)
    {
        return Ok(Arc::clone(compiled));
    }
    let environment = manner.environment();
    let expression = environment.compile_expression_owned(text.to_owned()).map_err(|error| problem(&error))?;
    let roots = Roots::of(expression.undeclared_variables(true));
    let compiled = Arc::new(Compiled { expression, roots });
    if let Ok(mut memory) = MEMORY.lock() {
        if memory.len() >= REMEMBERED_MAX {
            memory.clear();
        }
        memory.insert(key, Arc::clone(&compiled));
    }
    Ok(compiled)
}

/// What a text reads: roots, and of `steps` the ids.
struct Roots {
    names: Vec<String>,
    steps: Vec<String>,
    /// `env.X` and `secrets.X`.
    outside: Vec<(String, String)>,
    /// Whether `steps` is read in a way that does not tell which one.
    any_step: bool,
}

impl Roots {
    fn of(undeclared: HashSet<String>) -> Self {
        let mut roots = Self { names: Vec::new(), steps: Vec::new(), outside: Vec::new(), any_step: false };
        roots.add(undeclared);
        roots
    }

    fn add(&mut self, undeclared: HashSet<String>) {
        for name in undeclared {
            let mut parts = name.split('.');
            match (parts.next(), parts.next()) {
                (Some("steps"), Some(id)) => self.steps.push(id.to_owned()),
                (Some("steps"), None) => self.any_step = true,
                (Some(root @ ("env" | "secrets")), Some(name)) => self.outside.push((root.to_owned(), name.to_owned())),
                (Some(root), _) if !self.names.iter().any(|known| known == root) => self.names.push(root.to_owned()),
                _ => {}
            }
        }
    }

    fn context(&self, names: &dyn Names) -> Context {
        let known = self.names.iter().filter_map(|name| Some((name.clone(), from_json(&names.root(name)?))));
        let mut context: BTreeMap<String, Value> = known.collect();
        if self.any_step || !self.steps.is_empty() {
            let all = if self.any_step { names.step_ids() } else { Vec::new() };
            let steps = self.steps.iter().chain(&all).filter_map(|id| Some((id.clone(), from_json(&names.step(id)?))));
            context.insert("steps".to_owned(), Value::from(steps.collect::<BTreeMap<String, Value>>()));
        }
        let notes = (names.reads_outside() && !self.outside.is_empty()).then(Arc::<Notes>::default);
        if let Some(notes) = &notes {
            context.extend(self.references(notes));
        }
        (Value::from(context), notes)
    }

    /// `env` and `secrets`, each with the names that are read.
    fn references(&self, notes: &Arc<Notes>) -> BTreeMap<String, Value> {
        let mut roots: BTreeMap<String, BTreeMap<String, Value>> = BTreeMap::new();
        for (word, name) in &self.outside {
            if let Some(root) = Root::of(word) {
                let reference = outside::reference(root, name, notes);
                roots.entry(word.clone()).or_default().insert(name.clone(), reference);
            }
        }
        roots.into_iter().map(|(root, names)| (root, Value::from(names))).collect()
    }
}

/// What a text can read, and what is noted where it can write values of the machine.
type Context = (Value, Option<Arc<Notes>>);

fn from_json(value: &Json) -> Value {
    Value::from(Serde(value))
}

fn to_json(value: &Value) -> Result<Json, Problem> {
    serde_json::to_value(value).map_err(|error| Problem(format!("the value cannot be kept: {error}")))
}

fn problem(error: &Error) -> Problem {
    let detail = error.detail().map_or_else(|| error.kind().to_string(), str::to_owned);
    Problem(match error.kind() {
        ErrorKind::UndefinedError => format!("{NOT_SET}: {detail}"),
        ErrorKind::OutOfFuel => "it takes too long to compute".to_owned(),
        ErrorKind::WriteFailure => format!("the text is larger than {} MiB", OUTPUT_BYTES_MAX >> 20),
        _ => detail,
    })
}

/// A writer that refuses to grow without end.
struct Bounded {
    bytes: Vec<u8>,
    notes: Option<Arc<Notes>>,
}

impl Write for Bounded {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + buffer.len() > OUTPUT_BYTES_MAX {
            return Err(io::Error::other("too large"));
        }
        self.bytes.extend_from_slice(buffer);
        self.notes.iter().for_each(|notes| notes.wrote(buffer.len()));
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    struct Fixed(Json);

    impl Names for Fixed {
        fn root(&self, name: &str) -> Option<Json> {
            self.0.get(name).cloned()
        }

        fn step(&self, id: &str) -> Option<Json> {
            self.0.get("steps")?.get(id).cloned()
        }

        fn step_ids(&self) -> Vec<String> {
            self.0
                .get("steps")
                .and_then(Json::as_object)
                .map(|steps| steps.keys().cloned().collect())
                .unwrap_or_default()
        }
    }

    fn names() -> Fixed {
        Fixed(json!({
            "task": "x", "plan": {"tasks": ["a", "b"], "ok": true, "none": null}, "n": 3, "five": "5",
            "steps": {"check": {"exit_code": 0}, "a-b": {"output": "dash"}}, "verdict": "{\"status\": \"PASS\"}",
        }))
    }

    const STRICTLY: Manner = Manner { lenient: false, python: false, patient: false };

    fn eval(text: &str) -> Json {
        value(text, STRICTLY, &names()).unwrap()
    }

    fn rendered(text: &str, manner: Manner) -> Result<String, Problem> {
        self::text(text, manner, &names(), &indexmap::IndexMap::new())
    }

    #[test]
    fn values_keep_their_types() {
        assert_eq!(eval("plan.tasks"), json!(["a", "b"]));
        assert_eq!(eval("plan.tasks | length + n"), json!(5));
        assert_eq!(eval("steps.check.exit_code == 0"), json!(true));
        assert_eq!(eval("steps['a-b'].output"), json!("dash"));
        assert_eq!(eval("missing | default('d')"), json!("d"));
    }

    #[test]
    fn a_name_that_is_not_set_is_an_error_unless_lenient() {
        assert!(rendered("{{ missing }}", STRICTLY).unwrap_err().0.contains("not set"));
        let lenient = Manner { lenient: true, ..STRICTLY };
        assert_eq!(rendered("<{{ missing.deep.down }}>", lenient).unwrap(), "<>");
    }

    #[test]
    fn mappings_print_as_json_and_as_python_where_asked() {
        assert_eq!(rendered("{{ plan }}", STRICTLY).unwrap(), r#"{"tasks":["a","b"],"ok":true,"none":null}"#);
        let python = Manner { python: true, ..STRICTLY };
        assert_eq!(rendered("{{ plan.ok }} {{ plan.none }}", python).unwrap(), "True None");
        assert_eq!(rendered("{{ plan.ok }} {{ plan.none }}", STRICTLY).unwrap(), "true null");
    }

    #[test]
    fn the_functions_of_other_systems_hold() {
        assert_eq!(eval("plan.ok is spelled('true') and plan.ok is spelled('True')"), json!(true));
        assert_eq!(eval("plan.none is spelled('None') and n is spelled('3') and not (n is spelled('4'))"), json!(true));
        assert_eq!(eval("compare(five, '>', '10')"), json!(false));
        assert_eq!(eval("compare('abc', '<', '3')"), json!(false));
        assert_eq!(eval("ordered(five, '>', 1)"), json!(false));
        assert_eq!(eval("ordered(n, '>=', 3)"), json!(true));
        assert_eq!(eval("(verdict | verdict('status') | default('') | lower) == 'pass'"), json!(true));
        assert_eq!(eval("(task | verdict('status') | default('') | lower) == 'pass'"), json!(false));
    }

    #[test]
    fn a_bomb_does_not_go_off() {
        let bomb = "{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}";
        assert!(rendered(bomb, STRICTLY).is_err());
    }

    #[test]
    fn what_is_provided_for_may_be_part_of_nothing_but_nothing_is_never_printed() {
        let read = |source: &str| text(source, STRICTLY, &names(), &indexmap::IndexMap::new());
        assert_eq!(read("{{ later.notes | default('none') }}").unwrap(), "none");
        assert_eq!(read("{{ later.a.b | default(task) }}").unwrap(), "x");
        assert!(read("{{ later.notes | default('none') }} {{ later.other }}").is_err());
        assert!(read("{{ later.notes }}").is_err());
        assert!(holds("later.notes is not defined", STRICTLY, &names()).unwrap());
        assert_eq!(value("later.n | default(2)", STRICTLY, &names()).unwrap(), json!(2));
        assert!(value("later.n", STRICTLY, &names()).is_err());
        let python = Manner { python: true, ..STRICTLY };
        assert_eq!(
            text("{{ later.a | default(true) }}", python, &names(), &indexmap::IndexMap::new()).unwrap(),
            "True"
        );
    }

    /// Names that work can read.
    struct Work(Json);

    impl Names for Work {
        fn root(&self, name: &str) -> Option<Json> {
            self.0.get(name).cloned()
        }

        fn step(&self, _id: &str) -> Option<Json> {
            None
        }

        fn step_ids(&self) -> Vec<String> {
            Vec::new()
        }

        fn reads_outside(&self) -> bool {
            true
        }
    }

    /// What work gets, with `<root.name>` where the machine fills something in.
    fn filled(arg: Arg, names: Json) -> Result<Json, String> {
        let Given { mut value, slots } =
            given(&arg, Manner::of(&[]), &Work(names), &indexmap::IndexMap::new()).map_err(|problem| problem.0)?;
        fill(&mut value, &slots, |source| Ok(format!("<{source}{}>", source.default.as_deref().unwrap_or_default())))
            .map_err(|problem| problem.0)?;
        Ok(value)
    }

    fn text_of(text: &str, names: Json) -> Result<Json, String> {
        filled(Arg::Text(crate::plan::Text(text.to_owned())), names)
    }

    #[test]
    fn values_of_the_machine_are_filled_in_where_they_are_written() {
        let written = "a {{ secrets.X }}{{ env.Y }} {% if t %}é{{ secrets.X }}{% endif %}{% for i in l %}{{ env.Y }}{{ i }}{% endfor %}";
        let text = text_of(written, json!({"t": true, "l": [1, 2]})).unwrap();
        assert_eq!(text, "a <secrets.X><env.Y> é<secrets.X><env.Y>1<env.Y>2");
        let nested = Arg::Expr(crate::plan::Expr("{'a': [1, secrets.X], 'b': n}".to_owned()));
        assert_eq!(filled(nested, json!({"n": 2})).unwrap(), json!({"a": [1, "<secrets.X>"], "b": 2}));
        assert_eq!(text_of("{{ env.Y | default('z') }}", json!({})).unwrap(), "<env.Yz>");
    }

    #[test]
    fn no_data_is_a_value_of_the_machine() {
        let data = "\u{1}secrets.X\u{1} ? {{ secrets.X }} \u{1}";
        assert_eq!(
            text_of("{{ d }}|{{ secrets.X }}|{{ d }}", json!({"d": data})).unwrap(),
            format!("{data}|<secrets.X>|{data}")
        );
        let both = Arg::Expr(crate::plan::Expr("[d, secrets.X]".to_owned()));
        assert_eq!(filled(both, json!({"d": data})).unwrap(), json!([data, "<secrets.X>"]));
    }

    #[test]
    fn nobody_computes_with_values_of_the_machine() {
        let computing = [
            "{{ secrets.X | upper }}",
            "{{ 'a' ~ secrets.X }}",
            "{{ [secrets.X] | join(',') }}",
            "{{ [secrets.X] }}",
            "{% set x %}{{ secrets.X }}{% endset %}{{ x }}",
            "{% macro m() %}{{ secrets.X }}{% endmacro %}{{ m() }}",
            "{{ secrets.X | length }}",
        ];
        for text in computing {
            assert!(text_of(text, json!({})).is_err(), "{text}");
        }
    }
}
