//! The OpenAPI document, made from the table of routes.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::call::{Call, Reply};
use super::problem::{self, Problem};
use super::route::{Access, Gives, Route, Verb, shape};
use super::table::ROUTES;

/// What can go wrong everywhere.
const USUAL: [(u16, &str); 7] = [
    (400, "The request cannot be read"),
    (401, "Nobody is signed in"),
    (403, "The request may not be made"),
    (404, "There is no such thing"),
    (413, "The body is too large"),
    (429, "There were too many requests"),
    (503, "The store cannot be reached"),
];
/// What can go wrong where something is changed.
const CHANGES: [(u16, &str); 2] = [(409, "The run does not take that now"), (422, "Something does not fit")];

pub(super) async fn answer(_: Call) -> Result<Reply, Problem> {
    Reply::json(&document())
}

/// The OpenAPI document.
pub fn document() -> Value {
    let mut writer = Writer::new();
    let mut paths: Map<String, Value> = Map::new();
    for route in ROUTES {
        let operation = writer.operation(route);
        let verb = if route.verb == Verb::Get { "get" } else { "post" };
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[verb] = operation;
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Longhaul", "version": env!("CARGO_PKG_VERSION"),
            "description": "docs/reference/api.md says what all of it means.",
        },
        "paths": paths,
        "components": {
            "schemas": writer.definitions(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    })
}

/// Makes schemas, and remembers those that have names.
struct Writer {
    asked: SchemaGenerator,
    given: SchemaGenerator,
}

impl Writer {
    fn new() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        });
        let asked = settings.clone().for_deserialize().into_generator();
        Self { asked, given: settings.for_serialize().into_generator() }
    }

    fn definitions(mut self) -> Map<String, Value> {
        let mut all = self.given.take_definitions(true);
        all.extend(self.asked.take_definitions(true));
        all.sort_keys();
        all
    }

    fn operation(&mut self, route: &Route) -> Value {
        let mut operation = json!({
            "operationId": operation_id(route), "summary": route.about,
            "parameters": self.parameters(route), "responses": self.responses(route),
        });
        if let Access::Role(role) = route.access {
            operation["security"] = json!([{"token": []}]);
            operation["description"] = json!(format!("Takes the role {role}."));
        }
        if let Some(takes) = route.takes {
            operation["requestBody"] =
                json!({"required": true, "content": {"application/json": {"schema": takes(&mut self.asked)}}});
        }
        operation
    }

    fn parameters(&mut self, route: &Route) -> Vec<Value> {
        let free = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        let mut parameters: Vec<Value> = free
            .map(|name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string", "minLength": 1}}))
            .collect();
        for param in route.query {
            let schema: Schema = (param.shape)(&mut self.asked);
            parameters.push(json!({
                "name": param.name, "in": "query", "required": param.is_needed, "description": param.about, "schema": schema,
            }));
        }
        if route.is_keyed {
            let schema = json!({"type": "string", "minLength": 1, "maxLength": 200});
            parameters.push(json!({"name": "Idempotency-Key", "in": "header", "required": true, "schema": schema}));
        }
        if route.verb == Verb::Post {
            let schema = json!({"type": "string", "const": "1"});
            parameters.push(json!({"name": "X-Longhaul", "in": "header", "required": true, "schema": schema}));
        }
        parameters
    }

    fn responses(&mut self, route: &Route) -> Value {
        let mut responses = Map::new();
        let mut add = |status: u16, about: &str, content: Value| {
            let content = if content.is_null() { json!({}) } else { json!({"content": content}) };
            let mut response = json!({"description": about});
            if let (Some(response), Value::Object(content)) = (response.as_object_mut(), content) {
                response.extend(content);
            }
            responses.insert(status.to_string(), response);
        };
        match route.gives {
            Gives::Json(statuses, shape) => {
                let schema = shape(&mut self.given);
                for status in statuses {
                    add(*status, route.about, json!({"application/json": {"schema": schema}}));
                }
            }
            Gives::Nothing(status) => add(status, route.about, Value::Null),
            Gives::Text(kind) => add(200, route.about, json!({kind: {"schema": {"type": "string"}}})),
            Gives::File => {
                let content = json!({"text/plain; charset=utf-8": {}, "application/octet-stream": {}});
                add(200, route.about, content);
            }
        }
        let problem = shape::<problem::Body>(&mut self.given);
        let changes: &[_] = if route.verb == Verb::Post || matches!(route.gives, Gives::File) { &CHANGES } else { &[] };
        for (status, about) in USUAL.iter().chain(changes) {
            add(*status, about, json!({"application/problem+json": {"schema": problem}}));
        }
        Value::Object(responses)
    }
}

/// A name that follows from method and path: `get_runs_run_events`.
fn operation_id(route: &Route) -> String {
    let verb = if route.verb == Verb::Get { "get" } else { "post" };
    let path = route.path.strip_prefix("/api/v1").unwrap_or(route.path);
    let words: String = path.chars().map(|sign| if sign.is_alphanumeric() { sign } else { ' ' }).collect();
    std::iter::once(verb).chain(words.split_whitespace()).collect::<Vec<_>>().join("_")
}
