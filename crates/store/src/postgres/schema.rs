//! The tables, and which programs may use them.
//!
//! **Invariant:** versions only add. A program works with tables that are newer than it knows if whoever made them says
//! that it does; else it is refused before it has written anything.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use tokio_postgres::{Client, GenericClient};
use tokio_util::task::AbortOnDropHandle;

use super::address::Address;
use super::fault::Fault;
use super::{Options, session};
use crate::Error;

/// Each version, with the oldest program that can use the tables once it is applied.
const MIGRATIONS: [(&str, i32); 4] = [
    (include_str!("001.sql"), 1),
    (include_str!("002.sql"), 1),
    (include_str!("003.sql"), 1),
    (include_str!("004.sql"), 1),
];
/// The oldest server that is known to do.
const SERVER: i32 = 150_000;
/// Between two tries to reach the server.
const PAUSE: Duration = Duration::from_millis(200);

/// Who is told why a server does not answer.
type ToBeTold<'a> = Option<&'a (dyn Fn(&str) + Sync)>;

/// Makes sure that the tables are there. A server that does not answer is waited for, for so long as the options say, or as long as it takes
/// if somebody is to be told each time.
pub(super) async fn prepare(address: &Address, options: &Options, told: ToBeTold<'_>) -> Result<(), Error> {
    patiently(options.opening, told, || try_prepare(address)).await
}

/// Whether tables are there that this program can use; makes nothing.
pub(super) async fn is_there(address: &Address, patience: Duration) -> Result<bool, Error> {
    patiently(patience, None, || try_look(address)).await
}

/// Asks until there is an answer.
async fn patiently<T, F>(patience: Duration, told: ToBeTold<'_>, ask: impl Fn() -> F) -> Result<T, Error>
where
    F: Future<Output = Result<T, Fault>>,
{
    let mut deadline = Instant::now() + patience;
    loop {
        let fault = match timeout_at(deadline, ask()).await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(Fault::Final(error))) => return Err(error),
            Ok(Err(Fault::Lost(why) | Fault::Unreached(why))) => why,
            Ok(Err(Fault::Crossed)) => "others are preparing it".to_owned(),
            Err(_) => "there was no answer in time".to_owned(),
        };
        if Instant::now() + PAUSE >= deadline {
            let Some(told) = told else { return Err(Error::Unreachable(fault)) };
            told(&fault);
            deadline = Instant::now() + PAUSE + patience;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn try_prepare(address: &Address) -> Result<(), Fault> {
    let (mut client, connection) = session::alone(address).await?;
    let _connection = AbortOnDropHandle::new(tokio::spawn(connection));
    migrate(&mut client, &address.schema).await.map_err(|fault| explained(&address.schema, fault))
}

async fn try_look(address: &Address) -> Result<bool, Fault> {
    let (client, connection) = session::alone(address).await?;
    let _connection = AbortOnDropHandle::new(tokio::spawn(connection));
    refuse_old_server(&client).await?;
    Ok(applied(&client, &address.schema).await? > 0)
}

/// Most often everything is there, and nobody need wait for anybody.
async fn migrate(client: &mut Client, schema: &str) -> Result<(), Fault> {
    refuse_old_server(client).await?;
    if applied(client, schema).await? >= MIGRATIONS.len() {
        return Ok(());
    }
    let transaction = client.transaction().await?;
    transaction.execute("SELECT pg_advisory_xact_lock(hashtextextended('longhaul.' || $1, 0))", &[&schema]).await?;
    let done = applied(&transaction, schema).await?;
    // Asking for a schema that is there takes a right that is needed only once.
    if transaction.query("SELECT FROM pg_namespace WHERE nspname = $1", &[&schema]).await?.is_empty() {
        transaction.batch_execute(&format!("CREATE SCHEMA {schema}")).await?;
    }
    let versions =
        "CREATE TABLE IF NOT EXISTS schema_version (version int NOT NULL PRIMARY KEY, works_with int NOT NULL)";
    transaction.batch_execute(&format!("SET LOCAL search_path = {schema}; {versions}")).await?;
    for (number, (migration, works_with)) in (1i32..).zip(MIGRATIONS).skip(done) {
        transaction.batch_execute(migration).await?;
        let note = "INSERT INTO schema_version (version, works_with) VALUES ($1, $2)";
        transaction.execute(note, &[&number, &works_with]).await?;
    }
    Ok(transaction.commit().await?)
}

/// How many of our versions are applied; more than that is fine if the newest one says so.
async fn applied(client: &impl GenericClient, schema: &str) -> Result<usize, Fault> {
    // By a query: functions that look up names may answer from memory what was so before a lock was waited for.
    let there = "SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
                 WHERE nspname = $1 AND relname = 'schema_version'";
    if client.query(there, &[&schema]).await?.is_empty() {
        return Ok(0);
    }
    let newest = format!("SELECT version, works_with FROM {schema}.schema_version ORDER BY version DESC LIMIT 1");
    let Some(row) = client.query_opt(&newest, &[]).await? else { return Ok(0) };
    usable(row.get(0), row.get(1)).map_err(Fault::Final)
}

fn usable(version: i32, works_with: i32) -> Result<usize, Error> {
    let known = MIGRATIONS.len();
    let found = usize::try_from(version).unwrap_or(usize::MAX);
    if found > known && usize::try_from(works_with).unwrap_or(usize::MAX) > known {
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        return Err(Error::TooNew { found: number(found), known: number(known) });
    }
    Ok(found)
}

async fn refuse_old_server(client: &Client) -> Result<(), Fault> {
    let row = client.query_one("SELECT current_setting('server_version_num')::int, version()", &[]).await?;
    if row.get::<_, i32>(0) >= SERVER {
        return Ok(());
    }
    let said: String = row.get(1);
    Err(Fault::Final(Error::Unreachable(format!("PostgreSQL 15 or newer is needed; this is {said}"))))
}

fn explained(schema: &str, fault: Fault) -> Fault {
    match fault {
        Fault::Final(Error::Io(why)) => {
            Fault::Final(Error::Io(format!("the tables in the schema `{schema}` cannot be made: {why}")))
        }
        Fault::Final(Error::Denied(why)) => {
            Fault::Final(Error::Denied(format!("the tables in the schema `{schema}` cannot be made: {why}")))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_tables_are_used_only_if_they_say_so() {
        assert_eq!(usable(1, 1), Ok(1));
        assert_eq!(usable(5, 4), Ok(5));
        assert_eq!(usable(6, 5), Err(Error::TooNew { found: 6, known: 4 }));
    }
}
