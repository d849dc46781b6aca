//! The configured channels of a project: ways to send notifications.

use std::path::PathBuf;

/// A channel that is not built in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Channel {
    /// Posts a notification as JSON: `run`, `step`, `title`, `text`.
    Webhook {
        /// The URL to post to.
        url: SecretSetting,
    },
    /// Posts a notification to a Slack incoming webhook.
    Slack {
        /// The URL of the webhook.
        url: SecretSetting,
    },
    /// Sends a notification by email.
    Email {
        /// The recipients, if a step names none.
        to: Vec<String>,
        /// The sender.
        from: String,
        /// How the mail is sent.
        by: MailCarrier,
    },
    /// Starts a program with the text on its standard input and the title in `LONGHAUL_TITLE`.
    Command {
        /// The program and its arguments.
        command: Vec<String>,
    },
}

impl Channel {
    /// The secret of the channel: an address that acts as a key, or a password.
    pub fn secret(&self) -> Option<String> {
        let setting = match self {
            Self::Webhook { url } | Self::Slack { url } => url,
            Self::Email { by: MailCarrier::Smtp(server), .. } => &server.login.as_ref()?.password,
            Self::Email { .. } | Self::Command { .. } => return None,
        };
        setting.value().ok()
    }
}

/// How mail is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MailCarrier {
    /// A program with the interface of sendmail.
    Sendmail(PathBuf),
    /// An SMTP server.
    Smtp(MailServer),
}

/// A mail server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailServer {
    /// As `host:port`.
    pub address: String,
    /// How the connection is encrypted.
    pub privacy: MailPrivacy,
    /// The login, if the server needs one.
    pub login: Option<MailLogin>,
    /// A file with certificates to trust besides the system's.
    pub trust: Option<PathBuf>,
}

/// How the connection to a mail server is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MailPrivacy {
    /// Not encrypted.
    Open,
    /// STARTTLS. Without TLS nothing is sent.
    StartTls,
    /// TLS from the first byte.
    Tls,
}

impl MailPrivacy {
    /// The usual encryption for the port of an address.
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
pub struct MailLogin {
    /// The name.
    pub user: String,
    /// The password.
    pub password: SecretSetting,
}

/// A value of the configuration that may be a secret.
#[derive(Clone, PartialEq, Eq)]
pub enum SecretSetting {
    /// As written.
    Written(String),
    /// The value of an environment variable, read at use.
    Env(String),
}

impl SecretSetting {
    /// The value.
    pub fn value(&self) -> Result<String, String> {
        match self {
            Self::Written(text) => Ok(text.clone()),
            Self::Env(name) => std::env::var(name).map_err(|_| format!("the variable `{name}` is not set")),
        }
    }
}

/// Hides the value. It may be a secret: the address of a webhook is its key.
impl std::fmt::Debug for SecretSetting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Written(_) => f.write_str("Written(•••)"),
            Self::Env(name) => f.debug_tuple("Env").field(name).finish(),
        }
    }
}
