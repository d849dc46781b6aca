//! Lists the workers of a store, the steps that they hold, and the steps that wait.
//!
//! **Invariant:** listing changes nothing. The list follows from the workers and tasks of the store at one moment, so
//! commands, the API and pages agree.

use std::collections::{BTreeSet, HashMap, HashSet};

use longhaul_core::decide::{host_of_label, is_given, no_project_label, project_of_label};
use longhaul_core::event::QuestionKind;
use longhaul_core::explain::waits_for;
use longhaul_core::id::RunId;
use longhaul_core::path::StepPath;
use longhaul_core::task::TaskKey;
use longhaul_store::{Caps, Listed, Task, Worker};
use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::{Engine, Error};
use crate::run::blockers::{reached, waits_for_cap};

/// A worker that has been silent for this long counts as gone. Workers report every few seconds.
const SILENT_MS: i64 = 30_000;
/// The most steps to list: held ones, and waiting ones.
const TOLD_MAX: usize = 200;
/// The most runs to load for their questions.
const READ_MAX: usize = 20;
/// The addition to the reason of a step that no worker can do.
const NOBODY: &str = "; no such worker is there";

/// The workers of a store, and the steps that they hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Roster {
    /// The time of the list, by the clock of the workers.
    pub now: i64,
    /// All workers, sorted by name. This includes silent workers, except those that another worker has replaced.
    pub workers: Vec<Present>,
    /// Steps of processes that are not workers, such as `longhaul run`.
    pub others: Vec<HeldTask>,
    /// Steps that wait for a worker. Steps that no worker can do come first.
    pub waiting: Vec<OpenTask>,
}

/// A worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Worker")]
pub struct Present {
    /// The id of the worker's process.
    pub id: String,
    /// The name of the worker for people.
    pub name: String,
    /// The machine of the worker; empty if machines do not share the store.
    pub host: String,
    /// Its login, if it only takes and reports steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    /// Its labels.
    pub labels: Vec<String>,
    /// The most steps that it takes at once.
    pub slots: u32,
    /// How many steps it holds.
    pub busy: u32,
    /// The version of its program.
    pub version: String,
    /// When it started.
    pub since: i64,
    /// When it last reported.
    pub seen: i64,
    /// Whether its last report is too long ago.
    pub silent: bool,
    /// The steps that it holds.
    pub holds: Vec<HeldTask>,
}

/// A step that is held or waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HeldTask {
    /// The id of the run.
    pub run: String,
    /// The name of the workflow.
    pub workflow: String,
    /// The address of the step.
    pub path: String,
    /// The number of the attempt.
    pub attempt: u32,
}

/// A step that waits for a worker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OpenTask {
    /// The step.
    #[serde(flatten)]
    pub duty: HeldTask,
    /// The labels that a worker needs.
    pub labels: Vec<String>,
    /// The machine that has the files of the run, if the step needs them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Whether none of the workers that are there can do it.
    pub nobody: bool,
    /// The reason for waiting, in words.
    pub text: String,
}

impl Engine {
    /// The machine of this engine, if machines share the store.
    pub fn host(&self) -> Option<&str> {
        self.shared.options.member.host.as_deref()
    }

    /// The project of its checkout, if machines share the store and the project is known.
    pub fn project(&self) -> Option<&str> {
        self.shared.options.member.project.as_deref()
    }

    /// The labels that people gave this worker; with a login, only those that the login allows.
    pub fn labels(&self) -> Vec<String> {
        let mut labels = given(&self.shared.options.member.labels);
        if let Some(may) = self.shared.store.scope().and_then(longhaul_store::LoginScope::labels) {
            labels.retain(|label| may.contains(label));
        }
        labels
    }

    /// Lists the workers, the steps that they hold, and the steps that wait.
    pub async fn roster(&self) -> Result<Roster, Error> {
        let store = &self.shared.store;
        let (listed, now) = (store.workers().await?, self.now_ms());
        // At the end of time all leases have ended, so this lists all held tasks.
        let held = store.expired(i64::MAX, TOLD_MAX).await?;
        let free = store.unheld(TOLD_MAX).await?;
        let mut names = HashMap::new();
        for task in held.iter().chain(&free) {
            if !names.contains_key(&task.run) {
                let row = store.run(&task.run).await?;
                names.insert(task.run.clone(), row.map(|row| row.head.workflow).unwrap_or_default());
            }
        }
        let asked = self.asked(&listed, &free, now).await?;
        Ok(roster(&listed, (&held, &free), &Known { names, asked, caps: &self.shared.options.member.caps }, now))
    }

