//! Reads the settings in `config.toml`: the project's file, then the user's.
//!
//! **Invariant:** a mistake is an error that names the file and the key. The project's settings override the user's,
//! except those that say where data is sent and what is started: a project never replaces an agent, a channel or a
//! tool server of the user.

mod agents;
mod fleet;
mod gates;
mod notify;
mod own;
mod retention;
mod tools;
mod unknown;
mod values;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use indexmap::IndexMap;
use longhaul_config::{
    Backends, Channel, MailCarrier, MailLogin, MailPrivacy, MailServer, Retention, SameFolder, SecretSetting,
    ToolServer, Values,
};
use longhaul_core::notification::NotifyRules;
use longhaul_core::policy::Authority;
use toml_edit::{DocumentMut, Item, TableLike, TomlError};

pub use agents::not_an_agent;
pub use fleet::Fleet;
pub use gates::Gates;

use crate::project::Project;
use crate::{disk, trusted};

/// The folder of a settings file, and whether a person trusts it. Trust is checked only if the file contains a
/// sensitive key.
#[derive(Clone, Copy)]
struct Origin<'a> {
    folder: &'a Path,
    may_all: &'a dyn Fn() -> bool,
}

/// All settings.
#[derive(Debug, Default)]
pub struct Settings {
    /// Channels by name.
    pub channels: IndexMap<String, Channel>,
    /// Tool servers, by name.
    pub tools: IndexMap<String, ToolServer>,
    /// The most prompts at once, by backend.
    pub backends_max: IndexMap<String, usize>,
    /// The settings about agents.
    pub backends: Backends,
    /// The settings about who may answer.
    pub gates: Gates,
    /// Warnings about entries without effect.
    pub warnings: Vec<String>,
    /// Entries that name an agent that does not exist, in words.
    pub unknown_agents: Vec<String>,
    /// What happens when a second run starts to edit files of the same folder.
    pub same_folder: Option<SameFolder>,
    /// The settings about several workers.
    pub fleet: Fleet,
    /// Who is notified of what, and when.
    pub notify: NotifyRules,
    /// How long finished runs stay.
    pub retention: Retention,
    /// Limits of values.
    pub values: Values,
    /// Whether a file has set the size of values.
    is_sized: bool,
    /// The keys of `[notify]` that a file has set.
    notified: Vec<String>,
}

impl Settings {
    /// The settings of a project and its user.
    pub fn of(project: &Project) -> Result<Self> {
        let user = project.user.iter().map(|user| user.join("config.toml"));
        let own = project.root.join(".longhaul/config.toml");
        let mut settings = Self::default();
        settings.add_organisation()?;
        settings.backends.trusted = trusted::hashes(project);
        let trusted = &settings.backends.trusted.clone();
        let is_trusted = || trusted::is_trusted(project, trusted);
        let users: Vec<(PathBuf, DocumentMut)> =
            user.map(|file| document(&file).map(|text| (file, text))).collect::<Result<_>>()?;
        let mut text = document(&own)?;
        for (_, user) in &users {
            settings.warn(&own, own::give_way(&mut text, user));
        }
        if own::has_channels(&text) && !is_trusted() {
            settings.warn(&own, own::without_channels(&mut text));
        }
        if notify::is_in(&text) && !is_trusted() {
            settings.warn(&own, notify::without(&mut text));
        }
        let origin = Origin { folder: own.parent().unwrap_or(Path::new("")), may_all: &is_trusted };
        settings.add(&text, origin).with_context(|| own.display().to_string())?;
        settings.tools.values_mut().for_each(|server| server.is_checkout = true);
        for (file, text) in &users {
            let origin = Origin { folder: file.parent().unwrap_or(Path::new("")), may_all: &|| true };
            settings.add(text, origin).with_context(|| file.display().to_string())?;
        }
        tools::add_shared(&disk::text_if_any(&project.root.join(".mcp.json")), &mut settings.tools);
        let strange = notify::finish(&mut settings.notify, &settings.notified, &settings.channels);
        settings.warnings.extend(strange);
        let without_effect = settings.fleet.without_effect(&project.root, &settings.backends);
        settings.warnings.extend(without_effect);
        settings.unknown_agents = agents::unknown(&settings.backends);
        Ok(settings)
    }

