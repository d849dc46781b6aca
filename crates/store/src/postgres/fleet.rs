//! Several workers: the list of workers, and claims.

use tokio_postgres::Row;
use uuid::Uuid;

use super::waiting::{TASK, taken, task};
use super::{Postgres, count};
use crate::{Claim, Error, FORGOTTEN_MS, Listed, Task, Worker, WorkerId};

/// See [`crate::Store::claim`].
pub(super) async fn claim(store: &Postgres, claim: &Claim) -> Result<Vec<Task>, Error> {
    let token = Uuid::new_v4().into_bytes();
    let sql = format!(
        "{TASK} claim_2($1, $2::text::jsonb, $3, $4, $5, $6, $7, $8, $9) AS task JOIN run ON run.number = task.run
         ORDER BY task.number"
    );
    let labels = json(&claim.labels);
    let run = claim.run.as_ref().map(longhaul_core::id::RunId::as_str);
    let capped: Vec<&str> = claim.caps.labels.keys().map(String::as_str).collect();
    let capped_max: Vec<i64> = claim.caps.labels.values().map(|max| i64::from(*max)).collect();
    let all_max = claim.caps.all.map(i64::from);
    let answer = store
        .desk
        .write(
            &sql,
            &[
                &claim.worker.as_str(),
                &labels,
                &run,
                &claim.until_ms(),
                &count(claim.limit),
                &&token[..],
                &all_max,
                &capped,
                &capped_max,
            ],
            0,
        )
        .await?;
    taken(store, &answer.rows)
}

/// A list as the database stores it.
pub(super) fn json(labels: &[String]) -> String {
    serde_json::Value::from(labels.to_vec()).to_string()
}

/// See [`crate::Store::unheld`].
pub(super) async fn unheld(store: &Postgres, limit: usize) -> Result<Vec<Task>, Error> {
    let sql =
        format!("{TASK} task JOIN run ON run.number = task.run WHERE worker IS NULL ORDER BY task.number LIMIT $1");
    store.desk.read(&sql, &[&count(limit)]).await?.iter().map(task).collect()
}

/// See [`crate::Store::greet`].
pub(super) async fn greet(store: &Postgres, worker: &Worker) -> Result<(), Error> {
    let silent = worker.seen_ms.saturating_sub(FORGOTTEN_MS);
    let Worker { id, name, host, labels, slots, version, since_ms, seen_ms } = worker;
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 9] =
        [&id.as_str(), name, host, &json(labels), &i64::from(*slots), version, since_ms, seen_ms, &silent];
    store.desk.write("SELECT greet_2($1, $2, $3, $4, $5, $6, $7, $8, $9)", &values, 0).await.map(drop)
}

/// See [`crate::Store::dismiss`].
pub(super) async fn dismiss(store: &Postgres, worker: &WorkerId) -> Result<(), Error> {
    store.desk.write("DELETE FROM worker WHERE id = $1", &[&worker.as_str()], 0).await.map(drop)
}

/// See [`crate::Store::workers`].
pub(super) async fn workers(store: &Postgres) -> Result<Vec<Listed>, Error> {
    let sql = "SELECT id, name, host, labels, slots, version, since_ms, seen_ms,
               (SELECT count(*) FROM task WHERE task.worker = worker.id) FROM worker ORDER BY name, id";
    store.desk.read(sql, &[]).await?.iter().map(listed).collect()
}

fn listed(row: &Row) -> Result<Listed, Error> {
    let labels = serde_json::from_str(row.get(3)).map_err(|error| Error::Corrupt(format!("labels: {error}")))?;
    let worker = Worker {
        id: WorkerId(row.get(0)),
        name: row.get(1),
        host: row.get(2),
        labels,
        slots: u32::try_from(row.get::<_, i64>(4)).unwrap_or(u32::MAX),
        version: row.get(5),
        since_ms: row.get(6),
        seen_ms: row.get(7),
    };
    Ok(Listed { worker, busy: u32::try_from(row.get::<_, i64>(8)).unwrap_or(u32::MAX) })
}
