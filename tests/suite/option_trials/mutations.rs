//! Lines in forms that tables of options have judged wrongly before.

use super::generate::{Choice, Generator, Recipe, Takes, Target};
use super::words::{FOLDERS, SECRET_FOLDERS};
use aye::policy::grammar::Role;

/// Options with their values, and operands.
type Parts = (Vec<Vec<String>>, Vec<String>);

impl Generator<'_> {
    /// An option with an optional value, followed by a word that is then an operand, and usually by another operand.
    /// `None` if the program has no such option.
    pub(super) fn with_optional_value(&mut self, recipe: &Recipe) -> Option<Parts> {
        let choice = self.choose(recipe, |choice| choice.takes == Takes::Optional)?;
        let word = if self.target == Target::Plain { self.path(20) } else { self.take_decoy() };
        let extra_words = if self.random.percent(60) { vec![self.path(20)] } else { Vec::new() };
        Some((vec![vec![choice.name.to_owned(), word]], extra_words))
    }

    /// A recursive search with one to three options for exclusions, which may exclude less than they seem to. `None` if
    /// the program has no such option.
    pub(super) fn with_exclusions(&mut self, recipe: &Recipe) -> Option<Parts> {
        let selects = |choice: &Choice| matches!(choice.role, Role::Excludes | Role::Selects);
        self.choose(recipe, selects)?;
        let mut parts = Vec::new();
        if let Some(recursive) = self.choose(recipe, |choice| choice.role == Role::Recursive) {
            parts.push(if recursive.short_name().is_some() {
                vec![recursive.name.to_owned()]
            } else {
                self.long(recursive, recipe)
            });
        }
        for _ in 0..1 + self.random.below(3) {
            let choice = self.choose(recipe, selects)?;
            let value = match choice.takes {
                Takes::Nothing => Vec::new(),
                _ if choice.short_name().is_none() => {
                    parts.push(self.long(choice, recipe));
                    continue;
                }
                _ => vec![self.value(choice, recipe)],
            };
            parts.push([vec![choice.name.to_owned()], value].concat());
        }
        let mut operands: Vec<String> = recipe.operands.first.iter().map(|_| "SECRET".to_owned()).collect();
        // The exclusions may cover the whole folder.
        let folder = if self.random.percent(40) { self.random.pick(SECRET_FOLDERS) } else { self.random.pick(FOLDERS) };
        operands.push(folder.to_owned());
        Some((parts, operands))
    }

    /// A random option among those that match.
    fn choose(&mut self, recipe: &Recipe, is_wanted: impl Fn(&Choice) -> bool) -> Option<Choice> {
        let fitting: Vec<Choice> = recipe.options.iter().copied().filter(is_wanted).collect();
        if fitting.is_empty() { None } else { Some(fitting[self.random.below(fitting.len())]) }
    }
}