    /// Adds the rules and roles of the organisation. Only an administrator of the machine can write that file.
    fn add_organisation(&mut self) -> Result<()> {
        let file = organisation().join("config.toml");
        let document = read(&disk::text_if_any(&file)).with_context(|| file.display().to_string())?;
        self.warn(&file, unknown::of_organisation(&document));
        gates::add_roles(&document, &mut self.gates)
            .and_then(|()| gates::add_policy(&document, Authority::Organisation, &mut self.gates))
            .with_context(|| file.display().to_string())
    }

    fn warn(&mut self, file: &Path, found: Vec<String>) {
        self.warnings.extend(found.into_iter().map(|found| format!("{}: {found}", file.display())));
    }

    /// Adds the entries of a file whose names are not known yet. Paths in it are relative to its folder. A checkout
    /// may name programs only if a person trusts it.
    fn add(&mut self, document: &DocumentMut, Origin { folder, may_all }: Origin<'_>) -> Result<()> {
        if let Some(key) = agents::sensitive(document).filter(|_| !may_all()) {
            bail!(
                "`{key}` says how agents are started, and this file came with the project; look at it, then run \
                 `longhaul trust`, or write it into ~/.longhaul/config.toml"
            );
        }
        if let Some(key) = gates::sensitive(document).filter(|_| !may_all()) {
            bail!(
                "`{key}` says who may approve work, and this file came with the project; look at it, then run \
                 `longhaul trust`, or write it into ~/.longhaul/config.toml"
            );
        }
        if let Some(key) = tools::sensitive(document).filter(|_| !may_all()) {
            bail!(
                "`{key}` says what is started, and this file came with the project; look at it, then run `longhaul trust`, or \
                 write it into ~/.longhaul/config.toml"
            );
        }
        if let Some(key) = fleet::sensitive(document).filter(|_| !may_all()) {
            bail!(
                "`{key}` says where files are sent, and this file came with the project; look at it, then run `longhaul \
                 trust`, name a remote that git knows here, or write it into ~/.longhaul/config.toml"
            );
        }
        if let Some(key) = retention::sensitive(document).filter(|_| !may_all()) {
            bail!(
                "`{key}` says which runs are removed, and this file came with the project; look at it, then run `longhaul trust`, or \
                 write it into ~/.longhaul/config.toml"
            );
        }
        if let Some(key) = values::sensitive(document).filter(|_| !may_all()) {
            bail!(
                "`{key}` says what runs may read, and this file came with the project; look at it, then run `longhaul trust`, or \
                 write it into ~/.longhaul/config.toml"
            );
        }
        self.warn(&folder.join("config.toml"), unknown::of_file(document));
        values::add(document, &mut self.values, &mut self.is_sized)?;
        gates::add(document, &mut self.gates)?;
        fleet::add(document, &mut self.fleet)?;
        notify::add(document, &mut self.notify, &mut self.notified)?;
        retention::add(document, folder, &mut self.retention)?;
        tools::add(document, Origin { folder, may_all }, &mut self.tools)?;
        agents::add(document, folder, &mut self.backends)?;
        if let Some(item) = document.get("sandboxed") {
            self.backends.sandboxed |= item.as_bool().context("`sandboxed` is neither true nor false")?;
        }
        if let Some(item) = document.get("same_folder") {
            let word = item.as_str().and_then(SameFolder::of);
            let word = word.with_context(|| format!("`same_folder` is none of {}", SameFolder::WORDS.join(", ")))?;
            self.same_folder.get_or_insert(word);
        }
        for (name, item) in entries(document.get("channels"), "channels")? {
            let key = format!("channels.{name}");
            let table = item.as_table_like().ok_or_else(|| anyhow!("`{key}` is not a table"))?;
            let channel = channel(&Keys { table, key, folder })?;
            self.channels.entry(name.to_owned()).or_insert(channel);
        }
        let limits = document.get("limits").map(|limits| limits.as_table_like().context("`limits` is not a table"));
        let backends = limits.transpose()?.and_then(|limits| limits.get("backends"));
        for (name, item) in entries(backends, "limits.backends")? {
            let max =
                item.as_integer().and_then(|max| usize::try_from(max).ok()).filter(|max| (1..=10_000).contains(max));
            let max = max.ok_or_else(|| anyhow!("`limits.backends.{name}` is not a number from 1 to 10000"))?;
            self.backends_max.entry(name.to_owned()).or_insert(max);
        }
        Ok(())
    }
}

