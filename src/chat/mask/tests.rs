//! What is a secret by its shape, and what is none.

use super::*;

#[track_caller]
fn check(text: &str, masked: &str) {
    let (out, count) = mask(text);
    assert_eq!(out, masked);
    assert_eq!(count, masked.matches(MASK).count(), "{text}");
}

/// So many letters that look like a key's. Keys are put together here, so that none stands in this file.
fn letters(count: usize) -> String {
    "aB3dE5gH7jK9mN1pQ2sT4vW6yZ8".chars().cycle().take(count).collect()
}

#[test]
fn r57_tokens_are_known_by_how_they_begin() {
    let long = letters(40);
    for start in [
        "sk-",
        "sk-proj-",
        "sk-ant-api03-",
        "sk-or-v1-",
        "gsk_",
        "hf_",
        "ghp_",
        "gho_",
        "github_pat_",
        "glpat-",
        "xoxb-",
        "npm_",
        "sk_live_",
        "AIza",
        "ya29.",
        "hvs.",
        "SG.",
        "dop_v1_",
        "xai-",
    ] {
        let text = format!("a {start}{long}, b");
        let (text, count) = mask(&text);
        assert_eq!(count, 1, "{start}");
        assert!(text.starts_with("a ") && text.ends_with("[masked], b") && !text.contains(&long), "{text}");
    }
    check(&format!("ghp_{long}"), "ghp_[masked]");
    check(&format!("\"{}\"", "AKIA".to_owned() + "ABCDEFGH12345678"), "\"AKIA[masked]\"");
    check(&format!("sk-{long}\nsk-{long}"), "sk-[masked]\nsk-[masked]");
    // A text within a text has its ends of lines as escapes.
    check(&format!("a\\nghp_{long}\\tsk-{long}"), "a\\nghp_[masked]\\tsk-[masked]");
    check(&format!("--token ghp_{long}"), "--token ghp_[masked]");
    check(&format!("é sk-{long} 漢"), "é sk-[masked] 漢");
}

#[test]
fn r57_web_tokens_headers_and_addresses_lose_what_is_secret() {
    let part = letters(30);
    check(&format!("t=eyJ{part}.eyJ{part}.{part};"), "t=[masked];");
    check(&format!("Authorization: Bearer {part}\r\nX: y"), "Authorization: Bearer [masked]\r\nX: y");
    check(
        "curl -H 'authorization: basic dXNlcjpwYXNzd29yZA==' x",
        "curl -H 'authorization: basic [masked]' x",
    );
    check(&format!("x-api-key: {part}"), "x-api-key: [masked]");
    check("postgres://ada:s3cr3t@db:5432/x", "postgres://ada:[masked]@db:5432/x");
    check("https://ada:p@ss@host/", "https://ada:[masked]@host/");
    check(&format!("https://{part}@host/"), "https://[masked]@host/");
}

#[test]
fn r57_what_is_called_a_secret_is_one() {
    check("OPENAI_API_KEY=abcdefghij", "OPENAI_API_KEY=[masked]");
    check("export DB_PASSWORD='correct horse'", "export DB_PASSWORD='correct horse'");
    check("export DB_PASSWORD='correcthorse'", "export DB_PASSWORD='[masked]'");
    check("password = \"hunter2hunter2\"", "password = \"[masked]\"");
    check("{\\\"client_secret\\\": \\\"abcdefghij\\\"}", "{\\\"client_secret\\\": \\\"[masked]\\\"}");
    check("curl --password=abcdefghij x", "curl --password=[masked] x");
    check("aws_secret_access_key=abcdefghij/klm", "aws_secret_access_key=[masked]");
}

