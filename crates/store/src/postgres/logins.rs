//! Logins: roles with which workers on other machines claim and report, and nothing else.
//!
//! **Invariant:** Longhaul generates the password here and returns it in the address. It does not store it. It sends
//! PostgreSQL only a verifier.

use postgres_protocol::password::scram_sha_256;
use uuid::Uuid;

use super::Postgres;
use super::address::Address;
use crate::Error;

/// The longest name of a role that PostgreSQL does not cut.
const ROLE_BYTES_MAX: usize = 63;

/// The attributes of a login's role: it may connect, and nothing else.
const RIGHTS: &str = "LOGIN NOINHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION";

/// A login to be made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewLogin {
    /// The name that people use.
    pub name: String,
    /// The labels of the tasks that the login may claim. `None` allows all tasks.
    pub labels: Option<Vec<String>>,
    /// The time of creation.
    pub at_ms: i64,
}

/// A login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseLogin {
    /// The name that people use.
    pub name: String,
    /// The role in the database.
    pub role: String,
    /// The labels of the tasks that the login may claim. `None` allows all tasks.
    pub labels: Option<Vec<String>>,
    /// The time of creation.
    pub since_ms: i64,
    /// The number of tasks that its workers hold.
    pub busy: u64,
}

/// The result of creating a login.
pub struct Admitted {
    /// The address with the password, for the machine that gets the login.
    pub address: String,
    /// The role.
    pub role: String,
    /// The statements that an administrator must run, if this user may not create roles. Then nothing was done.
    pub left_to_do: Option<String>,
}

/// The result of removing a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expelled {
    /// The role, which has no rights any more.
    pub role: String,
    /// The statements that an administrator must run, if this user may not remove roles.
    pub left_to_do: Option<String>,
}

impl Postgres {
    /// Creates a login with a random password.
    pub async fn admit(&self, address: &Address, login: &NewLogin) -> Result<Admitted, Error> {
        let schema = &address.schema;
        let role = role_of(schema, &login.name)?;
        if self.logins().await?.iter().any(|known| known.name == login.name) {
            return Err(Error::Exists);
        }
        let password = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let verifier = scram_sha_256(password.as_bytes());
        let create = format!("CREATE ROLE \"{role}\" {RIGHTS} PASSWORD '{verifier}'");
        let labels = login.labels.as_ref().map_or("NULL".to_owned(), |labels| {
            let list = serde_json::Value::from(labels.clone()).to_string();
            format!("'{}'", list.replace('\'', "''"))
        });
        let admit = format!("SELECT {schema}.admit_1('{}', '{role}', {labels}, {at})", login.name, at = login.at_ms);
        let at = self.desk.read("SELECT current_database()::text", &[]).await?;
        let database: String = at.first().map(|row| row.get(0)).unwrap_or_default();
        let made = Admitted { address: address.of_login(&role, &password, &database), role, left_to_do: None };
        let comment = comment(&made.role, login.labels.as_deref());
        match self.desk.together(&[&create, &comment, &admit]).await {
            Ok(()) => Ok(made),
            Err(Error::Denied(_)) => {
                let left_to_do = Some(as_one(&format!("{};\n{comment}", made_anyhow(&made.role, &verifier)), &admit));
                Ok(Admitted { left_to_do, ..made })
            }
            Err(error) => Err(error),
        }
    }

    /// The logins, by name.
    pub async fn logins(&self) -> Result<Vec<DatabaseLogin>, Error> {
        let sql = "SELECT name, role::text, labels::text, since_ms,
                   (SELECT count(*) FROM task WHERE login_of_1(worker) = name) FROM login ORDER BY name";
        self.desk.read(sql, &[]).await?.iter().map(login).collect()
    }

