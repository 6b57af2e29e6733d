//! Every form of a secret, properties that hold for all of them, and texts without secrets.

mod forms;
mod typed_secrets;

use super::*;
use forms::{Form, all_forms};
use proptest::prelude::*;
use proptest::sample::select;

#[track_caller]
fn check_redaction(text: &str, redacted: &str) {
    let (actual, count) = redact(text);
    assert_eq!(actual, redacted);
    assert_eq!(count > 0, actual != text, "{text}");
}

/// Returns characters that look like those of a key.
fn key_characters(count: usize) -> String {
    "aB3dE5gH7jK9mN1pQ2sT4vW6yZ8".chars().cycle().take(count).collect()
}

#[test]
fn r57_redacts_every_form() {
    let mut leaked = Vec::new();
    for form in all_forms() {
        let secret = form.secret();
        let text = form.with_secret(&secret);
        if redact(&text).0.contains(&secret[form.prefix.len()..]) {
            leaked.push(form.text);
        }
    }
    assert!(leaked.is_empty(), "{} of {} are sent: {leaked:#?}", leaked.len(), all_forms().len());
}

#[test]
fn r57_redacts_passwords_that_are_words() {
    let mut leaked = Vec::new();
    // Only a secret that follows a name has fewer than 12 characters and no prefix.
    for form in all_forms().iter().filter(|form| form.prefix.is_empty() && form.length < 12) {
        // After these names every value is a secret, except in code, where it may be an expression.
        let certain_forms =
            ["password", "passwd", "PASS", "sshpass", "mysql", "curl -", "login", "ookie", "://", "PWD"];
        let code_forms = ["client.password", "{user:", "[\"tool\"", "AUTHORIZATION"];
        if !certain_forms.iter().any(|part| form.text.contains(part))
            || code_forms.iter().any(|part| form.text.contains(part))
        {
            continue;
        }
        // After these names a word may be an ordinary value.
        if form.text.contains("api") || form.text.contains("key") || form.text.contains("TOKEN") {
            continue;
        }
        let text = form.with_secret("correcthorse");
        if redact(&text).0.contains("correcthorse") {
            leaked.push(form.text);
        }
    }
    assert!(leaked.is_empty(), "{leaked:#?}");
}

#[test]
fn r57_keeps_the_text_around_a_secret() {
    let key = key_characters(40);
    for (text, redacted) in [
        ("mysql -u root -phunter2 shop", "mysql -u root -p[redacted] shop"),
        ("mysql -p 'hunter 2' shop", "mysql -p '[redacted]' shop"),
        ("curl -u ada:hunter2 https://x", "curl -u ada:[redacted] https://x"),
        ("tool --password=hunter2 -v", "tool --password=[redacted] -v"),
        ("{\"password\":\"a\\\"b\",\"x\":1}", "{\"password\":\"[redacted]\",\"x\":1}"),
        ("{\\\"client_secret\\\": \\\"abcdefghij\\\"}", "{\\\"client_secret\\\": \\\"[redacted]\\\"}"),
        ("https://x/a?token=abc123&b=2", "https://x/a?token=[redacted]&b=2"),
        ("Server=d;Password=hunter2;Database=x", "Server=d;Password=[redacted];Database=x"),
        ("postgres://ada:s3cr3t@db:5432/x", "postgres://ada:[redacted]@db:5432/x"),
        ("workspace://ada:p@ss", "workspace://ada:[redacted]@ss"),
        ("https://01JDXA0000000000000000000Z@2", "https://[redacted]@2"),
        ("https://ada:p@ss@host/", "https://ada:[redacted]@host/"),
        ("https://0f9e8d7c6b5a49382716:x-oauth-basic@host/", "https://[redacted]@host/"),
        ("https://0f9e8d7c6b5a49382716:@host/", "https://[redacted]@host/"),
        ("curl -H 'Authorization: Bearer abc123def456' x", "curl -H 'Authorization: Bearer [redacted]' x"),
        ("Cookie: a=b; c=d\r\nHost: x", "Cookie: [redacted]\r\nHost: x"),
        ("<password>hunter2</password>", "<password>[redacted]</password>"),
        ("export DB_PASSWORD='correct horse'", "export DB_PASSWORD='[redacted]'"),
        ("a: 1\npassword: hunter2\nb: 2\n", "a: 1\npassword: [redacted]\nb: 2\n"),
        (
            "docker login -u ada -p hunter2 && docker run -p 80:80 x",
            "docker login -u ada -p [redacted] && docker run -p 80:80 x",
        ),
    ] {
        check_redaction(text, redacted);
    }
    check_redaction(&format!("ghp_{key}"), "ghp_[redacted]");
    check_redaction(&format!("a\\nghp_{key}\\tsk-{key}"), "a\\nghp_[redacted]\\tsk-[redacted]");
    check_redaction(&format!("é sk-{key} 漢"), "é sk-[redacted] 漢");
    check_redaction(&format!("\"{}{}\"", "AKIA", "ABCDEFGH12345678"), "\"AKIA[redacted]\"");
    check_redaction(&format!("https://{key}@host/"), "https://[redacted]@host/");
    check_redaction(&format!("KEY_OF_{key}=x\nA_KEY={key}{key} b"), &format!("KEY_OF_{key}=x\nA_KEY=[redacted] b"));
}

