//! A PostgreSQL server for tests, in a folder of its own.
//!
//! **Invariant:** the server ends with the process that started it, even if that process is killed: a second process
//! waits for the end, stops the server and deletes its folder.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

/// PostgreSQL does not run as root. If the test runs as root, the server runs as this user.
const NOBODY: u32 = 65_534;
/// How long a server may take to come up, or to recover.
const COMES_UP: Duration = Duration::from_secs(60);

/// A server.
pub struct TestServer {
    pub(super) folder: PathBuf,
    bin: PathBuf,
    running: Mutex<Option<Child>>,
    /// The command-line settings of the server.
    pub(super) settings: Vec<String>,
    pub(super) port: u16,
    /// The process that cleans up when its input ends, at the latest with this process.
    heir: Child,
}

/// What the data of a server survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Safe {
    /// No crash of the machine: as fast as possible.
    No,
    /// The loss of power, as in production.
    Yes,
}

/// The server that the tests of this process share.
pub fn shared() -> &'static TestServer {
    static SHARED: OnceLock<TestServer> = OnceLock::new();
    SHARED.get_or_init(|| TestServer::start(Safe::No))
}

impl TestServer {
    /// Starts a server with nothing in it.
    pub fn start(safe: Safe) -> Self {
        let server = Self::new(safe);
        server.restart();
        server
    }

    /// Starts a server that accepts every client over the network at an address of this machine.
    pub fn reachable(at: &str) -> Self {
        let mut server = Self::new(Safe::No);
        server.listen(at, "local all all trust\nhost all all all trust\n");
        server.restart();
        server
    }

    /// Sets the address at which the server listens from its start, and the contents of `pg_hba.conf`.
    pub(super) fn listen(&mut self, at: &str, door: &str) {
        fs::write(self.folder.join("data/pg_hba.conf"), door).unwrap();
        // Another process could take the port before the start. Then the start fails with a clear message.
        self.port = std::net::TcpListener::bind((at, 0)).unwrap().local_addr().unwrap().port();
        self.settings.push(format!("listen_addresses={at}"));
    }

