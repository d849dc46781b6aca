//! Schemas as authors write them: JSON Schema, or the short form `{field: type}`.

use longhaul_core::Json;
use longhaul_core::catalog::top::TYPE_NAMES;
use longhaul_core::schema::unusable;
use serde_json::{Map, json};

use crate::diagnostic::{Diagnostic, closest};
use crate::source::{Node, Value};

/// A key and the kind of value that gives it away.
type Telltale = (&'static str, fn(&Node) -> bool);

/// Keys that only a JSON Schema has.
const TELLTALES: &[Telltale] = &[
    ("$ref", |node| node.as_text().is_some()),
    ("$schema", |node| node.as_text().is_some()),
    ("$defs", |node| node.entries().is_some()),
    ("properties", |node| {
        node.entries().is_some_and(|entries| entries.iter().all(|(_, value)| value.entries().is_some()))
    }),
    ("enum", |node| node.items().is_some()),
    ("anyOf", |node| node.items().is_some()),
    ("oneOf", |node| node.items().is_some()),
    ("allOf", |node| node.items().is_some()),
];

/// Keywords that may stand beside `type` in a JSON Schema.
const KEYWORDS: &[&str] = &[
    "type",
    "title",
    "description",
    "default",
    "examples",
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "uniqueItems",
    "contains",
    "required",
    "additionalProperties",
    "minProperties",
    "maxProperties",
    "const",
];

/// The JSON Schema that a node means. What is not one is read as far as it goes.
pub(crate) fn to_json(node: &Node) -> Json {
    Reader { out: None }.schema(node)
}

/// Reports what is wrong with a schema.
pub(crate) fn problems(node: &Node, out: &mut Vec<Diagnostic>) {
    let schema = Reader { out: Some(out) }.schema(node);
    if is_json_schema(node)
        && let Err(error) = jsonschema::meta::validate(&schema)
    {
        let place = find(node, error.instance_path().as_str());
        if let Some(word) = place.as_text().filter(|word| TYPE_NAMES.contains(word)) {
            out.push(
                Diagnostic::error("LH0505", place.span, format!("`{word}` is not a JSON Schema"))
                    .label("the short form inside a JSON Schema")
                    .help(format!("write `{{type: {word}}}`, or use the short form for the whole")),
            );
            return;
        }
        out.push(
            Diagnostic::error("LH0505", place.span, format!("this is not a valid JSON Schema: {error}"))
                .label("not allowed here")
                .help("see the keyword's definition in JSON Schema 2020-12, or use the short form `{field: type}`"),
        );
        return;
    }
    if let Some(why) = unusable(&schema) {
        out.push(useless(node, &why));
    }
}

/// A schema that is one, and that no value can be held to all the same.
fn useless(node: &Node, why: &str) -> Diagnostic {
    let mut references = Vec::new();
    collect_references(node, &mut references);
    let meant = |text: &str| why.contains(text.trim_start_matches('#'));
    match references.into_iter().find(|reference| reference.as_text().is_some_and(meant)) {
        Some(reference) => {
            let to = reference.as_text().unwrap_or_default();
            Diagnostic::error("LH0513", reference.span, format!("`{to}` leads nowhere"))
                .label("nothing is there")
                .help("define it under `$defs` at the top of this schema; other files are not fetched")
        }
        None => Diagnostic::error("LH0505", node.span, format!("this schema cannot be used: {why}"))
            .label("no value can be held to it")
            .help("correct it, or use the short form `{field: type}`"),
    }
}

fn collect_references<'n>(node: &'n Node, found: &mut Vec<&'n Node>) {
    for item in node.items().unwrap_or_default() {
        collect_references(item, found);
    }
    for (key, value) in node.entries().unwrap_or_default() {
        match key.scalar() {
            Some("$ref") => found.push(value),
            _ => collect_references(value, found),
        }
    }
}

/// The first thing about a value that its schema refuses, in words. What is wrong with the schema itself is said elsewhere.
pub(crate) fn mismatch(schema: &Json, value: &Json) -> Option<String> {
    if unusable(schema).is_some() { None } else { longhaul_core::schema::mismatch(schema, value) }
}

struct Reader<'o> {
    out: Option<&'o mut Vec<Diagnostic>>,
}

