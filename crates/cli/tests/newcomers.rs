//! Tests the first days of a user: a reasonable command works, or the message says what to do instead.

use crate::binary::project::{Project, RUN};

const ECHO: &str = "name: w\ndo:\n  - {id: a, run: echo hello}\n";
const GATE: &str = "name: w\ndo:\n  - {id: gate, approve: 'Go?'}\n";

#[test]
fn what_has_no_effect_is_warned_about() {
    let text = "name: w\ngates: {guardrail: {terms: [x]}, confidence: {enabled: false}}\nlimits: {usd: 1, alert_at: 80}\n\
                triggers: [{cron: '0 7 * * *'}]\nagents: {lead: {team: [{persona: engineer}]}}\n\
                do:\n  - {id: a, run: echo hello, writes: [src], requires: [git]}\n";
    let told = Project::new(text).longhaul(&["check", "w.yaml"]);
    assert_eq!(told.code, 0, "{}", told.stdout);
    for key in ["gates.guardrail", "limits.alert_at", "triggers", "team", "writes", "requires"] {
        assert!(told.stdout.contains(&format!("`{key}` has no effect in this version")), "{key}: {}", told.stdout);
    }
    assert_eq!(
        told.stdout.matches("warning[LH0514]").count(),
        6,
        "what is switched off asks for nothing: {}",
        told.stdout
    );
}

#[test]
fn what_has_no_effect_in_a_file_of_another_system_is_a_note() {
    let text = "name: w\nbudget: {max_usd_per_task: 1, alert_at_percent: 80}\nsteps:\n  - {id: a, agent: Coder, prompt: hello}\n";
    let told = Project::new(text).longhaul(&["check", "w.yaml"]);
    assert!(told.stdout.contains("note[LH0514]") && !told.stdout.contains("warning[LH0514]"), "{}", told.stdout);
}

#[test]
fn what_ships_is_free_of_keys_without_effect() {
    let project = Project::new(ECHO);
    for workflow in project.json(&["list", "--json"]).as_array().unwrap() {
        let told = project.longhaul(&["check", workflow["name"].as_str().unwrap()]);
        assert!(!told.stdout.contains("LH0514"), "{}", told.stdout);
    }
}

#[test]
fn a_run_that_a_limit_pauses_is_left_waiting_when_nobody_is_there() {
    let project = Project::new(
        "name: w\nlimits: {steps: 1, on_exceed: ask}\ndo:\n  - {id: a, run: echo one}\n  - {id: b, run: echo two}\n",
    );
    let told = project.run();
    assert_eq!(told.code, 3, "{}", told.stderr);
    assert!(
        told.stderr.contains("run-1 is paused at the limit on steps; raise it: longhaul budget run-1 --steps +50"),
        "{}",
        told.stderr
    );
    project.ok(&["unpause", RUN]);
    assert_eq!(project.longhaul(&["resume", RUN]).code, 0);
}

#[test]
fn the_declared_type_decides_how_an_input_is_read() {
    let project = Project::new(
        "name: w\ninputs: {version: {type: string}, count: {type: integer, default: 1}}\noutputs: {v: inputs.version, n: inputs.count}\n\
         do:\n  - {id: a, run: 'echo {{ inputs.version }}'}\n",
    );
    project.ok(&["run", "w.yaml", "--run-id", RUN, "--input", "version=1.2", "--input", "count=2"]);
    let outputs = project.json(&["outputs", RUN]);
    assert_eq!((outputs["v"].as_str(), outputs["n"].as_i64()), (Some("1.2"), Some(2)));
    let forked = project.ok(&["fork", RUN, "--at", "a", "--input", "version=3"]);
    project.ok(&["resume", forked.trim()]);
    assert_eq!(project.json(&["outputs", forked.trim()])["v"], "3");
}

