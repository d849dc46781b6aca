//! Tests the screens and the keys: runs in virtual time, as text.

use std::collections::HashMap;

use longhaul_core::status::RunStatus;
use longhaul_core::view;
use longhaul_testkit::VirtualWorld;

use super::act::{Around, Deed, Ui, press};
use super::frame::{self, Seen};
use super::keys::Key;
use super::line::Line;
use super::rows::rows;
use super::table::{self, Entry, Place, Wish};

/// A run after `ms` milliseconds.
fn seen(workflow: &str, script: &str, ms: i64) -> Seen {
    let mut world = VirtualWorld::new(workflow, script).unwrap();
    world.run_for(ms).unwrap();
    Seen {
        name: "r-1".to_owned(),
        run: view::run(&world.plan, &world.state, world.now()),
        steps: view::steps(&world.plan, &world.state, world.now()),
        asked: view::questions(&world.plan, &world.state),
        standing: view::standing("r-1", &world.plan, &world.state),
        said: HashMap::new(),
        leaving: "stop",
    }
}

fn text(lines: &[Line]) -> String {
    lines.iter().map(Line::text).collect::<Vec<_>>().join("\n")
}

fn shown(seen: &Seen, ui: &Ui, columns: usize, height: usize) -> String {
    let lines = frame::frame(seen, ui, columns, height);
    assert!(lines.len() < height.max(2), "{} lines in {height}", lines.len());
    assert!(lines.iter().all(|line| line.width() <= columns), "{lines:?}");
    text(&lines)
}

const LANES: &str = "
name: lanes
steps:
  - {id: build, run: make}
  - {id: lint, depends_on: build, run: lint}
  - {id: review, depends_on: build, agent: engineer, prompt: Look., output: {as: said}}
  - {id: docs, depends_on: build, when: 'false', run: docs}
  - {id: report, depends_on: [lint, review], agent: engineer, prompt: 'Sum up {{ said }}'}
";

const LOOPS: &str = "
name: loops
do:
  - id: tasks
    for_each: '[1, 2, 3]'
    do:
      - id: cycle
        repeat: {until: steps.check.exit_code == 0, max: 3}
        do:
          - {id: work, agent: engineer, prompt: Do it.}
          - {id: check, run: make test, on_error: continue}
