//! `env.X` and `secrets.X`: values that only the machine knows, noted beside a rendered value and never inside it.
//!
//! **Invariant:** no data can become a reference. A reference is an object of the template engine. Where one is written
//! into a text, the place is noted and nothing is left in the text; whatever else is done with one is a [`Problem`].

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use minijinja::value::{Object, ObjectRepr, Rest, ValueKind};
use minijinja::{Error, Output, State, Value};

use super::{EvalProblem, to_json};
use crate::Json;

/// What is written to learn whether it reaches the text; it is taken out again.
const PROBE: &str = "?";

/// Where a value of the machine is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Root {
    /// The variables of the process that does the work.
    Env,
    /// Its secrets.
    Secrets,
}

impl Root {
    /// As texts spell it.
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
    /// Where it is kept.
    pub root: Root,
    /// What it is called there.
    pub name: String,
    /// What stands for it where it is not set.
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
    /// Of a mapping.
    Name(String),
    /// Of a list.
    Index(usize),
}

/// A place in a value into which the machine puts what it knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// The way to a text of the value.
    pub at: Vec<PathKey>,
    /// How many bytes of that text come before it.
    pub offset: usize,
    /// What goes there.
    pub source: OutsideSource,
}

impl Slot {
    /// The same, seen from one level further out.
    fn below(mut self, key: PathKey) -> Self {
        self.at.insert(0, key);
        self
    }
}

/// A value for work, with the places that the machine fills in.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// Everything but what goes into the slots.
    pub value: Json,
    /// In the order of the text.
    pub slots: Vec<Slot>,
}

impl Given {
    /// The value of a part, whose slots become those of the whole.
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

/// Puts values into the slots of `value`. The last slot of a text goes first, so that the offsets of the others stay true.
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

/// What is noted while one text is evaluated.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Bytes that have reached the text.
    written: AtomicUsize,
    slots: Mutex<Vec<(usize, OutsideSource)>>,
    /// The first reference that was used in a way that cannot be noted.
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

    /// Refuses what was evaluated if a reference was used in another way than to be written.
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

    /// The text without probes, and what goes where.
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

    /// Whoever wants it as a text wants to compute with it. An error here would be a panic there.
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

/// `default`, also for references: what stands for one is known only where the work is done.
pub(super) fn default(state: &State<'_, '_>, value: &Value, args: Rest<Value>) -> Result<Value, Error> {
    let Some(reference) = value.downcast_object_ref::<Reference>() else {
        return minijinja::filters::default(state, value, args);
    };
    let text = args.first().map_or_else(String::new, ToString::to_string);
    let source = OutsideSource { default: Some(text), ..reference.source.clone() };
    Ok(Value::from_object(Reference { source, notes: Arc::clone(&reference.notes) }))
}

/// Writes a reference; `None` if the value is none. What is written somewhere else than into the text is a misuse.
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

/// A value that may be or hold references, and their places.
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
