//! Tests of options that may hide what a command reads or writes. The commands in the table once ran without approval
//! by mistake, or could have.

use super::*;

const OPTIONS_TABLE: &str = include_str!("../lines/options.txt");

#[test]
fn r12_no_option_hides_a_file_that_is_used() {
    check_table(OPTIONS_TABLE);
}

/// Commands that models often send run without approval in a project without secrets.
#[test]
fn r12_everyday_lines_run_without_approval() {
    let lines = "ls -la\nls -lah src\nls -1t\ncat README.md\ncat -n src/main.rs src/lib.rs\nhead -20 README.md\nhead -n 5 data.csv\n\
        tail -n +5 app.log\nwc -l src/main.rs\nsort data.csv | uniq -c\nsort -t, -k2,2n data.csv\ncut -d, -f1 data.csv\n\
        grep -rn main src\ngrep -n -A3 -B2 main src/main.rs\ngrep -rn --include='*.rs' main src\ngrep -e a -e b src/main.rs\n\
        grep -C 3 main src/lib.rs\nrg main\nrg -n 'fn main' src\nrg --files\nrg -g '*.rs' main\nrg -e main -e lib src\n\
        grep -rn main . --exclude-dir .git\nrg main src -g '*.rs' -A 3\n\
        find . -name '*.rs'\nfind src -type f -size +1k\nfd main src\nfd -e rs\nsed -n 1,20p src/main.rs\nsed -ne 1p README.md\n\
        jq . package.json\njq -rc '.name' package.json\nawk -F, '{print $1}' data.csv\ndiff -u src/main.rs src/lib.rs\n\
        git status\ngit status -sb\ngit log --oneline -10\ngit log -p -2 -- src/main.rs\ngit diff\ngit diff -U5 src\ngit diff --cached\n\
        git show HEAD\ngit show --stat HEAD~1\ngit show 1a2b3c4\ngit blame -L 1,5 src/main.rs\ngit grep -n main\ngit branch -vv\n\
        git ls-files\nod -c README.md\nod -An -tx1 -w8 README.md\nhexdump -C README.md\nxxd README.md\nxxd -l 16 -c4 README.md\n\
        xxd -ps README.md\ntree -L 2 src\ntree -aI target\ndu -sh src\nstat -c %s README.md\nfile -b README.md\ncolumn -t -s, data.csv\n\
        unzip -l a.zip\nzipinfo -1 a.zip\ndate -u +%s\nuniq -c data.csv";
    let (_place, files) = plain_project();
    let lines: Vec<&str> = lines.lines().map(str::trim).collect();
    let asking: Vec<(&str, String)> =
        lines.iter().map(|line| (*line, judge_reach(line, &files).1)).filter(|(_, why)| !why.is_empty()).collect();
    assert!(lines.len() >= 40 && asking.is_empty(), "{asking:#?}");
}

/// git prints staged and tracked files and those of `git add -N`: a sensitive file among them needs approval.
#[test]
fn r13_git_printing_a_tracked_secret_needs_approval() {
    let (directory, files) = plain_project();
    let git = directory.path().join("project/.git");
    let printing = [
        "git diff",
        "git diff HEAD",
        "git diff --cached",
        "git diff --stat -p",
        "git diff -- .",
        "git diff -C -- src",
        "git diff --find-copies-harder",
        "git diff -- ':(exclude)src'",
        "git diff -- 'd*'",
        "git diff -q",
        "git diff -- src config",
        "git show",
        "git show --stat 1a2b3c4",
        "git show HEAD",
        "git log -p",
        "git log -U1",
        "git log -pall",
        "git log -c",
        "git log -L 1,2:src/main.rs",
        "git reflog -p",
        "git reflog show -p",
        "git status -v",
        "git status -vv",
        "git grep KEY",
        "git grep -e KEY",
        "git grep --cached KEY",
        "git grep -h . -- config",
        "git cat-file -p 1a2b3c4",
        "git cat-file blob 1a2b3c4",
        "git cat-file blob 1a2b3c4d5e6f",
        "git log -G KEY",
        "git log -S KEY --oneline",
        "git log -SKEY --name-only",
        "git diff --stat -G '^KEY=a'",
        "git status -v -- src",
        "git diff --word-diff --stat",
        "git diff --exit-code",
        "git whatchanged -p",
        "git --no-pager diff",
        "git diff --check",
        "git diff --no-patch --patch",
        "git show 'HEAD^{/fix: x}'",
        "git show 1a2b3c4:src/main.rs 1a2b3c4",
    ];
    let listing = [
        "git status",
        "git status -s",
        "git diff --stat",
        "git diff --name-only",
        "git diff --name-status HEAD",
        "git log --oneline",
        "git log --stat",
        "git ls-files -s",
        "git branch -vv",
        "git show --stat HEAD",
        "git show HEAD:src/main.rs",
        "git diff -- src",
        "git diff HEAD -- ./src/",
        "git log -p -1 -- src/main.rs",
        "git blame src/main.rs",
        "git grep main -- src",
    ];
    let unasked = |lines: &[&str]| -> Vec<String> {
        let needs_no_approval = |line: &&&str| judge_reach(line, &files).0 == Reach::Reads;
        lines.iter().filter(needs_no_approval).map(|line| (*line).to_owned()).collect()
    };
    // The commands that are left out need approval in every project.
    let plain_printing: Vec<&str> = printing
        .iter()
        .copied()
        .filter(|line| !line.contains("-pall") && !line.contains("':(") && !line.contains("'d*'"))
        .collect();
    assert_eq!(unasked(&plain_printing), plain_printing, "without a sensitive file");
    for names in [["README.md", "config/.env"], ["config/id_rsa", "src/main.rs"]] {
        fs::write(git.join("index"), crate::project::git_index::tests::index_of(&names)).unwrap();
        assert_eq!(unasked(&printing), Vec::<String>::new(), "{names:?}");
        assert_eq!(unasked(&listing), listing, "{names:?}");
    }
    assert!(
        judge_reach("git diff", &files).1.contains("git may print config/id_rsa"),
        "{:?}",
        judge_reach("git diff", &files)
    );
    fs::write(git.join("index"), "DIRC").unwrap();
    assert!(judge_reach("git diff", &files).1.contains("cannot be read"));
}