    /// The runs that wait for a silent machine and ask people what to do.
    async fn asked(&self, listed: &[Listed], free: &[Task], now: i64) -> Result<HashSet<RunId>, Error> {
        let is_stuck = |task: &&Task| host_of(task).is_some() && missing(listed, &task.labels, now).is_some();
        let stuck: BTreeSet<&RunId> = free.iter().filter(is_stuck).map(|task| &task.run).collect();
        let mut asked = HashSet::new();
        for run in stuck.into_iter().take(READ_MAX) {
            // The run may have been removed meanwhile.
            let Ok(loaded) = self.load(run).await else { continue };
            if loaded.state.questions().any(|(_, question)| question.kind == QuestionKind::Machine) {
                asked.insert(run.clone());
            }
        }
        Ok(asked)
    }
}

/// What is known in addition to workers and tasks.
struct Known<'a> {
    /// The workflow of each run.
    names: HashMap<RunId, String>,
    /// Runs that ask what to do about their machine.
    asked: HashSet<RunId>,
    caps: &'a Caps,
}

fn roster(listed: &[Listed], (held, free): (&[Task], &[Task]), known: &Known<'_>, now: i64) -> Roster {
    let names = &known.names;
    let holds = |task: &&Task, listed: &Listed| task.worker.as_ref() == Some(&listed.worker.id);
    let of = |listed: &Listed| held.iter().filter(|task| holds(task, listed)).map(|task| duty(task, names)).collect();
    let is_other = |task: &&Task| !listed.iter().any(|listed| holds(task, listed));
    let mut waiting: Vec<OpenTask> = free.iter().map(|task| wanted(task, (listed, held), known, now)).collect();
    waiting.sort_by_key(|wanted| !wanted.nobody);
    Roster {
        now,
        workers: listed
            .iter()
            .filter(|one| !is_replaced(one, listed, now))
            .map(|listed| present(listed, of(listed), now))
            .collect(),
        others: held.iter().filter(is_other).map(|task| duty(task, names)).collect(),
        waiting,
    }
}

fn present(Listed { worker, busy }: &Listed, holds: Vec<HeldTask>, now: i64) -> Present {
    Present {
        id: worker.id.as_str().to_owned(),
        name: worker.name.clone(),
        host: worker.host.clone(),
        login: worker.id.login().map(str::to_owned),
        labels: given(&worker.labels),
        slots: worker.slots,
        busy: *busy,
        version: worker.version.clone(),
        since: worker.since_ms,
        seen: worker.seen_ms,
        silent: is_silent(worker.seen_ms, now),
        holds,
    }
}

fn wanted(task: &Task, (listed, held): (&[Listed], &[Task]), known: &Known<'_>, now: i64) -> OpenTask {
    let duty = duty(task, &known.names);
    let missing = missing(listed, &task.labels, now);
    let nobody = missing.is_some();
    let mut text = duty.path.parse::<StepPath>().map_or_else(|_| String::new(), |path| waits_for(&path, &task.labels));
    if let Some(missing) = missing {
        text.push_str(&missing);
        if known.asked.contains(&task.run) {
            text.push_str(&format!("; a person is asked what to do: longhaul status {}", task.run));
        }
    } else if let Some(cap) = reached(known.caps, held, &task.labels) {
        text = waits_for_cap(&duty.path, &cap);
    }
    let host = host_of(task).map(str::to_owned);
    OpenTask { duty, labels: given(&task.labels), host, nobody, text }
}

/// The machine that a step waits for.
fn host_of(task: &Task) -> Option<&str> {
    task.labels.iter().find_map(|label| host_of_label(label))
}

fn duty(task: &Task, names: &HashMap<RunId, String>) -> HeldTask {
    HeldTask {
        run: task.run.to_string(),
        workflow: names.get(&task.run).cloned().unwrap_or_default(),
        path: task_name(task),
        attempt: task.attempt,
    }
}

/// The step of a task, or a word for other tasks.
fn task_name(task: &Task) -> String {
    let path = task.key.parse::<TaskKey>().ok().and_then(TaskKey::of_step).map(|(path, _)| path.to_string());
    path.unwrap_or_else(|| task.key.rsplit_once('@').map_or(task.key.as_str(), |(name, _)| name).to_owned())
}

/// The addition to the reason if no worker that is there has these labels.
pub(crate) fn missing(listed: &[Listed], labels: &[String], now: i64) -> Option<String> {
    let there = || listed.iter().map(|listed| &listed.worker).filter(|worker| !is_silent(worker.seen_ms, now));
    let has = |worker: &Worker, label: &String| worker.labels.contains(label);
    if there().any(|worker| labels.iter().all(|label| has(worker, label))) {
        return None;
    }
    // Usually it is the same project, but the worker could not find that out.
    let is_lost = |worker: &&Worker| {
        has(worker, &no_project_label())
            && labels.iter().all(|label| has(worker, label) || project_of_label(label).is_some())
    };
    Some(match there().find(is_lost) {
        Some(worker) => format!("; {} could, but the project of its folder is not known (fleet.project)", worker.name),
        None => NOBODY.to_owned(),
    })
}

