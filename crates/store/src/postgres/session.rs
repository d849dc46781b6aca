//! Makes connections and sets their options.
//!
//! **Invariant:** every connection goes to a server that accepts writes and commits to disk before it answers. It
//! sees only the tables of the address.

use std::time::Duration;

use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Pool, QueueMode, RecyclingMethod, Runtime};
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Client, Config, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::PostgresOptions;
use super::address::Address;
use super::fault::Fault;
use super::tls::connector;
use crate::Error;

/// How long a connection attempt may take.
const CONNECT: Duration = Duration::from_secs(5);
/// How long sent bytes may stay without an answer before the connection is closed.
const DEAF: Duration = Duration::from_secs(10);

/// A pool, still without connections.
pub(super) fn pool(address: &Address, options: &PostgresOptions) -> Result<Pool, Error> {
    let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_config(config(address), connector(&address.verify)?, manager);
    let settings = settings(&address.schema);
    let set_up = Hook::async_fn(move |client, _| {
        let settings = settings.clone();
        Box::pin(async move { client.batch_execute(&settings).await.map_err(HookError::Backend) })
    });
    let pool = Pool::builder(manager).max_size(options.connections).runtime(Runtime::Tokio1).post_create(set_up);
    // The connection that was used last is used next, so that unused ones can be recognised.
    pool.queue_mode(QueueMode::Lifo).build().map_err(|error| Error::Unreachable(error.to_string()))
}

/// A connection outside the pool. The caller must poll the second part.
pub(super) async fn alone(address: &Address) -> Result<(Client, Connection<Socket, Stream>), Fault> {
    let tls = connector(&address.verify).map_err(Fault::Final)?;
    config(address).connect(tls).await.map_err(|error| Fault::unmade(&error))
}

type Stream = <<MakeRustlsConnect as MakeTlsConnect<Socket>>::TlsConnect as TlsConnect<Socket>>::Stream;

fn config(address: &Address) -> Config {
    let mut config = address.config.clone();
    config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(DEAF);
    }
    if config.get_application_name().is_none() {
        config.application_name("longhaul");
    }
    config
}

/// Sets options that an administrator may have changed for the database. `synchronous_commit` is only made stricter.
/// JIT is off: no statement is long enough for it. The tables change size quickly, so their statistics are often
/// wrong. So the planner must use indexes.
fn settings(schema: &str) -> String {
    format!(
        "SET search_path = {schema}; SET default_transaction_isolation = 'read committed';
         SET statement_timeout = '60s'; SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = '10s';
         SET client_min_messages = 'warning'; SET jit = off; SET enable_seqscan = off;
         SET enable_bitmapscan = off;
         SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local')"
    )
}
