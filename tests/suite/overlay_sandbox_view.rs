//! What a command of a dry run sees: the project without sensitive files and the system's programs, but no other files,
//! no variables of the user and no other processes.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::overlay_place::{OverlayFixture, SECRET, write_file};
use crate::support::overlay_project::{command_line, discard_overlay};
use crate::support::own_process::own_process;
use crate::support::report_skipped;
use aye::project::overlay_sandbox::View;
use aye::project::rehearsal::Rehearsal;
use aye::project::{Reader, Writer};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn run_git(folder: &Path, arguments: &[&str]) -> bool {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments).current_dir(folder);
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").output().is_ok_and(|done| done.status.success())
}

/// Creates secrets everywhere and returns their paths.
fn create_secrets(root: &Path) -> Vec<PathBuf> {
    let outside = [
        "home/.ssh/id_rsa",
        "home/.netrc",
        "home/.cargo/credentials.toml",
        "home/.config/gh/hosts.yml",
        "home/notes.txt",
        "home/.aye/credentials.toml",
        "elsewhere/data",
    ];
    let inside = ["project/.env", "project/keys/server.pem", "project/.aws/credentials", "project/deep/er/.env.local"];
    let mut all: Vec<PathBuf> = outside.iter().chain(&inside).map(|path| root.join(path)).collect();
    all.iter().for_each(|path| write_file(path, SECRET));
    // The same files under other names.
    fs::hard_link(root.join("project/.env"), root.join("project/plain")).unwrap();
    fs::hard_link(root.join("home/notes.txt"), root.join("project/far")).unwrap();
    std::os::unix::fs::symlink(".env", root.join("project/link")).unwrap();
    std::os::unix::fs::symlink(root.join("elsewhere/data"), root.join("project/out")).unwrap();
    all.extend(["plain", "far", "link", "out"].map(|name| root.join("project").join(name)));
    write_file(
        &root.join("project/.git/config"),
        &format!("[remote \"o\"]\n\turl = https://me:{SECRET}@example.com/x\n"),
    );
    all.push(root.join("project/.git/config"));
    all
}

#[tokio::test]
async fn r30_a_command_reads_no_secret_of_the_disk_or_of_the_environment() {
    let Some(root) =
        own_process("overlay_sandbox_view::r30_a_command_reads_no_secret_of_the_disk_or_of_the_environment")
    else {
        return;
    };
    if !has_overlay_sandbox() {
        return;
    }
    let all = create_secrets(&root);
    write_file(&root.join("project/main.rs"), "plain text");
    let temporary = tempfile::Builder::new().tempfile_in("/tmp").unwrap();
    fs::write(temporary.path(), SECRET).unwrap();
    let fixture = OverlayFixture::with_readable(&root, &[]);
    assert_eq!(
        fixture.run_hidden("cat main.rs; echo; ls /usr/bin/env; ls -A ~; ls -A /tmp").await,
        "plain text\n/usr/bin/env\n"
    );
    let quote_paths = |paths: &[PathBuf]| {
        let quoted: Vec<String> = paths.iter().map(|path| format!("'{}'", path.display())).collect();
        quoted.join(" ")
    };
    let outside = [temporary.path().to_owned(), "/etc/shadow".into(), "/etc/gshadow".into(), "/etc/sudoers".into()];
    let hidden: Vec<PathBuf> = all.iter().cloned().chain(outside).collect();
    let each = format!("for file in {}; do cat $file && echo WAS-READ $file; done", quote_paths(&hidden));
    for command in [
        each.as_str(),
        "grep -rs --exclude-dir=.rustup --exclude-dir=.cargo zq8-hunter-27xw . ~ /var /tmp /home /root /etc /run /srv /mnt; echo",
        "env; export -p; cat /proc/*/environ; strings /proc/1/environ",
        "cat /proc/1/root/etc/shadow && echo WAS-READ; cd /proc/1/cwd; cat .env ../.env; ls /.aye-old /proc/1/root/.aye-old",
        "for fd in /proc/*/fd/*; do [ -d $fd ] && cat $fd/.env $fd/project/.env $fd/etc/shadow; done; echo",
        "find / -xdev -name shadow -not -path '/usr/*' -not -path '/proc/*'",
    ] {
        let output = fixture.run_hidden(command).await;
        assert!(
            !output.contains(SECRET) && !output.contains("WAS-READ") && !output.contains("root:"),
            "{command}\n{output}"
        );
    }
    assert!(!fixture.has_copied_secret());
    // A command that the user approved can read them, except aye's own files.
    let aye_folder = |path: &&PathBuf| path.starts_with(root.join("home/.aye"));
    let readable: Vec<PathBuf> = all.iter().filter(|path| !aye_folder(path)).cloned().collect();
    let live = fixture
        .run(&format!("cat {}; echo $AYE_TEST_VARIABLE; cat ~/.aye/*", quote_paths(&readable)), View::Live)
        .await
        .output;
    // The variable holds the secret, too: `own_process` sets it.
    assert_eq!(live.matches(SECRET).count(), readable.len() + 1, "{live}");
}