#[test]
fn r57_redacts_a_whole_private_key_whatever_precedes_its_lines() {
    let pem_key = |lines: &str| format!("x\n-----BEGIN RSA PRIVATE KEY-----\n{lines}-----END RSA PRIVATE KEY-----\ny");
    let redacted = "x\n-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----\ny";
    check_redaction(&pem_key("MIIEabc\ndef\n"), redacted);
    check_redaction(&pem_key("+MIIEabc\n+def\n+"), redacted);
    check_redaction("key-----BEGIN PRIVATE KEY-----MII", "key-----BEGIN PRIVATE KEY-----[redacted]");
    let diff = "-x\n------BEGIN RSA PRIVATE KEY-----\n-MIIEabc\n-def\n------END RSA PRIVATE KEY-----\n";
    check_redaction(diff, "-x\n------BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----\n");
    for dashes in ["--", "---", "--------------", " -", "+-", "x-", "\\n-"] {
        let diff_key = |inner: &str| format!("{dashes}-----BEGIN PRIVATE KEY-----{inner}");
        check_redaction(&diff_key("\nMII"), &diff_key("[redacted]"));
    }
    check_redaction("\\n-----BEGIN PRIVATE KEY-----\\nMII", "\\n-----BEGIN PRIVATE KEY-----[redacted]");
    check_redaction(
        "-----BEGIN PRIVATE KEY-----\nMII\n\nand more words\n",
        "-----BEGIN PRIVATE KEY-----[redacted]\n\nand more words\n",
    );
    for line_break in ["\n", "\r\n", "\\n", "\\r\\n", "\\\\r\\\\n"] {
        // The line that begins the key is missing.
        let text = ["MIIEabcdefghijklmnopqrstuvwxyz", "AbCdEfGh", "-----END PRIVATE KEY-----"].join(line_break);
        let (redacted, _) = Redactor::default().redact(&text);
        assert!(!redacted.contains("abcdef") && !redacted.contains("AbCdEfGh"), "{line_break:?}: {redacted}");
    }
    let json = "{\"a\":\"{\\\"k\\\":\\\"-----BEGIN PRIVATE KEY-----\\\\nMII\\\\n\\\"}\"}";
    check_redaction(json, "{\"a\":\"{\\\"k\\\":\\\"-----BEGIN PRIVATE KEY-----[redacted]\\\"}\"}");
}

