//! Channels that a project has configured: ways to tell somebody something.

use std::path::PathBuf;

/// A channel that is not built in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Channel {
    /// A notice is posted as JSON: `run`, `step`, `title`, `text`.
    Webhook {
        /// Where to.
        url: Setting,
    },
    /// A notice is posted as Slack's incoming webhooks take it.
    Slack {
        /// Where to.
        url: Setting,
    },
    /// A notice is a letter.
    Email {
        /// Who gets it, where a step names nobody.
        to: Vec<String>,
        /// Who sends it.
        from: String,
        /// Who carries it.
        by: Carrier,
    },
    /// A program is told: the text on its standard input, the headline in `LONGHAUL_TITLE`.
    Command {
        /// The program and its arguments.
        command: Vec<String>,
    },
}

impl Channel {
    /// What nobody shall read: an address that is a key, a password.
    pub(crate) fn secret(&self) -> Option<String> {
        let setting = match self {
            Self::Webhook { url } | Self::Slack { url } => url,
            Self::Email { by: Carrier::Smtp(server), .. } => &server.login.as_ref()?.password,
            Self::Email { .. } | Self::Command { .. } => return None,
        };
        setting.value().ok()
    }
}

/// Who carries a letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Carrier {
    /// A program that is called as sendmail is.
    Sendmail(PathBuf),
    /// A server.
    Smtp(Server),
}

/// A mail server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// As `host:port`.
    pub address: String,
    /// Whether others can read along.
    pub privacy: Privacy,
    /// Who sends, where the server asks.
    pub login: Option<Login>,
    /// A file with certificates that are trusted beside the system's.
    pub trust: Option<PathBuf>,
}

/// How a talk with a server is kept private.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privacy {
    /// Not at all.
    Open,
    /// It begins in the open, and continues under TLS or not at all.
    StartTls,
    /// TLS from the first byte.
    Tls,
}

impl Privacy {
    /// What the port of an address is for, where nothing else is said.
    pub fn usual(address: &str) -> Self {
        match address.rsplit_once(':').map(|(_, port)| port) {
            Some("465") => Self::Tls,
            Some("587") => Self::StartTls,
            _ => Self::Open,
        }
    }
}

/// A name and a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// The name.
    pub user: String,
    /// The password.
    pub password: Setting,
}

/// A value of the configuration that may be a secret.
#[derive(Clone, PartialEq, Eq)]
pub enum Setting {
    /// As written.
    Written(String),
    /// What a variable of the environment holds when it is needed.
    Env(String),
}

impl Setting {
    /// The value.
    pub(crate) fn value(&self) -> Result<String, String> {
        match self {
            Self::Written(text) => Ok(text.clone()),
            Self::Env(name) => std::env::var(name).map_err(|_| format!("the variable `{name}` is not set")),
        }
    }
}

/// What was written may be a secret all the same: the address of a webhook is its key.
impl std::fmt::Debug for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Written(_) => f.write_str("Written(•••)"),
            Self::Env(name) => f.debug_tuple("Env").field(name).finish(),
        }
    }
}