#[tokio::test]
async fn r30_hidden_files_stay_hidden_from_every_command() {
    let Some(root) = own_process("overlay_sandbox_view::r30_hidden_files_stay_hidden_from_every_command") else {
        return;
    };
    if !has_overlay_sandbox() {
        return;
    }
    let project = root.join("project");
    let has_git = run_git(&project, &["init", "-q"]);
    write_file(&project.join("plain.txt"), "plain");
    if !has_git || !run_git(&project, &["add", "-A"]) || !run_git(&project, &["commit", "-qm", "x"]) {
        report_skipped("git is missing");
    }
    for path in [".env", "deep/er/.env", "deep/plain.txt", "keys/.ssh/id_rsa"] {
        write_file(&project.join(path), SECRET);
    }
    fs::write(project.join("deep/plain.txt"), "plain").unwrap();
    let fixture = OverlayFixture::with_readable(&root, &[]);
    for command in [
        "cat .env < .env; cat deep/er/.env; cat keys/.ssh/id_rsa",
        "mv .env free; cat free; mv -f deep/er/.env deep/free; cat deep/free",
        "mv deep moved; cat moved/er/.env; cat moved/er/*",
        "mv keys/.ssh keys/open; cat keys/open/*",
        "ln .env free; cat free; ln -s .env soft; cat soft; cp -l deep/er/.env free; cat free",
        "cp .env free; cp -a .env free2; cp -a deep copied; cp -rL . /tmp/all; cat free free2 copied/er/.env /tmp/all/.env",
        "chmod 777 .env deep/er/.env; chown 0 .env; touch .env; setfattr -n user.x -v y .env; cat .env",
        ": > .env; echo x >> .env; exec 3<>.env; cat <&3",
        "rm -f .env; cat .env; rm -rf deep; cat deep/er/.env; unlink .env; cat .env",
        "git stash -u; git stash show -p; git add -Af; git diff --cached; git show :.env; git status; git clean -fdx",
        "tar cf - . | cat; tar cf /tmp/t.tar .env; cat /tmp/t.tar; dd if=.env; tail -c 100 .env; od -c .env",
        "umount .env; umount -l deep/er/.env; mount --bind .env plain.txt; cat .env plain.txt",
        "unshare -Urm sh -c 'umount .env; cat .env'; nsenter -t 1 -m cat .env",
        "python3 -c 'print(open(\".env\").read())'; perl -e 'open F, \".env\"; print <F>'",
    ] {
        let output = fixture.run_hidden(command).await;
        assert!(!output.contains(SECRET), "{command}\n{output}");
        assert!(!fixture.has_copied_secret(), "{command}\n{output}");
    }
    assert_eq!(fs::read_to_string(project.join(".env")).unwrap(), SECRET);
    let output = fixture.run_hidden("cat .env deep/er/.env; stat -c %F .env").await;
    assert!(output.contains("Permission denied"), "{output}");
    let withheld = fixture.shell.last_withheld();
    assert!(withheld.iter().any(|one| one.path == project.join(".env")), "{withheld:?}");
    // Files created in the rehearsal stay readable, whether by a command or a tool.
    fixture.run_hidden("mkdir -p mine; echo own > mine/.env").await;
    let location = fixture.rehearsal.locate("mine/server.key").unwrap();
    fixture.rehearsal.write(&location, None, b"tool\n").unwrap();
    assert_eq!(fixture.run_hidden("cat mine/.env mine/server.key").await, "own\ntool\n");
}

