//! Arithmetic expressions: parsed and evaluated on fractions, within limits on size and depth.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Pow, Signed, ToPrimitive, Zero};
use thiserror::Error;

/// Maximum length of an expression in bytes.
const MAX_BYTES: usize = 1000;
/// Maximum nesting of parentheses, signs and powers.
const MAX_DEPTH: usize = 64;
/// Maximum bits of a numerator or denominator.
const MAX_BITS: u64 = 4096;
/// Maximum absolute value of an exponent.
const MAX_EXPONENT: u32 = 1024;
/// Decimal places of a number whose decimal expansion does not end.
const PLACES: usize = 20;

/// Reason why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CalculationError {
    #[error("syntax: {0}")]
    Syntax(String),
    #[error("divide_by_zero: the divisor is 0")]
    DivideByZero,
    #[error("too_large: {0}")]
    TooLarge(String),
}

/// Evaluates an expression. The operators are those of Python: `**` binds tighter than a sign on its left and groups from
/// the right, and `a % b` has the sign of `b`.
///
/// # Errors
/// If it is no expression, divides by zero, or exceeds a limit.
pub fn evaluate(text: &str) -> Result<BigRational, CalculationError> {
    if text.len() > MAX_BYTES {
        return Err(CalculationError::TooLarge(format!("the expression is longer than {MAX_BYTES} bytes")));
    }
    let mut parser = Parser { text, position: 0, depth: 0 };
    let value = parser.parse_sum()?;
    match parser.peek() {
        None => Ok(value),
        Some(found) => Err(parser.unexpected(found, "an operator")),
    }
}

/// Formats a number exactly: as an integer or a decimal number if its digits end, otherwise as a fraction followed by a
/// rounded decimal number.
pub fn format_number(number: &BigRational) -> String {
    if number.is_integer() {
        return number.numer().to_string();
    }
    let ten = BigInt::from(10);
    let has_end = |places: usize| (Pow::pow(&ten, places) % number.denom()).is_zero();
    // A denominator of 2^n needs n places, so no more than its bits.
    let bits = usize::try_from(number.denom().bits()).unwrap_or(usize::MAX);
    let exact_places = if has_end(bits) { (1..=bits).find(|places| has_end(*places)) } else { None };
    match exact_places {
        Some(places) => format_decimal(number, places),
        None => format!("{}/{} ≈ {}", number.numer(), number.denom(), format_decimal(number, PLACES)),
    }
}

/// Formats a number with this many decimal places, rounded half away from zero.
fn format_decimal(number: &BigRational, places: usize) -> String {
    let scaled = (number.abs() * BigRational::from(Pow::pow(&BigInt::from(10), places))).round().to_integer();
    let digits = format!("{:0>width$}", scaled.to_string(), width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    let sign = if number.is_negative() && !scaled.is_zero() { "-" } else { "" };
    format!("{sign}{whole}.{fraction}")
}

struct Parser<'a> {
    text: &'a str,
    /// Byte position of the next character.
    position: usize,
    depth: usize,
}

