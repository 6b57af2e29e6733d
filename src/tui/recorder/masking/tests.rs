//! Tests of the masking of frames.

use super::*;
use proptest::prelude::*;

/// A text with a secret, and the secret. The secrets are invented.
const SECRETS: [(&str, &str); 12] = [
    ("key sk-proj-Zq3vT8yLm2Nc7Rb1Xw5Kd9Hf4Gj6Ps0A", "sk-proj-Zq3vT8yLm2Nc7Rb1Xw5Kd9Hf4Gj6Ps0A"),
    ("token ghp_Zq3vT8yLm2Nc7Rb1Xw5Kd9Hf4Gj6Ps0AbCdE", "ghp_Zq3vT8yLm2Nc7Rb1Xw5Kd9Hf4Gj6Ps0AbCdE"),
    ("id AKIAZQ3VT8YLM2NC7RB1 here", "AKIAZQ3VT8YLM2NC7RB1"),
    ("aws_secret_access_key = Zq3vT8yLm2Nc7Rb1Xw5Kd9Hf4Gj6Ps0AbCdEfGhI", "Zq3vT8yLm2Nc7Rb1Xw5Kd9Hf4Gj6Ps0AbCdEfGhI"),
    (
        "slack xoxb-123456789012-123456789012-Zq3vT8yLm2Nc7Rb1Xw5Kd9Hf",
        "xoxb-123456789012-123456789012-Zq3vT8yLm2Nc7Rb1Xw5Kd9Hf",
    ),
    ("Authorization: Bearer zq3vt8ylm2nc7rb1xw5kd9hf", "zq3vt8ylm2nc7rb1xw5kd9hf"),
    ("postgres://admin:correct-horse-battery@db.example/app", "correct-horse-battery"),
    ("password=correct-horse-battery", "correct-horse-battery"),
    ("google AIzaSyZq3vT8yLm2Nc7Rb1Xw5Kd9Hf4Gj6Ps0Ab", "AIzaSyZq3vT8yLm2Nc7Rb1Xw5Kd9Hf4Gj6Ps0Ab"),
    ("gitlab glpat-Zq3vT8yLm2Nc7Rb1Xw5K", "glpat-Zq3vT8yLm2Nc7Rb1Xw5K"),
    ("npm npm_Zq3vT8yLm2Nc7Rb1Xw5Kd9Hf4Gj6Ps0AbCdE", "npm_Zq3vT8yLm2Nc7Rb1Xw5Kd9Hf4Gj6Ps0AbCdE"),
    (
        "jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    ),
];

/// Breaks a text at this width, in a frame with borders and a scroll bar.
fn framed_lines(text: &str, width: usize) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let rows = chars.chunks(width).map(|row| format!(" │ {:<width$} │  ▐", row.iter().collect::<String>()));
    let border = format!(" ╭{}╮  ▐", "─".repeat(width + 2));
    std::iter::once(border).chain(rows).collect()
}

fn mask(masker: &mut FrameMasker, lines: &[String]) -> Vec<String> {
    let mut buffer = Buffer::with_lines(lines.iter().map(String::as_str));
    masker.mask_frame(&mut buffer);
    let width = usize::from(buffer.area.width);
    buffer.content.chunks(width).map(|row| row.iter().map(|cell| cell.symbol()).collect()).collect()
}

/// Returns the longest part of a secret in the text of the frame without its borders and line breaks.
fn longest_part(lines: &[String], secret: &str) -> usize {
    let text: String = lines.iter().flat_map(|line| line.chars()).filter(|c| c.is_ascii() && *c != ' ').collect();
    let secret: Vec<char> = secret.chars().collect();
    let is_shown = |length: &usize| secret.windows(*length).any(|part| text.contains(&part.iter().collect::<String>()));
    (1..=secret.len()).rev().find(is_shown).unwrap_or(0)
}

#[test]
fn twelve_kinds_of_secrets_are_masked_however_they_are_wrapped() {
    for (text, secret) in SECRETS {
        for (width, is_learned) in (10..=100).flat_map(|width| [(width, true), (width, false)]) {
            let mut masker = FrameMasker::default();
            if is_learned {
                masker.learn(text);
            }
            let lines = mask(&mut masker, &framed_lines(text, width));
            let shown = longest_part(&lines, secret);
            // The prefix of a token is no secret.
            assert!(shown <= PIECE_CHARS, "{shown} of {secret} at {width}:\n{}", lines.join("\n"));
        }
    }
}

#[test]
fn the_end_of_a_known_or_learned_secret_is_masked_without_its_beginning() {
    let key: Vec<String> =
        (0..8_u64).map(|row| format!("{:064x}", u128::from(row + 3) * 0x1234_5678_9abc_def1)).collect();
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", key.join("\n"));
    let mut masker = FrameMasker::new(["correct-horse-battery"].into_iter().collect());
    let end = [format!("{} end", key[6]), key[7].clone(), "…battery, -horse-ba".into()];
    assert!(longest_part(&mask(&mut masker, &end), &key[6]) > 40, "nothing gives it away yet");
    masker.learn(&pem);
    let masked = mask(&mut masker, &end);
    assert!(longest_part(&masked, &key[6]) < PIECE_CHARS && longest_part(&masked, &key[7]) < PIECE_CHARS, "{masked:?}");
    assert!(masked[0].ends_with("* end"), "{masked:?}");
    assert_eq!(masked[2].trim_end(), "…battery, *********");
}

