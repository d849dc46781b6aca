//! Reads the other workflows that a workflow uses, directly and indirectly.

use std::collections::{BTreeSet, HashMap};

use crate::diagnostic::Diagnostic;
use crate::dialect::{self, Dialect};
use crate::source::{self, Format, Node, Sources};
use crate::world::{Unavailable, World};

/// The trees of a workflow and of all workflows that it can reach.
pub(crate) struct Forest {
    pub(crate) trees: Vec<Tree>,
    /// Whether the limit was reached.
    pub(crate) is_cut: bool,
}

/// One workflow of one file, in native keys.
pub(crate) struct Tree {
    pub(crate) name: String,
    pub(crate) dir: String,
    pub(crate) node: Node,
    /// The tree of each used name, or its problem.
    pub(crate) uses: HashMap<String, Use>,
}

/// The meaning of a used name.
#[derive(Clone)]
pub(crate) enum Use {
    /// A tree of the forest, by index.
    Tree(usize),
    /// A file that cannot be read as a workflow.
    Broken(String),
    /// A file outside the project.
    Outside,
}

/// The most other workflows that one may reach: each is checked with all that it uses.
pub(crate) const WORKFLOWS_MAX: usize = 100;

/// Reads everything that is reachable from a tree.
pub(crate) fn load(first: Tree, sources: &mut Sources, world: &dyn World) -> Forest {
    let mut forest = Forest { trees: vec![first], is_cut: false };
    let mut by_file: HashMap<String, Use> = HashMap::new();
    let mut at = 0;
    while at < forest.trees.len() {
        for name in names_used(&forest.trees[at].node) {
            let found = match world.workflow(&forest.trees[at].dir, &name) {
                Ok(found) => found,
                Err(why) => {
                    forest.trees[at].uses.extend(unusable(why).map(|used| (name, used)));
                    continue;
                }
            };
            let known = by_file.get(&found.name).cloned();
            if known.is_none() && forest.trees.len() > WORKFLOWS_MAX {
                forest.is_cut = true;
                continue;
            }
            let resolved = known.unwrap_or_else(|| {
                let file_name = found.name.clone();
                let read = read_tree(found, &name, sources);
                let resolved = match read {
                    Ok(tree) => {
                        forest.trees.push(tree);
                        Use::Tree(forest.trees.len() - 1)
                    }
                    Err(why) => Use::Broken(why),
                };
                by_file.insert(file_name, resolved.clone());
                resolved
            });
            forest.trees[at].uses.insert(name, resolved);
        }
        at += 1;
    }
    forest
}

/// The problem with a workflow that cannot be read; `None` if it does not exist.
fn unusable(why: Unavailable) -> Option<Use> {
    Some(match why {
        Unavailable::NotFound => return None,
        Unavailable::Outside => Use::Outside,
        Unavailable::TooLarge => Use::Broken("it is too large".to_owned()),
        Unavailable::NotText => Use::Broken("it is not UTF-8 text".to_owned()),
        Unavailable::Unreadable(error) => Use::Broken(error),
    })
}

fn read_tree(found: crate::world::FoundWorkflow, name: &str, sources: &mut Sources) -> Result<Tree, String> {
    let mut problems: Vec<Diagnostic> = Vec::new();
    let format = Format::of(&found.name);
    let file = sources.add(found.name.clone(), found.text);
    let node = source::read(sources, file, format, &mut problems);
    let Some(node) = node.filter(|_| problems.is_empty()) else {
        let why = problems.first().map_or_else(|| "it is empty".to_owned(), |problem| problem.message.clone());
        return Err(why);
    };
    let dialect = Dialect::of(&node);
    let natives = dialect::to_native(dialect, node, sources, &mut problems);
    let wanted = natives.into_iter().find(|native| native.name.as_deref().is_none_or(|own| own == name));
    let native = wanted.ok_or_else(|| format!("{} holds no workflow `{name}`", found.name))?;
    Ok(Tree { name: name.to_owned(), dir: found.dir, node: native.node, uses: HashMap::new() })
}

/// The names under `workflow:` in a tree that are not in its own `workflows:`.
fn names_used(node: &Node) -> BTreeSet<String> {
    let own =
        node.get("workflows").and_then(Node::entries).unwrap_or_default().iter().filter_map(|(key, _)| key.scalar());
    let mut found = BTreeSet::new();
    collect(node, &mut found);
    for name in own {
        found.remove(name);
    }
    found
}

fn collect(node: &Node, found: &mut BTreeSet<String>) {
    for item in node.items().unwrap_or_default() {
        collect(item, found);
    }
    for (key, value) in node.entries().unwrap_or_default() {
        match (key.scalar(), value.as_text()) {
            (Some("workflow"), Some(name)) => drop(found.insert(name.to_owned())),
            _ => collect(value, found),
        }
    }
}
