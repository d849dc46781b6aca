//! Every template and expression of a workflow, parsed, with the meaning of its names.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use indexmap::IndexMap;
use longhaul_core::plan::UnitIx;
use longhaul_core::types::{Fields, Type};

use crate::expr::{self, Analysis, ChainLink, Language, NameScope, Read, SyntaxError};
use crate::model::{Model, step_ix};
use crate::scope::{Lookup, Place, Scopes};
use crate::sites::{self, Purpose, Site};
use crate::source::{self, FileId, Node, Sources, Span};
use crate::world::{Unavailable, World};

/// The source of a text.
#[derive(Clone, Copy)]
pub(crate) enum Origin<'n> {
    /// A scalar, from this byte of its text on.
    Scalar(&'n Node, usize),
    /// A whole file.
    File(FileId),
}

/// One text, parsed.
pub(crate) struct Text<'n> {
    pub(crate) site: Site<'n>,
    pub(crate) origin: Origin<'n>,
    pub(crate) place: Place,
    pub(crate) source: String,
    pub(crate) outcome: Result<Analysis, SyntaxError>,
    /// The meaning of each name that the text reads, without the type.
    pub(crate) lookups: Vec<Lookup>,
}

/// A file that a prompt names and that could not be read.
pub(crate) struct MissingFile {
    pub(crate) span: Span,
    pub(crate) path: String,
    pub(crate) why: Unavailable,
}

/// All texts of the checked file's own units.
pub(crate) struct Texts<'n> {
    pub(crate) all: Vec<Text<'n>>,
    pub(crate) missing: Vec<MissingFile>,
    /// Templates that prompts include, by unit and path.
    pub(crate) included: HashMap<UnitIx, IndexMap<String, String>>,
    /// The text of prompt files, by unit and path.
    pub(crate) prompts: HashMap<(UnitIx, String), String>,
    /// The index in `all` of a scalar's text, by the scalar's address.
    by_node: HashMap<*const Node, usize>,
}

impl<'n> Texts<'n> {
    /// The text of a scalar.
    pub(crate) fn of_node(&self, node: &'n Node) -> Option<&Text<'n>> {
        self.by_node.get(&std::ptr::from_ref(node)).map(|at| &self.all[*at])
    }

    fn push(&mut self, text: Text<'n>) {
        if let Origin::Scalar(node, _) = text.origin {
            self.by_node.insert(std::ptr::from_ref(node), self.all.len());
        }
        self.all.push(text);
    }
}

impl Text<'_> {
    /// Whether this is an expression that may be meant as text: a value of `set` or `outputs`.
    pub(crate) fn is_computed(&self) -> bool {
        matches!(self.site.key, "set" | "outputs") && self.site.language == Language::Expression
    }

    /// The place of a range of the text.
    pub(crate) fn span(&self, sources: &Sources, range: Range<usize>) -> Span {
        match self.origin {
            Origin::Scalar(node, offset) => source::place(sources, node, offset + range.start..offset + range.end),
            Origin::File(file) => Span::new(file, range.start, range.end),
        }
    }
}

/// Reads and analyses every text.
pub(crate) fn collect<'n>(
    model: &Model<'n>,
    scopes: &mut Scopes<'_, 'n>,
    sources: &mut Sources,
    world: &dyn World,
) -> Texts<'n> {
    let texts = Texts {
        all: Vec::new(),
        missing: Vec::new(),
        included: HashMap::new(),
        prompts: HashMap::new(),
        by_node: HashMap::new(),
    };
    let mut collector = Collector { model, sources, world, texts, files: HashMap::new(), bytes: 0 };
    for (at, unit) in model.units.iter().enumerate() {
        let unit_ix = UnitIx(u32::try_from(at).unwrap_or(u32::MAX));
        for site in sites::of_header(unit) {
            collector.add(site, Place::Header(unit_ix), unit_ix, scopes);
        }
    }
    for (at, step) in model.steps.iter().enumerate() {
        let ix = step_ix(at);
        let unit = model.body(step.body).unit;
        for site in sites::of_step(step) {
            let place = Place::Step(ix, site.position);
            collector.add(site, place, unit, scopes);
        }
        if let Some(item) = collector.item_type(at) {
            scopes.set_item(ix, item);
        }
    }
    for (at, unit) in model.units.iter().enumerate() {
        let unit_ix = UnitIx(u32::try_from(at).unwrap_or(u32::MAX));
        for site in sites::of_outputs(unit) {
            collector.add(site, Place::End(unit_ix), unit_ix, scopes);
        }
    }
    collector.texts
}

