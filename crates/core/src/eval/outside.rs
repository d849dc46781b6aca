//! `env.X` and `secrets.X`: values that only the machine knows. They are noted beside a rendered value, never inside
//! it.
//!
//! **Invariant:** no data can become a reference. A reference is an object of the template engine. If a text prints
//! one, the place is noted and nothing is left in the text. Any other use of a reference is a [`Problem`].

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::value::{Object, ObjectRepr, Rest, ValueKind};
use minijinja::{Error, Output, State, Value};

use super::{EvalProblem, to_json};
use crate::Json;

/// Printed in place of a reference, to learn its place in the text. It is removed again.
const PROBE: &str = "?";

/// The source of a value of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Root {
    /// The variables of the process that does the work.
    Env,
    /// The secrets of the machine.
    Secrets,
}

impl Root {
    /// The name of the root in texts.
    pub fn word(self) -> &'static str {
        match self {
            Self::Env => "env",
            Self::Secrets => "secrets",
        }
    }

    pub(super) fn of(word: &str) -> Option<Self> {
        [Self::Env, Self::Secrets].into_iter().find(|root| root.word() == word)
    }
}

/// A value that only the machine knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutsideSource {
    /// The source.
    pub root: Root,
    /// The name of the variable or secret.
    pub name: String,
    /// The value to use if it is not set.
    pub default: Option<String>,
}

impl fmt::Display for OutsideSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.root.word(), self.name)
    }
}

/// One step of the way into a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathKey {
    /// A key of a mapping.
    Name(String),
    /// A position in a list.
    Index(usize),
}

/// A place in a value for a value of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// The path to the text inside the value.
    pub at: Vec<PathKey>,
    /// The offset in that text, in bytes.
    pub offset: usize,
    /// The value that goes there.
    pub source: OutsideSource,
}

impl Slot {
    /// The same slot, with a path from one level further out.
    fn below(mut self, key: PathKey) -> Self {
        self.at.insert(0, key);
        self
    }
}

/// A value for work, with the places for values of the machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// The value without the slots' contents.
    pub value: Json,
    /// The slots, in the order of the text.
    pub slots: Vec<Slot>,
}

impl Given {
    /// Takes the value of a part and adds its slots to those of the whole.
    pub fn into_part(self, key: &PathKey, slots: &mut Vec<Slot>) -> Json {
        slots.extend(self.slots.into_iter().map(|slot| slot.below(key.clone())));
        self.value
    }
}

impl From<Json> for Given {
    fn from(value: Json) -> Self {
        Self { value, slots: Vec::new() }
    }
}

/// Puts values into the slots of `value`. It fills the last slot of a text first, so that the other offsets stay
/// correct.
pub fn fill(
    value: &mut Json,
    slots: &[Slot],
    known: impl Fn(&OutsideSource) -> Result<String, EvalProblem>,
) -> Result<(), EvalProblem> {
    for slot in slots.iter().rev() {
        let text = known(&slot.source)?;
        let target = slot.at.iter().try_fold(&mut *value, |value, key| match key {
            PathKey::Name(name) => value.get_mut(name),
            PathKey::Index(index) => value.get_mut(index),
        });
        match target {
            Some(Json::String(target)) if target.is_char_boundary(slot.offset) => target.insert_str(slot.offset, &text),
            _ => return Err(EvalProblem(format!("there is no place for `{}`", slot.source))),
        }
    }
    Ok(())
}

/// Notes taken while one text is evaluated.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// The number of bytes printed so far.
    written: AtomicUsize,
    slots: Mutex<Vec<(usize, OutsideSource)>>,
    /// The first reference that was used in a wrong way.
    misused: Mutex<Option<String>>,
}

impl Notes {
    pub(super) fn wrote(&self, bytes: usize) {
        self.written.fetch_add(bytes, Ordering::Relaxed);
    }

    fn misuse(&self, source: &OutsideSource) {
        let mut misused = self.misused.lock().unwrap_or_else(PoisonError::into_inner);
        misused.get_or_insert_with(|| source.to_string());
    }

    /// Fails if the text used a reference in any way other than printing it.
    pub(super) fn check(&self) -> Result<(), EvalProblem> {
        let misused = self.misused.lock().unwrap_or_else(PoisonError::into_inner);
        match &*misused {
            None => Ok(()),
            Some(name) => Err(EvalProblem(format!(
                "`{name}` can only be written as it is, as in `{{{{ {name} }}}}`: it is not known before the work begins, so no \
                 filter, test, macro or operator can use it"
            ))),
        }
    }

