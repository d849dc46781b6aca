//! Prints the catalogue as a page of the manual, in Markdown.

use super::{Field, Shape, StepKindEntry, kinds, modifiers, names, top};

/// The reference of every key: step kinds, modifiers, the top level, and the functions of templates.
pub fn manual() -> String {
    let mut page = String::from(HEAD);
    page.push_str("\n## Kinds\n\n| action | does |\n|---|---|\n");
    page.extend(kinds::ALL.iter().map(|kind| format!("| [`{0}`](#{0}) | {1} |\n", kind.key, kind.title)));
    page.extend(kinds::ALL.iter().map(|kind| section(kind)));
    page.push_str("\n## Modifiers\n\nKeys that any step may have beside its action.\n");
    page.push_str(&keys(modifiers::ALL));
    page.push_str("\n## Top level\n\nKeys of the outermost mapping, and of each workflow under `workflows`.\n");
    page.push_str(&keys(top::ALL));
    page.push_str(&words("Names", "Names that templates can always read.", names::RESERVED, ""));
    let functions = "Beside the template language's own (`range`, `dict`, …), expressions can call:";
    page.push_str(&words("Functions", functions, names::FUNCTIONS, "()"));
    page.push_str(&words("Filters", "Used as `x | name`, beside the template language's own.", names::FILTERS, ""));
    page.push_str(&words("Tests", "Used as `x is name`, beside the template language's own.", names::TESTS, ""));
    page
}

const HEAD: &str = "# Steps and keys

This page is generated from the catalogue that the checker and the editor schema use too; change it there. [language.md](language.md)
explains how the parts work together.
";

fn section(kind: &StepKindEntry) -> String {
    let action = Field { key: kind.key, shape: kind.shape, required: true, doc: "The action." };
    let fields: Vec<Field> = std::iter::once(action).chain(kind.fields.iter().copied()).collect();
    let doc = kind.doc.replace('\n', " ");
    format!("\n### {}\n\n{doc}\n{}\n```yaml\n{}```\n", kind.key, keys(&fields), kind.example)
}

/// A table of keys. The keys inside a mapping come below it.
fn keys(fields: &[Field]) -> String {
    let mut table = String::from("\n| key | holds | meaning |\n|---|---|---|\n");
    fields.iter().for_each(|field| rows(field, "", &mut table));
    table
}

fn rows(field: &Field, path: &str, table: &mut String) {
    let path = format!("{path}{}", field.key);
    let needed = if field.required { " (required)" } else { "" };
    let doc = field.doc.replace('|', "\\|");
    table.push_str(&format!("| `{path}` | {}{needed} | {doc} |\n", holds(&field.shape)));
    for (suffix, inner) in inner_fields(&field.shape) {
        inner.iter().for_each(|field| rows(field, &format!("{path}{suffix}."), table));
    }
}

/// The keys of the mappings that a shape can be, with the path to them.
fn inner_fields(shape: &Shape) -> Vec<(String, &'static [Field])> {
    let behind = |sign: &str, shape: &Shape| {
        inner_fields(shape).into_iter().map(|(suffix, fields)| (format!("{sign}{suffix}"), fields)).collect()
    };
    match shape {
        Shape::Object(fields) => vec![(String::new(), fields)],
        Shape::List(item) | Shape::OneOrMany(item) => behind("[]", item),
        Shape::Map(value) => behind(".*", value),
        Shape::Either(shapes) => shapes.iter().flat_map(inner_fields).collect(),
        _ => Vec::new(),
    }
}

/// The type of a value, in a few words.
fn holds(shape: &Shape) -> String {
    let plain = match shape {
        Shape::Any => "any value, texts are templates",
        Shape::Json => "any value, as written",
        Shape::Text => "text",
        Shape::Template => "template",
        Shape::Expr => "expression",
        Shape::Computed => "value, texts are expressions",
        Shape::Shell => "command",
        Shape::Bool => "`true` or `false`",
        Shape::Number => "number",
        Shape::Duration => "time span",
        Shape::DurationOrNone => "time span or `none`",
        Shape::Time => "moment",
        Shape::Cron => "cron line",
        Shape::TimeZone => "time zone",
        Shape::Label => "a label",
        Shape::Approvers => "`initiator`, `anyone` or `role:NAME`",
        Shape::Glob => "file pattern",
        Shape::PromptFile => "prompt file",
        Shape::ScriptFile => "script file",
        Shape::Id => "step id",
        Shape::Name => "name",
        Shape::Object(_) => "mapping",
        Shape::Schema => "schema",
        Shape::Body => "body",
        Shape::Steps => "list of steps",
        Shape::Workflow => "workflow",
        Shape::Int(..) | Shape::Choice(_) | Shape::List(_) | Shape::OneOrMany(_) | Shape::Map(_) | Shape::Either(_) => {
            return made_of(shape);
        }
    };
    plain.to_owned()
}

fn made_of(shape: &Shape) -> String {
    match shape {
        Shape::Int(min, u64::MAX) => format!("whole number from {min}"),
        Shape::Int(min, max) => format!("whole number, {min} to {max}"),
        Shape::Choice(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        Shape::List(item) => format!("list: {}", holds(item)),
        Shape::OneOrMany(item) => format!("{}, or a list", holds(item)),
        Shape::Map(value) => format!("mapping: {}", holds(value)),
        Shape::Either(shapes) => shapes.iter().map(holds).collect::<Vec<_>>().join("; or "),
        other => holds(other),
    }
}

fn words(title: &str, lead: &str, entries: &[(&str, &str)], suffix: &str) -> String {
    let row = |(word, doc): &(&str, &str)| format!("| `{word}{suffix}` | {} |\n", doc.replace('|', "\\|"));
    let rows: String = entries.iter().map(row).collect();
    format!("\n## {title}\n\n{lead}\n\n| word | meaning |\n|---|---|\n{rows}")
}
