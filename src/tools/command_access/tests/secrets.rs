//! Tests that files with secrets need approval in every mode, by any tool and any spelling of the path, and that aye's
//! own files are protected.

use super::*;
use crate::chat::{CommandSandbox, Intent, SandboxAccess};
use crate::policy::{Mode, Policy, Rules, judge_plan};
use crate::project::OwnFiles;
use crate::tools::{ToolSettings, Toolbox};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The kind of a path, which decides the expected verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protection {
    /// It may hold secrets, or other programs execute it.
    Secret,
    /// aye's own settings.
    Settings,
    /// aye's own keys.
    Credentials,
}

struct TestProject {
    _directory: tempfile::TempDir,
    disk: Disk,
    /// Parent folder of the project.
    base: PathBuf,
}

fn test_project() -> TestProject {
    let directory = tempfile::tempdir().unwrap();
    let base = directory.path().canonicalize().unwrap();
    let root = base.join("project");
    for folder in ["project/keys", "project/src/deep", "project/.git/hooks", "odd/place/themes"] {
        fs::create_dir_all(base.join(folder)).unwrap();
    }
    for file in [
        "project/.env",
        "project/.envrc",
        "project/keys/server.pem",
        "project/.git/config",
        "project/a.txt",
        "odd/place/credentials.toml",
        "odd/place/config.toml",
    ] {
        fs::write(base.join(file), "one\n").unwrap();
    }
    symlink("../..", root.join("src/up")).unwrap();
    symlink(&base, root.join("base")).unwrap();
    let own_folder = base.join("odd/place");
    let disk = Disk::new(&root).unwrap();
    let disk = disk.with_own_files(OwnFiles::new(vec![own_folder.clone()], vec![own_folder.join("credentials.toml")]));
    TestProject { _directory: directory, disk, base }
}

/// Returns all spellings of a path that is relative to the project's parent folder.
fn spellings_of(project: &TestProject, path: &str) -> Vec<String> {
    let full_path = project.base.join(path);
    let link = project.base.join("project").join(format!("link-{}", path.replace('/', "-")));
    if !link.is_symlink() {
        symlink(&full_path, &link).unwrap();
    }
    let (folder, file) = path.rsplit_once('/').unwrap();
    let mut names = vec![
        full_path.display().to_string(),
        format!("../{path}"),
        format!("./..//./{path}"),
        format!("src/deep/../../../{path}"),
        format!("base/{path}"),
        format!("src/up/{path}"),
        format!("base/{folder}/../../{path}"),
        link.file_name().unwrap().to_string_lossy().into_owned(),
        format!("base/{folder}//{file}"),
    ];
    if let Some(relative) = path.strip_prefix("project/") {
        names.push(relative.to_owned());
        names.push(format!("./{relative}"));
        names.push(format!("src/../{relative}"));
    }
    names.retain(|name| project.disk.locate(name).is_ok_and(|location| location.real == full_path));
    assert!(names.len() >= 8, "{path}: {names:?}");
    names
}

fn reading_calls(name: &str) -> Vec<(&'static str, Value)> {
    let bash_call = |command: String| ("bash_exec", json!({ "command": command }));
    vec![
        ("read_file", json!({ "path": name })),
        ("read_file", json!({ "path": name, "start_line": 1, "end_line": 1 })),
        ("search_text", json!({ "pattern": "o", "path": name })),
        ("list_files", json!({ "path": name })),
        bash_call(format!("cat '{name}'")),
        bash_call(format!("cat < '{name}'")),
        bash_call(format!("head -n1 a.txt '{name}' | sort")),
        bash_call(format!("no-such-program '{name}'")),
        bash_call(format!("no-such-program --from='{name}'")),
        bash_call(format!("no-such-program < '{name}'")),
        bash_call(format!("touch x; grep o '{name}'")),
        bash_call(format!("env A=b python3 tools/x.py '{name}'")),
        bash_call(format!("base64 \"{name}\" > out.txt")),
    ]
}

fn writing_calls(name: &str) -> Vec<(&'static str, Value)> {
    let bash_call = |command: String| ("bash_exec", json!({ "command": command }));
    vec![
        ("write_file", json!({ "path": name, "content": "two\n" })),
        ("edit_file", json!({ "path": name, "old_text": "one", "new_text": "two" })),
        bash_call(format!("echo x > '{name}'")),
        bash_call(format!("echo x >> '{name}'")),
        bash_call(format!("no-such-program > '{name}'")),
        bash_call(format!("no-such-program 2>> '{name}'")),
        bash_call(format!("cargo build &> '{name}'")),
        bash_call(format!("cat a.txt | tee '{name}'")),
        bash_call(format!("cp a.txt '{name}'")),
        bash_call(format!("mv a.txt '{name}'")),
        bash_call(format!("sed -i s/a/b/ '{name}'")),
        bash_call(format!("sort a.txt -o '{name}'")),
        bash_call(format!("tar -cf '{name}' a.txt")),
        bash_call(format!("(cd src; echo x > '{name}')")),
    ]
}

#[test]
fn r13_no_mode_accesses_protected_files_by_any_spelling() {
    let project = test_project();
    let sandbox = CommandSandbox::enforced(SandboxAccess::default());
    let tools = Toolbox::with_builtin_tools(ToolSettings { sandbox, ..ToolSettings::default() });
    let mut calls = 0;
    for (path, protection) in [
        ("project/.env", Protection::Secret),
        ("project/.envrc", Protection::Secret),
        ("project/keys/server.pem", Protection::Secret),
        ("project/.git/config", Protection::Secret),
        ("odd/place/config.toml", Protection::Settings),
        ("odd/place/credentials.toml", Protection::Credentials),
    ] {
        for name in spellings_of(&project, path) {
            let call_pairs = reading_calls(&name).into_iter().map(|call| (call, false));
            let call_pairs = call_pairs.chain(writing_calls(&name).into_iter().map(|call| (call, true)));
            for ((tool, arguments), is_write) in call_pairs {
                // From `src`, a relative name is another file.
                if arguments.to_string().contains("cd src") && !name.starts_with('/') {
                    continue;
                }
                let call =
                    crate::chat::ToolCall { id: "c".into(), name: tool.to_owned(), arguments: arguments.to_string() };
                let is_apply_call = false;
                // A call that cannot be planned does not run.
                let Ok(Intent::Act(plan)) = tools.plan_call(&call, &project.disk, is_apply_call) else { continue };
                calls += 1;
                for mode in Mode::ALL {
                    let policy = Policy { mode, ..Policy::default() };
                    let verdict = judge_plan(&policy, &[], &Rules::default(), tool, &plan);
                    let expected = match (protection, is_write, mode) {
                        (_, _, Mode::Plan) | (Protection::Credentials, _, _) | (Protection::Settings, true, _) => {
                            "refuse"
                        }
                        (Protection::Secret | Protection::Settings, _, Mode::Ask | Mode::Auto | Mode::Full) => "ask",
                    };
                    assert_eq!(verdict.as_str(), expected, "{mode:?} {tool} {arguments}: {verdict:?}");
                }
            }
        }
    }
    assert!(calls > 1_000, "{calls}");
}
