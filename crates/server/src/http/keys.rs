//! Who may come in: tokens, each with a role, kept as hashes.
//!
//! **Invariant:** nothing on the disk opens a door. A token is shown once, when it is made; a cookie follows from the token and
//! not the other way round; what is kept are hashes of both. A key whose file is removed opens nothing any more.

use std::io::Write;
use std::path::{Path, PathBuf};

use longhaul_agents::private;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use uuid::Uuid;

/// What somebody may do. Each may do what those before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Look.
    Viewer,
    /// Start runs, tell them something, answer.
    Operator,
    /// Everything.
    Admin,
}

impl std::str::FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "viewer" => Ok(Self::Viewer),
            "operator" => Ok(Self::Operator),
            "admin" => Ok(Self::Admin),
            _ => Err(format!("`{text}` is not viewer, operator or admin")),
        }
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Admin => "admin",
        })
    }
}

/// What is kept of a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// What it is called by.
    pub id: String,
    /// What its holder may do.
    pub role: Role,
    /// When it was made.
    pub made_at: i64,
    /// Until when it holds; for ever, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
    /// The hash of the token.
    token: String,
    /// The hash of the cookie.
    cookie: String,
}

/// A token that was made just now, and is shown once.
pub struct Minted {
    /// What is kept of it.
    pub key: Key,
    /// The token.
    pub token: String,
}

/// A folder with a file for each key.
#[derive(Debug, Clone)]
pub struct Keys {
    folder: PathBuf,
}

impl Keys {
    /// The keys of a server.
    pub fn of(data_dir: &Path) -> Self {
        Self { folder: data_dir.join("keys") }
    }

    /// Makes a token.
    pub fn mint(&self, role: Role, now: i64, until: Option<i64>) -> std::io::Result<Minted> {
        private::create_dir_all(&self.folder)?;
        let token = format!("lh_{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let id = Uuid::new_v4().simple().to_string()[..8].to_owned();
        let cookie = hash(&cookie_of(&token));
        let key = Key { id, role, made_at: now, until, token: hash(&token), cookie };
        let mut file = private::create_new(&self.file(&key.id))?;
        file.write_all(&serde_json::to_vec(&key)?)?;
        file.sync_all()?;
        Ok(Minted { key, token })
    }

    /// All keys that hold, oldest first; those that do not hold any more are removed.
    pub fn all(&self, now: i64) -> Vec<Key> {
        let files = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let read = files.filter_map(|file| serde_json::from_slice::<Key>(&std::fs::read(file.path()).ok()?).ok());
        let (mut keys, old): (Vec<Key>, Vec<Key>) = read.partition(|key| key.until.is_none_or(|until| now < until));
        for key in old {
            let _ = std::fs::remove_file(self.file(&key.id));
        }
        keys.sort_by(|a, b| (a.made_at, &a.id).cmp(&(b.made_at, &b.id)));
        keys
    }

    /// Takes a key back; whether there was one.
    pub fn revoke(&self, id: &str) -> bool {
        let is_id = id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_id && std::fs::remove_file(self.file(id)).is_ok()
    }

    /// Whose token this is.
    pub(crate) fn by_token(&self, shown: &str, now: i64) -> Option<Key> {
        let shown = hash(shown);
        self.all(now).into_iter().find(|key| is_same(&key.token, &shown))
    }

    /// Whose cookie this is.
    pub(crate) fn by_cookie(&self, shown: &str, now: i64) -> Option<Key> {
        let shown = hash(shown);
        self.all(now).into_iter().find(|key| is_same(&key.cookie, &shown))
    }

    fn file(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }
}

/// What a browser keeps in the place of a token.
pub(crate) fn cookie_of(token: &str) -> String {
    let bytes = blake3::derive_key("longhaul 2026-11 cookie of a browser", token.as_bytes());
    blake3::Hash::from_bytes(bytes).to_hex().to_string()
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

fn is_same(a: &str, b: &str) -> bool {
    bool::from(a.as_bytes().ct_eq(b.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_opens_as_what_it_was_made_for_until_it_is_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let keys = Keys::of(folder.path());
        let viewer = keys.mint(Role::Viewer, 1, None).unwrap();
        let admin = keys.mint(Role::Admin, 2, None).unwrap();
        assert_eq!(keys.by_token(&viewer.token, 3).unwrap().role, Role::Viewer);
        assert_eq!(keys.by_cookie(&cookie_of(&admin.token), 3).unwrap().role, Role::Admin);
        for wrong in ["", "lh_", &cookie_of(&viewer.token), &viewer.token[1..], &viewer.token.to_uppercase()] {
            assert_eq!(keys.by_token(wrong, 3), None, "{wrong}");
        }
        assert_eq!(keys.by_cookie(&admin.token, 3), None, "a token is no cookie");
        assert!(keys.revoke(&admin.key.id) && !keys.revoke(&admin.key.id) && !keys.revoke("../../x"));
        assert_eq!(keys.by_cookie(&cookie_of(&admin.token), 3), None);
        assert_eq!(keys.all(3).len(), 1);
    }

    #[test]
    fn nothing_on_the_disk_is_a_token_or_a_cookie() {
        let folder = tempfile::tempdir().unwrap();
        let minted = Keys::of(folder.path()).mint(Role::Admin, 1, None).unwrap();
        let file = std::fs::read_dir(folder.path().join("keys")).unwrap().next().unwrap().unwrap().path();
        let kept = std::fs::read_to_string(file).unwrap();
        assert!(!kept.contains(&minted.token) && !kept.contains(&cookie_of(&minted.token)));
    }

    #[test]
    fn a_key_can_come_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let keys = Keys::of(folder.path());
        let minted = keys.mint(Role::Admin, 1, Some(10)).unwrap();
        assert!(keys.by_token(&minted.token, 9).is_some());
        assert!(keys.by_token(&minted.token, 10).is_none());
        assert!(keys.by_token(&minted.token, 9).is_none(), "it is gone");
    }
}