#[test]
fn a_trigger_maps_what_is_delivered_to_inputs() {
    let project =
        Project::new("name: w\ninputs: {title: {type: string}}\noutputs: {t: inputs.title}\ndo:\n  - {run: echo}\n");
    project.ok(&["triggers", "add", "hook", "w.yaml", "--map", "title=$.issue.title"]);
    let run = project.ok(&["triggers", "run", "hook", "--input", "issue={\"title\": \"7\"}"]);
    project.ok(&["resume", run.trim()]);
    assert_eq!(project.json(&["outputs", run.trim()])["t"], "7");
    let told = project.longhaul(&["triggers", "run", "hook", "--input", "isue={}", "--input", "title=x"]);
    assert!(told.stderr.contains("there is no input `isue`"), "{}", told.stderr);
}

#[test]
fn settings_that_nobody_reads_are_warned_about() {
    let project = Project::new(ECHO);
    project.user_settings("agnet = 'claude'\n[limits]\nbackend = { claude = 1 }\n");
    for args in [&["run", "w.yaml"][..], &["runs"], &["agents"]] {
        let told = project.longhaul(args);
        assert_eq!(told.code, 0, "{args:?}: {}", told.stderr);
        assert!(
            told.stderr.contains("`agnet` is unknown and has no effect; did you mean `agent`?"),
            "{args:?}: {}",
            told.stderr
        );
    }
    let doctor = project.longhaul(&["doctor"]).stdout;
    assert!(doctor.contains("did you mean `limits.backends`?"), "{doctor}");
}

#[test]
fn settings_of_a_fleet_that_can_have_no_effect_are_warned_about() {
    let project = Project::new(ECHO);
    project.user_settings("[fleet]\nwhen_host_gone = 'rebuild'\n[fleet.backends.claud]\nmax = 1\n");
    for (args, out) in [(&["run", "w.yaml"][..], false), (&["doctor"], true)] {
        let told = project.longhaul(args);
        let said = if out { told.stdout } else { told.stderr };
        assert!(said.contains("`fleet.sync` is not set"), "{args:?}: {said}");
        assert!(said.contains("did you mean `fleet.backends.claude`?"), "{args:?}: {said}");
    }
    project.user_settings("[fleet]\nmax = \n");
    let told = project.longhaul(&["runs"]);
    assert!(told.stderr.contains("it is not TOML: line 2, column ") && !told.stderr.contains('␊'), "{}", told.stderr);
}

#[test]
fn a_worker_refuses_what_it_can_not_be() {
    let project = Project::new(ECHO);
    for (args, why) in [
        (["--slots", "0"], "a worker without slots does nothing"),
        (["--name", " "], "the name is empty"),
        (["--labels", "gpu,a b"], "a label has no spaces"),
    ] {
        let told = project.longhaul(&["worker", args[0], args[1]]);
        assert!(told.code != 0 && told.stderr.contains(why), "{args:?}: {}", told.stderr);
    }
}

#[test]
fn the_step_need_not_be_named_where_only_one_asks() {
    let project = Project::new("name: w\ndo:\n  - {id: who, ask: 'Who?', output: who}\noutputs: {who: who}\n");
    project.run();
    let status = project.ok(&["status", RUN]);
    assert!(status.contains("longhaul answer run-1 who VALUE"), "{status}");
    let told = project.longhaul(&["answer", RUN, "who"]);
    assert!(told.code != 0 && told.stderr.contains("what is the answer?"), "a step is no answer: {}", told.stderr);
    project.ok(&["answer", RUN, "somebody"]);
    project.ok(&["resume", RUN]);
    assert_eq!(project.json(&["outputs", RUN])["who"], "somebody");
}

#[test]
fn lists_take_several_statuses_and_refuse_unknown_ones() {
    let project = Project::new(ECHO);
    project.ok(&["run", "w.yaml", "--run-id", "a-run-with-quite-a-long-name"]);
    project.ok(&["run", "w.yaml", "--run-id", RUN]);
    let runs = project.ok(&["runs", "--status", "succeeded,failed"]);
    let columns: Vec<usize> = runs.lines().skip(1).map(|line| line.find("succeeded").unwrap()).collect();
    assert_eq!(columns, [30, 30], "{runs}");
    assert!(!project.ok(&["runs", "--status", "failed", "--json"]).contains(RUN));
    let told = project.longhaul(&["runs", "--status", "done"]);
    assert!(
        told.code != 0 && told.stderr.contains("queued, running, waiting, paused, stopped, succeeded"),
        "{}",
        told.stderr
    );
}

