//! Evaluating expressions and rendering templates, within bounds.
//!
//! Two environments: strict, in which a name that is not set is an error, and lenient, in which it reads
//! as nothing, for workflows written for systems that do so. Compiled texts are remembered; what they
//! evaluate to depends on nothing but the values given.
//!
//! **Invariant:** no text can read a file, a variable, a clock, or call anything; fuel and output size are
//! bounded.

mod functions;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};
use std::sync::{Arc, LazyLock, Mutex};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Error, ErrorKind, Expression, Template, UndefinedBehavior, Value};

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
    /// What stands for `env.<name>` or `secrets.<name>`; nothing, but where work is rendered.
    fn outside(&self, _root: &str, _name: &str) -> Option<Json> {
        None
    }
}

/// What stands in a rendered text for a value that only the machine knows.
pub fn mark(root: &str, name: &str) -> String {
    format!("\u{1}{root}.{name}\u{1}")
}

/// Replaces the marks in a text by what `known` says of `(root, name)`.
pub fn unmark(text: &str, known: impl Fn(&str, &str) -> Option<String>) -> Result<String, Problem> {
    let mut parts = text.split('\u{1}');
    let mut out = parts.next().unwrap_or_default().to_owned();
    while let (Some(mark), Some(rest)) = (parts.next(), parts.next()) {
        let (root, name) = mark.split_once('.').unwrap_or_default();
        out.push_str(&known(root, name).ok_or_else(|| not_set(root, name))?);
        out.push_str(rest);
    }
    Ok(out)
}

fn not_set(root: &str, name: &str) -> Problem {
    Problem(match root {
        "secrets" => format!(
            "`secrets.{name}` is not set; it is the variable `LONGHAUL_SECRET_{name}` of the process that drives the run"
        ),
        _ => format!("`{root}.{name}` is not set"),
    })
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
    environment.set_formatter(move |out, state, value| match (value.is_undefined(), python) {
        (true, _) => Err(Error::from(ErrorKind::UndefinedError)),
        (false, true) => minijinja::escape_formatter(out, state, value),
        (false, false) => functions::print(out, state, value),
    });
    environment
}

fn environment(undefined: UndefinedBehavior, python: bool) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(undefined);
    environment.set_fuel(Some(FUEL));
    environment.set_syntax(syntax());
    functions::add(&mut environment);
    if !python {
        environment.set_formatter(functions::print);
    }
    environment
}

/// A text keeps its last line break.
fn syntax() -> SyntaxConfig {
    SyntaxConfig::builder().keep_trailing_newline(true).build().unwrap_or_default()
}

/// The value of an expression.
pub fn value(text: &str, manner: Manner, names: &dyn Names) -> Result<Json, Problem> {
    manner.evaluate(provides(text), |manner| value_in(text, manner, names))
}

fn value_in(text: &str, manner: Manner, names: &dyn Names) -> Result<Json, Problem> {
    let compiled = remembered(text, manner)?;
    let context = compiled.roots.context(names);
    let value = compiled.expression.eval(context).map_err(|error| problem(&error))?;
    if value.is_undefined() {
        // Nothing, where nothing is allowed, reads as empty text, in a command as in a prompt.
        return manner.nothing(text).map(|()| Json::String(String::new()));
    }
    to_json(&value)
}

/// Whether an expression holds.
pub fn holds(text: &str, manner: Manner, names: &dyn Names) -> Result<bool, Problem> {
    manner.evaluate(provides(text), |manner| holds_in(text, manner, names))
}

fn holds_in(text: &str, manner: Manner, names: &dyn Names) -> Result<bool, Problem> {
    let compiled = remembered(text, manner)?;
    let context = compiled.roots.context(names);
    let value = compiled.expression.eval(context).map_err(|error| problem(&error))?;
    if value.is_undefined() {
        manner.nothing(text)?;
    }
    Ok(value.is_true())
}

/// A template rendered to text. `templates` are what it may include.
pub fn text(
    source: &str,
    manner: Manner,
    names: &dyn Names,
    templates: &indexmap::IndexMap<String, String>,
) -> Result<String, Problem> {
    let provides = provides(source) || templates.values().any(|template| provides(template));
    manner.evaluate(provides, |manner| text_in(source, manner, names, templates))
}

fn text_in(
    source: &str,
    manner: Manner,
    names: &dyn Names,
    templates: &indexmap::IndexMap<String, String>,
) -> Result<String, Problem> {
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

fn render(template: &Template<'_, '_>, names: &dyn Names) -> Result<String, Problem> {
    render_with(template, Roots::of(template.undeclared_variables(true)).context(names))
}

fn render_with(template: &Template<'_, '_>, context: Value) -> Result<String, Problem> {
    let mut out = Bounded { bytes: Vec::new() };
    template.render_captured_to(context, &mut out).map_err(|error| problem(&error))?;
    String::from_utf8(out.bytes).map_err(|_| Problem("the text is not UTF-8".to_owned()))
}

/// A value that may have to be computed.
pub fn arg(arg: &Arg, manner: Manner, names: &dyn Names) -> Result<Json, Problem> {
    let none = indexmap::IndexMap::new();
    Ok(match arg {
        Arg::Json(value) => value.clone(),
        Arg::Expr(expr) => value(&expr.0, manner, names)?,
        Arg::Text(source) => Json::String(text(&source.0, manner, names, &none)?),
        Arg::List(items) => {
            Json::Array(items.iter().map(|item| self::arg(item, manner, names)).collect::<Result<_, _>>()?)
        }
        Arg::Map(entries) => {
            let entry = |(key, item): (&String, &Arg)| Ok((key.clone(), self::arg(item, manner, names)?));
            Json::Object(entries.iter().map(entry).collect::<Result<_, Problem>>()?)
        }
    })
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

    fn context(&self, names: &dyn Names) -> Value {
        let known = self.names.iter().filter_map(|name| Some((name.clone(), from_json(&names.root(name)?))));
        let mut context: BTreeMap<String, Value> = known.collect();
        if self.any_step || !self.steps.is_empty() {
            let all = if self.any_step { names.step_ids() } else { Vec::new() };
            let steps = self.steps.iter().chain(&all).filter_map(|id| Some((id.clone(), from_json(&names.step(id)?))));
            context.insert("steps".to_owned(), Value::from(steps.collect::<BTreeMap<String, Value>>()));
        }
        for root in ["env", "secrets"] {
            let fields = self.outside.iter().filter(|(of, _)| of == root);
            let fields: BTreeMap<String, Value> =
                fields.filter_map(|(_, name)| Some((name.clone(), from_json(&names.outside(root, name)?)))).collect();
            if !fields.is_empty() {
                context.insert(root.to_owned(), Value::from(fields));
            }
        }
        Value::from(context)
    }
}

fn from_json(value: &Json) -> Value {
    Value::from(Serde(value))
}

fn to_json(value: &Value) -> Result<Json, Problem> {
    serde_json::to_value(value).map_err(|error| Problem(format!("the value can not be kept: {error}")))
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
}

impl Write for Bounded {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + buffer.len() > OUTPUT_BYTES_MAX {
            return Err(io::Error::other("too large"));
        }
        self.bytes.extend_from_slice(buffer);
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
}