fn document(file: &Path) -> Result<DocumentMut> {
    read(&disk::text_if_any(file)).with_context(|| file.display().to_string())
}

/// Parses a settings file. The error names the line, but not its content.
pub(crate) fn read(text: &str) -> Result<DocumentMut> {
    text.parse().map_err(|error: TomlError| {
        let told = error.to_string();
        let place = told.lines().next().and_then(|line| line.strip_prefix("TOML parse error at ")).unwrap_or_default();
        let why: Vec<&str> = error.message().lines().map(str::trim).collect();
        anyhow!("it is not TOML: {place}: {}", why.join("; "))
    })
}

/// Whether a settings file contains entries that need trust.
pub(crate) fn needs_trust(text: &str) -> bool {
    let Ok(document) = text.parse::<DocumentMut>() else { return false };
    document.contains_key("store")
        || own::has_channels(&document)
        || notify::is_in(&document)
        || agents::sensitive(&document).is_some()
        || gates::sensitive(&document).is_some()
        || tools::sensitive(&document).is_some()
        || fleet::sensitive(&document).is_some()
        || retention::sensitive(&document).is_some()
        || values::sensitive(&document).is_some()
}

/// The folder of the organisation's settings. Debug builds read another one from a variable, for tests.
fn organisation() -> PathBuf {
    let told = std::env::var_os("LONGHAUL_ORGANISATION").filter(|_| cfg!(debug_assertions));
    told.map_or_else(|| PathBuf::from("/etc/longhaul"), PathBuf::from)
}

/// The entries of an optional table.
fn entries<'a>(item: Option<&'a Item>, key: &str) -> Result<Vec<(&'a str, &'a Item)>> {
    let Some(item) = item else { return Ok(Vec::new()) };
    let table = item.as_table_like().ok_or_else(|| anyhow!("`{key}` is not a table"))?;
    Ok(table.iter().collect())
}

fn channel(keys: &Keys<'_>) -> Result<Channel> {
    let kind = keys.text("kind")?;
    let known: &[&str] = match kind {
        "webhook" | "slack" => &["kind", "url"],
        "email" => &["kind", "to", "from", "sendmail", "smtp", "tls", "user", "password", "trust"],
        "command" => &["kind", "command"],
        other => bail!("`{}.kind` is `{other}`; it must be webhook, slack, email or command", keys.key),
    };
    keys.only(known)?;
    Ok(match kind {
        "webhook" => Channel::Webhook { url: keys.setting("url")? },
        "slack" => Channel::Slack { url: keys.setting("url")? },
        "email" => Channel::Email { to: keys.texts("to")?, from: keys.text("from")?.to_owned(), by: carrier(keys)? },
        _ => Channel::Command { command: keys.texts("command")? },
    })
}

fn carrier(keys: &Keys<'_>) -> Result<MailCarrier> {
    match (keys.table.contains_key("sendmail"), keys.table.contains_key("smtp")) {
        (true, true) => bail!("`{0}.sendmail` and `{0}.smtp` cannot both be given", keys.key),
        (_, true) => Ok(MailCarrier::Smtp(server(keys)?)),
        (sendmail, false) => {
            if let Some(key) = ["tls", "user", "password", "trust"].iter().find(|key| keys.table.contains_key(key)) {
                bail!("`{0}.{key}` is for `{0}.smtp`, which is not given", keys.key);
            }
            let program = if sendmail { keys.text("sendmail")? } else { "/usr/sbin/sendmail" };
            Ok(MailCarrier::Sendmail(program.into()))
        }
    }
}

