//! Sends statements to the database, and repeats them where that is safe.
//!
//! Each call of a store is one statement. If its answer is lost, it is sent again: writes carry ids that their
//! callers made, so the database recognises a repeated write.
//!
//! **Invariant:** every call ends: with an answer, or after [`PostgresOptions::patience`] with an error that says
//! whether anything may have been done.

use std::time::Duration;

use deadpool_postgres::{Client, Object, Pool, PoolError, Timeouts};
use tokio::time::{Instant, timeout_at};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::PostgresOptions;
use super::fault::Fault;
use crate::Error;

/// How often a statement is tried again after a conflict with other transactions.
const CROSSED_MAX: u32 = 20;
/// The shortest and the longest pause between two tries.
const PAUSES: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(500));
/// How long an unused connection stays open.
const UNUSED: Duration = Duration::from_secs(20);
/// The slowest supported network, in bytes per second.
const BYTES_A_SECOND: u64 = 1024 * 1024;

/// The values of a statement.
pub(super) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// The answer to a statement.
pub(super) struct Answer {
    pub(super) rows: Vec<Row>,
    /// Whether an earlier try may have been carried out.
    pub(super) again: bool,
}

/// Sends statements through a pool of connections.
pub(super) struct Desk {
    pool: Pool,
    options: PostgresOptions,
}

impl Desk {
    pub(super) fn new(pool: Pool, options: PostgresOptions) -> Self {
        Self { pool, options }
    }

    /// Executes a statement that only reads.
    pub(super) async fn read(&self, sql: &str, values: Values<'_>) -> Result<Vec<Row>, Error> {
        match self.write(sql, values, 0).await {
            // A read stores nothing, so nothing is unsure.
            Err(Error::Unsure(why)) => Err(Error::Unreachable(why)),
            answer => Ok(answer?.rows),
        }
    }

    /// Executes a statement that writes about `bytes` bytes.
    pub(super) async fn write(&self, sql: &str, values: Values<'_>, bytes: usize) -> Result<Answer, Error> {
        let more = Duration::from_secs(bytes as u64 / BYTES_A_SECOND);
        let deadline = Instant::now() + self.options.patience + more;
        let (mut again, mut crossed, mut pause) = (false, 0, PAUSES.0);
        loop {
            let give_up = deadline.min(Instant::now() + self.options.answer + more);
            let fault = match self.try_once(sql, values, (deadline, give_up)).await {
                Ok(rows) => return Ok(Answer { rows, again }),
                Err(fault) => fault,
            };
            again |= matches!(fault, Fault::Lost(_));
            crossed += u32::from(matches!(fault, Fault::Crossed));
            if crossed >= CROSSED_MAX || Instant::now() + pause >= deadline {
                return Err(given_up(fault, again));
            }
            if let Fault::Final(error) = fault {
                return Err(error);
            }
            tokio::time::sleep(jittered(pause)).await;
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    /// Executes statements in one transaction. They carry no ids, so they are not repeated.
    pub(super) async fn together(&self, statements: &[&str]) -> Result<(), Error> {
        let deadline = Instant::now() + self.options.patience;
        let client = self.connection(deadline).await.map_err(|fault| given_up(fault, false))?;
        let text = statements.join(";\n");
        match timeout_at(deadline, client.batch_execute(&text)).await {
            Ok(done) => done.map_err(|error| given_up(self.judge(client, &error), true)),
            Err(_) => {
                drop(Object::take(client));
                Err(given_up(Fault::Lost("there was no answer in time".to_owned()), true))
            }
        }
    }

    async fn try_once(
        &self,
        sql: &str,
        values: Values<'_>,
        (deadline, give_up): (Instant, Instant),
    ) -> Result<Vec<Row>, Fault> {
        let client = self.connection(deadline).await?;
        match timeout_at(give_up, perform(&client, sql, values)).await {
            Ok(done) => done.map_err(|error| self.judge(client, &error)),
            Err(_) => {
                // The connection may still deliver the late answer, so it is not used again.
                drop(Object::take(client));
                Err(Fault::Lost("there was no answer in time".to_owned()))
            }
        }
    }

    fn judge(&self, client: Client, error: &tokio_postgres::Error) -> Fault {
        let fault = Fault::of(error);
        if matches!(fault, Fault::Lost(_)) {
            drop(Object::take(client));
        }
        fault
    }

    async fn connection(&self, deadline: Instant) -> Result<Client, Fault> {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeouts = Timeouts { wait: Some(left), create: Some(left), recycle: Some(left) };
        self.pool.timeout_get(&timeouts).await.map_err(|error| match error {
            PoolError::Backend(error) | PoolError::PostCreateHook(deadpool_postgres::HookError::Backend(error)) => {
                Fault::unmade(&error)
            }
            other => Fault::Unreached(other.to_string()),
        })
    }

    /// Closes connections that were unused for a while: a server has few to give.
    pub(super) fn let_go(&self) {
        drop(self.pool.retain(|_, metrics| metrics.last_used() < UNUSED));
    }

    /// Closes all connections.
    pub(super) fn close(&self) {
        self.pool.close();
    }
}

async fn perform(client: &Client, sql: &str, values: Values<'_>) -> Result<Vec<Row>, tokio_postgres::Error> {
    let statement = client.prepare_cached(sql).await?;
    client.query(&statement, values).await
}

fn given_up(fault: Fault, again: bool) -> Error {
    match fault {
        Fault::Final(error) => error,
        Fault::Crossed => Error::Busy,
        Fault::Lost(why) | Fault::Unreached(why) if again => Error::Unsure(why),
        Fault::Lost(why) | Fault::Unreached(why) => Error::Unreachable(why),
    }
}

/// Adds a random part, so that two conflicting callers do not collide again.
fn jittered(pause: Duration) -> Duration {
    pause / 2 + pause.mul_f64(f64::from(Uuid::new_v4().as_fields().1) / f64::from(u16::MAX))
}
