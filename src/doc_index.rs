//! Full-text index of documents in memory: ranks their passages by BM25 with SQLite's FTS5. It reads no files.

use crate::text::passages::{Markup, Passage, split_passages};
use crate::text::search_words::{SearchWords, index_text};
use crate::text::snippet::choose_snippet;
use rusqlite::{Connection, params};
use std::collections::{HashMap, HashSet};
use std::time::SystemTime;

/// Maximum characters of a snippet.
pub const MAX_SNIPPET_CHARS: usize = 200;

/// The table of passages. Their text is not stored twice: the table has only their words. A match in the title counts
/// four times, one in the heading twice.
const SCHEMA: &str = "CREATE VIRTUAL TABLE passages USING fts5(
    title, heading, body, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2');
    INSERT INTO passages(passages, rank) VALUES('rank', 'bm25(4.0, 2.0, 1.0)');";

/// Error of the index: a bug, or no memory.
pub type Error = rusqlite::Error;

/// Name of a document and stamp of its version.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DocVersion {
    /// Unique name.
    pub path: String,
    /// Length in bytes and time of the last change. `None` if a new version could have the same, so that the document is read
    /// again by each update.
    pub stamp: Option<(u64, SystemTime)>,
}

/// Text of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocText {
    pub text: String,
    pub markup: Markup,
    /// Title if the text has none.
    pub fallback_title: String,
}

/// Result of reading a document that is not indexed in its current version.
pub enum ReadOutcome {
    Text(DocText),
    /// The document is left out.
    Skip,
    /// The update ends. Documents that were not read are left out.
    Stop,
}

/// A document that matches, with its best passage. The texts are not cleaned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    pub path: String,
    pub title: String,
    /// Heading of the passage; empty if it has none.
    pub heading: String,
    /// Line of the snippet, from 1.
    pub line: usize,
    /// At most [`MAX_SNIPPET_CHARS`] characters in one line.
    pub snippet: String,
}

/// The documents that match a query.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Hits {
    /// The best ones.
    pub best: Vec<Hit>,
    /// Number of all.
    pub total: usize,
}

struct IndexedDoc {
    stamp: Option<(u64, SystemTime)>,
    title: String,
    text: String,
    passages: Vec<Passage>,
    /// Row of the first passage. The others follow.
    first_row: i64,
}

/// The index. It needs memory only once documents are added.
#[derive(Default)]
pub struct DocIndex {
    connection: Option<Connection>,
    documents: HashMap<String, IndexedDoc>,
    /// Document of each first row, sorted by row.
    rows: Vec<(i64, String)>,
    next_row: i64,
}

impl DocIndex {
    /// Makes the index contain exactly these documents, except those that cannot be read. `read` is called for new and
    /// changed ones only; other documents are removed.
    ///
    /// # Errors
    /// If the index cannot be written. It is empty afterwards.
    pub fn update(
        &mut self,
        documents: &[DocVersion],
        read: &mut dyn FnMut(usize) -> ReadOutcome,
    ) -> Result<(), Error> {
        let result = self.try_update(documents, read);
        if result.is_err() {
            *self = Self::default();
        }
        self.rows = self.documents.iter().map(|(path, document)| (document.first_row, path.clone())).collect();
        self.rows.sort();
        result
    }