#[test]
fn r57_redacts_lines_of_one_file_as_one_text() {
    for form in all_forms() {
        let secret = form.secret();
        let text = form.with_secret(&secret);
        let mut redactor = Redactor::default();
        let lines: Vec<String> = text.split('\n').map(|line| redactor.redact(line).0.into_owned()).collect();
        // One line is not enough to recognise a key whose first line is missing, or a secret in a netrc file.
        let needs_context = !text.contains("BEGIN") && text.contains("END ") || text.starts_with("login ");
        assert!(needs_context || !lines.join("\n").contains(&secret[form.prefix.len()..]), "{}: {lines:?}", form.text);
    }
    let mut redactor = Redactor::default();
    let mut redact_line = |text: &str| redactor.redact(text).0.into_owned();
    assert_eq!(redact_line("-----BEGIN PRIVATE KEY-----"), "-----BEGIN PRIVATE KEY-----");
    assert_eq!((redact_line("MII"), redact_line("AbC=")), (REDACTED.into(), REDACTED.into()));
    assert_eq!(
        (redact_line("-----END PRIVATE KEY-----"), redact_line("MII")),
        ("-----END PRIVATE KEY-----".into(), "MII".into())
    );
}

#[test]
fn r57_redacts_json_by_name_schema_and_form() {
    let key = format!("ghp_{}", key_characters(36));
    let mut value = serde_json::json!({
        "password": "hunter2", "nested": [{ "API_KEY": "abc", "max_tokens": 5 }], "pin": 1234, "to": "ada",
        "note": format!("use {key}"), "args": ["--token", "abc", "-v"], "env": "FOO_TOKEN=abc", "token": "$TOKEN",
        "Authorization": "Bearer x",
    });
    let schema = serde_json::json!({ "properties": { "pin": { "type": "integer", "writeOnly": true } } });
    assert_eq!(Redactor::default().redact_json(&mut value, Some(&schema)), 7);
    let expected = serde_json::json!({
        "password": REDACTED, "nested": [{ "API_KEY": REDACTED, "max_tokens": 5 }], "pin": REDACTED, "to": "ada",
        "note": "use ghp_[redacted]", "args": ["--token", REDACTED, "-v"], "env": "FOO_TOKEN=[redacted]", "token": "$TOKEN",
        "Authorization": REDACTED,
    });
    assert_eq!(value, expected);
    assert_eq!(Redactor::default().redact_json(&mut value, Some(&schema)), 0);
}

#[test]
fn keeps_text_without_secrets() {
    let mut wrongly_redacted = Vec::new();
    for text in [
        "",
        "sk-learn-pipeline-and-more-words",
        "the locale sk-SK",
        "risk-management-of-the-year-2024-and-2025",
        "the token = parse(input)",
        "password: see the wiki",
        "Enter your password:\nthen go on",
        "API_KEY=$OPENAI_API_KEY",
        "API_KEY=\"${KEY_OF_MINE}\"",
        "TOKEN=xxxxxxxxxxxx",
        "API_KEY=os.environ[\"NAME_OF_IT\"]",
        "https://example.com/a@b",
        "https://ada@example.com/",
        "workspace://01JDXA0000000000000000000Z@2, [old](workspace://01JDXA0000000000000000000Z@12#text/csv).",
        "git@github.com:a/b.git",
        "bearer of good news everyone",
        "Authorization: see the section below",
        "Authorization: Bearer tokens are described below",
        "Authorization: Bearer $TOKEN",
        "-H \"Authorization: Bearer {token}\"",
        "Cookie: see below",
        "AKIAshort",
        "key-value-store-that-is-long-enough-to-be-one",
        "fn password(text: &str) -> bool",
        "pub password: String,\n    token: &str,\n    secret: Option<String>,",
        "interface User { password: string; token: Token }",
        "let token = self.next_token();\nlet secret = value;",
        "login(password=password, token=self.token)",
        "if token.kind == Kind::Token { token = lexer.next }",
        "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nMII\n-----END PUBLIC KEY-----",
        "eyJust a word",
        "cargo --token-like options are described in --token-file and --password-stdin",
        "use --password to set it, or pass --token and go on; `--password` sets it",
        "      --token <TOKEN>  Token of the registry\n      --password          Ask for it\n  --password PASSWORD",
        "docker run -p 8080:80 --user 1000:1000 -u 1000 x",
        "docker build --secret id=npmrc,src=.npmrc .",
        "mkdir -p a/b && cp -p a b && ssh -p 22 host",
        "mysql -u root -p -h db",
        "curl -u ada https://example.com",
        "commit 3f2a9c1d4e5b6a7980c1d2e3f4a5b6c7d8e9f0a1\nAuthor: Ada <ada@example.com>\n\n    Keep the tokens",
        "id 550e8400-e29b-41d4-a716-446655440000, sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "npm_config_registry_something_else_long npm_package_dependencies_react",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "PWD=/home/ada/src\nOLDPWD=/home/ada\nPATH=/usr/bin:/bin\nMONKEY=banana",
        "primary key: id, sort key = name, keyboard: us",
        "{\"max_tokens\": 5, \"token_count\": 12, \"password\": \"\", \"secret\": null}",
        "the author: ada, authority: none, compass: north, surpass: yes",
        "a ; b | c && d \\ e \\n f \u{1b}[31mred\u{1b}[0m \u{202e} g",
        "x-api-key: the header that carries it",
        "SELECT password FROM users WHERE token = other",
        "for i in 1..3 { sk-1 } // sk-3",
    ] {
        let (redacted, count) = redact(text);
        if count > 0 || redacted != text {
            wrongly_redacted.push(redacted.into_owned());
        }
    }
    assert!(wrongly_redacted.is_empty(), "{wrongly_redacted:#?}");
}