#[test]
fn r57_a_private_key_goes_whole_whatever_stands_before_its_lines() {
    let key =
        |lines: &str| format!("x\n-----BEGIN RSA PRIVATE KEY-----\n{lines}-----END RSA PRIVATE KEY-----\ny");
    let masked = "x\n-----BEGIN RSA PRIVATE KEY-----[masked]-----END RSA PRIVATE KEY-----\ny";
    check(&key("MIIEabc\ndef\n"), masked);
    check(&key("+MIIEabc\n+def\n+"), masked);
    check("key-----BEGIN PRIVATE KEY-----MII", "key-----BEGIN PRIVATE KEY-----[masked]");
    let removed = "-x\n------BEGIN RSA PRIVATE KEY-----\n-MIIEabc\n-def\n------END RSA PRIVATE KEY-----\n";
    check(removed, "-x\n------BEGIN RSA PRIVATE KEY-----[masked]-----END RSA PRIVATE KEY-----\n");
    for dashes in ["--", "---", "--------------", " -", "+-", "x-", "\\n-"] {
        let key = |inner: &str| format!("{dashes}-----BEGIN PRIVATE KEY-----{inner}");
        check(&key("\nMII"), &key("[masked]"));
    }
    check("\\n-----BEGIN PRIVATE KEY-----\\nMII", "\\n-----BEGIN PRIVATE KEY-----[masked]");
    check("-----BEGIN OPENSSH PRIVATE KEY-----\nMII", "-----BEGIN OPENSSH PRIVATE KEY-----[masked]");
    check(
        "-----BEGIN PUBLIC KEY-----\nMII\n-----END PUBLIC KEY-----",
        "-----BEGIN PUBLIC KEY-----\nMII\n-----END PUBLIC KEY-----",
    );
}

#[test]
fn what_is_no_secret_stays() {
    for text in [
        "",
        "sk-learn-pipeline-and-more-words",
        "risk-management-of-the-year-2024-and-2025",
        "the token = parse(input)",
        "password: see the wiki",
        "API_KEY=$OPENAI_API_KEY",
        "API_KEY=\"${KEY_OF_MINE}\"",
        "TOKEN=xxxxxxxxxxxx",
        "API_KEY=os.environ[\"NAME_OF_IT\"]",
        "https://example.com/a@b",
        "https://ada@example.com/",
        "git@github.com:a/b.git",
        "bearer of good news everyone",
        "AKIAshort",
        "key-value-store-that-is-long-enough-to-be-one",
        "fn password(text: &str) -> bool",
        "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----",
        "eyJust a word",
    ] {
        check(text, text);
    }
}

#[test]
fn r64_hostile_text_costs_no_more_than_its_length() {
    use rustix::time::{ClockId, clock_gettime};
    let parts = [
        "secret=$",
        "KEY=x.",
        "secret=a(",
        "KEY=[",
        "password ",
        "password\"",
        "eyJ",
        "eyJ.",
        "://",
        "://a:",
        "bearer ",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY",
        "-----END ",
        "SG.",
        "sk-",
        "\\",
        "-",
        "\\n-",
        "é-----BEGIN ",
        "------BEGIN ",
    ];
    for part in parts {
        let text = part.repeat(60_000 / part.len());
        // The work of this thread alone: a machine that is busy with much else makes it no more.
        let began = clock_gettime(ClockId::ThreadCPUTime);
        mask(&text);
        let took = clock_gettime(ClockId::ThreadCPUTime) - began;
        assert!(took.tv_sec < 2, "{part:?} took {took:?}");
    }
    let long = "aB3".repeat(LONGEST);
    check(&format!("KEY={long} b"), "KEY=[masked] b");
}

proptest::proptest! {
    #[test]
    fn r64_any_text_can_be_masked_and_masking_twice_changes_nothing(
        parts in proptest::collection::vec(proptest::sample::select(vec![
            "sk-", "://", "@", ":", "-----BEGIN PRIVATE KEY-----", "-----END ", "KEY=", "Bearer ", "eyJ", ".", "é", "\n",
            "abcdefgh12345678ABCDEFGH", "\"", "[masked]", " ",
        ]), 0..14)
    ) {
        let text: String = parts.concat();
        let (once, _) = mask(&text);
        let (twice, _) = mask(&once);
        // What is masked may stand where a secret did: it is found again, and is the same then.
        proptest::prop_assert_eq!(&twice, &once);
    }
}