    fn try_update(
        &mut self,
        documents: &[DocVersion],
        read: &mut dyn FnMut(usize) -> ReadOutcome,
    ) -> Result<(), Error> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => open_index()?,
        };
        let connection = self.connection.insert(connection);
        let current: HashSet<(&str, _)> =
            documents.iter().map(|document| (document.path.as_str(), document.stamp)).collect();
        let is_current =
            |path: &str, document: &IndexedDoc| document.stamp.is_some() && current.contains(&(path, document.stamp));
        let transaction = connection.transaction()?;
        let outdated: Vec<String> = self
            .documents
            .iter()
            .filter(|(path, document)| !is_current(path, document))
            .map(|(path, _)| path.clone())
            .collect();
        let mut delete = transaction.prepare("DELETE FROM passages WHERE rowid = ?1")?;
        for path in outdated {
            let Some(IndexedDoc { first_row, passages, .. }) = self.documents.remove(&path) else { continue };
            for row in (first_row..).take(passages.len()) {
                delete.execute([row])?;
            }
        }
        let mut insert =
            transaction.prepare("INSERT INTO passages(rowid, title, heading, body) VALUES (?1, ?2, ?3, ?4)")?;
        for (index, DocVersion { path, stamp }) in documents.iter().enumerate() {
            if self.documents.contains_key(path) {
                continue;
            }
            let DocText { text, markup, fallback_title } = match read(index) {
                ReadOutcome::Text(text) => text,
                ReadOutcome::Skip => continue,
                ReadOutcome::Stop => break,
            };
            let (title, passages) = split_passages(&text, markup);
            let title = title.unwrap_or(fallback_title);
            let first_row = self.next_row;
            // The name of a file says what it is about, as its title does.
            let indexed_title = format!("{title} {path}");
            for (row, passage) in (first_row..).zip(&passages) {
                let body = index_text(&text[passage.range.clone()]);
                insert.execute(params![row, index_text(&indexed_title), index_text(&passage.heading), body])?;
            }
            self.next_row += i64::try_from(passages.len()).unwrap_or(i64::MAX);
            let stamp = *stamp;
            self.documents.insert(path.clone(), IndexedDoc { stamp, title, text, passages, first_row });
        }
        drop((insert, delete));
        transaction.commit()
    }

    /// Returns whether the index contains a document.
    pub fn contains(&self, path: &str) -> bool {
        self.documents.contains_key(path)
    }

    /// Returns the documents that contain any of the words, the best ones first. The score of a document is multiplied by its
    /// weight, which `weigh` returns for its path.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn search(
        &self,
        words: &SearchWords,
        max_documents: usize,
        weigh: &dyn Fn(&str) -> f64,
    ) -> Result<Hits, Error> {
        let Some(connection) = &self.connection else { return Ok(Hits::default()) };
        let mut select =
            connection.prepare("SELECT rowid, rank FROM passages WHERE passages MATCH ?1 ORDER BY rank, rowid")?;
        let mut rows = select.query([words.match_expression()])?;
        let (mut found, mut known) = (Vec::new(), HashSet::new());
        while let Some(row) = rows.next()? {
            let (row, rank): (i64, f64) = (row.get(0)?, row.get(1)?);
            let Some((path, document)) = self.document_of(row) else { continue };
            // The first passage of a document is its best one.
            if known.insert(path) {
                found.push((rank * weigh(path), path, document, row));
            }
        }
        // Better ranks are lower. The sort is stable.
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        let stems = words.stems();
        let hits = found.iter().take(max_documents).filter_map(|(_, path, document, row)| {
            let passage = document.passages.get(usize::try_from(row - document.first_row).ok()?)?;
            Some(make_hit(path, document, passage, &stems))
        });
        Ok(Hits { best: hits.collect(), total: found.len() })
    }

    /// Returns the document with a passage in this row.
    fn document_of(&self, row: i64) -> Option<(&str, &IndexedDoc)> {
        let after = self.rows.partition_point(|(first, _)| *first <= row);
        let (_, path) = self.rows.get(after.checked_sub(1)?)?;
        Some((path, self.documents.get(path)?))
    }
}

/// Opens an empty index in memory.
fn open_index() -> Result<Connection, Error> {
    let connection = Connection::open_in_memory()?;
    // Nothing is undone: after an error the whole index is dropped.
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA temp_store = MEMORY;")?;
    connection.execute_batch(SCHEMA)?;
    Ok(connection)
}

fn make_hit(path: &str, document: &IndexedDoc, passage: &Passage, stems: &[String]) -> Hit {
    let text = &document.text[passage.range.clone()];
    let snippet = choose_snippet(text, &passage.heading, stems, MAX_SNIPPET_CHARS);
    Hit {
        path: path.to_owned(),
        title: document.title.clone(),
        heading: passage.heading.clone(),
        line: passage.line + snippet.line,
        snippet: snippet.text,
    }
}

#[cfg(test)]
mod tests;