    /// Revokes all rights of a login at once, ends its sessions, and removes its role.
    pub async fn expel(&self, name: &str) -> Result<Option<Expelled>, Error> {
        let answer = self.desk.write("SELECT expel_1($1)::text", &[&name], 0).await?;
        let Some(role) = answer.rows.first().and_then(|row| row.get::<_, Option<String>>(0)) else { return Ok(None) };
        let (end, drop) = farewell(&role);
        // A user that creates a role may become a member of it, and only members may end its sessions.
        let join = format!("GRANT \"{role}\" TO CURRENT_USER");
        let ended = match self.desk.together(&[&end]).await {
            Err(Error::Denied(_)) => self.desk.together(&[&join, &end]).await,
            ended => ended,
        };
        // Remaining sessions have no rights, and do not block the removal of the role.
        let left_to_do = match ended.and(self.desk.together(&[&drop]).await) {
            Ok(()) => None,
            Err(Error::Denied(_)) => Some(as_one(&end, &drop)),
            Err(error) => return Err(error),
        };
        Ok(Some(Expelled { role, left_to_do }))
    }

    /// The role that is left if a user who may not remove roles removed the login. This changes nothing: a role that
    /// is not a login may belong to another program.
    pub async fn left_behind(&self, address: &Address, name: &str) -> Result<Option<Expelled>, Error> {
        let role = role_of(&address.schema, name)?;
        let there = self.desk.read("SELECT FROM pg_roles WHERE rolname = $1::text", &[&role]).await?;
        let (end, drop) = farewell(&role);
        Ok((!there.is_empty()).then(|| Expelled { left_to_do: Some(as_one(&end, &drop)), role }))
    }
}

/// The statements that end the sessions of a role, and remove it.
fn farewell(role: &str) -> (String, String) {
    let end = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{role}'");
    (end, format!("DROP ROLE IF EXISTS \"{role}\""))
}

/// Creates the role with this password, or replaces the password of an existing role.
fn made_anyhow(role: &str, verifier: &str) -> String {
    let make = format!("DO $$ BEGIN CREATE ROLE \"{role}\"; EXCEPTION WHEN duplicate_object THEN NULL; END $$");
    format!("{make};\nALTER ROLE \"{role}\" {RIGHTS} PASSWORD '{verifier}'")
}

/// The text before the labels in the comment on a role.
const TAKES: &str = "a login of longhaul, which takes steps that ask for ";

/// Sets the comment on a role, for administrators, and for the login itself: it cannot read the table with its
/// labels.
fn comment(role: &str, labels: Option<&[String]>) -> String {
    let labels = labels.map_or_else(|| "anything".to_owned(), |labels| serde_json::Value::from(labels).to_string());
    format!("COMMENT ON ROLE \"{role}\" IS '{TAKES}{}'", labels.replace('\'', "''"))
}

/// The labels in a comment on a role.
pub(super) fn labels_in(comment: &str) -> Option<Vec<String>> {
    serde_json::from_str(comment.strip_prefix(TAKES)?).ok()
}

/// The statements as one transaction, to paste.
fn as_one(first: &str, then: &str) -> String {
    format!("BEGIN;\n{first};\n{then};\nCOMMIT;")
}

fn login(row: &tokio_postgres::Row) -> Result<DatabaseLogin, Error> {
    let labels: Option<&str> = row.get(2);
    let labels = labels.map(serde_json::from_str).transpose();
    Ok(DatabaseLogin {
        name: row.get(0),
        role: row.get(1),
        labels: labels.map_err(|error| Error::Corrupt(format!("labels of a login: {error}")))?,
        since_ms: row.get(3),
        busy: row.get::<_, i64>(4).cast_unsigned(),
    })
}

/// Roles belong to all databases of a server, so the name contains the schema.
fn role_of(schema: &str, name: &str) -> Result<String, Error> {
    let good = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    let starts = name.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
    if !starts || !name.bytes().all(good) || schema.len() + 1 + name.len() > ROLE_BYTES_MAX {
        return Err(Error::Invalid(
            "the name of a login has a few lower-case letters, digits and -, and starts with a letter",
        ));
    }
    Ok(format!("{schema}_{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_such_that_nothing_need_be_quoted() {
        assert_eq!(role_of("longhaul", "gpu-box"), Ok("longhaul_gpu-box".to_owned()));
        for name in ["", "A", "1a", "-a", "a b", "a'b", "a\"b", "a:b", "ä", &"a".repeat(60)] {
            assert!(role_of("longhaul", name).is_err(), "{name}");
        }
    }
}
