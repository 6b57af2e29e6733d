//! Tests of which losses are found.

use super::*;
use crate::project::FileKind;
use crate::tools::memory_project::MemoryProject;

#[test]
fn finds_plain_losses() {
    let files = MemoryProject::with_files(&[("x", "1\n")]);
    let losses_in = |command: &str| find_losses(command, &files);
    for (command, part) in [
        ("rm -rf build", "rm -r"),
        ("cd x && sudo /bin/rm -f y", "rm -f"),
        ("find . | xargs rm -r", "rm -r"),
        ("sh -c 'rm -rf x'", "rm -r"),
        ("find . -name x -delete", "-delete"),
        ("git -C x push origin main --force", "--force"),
        ("git push --force-with-lease=main", "--force"),
        ("git reset --hard HEAD~1", "--hard"),
        ("git clean -fdx", "clean"),
        ("mkfs.ext4 /dev/sda", "mkfs"),
        ("dd if=a of=/dev/sda", "dd"),
        ("echo x >/dev/sda", "/dev/"),
        ("shred x", "shred"),
        ("truncate -s 0 x", "truncate"),
        // With any quoting and any wrapper.
        ("r\\m -r\\f x", "rm -r"),
        ("'rm' \"-rf\" x", "rm -r"),
        ("rm x --recursive", "rm -r"),
        ("bash -c \"bash -c 'rm -rf x'\"", "rm -r"),
        ("echo $(rm -rf x)", "rm -r"),
        ("for f in a b; do rm -rf $f; done", "rm -r"),
        ("if true; then git reset --hard; fi", "--hard"),
        ("ssh host 'cd x && rm -rf y'", "rm -r"),
        ("docker exec c rm -rf /x", "rm -r"),
        ("timeout 5 env A=b rm -rf x", "rm -r"),
        ("timeout 5 git push -f", "--force"),
        ("find . -exec rm -rf {} +", "rm -r"),
        ("find . -print0 | xargs -0 rm -f", "rm -f"),
        ("echo x 2>>/dev/sda", "/dev/"),
        ("rm -rf 'x", "rm -r"),
        ("cat <<E\n$(rm -rf x)\nE", "rm -r"),
    ] {
        assert!(losses_in(command).is_some_and(|loss| loss.contains(part)), "{command}");
    }
    for command in [
        "ls",
        "cargo test 2>/dev/null",
        "git push",
        "git reset x",
        "git rm -r x",
        "dd if=x",
        "form -rf",
        "git commit -m 'never rm -rf x; git reset --hard'",
        "echo rm -rf x",
        "grep -rn 'rm -rf' src",
        "git -C x rm -r y",
        "docker rm -f c",
        "cat 'rm -rf'",
        "ls > 'rm -rf'",
        "cat x # rm -rf y",
        "cat <<'E'\nrm -rf x\nE",
    ] {
        assert_eq!(losses_in(command), None, "{command}");
    }
}

/// Returns the losses of a command in a project with some files.
fn losses_in_project(command: &str) -> String {
    let files = MemoryProject::with_files(&[
        ("old.txt", "x\n"),
        ("empty.txt", ""),
        ("src/main.rs", "fn main() {}\n"),
        ("docs/a.md", "a\n"),
        ("docs/main.rs", "b\n"),
        ("sn/main.rs", "c\n"),
    ]);
    find_losses(command, &files).unwrap_or_default()
}

