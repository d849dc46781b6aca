//! Fetching the other workflows that a workflow uses, and those that they use.

use std::collections::{BTreeSet, HashMap};

use crate::diagnostic::Diagnostic;
use crate::dialect::{self, Dialect};
use crate::source::{self, Format, Node, Sources};
use crate::world::{Missing, World};

/// The trees of a workflow and of all others it can reach.
pub(crate) struct Forest {
    pub(crate) trees: Vec<Tree>,
    /// Whether there would have been more.
    pub(crate) is_cut: bool,
}

/// One workflow of one file, in native keys.
pub(crate) struct Tree {
    pub(crate) name: String,
    pub(crate) dir: String,
    pub(crate) node: Node,
    /// Which tree each name that it uses stands for, or what is wrong with that one.
    pub(crate) uses: HashMap<String, Use>,
}

/// What a name of another workflow stands for.
#[derive(Clone)]
pub(crate) enum Use {
    /// That tree of the forest.
    Tree(usize),
    /// A file that cannot be read as a workflow.
    Broken(String),
    /// A file that is none of the project's.
    Outside,
}

/// The most other workflows that one may reach: each is checked with all that it uses.
pub(crate) const WORKFLOWS_MAX: usize = 100;

/// Reads everything that can be reached from a tree.
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

/// What is to be said about a workflow that cannot be had; nothing of one that is not there.
fn unusable(why: Missing) -> Option<Use> {
    Some(match why {
        Missing::NotFound => return None,
        Missing::Outside => Use::Outside,
        Missing::TooLarge => Use::Broken("it is too large".to_owned()),
        Missing::NotText => Use::Broken("it is not UTF-8 text".to_owned()),
        Missing::Unreadable(error) => Use::Broken(error),
    })
}

fn read_tree(found: crate::world::Found, name: &str, sources: &mut Sources) -> Result<Tree, String> {
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

/// The names under `workflow:` anywhere in a tree that are not its own `workflows:`.
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
