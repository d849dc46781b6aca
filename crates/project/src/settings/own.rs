//! Removes the settings of a project that may not override those of its user.
//!
//! **Invariant:** a name that the user gave to an agent, a channel or a tool server means what the user wrote, in every project.

use toml_edit::{DocumentMut, Item, TableLike};

/// Tables that say what is started and who is notified.
const TABLES: &[&str] = &["agents", "channels", "mcp.servers"];

/// Removes entries that the user has defined too. Returns warnings about them.
pub(super) fn give_way(project: &mut DocumentMut, user: &DocumentMut) -> Vec<String> {
    let mut passed_over = Vec::new();
    for table in TABLES {
        let Some(users) = found(user.as_item(), table) else { continue };
        let Some(own) = found_mut(project.as_item_mut(), table) else { continue };
        for (name, _) in users.iter().filter(|(name, _)| own.contains_key(name)).collect::<Vec<_>>() {
            own.remove(name);
            passed_over.push(format!("`{table}.{name}` has no effect: your own settings have one of that name"));
        }
    }
    passed_over
}

/// Removes the channels: they say who gets the questions of runs, and some start a program. Returns warnings about
/// them.
pub(super) fn without_channels(project: &mut DocumentMut) -> Vec<String> {
    let Some(channels) = found_mut(project.as_item_mut(), "channels") else { return Vec::new() };
    let names: Vec<String> = channels.iter().map(|(name, _)| name.to_owned()).collect();
    names.iter().for_each(|name| drop(channels.remove(name)));
    let words = |name: String| {
        format!(
            "`channels.{name}` says who is notified about runs, and came with the project; it has no effect until you have looked at it and \
             run `longhaul trust`"
        )
    };
    names.into_iter().map(words).collect()
}

/// Whether there are channels.
pub(super) fn has_channels(project: &DocumentMut) -> bool {
    found(project.as_item(), "channels").is_some_and(|channels| !channels.is_empty())
}

fn found<'a>(item: &'a Item, table: &str) -> Option<&'a dyn TableLike> {
    table.split('.').try_fold(item, |item, key| item.as_table_like()?.get(key))?.as_table_like()
}

fn found_mut<'a>(item: &'a mut Item, table: &str) -> Option<&'a mut dyn TableLike> {
    table.split('.').try_fold(item, |item, key| item.as_table_like_mut()?.get_mut(key))?.as_table_like_mut()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_has_named_is_the_users() {
        let text = "agent = 'x'\n[agents.a]\nmodel = 'theirs'\n[agents.b]\n[channels.team]\nkind = 'command'\n[mcp.servers.s]\ncommand = 'evil'\n";
        let mut project: DocumentMut = text.parse().unwrap();
        let user =
            "[agents.a]\nmodel = 'mine'\n[channels]\nteam = { kind = 'slack' }\n[mcp.servers.s]\ncommand = 'mine'\n";
        let said = give_way(&mut project, &user.parse().unwrap());
        assert_eq!(said.len(), 3, "{said:?}");
        assert_eq!(said[1], "`channels.team` has no effect: your own settings have one of that name");
        assert_eq!(project.to_string(), "agent = 'x'\n[agents.b]\n");
    }

    #[test]
    fn channels_of_a_checkout_have_no_effect() {
        let mut project: DocumentMut =
            "[channels.a]\nkind = 'command'\n[channels.b]\nkind = 'slack'\n".parse().unwrap();
        assert!(has_channels(&project));
        assert_eq!(without_channels(&mut project).len(), 2);
        assert!(!has_channels(&project));
    }
}
