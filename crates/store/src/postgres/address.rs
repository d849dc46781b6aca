//! Where a database is, and how it is spoken to.
//!
//! **Invariant:** a password is never part of what is shown.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

use crate::Error;

/// Where the tables are, unless the address says otherwise.
const SCHEMA: &str = "longhaul";

/// `postgres://user:password@host:port/database?sslmode=…&sslrootcert=…&schema=…`.
#[derive(Clone)]
pub struct Address {
    url: String,
    pub(super) config: Config,
    pub(super) verify: Verify,
    pub(super) schema: String,
}

/// What is asked of the certificate of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verify {
    /// Nothing: the connection is encrypted, but nobody knows who is at the other end.
    Nothing,
    /// That it is valid for the host, by what the machine trusts.
    Machine,
    /// The same, by the certificates in this file alone.
    File(PathBuf),
}

impl Address {
    /// Whether a text is meant as one.
    pub fn is_meant(text: &str) -> bool {
        text.starts_with("postgres://") || text.starts_with("postgresql://")
    }

    /// Where the tables are.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// The same place for another user.
    pub(super) fn of_login(&self, role: &str, password: &str, database: &str) -> String {
        let (place, options) = self.url.split_once('?').unwrap_or((&self.url, ""));
        let (scheme, rest) = place.split_once("://").unwrap_or(("postgres", place));
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        // Without a name the database is called like the user.
        let path = if path.len() > 1 { path.to_owned() } else { format!("/{database}") };
        let is_kept = |option: &&str| !["user=", "password=", "dbname="].iter().any(|own| option.starts_with(own));
        let options: Vec<&str> = options.split('&').filter(|option| !option.is_empty()).filter(is_kept).collect();
        let mark = if options.is_empty() { "" } else { "?" };
        format!("{scheme}://{role}:{password}@{host}{path}{mark}{}", options.join("&"))
    }

    /// What is set by the caller alone: what the server does not know is taken out before.
    fn parse(text: &str) -> Result<Self, String> {
        let (place, options) = text.split_once('?').unwrap_or((text, ""));
        let (mut schema, mut mode, mut file, mut rest) = (SCHEMA.to_owned(), None, None, Vec::new());
        for option in options.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("schema", name)) => schema = name.to_owned(),
                Some(("sslmode", name)) => mode = Some(name.to_owned()),
                Some(("sslrootcert", path)) => file = Some(PathBuf::from(path)),
                _ if is_known(option) => rest.push(option),
                // Its value is not told: it may be a password that has a & in it.
                _ => return Err(unknown(option)),
            }
        }
        let authority = place.split_once("://").map_or(place, |(_, rest)| rest).split('/').next().unwrap_or_default();
        if authority.matches('@').count() > 1 {
            return Err("it has more than one @; one that is part of a password is written %40".to_owned());
        }
        let (ssl, verify) = tls(mode.as_deref(), file)?;
        // The message of the parser may hold a part of the text, and so of the password.
        let mut config = Config::from_str(&format!("{place}?{}", rest.join("&")))
            .map_err(|_| "it is not like postgres://user:password@host:5432/database".to_owned())?;
        config.ssl_mode(ssl);
        if !is_name(&schema) {
            return Err(format!("`schema={schema}` is not a name of small letters, digits and _"));
        }
        Ok(Self { url: text.to_owned(), config, verify, schema })
    }
}

fn tls(mode: Option<&str>, file: Option<PathBuf>) -> Result<(SslMode, Verify), String> {
    let known = file.map_or(Verify::Machine, Verify::File);
    Ok(match mode {
        None | Some("prefer") => (SslMode::Prefer, Verify::Nothing),
        Some("disable") => (SslMode::Disable, Verify::Nothing),
        // Who names a file wants it to be used.
        Some("require") if matches!(known, Verify::File(_)) => (SslMode::Require, known),
        Some("require") => (SslMode::Require, Verify::Nothing),
        Some("verify-full") => (SslMode::Require, known),
        Some(other) => {
            return Err(format!("`sslmode={other}` is not one of disable, prefer, require, verify-full"));
        }
    })
}

/// Options that are ours, and those of others that are passed on.
const OWN: [&str; 3] = ["schema", "sslmode", "sslrootcert"];
const OTHERS: [&str; 18] = [
    "user",
    "password",
    "dbname",
    "options",
    "application_name",
    "sslnegotiation",
    "host",
    "hostaddr",
    "port",
    "connect_timeout",
    "tcp_user_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "target_session_attrs",
    "channel_binding",
    "load_balance_hosts",
];