impl Parser<'_> {
    fn parse_sum(&mut self) -> Result<BigRational, CalculationError> {
        let mut value = self.parse_product()?;
        while let Some(operator) = self.take_one_of("+-−") {
            let right = self.parse_product()?;
            value = check_size(if operator == '+' { value + right } else { value - right })?;
        }
        Ok(value)
    }

    fn parse_product(&mut self) -> Result<BigRational, CalculationError> {
        let mut value = self.parse_signed()?;
        while let Some(operator) = self.take_one_of("*/%×÷") {
            let right = self.parse_signed()?;
            value = check_size(match operator {
                '*' | '×' => value * right,
                _ if right.is_zero() => return Err(CalculationError::DivideByZero),
                '%' => &value - (&value / &right).floor() * &right,
                _ => value / right,
            })?;
        }
        Ok(value)
    }

    fn parse_signed(&mut self) -> Result<BigRational, CalculationError> {
        match self.take_one_of("+-−") {
            Some('+') => self.nest(Self::parse_signed),
            Some(_) => self.nest(Self::parse_signed).map(|value| -value),
            None => self.parse_power(),
        }
    }

    fn parse_power(&mut self) -> Result<BigRational, CalculationError> {
        let base = self.parse_operand()?;
        if !self.take("**") && !self.take("^") {
            return Ok(base);
        }
        let exponent = self.nest(Self::parse_signed)?;
        raise(&base, &exponent)
    }

    fn parse_operand(&mut self) -> Result<BigRational, CalculationError> {
        if self.take("(") {
            let value = self.nest(Self::parse_sum)?;
            return match self.take(")") {
                true => Ok(value),
                false => Err(self.unexpected_end_or("a closing parenthesis")),
            };
        }
        self.parse_number()
    }

    /// Parses digits with an optional decimal point and exponent. `_` and `,` may separate digits.
    fn parse_number(&mut self) -> Result<BigRational, CalculationError> {
        self.skip_blanks();
        let rest = &self.text[self.position..];
        let length = rest.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '_')).unwrap_or(rest.len());
        let digits: String = rest[..length].chars().filter(|c| *c != '_').collect();
        let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
        let all_digits = format!("{whole}{fraction}");
        if all_digits.is_empty() || fraction.contains('.') {
            return Err(self.unexpected_end_or("a number"));
        }
        self.position += length;
        let numerator: BigInt = all_digits.parse().map_err(|_| self.unexpected_end_or("a number"))?;
        let places = u32::try_from(fraction.len()).unwrap_or(u32::MAX);
        let value = BigRational::new(numerator, Pow::pow(&BigInt::from(10), places));
        check_size(value * self.parse_exponent()?)
    }

    /// Parses the `e6` of a number such as `1.5e6`. Returns the power of ten; 1 if there is none.
    fn parse_exponent(&mut self) -> Result<BigRational, CalculationError> {
        let rest = &self.text[self.position..];
        let Some(after) = rest.strip_prefix(['e', 'E']) else { return Ok(BigRational::from(BigInt::from(1))) };
        let sign_length = usize::from(after.starts_with(['+', '-']));
        let digit_count = after[sign_length..].find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len() - sign_length);
        let text = &after[..sign_length + digit_count];
        let exponent: BigInt = text.parse().map_err(|_| self.unexpected_end_or("an exponent"))?;
        self.position += 1 + text.len();
        raise(&BigRational::from(BigInt::from(10)), &BigRational::from(exponent))
    }

    fn nest(
        &mut self,
        parse: fn(&mut Self) -> Result<BigRational, CalculationError>,
    ) -> Result<BigRational, CalculationError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(CalculationError::TooLarge(format!("more than {MAX_DEPTH} levels")));
        }
        let value = parse(self);
        self.depth -= 1;
        value
    }

    fn skip_blanks(&mut self) {
        let rest = &self.text[self.position..];
        self.position += rest.len() - rest.trim_start().len();
    }

    fn peek(&mut self) -> Option<char> {
        self.skip_blanks();
        self.text[self.position..].chars().next()
    }

    /// Takes one of these operators. `**` is not `*`.
    fn take_one_of(&mut self, operators: &str) -> Option<char> {
        let found = self.peek().filter(|c| operators.contains(*c))?;
        if self.text[self.position..].starts_with("**") {
            return None;
        }
        self.position += found.len_utf8();
        Some(found)
    }

    fn take(&mut self, token: &str) -> bool {
        self.skip_blanks();
        let is_next = self.text[self.position..].starts_with(token);
        self.position += if is_next { token.len() } else { 0 };
        is_next
    }

    fn unexpected_end_or(&mut self, expected: &str) -> CalculationError {
        match self.peek() {
            Some(found) => self.unexpected(found, expected),
            None => CalculationError::Syntax(format!("expected {expected} at the end")),
        }
    }

    fn unexpected(&self, found: char, expected: &str) -> CalculationError {
        let column = self.text[..self.position].chars().count() + 1;
        CalculationError::Syntax(format!("expected {expected} at character {column}, found {found:?}"))
    }
}

/// Raises a number to an integer. The size of the result is checked before it is computed.
fn raise(base: &BigRational, exponent: &BigRational) -> Result<BigRational, CalculationError> {
    let limit = || CalculationError::TooLarge(format!("expected an exponent from -{MAX_EXPONENT} to {MAX_EXPONENT}"));
    if !exponent.is_integer() {
        return Err(CalculationError::Syntax("expected an integer as exponent; roots are not exact".to_owned()));
    }
    let exponent =
        exponent.to_integer().to_i32().filter(|exponent| exponent.unsigned_abs() <= MAX_EXPONENT).ok_or_else(limit)?;
    if base.is_zero() && exponent < 0 {
        return Err(CalculationError::DivideByZero);
    }
    // A number of n bits is at least 2^(n-1).
    let bits = base.numer().bits().max(base.denom().bits()).saturating_sub(1);
    if bits * u64::from(exponent.unsigned_abs()) > MAX_BITS {
        return Err(too_large());
    }
    check_size(base.pow(exponent))
}

