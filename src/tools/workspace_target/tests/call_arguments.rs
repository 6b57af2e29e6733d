//! Tests of the arguments that name, type and list files.

use super::{OTHER, Scene};
use crate::chat::SessionId;
use crate::store::Places;
use crate::text::workspace_address::WorkspaceAddress;
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn a_file_has_the_name_and_the_type_that_the_call_gives() {
    let scene = Scene::new();
    let typed = json!({ "filename": "q1", "content": "a,b", "mime_type": "Text/CSV; charset=utf-8" });
    let written = scene.call("write", typed).await.unwrap();
    assert!(written.starts_with("Wrote q1: ") && written.contains("3 bytes, text/csv"), "{written}");
    let both = json!({ "filename": "x", "path": "reports/q1.md", "content": "a" });
    let written = scene.call("write", both).await.unwrap();
    assert!(written.starts_with("Wrote reports/q1.md: "), "{written}");
    // Another type of the same content is a new version.
    let retyped = json!({ "path": "q1", "content": "a,b", "mime_type": "text/plain", "overwrite": true });
    let written = scene.call("write", retyped).await.unwrap();
    assert!(written.contains("text/plain, version 2"), "{written}");
    let read = scene.call("read", json!({ "path": "q1", "force_download_url": true })).await.unwrap();
    let id = scene.own.find(&"workspace:///q1".parse::<WorkspaceAddress>().unwrap().target).unwrap().id;
    assert_eq!(read, format!("q1 · version 2 · text/plain · 3 bytes · workspace://{id}"));
    let first = json!({ "file_id": format!("{id}@1"), "force_download_url": true });
    assert!(scene.call("read", first).await.unwrap().ends_with(&format!(" · workspace://{id}@1")));
}

#[tokio::test]
async fn files_of_all_sessions_are_listed_up_to_a_limit() {
    let scene = Scene::new();
    for path in ["reports/a", "reports/b", "c"] {
        scene.call("write", json!({ "path": path, "content": "x" })).await.unwrap();
    }
    // Times have milliseconds.
    tokio::time::sleep(Duration::from_millis(5)).await;
    let others = format!("/sessions/{OTHER}/reports/d");
    scene.call("write", json!({ "path": others, "content": "x" })).await.unwrap();
    let listed = scene.call("list", json!({ "limit": 2 })).await.unwrap();
    assert!(listed.starts_with("3 files, 3 bytes\n") && listed.ends_with("\n1 more; raise limit or use path_prefix"));
    assert!(!scene.call("list", json!({})).await.unwrap().contains(OTHER));
    let everywhere = json!({ "include_all_sessions": true, "path_prefix": "reports" });
    let plan = scene.plan("list", everywhere).unwrap();
    assert_eq!(plan.summary, "reports of all sessions");
    let listed = scene.run("list", &plan).await.unwrap();
    let expected = format!("3 files, 3 bytes\n{others}  1 byte · text/plain\n");
    assert!(listed.starts_with(&expected) && listed.contains("  reports/a  "), "{listed}");
    let read = scene.call("read", json!({ "path": others, "force_download_url": true })).await.unwrap();
    assert!(read.ends_with(&format!("1 byte · workspace://{others}")), "{read}");
    // A session that cannot be read hides no other one.
    let third = SessionId("01JDXA0000000000000000000X".into());
    let places = Places::within(scene.home.path());
    std::fs::write(places.session(&third), "").unwrap();
    std::fs::create_dir_all(places.workspaces()).unwrap();
    std::fs::write(places.workspace(&third), "no folder").unwrap();
    let listed = scene.run("list", &plan).await.unwrap();
    assert!(
        listed.starts_with(&expected)
            && listed.ends_with(
                "
1 session could not be read"
            ),
        "{listed}"
    );
    for (arguments, part) in [
        (json!({ "limit": 0 }), "limit is 0; expected 1 to 100."),
        (json!({ "limit": 101 }), "limit is 101; expected 1 to 100."),
        (json!({ "include_all_sessions": true, "path_prefix": format!("/sessions/{OTHER}") }), "names a session"),
    ] {
        let error = scene.plan("list", arguments).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
}
