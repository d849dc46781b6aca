//! Tests values of any shape and size: they pass through a run unchanged, or are refused with the reason.

use serde_json::json;

use super::*;

/// Values that look like our own encoding, values at the limits of a type, unusual text.
fn nasty() -> Vec<Value> {
    let deep = |levels: usize| (0..levels).fold(json!(1), |value, _| json!([value]));
    vec![
        json!(null),
        json!({}),
        json!([]),
        json!(""),
        json!({"$blob": "zzz"}),
        json!({"$blob": "0".repeat(64)}),
        json!({"refs": [{"at": "", "blob": "0".repeat(64)}], "body": {}}),
        json!("\u{1}secrets.X\u{1} \u{1}env.HOME\u{1} {{ secrets.X }} {% raw %}"),
        json!({"": 1, "/": 2, "~": 3, "~1/~0": {"a/b": "c"}}),
        json!([u64::MAX, i64::MIN, 0, -1, 1.5, 1e300, 5e-324, 0.1, 123_456_789.123_456_79]),
        json!("é\u{0}\u{feff}\u{2028}\u{1f980}\u{7f}\\\"\n\r\t"),
        json!("long ".repeat(4_000)),
        json!(vec!["x".repeat(900); 50]),
        json!({"event": "run_finished", "outcome": "success", "seq": 1}),
        deep(60),
    ]
}

const WORKFLOW: &str = r#"
name: w
inputs: {vs: {type: array}}
do:
  - id: all
    for_each: vs
    do: [{id: w, run: {command: cat, stdin: "{{ item | tojson }}"}, output: {as: r, parse: json}}]
    output: rs
  - {id: again, set: {same: "{{ rs | map(attribute='r') | list }}"}}
  - {id: hear, wait: {event: told}, output: heard}
  - {id: who, ask: "Which?", output: said}
outputs: {vs: vs, rs: "{{ rs | map(attribute='r') | list }}", same: same, heard: heard, said: said}
"#;

#[test]
fn any_json_is_the_same_after_everything_that_a_run_goes_through() {
    let project = Project::new(WORKFLOW);
    let told = serde_json::to_string(&nasty()).unwrap();
    project.ok(&["run", "w.yaml", "--run-id", RUN, "--queue", "--input", &format!("vs={told}")]);
    project.ok(&["signal", RUN, "told", &told]);
    project.longhaul(&["resume", RUN]);
    project.ok(&["answer", RUN, "who", &told]);
    assert_eq!(project.longhaul(&["resume", RUN]).code, 0);
    let wanted = json!(nasty());
    let whole = |project: &Project| {
        let outputs = project.json(&["outputs", RUN, "--json"]);
        for name in ["vs", "rs", "same", "heard"] {
            assert_eq!(outputs[name], wanted, "{name}");
        }
        assert_eq!(outputs["said"], told);
        let export = project.json(&["export", RUN]);
        assert_eq!(export["outputs"]["rs"], wanted);
        project.ok(&["store", "check"]);
    };
    whole(&project);
    project.ok(&["prune", "--older", "0s", "--archive", "away", "--yes"]);
    project.ok(&["import", &format!("away/{RUN}.longhaul.gz")]);
    whole(&project);
    project.ok(&["store", "backup", "other.db"]);
    let copied = project.command(&["outputs", RUN, "--json"]).env("LONGHAUL_STORE", project.path("other.db")).output();
    let copied: Value = serde_json::from_slice(&copied.unwrap().stdout).unwrap();
    assert_eq!((&copied["rs"], &copied["said"]), (&wanted, &json!(told)));
}

#[test]
fn data_reads_no_secret_and_is_not_changed() {
    let project = Project::new(
        "name: w\ndo:\n  - {id: a, run: \"printf 'one\\\\001env.CANARY\\\\001two \\\\001secrets.X\\\\001'\", output: x}\n  \
         - {id: b, run: 'printf %s {{ x }}', env: {Y: '{{ x }}'}, output: y}\noutputs: {y: y}\n",
    );
    let mut command = project.command(&["run", "w.yaml", "--run-id", RUN]);
    let told = told(command.env("LONGHAUL_SECRET_X", "the-secret").env("CANARY", "the-canary").output().unwrap());
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert_eq!(project.json(&["outputs", RUN])["y"], "one\u{1}env.CANARY\u{1}two \u{1}secrets.X\u{1}");
}

