//! Who starts runs and who speaks to them.
//!
//! **Invariant:** an origin that an earlier version wrote as a plain name reads as that user at the command line.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The run of a process that an engine started although nobody can tell for which run.
pub const SOME_RUN: &str = "*";

/// Where somebody comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Face {
    /// The command line.
    #[default]
    Cli,
    /// A client of the Model Context Protocol.
    Mcp,
    /// The dashboard.
    Dashboard,
    /// A program that calls over the network.
    Api,
    /// A schedule, a webhook, a changed file.
    Trigger,
}

/// Who started a run, or speaks to one.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Written")]
#[schemars(!from)]
pub struct Origin {
    /// Where they come from.
    pub face: Face,
    /// The user of the machine, or of the dashboard.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The program that speaks for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The session of that program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The runs whose steps started the process that speaks, and those that started them; [`SOME_RUN`] if that is not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<String>,
}

impl Origin {
    /// A user at the command line.
    pub fn cli(user: impl Into<String>) -> Self {
        Self { user: Some(user.into()), ..Self::default() }
    }

    /// What people call them.
    pub fn name(&self) -> Option<&str> {
        self.client.as_deref().or(self.user.as_deref())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.face {
            Face::Cli => "the command line",
            Face::Mcp => "an MCP client",
            Face::Dashboard => "the dashboard",
            Face::Api => "the API",
            Face::Trigger => "a trigger",
        };
        match (self.face, self.name()) {
            (Face::Mcp, Some(client)) => f.write_str(client)?,
            (_, Some(name)) => write!(f, "{name} at {place}")?,
            (_, None) => f.write_str(place)?,
        }
        match &self.session {
            Some(session) => write!(f, " (session {session})"),
            None => Ok(()),
        }
    }
}

/// How an origin was written: as it is now, or as a name alone.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Name(String),
    Whole {
        #[serde(default)]
        face: Face,
        user: Option<String>,
        client: Option<String>,
        session: Option<String>,
        #[serde(default)]
        inside: Vec<String>,
    },
}

impl From<Written> for Origin {
    fn from(written: Written) -> Self {
        match written {
            Written::Name(user) => Self::cli(user),
            Written::Whole { face, user, client, session, inside } => Self { face, user, client, session, inside },
        }
    }
}

/// How it is known who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Auth {
    /// By the user that the system runs their process as.
    #[default]
    OsUser,
    /// By the session of an MCP client.
    McpSession,
    /// By a token of the server that names a person.
    Token,
    /// By a token of the server that names nobody: the holder acts as the user who runs the server, without that user's roles.
    SharedToken,
    /// By the secret of the question that they answer. Earlier versions wrote `token`, beside the hash of the secret.
    Secret,
    /// By a consent that was given before.
    Grant,
}

/// Somebody who speaks to a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Caller {
    /// Who.
    pub who: Origin,
    /// How that is known.
    #[serde(default)]
    pub auth: Auth,
    /// What the settings say they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// Whether they want to answer in place of the person who is asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overrides: bool,
}

impl Caller {
    /// Somebody whom the system knows as its user.
    pub fn os_user(who: Origin) -> Self {
        Self { who, ..Self::default() }
    }

    /// The one person who speaks, where that is known. Several people may hold a token that names nobody, and a consent that was
    /// given before is no person.
    pub fn person(&self) -> Option<&str> {
        let is_known = !matches!(self.auth, Auth::SharedToken | Auth::Grant);
        self.who.user.as_deref().filter(|_| is_known)
    }

    /// What journals call them: the person behind a token, else the program that speaks or the user.
    pub fn by(&self) -> Option<&str> {
        self.person().filter(|_| self.auth == Auth::Token).or_else(|| self.who.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Origin {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_name_of_old_is_a_user_at_the_command_line() {
        assert_eq!(read(r#""jane""#), Origin::cli("jane"));
        assert_eq!(read(r#"{"face":"mcp"}"#), Origin { face: Face::Mcp, ..Origin::default() });
    }

    #[test]
    fn what_is_written_reads_back() {
        let origin =
            Origin { face: Face::Mcp, client: Some("c".to_owned()), session: Some("s".to_owned()), ..read("{}") };
        let text = serde_json::to_string(&origin).unwrap();
        assert_eq!(text, r#"{"face":"mcp","client":"c","session":"s"}"#);
        assert_eq!(read(&text), origin);
    }

    #[test]
    fn a_person_is_known_unless_several_may_hold_what_was_shown() {
        let caller = |auth: &str| -> Caller {
            let who = serde_json::json!({"face": "mcp", "user": "kim", "client": "Claude Code"});
            serde_json::from_value(serde_json::json!({"who": who, "auth": auth})).unwrap()
        };
        for auth in ["os_user", "mcp_session", "token", "secret"] {
            assert_eq!(caller(auth).person(), Some("kim"), "{auth}");
        }
        for auth in ["shared_token", "grant"] {
            assert_eq!(caller(auth).person(), None, "{auth}");
        }
        assert_eq!((caller("token").by(), caller("mcp_session").by()), (Some("kim"), Some("Claude Code")));
    }

    #[test]
    fn origins_in_words() {
        let said = |text: &str| read(text).to_string();
        assert_eq!(said(r#""jane""#), "jane at the command line");
        assert_eq!(
            said(r#"{"face":"mcp","user":"jane","client":"Claude Code","session":"s-1"}"#),
            "Claude Code (session s-1)"
        );
        assert_eq!(said(r#"{"face":"trigger"}"#), "a trigger");
        assert_eq!(said(r#"{"face":"mcp"}"#), "an MCP client");
    }
}