#[test]
fn r13_git_printing_stashed_changes_needs_approval() {
    for place in ["refs/stash", "packed-refs", "a link"] {
        let (directory, files) = plain_project();
        let lines = [
            "git log -p --all",
            "git show 1a2b3c4",
            "git show 'stash@{0}'",
            "git cat-file -p 1a2b3c4",
            "git reflog -p",
            "git show 1a2b3c4^3",
            "git log -p main-1-g1a2b3c4",
        ];
        let count_unasked = || lines.iter().filter(|line| judge_reach(line, &files).0 == Reach::Reads).count();
        assert_eq!(count_unasked(), lines.len());
        let git = directory.path().join("project/.git");
        match place {
            "refs/stash" => fs::write(git.join("refs/stash"), "1a2b\n").unwrap(),
            "packed-refs" => fs::write(git.join("packed-refs"), "# pack-refs\n1a2b refs/stash\n").unwrap(),
            _ => symlink("../docs/a.md", git.join("packed-refs")).unwrap(),
        }
        assert_eq!(count_unasked(), 0, "{place}");
        assert!(judge_reach("git show 1a2b3c4", &files).1.contains("stashed"));
        assert_eq!(judge_reach("git show HEAD", &files).0, Reach::Reads);
        assert_eq!(judge_reach("git log --all --oneline", &files).0, Reach::Reads);
    }
}

/// Reading a pipe blocks, and takes what another program should receive.
#[cfg(unix)]
#[test]
fn r13_only_regular_files_are_read() {
    let (directory, files) = plain_project();
    let root = directory.path().join("project");
    let status = std::process::Command::new("mkfifo").arg(root.join("docs/pipe")).status().unwrap();
    assert!(status.success());
    let _socket = std::os::unix::net::UnixListener::bind(root.join("tools/socket")).unwrap();
    symlink("docs/pipe", root.join("pipe-link")).unwrap();
    symlink("not-there", root.join("dangling")).unwrap();
    for command in [
        "cat docs/pipe",
        "cat pipe-link",
        "cat < docs/pipe",
        "wc -l < pipe-link",
        "head -1 tools/socket",
        "cat docs/*",
        "sort README.md docs/pipe",
        "grep x docs/pipe",
        "grep -f docs/pipe README.md",
        "grep -r x docs",
        "rg x docs",
        "rg x",
        "diff docs/pipe README.md",
        "diff -r src docs",
        "find docs -exec cat {} +",
        "sed p docs/pipe",
        "awk '{print}' docs/pipe",
        "jq . docs/pipe",
        "tac < tools/socket",
        "xxd docs/pipe",
        "cd docs && cat pipe",
    ] {
        let (actual, why) = judge_reach(command, &files);
        assert!(actual == Reach::Runs && why.contains("a pipe, a socket or a device"), "{command}: {actual:?} {why}");
    }
    for command in
        ["ls docs", "stat docs/pipe", "cat dangling", "test -e docs/pipe", "find docs", "grep -r x src", "rg x src"]
    {
        assert_eq!(judge_reach(command, &files), (Reach::Reads, String::new()), "{command}");
    }
}