    /// The text without probes, and the slots.
    pub(super) fn cut(&self, text: String) -> Result<(String, Vec<Slot>), EvalProblem> {
        self.check()?;
        let noted = std::mem::take(&mut *self.slots.lock().unwrap_or_else(PoisonError::into_inner));
        let (mut out, mut slots, mut from) = (String::with_capacity(text.len()), Vec::new(), 0);
        for (at, source) in noted {
            out.push_str(text.get(from..at).ok_or_else(|| EvalProblem("a reference stands nowhere".to_owned()))?);
            slots.push(Slot { at: Vec::new(), offset: out.len(), source });
            from = at + PROBE.len();
        }
        out.push_str(text.get(from..).unwrap_or_default());
        Ok((out, slots))
    }
}

/// A value of the machine, as the template engine sees it.
#[derive(Debug)]
struct Reference {
    source: OutsideSource,
    notes: Arc<Notes>,
}

impl Object for Reference {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    /// A text that turns a reference into a string computes with it. An error here would panic in the engine, so it
    /// is noted.
    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.notes.misuse(&self.source);
        f.write_str("•••")
    }
}

/// A reference, for the context of a text.
pub(super) fn reference(root: Root, name: &str, notes: &Arc<Notes>) -> Value {
    let source = OutsideSource { root, name: name.to_owned(), default: None };
    Value::from_object(Reference { source, notes: Arc::clone(notes) })
}

/// `default`, also for references: only the machine that does the work knows whether one is set.
pub(super) fn default(state: &State<'_, '_>, value: &Value, args: Rest<Value>) -> Result<Value, Error> {
    let Some(reference) = value.downcast_object_ref::<Reference>() else {
        return minijinja::filters::default(state, value, args);
    };
    let text = args.first().map_or_else(String::new, ToString::to_string);
    let source = OutsideSource { default: Some(text), ..reference.source.clone() };
    Ok(Value::from_object(Reference { source, notes: Arc::clone(&reference.notes) }))
}

/// Prints a reference; `None` if the value is not one. Printing it anywhere but into the text is an error.
pub(super) fn write(out: &mut Output<'_>, value: &Value) -> Option<Result<(), Error>> {
    let reference = value.downcast_object_ref::<Reference>()?;
    let notes = &reference.notes;
    let before = notes.written.load(Ordering::Relaxed);
    if let Err(error) = out.write_str(PROBE) {
        return Some(Err(Error::from(error)));
    }
    match notes.written.load(Ordering::Relaxed) == before + PROBE.len() {
        true => {
            let mut slots = notes.slots.lock().unwrap_or_else(PoisonError::into_inner);
            slots.push((before, reference.source.clone()));
        }
        false => notes.misuse(&reference.source),
    }
    Some(Ok(()))
}

/// A value that may be or contain references, with their places.
pub(super) fn given(value: &Value) -> Result<Given, EvalProblem> {
    let mut slots = Vec::new();
    let value = walk(value, &mut Vec::new(), &mut slots)?;
    Ok(Given { value, slots })
}

fn walk(value: &Value, at: &mut Vec<PathKey>, slots: &mut Vec<Slot>) -> Result<Json, EvalProblem> {
    if let Some(reference) = value.downcast_object_ref::<Reference>() {
        slots.push(Slot { at: at.clone(), offset: 0, source: reference.source.clone() });
        return Ok(Json::String(String::new()));
    }
    match value.kind() {
        ValueKind::Seq | ValueKind::Iterable => {
            let items = value.try_iter().map_err(|error| super::problem(&error))?;
            let item = |(index, item): (usize, Value)| inside(&item, PathKey::Index(index), at, slots);
            items.enumerate().map(item).collect::<Result<_, _>>().map(Json::Array)
        }
        ValueKind::Map => {
            let keys = value.try_iter().map_err(|error| super::problem(&error))?;
            let entry = |key: Value| {
                let item = value.get_item(&key).map_err(|error| super::problem(&error))?;
                let name = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
                Ok((name.clone(), inside(&item, PathKey::Name(name), at, slots)?))
            };
            keys.map(entry).collect::<Result<_, _>>().map(Json::Object)
        }
        _ => to_json(value),
    }
}

fn inside(value: &Value, key: PathKey, at: &mut Vec<PathKey>, slots: &mut Vec<Slot>) -> Result<Json, EvalProblem> {
    at.push(key);
    let value = walk(value, at, slots);
    at.pop();
    value
}