fn check_size(value: BigRational) -> Result<BigRational, CalculationError> {
    let is_small = value.numer().bits() <= MAX_BITS && value.denom().bits() <= MAX_BITS;
    if is_small { Ok(value) } else { Err(too_large()) }
}

fn too_large() -> CalculationError {
    CalculationError::TooLarge(format!("a number exceeds {MAX_BITS} bits"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn calculate(text: &str) -> Result<String, CalculationError> {
        evaluate(text).map(|number| format_number(&number))
    }

    #[test]
    fn evaluates_exactly() {
        for (text, expected) in [
            ("1 + 2 * 3", "7"),
            ("(1 + 2) * 3", "9"),
            ("0.1 + 0.2", "0.3"),
            ("2 ** 3 ** 2", "512"),
            ("2^10", "1024"),
            ("-2 ** 2", "-4"),
            ("2 ** -2", "0.25"),
            ("1 / 3", "1/3 ≈ 0.33333333333333333333"),
            ("-2 / 3", "-2/3 ≈ -0.66666666666666666667"),
            ("1e3 + 1.5E-3", "1000.0015"),
            ("7 % 3", "1"),
            ("-7 % 3", "2"),
            ("7 % -3", "-2"),
            ("5.5 % 2", "1.5"),
            ("--3", "3"),
            ("1_000_000 * 1_000_000", "1000000000000"),
            ("10 ÷ 4 × 2 − 1", "4"),
            (".5 + 1.", "1.5"),
            ("2 ** 256", "115792089237316195423570985008687907853269984665640564039457584007913129639936"),
            ("1/1024", "0.0009765625"),
        ] {
            assert_eq!(calculate(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn names_what_is_wrong_and_where() {
        for (text, part) in [
            ("", "syntax: expected a number at the end"),
            ("1 +", "syntax: expected a number at the end"),
            ("1 2", "syntax: expected an operator at character 3, found '2'"),
            ("(1", "syntax: expected a closing parenthesis at the end"),
            ("1)", "syntax: expected an operator at character 2, found ')'"),
            ("\"a\" * 9", "syntax: expected a number at character 1, found '\"'"),
            ("abs(1)", "syntax: expected a number at character 1, found 'a'"),
            ("1.2.3", "syntax: expected a number at character 1"),
            ("1e", "syntax: expected an exponent"),
            ("2 ** 0.5", "syntax: expected an integer as exponent"),
            ("1 / 0", "divide_by_zero"),
            ("1 % (2 - 2)", "divide_by_zero"),
            ("0 ** -1", "divide_by_zero"),
            ("9 ** 9 ** 9 ** 9", "too_large"),
            ("2 ** 1025", "too_large: expected an exponent"),
            ("1e9999999999", "too_large"),
            ("(2 ** 1024) ** 5", "too_large: a number exceeds 4096 bits"),
        ] {
            let error = calculate(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(calculate(&"1+".repeat(600)).unwrap_err().to_string().contains("longer than 1000 bytes"));
        assert!(calculate(&"(".repeat(900)).unwrap_err().to_string().contains("more than 64 levels"));
        assert!(calculate(&"-".repeat(900)).unwrap_err().to_string().contains("more than 64 levels"));
    }

    proptest! {
        /// Any text ends with a value or an error, at once.
        #[test]
        fn any_text_is_evaluated_or_refused(text in "[-+*/%^() .0-9e_−×]{0,120}") {
            let _ = calculate(&text);
        }

        #[test]
        fn agrees_with_integers(a in -1_000_000i64..1_000_000, b in 1i64..1_000_000, c in -1000i64..1000) {
            prop_assert_eq!(calculate(&format!("{a} % {b} + {c} * ({a} - {b})")), Ok((a.rem_euclid(b) + c * (a - b)).to_string()));
        }

        #[test]
        fn a_decimal_number_is_read_back(whole in 0u64..u64::MAX, fraction in 1u32..1_000_000) {
            let text = format!("{whole}.{fraction:06}");
            prop_assert_eq!(calculate(&text), Ok(text.trim_end_matches('0').to_owned()));
        }
    }
}
