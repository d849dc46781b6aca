//! Tests triggers: by name, with their next times, and the runs that they start.

use serde_json::json;

use crate::valet::office::{NOTICE, Office};

#[test]
fn a_trigger_is_made_once_by_its_name() {
    let mut office = Office::new();
    office.sync("deploy", NOTICE);
    let nightly = json!({"name": "Nightly", "type": "schedule", "workflow_id": "deploy", "schedule_cron": "0 2 * * *", "schedule_timezone": "Europe/Berlin"});
    let made = office.done("sync_trigger", nightly.clone())["trigger"].clone();
    let again = office.done("sync_trigger", nightly)["trigger"].clone();
    assert_eq!(made["id"], again["id"]);
    assert!(made["nextRunAt"].is_string(), "{made}");
    let off = office.done("sync_trigger", json!({"name": "nightly", "type": "schedule", "enabled": false}))["trigger"]
        .clone();
    assert_eq!(
        (&off["id"], &off["config"]["cron"], &off["nextRunAt"]),
        (&made["id"], &json!("0 2 * * *"), &json!(null))
    );
    let listed = office.done("list_triggers", json!({"type": "schedule", "enabled": false}))["triggers"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!(office.done("list_triggers", json!({"workflow_id": "other"}))["triggers"], json!([]));
    assert_eq!(office.consented("delete_trigger", json!({"trigger_id": "Nightly"}))["deleted"], "Nightly");
    assert_eq!(office.done("list_triggers", json!({}))["triggers"], json!([]));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let mut office = Office::new();
    office.sync("deploy", NOTICE);
    let cases = [
        (json!({"name": "x", "type": "schedule", "workflow_id": "deploy"}), "schedule_cron"),
        (
            json!({"name": "x", "type": "schedule", "workflow_id": "deploy", "schedule_cron": "0 25 * * *"}),
            "is not a cron line",
        ),
        (json!({"name": "x", "type": "schedule", "schedule_cron": "0 2 * * *"}), "which workflow"),
        (
            json!({"name": "x", "type": "schedule", "schedule_cron": "0 2 * * *", "schedule_target": "orchestrator"}),
            "needs a prompt",
        ),
        (
            json!({"name": "x", "type": "webhook", "workflow_id": "deploy", "webhook_path": "../up"}),
            "path of a webhook",
        ),
        (json!({"name": "x", "type": "github", "workflow_id": "deploy"}), "`github`"),
        (json!({"name": "x", "type": "manual", "workflow_id": "gone"}), "there is no workflow `gone`"),
    ];
    for (arguments, part) in cases {
        let why = office.refused("sync_trigger", arguments.clone());
        assert!(why.contains(part), "{arguments}: {why}");
    }
    let hook = json!({"name": "hook", "type": "webhook", "workflow_id": "deploy", "webhook_path": "deploys", "webhook_secret": "hush"});
    let made = office.done("sync_trigger", hook)["trigger"].clone();
    assert!(made["config"]["has_secret"] == true && !made.to_string().contains("hush"), "{made}");
}

#[test]
fn a_trigger_starts_its_workflow_with_what_is_mapped() {
    let mut office = Office::new();
    office.sync("say", r#"{"steps":[{"id":"s","type":"bash","command":"printf %s {{variables.title}}"}]}"#);
    let manual = json!({"name": "by hand", "type": "manual", "workflow_id": "say", "variable_mapping_json": "{\"title\":\"$.issue.title\"}"});
    let id = office.done("sync_trigger", manual)["trigger"]["id"].clone();
    let fire = json!({"trigger_id": id, "variables_json": {"issue": {"title": "Whole path"}}});
    let run = office.done("run_trigger", fire)["execution"]["id"].clone();
    office.execution(&run, "completed");
    let steps = office.done("get_execution_steps", json!({"execution_id": run}));
    assert!(steps["steps"][0]["output"].to_string().contains("Whole path"), "{steps}");
}