#[test]
fn r57_invisible_characters_do_not_hide_a_secret() {
    let key = format!("ghp_{}", key_characters(36));
    let (start, end) = key.split_at(12);
    for inserted in [
        "\u{1b}[31m",
        "\u{200b}",
        "<U+200B>",
        "<U+E0041 x12>",
        "<U+001B>[0m",
        "\u{1b}]0;x\u{7}",
        "\u{e0041}",
        "\u{1b}[0m\u{1b}[1m",
        "\\u001b[31m",
        "\\u{1b}[0m",
        "\\x1b[1m",
        "\u{8}",
        "\u{9b}1m",
    ] {
        check_redaction(
            &format!("a \u{1b}[1m{start}{inserted}{end}\u{1b}[0m b"),
            "a \u{1b}[1mghp_[redacted]\u{1b}[0m b",
        );
    }
    check_redaction("pass\u{200b}word=hun\u{200b}ter2", "pass\u{200b}word=[redacted]");
    check_redaction(&format!("\u{1b}]52;c;{key}\u{7}"), "\u{1b}]52;c;ghp_[redacted]\u{7}");
}

/// Texts that are long and full of prefixes of secrets.
#[rustfmt::skip]
const HOSTILE_PARTS: &[&str] = &[
    "secret=$", "KEY=x.", "secret=a(", "KEY=[", "password ", "password\"", "password:\"$\\", "eyJ", "eyJ.", "://", "://a:",
    "bearer ", "-----BEGIN ", "-----BEGIN PRIVATE KEY", "-----BEGIN PRIVATE KEY-----", "-----END ", "-----END PRIVATE KEY-----",
    "-----END PRIVATE KEY-----\n", "AAAA\n-----END PRIVATE KEY-----", "SG.", "sk-", "\\", "-", "\\n-", "é-----BEGIN ",
    "------BEGIN ", "mysql -p ", "mysql -p", "curl -u ", "curl -u a:", "--password ", "--password '", "--password=", "-p",
    "Cookie: a ", "Cookie: ", "Authorization: x ", "authorization:", "?token=", "&a", "&amp;token", "<password>", "<password>a",
    "a_", "_", "a-", "identified by ", "login password ", "\"password\":\"", "'password':'$", ";a", ",a", "password=,a",
    "password=a,b.", "\u{1b}", "\u{1b}[31m", "\u{200b}", "\\u001b[", "\\u", "%", "%a", "password:   ", "password: a ", "ghp_",
    "a\u{200b}password=", "[redacted]", "password=[redacted]", "{", "\"", "password (\"", "api_key: ", "x-api-key: a ",
];

