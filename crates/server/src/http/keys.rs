//! Tokens and sessions: each token has a person and a role, and is stored as a hash.
//!
//! A browser signs in with a token and gets its own cookie. The cookie ends when the browser signs out, when the token
//! ends, or after a time.
//!
//! **Invariant:** the files on the disk give no access. A token is shown once, when it is created, and a cookie goes to
//! one browser. Only hashes of both are stored. If the file of a key is removed, the key and its cookies are invalid.

use std::io::Write;
use std::path::{Path, PathBuf};

use longhaul_agents::private;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use uuid::Uuid;

/// The rights of a caller. Each role includes the rights of the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// May read.
    Viewer,
    /// May start runs, command them, and answer questions.
    Operator,
    /// May do everything.
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

/// The stored part of a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRecord {
    /// Its id.
    pub id: String,
    /// The role of its holder.
    pub role: Role,
    /// The person who holds it. Without one, its holder acts as the user who runs the server, but has none of that
    /// user's roles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// A name for people, such as the place of use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// When it was created.
    pub made_at: i64,
    /// When it ends. `None` means never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
    /// The hash of the token.
    token: String,
}

/// The properties of a new token.
#[derive(Debug, Clone)]
pub struct TokenRequest {
    /// The role of its holder.
    pub role: Role,
    /// The person who holds it.
    pub user: Option<String>,
    /// A name for people.
    pub name: Option<String>,
    /// When it ends. `None` means never.
    pub until: Option<i64>,
}

/// A browser that is signed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Session {
    /// Its id: the beginning of the hash of its cookie.
    id: String,
    /// The key that it signed in with.
    key: String,
    made_at: i64,
    until: i64,
    /// The hash of the cookie.
    cookie: String,
}

/// The key and the session that a caller came with. Both can end.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Holder {
    /// The id of the key.
    pub(crate) key: String,
    /// The session of the browser, if the caller has a cookie.
    pub(crate) session: Option<String>,
}

/// A new token. It is shown once.
pub struct Minted {
    /// The stored part.
    pub key: TokenRecord,
    /// The token.
    pub token: String,
}

/// How long a browser stays signed in.
pub(crate) const SIGNED_IN_MS: i64 = 30 * 24 * 3600 * 1000;
/// The most browsers that one token signs in. After that, the oldest one is signed out.
const SESSIONS_MAX: usize = 50;
/// How exactly the last use of a token is recorded.
const USED_MS: i64 = 60_000;
/// The longest name of a person or a token.
const NAME_CHARS_MAX: usize = 80;

/// Whether a text can be the name of a person or a token: lists show it in one line.
pub fn is_name(text: &str) -> bool {
    let is_plain = |letter: char| !letter.is_control() && !letter.is_whitespace();
    (1..=NAME_CHARS_MAX).contains(&text.chars().count()) && text.chars().all(is_plain)
}

/// The folders with a file for each key, and a file for each browser that is signed in.
#[derive(Debug, Clone)]
pub struct Keys {
    folder: PathBuf,
    browsers: PathBuf,
}

impl Keys {
    /// The keys of a server.
    pub fn of(data_dir: &Path) -> Self {
        Self { folder: data_dir.join("keys"), browsers: data_dir.join("browsers") }
    }

    /// Creates a token without a person.
    pub fn mint(&self, role: Role, now: i64, until: Option<i64>) -> std::io::Result<Minted> {
        self.make(TokenRequest { role, user: None, name: None, until }, now)
    }

