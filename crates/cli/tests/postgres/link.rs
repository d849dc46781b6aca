//! Tests a worker in its own network, whose only connection to the database is a link that goes down.
//!
//! It needs root; without it, the test says so and does nothing.

use std::process::{Command, Stdio};

use longhaul_store::conformance::server::TestServer;

use crate::crash::trial::{RUN, alive, end, is_sound, until};
use crate::postgres::machine::{Machine, Process};

/// A network, and the link into it. Both are removed with the test.
struct Link {
    network: String,
    here: String,
    /// The address of this end.
    address: String,
}

fn ip(line: &str) -> Result<(), String> {
    let done = Command::new("ip").args(line.split(' ')).output().map_err(|error| error.to_string())?;
    if done.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&done.stderr).trim().to_owned()) }
}

impl Link {
    fn new() -> Result<Self, String> {
        // Names are shared by all tests on the machine, and must be short.
        let number = std::process::id();
        let (high, low) = (number >> 6 & 0xff, (number & 0x3f) << 2);
        let link = Self {
            network: format!("lh-{number}"),
            here: format!("lha-{number}"),
            address: format!("10.213.{high}.{}", low + 1),
        };
        let Self { network, here, address } = &link;
        ip(&format!("netns add {network}"))?;
        ip(&format!("link add {here} type veth peer name lhb-{number} netns {network}"))?;
        ip(&format!("addr add {address}/30 dev {here}"))?;
        ip(&format!("link set {here} up"))?;
        ip(&format!("-n {network} addr add 10.213.{high}.{}/30 dev lhb-{number}", low + 2))?;
        ip(&format!("-n {network} link set lhb-{number} up"))?;
        Ok(link)
    }

    fn set(&self, how: &str) {
        ip(&format!("link set {} {how}", self.here)).unwrap();
    }

    /// The same command, inside the network.
    fn inside(&self, command: &Command) -> Command {
        let mut inside = Command::new("ip");
        inside.args(["netns", "exec", &self.network]).arg(command.get_program()).args(command.get_args());
        inside.current_dir(command.get_current_dir().unwrap());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => inside.env(name, value),
                None => inside.env_remove(name),
            };
        }
        inside
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        drop(ip(&format!("link del {}", self.here)));
        drop(ip(&format!("netns del {}", self.network)));
    }
}

const LONG: &str = r#"
name: work
do:
  - {id: long, run: 'echo begun >> "$LOG"; test -e go || sleep 300', workspace: any}
"#;

#[test]
fn a_worker_whose_link_goes_down_stops_what_another_then_does() {
    let link = match Link::new() {
        Ok(link) => link,
        Err(why) => return println!("not tried: networks of our own are not permitted here: {why}"),
    };
    let server = TestServer::reachable(&link.address);
    let address = server.address();
    let far = Machine::new("far", LONG, &server.over_network(&address, &link.address));
    let near = Machine::new("near", LONG, &address);
    let told = near.trial.longhaul(&["run", "work", "--run-id", RUN, "--queue"], None);
    assert_eq!(told.code, 0, "{}", told.stderr);
    let mut command = link.inside(&far.command(&["worker"]));
    let _far = Process(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let at_work = || alive(far.trial.path(), |environment| environment.contains("LONGHAUL_ATTEMPT=")).len();
    until("the first attempt", || far.trial.log().contains_key("begun") && at_work() > 0);
    link.set("down");
    std::fs::write(near.trial.path().join("go"), "").unwrap();
    let _near = near.worker();
    until("the second attempt", || near.trial.log().contains_key("begun"));
    assert_eq!(at_work(), 0, "both were at it");
    until("the end", || near.trial.is_over(RUN));
    link.set("up");
    let events = near.trial.events();
    is_sound(&events);
    assert_eq!(end(&events).status, "success");
    assert_eq!(far.trial.log()["begun"], 1);
}