#[tokio::test]
async fn r30_git_objects_with_secrets_are_visible_to_read_only_git_commands_alone() {
    let name = "overlay_sandbox_view::r30_git_objects_with_secrets_are_visible_to_read_only_git_commands_alone";
    let Some(root) = own_process(name) else { return };
    let project = root.join("project");
    write_file(&project.join("plain.txt"), "plain");
    if !run_git(&project, &["init", "-q"])
        || !run_git(&project, &["add", "-A"])
        || !run_git(&project, &["commit", "-qm", "one"])
    {
        return report_skipped("git is missing");
    }
    if !has_overlay_sandbox() {
        return;
    }
    let fixture = OverlayFixture::with_readable(&root, &[]);
    assert_eq!(fixture.run_hidden("git show HEAD:plain.txt; git log --format=%s").await, "plainone\n");
    write_file(
        &root.join("home/.gitconfig"),
        &format!("[user]\n\tname = A B\n\temail = a@b\n[http]\n\textraHeader = {SECRET}\n"),
    );
    let output =
        fixture.run_hidden("git commit -q --allow-empty -m two; git log -1 --format='%an %s'; cat ~/.gitconfig").await;
    assert!(output.starts_with("A B two\n") && !output.contains(SECRET), "{output}");
    write_file(&project.join(".env"), SECRET);
    assert!(run_git(&project, &["add", "-f", ".env"]), "cannot stage the secret");
    let show = "git show :.env; git cat-file -p $(git ls-files -s .env | cut -d' ' -f2); git log --format=%s";
    for command in
        [show, "cat .git/objects/*/* | zlib-flate -uncompress; cp -r .git/objects /tmp/o; ls /tmp/o; git stash"]
    {
        let output = fixture.run_hidden(command).await;
        assert!(!output.contains(SECRET) && !output.contains("one\n"), "{output}");
    }
    assert!(fixture.shell.last_withheld().iter().any(|one| one.path.ends_with(".git/objects")));
    assert_eq!(fixture.run("git log --format=%s", View::Repository).await.output, "two\none\n");
    let named = OverlayFixture::with_readable(&root, &["project/.git"]);
    assert!(named.run_hidden(show).await.starts_with(SECRET));
}

#[tokio::test]
async fn r30_tool_settings_are_visible_unless_they_hold_credentials() {
    let name = "overlay_sandbox_view::r30_tool_settings_are_visible_unless_they_hold_credentials";
    let Some(root) = own_process(name) else { return };
    let project = root.join("project");
    write_file(&project.join(".cargo/config.toml"), "[alias]\n");
    write_file(&project.join(".vscode/tasks.json"), "{}\n");
    write_file(&project.join("web/.npmrc"), &format!("//registry.example.com/:_authToken={SECRET}\n"));
    let is_git = run_git(&project, &["init", "-q"]) && run_git(&project, &["add", "-Af", ".cargo", ".vscode"]);
    if !has_overlay_sandbox() {
        return;
    }
    let fixture = OverlayFixture::with_readable(&root, &[]);
    assert_eq!(fixture.run_hidden("cat .cargo/config.toml .vscode/tasks.json").await, "[alias]\n{}\n");
    let output = fixture.run_hidden("cat web/.npmrc; cp -r web copy; cat copy/.npmrc").await;
    assert!(
        output.contains("Permission denied") && !output.contains(SECRET) && !fixture.has_copied_secret(),
        "{output}"
    );
    if !is_git {
        return report_skipped("git is missing");
    }
    let commit = "git -c user.name=a -c user.email=a@b commit -qm one && git log --format=%s";
    assert_eq!(fixture.run_hidden(commit).await, "one\n");
    // A token in tool settings hides the objects of git, too.
    write_file(&project.join(".cargo/config.toml"), &format!("[registries.x]\ntoken = \"{SECRET}\"\n"));
    let output = fixture.run_hidden("cat .cargo/config.toml; git log --format=%s").await;
    assert!(!output.contains(SECRET) && !output.contains("one\n"), "{output}");
}

#[tokio::test]
async fn r30_the_setting_opens_exactly_the_named_paths() {
    let Some(root) = own_process("overlay_sandbox_view::r30_the_setting_opens_exactly_the_named_paths") else {
        return;
    };
    if !has_overlay_sandbox() {
        return;
    }
    for (path, text) in [
        ("elsewhere/lib/code.rs", "code"),
        ("elsewhere/lib/.env", SECRET),
        ("elsewhere/lib/.git/config", SECRET),
        ("elsewhere/other.txt", SECRET),
        ("home/.netrc", "named"),
        ("home/.ssh/config", SECRET),
        ("home/.aye/credentials.toml", SECRET),
        ("home/.aye/rules.toml", SECRET),
        ("project/.env", "opened"),
        ("project/sub/.env", SECRET),
    ] {
        write_file(&root.join(path), text);
    }
    let fixture = OverlayFixture::with_readable(
        &root,
        &["elsewhere/lib", "home/.netrc", "project/.env", "elsewhere/none", "home/.aye/credentials.toml", "home/.aye"],
    );
    let output = fixture.run_hidden("cat ~/.netrc .env ../elsewhere/lib/code.rs; ls -A ~ ../elsewhere").await;
    assert!(output.starts_with("namedopenedcode"), "{output}");
    assert!(output.contains(".netrc\n") && !output.contains(".ssh") && !output.contains("other.txt"), "{output}");
    let output = fixture
        .run_hidden(
            "cat sub/.env ../elsewhere/lib/.env ../elsewhere/lib/.git/config ../elsewhere/other.txt ~/.aye/* ~/.aye/credentials.toml ~/.ssh/* ~/.aye/*",
        )
        .await;
    assert!(!output.contains(SECRET), "{output}");
    let output =
        fixture.run_hidden("echo x > ../elsewhere/lib/code.rs; echo x > ~/.netrc; rm -f ~/.netrc; cat ~/.netrc").await;
    assert!(
        output.ends_with("named")
            && output.matches("ermission denied").count() + output.matches("ead-only").count() >= 2,
        "{output}"
    );
}