    /// Creates a token.
    pub fn make(&self, wanted: TokenRequest, now: i64) -> std::io::Result<Minted> {
        let TokenRequest { role, user, name, until } = wanted;
        let token = format!("lh_{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let id = Uuid::new_v4().simple().to_string()[..8].to_owned();
        let key = TokenRecord { id, role, user, name, made_at: now, until, token: hash(&token) };
        keep(&self.file(&key.id), &key)?;
        Ok(Minted { key, token })
    }

    /// All valid keys, oldest first. Removes keys that have ended.
    pub fn all(&self, now: i64) -> Vec<TokenRecord> {
        let files = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let read =
            files.filter_map(|file| serde_json::from_slice::<TokenRecord>(&std::fs::read(file.path()).ok()?).ok());
        let (mut keys, old): (Vec<TokenRecord>, Vec<TokenRecord>) =
            read.partition(|key| key.until.is_none_or(|until| now < until));
        for key in old {
            let _ = std::fs::remove_file(self.file(&key.id));
            let _ = std::fs::remove_file(self.use_file(&key.id));
        }
        keys.sort_by(|a, b| (a.made_at, &a.id).cmp(&(b.made_at, &b.id)));
        keys
    }

    /// Revokes a key. Returns whether there was one.
    pub fn revoke(&self, id: &str) -> bool {
        let is_id = id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        for session in self.sessions().into_iter().filter(|session| is_id && session.key == id) {
            let _ = std::fs::remove_file(self.session_file(&session.id));
        }
        if is_id {
            let _ = std::fs::remove_file(self.use_file(id));
        }
        is_id && std::fs::remove_file(self.file(id)).is_ok()
    }

    /// When a token, or a browser that it signed in, was last used; to the minute.
    pub fn used_at(&self, id: &str) -> Option<i64> {
        std::fs::read_to_string(self.use_file(id)).ok()?.trim().parse().ok()
    }

    /// Notes the use of a token, in a separate file. Writing the file of the key could bring back a revoked key.
    fn note_use(&self, id: &str, now: i64) {
        if self.used_at(id).is_some_and(|at| (0..USED_MS).contains(&(now - at))) {
            return;
        }
        let file = self.use_file(id);
        // If this fails, nothing else depends on it.
        let _ = file.parent().map_or(Ok(()), private::create_dir_all);
        let _ = private::replace(&file, now.to_string().as_bytes());
    }

    /// Signs in a browser with a valid token. Returns its cookie.
    pub(crate) fn sign_in(&self, key: &TokenRecord, now: i64) -> std::io::Result<String> {
        let mut known: Vec<Session> = self.sessions();
        known.retain(|session| session.until > now || std::fs::remove_file(self.session_file(&session.id)).is_err());
        known.retain(|session| session.key == key.id);
        known.sort_by_key(|session| session.made_at);
        for old in known.iter().take((known.len() + 1).saturating_sub(SESSIONS_MAX)) {
            let _ = std::fs::remove_file(self.session_file(&old.id));
        }
        let cookie = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let until = key.until.unwrap_or(i64::MAX).min(now + SIGNED_IN_MS);
        let id = session_id(&cookie);
        let session = Session { key: key.id.clone(), made_at: now, until, cookie: hash(&cookie), id };
        keep(&self.session_file(&session.id), &session)?;
        Ok(cookie)
    }

    /// Signs a browser out.
    pub(crate) fn sign_out(&self, session: &str) {
        let _ = std::fs::remove_file(self.session_file(session));
    }

    /// Whether the caller's token and session are still valid.
    pub(crate) fn holds(&self, holder: &Holder, now: i64) -> bool {
        let key = || {
            read::<TokenRecord>(&self.file(&holder.key)).is_some_and(|key| key.until.is_none_or(|until| now < until))
        };
        let session = |id: &String| read::<Session>(&self.session_file(id)).is_some_and(|session| now < session.until);
        holder.session.as_ref().is_none_or(session) && key()
    }

    /// The key of a token.
    pub(crate) fn by_token(&self, shown: &str, now: i64) -> Option<TokenRecord> {
        let shown = hash(shown);
        let key = self.all(now).into_iter().find(|key| is_same(&key.token, &shown))?;
        self.note_use(&key.id, now);
        Some(key)
    }

    /// The key and the session of a cookie.
    pub(crate) fn by_cookie(&self, shown: &str, now: i64) -> Option<(TokenRecord, String)> {
        let session: Session = read(&self.session_file(&session_id(shown)))?;
        let is_right = is_same(&session.cookie, &hash(shown)) && now < session.until;
        let key = self.all(now).into_iter().find(|key| is_right && key.id == session.key)?;
        self.note_use(&key.id, now);
        Some((key, session.id))
    }

    fn sessions(&self) -> Vec<Session> {
        let files = std::fs::read_dir(&self.browsers).into_iter().flatten().flatten();
        files.filter_map(|file| read(&file.path())).collect()
    }

    fn session_file(&self, id: &str) -> PathBuf {
        self.browsers.join(format!("{id}.json"))
    }

    fn use_file(&self, id: &str) -> PathBuf {
        self.folder.with_file_name("used").join(id)
    }

    fn file(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }
}

/// Reads the value in a file.
fn read<T: serde::de::DeserializeOwned>(file: &Path) -> Option<T> {
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
}

/// Writes a value to a new file that only its owner can read.
fn keep(file: &Path, what: &impl Serialize) -> std::io::Result<()> {
    file.parent().map_or(Ok(()), private::create_dir_all)?;
    let mut file = private::create_new(file)?;
    file.write_all(&serde_json::to_vec(what)?)?;
    file.sync_all()
}

/// The id of a session. It comes from a hash, so no cookie can name another file.
fn session_id(cookie: &str) -> String {
    hash(cookie)[..16].to_owned()
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
        let cookie = keys.sign_in(&admin.key, 3).unwrap();
        assert_eq!(keys.by_token(&viewer.token, 3).unwrap().role, Role::Viewer);
        assert_eq!(keys.by_cookie(&cookie, 3).unwrap().0.role, Role::Admin);
        for wrong in ["", "lh_", &cookie, &viewer.token[1..], &viewer.token.to_uppercase()] {
            assert_eq!(keys.by_token(wrong, 3), None, "{wrong}");
        }
        assert_eq!(keys.by_cookie(&admin.token, 3), None, "a token is no cookie");
        assert_eq!(keys.by_cookie(&format!("{cookie}x"), 3), None);
        assert!(keys.revoke(&admin.key.id) && !keys.revoke(&admin.key.id) && !keys.revoke("../../x"));
        assert_eq!(keys.by_cookie(&cookie, 3), None);
        assert_eq!((keys.all(3).len(), keys.sessions().len()), (1, 0));
    }