#[test]
fn a_run_of_the_command_line_reads_the_variables_of_its_user() {
    let project =
        Project::new("name: w\ndo:\n  - {id: a, run: 'printf %s {{ env.CANARY }}', output: x}\noutputs: {x: x}\n");
    let mut command = project.command(&["run", "w.yaml", "--run-id", RUN]);
    let told = told(command.env("CANARY", "the-canary").output().unwrap());
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert_eq!(project.json(&["outputs", RUN])["x"], "the-canary");
}

#[test]
fn many_small_results_are_kept_and_nothing_is_done_again() {
    let project = Project::new(
        "name: w\ndo:\n  - id: all\n    for_each: 'range(1100) | list'\n    parallel: 16\n    \
         do: [{id: w, set: {rep: \"{{ '%01000d' | format(index) }}\"}}]\n    output: reports\n  \
         - {id: big, set: {two: '{{ range(30000) | list }}'}}\n  - {id: z, run: 'echo z >> $LOG; echo {{ two | length }}', output: n}\noutputs: {n: n}\n",
    );
    let told = project.run();
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert_eq!(project.json(&["outputs", RUN])["n"], "30000");
    project.longhaul(&["resume", RUN]);
    assert_eq!(project.log(), ["z"]);
    project.ok(&["store", "check"]);
}

#[test]
fn an_output_is_whole_or_its_step_fails() {
    let project = Project::new(
        "name: w\ndo:\n  - {id: a, run: 'seq 1 100000', output: {as: x, parse: lines}}\n  \
         - {id: j, run: 'echo \"[$(seq -s, 1 100000)]\"', output: {as: y, parse: json}}\n  \
         - {id: large, run: 'head -c 2000000 /dev/zero', on_error: continue}\n  \
         - {id: deep, run: \"printf '[%.0s' $(seq 120); printf ']%.0s' $(seq 120)\", output: {as: d, parse: json}, on_error: continue}\n  \
         - {id: number, run: 'echo 123456789012345678901', output: {as: e, parse: json}, on_error: continue}\n  \
         - {id: long, run: 'head -c 200000 /dev/zero | tr \"\\0\" y', output: l}\n  \
         - {id: arg, run: 'printf %s {{ l }}', on_error: continue}\n  \
         - {id: stdin, run: {command: wc -c, stdin: '{{ l }}'}, output: n}\noutputs: {x: '{{ x | length }}', last: '{{ x[99999] }}', y: '{{ y | length }}', n: n}\n",
    );
    project.user_settings("[values]\nmax_mib = 1\n");
    let told = project.run();
    assert_eq!(told.code, 0, "{}", told.stderr);
    let outputs = project.json(&["outputs", RUN]);
    assert_eq!(outputs, json!({"x": 100_000, "last": "100000", "y": 100_000, "n": "200000"}));
    for (step, why) in [
        ("large", "the output is larger than 1 MiB, and nothing is cut"),
        ("deep", "nested more than 96 levels deep"),
        ("number", "the number 123456789012345678901 does not fit into 64 bits"),
        ("arg", "give it to the command with `stdin`"),
    ] {
        let failed =
            project.events().into_iter().find(|event| event["event"] == "attempt_failed" && event["path"] == step);
        let message = failed.unwrap_or_else(|| panic!("{step} did not fail"))["error"]["message"].to_string();
        assert!(message.contains(why), "{step}: {message}");
    }
}

#[test]
fn what_would_be_changed_is_refused_where_it_comes_in() {
    let deep = format!("{}{}", "[".repeat(120), "]".repeat(120));
    let project = Project::new("name: w\ninputs: {v: {}}\ndo:\n  - {id: hear, wait: {event: told}}\n");
    let given = |value: &str| {
        project.longhaul(&["run", "w.yaml", "--run-id", RUN, "--queue", "--input", &format!("v={value}")])
    };
    for (value, why) in [(deep.as_str(), "nested"), ("123456789012345678901", "64 bits")] {
        let told = given(value);
        assert_eq!((told.code, told.stderr.contains(why)), (2, true), "{}", told.stderr);
    }
    given("1");
    project.refuses(&["signal", RUN, "told", &deep], "nested");
    project.refuses(&["signal", RUN, "told", "[123456789012345678901]"], "64 bits");
}

#[test]
fn no_run_takes_the_place_of_a_journal_of_longhaul() {
    let project = Project::new("name: w\ndo: [{run: 'true'}]\n");
    for name in ["longhaul-shelf", "longhaul-consent", "longhaul-upkeep", "longhaul-x"] {
        let told = project.longhaul(&["run", "w.yaml", "--run-id", name]);
        assert_eq!((told.code, told.stderr.contains("choose an id")), (2, true), "{}", told.stderr);
    }
    project.ok(&["registry", "push", "w.yaml"]);
    project.ok(&["registry", "versions", "w"]);
}