fn server(keys: &Keys<'_>) -> Result<MailServer> {
    let address = keys.text("smtp")?.to_owned();
    let has = |name: &str| keys.table.contains_key(name);
    let privacy = match has("tls").then(|| keys.text("tls")).transpose()? {
        None => MailPrivacy::usual(&address),
        Some("none") => MailPrivacy::Open,
        Some("starttls") => MailPrivacy::StartTls,
        Some("tls") => MailPrivacy::Tls,
        Some(other) => bail!("`{}.tls` is `{other}`; it must be none, starttls or tls", keys.key),
    };
    let login = match (has("user"), has("password")) {
        (false, false) => None,
        _ => Some(MailLogin { user: keys.text("user")?.to_owned(), password: keys.setting("password")? }),
    };
    if login.is_some() && privacy == MailPrivacy::Open {
        bail!("`{0}.password` would be sent unencrypted; set `{0}.tls` to starttls or tls", keys.key);
    }
    let trust = has("trust").then(|| keys.text("trust")).transpose()?.map(|file| keys.folder.join(file));
    Ok(MailServer { address, privacy, login, trust })
}

/// A table, and its name in messages.
struct Keys<'a> {
    table: &'a dyn TableLike,
    key: String,
    /// The folder of the file.
    folder: &'a Path,
}