    /// A server that is not started yet.
    pub(super) fn new(safe: Safe) -> Self {
        let bin = programs();
        let folder = tempfile::Builder::new().prefix("lh-pg-").tempdir_in(room()).unwrap().keep();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        if is_root() {
            chown(&folder, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let heir = heir(&folder);
        let data = folder.join("data");
        let made = as_somebody(&bin.join("initdb"))
            .args(["--auth=trust", "--username=longhaul", "--encoding=UTF8", "--locale=C", "--no-sync", "-D"])
            .arg(&data)
            .output()
            .unwrap();
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        Self { folder, bin, running: Mutex::default(), settings: settings(safe), port: 5432, heir }
    }

    /// The address of a new store on this server.
    pub fn address(&self) -> String {
        static LAST: AtomicU64 = AtomicU64::new(0);
        format!("{}?schema=s{}", self.database(), LAST.fetch_add(1, Ordering::Relaxed))
    }

    /// The address of its database.
    pub fn database(&self) -> String {
        let folder = self.folder.display().to_string().replace('/', "%2F");
        format!("postgres://longhaul@{folder}:{}/postgres", self.port)
    }

    /// The same store, over the network, with `host` as the name of the machine.
    pub fn over_network(&self, address: &str, host: &str) -> String {
        format!("postgres://longhaul@{host}:{}/postgres?{}", self.port, address.split_once('?').unwrap().1)
    }

    /// The path of the server's socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.join(format!(".s.PGSQL.{}", self.port))
    }

    /// A PostgreSQL program such as `pgbench`, set up to connect to this server.
    pub fn program(&self, name: &str) -> Command {
        let found = self.bin.join(name);
        let mut command = if found.is_file() { Command::new(found) } else { Command::new(name) };
        command.env("PGHOST", &self.folder).env("PGUSER", "longhaul").env("PGDATABASE", "postgres");
        command.env("PGPORT", self.port.to_string());
        command
    }

    /// Executes statements one after another and returns their output.
    pub fn sql(&self, statements: &str) -> String {
        let mut psql = self.program("psql");
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"]);
        let mut child = psql.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(statements.as_bytes()).unwrap();
        let done = child.wait_with_output().unwrap();
        assert!(done.status.success(), "{statements}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    }

    /// Kills the server at once, and waits until all its processes are gone.
    pub fn kill(&self) {
        let Some(mut child) = self.running.lock().unwrap().take() else { return };
        child.kill().unwrap();
        child.wait().unwrap();
        // Its processes notice the death one by one. A new server must not start beside them.
        while fs::read_to_string(self.folder.join("data/postmaster.pid")).is_ok() && self.has_processes() {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn has_processes(&self) -> bool {
        let data = self.folder.join("data");
        let of_ours = |entry: fs::DirEntry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == data);
        fs::read_dir("/proc").unwrap().flatten().any(of_ours)
    }

    /// Starts the server again and returns when it accepts connections.
    pub fn restart(&self) {
        let mut command = as_somebody(&self.bin.join("postgres"));
        command.arg("-D").arg(self.folder.join("data")).arg("-k").arg(&self.folder);
        command.arg("-p").arg(self.port.to_string());
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        let log = fs::File::options().create(true).append(true).open(self.folder.join("log")).unwrap();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        *self.running.lock().unwrap() = Some(command.spawn().unwrap());
        self.wait_until_up();
    }

    fn wait_until_up(&self) {
        let since = Instant::now();
        loop {
            let mut psql = self.program("psql");
            let up = psql.args(["-X", "-c", "SELECT 1"]).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
            if up.success() {
                return;
            }
            let log = || fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            assert!(since.elapsed() < COMES_UP, "PostgreSQL does not come up:\n{}", log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        drop(self.heir.stdin.take());
        // The server first: the cleaner waits for it, and it stays a zombie until this process has waited for it.
        let running = self.running.get_mut().unwrap().as_mut();
        for child in running.into_iter().chain([&mut self.heir]) {
            child.wait().unwrap();
        }
    }
}

fn settings(safe: Safe) -> Vec<String> {
    let mut settings = vec!["listen_addresses=", "max_connections=200", "shared_buffers=64MB", "logging_collector=off"];
    if safe == Safe::No {
        settings.extend(["fsync=off", "full_page_writes=off", "synchronous_commit=on"]);
    }
    settings.into_iter().map(str::to_owned).collect()
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

pub(super) fn as_somebody(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir("/tmp");
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

/// The folder for servers: in memory if there is enough, because a server that was killed writes everything to disk
/// first, which may take a minute on a busy machine. The path of a socket must be short, so it is not below the build
/// folder.
fn room() -> &'static Path {
    let memory = Path::new("/dev/shm");
    let enough = |stat: rustix::fs::StatVfs| stat.f_bavail * stat.f_frsize > 1 << 30;
    if rustix::fs::statvfs(memory).is_ok_and(enough) { memory } else { Path::new("/tmp") }
}

/// The folder of the PostgreSQL programs: the newest installed version, otherwise those in `PATH`.
fn programs() -> PathBuf {
    let packaged = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<(u32, PathBuf)> = packaged
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .filter(|(_, bin): &(u32, PathBuf)| bin.join("initdb").is_file())
        .collect();
    found.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_the_path = || std::env::split_paths(&path).find(|folder| folder.join("initdb").is_file());
    found.pop().map(|(_, bin)| bin).or_else(on_the_path).unwrap_or_else(|| {
        panic!("PostgreSQL 15 or newer is missing (`initdb`, `postgres`, `psql`); scripts/install-postgres fetches it")
    })
}

/// Starts the process that stops the server and deletes its folder once its input ends.
fn heir(folder: &Path) -> Child {
    let script = "trap '' INT TERM HUP; cat >/dev/null
        pid=$(head -n 1 \"$0/data/postmaster.pid\" 2>/dev/null) && kill -QUIT \"$pid\" 2>/dev/null
        while [ -n \"$pid\" ] && kill -0 \"$pid\" 2>/dev/null; do sleep 0.05; done
        rm -rf \"$0\"";
    let mut command = as_somebody(Path::new("/bin/sh"));
    command.args(["-c", script]).arg(folder).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}