#[test]
fn names_what_is_deleted() {
    for (command, expected) in [
        ("rm old.txt check.sh", "deletes old.txt and check.sh"),
        ("rm *.txt", "deletes *.txt"),
        ("rm --recurs src", "deletes src and everything in it (rm -r)"),
        ("rm -rf old.txt src/main.rs", "deletes old.txt and src/main.rs (rm -r)"),
        ("rm -r empty.txt", "deletes empty.txt (rm -r)"),
        ("rm -r old.txt src", "deletes src and everything in it, and old.txt (rm -r)"),
        ("rm -r *.txt", "deletes *.txt and everything in it (rm -r)"),
        ("cd docs && rm -rf main.rs", "deletes main.rs (rm -r)"),
        ("cd docs && rm -rf old.txt", "deletes old.txt and everything in it (rm -r)"),
        ("ssh host rm -r old.txt", "deletes old.txt and everything in it (rm -r)"),
        ("rm -rf new", "deletes new and everything in it (rm -r)"),
        ("rm --forc old.txt", "deletes old.txt (rm -f)"),
        ("shred --iterations 3 old.txt", "overwrites old.txt permanently (shred)"),
        ("rm -- -odd", "deletes -odd"),
        ("rm a b c d e", "deletes a, b and 3 more"),
        ("unlink old.txt", "deletes old.txt"),
        ("rmdir docs", "deletes docs if empty (rmdir)"),
        ("find . -name '*.o' | xargs rm", "deletes input of xargs"),
        ("find . -name '*.o' -exec rm {} +", "deletes files found by find"),
        ("ssh host rm x", "deletes x"),
        ("kubectl exec pod -- rm x", "deletes x"),
        (
            "rm -rf src docs && git push --force origin feature",
            "deletes src and docs and everything in them (rm -r); replaces the history on the remote (git push --force)",
        ),
        ("rm a; rm b; rm c; rm d; git stash drop", "deletes a; deletes b; deletes c; and 2 more"),
    ] {
        assert_eq!(losses_in_project(command), expected, "{command}");
    }
    for command in ["cargo rm serde", "docker rm c", "pnpm rm x", "npm rm x", "rm --help", "git rm x", "ls rm"] {
        assert_eq!(losses_in_project(command), "", "{command}");
    }
}

#[test]
fn names_files_that_are_overwritten() {
    for (command, expected) in [
        ("> src/main.rs", "overwrites src/main.rs"),
        ("echo x >| old.txt", "overwrites old.txt"),
        ("cd src && echo x > main.rs", "overwrites main.rs"),
        ("cargo test > old.txt 2>&1", "overwrites old.txt"),
        ("cp /dev/null src/main.rs", "overwrites src/main.rs (cp)"),
        ("mv old.txt src/main.rs", "overwrites src/main.rs (mv)"),
        ("cp src/main.rs docs/", "overwrites docs/main.rs (cp)"),
        ("cp -t docs old.txt src/main.rs", "overwrites docs/main.rs (cp)"),
        ("mv -tdocs-n old.txt", ""),
        ("mv -tsn src/main.rs", "overwrites sn/main.rs (mv)"),
        ("mv -ftsn src/main.rs", "overwrites sn/main.rs (mv)"),
        ("mv --targ=sn src/main.rs", "overwrites sn/main.rs (mv)"),
        ("mv -S -n old.txt src/main.rs", "overwrites src/main.rs (mv)"),
        ("mv -Sn old.txt src/main.rs", "overwrites src/main.rs (mv)"),
        ("mv -n -f old.txt src/main.rs", "overwrites src/main.rs (mv)"),
        ("cp --backup=none old.txt src/main.rs", "overwrites src/main.rs (cp)"),
        ("install -tsnd src/main.rs", ""),
        ("install -tsn -gd src/main.rs", "overwrites sn/main.rs (install)"),
        ("ln -tsn -s src/main.rs", ""),
        ("ln -sftsn src/main.rs", "overwrites sn/main.rs (ln)"),
        ("echo x | tee -- -a old.txt", "overwrites old.txt (tee)"),
        ("curl -Hx-o -sLoold.txt http://x", "overwrites old.txt (curl)"),
        ("ln -sf a old.txt", "overwrites old.txt (ln)"),
        ("echo x | tee new.txt old.txt", "overwrites old.txt (tee)"),
        ("curl -so old.txt http://x", "overwrites old.txt (curl)"),
        ("curl -o old.txt http://x", "overwrites old.txt (curl)"),
        ("wget -Oold.txt http://x", "overwrites old.txt (wget)"),
        ("truncate -s 0 old.txt", "truncates old.txt (truncate)"),
        ("dd if=/dev/zero of=old.txt", "overwrites old.txt (dd of=)"),
        ("rsync -a --delete a/ b/", "deletes files missing from the source (rsync --delete)"),
        ("watch 'echo x > old.txt'", "overwrites old.txt"),
        // New, empty, appended, backed up or remote.
        ("echo x > new.txt", ""),
        ("echo x > empty.txt", ""),
        ("echo x >> old.txt", ""),
        ("echo x | tee -a old.txt", ""),
        ("cd docs && echo x > old.txt", ""),
        ("cp old.txt new.txt", ""),
        ("cp -n old.txt src/main.rs", ""),
        ("cp --backup old.txt src/main.rs", ""),
        ("cp old.txt src", ""),
        ("mv old.txt src/", ""),
        ("ln -s a old.txt", ""),
        ("dd if=old.txt of=new.img", ""),
        ("truncate -s 10M new.img", ""),
        ("rsync -a --delay-updates a/ b/", ""),
        ("cargo test > /dev/null 2> /dev/stderr", ""),
        ("ssh host 'echo x > old.txt'", ""),
        ("cat old.txt docs/a.md", ""),
    ] {
        assert_eq!(losses_in_project(command), expected, "{command}");
    }
}