impl<'a> Keys<'a> {
    fn item(&self, name: &str) -> Result<&'a Item> {
        self.table.get(name).ok_or_else(|| anyhow!("`{}.{name}` is missing", self.key))
    }

    fn text(&self, name: &str) -> Result<&'a str> {
        let text = self.item(name)?.as_str().filter(|text| !text.is_empty());
        text.ok_or_else(|| anyhow!("`{}.{name}` is not a text", self.key))
    }

    /// An optional text.
    fn maybe(&self, name: &str) -> Result<Option<String>> {
        if self.table.contains_key(name) { self.text(name).map(|text| Some(text.to_owned())) } else { Ok(None) }
    }

    /// An optional yes or no.
    fn maybe_bool(&self, name: &str) -> Result<Option<bool>> {
        let Some(item) = self.table.get(name) else { return Ok(None) };
        item.as_bool().map(Some).ok_or_else(|| anyhow!("`{}.{name}` is not true or false", self.key))
    }

    /// Optional texts.
    fn maybe_texts(&self, name: &str) -> Result<Vec<String>> {
        if self.table.contains_key(name) { self.texts(name) } else { Ok(Vec::new()) }
    }

    /// One text or several; at least one.
    fn texts(&self, name: &str) -> Result<Vec<String>> {
        let item = self.item(name)?;
        let one = item.as_str().map(|text| vec![text.to_owned()]);
        let several = || item.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect();
        let texts: Option<Vec<String>> = one.or_else(several).filter(|texts: &Vec<String>| !texts.is_empty());
        texts.ok_or_else(|| anyhow!("`{}.{name}` is not a list of texts", self.key))
    }

    /// A text, or `{ env = "NAME" }`.
    fn setting(&self, name: &str) -> Result<SecretSetting> {
        let item = self.item(name)?;
        let variable = || item.as_table_like()?.get("env")?.as_str().map(str::to_owned);
        let written = item.as_str().map(|text| SecretSetting::Written(text.to_owned()));
        let setting = written.or_else(|| variable().map(SecretSetting::Env));
        setting.ok_or_else(|| anyhow!("`{}.{name}` is neither a text nor {{ env = \"NAME\" }}", self.key))
    }

    fn only(&self, known: &[&str]) -> Result<()> {
        match self.table.iter().find(|(name, _)| !known.contains(name)) {
            Some((name, _)) => bail!("`{}.{name}` is unknown; known are: {}", self.key, known.join(", ")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings> {
        let mut settings = Settings::default();
        settings.add(&super::read(text)?, Origin { folder: Path::new("/project"), may_all: &|| true })?;
        Ok(settings)
    }

    fn complaint(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    #[test]
    fn every_kind_of_channel_is_read() {
        let settings = read(
            "[channels.hook]\nkind = 'webhook'\nurl = { env = 'HOOK' }\n[channels.team]\nkind = 'slack'\nurl = 'https://x'\n\
             [channels.mail]\nkind = 'email'\nto = 'a@b'\nfrom = 'c@d'\n\
             [channels.post]\nkind = 'email'\nto = ['a@b', 'e@f']\nfrom = 'c@d'\nsmtp = 'localhost:25'\n\
             [channels.pager]\nkind = 'command'\ncommand = ['page', '--now']\n",
        );
        let channels = settings.unwrap().channels;
        assert_eq!(channels["hook"], Channel::Webhook { url: SecretSetting::Env("HOOK".to_owned()) });
        assert_eq!(channels["team"], Channel::Slack { url: SecretSetting::Written("https://x".to_owned()) });
        let Channel::Email { by, .. } = &channels["mail"] else { panic!("{channels:?}") };
        assert_eq!(*by, MailCarrier::Sendmail("/usr/sbin/sendmail".into()));
        let Channel::Email { to, by, .. } = &channels["post"] else { panic!("{channels:?}") };
        let open =
            MailServer { address: "localhost:25".to_owned(), privacy: MailPrivacy::Open, login: None, trust: None };
        assert_eq!((to.len(), by), (2, &MailCarrier::Smtp(open)));
        assert_eq!(channels["pager"], Channel::Command { command: vec!["page".to_owned(), "--now".to_owned()] });
    }

    fn mail(more: &str) -> Result<MailServer> {
        let text = format!("[channels.m]\nkind = 'email'\nto = 'a@b'\nfrom = 'c@d'\n{more}");
        match read(&text)?.channels.swap_remove("m") {
            Some(Channel::Email { by: MailCarrier::Smtp(server), .. }) => Ok(server),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_mail_server_is_private_as_its_port_or_its_setting_says() {
        assert_eq!(mail("smtp = 'x:465'").unwrap().privacy, MailPrivacy::Tls);
        assert_eq!(mail("smtp = 'x:587'").unwrap().privacy, MailPrivacy::StartTls);
        assert_eq!(mail("smtp = 'x:25'").unwrap().privacy, MailPrivacy::Open);
        assert_eq!(mail("smtp = 'x:25'\ntls = 'starttls'").unwrap().privacy, MailPrivacy::StartTls);
        let server = mail("smtp = 'x:465'\nuser = 'u'\npassword = { env = 'P' }\ntrust = 'ca.pem'").unwrap();
        assert_eq!(
            server.login,
            Some(MailLogin { user: "u".to_owned(), password: SecretSetting::Env("P".to_owned()) })
        );
        assert_eq!(server.trust, Some("/project/ca.pem".into()));
    }

    #[test]
    fn a_login_that_others_could_read_is_refused() {
        let told = |more: &str| mail(more).unwrap_err().to_string();
        assert!(told("smtp = 'x:25'\nuser = 'u'\npassword = 'p'").contains("would be sent unencrypted"));
        assert!(told("smtp = 'x:465'\ntls = 'none'\nuser = 'u'\npassword = 'p'").contains("would be sent unencrypted"));
        assert_eq!(told("smtp = 'x:465'\nuser = 'u'"), "`channels.m.password` is missing");
        assert!(told("smtp = 'x:465'\ntls = 'yes'").starts_with("`channels.m.tls` is `yes`"));
        assert!(told("user = 'u'").contains("which is not given"));
    }

    #[test]
    fn agents_are_read() {
        let text = "agent = 'local'\n[agents.local]\nbackend = 'openai'\nbase_url = 'http://127.0.0.1:1/v1'\nauth = 'key'\n\
                    sandbox = 'read-only'\nenv = { A = 'b' }\n[models.fast]\nclaude = 'haiku'";
        let backends = read(text).unwrap().backends;
        let local = &backends.profiles["local"];
        assert_eq!(local.backend.as_deref(), Some("openai"));
        assert_eq!(local.setup.base_url.as_deref(), Some("http://127.0.0.1:1/v1"));
        assert_eq!((backends.default.as_deref(), &*backends.models["fast"]["claude"]), (Some("local"), "haiku"));
        assert!(complaint("[agents.x]\nprogam = 'y'").starts_with("`agents.x.progam` is unknown"));
        assert!(complaint("[agents.x]\nauth = 'y'").starts_with("`agents.x.auth` is `y`"));
        assert!(complaint("[agents.x]\nsandbox = 'y'").starts_with("`agents.x.sandbox` must be"));
    }

    #[test]
    fn a_checkout_can_not_say_what_is_started() {
        let add = |text: &str| {
            Settings::default().add(&super::read(text).unwrap(), Origin { folder: Path::new("/x"), may_all: &|| false })
        };
        let said = add("[agents.claude]\nprogram = './evil'").unwrap_err().to_string();
        assert!(said.starts_with("`agents.claude.program` says how agents are started"), "{said}");
        let said = add("[roles]\nops = ['me']").unwrap_err().to_string();
        assert!(said.starts_with("`roles` says who may approve work"), "{said}");
        for text in [
            "[approvals]\nwho = 'anyone'",
            "sandboxed = true",
            "[agents.x]\nbase_url = 'http://evil'",
            "[agents.x]\nenv = { PATH = 'x' }",
        ] {
            assert!(add(text).is_err(), "{text}");
        }
        assert!(add("agent = 'codex'\n[agents.x]\nbackend = 'claude'\nmodel = 'opus'").is_ok());
    }

    #[test]
    fn limits_of_backends_are_read() {
        let settings = read("[limits]\nbackends = { claude = 2, codex = 1 }").unwrap();
        assert_eq!(settings.backends_max, IndexMap::from([("claude".to_owned(), 2), ("codex".to_owned(), 1)]));
        assert!(
            complaint("[limits]\nbackends = { claude = 0 }").starts_with("`limits.backends.claude` is not a number")
        );
        assert_eq!(complaint("limits = 3"), "`limits` is not a table");
        assert_eq!(complaint("[limits]\nbackends = 3"), "`limits.backends` is not a table");
    }

    #[test]
    fn mistakes_are_named_by_their_key() {
        assert!(complaint("[channels.x]\nkind = 'pigeon'").starts_with("`channels.x.kind` is `pigeon`"));
        assert_eq!(complaint("[channels.x]\nkind = 'slack'"), "`channels.x.url` is missing");
        assert!(complaint("[channels.x]\nkind = 'slack'\nurl = 3").starts_with("`channels.x.url` is neither"));
        assert!(complaint("[channels.x]\nkind = 'slack'\nuri = 'y'").starts_with("`channels.x.uri` is unknown"));
        assert_eq!(complaint("[channels]\nx = 1"), "`channels.x` is not a table");
        assert!(complaint("[channels.x]\nkind = 'command'\ncommand = []").contains("`channels.x.command`"));
        let told = complaint("sandboxed = true\nchannels = [");
        assert!(told.starts_with("it is not TOML: line 2, column ") && told.lines().count() == 1, "{told}");
    }

    #[test]
    fn what_is_read_first_goes_before_what_is_read_later() {
        let mut settings = read("[channels.x]\nkind = 'slack'\nurl = 'project'").unwrap();
        let user = "[channels.x]\nkind = 'slack'\nurl = 'user'\n[channels.y]\nkind = 'slack'\nurl = 'user'";
        settings.add(&super::read(user).unwrap(), Origin { folder: Path::new("/user"), may_all: &|| true }).unwrap();
        assert_eq!(settings.channels["x"], Channel::Slack { url: SecretSetting::Written("project".to_owned()) });
        assert!(settings.channels.contains_key("y"));
    }
}