/// Whether a silent worker can be left out: it holds nothing, and another worker on its machine has all of its labels.
/// Usually that is the same worker, started again.
fn is_replaced(one: &Listed, listed: &[Listed], now: i64) -> bool {
    let Listed { worker, busy } = one;
    let stands_in = |other: &Listed| {
        let other = &other.worker;
        other.host == worker.host
            && !is_silent(other.seen_ms, now)
            && worker.labels.iter().all(|label| other.labels.contains(label))
    };
    is_silent(worker.seen_ms, now) && *busy == 0 && listed.iter().any(stands_in)
}

pub(crate) fn is_silent(seen_ms: i64, now: i64) -> bool {
    now.saturating_sub(seen_ms) > SILENT_MS
}

/// The labels that people gave.
fn given(labels: &[String]) -> Vec<String> {
    labels.iter().filter(|label| is_given(label)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use longhaul_store::WorkerId;

    use super::*;

    const NOW: i64 = 100_000;

    /// A worker by its name, machine, labels, when it was seen, and how much it holds.
    fn listed(name: &str, host: &str, labels: &str, seen_ms: i64, busy: u32) -> Listed {
        let labels = labels.split(' ').map(str::to_owned).collect();
        let (id, name, host, version) = (WorkerId::new(name), name.to_owned(), host.to_owned(), String::new());
        Listed { worker: Worker { id, name, host, labels, slots: 1, version, since_ms: 0, seen_ms }, busy }
    }

    fn nothing(caps: &Caps) -> Known<'_> {
        Known { names: HashMap::new(), asked: HashSet::new(), caps }
    }

    fn task(run: &str, labels: &[&str]) -> Task {
        let labels = labels.iter().map(|label| (*label).to_owned()).collect();
        let (key, run) = ("one@1".to_owned(), RunId::new(run).unwrap());
        Task { run, key, attempt: 1, worker: None, lease_until_ms: 0, labels }
    }

    #[test]
    fn what_waits_names_the_cap_and_whether_a_person_is_asked() {
        let caps = Caps { all: Some(1), labels: [("gpu".to_owned(), 5)].into() };
        let known = Known { asked: [RunId::new("asks").unwrap()].into(), ..nothing(&caps) };
        let said = |free: Task, held: &[Task]| {
            let there = [listed("there", "alpha", "linux", NOW, 0)];
            roster(&there, (held, &[free]), &known, NOW).waiting.remove(0).text
        };
        assert_eq!(said(task("run-1", &["linux"]), &[]), "`one` waits for a worker with the label linux");
        assert_eq!(
            said(task("run-1", &["linux"]), &[task("run-2", &[])]),
            "`one` waits until another step ends: fleet.max = 1 is reached"
        );
        let gone = "`one` waits for a worker on `beta`, where the files of the run are; no such worker is there";
        assert_eq!(said(task("run-1", &["host:beta"]), &[]), gone);
        let asks = format!("{gone}; a person is asked what to do: longhaul status asks");
        assert_eq!(said(task("asks", &["host:beta"]), &[]), asks);
    }

    fn names(listed: &[Listed]) -> String {
        let roster = roster(listed, (&[], &[]), &nothing(&Caps::default()), NOW);
        let name = |worker: Present| format!("{}{}", worker.name, if worker.silent { "?" } else { "" });
        roster.workers.into_iter().map(name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_silent_worker_is_missed_unless_another_one_stands_in_for_it() {
        let gone = listed("gone", "alpha", "linux gpu", 0, 0);
        let there = |host: &str, labels: &str| listed("there", host, labels, NOW, 0);
        assert_eq!(names(std::slice::from_ref(&gone)), "gone?");
        assert_eq!(names(&[gone.clone(), there("alpha", "gpu linux big")]), "there");
        assert_eq!(names(&[gone.clone(), there("alpha", "linux")]), "gone? there", "it could do more");
        assert_eq!(names(&[gone.clone(), there("beta", "linux gpu")]), "gone? there", "it was elsewhere");
        assert_eq!(names(&[gone.clone(), gone.clone()]), "gone? gone?", "neither is there");
        let holds = listed("holds", "alpha", "linux", 0, 1);
        assert_eq!(names(&[holds, there("alpha", "linux")]), "holds? there", "what it holds is to be seen");
        let slow = listed("slow", "alpha", "linux", NOW - SILENT_MS, 0);
        assert_eq!(names(&[slow, there("alpha", "linux")]), "slow there", "it is not silent yet");
    }

    #[test]
    fn a_worker_of_no_known_project_is_named_where_it_could_do_the_step() {
        let said = |labels: &str| missing(&[listed("bert", "", labels, NOW, 0)], &step(), NOW);
        fn step() -> [String; 2] {
            ["gpu", "project:abc"].map(str::to_owned)
        }
        assert_eq!(said("gpu project:abc"), None);
        assert_eq!(said("gpu project:other").as_deref(), Some(NOBODY));
        assert_eq!(said("linux project:").as_deref(), Some(NOBODY));
        let named = "; bert could, but the project of its folder is not known (fleet.project)";
        assert_eq!(said("gpu project:").as_deref(), Some(named));
    }
}
