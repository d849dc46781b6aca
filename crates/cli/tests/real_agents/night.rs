//! Tests a whole night with a real agent: everything happens that happens to a run that nobody looks at, and in the
//! morning one report, one corrected file and one answer finish it.

use std::process::{Child, Stdio};

use serde_json::Value;

use crate::real_agents::agent::{Agent, with_agents};
use crate::real_agents::project::{Project, RUN};

/// `ship` has a typo.
const STEPS: &str = "
do:
  - {id: plan, prompt: Plan the work.}
  - {id: build, prompt: Build the work.}
  - {id: review, prompt: Review the work., retry: {max: 9, backoff: 1s}}
  - {id: measure, prompt: Measure the work.}
  - {id: prove, prompt: Prove the work.}
  - {id: ship, run: ecko shipped >> shipped.txt}
  - {id: release, approve: Release it?}
  - {id: report, prompt: Report the work., output: {as: done}}
";

/// Each tool runs until the test lets it end.
const SCRIPT: &str = "
on prompt Plan the
  run touch begun-plan; until test -e go-plan; do sleep 0.1; done
  text Planned.
on prompt Build the
  run touch begun-build; until test -e go-build; do sleep 0.1; done
  text Built.
on prompt Review the
  5x drop
  text Reviewed.
on prompt Measure the
  usage-limit kind=spend reset=+5
  text Measured.
on prompt Prove the
  run touch begun-prove; until test -e go-prove; do sleep 0.1; done
  text Proved.
on prompt Report the
  text Reported.
";

/// A terminal that can be closed: the kernel then hangs up on what runs in it.
fn in_a_terminal(project: &Project) -> Child {
    let longhaul = env!("CARGO_BIN_EXE_longhaul");
    let line = format!("exec '{longhaul}' run w.yaml --run-id {RUN}");
    let mut command = project.program("script".as_ref());
    command.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm").env_remove("NO_COLOR");
    command.env("LONGHAUL_LEASE_MS", "2000");
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn signal(name: &str, pids: &[u32]) {
    let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
    let _ = std::process::Command::new("kill").arg(name).args(&pids).stderr(Stdio::null()).status().unwrap();
}

fn end_tool(project: &Project, name: &str) {
    std::fs::write(project.path(&format!("go-{name}")), "").unwrap();
}

fn background(project: &Project) -> Value {
    serde_json::from_str(&project.longhaul(&["up", "--status", "--json"]).stdout).unwrap()
}

fn stands(project: &Project) -> Value {
    let told = project.longhaul(&["status", RUN, "--json"]);
    serde_json::from_str::<Value>(&told.stdout).unwrap_or_default()["standing"].clone()
}

fn adopted(project: &Project, step: &str) {
    project.until("attempt_adopted", |event| event["path"] == step);
}

fn a_night_is_survived_and_finished_in_the_morning(agent: &Agent) {
    let project = Project::new(agent, SCRIPT, STEPS);
    let heard = project.path("heard");
    let settings = format!(
        "{}\n[channels.phone]\nkind = \"command\"\ncommand = [\"sh\", \"-c\", \"cat >> {}; echo >> {}\"]\n[notify]\nchannels = [\"phone\"]\n",
        project.read("home/.longhaul/config.toml"),
        heard.display(),
        heard.display()
    );
    std::fs::write(project.path("home/.longhaul/config.toml"), settings).unwrap();

    // The terminal is closed during a turn.
    let mut terminal = in_a_terminal(&project);
    project.until_file("begun-plan");
    project.until("session_seen", |_| true);
    terminal.kill().unwrap();
    terminal.wait().unwrap();
    adopted(&project, "plan");
    end_tool(&project, "plan");

    // Everything sleeps past a lease.
    project.until_file("begun-build");
    let asleep = project.processes();
    signal("-STOP", &asleep);
    std::thread::sleep(std::time::Duration::from_secs(5));
    signal("-CONT", &asleep);
    end_tool(&project, "build");

    // The network fails, a usage limit is reached and resets, and the engine is killed.
    project.until_file("begun-prove");
    let worker = background(&project)["engine"]["workers"][0]["pid"].as_u64().unwrap();
    signal("-KILL", &[u32::try_from(worker).unwrap()]);
    adopted(&project, "prove");
    end_tool(&project, "prove");

    // The typo.
    project.until("run_finished", |event| event["outcome"] == "failure");
    let digest = project.ok(&["digest"]);
    assert!(digest.contains("ship") && digest.contains("ecko"), "{digest}");

    // The morning.
    let fixed = project.read("w.yaml").replace("ecko", "echo");
    std::fs::write(project.path("w.yaml"), fixed).unwrap();
    let status = project.ok(&["status", RUN]);
    assert!(status.contains(&format!("longhaul retry {RUN} --with")), "{status}");
    project.ok(&["retry", RUN, "--with", "w.yaml", "--yes", "--detach"]);
    project.until("question_asked", |event| event["path"] == "release");
    project.patiently("the question is sent", || project.read("heard").contains("Release it?").then_some(()));
    project.ok(&["approve", RUN]);
    project.until("run_finished", |event| event["outcome"] == "success");
    assert_eq!(project.output("done"), "Reported.");
    assert_eq!(project.read("shipped.txt"), "shipped\n");
    assert_eq!(stands(&project)["is"], "succeeded");
    is_paid_once(&project);
    is_told_once(&project.read("heard"));
    project.ok(&["up", "--stop"]);
    project.until_quiet();
}

/// Each answer of the script was asked for once, and none remains.
fn is_paid_once(project: &Project) {
    let answers: Vec<String> = project
        .server
        .log()
        .into_iter()
        .filter(|entry| entry.n.is_some() && entry.status == 200)
        .map(|entry| entry.step)
        .filter(|step| step.starts_with("text") || step.starts_with("run"))
        .collect();
    let spoken: Vec<&str> = answers.iter().filter_map(|step| step.strip_prefix("text ")).collect();
    assert_eq!(spoken, ["Planned.", "Built.", "Reviewed.", "Measured.", "Proved.", "Reported."]);
    assert_eq!(answers.len() - spoken.len(), 3, "{answers:?}");
}

/// A person heard of the failure and of the question, each once.
fn is_told_once(heard: &str) {
    let count = |text: &str| heard.lines().filter(|line| line.contains(text)).count();
    assert_eq!(count("Release it?"), 1, "{heard}");
    assert_eq!(count("ecko: command not found"), 1, "{heard}");
}

with_agents!(a_night_is_survived_and_finished_in_the_morning: claude);