    #[test]
    fn signing_out_ends_one_browser_and_not_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let keys = Keys::of(folder.path());
        let minted = keys.mint(Role::Admin, 1, None).unwrap();
        let (one, other) = (keys.sign_in(&minted.key, 2).unwrap(), keys.sign_in(&minted.key, 2).unwrap());
        let holder = |cookie: &str| {
            let (key, session) = keys.by_cookie(cookie, 3).unwrap();
            Holder { key: key.id, session: Some(session) }
        };
        let (first, second) = (holder(&one), holder(&other));
        keys.sign_out(first.session.as_deref().unwrap());
        assert!(keys.by_cookie(&one, 3).is_none() && keys.by_cookie(&other, 3).is_some());
        assert!(!keys.holds(&first, 3) && keys.holds(&second, 3));
        assert!(keys.holds(&Holder { key: minted.key.id.clone(), session: None }, 3), "the token is as good as before");
        assert!(!keys.holds(&second, 3 + SIGNED_IN_MS), "and a browser not for ever");
    }

    #[test]
    fn a_token_signs_only_so_many_browsers_in() {
        let folder = tempfile::tempdir().unwrap();
        let keys = Keys::of(folder.path());
        let minted = keys.mint(Role::Viewer, 1, None).unwrap();
        let cookies: Vec<String> = (0..60).map(|at| keys.sign_in(&minted.key, at).unwrap()).collect();
        assert_eq!(keys.sessions().len(), SESSIONS_MAX);
        assert!(keys.by_cookie(&cookies[0], 60).is_none() && keys.by_cookie(&cookies[59], 60).is_some());
    }

    #[test]
    fn nothing_on_the_disk_is_a_token_or_a_cookie() {
        let folder = tempfile::tempdir().unwrap();
        let keys = Keys::of(folder.path());
        let minted = keys.mint(Role::Admin, 1, None).unwrap();
        let cookie = keys.sign_in(&minted.key, 1).unwrap();
        for part in ["keys", "browsers"] {
            let file = std::fs::read_dir(folder.path().join(part)).unwrap().next().unwrap().unwrap().path();
            let kept = std::fs::read_to_string(&file).unwrap();
            assert!(!kept.contains(&minted.token) && !kept.contains(&cookie) && !cookie.contains(&kept));
        }
    }

    #[test]
    fn keys_that_an_older_version_kept_are_good() {
        let folder = tempfile::tempdir().unwrap();
        let keys = Keys::of(folder.path());
        let minted = keys.mint(Role::Admin, 1, None).unwrap();
        let file = keys.file(&minted.key.id);
        let mut kept: serde_json::Value = read(&file).unwrap();
        kept["cookie"] = "an older version kept this".into();
        std::fs::write(&file, kept.to_string()).unwrap();
        assert_eq!(keys.by_token(&minted.token, 2), Some(minted.key));
    }

    #[test]
    fn a_token_has_its_person_and_tells_when_it_was_used() {
        let folder = tempfile::tempdir().unwrap();
        let keys = Keys::of(folder.path());
        let (user, name) = (Some("kim".to_owned()), Some("laptop".to_owned()));
        let minted = keys.make(TokenRequest { role: Role::Operator, user, name, until: None }, 1).unwrap();
        let id = &minted.key.id;
        assert_eq!(keys.used_at(id), None);
        let known = keys.by_token(&minted.token, 5).unwrap();
        assert_eq!((known.user.as_deref(), known.name.as_deref()), (Some("kim"), Some("laptop")));
        let cookie = keys.sign_in(&known, 5).unwrap();
        keys.by_cookie(&cookie, 5 + USED_MS - 1).unwrap();
        assert_eq!(keys.used_at(id), Some(5), "to the minute");
        keys.by_cookie(&cookie, 5 + USED_MS).unwrap();
        assert_eq!(keys.used_at(id), Some(5 + USED_MS));
        assert!(keys.revoke(id) && keys.used_at(id).is_none());
    }

    #[test]
    fn names_fit_in_a_line() {
        assert!(is_name("kim") && is_name("kim@example.org") && is_name(&"é".repeat(80)));
        assert!(!is_name("") && !is_name("kim jo") && !is_name("kim\n") && !is_name(&"x".repeat(81)));
    }

    #[test]
    fn a_key_can_come_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let keys = Keys::of(folder.path());
        let minted = keys.mint(Role::Admin, 1, Some(10)).unwrap();
        let cookie = keys.sign_in(&minted.key, 1).unwrap();
        assert!(keys.by_token(&minted.token, 9).is_some() && keys.by_cookie(&cookie, 9).is_some());
        assert!(keys.by_cookie(&cookie, 10).is_none() && keys.by_token(&minted.token, 10).is_none());
        assert!(keys.by_token(&minted.token, 9).is_none(), "it is gone");
    }
}
