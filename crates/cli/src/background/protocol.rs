//! What is said over the socket of the background engine: one line of JSON in, one line of JSON out.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use longhaul_agents::process::{ATTEMPT_VARIABLE, ENGINE_VARIABLE};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};

/// No request is longer: an environment has at most a few hundred kilobytes.
const LINE_BYTES_MAX: u64 = 4 << 20;

/// Variables that differ between two terminals of one person, and that no step needs.
const OF_THE_TERMINAL: [&str; 22] = [
    "_",
    "PWD",
    "OLDPWD",
    "SHLVL",
    "TERM",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "TERM_SESSION_ID",
    "COLORTERM",
    "COLUMNS",
    "LINES",
    "TMUX",
    "TMUX_PANE",
    "STY",
    "WINDOW",
    "WINDOWID",
    "SSH_TTY",
    "SSH_CLIENT",
    "SSH_CONNECTION",
    "GPG_TTY",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
];

/// A request to the background engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub(crate) enum Request {
    /// Keep a worker for a project.
    Work(Order),
    /// Tell what it does.
    Status,
    /// End all workers, and end.
    Stop,
}

/// What a worker is started with.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Order {
    /// The folder of the project.
    pub(crate) project: PathBuf,
    /// The store, if the caller named one.
    #[serde(default)]
    pub(crate) store: Option<String>,
    /// The options of the worker.
    #[serde(default)]
    pub(crate) options: Vec<String>,
    /// The environment of the caller. It is never written to a disk, and never printed.
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, String>,
    /// How long the worker stays without anything to do, in seconds.
    #[serde(default)]
    pub(crate) idle_seconds: Option<u64>,
    /// Why it is asked for, in the log.
    #[serde(default)]
    pub(crate) why: String,
}

impl std::fmt::Debug for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Order({}, {} variables)", self.project.display(), self.environment.len())
    }
}

impl Order {
    /// Whether one worker can serve both: the same project, store, options and environment.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        let of = |order: &Self| (order.project.clone(), order.store.clone(), order.options.clone());
        of(self) == of(other) && lasting(&self.environment).eq(lasting(&other.environment))
    }
}

/// The variables that matter to steps.
fn lasting(of: &BTreeMap<String, String>) -> impl Iterator<Item = (&String, &String)> {
    of.iter().filter(|(name, _)| !OF_THE_TERMINAL.contains(&name.as_str()))
}

/// The environment of this process, without the marks of an engine. A variable that is not text stays behind.
pub(crate) fn own_environment() -> BTreeMap<String, String> {
    let is_mark = |(name, _): &(String, String)| name == ENGINE_VARIABLE || name == ATTEMPT_VARIABLE;
    let texts =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    texts.filter(|variable| !is_mark(variable)).collect()
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reply {
    /// What the engine does now.
    #[serde(default)]
    pub(crate) status: Option<Status>,
    /// The worker that serves an order.
    #[serde(default)]
    pub(crate) worker: Option<WorkerStatus>,
    /// Why nothing was done.
    #[serde(default)]
    pub(crate) error: Option<String>,
}

/// What the background engine does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Status {
    /// The process.
    pub(crate) pid: u32,
    /// The version of the program it was started from.
    pub(crate) version: String,
    /// Whether the program on the disk is another one by now.
    pub(crate) is_outdated: bool,
    /// Whether it ends: its workers stop their steps, and it takes no more orders.
    #[serde(default)]
    pub(crate) is_ending: bool,
    /// When it was started: milliseconds since 1970.
    pub(crate) since: i64,
    /// Its log.
    pub(crate) log: PathBuf,
    /// Its workers.
    pub(crate) workers: Vec<WorkerStatus>,
}

/// A worker of the background engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct WorkerStatus {
    /// The folder of its project.
    pub(crate) project: PathBuf,
    /// The store, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) store: Option<String>,
    /// The process; `None` while it is about to start again.
    pub(crate) pid: Option<u32>,
    /// When the process was started: milliseconds since 1970.
    pub(crate) since: i64,
    /// How often it was started again after it had died.
    pub(crate) restarts: u32,
    /// Whether an earlier process, with another environment or other options, still lets its commands end.
    pub(crate) is_renewed: bool,
    /// Its log.
    pub(crate) log: PathBuf,
}

/// Sends a line.
pub(crate) async fn send(to: &mut (impl AsyncWrite + Unpin), said: &impl Serialize) -> Result<()> {
    let mut line = serde_json::to_vec(said)?;
    line.push(b'\n');
    to.write_all(&line).await?;
    Ok(to.flush().await?)
}

/// Receives a line.
pub(crate) async fn receive<T: DeserializeOwned>(from: &mut (impl AsyncRead + Unpin)) -> Result<T> {
    let mut line = Vec::new();
    BufReader::new(from.take(LINE_BYTES_MAX)).read_until(b'\n', &mut line).await?;
    if !line.ends_with(b"\n") {
        bail!("the other side ended in the middle of a line");
    }
    serde_json::from_slice(&line).context("the other side speaks another version; `longhaul up --stop` ends it")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(environment: &[(&str, &str)]) -> Order {
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let (options, why) = (vec!["--slots".to_owned()], "test".to_owned());
        Order { project: "/p".into(), store: None, options, environment, idle_seconds: None, why }
    }

    #[test]
    fn orders_are_alike_if_steps_see_the_same() {
        let one = order(&[("PATH", "/bin"), ("TERM", "xterm"), ("PWD", "/a")]);
        assert!(one.is_alike(&order(&[("PATH", "/bin"), ("TMUX", "1")])));
        assert!(!one.is_alike(&order(&[("PATH", "/bin"), ("KEY", "1")])));
        assert!(!one.is_alike(&Order { project: "/q".into(), ..one.clone() }));
        assert!(!one.is_alike(&Order { options: Vec::new(), ..one.clone() }));
        assert!(one.is_alike(&Order { why: "other".to_owned(), idle_seconds: Some(1), ..one.clone() }));
    }

    #[test]
    fn an_order_does_not_print_its_environment() {
        let printed = format!("{:?}", Request::Work(order(&[("KEY", "secret-7")])));
        assert!(!printed.contains("secret-7") && printed.contains("1 variables"), "{printed}");
    }

    #[tokio::test]
    async fn what_is_sent_is_received_and_half_a_line_is_refused() {
        let (mut near, mut far) = tokio::io::duplex(1 << 16);
        send(&mut near, &Request::Work(order(&[("A", "1\n2")]))).await.unwrap();
        assert_eq!(receive::<Request>(&mut far).await.unwrap(), Request::Work(order(&[("A", "1\n2")])));
        let half = receive::<Request>(&mut &b"{\"ask\":\"status\"}"[..]).await.unwrap_err();
        assert!(half.to_string().contains("middle of a line"), "{half}");
        let odd = receive::<Request>(&mut &b"{\"ask\":\"dance\"}\n"[..]).await.unwrap_err();
        assert!(odd.to_string().contains("another version"), "{odd}");
    }
}
