use longhaul_core::event::Result as Left;
use longhaul_store::{Append, Head, Memory};
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Stores an attempt's output and reads it again. Also returns the body in the row.
async fn there_and_back(output: Json) -> (Json, String) {
    let path = "a".parse().unwrap();
    let event = Event::AttemptSucceeded { path, attempt: 1, result: Left { output, ..Left::default() } };
    let store = Memory::default();
    let mut blobs = Vec::new();
    let events = encode_all(&[Envelope { v: VERSION, seq: 1, at: 1, event }], &mut blobs).unwrap();
    let body = events[0].body.clone();
    let run = longhaul_core::id::RunId::new("some-run").unwrap();
    let mut append = Append::new(run.clone(), 0, events);
    (append.head, append.blobs) = (Some(Head::default()), blobs);
    store.append(append).await.unwrap();
    let row = store.read(&run, 0, 1).await.unwrap().remove(0);
    match decode(row, &store).await.unwrap().event {
        Event::AttemptSucceeded { result, .. } => (result.output, body),
        other => panic!("{other:?}"),
    }
}

/// Any JSON, with keys and texts that look like our own encoding.
fn any_json() -> impl Strategy<Value = Json> {
    let text = prop_oneof![
        any::<String>(),
        Just("$blob".to_owned()),
        Just("refs".to_owned()),
        Just("\u{1}env.HOME\u{1}".to_owned()),
        Just("a/b~1c".to_owned()),
        "[a-z]{1,3}".prop_map(|unit| unit.repeat(3_000)),
    ];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_filter("JSON has no others", |number| number.is_finite()).prop_map(Json::from),
        text.clone().prop_map(Json::from),
    ];
    leaf.prop_recursive(8, 200, 12, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..12).prop_map(Json::from),
            prop::collection::vec((text.clone(), inner), 0..8)
                .prop_map(|entries| Json::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_comes_back_as_it_was(output in any_json()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (back, _) = runtime.block_on(there_and_back(output.clone()));
        prop_assert_eq!(back, output);
    }
}

#[tokio::test]
async fn data_is_never_a_reference() {
    let hash = Blob::new(b"x".to_vec()).hash.to_string();
    for output in [json!({"$blob": "zzz"}), json!({"$blob": hash}), json!([{"$blob": hash}, {"refs": [], "body": 1}])] {
        assert_eq!(there_and_back(output.clone()).await.0, output);
    }
}

#[tokio::test]
async fn many_small_items_leave_a_small_event() {
    for (items, text) in [(1_100, "x".repeat(1_000)), (30_000, "x".repeat(10)), (10_000, "x".repeat(5_000))] {
        let output: Vec<String> = (0..items).map(|item| format!("{item}{text}")).collect();
        let (back, body) = there_and_back(json!(output)).await;
        assert_eq!(back, json!(output));
        assert!(body.len() < BODY_BYTES_WHOLE, "{}", body.len());
    }
}

#[tokio::test]
async fn a_value_nested_more_deeply_than_readers_allow_comes_back() {
    let deep = (0..120).fold(json!(1), |value, _| json!([value]));
    assert_eq!(there_and_back(deep.clone()).await.0, deep);
}

#[tokio::test]
async fn bodies_of_earlier_versions_are_read() {
    let store = Memory::default();
    let text = "long ".repeat(2_000);
    let blob = Blob::new(text.clone().into_bytes());
    let hash = blob.hash;
    let run = longhaul_core::id::RunId::new("some-run").unwrap();
    let mut append = Append::new(run, 0, vec![NewEvent { id: EventId(1), at_ms: 1, body: "{}".to_owned() }]);
    (append.head, append.blobs) = (Some(Head::default()), vec![blob]);
    store.append(append).await.unwrap();
    let said = what::<Json>(&json!({"a": [{"$blob": hash.to_string()}]}).to_string(), &store).await.unwrap();
    assert_eq!(said, json!({"a": [text]}));
    let data = what::<Json>(r#"{"a": {"$blob": "zzz"}}"#, &store).await.unwrap();
    assert_eq!(data, json!({"a": {"$blob": "zzz"}}));
}

#[tokio::test]
async fn an_event_of_a_newer_version_is_told_apart_from_damage() {
    let store = Memory::default();
    for body in [r#"{"event":"colour_chosen","plan":{"x":1}}"#, r#"{"refs":[],"body":{"event":"colour_chosen"}}"#] {
        let error = what::<Event>(body, &store).await.unwrap_err();
        assert!(matches!(&error, Error::Newer(kind) if kind == "colour_chosen"), "{error:?}");
    }
    let error = what::<Event>(r#"{"event":"signalled","name":1}"#, &store).await.unwrap_err();
    assert!(matches!(error, Error::Damaged(_)), "{error:?}");
}