#[test]
fn shared_memory_is_not_a_device() {
    assert_eq!(losses_in_project("echo z >/dev/shm/zz3"), "");
    assert_eq!(losses_in_project("echo z >/dev/tcp/a/80"), "");
    assert_eq!(losses_in_project("echo z >/dev/sda"), "overwrites a device (/dev/sda)");
}

#[test]
fn names_what_git_discards() {
    let loss = "discards uncommitted changes";
    let moved = "moves the branch x away from its commits if it exists";
    for (command, expected) in [
        ("git checkout -- .", format!("{loss} in . (git checkout)")),
        ("git checkout .", format!("{loss} in . (git checkout)")),
        ("git checkout HEAD~1 -- old.txt", format!("{loss} in old.txt (git checkout)")),
        ("git checkout old.txt", format!("{loss} in old.txt (git checkout)")),
        ("git checkout -f main", format!("{loss} (git checkout -f)")),
        ("git restore old.txt docs", format!("{loss} in old.txt and docs (git restore)")),
        ("git restore -SW .", format!("{loss} in . (git restore)")),
        ("git switch --discard-changes main", format!("{loss} (git switch -f)")),
        ("git -C x stash drop", "discards stashed changes (git stash drop)".to_owned()),
        ("git -c a=b stash clear", "discards stashed changes (git stash clear)".to_owned()),
        ("git branch -D x", "deletes the branch x, merged or not (git branch -D)".to_owned()),
        ("git push origin :x", "replaces or deletes branches on the remote (git push)".to_owned()),
        ("git push origin +x", "replaces or deletes branches on the remote (git push)".to_owned()),
        ("git push --mirror origin", "replaces or deletes branches on the remote (git push)".to_owned()),
        ("git rm -f a", "deletes a with uncommitted changes (git rm -f)".to_owned()),
        ("git rm -f -- --cached", "deletes --cached with uncommitted changes (git rm -f)".to_owned()),
        ("git clean -fd -enode_modules", "deletes untracked files (git clean -f)".to_owned()),
        ("git clean -fdenode_modules", "deletes untracked files (git clean -f)".to_owned()),
        ("git clean -fd -e -n", "deletes untracked files (git clean -f)".to_owned()),
        ("git clean -fd -- -n", "deletes untracked files (git clean -f)".to_owned()),
        ("git clean -fdn --no-dry", "deletes untracked files (git clean -f)".to_owned()),
        ("git -c clean.requireForce=no clean -d", "deletes untracked files (git clean -f)".to_owned()),
        ("git restore -sStable old.txt", format!("{loss} in old.txt (git restore)")),
        ("git restore -S --no-staged old.txt", format!("{loss} in old.txt (git restore)")),
        ("git reset --har HEAD", "discards uncommitted changes (git reset --hard)".to_owned()),
        ("git clean -d --forc", "deletes untracked files (git clean -f)".to_owned()),
        ("git switch --discard main", format!("{loss} (git switch -f)")),
        ("git reset --merge", "discards staged changes (git reset --merge)".to_owned()),
        ("git checkout -B x", format!("{moved} (git checkout -B)")),
        ("git switch -Cx main", format!("{moved} (git switch -C)")),
        ("git switch --force-create=x", format!("{moved} (git switch -C)")),
        ("git branch -f x main", format!("{moved} (git branch -f)")),
        ("git branch -M x", format!("{moved} (git branch -M)")),
        ("git branch -fm main x", format!("{moved} (git branch -M)")),
        ("git branch --copy --force main x", format!("{moved} (git branch -C)")),
        ("git push origin --delet x", "replaces or deletes branches on the remote (git push)".to_owned()),
    ] {
        assert_eq!(losses_in_project(command), expected, "{command}");
    }
    for command in [
        "git checkout main",
        "git checkout -b docs",
        "git switch -c docs",
        "git commit -e",
        "git restore --staged .",
        "git switch main",
        "git reset HEAD~1",
        "git clean -nfd",
        "git clean -fdn -enode_modules",
        "git checkout -bfix",
        "git stash",
        "git stash pop",
        "git branch -d x",
        "git branch -m main x",
        "git push origin main",
        "git commit -am 'checkout -- .'",
        "git log --oneline -- old.txt",
        "git rm --cached -f a",
    ] {
        assert_eq!(losses_in_project(command), "", "{command}");
    }
}

