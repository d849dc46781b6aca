//! A machine with failures: its process, a worker or a server, and its connection to the database.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use longhaul_store::conformance::proxy::{Proxy, ProxyLink};
use longhaul_store::conformance::server::TestServer;

use crate::postgres::machine::Machine;
use crate::serve::site::Client;

/// A process, its machine, and its line to the database.
pub(crate) struct Host {
    pub(crate) machine: Machine,
    pub(crate) proxy: Proxy,
    /// The address of its server, if it has one.
    serves: Option<String>,
    child: Child,
    ill: Option<(Ill, Instant)>,
}

/// A failure that ends by itself.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Ill {
    Stopped,
    Deaf,
}

impl Host {
    /// A machine with a worker.
    pub(crate) fn worker(name: &'static str, workflows: &[(&str, &str)], server: &TestServer, address: &str) -> Self {
        Self::new((name, None), workflows, server, address)
    }

    /// A machine with a server, always at the same address.
    pub(crate) fn node(name: &'static str, workflows: &[(&str, &str)], server: &TestServer, address: &str) -> Self {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        Self::new((name, Some(free.local_addr().unwrap().to_string())), workflows, server, address)
    }

    fn new(
        (name, serves): (&'static str, Option<String>),
        workflows: &[(&str, &str)],
        server: &TestServer,
        address: &str,
    ) -> Self {
        let proxy = Proxy::to(server.socket());
        let machine = Machine::with(name, workflows, &proxy.through(address));
        let child = start(&machine, serves.as_deref());
        Self { machine, proxy, serves, child, ill: None }
    }

    pub(crate) fn is_ill(&self) -> bool {
        self.ill.is_some()
    }

    /// The kind of process.
    pub(crate) fn kind(&self) -> &'static str {
        if self.serves.is_some() { "server" } else { "worker" }
    }

    /// A client of its server that does not wait long.
    pub(crate) fn client(&self) -> Option<Client> {
        let address = self.serves.as_deref()?;
        let client = Client::of(address, &self.machine.token());
        Some(Client { patience: Duration::from_secs(4), ..client })
    }

    fn signal(&self, name: &str) {
        let killed = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(killed.success());
    }

    pub(crate) fn fall_ill(&mut self, ill: Ill, ms: u64) {
        match ill {
            Ill::Stopped => self.signal("-STOP"),
            Ill::Deaf => self.proxy.set(ProxyLink::Deaf),
        }
        self.ill = Some((ill, Instant::now() + Duration::from_millis(ms)));
    }

    /// Ends its failure when the time has come.
    pub(crate) fn heal(&mut self, at: Instant) {
        match self.ill.take_if(|(_, until)| *until <= at) {
            Some((Ill::Stopped, _)) => self.signal("-CONT"),
            Some((Ill::Deaf, _)) => {
                self.proxy.set(ProxyLink::Open);
                self.proxy.cut();
            }
            None => {}
        }
    }

    /// Kills it, and starts another one.
    pub(crate) fn replace(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.child = start(&self.machine, self.serves.as_deref());
    }

    /// Starts it again if it has ended: it ends when the store is away for too long.
    pub(crate) fn revive(&mut self) {
        if self.child.try_wait().unwrap().is_some() {
            self.child = start(&self.machine, self.serves.as_deref());
        }
    }

    /// Stops it with a signal like Ctrl-C.
    pub(crate) fn stop(&mut self) {
        self.signal("-INT");
        self.child.wait().unwrap();
    }
}

/// A failed test leaves nothing running.
impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn start(machine: &Machine, serves: Option<&str>) -> Child {
    let log = std::fs::File::options().create(true).append(true).open(machine.trial.path().join("said")).unwrap();
    let mut command = match serves {
        Some(address) => machine.command(&["serve", "--listen", address]),
        None => machine.command(&["worker"]),
    };
    command.stdout(Stdio::null()).stderr(log).spawn().unwrap()
}
