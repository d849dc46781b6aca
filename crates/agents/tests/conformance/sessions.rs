//! Conversations: beginning one, continuing it, and what each turn of it used.

use longhaul_agents::contract::{Entry, Meter, Session, Turn};

use crate::conformance::bench::{Bench, Done, Limits, SESSION};

pub(crate) async fn a_session_is_told_before_anything_else(bench: &Bench) {
    let done = bench.play("tool true; text hello").await;
    let Some(Entry::Session { id, .. }) = done.entries.first() else { panic!("{:?}", done.entries) };
    assert_eq!(done.ending.session.as_ref(), Some(id));
    if bench.driver.abilities().choose_session {
        assert_eq!(id, SESSION);
    }
}

async fn resume(bench: &Bench, id: &str, before: Meter) -> Done {
    let turn = Turn { session: Session::Resume { id: id.to_owned(), before }, ..bench.turn("continue") };
    bench.run(&bench.setup("turns"), &turn, Limits::default()).await
}

pub(crate) async fn a_session_is_continued(bench: &Bench) {
    let first = bench.play("turns").await.ending;
    let id = first.session.unwrap();
    let second = resume(bench, &id, Meter::default()).await.ending;
    assert_eq!((first.text.as_str(), second.text.as_str()), ("turn 1", "turn 2"));
    assert_eq!(second.session, Some(id));
}

/// Whether the program counts from the beginning of the session or not.
pub(crate) async fn a_resumed_turn_counts_only_itself(bench: &Bench) {
    let first = bench.play("turns").await.ending;
    let used = first.used.unwrap();
    assert_eq!((used.input_tokens, used.cached_tokens, used.output_tokens), (1000, 200, 30));
    assert_eq!(used.usd, bench.driver.abilities().cost.then_some(0.25));
    let before = first.session_total.unwrap_or_default();
    let second = resume(bench, &first.session.unwrap(), before).await.ending;
    assert_eq!(second.used, Some(used));
    if let Some(total) = second.session_total {
        assert_eq!((total.input_tokens, total.output_tokens), (2000, 60));
    }
}

pub(crate) async fn a_session_that_is_not_there_is_a_failure(bench: &Bench) {
    let done = resume(bench, "99999999-2222-4333-8444-555555555501", Meter::default()).await;
    assert!(done.class.is_some());
    assert_eq!(done.ending.text, "");
    let words = format!("{}{}", done.ending.trouble.message, done.exit.stderr).to_lowercase();
    assert!(["session", "thread", "conversation"].iter().any(|word| words.contains(word)), "{words}");
}

pub(crate) async fn a_session_is_known_when_the_program_dies(bench: &Bench) {
    let done = bench.play("tool true; crash").await;
    assert!(done.ending.session.is_some());
}
