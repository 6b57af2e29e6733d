//! Tests of which commands may read secrets or files outside; files that are only written do not count.

use super::*;

#[test]
fn r30_file_of_a_redirection_alone_is_not_read() {
    let (_place, files) = project_with_secrets();
    for (command, is_sensitive, may_disclose) in [
        ("make", false, false),
        ("echo x > .env", true, false),
        ("echo x >> ../other.txt", true, false),
        ("echo x > ~/x", true, false),
        ("echo x > '.env'; make", true, false),
        // The same file is read too, or may be.
        ("cat .env > .env", true, true),
        ("python3 tools/y.py .env > .env", true, true),
        ("echo x > .env; . ./.env", true, true),
        ("cat <> .env", true, true),
        ("echo x > .env < .env", true, true),
        ("echo x > $(cat .env)", true, true),
        ("echo x > >(cat .env)", true, true),
        // A program may read any file it is given.
        ("cp .env b", true, true),
        ("tee .env < docs/a.md", true, true),
        ("cp ../other.txt b", true, true),
        ("cat .env > b", true, true),
        ("make; cat .env", true, true),
        ("grep -r x .", true, true),
    ] {
        let line = CommandLine {
            command: command.to_owned(),
            folder: files.root().to_owned(),
            seconds: 1,
            ..CommandLine::default()
        };
        let Access::Run(run) = command_access(line, &files) else { panic!("{command} only reads") };
        assert_eq!((run.is_sensitive, run.may_disclose), (is_sensitive, may_disclose), "{command}: {run:?}");
    }
}
