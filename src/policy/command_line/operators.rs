//! Commands joined by operators: `a && b || c`, `a | b`.

use super::Connector;
use super::bash_tree::{joins_commands, statement_before_redirections};
use super::syntax_tree::{TreeWalk, WalkContext};
use tree_sitter::Node;

/// A command between operators.
struct Operand<'n> {
    /// Operator before it; that of the whole construct for the first one.
    connector: Connector,
    node: Node<'n>,
    /// Statements that add redirections to it, innermost first: `a && b > c` is one around `a && b`.
    redirected: Vec<Node<'n>>,
}

impl Operand<'_> {
    fn follows_pipe(&self) -> bool {
        matches!(self.connector, Connector::Pipe | Connector::PipeWithStderr)
    }
}

impl TreeWalk<'_> {
    /// Reads commands joined by operators.
    ///
    /// The nesting of the syntax tree is not used, because it is wrong in places: of `a | b | c && d && e` the grammar
    /// makes a pipeline whose last stage contains `c && d`. The commands are grouped by bash's rules instead: `|` and
    /// `|&` bind closer than `&&` and `||`, and a redirection applies to the command before it.
    pub(super) fn walk_operators(&mut self, node: Node<'_>, context: &WalkContext) {
        let mut operands = Vec::new();
        self.collect_operands(node, &mut context.connector.clone(), &mut operands);
        let mut rest = operands.as_slice();
        while let [first, later @ ..] = rest {
            let stage_count = 1 + later.iter().take_while(|operand| operand.follows_pipe()).count();
            let (stages, following) = rest.split_at(stage_count);
            let context = WalkContext { connector: first.connector, ..context.clone() };
            match stages {
                [only] => self.walk_operand(only, &context),
                _ => self.walk_pipeline(stages, &context),
            }
            rest = following;
        }
    }

    /// Adds the commands of a node, in the order of the text. `connector` is the operator before the next one.
    fn collect_operands<'n>(&mut self, node: Node<'n>, connector: &mut Connector, operands: &mut Vec<Operand<'n>>) {
        if !joins_commands(node) {
            return operands.push(Operand { connector: *connector, node, redirected: Vec::new() });
        }
        if let Some(joined) = statement_before_redirections(node).filter(|_| node.kind() == "redirected_statement") {
            self.collect_operands(joined, connector, operands);
            operands.last_mut().into_iter().for_each(|last| last.redirected.push(node));
            return;
        }
        let (mut previous_end, allows_newlines) = (None, true);
        for child in self.checked_children(node, allows_newlines) {
            self.check_same_line(previous_end, child);
            previous_end = Some(child.end_byte());
            match child.kind() {
                "&&" => *connector = Connector::And,
                "||" => *connector = Connector::Or,
                "|" => *connector = Connector::Pipe,
                "|&" => *connector = Connector::PipeWithStderr,
                "comment" => {}
                _ => self.collect_operands(child, connector, operands),
            }
        }
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

    fn walk_pipeline(&mut self, stages: &[Operand<'_>], context: &WalkContext) {
        self.parsed_line.pipeline_count += 1;
        let pipeline_number = self.parsed_line.pipeline_count;
        let is_skippable = context.is_command_skippable();
        // `!` before the first stage inverts the exit status of the whole pipeline.
        let is_negated =
            context.is_negated || stages.first().is_some_and(|first| first.node.kind() == "negated_command");
        for (stage, operand) in stages.iter().enumerate() {
            let shells = self.parsed_line.enter_shell(&context.shells);
            let connector = operand.connector;
            let mut stage_context = WalkContext {
                connector,
                shells,
                is_skippable: is_skippable || is_negated,
                is_negated,
                ..context.clone()
            };
            stage_context.pipelines.push((pipeline_number, stage));
            self.walk_operand(operand, &stage_context);
        }
    }

    fn walk_operand(&mut self, operand: &Operand<'_>, context: &WalkContext) {
        let start = self.parsed_line.commands.len();
        self.walk_statement(operand.node, context);
        for node in &operand.redirected {
            self.apply_redirections(*node, start, context);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::command_line::{Redirect, Word, parse_command_line};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn r12_operators_group_commands_as_bash_does(
            line in prop::collection::vec(
                (prop::sample::select(vec!["a", "b c", "cd d", "( e )", "{ f; }"]), any::<bool>(), 0..4_usize),
                1..8,
            )
        ) {
            let operators = [(" && ", Connector::And), (" || ", Connector::Or), (" | ", Connector::Pipe),
                (" |& ", Connector::PipeWithStderr)];
            let (mut text, mut pipeline, mut stage) = (String::new(), 0, 0);
            // Of each command: pipeline and stage, and the file that its output is redirected to.
            let mut expected = Vec::new();
            for (index, (command, has_redirection, operator)) in line.iter().enumerate() {
                let (operator, connector) = operators[*operator];
                if index > 0 {
                    text.push_str(operator);
                    let is_pipe = matches!(connector, Connector::Pipe | Connector::PipeWithStderr);
                    (pipeline, stage) = if is_pipe { (pipeline, stage + 1) } else { (pipeline + 1, 0) };
                }
                text.push_str(command);
                let target = has_redirection.then(|| format!("f{index}"));
                target.iter().for_each(|target| text.push_str(&format!(" > {target}")));
                expected.push((pipeline, stage, target));
            }
            let parsed_line = parse_command_line(&text);
            prop_assert_eq!(parsed_line.commands.len(), expected.len(), "{}", text);
            for (simple, (pipeline, stage, target)) in parsed_line.commands.iter().zip(&expected) {
                let is_piped = expected.iter().filter(|(other, _, _)| other == pipeline).count() > 1;
                let found_stage = simple.pipelines.last().map(|(_, stage)| *stage);
                prop_assert_eq!(found_stage, is_piped.then_some(*stage), "{}: {}", text, simple.text);
                let in_subshell = usize::from(simple.nesting.contains(&crate::policy::command_line::Nesting::Subshell));
                prop_assert_eq!(simple.shells.len(), usize::from(is_piped) + in_subshell, "{}: {}", text, simple.text);
                let redirects: Vec<Redirect> =
                    target.iter().map(|target| Redirect::Write(Word::Known(target.clone()))).collect();
                prop_assert_eq!(&simple.redirects, &redirects, "{}: {}", text, simple.text);
            }
            // Commands of one pipeline have the same pipeline number, and only they.
            for (first, (first_pipeline, _, _)) in parsed_line.commands.iter().zip(&expected) {
                for (second, (second_pipeline, _, _)) in parsed_line.commands.iter().zip(&expected) {
                    let numbers = (first.pipelines.last(), second.pipelines.last());
                    if let (Some((first_number, _)), Some((second_number, _))) = numbers {
                        prop_assert_eq!(first_number == second_number, first_pipeline == second_pipeline, "{}", text);
                    }
                }
            }
        }
    }
}
