//! The plans for the pictures.

use indexmap::IndexMap;
use longhaul_core::plan::{
    BodyIx, Case, Form, OnDeny, OnError, OnExhausted, Outcome, Plan, Rewind, StepIx, Text, Wait,
};
use serde_json::json;

use crate::builder::{Builder, approve, end, expr, for_each, prompt, repeat, run, work};

const MAIN: BodyIx = BodyIx(0);

/// Three reviews at once, then a report that a person accepts.
pub(crate) fn review() -> Plan {
    let mut b = Builder::new("code-review");
    b.plan.units[0].description = Some("Three pairs of eyes, one report.".to_owned());
    let security = b.step(MAIN, "security", prompt("security-reviewer"));
    let performance = b.step(MAIN, "performance", prompt("performance-engineer"));
    let style = b.step(MAIN, "style", prompt("code-reviewer"));
    b.at(style).optional = true;
    let report = b.after(MAIN, "synthesize", prompt("code-reviewer"), &[security, performance, style]);
    b.at(report).review = Some(Text("Accept this report?".to_owned()));
    b.at(report).name = Some("One report".to_owned());
    b.plan
}

/// A sequence with a loop in a loop.
pub(crate) fn tasks() -> Plan {
    let mut b = Builder::new("build-tasks");
    let each = b.body(MAIN);
    let cycle = b.body(each);
    b.sequence(
        MAIN,
        vec![
            ("plan", prompt("architect")),
            ("go", approve("Start {{ plan.tasks | length }} tasks?", OnDeny::Fail)),
            ("tasks", for_each("plan.tasks", 3, each)),
            ("tell", work("notify", &[("text", "All done.")])),
        ],
    );
    b.sequence(
        each,
        vec![
            ("cycle", repeat("steps.check.exit_code == 0 and verdict.status == 'approved'", 3, cycle)),
            ("commit", run("git add -A\ngit commit -m \"$title\"")),
        ],
    );
    b.sequence(
        cycle,
        vec![("code", prompt("engineer")), ("check", run("cargo test --quiet")), ("verdict", prompt("code-reviewer"))],
    );
    b.plan
}

/// A state machine that repeats until nothing is left.
pub(crate) fn night_watch() -> Plan {
    let mut b = Builder::new("night-watch");
    let gate = b.step(MAIN, "gate", approve("Push it?", OnDeny::Fail));
    let pick = b.step(MAIN, "pick", prompt("planner"));
    let work = b.step(MAIN, "work", prompt("engineer"));
    let verify = b.step(MAIN, "verify", run("scripts/check.sh"));
    let judge = b.step(MAIN, "judge", Form::Decide);
    let rest = b.step(MAIN, "rest", Form::Wait(Wait::For(longhaul_core::plan::Arg::Json(json!(5_400_000)))));
    let done = b.step(MAIN, "done", end(Outcome::Success));
    let broken = b.step(MAIN, "broken", end(Outcome::Failure));
    b.machine(MAIN, pick);
    b.next(pick, &[("pick.status == 'go'", work), ("pick.status == 'later'", rest), ("", done)]);
    b.next(work, &[("", verify)]);
    b.next(verify, &[("", judge)]);
    b.next(judge, &[("verify.ok", gate), ("verify.fatal", broken), ("", work)]);
    b.next(gate, &[("", pick)]);
    b.next(rest, &[("not signal", rest), ("", pick)]);
    b.at(verify).on_error = OnError::Goto(broken);
    if let Form::Approve(approve) = &mut b.at(gate).form {
        approve.on_deny = OnDeny::Goto(work);
    }
    b.plan
}

/// Choices and branches in each other.
pub(crate) fn choices() -> Plan {
    let mut b = Builder::new("triage");
    let [yes, no] = [b.body(MAIN), b.body(MAIN)];
    let [bug, question, other] = [b.body(yes), b.body(yes), b.body(yes)];
    let [left, right] = [b.body(bug), b.body(bug)];
    let read = b.step(MAIN, "read", prompt("triager"));
    let choose = Form::If { condition: expr("issue.open and not issue.stale"), then: yes, otherwise: Some(no) };
    let choose = b.after(MAIN, "choose", choose, &[read]);
    b.after(MAIN, "close", work("tool", &[("tool", "tracker.close")]), &[choose]);
    let cases = vec![Case { value: json!("bug"), body: bug }, Case { value: json!(["how", "why"]), body: question }];
    b.step(yes, "by-kind", Form::Switch { on: expr("issue.kind"), cases, default: Some(other) });
    let branches = IndexMap::from([("unix".to_owned(), left), ("windows".to_owned(), right)]);
    let both = b.step(bug, "reproduce", Form::Parallel { branches });
    b.after(bug, "fix", prompt("engineer"), &[both]);
    b.step(left, "try", run("make test"));
    b.step(right, "try", run("nmake test"));
    b.step(question, "answer", work("http", &[("url", "https://example.com/answer")]));
    let skip = b.step(other, "label", run("gh issue edit --add-label other"));
    b.at(skip).when = Some(expr("issue.labels | length == 0"));
    b.step(no, "note", Form::Set { names: IndexMap::new() });
    b.plan
}