#[test]
fn events_can_be_those_of_a_step_and_logs_end_their_line() {
    let project = Project::new("name: w\ndo:\n  - {id: a, run: 'printf one'}\n  - {id: ab, run: 'printf two'}\n");
    assert_eq!(project.run().code, 0);
    let events = project.ok(&["events", RUN, "a", "--json"]);
    assert!(events.contains("\"path\":\"a\"") && !events.contains("\"path\":\"ab\""), "{events}");
    assert!(!events.contains("run_started"), "{events}");
    assert!(project.longhaul(&["events", RUN, "x"]).stderr.contains("there is no step `x`"));
    assert_eq!(project.ok(&["logs", RUN]), "one\ntwo");
}

#[test]
fn a_grant_answers_what_was_asked_before_it() {
    let project = Project::new("name: w\ndo:\n  - {id: a, run: echo deployed, risk: high, uses: ['web:deploy']}\n");
    assert_eq!(project.run().code, 3);
    project.ok(&["consent", "grant", "web:deploy", "--once"]);
    // A second grant finds the question answered, and stays unused.
    project.ok(&["consent", "grant", "web:deploy", "--once"]);
    assert_eq!(project.longhaul(&["resume", RUN]).code, 0);
    assert_eq!(project.found("answered")["caller"]["auth"], "grant");
    assert_eq!(project.json(&["consent", "list", "--json"])["grants"].as_array().unwrap().len(), 1);
}

#[test]
fn a_secret_that_is_not_set_is_named_by_its_variable() {
    let project = Project::new("name: w\ndo:\n  - {id: a, run: echo $T, env: {T: '{{ secrets.TOKEN }}'}}\n");
    let told = project.run();
    assert!(told.stdout.contains("`LONGHAUL_SECRET_TOKEN`"), "{}{}", told.stdout, told.stderr);
}

#[test]
fn a_name_of_a_file_beside_is_hinted_at() {
    let told = Project::new(ECHO).longhaul(&["run", "w"]);
    assert!(told.stderr.contains("did you mean `w.yaml`?"), "{}", told.stderr);
}

/// A step's script often has the same name as its workflow.
#[test]
fn a_script_with_the_name_of_a_workflow_is_not_taken_for_it() {
    let project = Project::new(ECHO);
    std::fs::create_dir_all(project.path(".longhaul/workflows")).unwrap();
    std::fs::write(project.path(".longhaul/workflows/train.yaml"), ECHO).unwrap();
    std::fs::write(project.path("train"), "#!/bin/sh\necho choo\n").unwrap();
    let told = project.longhaul(&["run", "train"]);
    assert_eq!(told.code, 0, "{}{}", told.stdout, told.stderr);
    let told = project.longhaul(&["run", "./train"]);
    let said = told.stdout + &told.stderr;
    assert!(told.code != 0 && said.contains("train:2:1"), "{said}");
}

#[test]
fn the_newest_run_is_shown_when_none_is_named() {
    let project = Project::new(ECHO);
    assert!(project.longhaul(&["status"]).stderr.contains("there is no run yet"));
    project.run();
    assert!(project.ok(&["status"]).starts_with("run-1 w: succeeded"));
}

#[test]
fn an_input_of_a_workflow_without_inputs_is_refused_in_words() {
    let told = Project::new(ECHO).longhaul(&["run", "w.yaml", "--input", "x=1"]);
    assert!(told.stderr.contains("there is no input `x`; `w` has no inputs but its task"), "{}", told.stderr);
}

#[test]
fn a_run_that_is_over_says_so_when_it_is_resumed() {
    let project = Project::new(ECHO);
    project.run();
    let told = project.longhaul(&["resume", RUN]);
    assert_eq!(
        (told.code, told.stderr.trim()),
        (0, "run-1 is over: it succeeded; longhaul outputs run-1 prints what it left")
    );
    let project = Project::new("name: w\ndo:\n  - {id: a, run: exit 1}\n");
    project.run();
    let told = project.longhaul(&["resume", RUN]);
    assert_eq!((told.code, told.stderr.trim()), (1, "run-1 is over: it failed; longhaul retry run-1 starts it again"));
    project.ok(&["retry", RUN]);
    assert!(project.longhaul(&["resume", RUN]).stdout.contains("starts again"), "what it was told is heard first");
}