fn is_known(option: &str) -> bool {
    option.split_once('=').is_some_and(|(name, _)| OTHERS.contains(&name))
}

fn unknown(option: &str) -> String {
    let name: String = option.split('=').next().unwrap_or_default().chars().filter(|c| !c.is_control()).collect();
    format!(
        "the option `{name}` is not known; there are {}, and those of PostgreSQL such as connect_timeout",
        OWN.join(", ")
    )
}

fn is_name(text: &str) -> bool {
    let good = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
    (1..=48).contains(&text.len()) && text.bytes().all(good) && !text.as_bytes()[0].is_ascii_digit()
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text).map_err(|why| Error::Unreachable(format!("the address cannot be used: {why}")))
    }
}

/// Without the password, and with a schema that is not the usual one.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((scheme, rest)) = self.url.split_once("://") else { return f.write_str("postgres://…") };
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let shown = match authority.rsplit_once('@') {
            Some((user, host)) => format!("{}@{host}", user.split(':').next().unwrap_or_default()),
            None => authority.to_owned(),
        };
        // A password may stand among the options, too.
        let path = path.split('?').next().unwrap_or_default();
        write!(f, "{scheme}://{shown}{path}")?;
        if self.schema == SCHEMA { Ok(()) } else { write!(f, "?schema={}", self.schema) }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_has_no_password() {
        for (text, shown) in [
            ("postgres://me:p%40ss@db:5432/work?sslmode=require", "postgres://me@db:5432/work"),
            ("postgresql://me:a:b@db/work?password=x", "postgresql://me@db/work"),
            ("postgres:///work?host=/run", "postgres:///work"),
            ("postgres://me:s@[::1]:5/w", "postgres://me@[::1]:5/w"),
            ("postgres://me:s@db/w?sslmode=disable&schema=team", "postgres://me@db/w?schema=team"),
        ] {
            let address: Address = text.parse().unwrap();
            assert_eq!(address.to_string(), shown);
            assert_eq!(format!("{address:?}"), format!("Address({shown})"));
        }
    }

    #[test]
    fn a_login_has_the_same_place() {
        for (text, other) in [
            ("postgres://me:p%40ss@db:5432/work?sslmode=require", "postgres://gpu:x@db:5432/work?sslmode=require"),
            ("postgres://db", "postgres://gpu:x@db/runs"),
            ("postgres:///work?host=/run&user=me&password=y&schema=s", "postgres://gpu:x@/work?host=/run&schema=s"),
            ("postgres://me@a,b:2/", "postgres://gpu:x@a,b:2/runs"),
        ] {
            let address: Address = text.parse().unwrap();
            let made = address.of_login("gpu", "x", "runs");
            assert_eq!(made, other);
            assert!(made.parse::<Address>().is_ok(), "{made}");
        }
    }

    #[test]
    fn mistakes_are_told_without_the_password() {
        for (text, why) in [
            ("postgres://me:secret@db/w?sslmode=maybe", "`sslmode=maybe`"),
            ("postgres://me:secret@db/w?schema=A;B", "`schema=A;B`"),
            ("postgres://me:secret@db:port/w", "is not like"),
            (
                "postgres://me:secret@secret@db/w",
                "it has more than one @; one that is part of a password is written %40",
            ),
            ("postgres://me:secret@db/w?shema=x", "the option `shema` is not known; there are schema, sslmode"),
        ] {
            let said = text.parse::<Address>().unwrap_err().to_string();
            assert!(said.contains(why) && !said.contains("secret"), "{said}");
        }
    }

    #[test]
    fn modes_say_what_is_verified() {
        let of = |options: &str| {
            let address: Address = format!("postgres://db/w?{options}").parse().unwrap();
            (address.config.get_ssl_mode(), address.verify)
        };
        assert_eq!(of(""), (SslMode::Prefer, Verify::Nothing));
        assert_eq!(of("sslmode=disable"), (SslMode::Disable, Verify::Nothing));
        assert_eq!(of("sslmode=require"), (SslMode::Require, Verify::Nothing));
        let file = Verify::File(PathBuf::from("/ca.pem"));
        assert_eq!(of("sslmode=require&sslrootcert=/ca.pem"), (SslMode::Require, file.clone()));
        assert_eq!(of("sslmode=verify-full&sslrootcert=/ca.pem"), (SslMode::Require, file));
        assert_eq!(of("sslmode=verify-full"), (SslMode::Require, Verify::Machine));
    }
}