struct Collector<'a, 'n> {
    model: &'a Model<'n>,
    sources: &'a mut Sources,
    world: &'a dyn World,
    texts: Texts<'n>,
    /// Files that were read, by folder and path.
    files: HashMap<(&'n str, String), Result<FileId, Unavailable>>,
    /// The number of bytes of files so far; each use of a file counts.
    bytes: usize,
}

/// The most bytes of files.
const FILES_BYTES_MAX: usize = 4 * source::FILE_BYTES_MAX;

impl<'n> Collector<'_, 'n> {
    fn add(&mut self, site: Site<'n>, place: Place, unit: UnitIx, scopes: &Scopes<'_, 'n>) {
        if site.purpose == Purpose::File {
            return self.add_file(site, place, unit, scopes);
        }
        let source = site.text().to_owned();
        let origin = Origin::Scalar(site.node, site.range.start);
        let text = analysed(site, origin, place, source, scopes);
        self.follow_includes(&text, unit, scopes);
        self.texts.push(text);
    }

    fn add_file(&mut self, site: Site<'n>, place: Place, unit: UnitIx, scopes: &Scopes<'_, 'n>) {
        let path = site.text().to_owned();
        let span = site.node.span;
        let Some((file, source)) = self.read(unit, &path, span) else { return };
        self.texts.prompts.insert((unit, path), source.clone());
        let text = analysed(site, Origin::File(file), place, source, scopes);
        self.follow_includes(&text, unit, scopes);
        self.texts.push(text);
    }

    fn read(&mut self, unit: UnitIx, path: &str, span: Span) -> Option<(FileId, String)> {
        let known = self.files.get(&(self.model.unit(unit).dir, path.to_owned())).cloned();
        let found = known.unwrap_or_else(|| self.fetch(unit, path));
        match found.and_then(|file| self.weigh(file)) {
            Ok(file) => Some((file, self.sources.file(file).text.clone())),
            Err(why) => {
                self.texts.missing.push(MissingFile { span, path: path.to_owned(), why });
                None
            }
        }
    }

    fn fetch(&mut self, unit: UnitIx, path: &str) -> Result<FileId, Unavailable> {
        let dir = self.model.unit(unit).dir;
        let name = if dir.is_empty() { path.to_owned() } else { format!("{}/{path}", dir.trim_end_matches('/')) };
        let found = self.world.read(dir, path).map(|text| self.sources.add(name, text));
        self.files.insert((dir, path.to_owned()), found.clone());
        found
    }

    /// Reading a file again costs as much as the first time.
    fn weigh(&mut self, file: FileId) -> Result<FileId, Unavailable> {
        self.bytes += self.sources.file(file).text.len();
        if self.bytes <= FILES_BYTES_MAX {
            return Ok(file);
        }
        let limit = FILES_BYTES_MAX >> 20;
        Err(Unavailable::Unreadable(format!("the prompts of the steps hold more than {limit} MiB together")))
    }

    /// Reads all included templates, directly and indirectly; each file once for each text.
    fn follow_includes(&mut self, text: &Text<'n>, unit: UnitIx, scopes: &Scopes<'_, 'n>) {
        let mut seen: HashSet<String> = HashSet::new();
        let mut queue = includes(text, self.sources);
        while let Some((path, span)) = queue.pop() {
            if !seen.insert(path.clone()) {
                continue;
            }
            let Some((file, source)) = self.read(unit, &path, span) else { continue };
            self.texts.included.entry(unit).or_default().insert(path, source.clone());
            let site = Site { position: text.site.position, ..text.site.clone() };
            let included = analysed(site, Origin::File(file), text.place, source, scopes);
            queue.extend(includes(&included, self.sources));
            self.texts.push(included);
        }
    }

