//! The database: one that is there, or one that is started for as long as it is measured.
//!
//! **Invariant:** a server that was started here has the settings of its packages but for connections and where it listens: what it
//! acknowledges is on the disk. It ends with this process, however that ends: a shell waits for its input to end.

use std::io::Write;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::Bench;
use crate::others;

/// PostgreSQL does not run as root; then it is run as somebody who owns nothing.
const NOBODY: u32 = 65_534;
/// How long a server may take to come up.
const COMES_UP: Duration = Duration::from_secs(60);
/// Starts the server, waits for the end of its own input, and stops it.
const KEEPER: &str = "\"$@\" 0</dev/null & pid=$!; trap '' INT TERM HUP; cat >/dev/null; kill -INT $pid; wait $pid";

/// A server.
pub(super) struct Server {
    address: String,
    programs: PathBuf,
    own: Option<Own>,
}

/// What was started here.
struct Own {
    folder: PathBuf,
    keeper: Child,
}

impl Server {
    /// The one that was named, else a new one.
    pub(super) fn find_or_start(bench: &Bench) -> Result<Self> {
        let programs = bench.around.programs.clone().or_else(installed).context(
            "the programs of PostgreSQL (`pgbench`, `psql`, `initdb`) are not found; install PostgreSQL 15 or newer, or say where with --pg-bin",
        )?;
        match &bench.around.address {
            Some(address) => Ok(Self { address: address.clone(), programs, own: None }),
            None => Self::start(bench, programs),
        }
    }

    fn start(bench: &Bench, programs: PathBuf) -> Result<Self> {
        let folder = bench.folder.join("pg");
        let data = folder.join("data");
        std::fs::create_dir_all(&folder)?;
        if is_root() {
            chown(&folder, Some(NOBODY), Some(NOBODY))?;
        }
        let initdb = as_somebody(&programs.join("initdb"), &folder)
            .args(["--auth=trust", "--username=longhaul", "--encoding=UTF8", "--locale=C", "-D"])
            .arg(&data)
            .output()?;
        ensure!(initdb.status.success(), "initdb: {}", String::from_utf8_lossy(&initdb.stderr));
        let mut keeper = as_somebody(Path::new("/bin/sh"), &folder);
        keeper
            .args(["-c", KEEPER, "keeper"])
            .arg(programs.join("postgres"))
            .arg("-D")
            .arg(&data)
            .arg("-k")
            .arg(&folder);
        keeper.args(["-c", "listen_addresses=", "-c", "max_connections=500"]);
        let log = std::fs::File::create(folder.join("log"))?;
        let keeper = keeper.process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log).spawn()?;
        let place = folder.display().to_string().replace('/', "%2F");
        let address = format!("postgres://longhaul@{place}/postgres");
        let server = Self { address, programs, own: Some(Own { folder, keeper }) };
        server.wait_until_up()?;
        Ok(server)
    }

    fn wait_until_up(&self) -> Result<()> {
        let since = Instant::now();
        let log = self.own.as_ref().map(|own| own.folder.join("log")).unwrap_or_default();
        while self.sql("SELECT 1").is_err() {
            if since.elapsed() > COMES_UP {
                bail!("PostgreSQL does not come up: {}", std::fs::read_to_string(log)?);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// The address of a store of its own.
    pub(super) fn store(&self, schema: &str) -> String {
        let joint = if self.address.contains('?') { '&' } else { '?' };
        format!("{}{joint}schema={schema}", self.address)
    }

    /// A program of PostgreSQL that speaks to this server, up to its address.
    pub(super) fn program(&self, name: &str) -> Command {
        Command::new(self.programs.join(name))
    }

    /// The address, for such programs.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Has statements carried out; answers what the last one prints.
    pub(super) fn sql(&self, statements: &str) -> Result<String> {
        let mut psql = self.program("psql");
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", &self.address]);
        let mut child = psql.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        child.stdin.take().context("psql has no input")?.write_all(statements.as_bytes())?;
        let done = child.wait_with_output()?;
        ensure!(done.status.success(), "psql: {}", String::from_utf8_lossy(&done.stderr).trim());
        Ok(String::from_utf8_lossy(&done.stdout).lines().last().unwrap_or_default().to_owned())
    }

    /// Lets every commit wait so much longer, if the server is ours. Answers whether it does.
    pub(super) fn wait_at_commits(&self, longer: Duration) -> Result<bool> {
        if self.own.is_some() {
            let delay = longer.as_micros();
            self.sql(&format!(
                "ALTER SYSTEM SET commit_delay = {delay}; ALTER SYSTEM SET commit_siblings = 0; SELECT pg_reload_conf();"
            ))?;
        }
        Ok(self.own.is_some())
    }

    /// Seconds that the processor has spent on it, if it is ours and the system tells.
    pub(super) fn cpu(&self) -> Option<f64> {
        let file = std::fs::read_to_string(self.own.as_ref()?.folder.join("data/postmaster.pid")).ok()?;
        let first = file.lines().next()?.trim().parse().ok()?;
        Some(others::cpu_with_children(first)?.as_secs_f64())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(own) = &mut self.own {
            drop(own.keeper.stdin.take());
            // What cannot be waited for ends by itself; what cannot be removed lies in a folder for such files.
            let _ = own.keeper.wait();
            let _ = std::fs::remove_dir_all(&own.folder);
        }
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn as_somebody(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder);
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

/// The newest of the machine's packages, else what the path has.
fn installed() -> Option<PathBuf> {
    let has_all = |bin: &Path| ["initdb", "pgbench", "psql"].iter().all(|name| bin.join(name).is_file());
    let packaged = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let numbered =
        packaged.filter_map(|entry| Some((entry.file_name().to_str()?.parse::<u32>().ok()?, entry.path().join("bin"))));
    let newest = numbered.filter(|(_, bin)| has_all(bin)).max().map(|(_, bin)| bin);
    newest.or_else(|| std::env::split_paths(&std::env::var_os("PATH")?).find(|bin| has_all(bin)))
}
