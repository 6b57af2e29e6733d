//! Tests of `search_docs`.

use super::*;
use crate::chat::Access;
use crate::tools::doc_sources::DocFolder;
use crate::tools::memory_project::MemoryProject;
use crate::tools::tests::{plan_call, run_call};

async fn search(files: &Arc<MemoryProject>, query: &str) -> String {
    let tool = SearchDocs(Arc::default());
    match plan_call(&tool, json!({ "query": query }), files) {
        Ok(plan) => run_call(&tool, &plan, files).await.unwrap_or_else(|error| error.to_string()),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_result_names_the_line_the_headings_and_what_was_searched() {
    let long = format!("# Long\n\nzebra {}\n", "word ".repeat(100));
    let files = MemoryProject::with_files(&[
        ("docs/zoo.md", "# The zoo\n\nText.\n\n## Animals\n\nA zebra\nis \u{1b}[31mred\u{202e}.\n"),
        ("docs/long.md", &long),
        ("docs/other.md", "# Other\n"),
        ("docs/.env", "zebra"),
        ("src/zebra.rs", "zebra"),
    ]);
    let result = search(&files, "Where is the zebra?").await;
    let lines: Vec<&str> = result.lines().collect();
    assert_eq!(lines[0], "docs/zoo.md:7: The zoo · Animals");
    assert_eq!(lines[1], "    A zebra is <U+001B>[31mred<U+202E>.");
    assert_eq!(lines[2], "docs/long.md:3: Long");
    assert!(lines[3].chars().count() <= 204 && lines[3].ends_with('…'), "{}", lines[3]);
    assert!(
        lines[4].starts_with("[2 matching; ") && lines[4].contains(" documents searched: 3 of the project, "),
        "{result}"
    );
    assert!(lines[4].ends_with(" of aye's manual; read one with get_doc_page]"), "{result}");
    assert_eq!(lines.len(), 5, "{result}");
}

#[tokio::test]
async fn the_manual_is_always_searched() {
    let result = search(&MemoryProject::with_files(&[]), "how do I trust a project's rules?").await;
    assert!(result.starts_with("aye/") && result.contains("aye/permissions:"), "{result}");
    assert!(result.contains("[best 5 of "), "{result}");
}

#[tokio::test]
async fn documents_of_the_project_come_before_the_manual_unless_the_query_names_aye() {
    let files =
        MemoryProject::with_files(&[("docs/proxy.md", "# Setup\n\nThe proxy has settings in a file that is long.\n")]);
    assert!(search(&files, "proxy settings").await.starts_with("docs/proxy.md:3: "));
    assert!(search(&files, "dry run overlay of aye").await.starts_with("aye/"));
}

#[tokio::test]
async fn without_a_match_the_result_says_what_was_searched() {
    let result = search(&MemoryProject::with_files(&[("README", "x")]), "qqqqq").await;
    assert!(result.starts_with("No document matches. ") && result.contains("1 of the project"), "{result}");
    assert!(result.contains("Try other words, or search_text"), "{result}");
}

#[tokio::test]
async fn odd_queries_are_answered() {
    let files =
        MemoryProject::with_files(&[("README", "A quoted col NEAR word\n"), ("docs/zh.md", "# 手册\n配置文件\n")]);
    for query in ["\"quoted", "col:quoted*", "NEAR(quoted, 3)", "(quoted", "-quoted ^quoted", "quoted' OR 1=1; --"] {
        let result = search(&files, query).await;
        assert!(result.contains("README:1: README\n    A quoted col NEAR word\n"), "{query}: {result}");
    }
    assert!(search(&files, "配置").await.starts_with("docs/zh.md:2: 手册\n"));
    for query in ["", " ", "\"*\"", "()", "\u{202e}"] {
        assert!(search(&files, query).await.starts_with("The query has no words."), "{query}");
    }
    let long = search(&files, &format!("quoted {}", "w1 x2 y3 ".repeat(1_200))).await;
    assert!(long.starts_with("README:1: ") && long.contains("words of the query were used]"), "{long}");
}

#[test]
fn the_plan_reads_the_project_and_names_the_folders() {
    let files = MemoryProject::with_files(&[]);
    let folders = vec![DocFolder { path: "/home/u/notes".into(), shown: "~/notes".into() }];
    let tool = SearchDocs(Arc::new(DocLibrary::new(folders)));
    let plan = plan_call(&tool, json!({ "query": "a\nb" }), &files).unwrap();
    assert_eq!(plan.access, Access::Read(vec!["".into()]));
    assert_eq!(plan.summary, "a… in the docs and ~/notes");
}
