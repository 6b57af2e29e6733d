//! The header `WWW-Authenticate` of a service that requires tokens (RFC 6750).

/// Maximum number of scopes that a service may ask for.
pub(super) const MAX_SCOPES: usize = 50;
/// Maximum bytes of a scope.
const MAX_SCOPE_BYTES: usize = 200;

/// Returns the scopes that a service requires in addition to those of the token (`insufficient_scope`). Empty if the header says
/// something else or names none.
pub fn find_missing_scopes(challenge: &str) -> Vec<String> {
    match find_parameter(challenge, "error") {
        Some(error) if is_bearer(challenge) && error == "insufficient_scope" => {
            split_scopes(&find_parameter(challenge, "scope").unwrap_or_default())
        }
        Some(_) | None => Vec::new(),
    }
}

/// Adds the scopes that are not in the list yet. Returns whether there is room for all.
pub fn add_scopes(scopes: &mut Vec<String>, added: &[String]) -> bool {
    let is_complete = added.iter().all(|scope| {
        if !scopes.contains(scope) {
            scopes.push(scope.clone());
        }
        scopes.len() <= MAX_SCOPES
    });
    scopes.truncate(MAX_SCOPES);
    is_complete
}

/// Splits a list of scopes. Leaves out what cannot be a scope (RFC 6749, section 3.3), and those after the limit.
pub(super) fn split_scopes(text: &str) -> Vec<String> {
    let is_allowed = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
    let is_valid = |scope: &&str| scope.len() <= MAX_SCOPE_BYTES && scope.bytes().all(is_allowed);
    let mut scopes = Vec::new();
    for scope in text.split(' ').filter(|scope| !scope.is_empty()).filter(is_valid).take(MAX_SCOPES) {
        add_scopes(&mut scopes, &[scope.to_owned()]);
    }
    scopes
}

pub(super) fn is_bearer(challenge: &str) -> bool {
    challenge.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer "))
        || challenge.eq_ignore_ascii_case("bearer")
}

/// Returns the value of a parameter of the first scheme in the header. Text inside the value of another one does not count.
pub(super) fn find_parameter(challenge: &str, name: &str) -> Option<String> {
    let mut rest = challenge.split_once(' ')?.1;
    loop {
        rest = rest.trim_start_matches([' ', ',', '\t']);
        let (key, after) = rest.split_once('=')?;
        let (value, remaining) = match after.trim_start().strip_prefix('"') {
            Some(quoted) => split_quoted(quoted)?,
            None => {
                let end = after.find([',', ' ', '\t']).unwrap_or(after.len());
                (after[..end].to_owned(), &after[end..])
            }
        };
        // A scheme may stand before the key, and its parameters are not those of the first one.
        let key = key.trim();
        if key.contains(' ') {
            return None;
        }
        if key.eq_ignore_ascii_case(name) {
            return Some(value);
        }
        rest = remaining;
    }
}

/// Returns a quoted value without its escapes, and the text after its end; `None` if it has no end.
fn split_quoted(text: &str) -> Option<(String, &str)> {
    let (mut value, mut chars) = (String::new(), text.char_indices());
    while let Some((index, c)) = chars.next() {
        match c {
            '"' => return Some((value, &text[index + 1..])),
            '\\' => value.push(chars.next()?.1),
            c => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_not_found_inside_another_one() {
        let challenge =
            r#"Bearer realm="a, scope=evil \" scope=evil", Error=insufficient_scope ,x_scope=no, scope="a b""#;
        for (name, value) in [("scope", Some("a b")), ("error", Some("insufficient_scope")), ("resource", None)] {
            assert_eq!(find_parameter(challenge, name).as_deref(), value, "{name}");
        }
        assert_eq!(find_missing_scopes(challenge), ["a", "b"]);
        for other in
            ["", "Bearer", "Bearer scope", "Bearer scope=\"a", "Bearer x=1, Basic scope=a", "Basic realm=\"scope=a\""]
        {
            assert_eq!(find_parameter(other, "scope"), None, "{other}");
        }
    }

    #[test]
    fn only_a_refusal_for_scopes_names_missing_ones() {
        for challenge in [
            "Bearer scope=\"a\"",
            "Bearer error=\"invalid_token\", scope=\"a\"",
            "Bearer error=\"insufficient_scope\"",
            "Bearer error_description=\"error=insufficient_scope\", scope=a",
            "Basic error=\"insufficient_scope\", scope=a",
        ] {
            assert_eq!(find_missing_scopes(challenge), [""; 0], "{challenge}");
        }
    }

    #[test]
    fn hostile_scopes_are_left_out_and_their_number_is_limited() {
        let long = "x".repeat(MAX_SCOPE_BYTES + 1);
        let text = format!("read  write:all read \u{1B}[2J a\"b c\\d é tab\tbed {long} line\nbreak $(x)");
        assert_eq!(split_scopes(&text), ["read", "write:all", "$(x)"]);
        let many: Vec<String> = (0..99).map(|number| number.to_string()).collect();
        assert_eq!(split_scopes(&many.join(" ")).len(), MAX_SCOPES);
        let mut scopes = vec!["0".to_owned()];
        assert!(!add_scopes(&mut scopes, &many) && scopes.len() == MAX_SCOPES);
        assert!(add_scopes(&mut scopes, &many[..9]), "they are there already");
    }
}