";
const LOOPS_SCRIPT: &str = "
tasks[1]/cycle[0]/check -> fail failed no with {\"exit_code\": 1}
tasks[*]/cycle[*]/check -> ok \"fine\" with {\"exit_code\": 0}
tasks[1]/cycle[1]/work -> slow 1h ok
";

const GATES: &str = "
name: gates
do:
  - id: plan
    agent: engineer
    prompt: Plan it.
    output: {as: plan, schema: {title: string}}
    review: Is this a good plan?
";

const CHOICE: &str = "
name: choice
do:
  - {id: which, ask: Which of them?, answer: {type: array, items: {enum: [red, green, blue]}}, output: colours}
";

#[test]
fn steps_that_go_on_at_once_are_beside_each_other_with_what_their_agents_say() {
    let mut seen = seen(LANES, "build -> ok\nlint -> slow 9s ok\nreview -> slow 9s ok", 4_500);
    let path = "review".parse().unwrap();
    seen.said
        .insert(path, "Reading \u{1b}[2J検査する、そして長い行は切られる because it is far too long to fit".to_owned());
    insta::assert_snapshot!(shown(&seen, &Ui::default(), 80, 24));
}

#[test]
fn loops_have_counters_and_show_what_is_not_over() {
    let mut seen = seen(LOOPS, LOOPS_SCRIPT, 20_000);
    let folded = shown(&seen, &Ui::default(), 80, 24);
    let mut ui = Ui::default();
    type_in(&mut ui, &mut seen, &[Key::Down, Key::Enter, Key::Enter, Key::Left, Key::Right]);
    insta::assert_snapshot!(format!(
        "{folded}\n\nthe first row closed and opened again:\n{}",
        shown(&seen, &ui, 80, 24)
    ));
}

#[test]
fn what_failed_and_how_it_ended_stays_to_be_read() {
    let seen = seen(LANES, "build -> fail failed no such target", 9_000);
    insta::assert_snapshot!(text(&frame::last(&seen, &Ui::default(), 80, 24)));
}

#[test]
fn small_terminals_show_the_part_that_matters() {
    let many: String = (0..40).map(|n| format!("  - {{id: s{n}, run: x}}\n")).collect();
    let seen = seen(&format!("name: many\ndo:\n{many}"), "s20 -> hang", 60_000);
    let mut ui = Ui::default();
    let sizes = [(80, 12), (30, 8), (12, 4), (3, 2), (1, 1)];
    let frames: Vec<String> = sizes.iter().map(|(columns, height)| shown(&seen, &ui, *columns, *height)).collect();
    ui.cursor = Some("s2".parse().unwrap());
    insta::assert_snapshot!(format!("{}\n\nwith the cursor:\n{}", frames.join("\n\n"), shown(&seen, &ui, 80, 12)));
}

#[test]
fn a_review_is_approved_denied_with_a_reason_or_edited() {
    let mut seen = seen(GATES, "plan -> ok {\"title\": \"a\"}", 5_000);
    let path = seen.asked[0].path.clone();
    let mut ui = Ui::default();
    let asked = shown(&seen, &ui, 80, 24);
    let reads = type_in(&mut ui, &mut seen, &[Key::Letter('a'), Key::Letter('e'), Key::Letter('v')]);
    let approve = longhaul_core::event::Answer::Approve;
    assert_eq!(reads, [Deed::Answer(path.clone(), approve), Deed::Edit(path.clone()), Deed::Read(path.clone())]);
    assert_eq!(type_in(&mut ui, &mut seen, &[Key::Letter('d'), Key::Letter('n'), Key::Letter('q')]), []);
    let typing = shown(&seen, &ui, 80, 24);
    let denied = type_in(&mut ui, &mut seen, &[Key::Back, Key::Letter('o'), Key::Enter]);
    let reason = Some("no".to_owned());
    assert_eq!(denied, [Deed::Answer(path, longhaul_core::event::Answer::Deny { reason })]);
    let whole = text(&frame::whole(&seen.asked[0], 40));
    insta::assert_snapshot!(format!("{asked}\n\ntyping:\n{typing}\n\nthe whole:\n{whole}"));
}

#[test]
fn several_can_be_chosen_before_the_answer_goes() {
    let mut seen = seen(CHOICE, "", 2_000);
    let path = seen.asked[0].path.clone();
    let mut ui = Ui::default();
    let keys = [Key::Letter('1'), Key::Letter('2'), Key::Letter('3'), Key::Letter('2'), Key::Letter('9')];
    assert_eq!(type_in(&mut ui, &mut seen, &keys), []);
    let chosen = shown(&seen, &ui, 80, 24);
    let value = serde_json::json!(["red", "blue"]);
    let deeds = type_in(&mut ui, &mut seen, &[Key::Letter('a')]);
    assert_eq!(deeds, [Deed::Answer(path, longhaul_core::event::Answer::Value { value })]);
    insta::assert_snapshot!(chosen);
}

#[test]
fn a_run_is_only_cancelled_by_a_second_key() {
    let mut seen = seen(LANES, "build -> hang", 2_000);
    let mut ui = Ui::default();
    assert_eq!(type_in(&mut ui, &mut seen, &[Key::Letter('c'), Key::Letter('q')]), []);
    assert_eq!(type_in(&mut ui, &mut seen, &[Key::Letter('c'), Key::Letter('y')]), [Deed::Cancel]);
    assert_eq!(type_in(&mut ui, &mut seen, &[Key::Letter('p'), Key::Letter('q')]), [Deed::Pause, Deed::Leave]);
    seen.run.status = RunStatus::Paused;
    assert_eq!(type_in(&mut ui, &mut seen, &[Key::Letter('p')]), [Deed::Unpause]);
}

#[test]
fn all_runs_fit_a_line_each() {
    let entry = |id: &str, workflow: &str, script: &str, ms: i64| {
        let seen = seen(workflow, script, ms);
        let asking = seen.asked.into_iter().map(|asked| asked.path).collect();
        Entry { id: longhaul_core::id::RunId::new(id).unwrap(), run: seen.run, standing: seen.standing, asking }
    };
    let entries = [
        entry("first-run", GATES, "plan -> ok {\"title\": \"a\"}", 5_000),
        entry("second-run", LANES, "lint -> hang\nreview -> hang", 75_000),
        entry("third-run-with-a-very-long-name", LANES, "build -> fail failed no such target", 9_000),
    ];
    let mut place = Place::default();
    let first = text(&table::frame(&entries, &place, 80, 24));
    let approved = table::press(&mut place, Key::Letter('a'), &entries);
    assert_eq!(approved, Some(Wish::Approve(entries[0].id.clone(), "plan".parse().unwrap())));
    table::press(&mut place, Key::Down, &entries);
    assert_eq!(table::press(&mut place, Key::Letter('a'), &entries), None);
    let told = text(&table::frame(&entries, &place, 60, 24));
    assert_eq!(table::press(&mut place, Key::Enter, &entries), Some(Wish::Open(entries[1].id.clone())));
    table::press(&mut place, Key::Letter('c'), &entries);
    assert_eq!(table::press(&mut place, Key::Letter('n'), &entries), None);
    table::press(&mut place, Key::Letter('c'), &entries);
    assert_eq!(table::press(&mut place, Key::Letter('y'), &entries), Some(Wish::Cancel(entries[1].id.clone())));
    let tiny = text(&table::frame(&entries, &place, 20, 3));
    insta::assert_snapshot!(format!("{first}\n\n{told}\n\n{tiny}"));
}

/// Presses keys, and collects the actions that they ask for.
fn type_in(ui: &mut Ui, seen: &mut Seen, keys: &[Key]) -> Vec<Deed> {
    let mut deeds = Vec::new();
    for key in keys {
        let before = ui.clone();
        let rows = rows(&seen.steps, &before.turned);
        deeds.extend(press(ui, *key, Around { run: &seen.run, rows: &rows, asked: &seen.asked, page: 10 }));
    }
    deeds
}
