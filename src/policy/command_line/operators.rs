//! Commands joined by operators: `a && b || c`, `a | b`.

use super::Connector;
use super::syntax_tree::{TreeWalk, WalkContext};
use tree_sitter::Node;

impl TreeWalk<'_> {
    pub(super) fn walk_list(&mut self, node: Node<'_>, context: &WalkContext) -> usize {
        let mut context = context.clone();
        let mut last = self.reading.commands.len();
        let mut end = None;
        for child in self.checked_children(node, true) {
            self.check_same_line(end, child);
            end = Some(child.end_byte());
            match child.kind() {
                "&&" => context.joint = Connector::And,
                "||" => context.joint = Connector::Or,
                "comment" => {}
                _ => last = self.walk_statement(child, &context),
            }
        }
        last
    }

    /// Checks that an operator is on the line of the first command: bash reports a syntax error if it begins a line.
    fn check_same_line(&mut self, end: Option<usize>, sign: Node<'_>) {
        let Some(end) = end.filter(|_| matches!(sign.kind(), "&&" | "||" | "|" | "|&")) else { return };
        let gap = self.text.get(end..sign.start_byte()).unwrap_or_default();
        let before = self.text.get(..end).unwrap_or_default();
        if gap.replace("\\\n", "").contains('\n') || before.ends_with('\n') {
            self.mark_unclear(format!("“{}” at the start of a line", sign.kind()));
        }
    }

    pub(super) fn walk_pipeline(&mut self, node: Node<'_>, context: &WalkContext) -> usize {
        let mut context = context.clone();
        self.reading.pipeline_count += 1;
        let number = self.reading.pipeline_count;
        let mut stage = 0;
        let mut last = self.reading.commands.len();
        context.pipes.push((number, stage));
        let mut end = None;
        for child in self.checked_children(node, true) {
            self.check_same_line(end, child);
            end = Some(child.end_byte());
            match child.kind() {
                "|" | "|&" => {
                    stage += 1;
                    context.pipes.pop();
                    context.pipes.push((number, stage));
                    context.joint = if child.kind() == "|" { Connector::Pipe } else { Connector::PipeWithStderr };
                }
                "comment" => {}
                _ => last = self.walk_statement(child, &context),
            }
        }
        last
    }
}
