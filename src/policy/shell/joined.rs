//! Commands joined by operators: `a && b || c`, `a | b`.

use super::Joint;
use super::tree::{Context, Walk};
use tree_sitter::Node;

impl Walk<'_> {
    pub(super) fn list(&mut self, node: Node<'_>, context: &Context) -> usize {
        let mut context = context.clone();
        let mut last = self.reading.commands.len();
        let mut end = None;
        for child in self.children(node, true) {
            self.same_line(end, child);
            end = Some(child.end_byte());
            match child.kind() {
                "&&" => context.joint = Joint::And,
                "||" => context.joint = Joint::Or,
                "comment" => {}
                _ => last = self.statement(child, &context),
            }
        }
        last
    }

    /// Checks that an operator is on the line of the first command: bash reports a syntax error if it begins a line.
    fn same_line(&mut self, end: Option<usize>, sign: Node<'_>) {
        let Some(end) = end.filter(|_| matches!(sign.kind(), "&&" | "||" | "|" | "|&")) else { return };
        let gap = self.text.get(end..sign.start_byte()).unwrap_or_default();
        let before = self.text.get(..end).unwrap_or_default();
        if gap.replace("\\\n", "").contains('\n') || before.ends_with('\n') {
            self.unclear(format!("“{}” at the start of a line", sign.kind()));
        }
    }

    pub(super) fn pipeline(&mut self, node: Node<'_>, context: &Context) -> usize {
        let mut context = context.clone();
        self.reading.pipelines += 1;
        let number = self.reading.pipelines;
        let mut stage = 0;
        let mut last = self.reading.commands.len();
        context.pipes.push((number, stage));
        let mut end = None;
        for child in self.children(node, true) {
            self.same_line(end, child);
            end = Some(child.end_byte());
            match child.kind() {
                "|" | "|&" => {
                    stage += 1;
                    context.pipes.pop();
                    context.pipes.push((number, stage));
                    context.joint = if child.kind() == "|" { Joint::Pipe } else { Joint::PipeBoth };
                }
                "comment" => {}
                _ => last = self.statement(child, &context),
            }
        }
        last
    }
}