    /// The type of the items of a `for_each`, from its text.
    fn item_type(&self, step: usize) -> Option<Type> {
        let step = &self.model.steps[step];
        let value = step.action.value().filter(|_| step.action.key() == "for_each")?;
        if value.get("glob").is_some() {
            return Some(Type::String);
        }
        if value.items().is_some() {
            return Type::of(&value.to_json()).item();
        }
        self.texts.of_node(value)?.outcome.as_ref().ok()?.value.item()
    }
}

fn includes(text: &Text<'_>, sources: &Sources) -> Vec<(String, Span)> {
    let Ok(analysis) = &text.outcome else { return Vec::new() };
    let named = analysis.includes.iter().filter_map(|include| Some((include.name.clone()?, include.range.clone())));
    named.map(|(name, range)| (name, text.span(sources, range))).collect()
}

fn analysed<'n>(site: Site<'n>, origin: Origin<'n>, place: Place, source: String, scopes: &Scopes<'_, 'n>) -> Text<'n> {
    let language = match origin {
        Origin::Scalar(..) => site.language,
        Origin::File(_) => Language::Template,
    };
    let mut lookups = Vec::new();
    let outcome = expr::parse(&source, language).and_then(|parsed| {
        // The first pass finds the names, the second uses their types.
        let first = parsed.analyse(&Typed::default())?;
        lookups = first.reads.iter().map(|read| look_up(read, place, scopes)).collect();
        let typed = Typed::of(&first.reads, &lookups);
        if typed.roots.is_empty() {
            return Ok(first);
        }
        // A declared type is no proof of the value's type: only the expression itself makes a number certain.
        Ok(Analysis { emits: first.emits, ..parsed.analyse(&typed)? })
    });
    let lookups = lookups.into_iter().map(Lookup::without_type).collect();
    Text { site, origin, place, source, outcome, lookups }
}

fn look_up(read: &Read, place: Place, scopes: &Scopes<'_, '_>) -> Lookup {
    match (read.root.as_str(), read.path.as_slice()) {
        ("steps", [ChainLink::Field(id, _), rest @ ..]) => {
            let field = match rest.first() {
                Some(ChainLink::Field(field, _)) => Some(field.as_str()),
                _ => None,
            };
            scopes.step_field(place, id, field)
        }
        ("inputs", [ChainLink::Field(field, _), ..]) => scopes.input_field(place, field),
        (root, _) => scopes.name(place, root),
    }
}

/// The types of the roots that a text reads.
#[derive(Default)]
struct Typed {
    roots: HashMap<String, Type>,
}

impl Typed {
    fn of(reads: &[Read], lookups: &[Lookup]) -> Self {
        let mut roots: HashMap<String, Type> = HashMap::new();
        let mut steps = IndexMap::new();
        for (read, lookup) in reads.iter().zip(lookups) {
            let (Lookup::Sure(value) | Lookup::Unsure(value, ..)) = lookup else { continue };
            match (read.root.as_str(), read.path.first()) {
                ("steps", Some(ChainLink::Field(id, _))) => drop(steps.insert(id.clone(), value.clone())),
                ("inputs", _) => merge_inputs(roots.entry("inputs".to_owned()).or_insert(Type::Null), value),
                (root, _) if *value != Type::Any => drop(roots.insert(root.to_owned(), value.clone())),
                _ => {}
            }
        }
        if !steps.is_empty() {
            roots.insert("steps".to_owned(), Type::Object(Fields { known: steps, open: true }));
        }
        Self { roots }
    }
}

/// A text may read several inputs, each with its own type.
fn merge_inputs(known: &mut Type, more: &Type) {
    match (known, more) {
        (Type::Object(known), Type::Object(more)) => {
            known.open |= more.open;
            known.known.extend(more.known.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        (known, more) => *known = more.clone(),
    }
}

impl NameScope for Typed {
    fn root(&self, name: &str) -> Option<Type> {
        self.roots.get(name).cloned()
    }
}