#[test]
fn redirection_does_not_hide_other_losses() {
    let overwrite = "overwrites old.txt";
    for (command, expected) in [
        ("ssh host 'rm -rf /srv' > old.txt", format!("{overwrite}; deletes /srv and everything in it (rm -r)")),
        ("ssh host 'rm -rf /srv' > new.txt", "deletes /srv and everything in it (rm -r)".to_owned()),
        ("watch 'echo x > docs/a.md' > old.txt", format!("{overwrite}; overwrites docs/a.md")),
        ("rm x > old.txt", format!("{overwrite}; deletes x")),
        (
            "echo x > old.txt; rm -rf 'y",
            format!("{overwrite}; deletes the files it is given and everything in it (rm -r)"),
        ),
        ("ssh host 'ls > log' > old.txt", overwrite.to_owned()),
    ] {
        assert_eq!(losses_in_project(command), expected, "{command}");
    }
}

/// A project and the number of lookups in it. Opening, reading or listing its files panics.
struct LookupCounter(std::sync::Arc<MemoryProject>, std::sync::atomic::AtomicUsize);

impl Reader for LookupCounter {
    fn root(&self) -> &std::path::Path {
        self.0.root()
    }
    fn locate(&self, path: &str) -> Result<crate::project::Location, crate::project::Error> {
        self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.0.locate(path)
    }
    fn read(&self, location: &crate::project::Location) -> Result<Vec<u8>, crate::project::Error> {
        panic!("{} is read", location.display_path.display())
    }
    fn open(
        &self,
        location: &crate::project::Location,
    ) -> Result<Box<dyn std::io::Read + Send>, crate::project::Error> {
        panic!("{} is opened", location.display_path.display())
    }
    fn link_count(&self, location: &crate::project::Location) -> u64 {
        self.0.link_count(location)
    }
    fn file_kind(&self, location: &crate::project::Location) -> Option<FileKind> {
        self.0.file_kind(location)
    }
    fn list_names(&self, location: &crate::project::Location) -> Result<Vec<String>, crate::project::Error> {
        panic!("{} is listed", location.display_path.display())
    }
    fn walk(
        &self,
        _: &crate::project::Location,
        _: bool,
        _: crate::project::Visit<'_>,
    ) -> Result<(), crate::project::Error> {
        panic!("the project is walked")
    }
}

#[test]
fn limits_lookups_and_opens_no_file() {
    let files = LookupCounter(MemoryProject::with_files(&[("old.txt", "x")]), 0.into());
    let many_commands = vec!["cd a; cd b; tee new.txt new.md new.rs"; 1000].join("; ");
    let losses = find_losses(&format!("tee old.txt; {many_commands}"), &files).unwrap();
    assert!(losses.starts_with("overwrites old.txt (tee)"), "{losses}");
    assert!(losses.contains("new"), "names beyond the limit count as existing: {losses}");
    assert_eq!(files.1.into_inner(), MAX_LOOKUPS);
}