#[test]
fn a_part_of_a_key_that_looks_random_is_masked() {
    let lines = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj".to_owned()];
    assert_eq!(mask(&mut FrameMasker::default(), &lines), ["*".repeat(64)]);
}

#[test]
fn ordinary_text_stays() {
    let lines: Vec<String> = [
        " ▌ Why does the test fail?  commit 4906b0d9c1e2f3a4b5c6d7e8f9a0b1c2d3e4f5a6  │",
        "   src/store/session_reader.rs:120:5  https://docs.rs/tokio/1.54.0/tokio/index.html   ",
        "   fn find_random_runs(text: &str) -> Vec<Range<usize>> { 0x1234_5678 }  日本語 ✓ password  ",
        "   sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c0f00a08  1,234 tokens  ",
    ]
    .map(|line| format!("{line:<90}"))
    .into();
    let mut masker = FrameMasker::new(["hunter2-hunter2"].into_iter().collect());
    let mut buffer = Buffer::with_lines(lines.iter().map(String::as_str));
    let before = buffer.clone();
    masker.mask_frame(&mut buffer);
    assert_eq!(buffer, before);
    assert_eq!(masker.mask_text("Fix the hunter2-hunter2 bug"), "Fix the *************** bug");
}

#[test]
fn secrets_that_are_added_later_are_masked() {
    let known = KnownSecrets::default();
    let mut masker = FrameMasker::new(known.clone());
    let lines = ["the word is tuesday-tuesday".to_owned()];
    assert_eq!(mask(&mut masker, &lines), lines);
    known.add("tuesday-tuesday");
    assert_eq!(mask(&mut masker, &lines), ["the word is ***************"]);
}

#[test]
fn what_is_typed_does_not_mask_other_text() {
    let mut masker = FrameMasker::default();
    for length in 1..="password=correct".len() {
        let typed = &"password=correct"[..length];
        masker.learn(typed);
        let lines = mask(&mut masker, &[format!("│ {typed:<20} │"), "a clear word: correct".into()]);
        assert_eq!(lines[1].trim_end(), "a clear word: correct", "{lines:?}");
        assert!(!lines[0].contains("=c"), "{lines:?}");
    }
}

#[test]
fn a_token_is_masked_while_it_is_typed() {
    let secret = "ghp_Zq3vT8yLm2Nc7Rb1Xw5Kd9Hf4Gj6Ps0AbCdE";
    for length in 8..=secret.len() {
        let lines = mask(&mut FrameMasker::default(), &[format!("❯ use {}", &secret[..length])]);
        assert!(lines[0].contains("****") && !lines[0].contains('Z'), "{lines:?}");
    }
    for name in ["hf_hub_download", "npm_config_registry", "key-value", "ghp_abc"] {
        assert_eq!(mask(&mut FrameMasker::default(), &[name.to_owned()]), [name]);
    }
}

#[test]
fn secrets_on_the_page_of_a_file_are_masked() {
    let rows = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIB", "AQC7VJTUt9Us8cKjMzEfYyji/WA4R4/M2bS1GB4t7NXp98C3"];
    let page: Vec<String> = ["-----BEGIN PRIVATE KEY-----", rows[0], rows[1], "-----END PRIVATE KEY-----"]
        .iter()
        .enumerate()
        .map(|(index, row)| format!(" │ {:>3} {row:<50} │", index + 9))
        .collect();
    let masked = mask(&mut FrameMasker::default(), &page);
    assert!(rows.iter().all(|row| longest_part(&masked, row) < PIECE_CHARS), "{masked:#?}");
    let wrapped =
        [" │  12 TOKEN=ghp_Zq3vT8yLm2Nc7Rb1Xw5K │".to_owned(), " │   ↪ d9Hf4Gj6Ps0A                   │".to_owned()];
    let masked = mask(&mut FrameMasker::default(), &wrapped);
    assert!(longest_part(&masked, "Zq3vT8yLm2Nc7Rb1Xw5Kd9Hf4Gj6Ps0A") < PIECE_CHARS, "{masked:#?}");
    let wide = mask(&mut FrameMasker::default(), &["password=日本語パスワード123".to_owned()]);
    assert!(!wide[0].contains('ワ') && !wide[0].contains("123"), "{wide:?}");
}

proptest! {
    #[test]
    fn no_long_part_of_a_known_secret_stays(
        secret in "[A-Za-z0-9_-]{8,60}", before in "[ a-z]{0,40}", width in 8_usize..70, first in 0_usize..4,
    ) {
        let mut masker = FrameMasker::new([secret.as_str()].into_iter().collect());
        let mut lines = framed_lines(&format!("{before} {secret} end"), width);
        // The first rows are outside the screen.
        lines.drain(..first.min(lines.len() - 1));
        let masked = mask(&mut masker, &lines);
        prop_assert!(longest_part(&masked, &secret) < PIECE_CHARS, "{masked:?}");
    }
}
