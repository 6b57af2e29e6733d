//! The words that lines consist of. A word that is listed twice is drawn twice as often.

/// Files of the scratch project without secrets.
#[rustfmt::skip]
pub const PLAIN: &[&str] = &[
    "README.md", "src/main.rs", "src/lib.rs", "docs/guide.md", "'a b.txt'", "data.csv", "data.json",
    "app.log", "archive.tar", "archive.zip", "src/../README.md", "./data.csv", "src/copy.txt", "empty.txt",
    "dump.hex",
];

/// Folders of the scratch project, and glob patterns.
#[rustfmt::skip]
pub const FOLDERS: &[&str] = &[
    ".", "src", "docs", "./src", "src/", "*.md", "src/*", "d*", ".",
];

/// Folders of the scratch project with little more than a decoy.
pub const SECRET_FOLDERS: &[&str] = &["keys", "./keys", "web", "links"];

/// Decoys by all their names: secrets in the project, secrets elsewhere, and special files. `@/` stands for the folder
/// that contains the project, the home and the sibling folder.
#[rustfmt::skip]
pub const DECOYS: [&[&str]; 3] = [
    &[
        ".env", "./.env", "src/../.env", "keys/server.pem", "keys", "web/.env.local", "web", ".git/config",
        "keys/*", ".e*", ".git/index", "'.env'", ".en?",
    ],
    &[
        "@/home/.ssh/id_rsa", "~/.ssh/id_rsa", "~/.netrc", "@/home/.netrc", "../sibling/secret.txt",
        "@/sibling/secret.txt", "@/sibling/secret.txt", "../sibling/secret.txt", "@/sibling", "../sibling/",
        "../../sibling/secret.txt",
    ],
    &[
        "notes.txt", "linked.txt", "pipe", "./pipe", "device", "links", "links/notes.txt",
    ],
];

/// Names of files that do not exist.
#[rustfmt::skip]
pub const ABSENT: &[&str] = &[
    "out.txt", "src/new.rs", "@/sibling/new.txt", "docs/out", "@/tmp/out",
];

/// Valid and invalid values of options.
#[rustfmt::skip]
pub const VALUES: &[&str] = &[
    "1", "2", "3", "0", "5", "10", "-1", "+2", "+1", "a", "x", "x1", "c", "d1", "n", "t", ":", "','", "fn",
    "SECRET", "S", "''", ".", "1,2", "1-3", "%s", "%n", "rec", "recurse", "r", "rea", "skip", "always",
    "never", "auto", "text", "without-match", "'*.rs'", "'*.md'", "'!*.rs'", "'*.env'", "'*'", "'.*'",
    ".env", "keys", ".git", "web", "src", "rust", "all", "none", "no", "HEAD", "oneline", "short", "%B",
    "raw", "f", "file", "utf-8", "auto,1", "1k", "path", "name", "'/fn/p'", "'s/a/b/'", "'{print}'", "--",
    "-", "-n", "-r",
];

/// Patterns to search for. The content of each decoy matches the first one.
#[rustfmt::skip]
pub const PATTERNS: &[&str] = &[
    "SECRET", "fn", ".", "''", "e", "'^'", "-e", "x", "SECRET", "main", "[A-Z]",
];

/// Revisions and paths as git accepts them.
#[rustfmt::skip]
pub const REVISIONS: &[&str] = &[
    "HEAD", "HEAD~1", "main", "HEAD HEAD~1", "HEAD~1..HEAD", "HEAD:README.md", "--", "HEAD --",
    ":README.md", "'HEAD^{tree}'", "@", "v1", "main...v1", ".", ":/", "':!docs'", "':(glob)**'", "src",
    "-- src", "'*.rs'", "':(icase)readme.md'", "-- src/copy.txt", "src/copy.txt", "README.md",
    "src/main.rs", "docs", "--all", "':^src'", "':/src'",
];

/// Returns whether this word names a decoy.
pub fn is_decoy(word: &str) -> bool {
    DECOYS.iter().any(|kind| kind.contains(&word))
}