/// A graph with branches and a way back.
pub(crate) fn release() -> Plan {
    let mut b = Builder::new("release");
    let build = b.step(MAIN, "build", run("cargo build"));
    let lint = b.step(MAIN, "lint", run("cargo clippy"));
    let test = b.after(MAIN, "test", run("cargo test"), &[build]);
    let judge = b.after(MAIN, "judge", prompt("release-manager"), &[test, lint]);
    let ship = b.after(MAIN, "ship", run("cargo publish"), &[judge]);
    let hold = b.after(MAIN, "hold", work("notify", &[("text", "Not today.")]), &[judge]);
    b.after(MAIN, "log", run("date >> log"), &[ship, hold]);
    b.next(judge, &[("verdict == 'ship'", ship), ("", hold)]);
    b.at(test).rewind = Some(Rewind { to: build, until: expr("test.passed"), max: 3, on_exhausted: OnExhausted::Fail });
    b.plan
}

/// Two calls of one sub-workflow, which has its own sub-workflow; and a third workflow without a caller.
pub(crate) fn nested() -> Plan {
    let mut b = Builder::new("morning");
    let (notes, notes_body) = b.unit("release notes");
    let (unused, unused_body) = b.unit("unused");
    let (mail, mail_body) = b.unit("send mail");
    b.plan.units[notes.at()].description = Some("What changed since yesterday.".to_owned());
    b.sequence(
        MAIN,
        vec![
            ("ours", call(notes)),
            ("theirs", call(notes)),
            ("ask", Form::Ask { question: Text("Send?".to_owned()), answer: json!({}), timeout_ms: None }),
        ],
    );
    b.sequence(notes_body, vec![("log", run("git log --since yesterday")), ("send", call(mail))]);
    b.step(mail_body, "post", work("tool", &[("tool", "mail.send")]));
    b.step(unused_body, "never", call(unused));
    b.plan
}

fn call(unit: longhaul_core::plan::UnitIx) -> Form {
    Form::Workflow { unit, with: IndexMap::new() }
}

/// The same text in every place for text.
pub(crate) fn full_of(text: &str) -> Plan {
    let mut b = Builder::new(text);
    b.plan.units[0].description = Some(text.to_owned());
    let (left, right) = (b.body(MAIN), b.body(MAIN));
    let first = b.step(MAIN, "first", run(text));
    b.at(first).name = Some(text.to_owned());
    b.at(first).when = Some(expr(text));
    let branches = IndexMap::from([(text.to_owned(), left), ("right".to_owned(), right)]);
    let both = b.after(MAIN, "both", Form::Parallel { branches }, &[first]);
    b.at(both).name = Some(text.to_owned());
    b.step(left, "a", work(text, &[(text, text)]));
    b.step(right, "b", approve(text, OnDeny::Skip));
    let (unit, body) = b.unit(text);
    b.step(body, "inner", prompt(text));
    let last = b.after(MAIN, "last", call(unit), &[both]);
    b.next(both, &[(text, last)]);
    b.at(last).rewind = Some(Rewind { to: first, until: expr(text), max: 2, on_exhausted: OnExhausted::Fail });
    b.plan
}

/// A sequence of `count` steps.
pub(crate) fn chain(count: usize) -> Plan {
    let mut b = Builder::new("chain");
    let mut before: Vec<StepIx> = Vec::new();
    for n in 0..count {
        before = vec![b.after(MAIN, &format!("s{n}"), run("true"), &before)];
    }
    b.plan
}

/// One step, `count` steps that wait for it, and one that waits for them all.
pub(crate) fn fan(count: usize) -> Plan {
    let mut b = Builder::new("fan");
    let first = b.step(MAIN, "first", run("true"));
    let all: Vec<StepIx> = (0..count).map(|n| b.after(MAIN, &format!("s{n}"), run("true"), &[first])).collect();
    b.after(MAIN, "last", run("true"), &all);
    b.plan
}

/// Loops in loops.
pub(crate) fn deep(depth: usize) -> Plan {
    let mut b = Builder::new("deep");
    let mut body = MAIN;
    for _ in 0..depth {
        let inner = b.body(body);
        b.step(body, "r", repeat("done", 2, inner));
        body = inner;
    }
    b.step(body, "leaf", run("true"));
    b.plan
}