#[test]
fn what_the_policy_denies_says_why() {
    let project = Project::new("name: w\ndo:\n  - {id: a, run: echo dropped, risk: critical, uses: ['db:drop']}\n");
    let told = project.run();
    assert!(told.stdout.contains("✗ a: the policy does not let it do `db:drop`"), "{}", told.stdout);
}

#[test]
fn an_end_that_fails_does_not_go_on() {
    let project = Project::new("name: w\nstart: failed\nnodes:\n  - {id: failed, end: failure, message: no}\n");
    let told = project.run();
    assert!(told.code == 1 && !told.stdout.contains("continues"), "{}", told.stdout);
}

#[test]
fn what_is_for_retry_is_said_there_alone() {
    let project = Project::new(ECHO);
    for command in ["approve", "deny", "answer"] {
        assert!(!project.ok(&[command, "--help"]).contains("--from"), "{command}");
    }
    assert!(project.ok(&["retry", "--help"]).contains("--from"));
}

#[test]
fn a_run_that_nobody_drives_can_be_paused_and_let_go_on() {
    let project = Project::new(GATE);
    assert_eq!(project.run().code, 3);
    project.ok(&["pause", RUN]);
    project.refuses(&["pause", RUN], "it is paused already");
    project.ok(&["unpause", RUN]);
    project.refuses(&["unpause", RUN], "it is not paused");
    project.ok(&["approve", RUN]);
    assert_eq!(project.longhaul(&["resume", RUN]).code, 0);
}

#[test]
fn roles_of_the_organisation_are_as_it_says() {
    let project = Project::new("name: w\ndo:\n  - {id: gate, approve: 'Go?', approvals: 'role:ops'}\n");
    project.user_settings(&format!("[roles]\nops = ['{}']\n", whoami()));
    std::fs::create_dir_all(project.path("organisation")).unwrap();
    std::fs::write(project.path("organisation/config.toml"), "[roles]\nops = ['nobody-here']\n").unwrap();
    assert_eq!(project.run().code, 3);
    project.refuses(&["approve", RUN], "only `ops` may answer this");
    std::fs::write(project.path("organisation/config.toml"), "").unwrap();
    project.ok(&["approve", RUN]);
}

fn whoami() -> String {
    String::from_utf8(std::process::Command::new("id").arg("-un").output().unwrap().stdout).unwrap().trim().to_owned()
}

#[test]
fn a_step_can_not_end_its_own_run() {
    let tries = "\"$LONGHAUL\" cancel run-1 2>> \"$OUT\"; \"$LONGHAUL\" pause run-1 2>> \"$OUT\"; \"$LONGHAUL\" retry run-1 2>> \"$OUT\"; true";
    let project = Project::new(&format!("name: w\ndo:\n  - id: a\n    run: |\n      {tries}\n"));
    assert_eq!(project.run().code, 0);
    let said = std::fs::read_to_string(project.path("out")).unwrap();
    assert_eq!(said.matches("a step of run-1 cannot decide what becomes of run-1").count(), 3, "{said}");
}

#[test]
fn a_run_that_is_not_let_in_says_for_what_it_waits() {
    let project = Project::new("name: w\nconcurrency: {group: one, max: 1}\ndo:\n  - {id: gate, approve: 'Go?'}\n");
    assert_eq!(project.run().code, 3);
    let mut second = project.command(&["run", "w.yaml", "--run-id", "run-2"]);
    let mut second = second.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let said = std::io::BufRead::lines(std::io::BufReader::new(second.stderr.take().unwrap()));
    let queued = said.map(Result::unwrap).find(|line| line.starts_with("queued"));
    second.kill().unwrap();
    second.wait().unwrap();
    assert!(queued.unwrap().contains("at most 1 run of the group `one` at once"));
}