/// Options that exclude files from a search do not exclude them from the check.
#[test]
fn r13_no_exclusion_hides_a_sensitive_file_from_the_check() {
    let (directory, files) = plain_project();
    let root = directory.path().join("project");
    fs::create_dir_all(root.join("src/[s]ecret")).unwrap();
    fs::create_dir_all(root.join("src/.hid")).unwrap();
    for name in ["src/.env", "src/[s]ecret/id_rsa", "src/.hid/.env"] {
        fs::write(root.join(name), "x").unwrap();
    }
    let exclusions = "--exclude-dir='[s]ecret' --exclude-dir=.hid";
    for command in [
        "grep -r --exclude-dir=.env --exclude-dir=.hid --exclude-dir='[s]ecret' x src",
        "grep -rn --exclude-dir=.env x src",
        "grep -r --include='*.rs' --exclude-dir=.env x src",
        &format!("grep -r {exclusions} --exclude=.env x src"),
        &format!("grep -r {exclusions} --include=.env x src"),
        "grep -r x src --exclude='.*'",
        "grep -r --exclude-dir=src x .",
        "grep -r --exclude-dir='*' x src",
        "rg -u --hidden x src",
        "rg -uu -g '!.env' x src",
        "rg -g '!.env' --hidden x src",
        "rg -.T rust x src",
        "rg --no-ignore x -g .env src",
        "rg -e x --hidden",
        "rg -ue x -. src",
        "find src -name '.env' -prune -o -type f -exec cat {} +",
        "find src -path 'src/.env' -prune -o -exec grep x {} +",
    ] {
        let (actual, why) = judge_reach(command, &files);
        assert_ne!(actual, Reach::Reads, "{command}: {why}");
    }
    fs::remove_file(root.join("src/.env")).unwrap();
    fs::remove_dir_all(root.join("src/[s]ecret")).unwrap();
    assert_eq!(judge_reach("grep -r --exclude-dir=.hid/ x src", &files).0, Reach::Reads);
    assert_eq!(judge_reach("rg x src", &files).0, Reach::Reads);
}

/// A hard link to a secret is sensitive too, and `df` must not open a pipe.
#[test]
fn r13_hard_links_and_pipes_need_approval() {
    let (_place, files) = plain_project();
    let root = files.root();
    for command in ["cat notes.txt", "grep -r main src", "rg main", "diff -r src docs", "df README.md"] {
        assert_eq!(judge_reach(command, &files), (Reach::Reads, String::new()), "{command}");
    }
    fs::write(root.join(".env"), "x\n").unwrap();
    fs::create_dir_all(root.join("target/debug")).unwrap();
    for name in ["notes.txt", "src/notes.txt", "target/debug/notes.txt"] {
        fs::hard_link(root.join(".env"), root.join(name)).unwrap();
    }
    symlink("../notes.txt", root.join("docs/link.txt")).unwrap();
    let reading_commands = [
        "cat notes.txt",
        "cat < notes.txt",
        "column ./notes.txt",
        "nl src/notes.txt",
        "cat docs/link.txt",
        "cat n*",
        "grep main notes.txt",
        "grep -r main src",
        "find docs -exec cat {} +",
        "rg main",
        "diff -r src docs",
        "wc -l notes.txt",
        "sed -n 1p notes.txt",
        "jq . notes.txt",
        "awk 1 notes.txt",
        "find src -exec cat {} +",
    ];
    for command in reading_commands {
        let (actual, why) = judge_reach(command, &files);
        assert!(actual == Reach::Runs && why.contains("hard links"), "{command}: {actual:?} {why}");
        let line = CommandLine { command: command.to_owned(), folder: root.to_owned(), ..CommandLine::default() };
        assert!(matches!(command_access(line, &files), Access::Run(run) if run.is_sensitive), "{command}");
    }
    for command in ["cat target/debug/notes.txt", "stat notes.txt", "ls -l notes.txt", "du src", "df", "df src"] {
        assert_eq!(judge_reach(command, &files), (Reach::Reads, String::new()), "{command}");
    }
    let status = std::process::Command::new("mkfifo").arg(root.join("pipe")).status().unwrap();
    assert!(status.success());
    for command in ["df pipe", "df -h ./pipe", "df -- p*", "cat pipe"] {
        let (actual, why) = judge_reach(command, &files);
        assert!(actual == Reach::Runs && why.contains("a pipe"), "{command}: {actual:?} {why}");
    }
}