#[test]
fn r64_redacts_hostile_text_to_its_end() {
    // Quadratic time would take minutes here; the benchmark `redact` measures it.
    for (part, tail) in HOSTILE_PARTS.iter().zip(["", "\n", " "].into_iter().cycle()) {
        let part = format!("{part}{tail}");
        let text = part.repeat(30_000 / part.len()) + " ghp_0123456789abcdefghijABCDEFGHIJ012345";
        let (redacted, _) = redact(&text);
        assert!(!redacted.contains("abcdefghijABCDEFGHIJ"), "{part:?}");
    }
}

/// Text around a secret that neither ends in a word nor opens a quotation.
fn surrounding_text() -> impl Strategy<Value = String> {
    let parts = select(vec![
        "words ",
        "and\n",
        "x = 1\n",
        "é漢 ",
        "{ } ",
        "fn main() {}\n",
        "# title\n",
        "$ ls -la\n",
        "-p ",
        "mysql\n",
        ": ",
        "= ",
    ]);
    proptest::collection::vec(parts, 0..6).prop_map(|parts| parts.concat())
}

/// Returns a text with a secret, and the part of the secret that must be redacted.
fn text_with_secret() -> impl Strategy<Value = (String, String)> {
    let secret = "[A-Za-z][A-Za-z0-9]{6,20}[0-9][A-Za-z0-9]{0,4}";
    (0..all_forms().len(), secret).prop_map(|(index, random)| {
        let form: Form = all_forms().swap_remove(index);
        let secret = if form.prefix.is_empty() && form.length < 12 { random } else { form.secret() };
        (form.with_secret(&secret), secret[form.prefix.len()..].to_owned())
    })
}

#[test]
fn a_redacted_parameter_before_punctuation_is_not_redacted_again() {
    for (text, expected) in [("?token=@..)", "?token=[redacted]..)"), ("?token=a1;];", "?token=[redacted];];")] {
        assert_eq!(redact(text).0, expected);
        assert_eq!(redact(expected), (expected.into(), 0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn r57_redacts_a_secret_anywhere_in_a_text((text, secret) in text_with_secret(), before in surrounding_text(), after in surrounding_text()) {
        let text = format!("{before}\n{text}\n{after}");
        let (once, count) = redact(&text);
        prop_assert!(!once.contains(&secret), "{once}");
        prop_assert!(count > 0);
        let (twice, again) = redact(&once);
        prop_assert_eq!((twice.as_ref(), again), (once.as_ref(), 0));
    }

    #[test]
    fn r57_colors_inside_do_not_hide_a_secret((text, secret) in text_with_secret(), at in any::<prop::sample::Index>()) {
        let mut places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        places.retain(|at| !text[..*at].ends_with('\\'));
        let mut text = text;
        text.insert_str(places[at.index(places.len())], "\u{1b}[31m");
        let (out, _) = redact(&text);
        prop_assert!(!out.replace("\u{1b}[31m", "").contains(&secret), "{out}");
    }

    #[test]
    fn r57_redacts_a_secret_in_nested_json((text, secret) in text_with_secret(), levels in 1..4_usize) {
        let mut text = text;
        for _ in 0..levels {
            text = serde_json::json!({ "text": text }).to_string();
        }
        let (out, _) = redact(&text);
        prop_assert!(!out.contains(&secret), "{out}");
    }

    #[test]
    fn r64_redacting_any_text_twice_changes_nothing(
        parts in proptest::collection::vec(prop_oneof![select(HOSTILE_PARTS).prop_map(str::to_owned), "\\PC{0,6}",
            select(vec!["[redacted]", "abcdefgh12345678ABCDEFGH", "'", " ", "\n", "@", ".", ":", "=", ")", "\\\""]).prop_map(str::to_owned)], 0..16)
    ) {
        let text: String = parts.concat();
        let (once, count) = redact(&text);
        prop_assert_eq!(count > 0, once != text);
        let (twice, _) = redact(&once);
        prop_assert_eq!(&twice, &once);
    }
}