#[test]
fn help_has_two_tiers() {
    let project = Project::new(ECHO);
    let first = project.longhaul(&["--help"]);
    assert_eq!(first.code, 0);
    assert!(first.stdout.contains("longhaul help all: everything else"), "{}", first.stdout);
    assert_eq!(project.longhaul(&["help"]).stdout.trim(), first.stdout.trim());
    let all = project.longhaul(&["help", "all"]);
    assert_eq!(all.code, 0);
    assert!(all.stdout.lines().count() > 2 * first.stdout.lines().count(), "{}", all.stdout);
    let one = project.longhaul(&["help", "registry", "push"]);
    assert_eq!(one.stdout.trim(), project.longhaul(&["registry", "push", "--help"]).stdout.trim());
    let none = project.longhaul(&["help", "nonsense"]);
    assert!(none.code == 2 && none.stderr.contains("longhaul help all"), "{}", none.stderr);
}

#[test]
fn an_unknown_command_names_the_one_that_is_meant() {
    let project = Project::new(ECHO);
    for (typed, meant) in [
        ("kill", "longhaul cancel "),
        ("halt", "longhaul stop "),
        ("ps", "longhaul runs "),
        ("start", "longhaul run "),
        ("aprove", "longhaul approve "),
        ("push", "longhaul registry push "),
    ] {
        let told = project.longhaul(&[typed, "w.yaml"]);
        assert_eq!((told.code, told.stdout.as_str()), (2, ""), "{typed}");
        assert!(told.stderr.contains(&format!("`{typed}` is not a command. Did you mean:")), "{}", told.stderr);
        assert!(told.stderr.contains(meant), "{typed}: {}", told.stderr);
    }
    let told = project.longhaul(&["xyzzy"]);
    assert!(told.code == 2 && told.stderr.contains("longhaul help all") && !told.stderr.contains("mean"));
    let below = project.longhaul(&["registry", "psuh"]);
    assert!(below.code == 2 && below.stderr.contains("'push'"), "{}", below.stderr);
}

#[test]
fn a_run_that_waits_for_a_person_needs_you() {
    let project = Project::new(GATE);
    assert_eq!(project.run().code, 3);
    let listed = project.ok(&["runs"]);
    assert!(listed.contains("needs you"), "{listed}");
    assert_eq!(project.json(&["runs", "--json"])[0]["status"], "waiting");
    project.ok(&["approve", RUN]);
    assert_eq!(project.longhaul(&["resume", RUN]).code, 0);
    assert!(!project.ok(&["runs"]).contains("needs you"));
}

/// Commands with subcommands.
const GROUPS: [&str; 5] = ["consent", "machines", "registry", "store", "triggers"];

#[test]
fn every_command_that_the_docs_show_exists() {
    let project = Project::new(ECHO);
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let pages =
        pages_below(&root.join("docs")).into_iter().chain(["README.md", "CONTRIBUTING.md"].map(|page| root.join(page)));
    let texts: Vec<String> = pages.map(|page| std::fs::read_to_string(page).unwrap()).collect();
    let shown: std::collections::BTreeSet<Vec<&str>> = texts.iter().flat_map(|text| commands_in(text)).collect();
    assert!(shown.len() > 50, "{shown:?}");
    for command in shown {
        let told = project.longhaul(&[&["help"], command.as_slice()].concat());
        assert_eq!(told.code, 0, "longhaul {}: {}", command.join(" "), told.stderr);
    }
}

fn pages_below(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let pages = entries.flat_map(|path| if path.is_dir() { pages_below(&path) } else { vec![path] });
    pages.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect()
}

/// The commands in lines and in code of a page.
fn commands_in(text: &str) -> Vec<Vec<&str>> {
    let lines = text.lines().filter_map(|line| line.trim().trim_start_matches("$ ").strip_prefix("longhaul "));
    let code = text.split("`longhaul ").skip(1);
    lines.chain(code).filter_map(command).collect()
}

/// The name of a command, and of the one below it.
fn command(typed: &str) -> Option<Vec<&str>> {
    let mut words =
        typed.split(|c: char| !c.is_ascii_lowercase() && c != '-').take(2).take_while(|word| !word.is_empty());
    let first = words.next().filter(|word| !word.starts_with('-'))?;
    let below = words.next().filter(|word| GROUPS.contains(&first) && !word.starts_with('-'));
    Some([first].into_iter().chain(below).collect())
}
