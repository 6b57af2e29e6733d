//! Commands joined by operators: `a && b || c`, `a | b`.

use super::Connector;
use super::syntax_tree::{TreeWalk, WalkContext};
use tree_sitter::Node;

impl TreeWalk<'_> {
    /// Reads commands joined by `&&` or `||`. Returns the index of the first command of the last part, because a
    /// redirection after it applies to that part only.
    pub(super) fn walk_list(&mut self, node: Node<'_>, context: &WalkContext) -> usize {
        let mut context = context.clone();
        let mut last_start = self.parsed_line.commands.len();
        let (mut previous_end, allows_newlines) = (None, true);
        for child in self.checked_children(node, allows_newlines) {
            self.check_same_line(previous_end, child);
            previous_end = Some(child.end_byte());
            match child.kind() {
                "&&" => context.connector = Connector::And,
                "||" => context.connector = Connector::Or,
                "comment" => {}
                _ => last_start = self.walk_statement(child, &context),
            }
        }
        last_start
    }

    /// Checks that an operator is on the line where the command before it ends: bash reports a syntax error if it
    /// begins a line.
    fn check_same_line(&mut self, previous_end: Option<usize>, operator: Node<'_>) {
        let Some(previous_end) = previous_end.filter(|_| matches!(operator.kind(), "&&" | "||" | "|" | "|&")) else {
            return;
        };
        let gap = self.text.get(previous_end..operator.start_byte()).unwrap_or_default();
        let text_before = self.text.get(..previous_end).unwrap_or_default();
        if gap.replace("\\\n", "").contains('\n') || text_before.ends_with('\n') {
            self.mark_unclear(format!("“{}” at the start of a line", operator.kind()));
        }
    }

    /// Reads a pipeline. Returns the index of the first command of the last stage, because a redirection after it
    /// applies to that stage only.
    pub(super) fn walk_pipeline(&mut self, node: Node<'_>, context: &WalkContext) -> usize {
        self.parsed_line.pipeline_count += 1;
        let pipeline_number = self.parsed_line.pipeline_count;
        let (mut stage, mut connector) = (0, context.connector);
        let mut last_start = self.parsed_line.commands.len();
        let (mut previous_end, allows_newlines) = (None, true);
        for child in self.checked_children(node, allows_newlines) {
            self.check_same_line(previous_end, child);
            previous_end = Some(child.end_byte());
            match child.kind() {
                "|" | "|&" => {
                    stage += 1;
                    connector = if child.kind() == "|" { Connector::Pipe } else { Connector::PipeWithStderr };
                }
                "comment" => {}
                _ => {
                    let shells = self.parsed_line.enter_shell(&context.shells);
                    let mut stage_context = WalkContext { connector, shells, ..context.clone() };
                    stage_context.pipelines.push((pipeline_number, stage));
                    let start = self.parsed_line.commands.len();
                    last_start = self.walk_statement(child, &stage_context);
                    // The grammar reads `a && b > c | d` as one stage `a && b > c`, but `a` is not part of the pipeline.
                    for simple in &mut self.parsed_line.commands[start..last_start] {
                        simple.pipelines.remove(context.pipelines.len());
                        simple.shells.remove(context.shells.len());
                    }
                }
            }
        }
        last_start
    }
}