#[tokio::test]
async fn r30_content_copied_by_an_approved_command_is_not_rehearsed_content() {
    let name = "overlay_sandbox_view::r30_content_copied_by_an_approved_command_is_not_rehearsed_content";
    let Some(root) = own_process(name) else { return };
    if !has_overlay_sandbox() {
        return;
    }
    write_file(&root.join("project/.env"), SECRET);
    let fixture = OverlayFixture::with_readable(&root, &[]);
    let is_rehearsed =
        |rehearsal: &Rehearsal, name: &str| rehearsal.has_only_rehearsed_content(&rehearsal.locate(name).unwrap());
    let written = fixture.rehearsal.locate("written.env").unwrap();
    fixture.rehearsal.write_whole(&written, None, b"KEY=made\n").unwrap();
    // Without approval there is nothing sensitive to copy.
    fixture.run("cp .env a.env; echo KEY=made > made.env", View::WithoutSecrets).await;
    assert!(!fixture.has_copied_secret() && is_rehearsed(&fixture.rehearsal, "made.env"));
    fixture.run("cp .env copy.env", View::Live).await;
    assert!(fixture.has_copied_secret());
    for name in ["copy.env", "made.env"] {
        assert!(!is_rehearsed(&fixture.rehearsal, name), "{name}");
    }
    assert!(is_rehearsed(&fixture.rehearsal, "written.env"));
    // The resumed session.
    let again = OverlayFixture::with_readable(&root, &[]);
    assert!(!is_rehearsed(&again.rehearsal, "copy.env"));
    again.run("cp copy.env more.env", View::WithoutSecrets).await;
    assert!(!is_rehearsed(&again.rehearsal, "more.env"));
    // A new overlay keeps nothing of the discarded one.
    discard_overlay(again.rehearsal.overlay_folder()).await;
    let fresh = OverlayFixture::with_readable(&root, &[]);
    fresh.run("echo KEY=made > made.env", View::WithoutSecrets).await;
    assert!(is_rehearsed(&fresh.rehearsal, "made.env"));
}

#[tokio::test]
async fn r13_rule_opens_exactly_the_named_file() {
    let Some(root) = own_process("overlay_sandbox_view::r13_rule_opens_exactly_the_named_file") else {
        return;
    };
    if !has_overlay_sandbox() {
        return;
    }
    let project = root.join("project");
    for path in ["project/.env", "project/.env.local", "project/two.env", "home/.netrc"] {
        write_file(&root.join(path), &format!("{SECRET} {path}\n"));
    }
    fs::hard_link(project.join("two.env"), project.join("plain")).unwrap();
    std::os::unix::fs::symlink(".env.local", project.join("way.env")).unwrap();
    let fixture = OverlayFixture::with_readable(&root, &[]);
    let output_with = async |command: &str, named: &str| {
        let line = command_line(command, &project);
        fixture.shell.run_in_overlay(&line, View::Files(vec![PathBuf::from(named)]), &|_| {}).await.unwrap().output
    };
    let output = output_with("cat .env .env.local two.env plain ~/.netrc", ".env").await;
    assert!(output.contains(&format!("{SECRET} project/.env\n")), "{output}");
    assert_eq!(output.matches(SECRET).count(), 1, "{output}");
    for (command, name) in [
        ("cat two.env plain", "two.env"),
        ("cat way.env .env.local", "way.env"),
        ("cat .env .env.local", "."),
        ("cat ~/.netrc", "../home/.netrc"),
    ] {
        let output = output_with(command, name).await;
        assert!(!output.contains(SECRET), "{command}: {output}");
    }
    // The next command, without the rule, cannot read the file.
    assert!(!fixture.run_hidden("cat .env").await.contains(SECRET));
}
