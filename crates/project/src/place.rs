//! Chooses the store of a project: the one that the caller names, otherwise `store` of its settings, otherwise a file
//! in the user's state folder.

use anyhow::{Context, Result, anyhow, bail};
use longhaul_store::StoreAddress;
use toml_edit::Item;

use crate::project::Project;
use crate::{disk, settings, state, trusted};

/// The name of a store's file.
pub const FILE: &str = "longhaul.db";

/// The address of a project's store. `told` is the address from the caller.
pub fn of(project: &Project, told: Option<&str>) -> Result<StoreAddress> {
    match told.filter(|told| !told.is_empty()) {
        Some(told) => Ok(told.parse()?),
        None => configured(project),
    }
}

fn configured(project: &Project) -> Result<StoreAddress> {
    let own = project.root.join(".longhaul/config.toml");
    let user = project.user.iter().map(|user| user.join("config.toml"));
    for file in std::iter::once(own.clone()).chain(user) {
        let found = written(&disk::text_if_any(&file)).with_context(|| file.display().to_string())?;
        let Some(text) = found else { continue };
        if file == own && !trusted::is_trusted(project, &trusted::hashes(project)) {
            bail!(
                "{}: `store` says who keeps the runs and can start work here, and this file came with the project; look at it, \
                 then run `longhaul trust`, or write it into ~/.longhaul/config.toml",
                file.display()
            );
        }
        return text.parse().with_context(|| format!("{}: `store`", file.display()));
    }
    Ok(StoreAddress::File(state::of(project)?.join(FILE)))
}

/// A text, or `{ env = "NAME" }`, so that a password does not have to be in a file.
fn written(text: &str) -> Result<Option<String>> {
    // The error names the place but not the value: it may be a password.
    let document = settings::read(text)?;
    let Some(item) = document.get("store") else { return Ok(None) };
    if let Some(text) = item.as_str() {
        return Ok(Some(text.to_owned()));
    }
    let name = item.as_table_like().and_then(|table| table.get("env")).and_then(Item::as_str);
    let name = name.ok_or_else(|| anyhow!("`store` is neither a text nor {{ env = \"NAME\" }}"))?;
    std::env::var(name).map(Some).map_err(|_| anyhow!("`store`: the variable `{name}` is not set"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(own: &str, user: &str) -> (Project, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let (root, home) = (folder.path().join("root"), folder.path().join("home"));
        std::fs::create_dir_all(root.join(".longhaul")).unwrap();
        std::fs::create_dir_all(&home).unwrap();
        std::fs::write(root.join(".longhaul/config.toml"), own).unwrap();
        std::fs::write(home.join("config.toml"), user).unwrap();
        let project = Project { user: Some(home), ..Project::around(&root) };
        (project, folder)
    }

    #[test]
    fn the_caller_comes_first_then_the_settings_then_the_file() {
        let (project, _folder) = project("", "store = 'postgres://me:secret@db/runs'");
        assert_eq!(of(&project, Some("x.db")).unwrap().to_string(), "x.db");
        assert_eq!(of(&project, Some("sqlite:///x.db")).unwrap().to_string(), "/x.db");
        assert_eq!(of(&project, None).unwrap().to_string(), "postgres://me@db/runs");
        let (project, _folder) = self::project("", "");
        assert!(of(&project, None).unwrap().to_string().ends_with("/longhaul.db"));
    }

    #[test]
    fn a_checkout_can_not_say_who_keeps_the_runs() {
        let (project, _folder) = project("store = 'postgres://evil/runs'", "");
        let said = of(&project, None).unwrap_err().to_string();
        assert!(said.contains("run `longhaul trust`"), "{said}");
        let told = longhaul_config::trust::sensitive_files(&project.root).unwrap().unwrap();
        trusted::add(&project, &told.hash, &project.root).unwrap();
        assert_eq!(of(&project, None).unwrap().to_string(), "postgres://evil/runs");
    }

    #[test]
    fn mistakes_are_told_without_the_address() {
        for (text, why) in
            [("store = 3", "is neither a text"), ("store = { env = 'LH_NOT_SET' }", "`LH_NOT_SET` is not set")]
        {
            let (project, _folder) = project("", text);
            let said = format!("{:#}", of(&project, None).unwrap_err());
            assert!(said.contains(why), "{said}");
        }
        let (project, _folder) = project("", "store = 'postgres://me:secret@db/x?sslmode=no'");
        let said = format!("{:#}", of(&project, None).unwrap_err());
        assert!(said.contains("sslmode=no") && !said.contains("secret"), "{said}");
    }
}
