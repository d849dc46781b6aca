//! Connections: how they are made, and what holds in each of them.
//!
//! **Invariant:** every connection is to a server that accepts writes, commits to disk before it answers, and sees only the
//! tables of the address.

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

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(5);
/// How long sent bytes may be without an answer before the connection is given up.
const DEAF: Duration = Duration::from_secs(10);

/// A pool of connections that makes none yet.
pub(super) fn pool(address: &Address, options: &PostgresOptions) -> Result<Pool, Error> {
    let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_config(config(address), connector(&address.verify)?, manager);
    let settings = settings(&address.schema);
    let set_up = Hook::async_fn(move |client, _| {
        let settings = settings.clone();
        Box::pin(async move { client.batch_execute(&settings).await.map_err(HookError::Backend) })
    });
    let pool = Pool::builder(manager).max_size(options.connections).runtime(Runtime::Tokio1).post_create(set_up);
    // The one that was used last is used next, so the others can be seen to be too many.
    pool.queue_mode(QueueMode::Lifo).build().map_err(|error| Error::Unreachable(error.to_string()))
}

/// A connection of its own, for what does not go with a pool; to be polled beside what is asked.
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

/// What an administrator may have set otherwise for the database. `synchronous_commit` is only ever made stricter. No statement is so long
/// that compiling it first would pay. A table that is nearly empty one moment and full the next is never what its statistics say, so plans
/// that are kept are not left to them: indexes are used.
fn settings(schema: &str) -> String {
    format!(
        "SET search_path = {schema}; SET default_transaction_isolation = 'read committed';
         SET statement_timeout = '60s'; SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = '10s';
         SET client_min_messages = 'warning'; SET jit = off; SET enable_seqscan = off;
         SET enable_bitmapscan = off;
         SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local')"
    )
}