impl Reader<'_> {
    fn schema(&mut self, node: &Node) -> Json {
        match &node.value {
            Value::Scalar(..) => self.type_name(node),
            Value::Seq(items, _) => match items.as_slice() {
                [only] if is_type(only) || self.is_slip(only) => {
                    json!({"type": "array", "items": self.schema(only)})
                }
                values => json!({"enum": values.iter().map(Node::to_json).collect::<Vec<_>>()}),
            },
            Value::Map(..) if is_json_schema(node) => node.to_json(),
            Value::Map(entries, _) => self.object(entries),
            Value::Alias(_) => json!({}),
        }
    }

    fn object(&mut self, entries: &[(Node, Node)]) -> Json {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for (key, value) in entries {
            let word = key.scalar().unwrap_or_default();
            let name = word.strip_suffix('?').unwrap_or(word);
            if name == word {
                required.push(name.to_owned());
            }
            properties.insert(name.to_owned(), self.schema(value));
        }
        json!({"type": "object", "properties": properties, "required": required})
    }

    fn type_name(&mut self, node: &Node) -> Json {
        let word = node.scalar().unwrap_or_default();
        match word {
            "any" => json!({}),
            "true" | "" if node.as_text().is_none() && word == "true" => json!(true),
            word if TYPE_NAMES.contains(&word) => json!({"type": word}),
            _ => {
                self.unknown_type(node, word);
                json!({})
            }
        }
    }

    /// Whether the one value of a list is probably meant to be a type: `[strng]`.
    fn is_slip(&self, node: &Node) -> bool {
        let slip = |word: &str| foreign_type(word).is_some() || closest(word, TYPE_NAMES).is_some();
        self.out.is_some() && node.as_text().is_some_and(slip)
    }

    fn unknown_type(&mut self, node: &Node, word: &str) {
        let Some(out) = &mut self.out else { return };
        let diagnostic =
            Diagnostic::error("LH0505", node.span, format!("`{word}` is not a type")).label("unknown type");
        out.push(match foreign_type(word) {
            Some(name) => diagnostic.help(format!("write `{name}`")),
            None => diagnostic.did_you_mean(word, TYPE_NAMES.iter().copied(), |known| {
                Some(format!("a type is one of {}, a list of values, or a mapping of fields", known.join(", ")))
            }),
        });
    }
}

/// What other languages call a type.
pub(crate) fn foreign_type(word: &str) -> Option<&'static str> {
    match word {
        "str" | "text" => Some("string"),
        "int" => Some("integer"),
        "float" | "double" => Some("number"),
        "bool" => Some("boolean"),
        "list" => Some("array"),
        "dict" | "map" | "mapping" => Some("object"),
        _ => None,
    }
}

fn is_type(node: &Node) -> bool {
    node.entries().is_some() || node.scalar().is_some_and(|word| TYPE_NAMES.contains(&word))
}

fn is_json_schema(node: &Node) -> bool {
    let Some(entries) = node.entries() else { return false };
    // With `type: object` beside it, `properties` is no field, whatever its values look like.
    let object = node.get("type").and_then(Node::as_text) == Some("object")
        && node.get("properties").is_some_and(|fields| fields.entries().is_some());
    let telltale = TELLTALES.iter().any(|(key, fits)| node.get(key).is_some_and(fits));
    let typed = node.get("type").is_some_and(names_types)
        && entries.iter().all(|(key, _)| key.scalar().is_some_and(|word| KEYWORDS.contains(&word)));
    telltale || typed || object
}

fn names_types(node: &Node) -> bool {
    let is_name = |node: &Node| node.scalar().is_some_and(|word| word != "any" && TYPE_NAMES.contains(&word));
    node.items().map_or_else(|| is_name(node), |items| items.iter().all(is_name))
}

/// The node that a JSON pointer leads to, as far as it goes.
fn find<'n>(node: &'n Node, pointer: &str) -> &'n Node {
    pointer.split('/').skip(1).fold(node, |node, segment| {
        let segment = segment.replace("~1", "/").replace("~0", "~");
        let by_index = || segment.parse::<usize>().ok().and_then(|at| node.items()?.get(at));
        node.get(&segment).or_else(by_index).unwrap_or(node)
    })
}
