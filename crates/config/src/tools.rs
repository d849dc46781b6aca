//! The configured tool servers of a project.

use indexmap::IndexMap;
use longhaul_agents::redact::names_a_secret;
use longhaul_agents::tool::ToolTransport;

/// A server that steps of the kind `tool` can call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolServer {
    /// The command or URL as written. `${NAME}` and `${NAME:-else}` stand for environment variables.
    pub server: ToolTransport,
    /// Whether it comes from the checkout. Then it is called only while a person trusts the content of the checkout.
    pub is_checkout: bool,
}

/// The server with its variables filled in, and the secret values among them; otherwise the name of a variable that
/// is not set.
pub fn filled(server: &ToolTransport) -> Result<(ToolTransport, Vec<String>), String> {
    let all = |texts: &IndexMap<String, String>| -> Result<IndexMap<String, String>, String> {
        texts.iter().map(|(name, text)| Ok((name.clone(), fill(text)?))).collect()
    };
    Ok(match server {
        ToolTransport::Program { command, args, env } => {
            let env = all(env)?;
            let hidden = env.values().cloned().collect();
            let args = args.iter().map(|arg| fill(arg)).collect::<Result<_, _>>()?;
            (ToolTransport::Program { command: fill(command)?, args, env }, hidden)
        }
        ToolTransport::Address { url, headers } => {
            let headers = all(headers)?;
            let values = names_in(url).into_iter().filter_map(|name| std::env::var(name).ok());
            let hidden = headers.values().flat_map(|value| hidden_in(value)).chain(values).collect();
            (ToolTransport::Address { url: fill(url)?, headers }, hidden)
        }
    })
}

/// The secret values in the configuration of a server.
pub fn secrets(server: &ToolTransport) -> Vec<String> {
    let (texts, headers) = match server {
        ToolTransport::Program { args, env, .. } => (args.iter().chain(env.values()).collect::<Vec<_>>(), None),
        ToolTransport::Address { url, headers } => (vec![url], Some(headers)),
    };
    let of_headers = headers.into_iter().flatten().filter(|(name, _)| names_a_secret(name));
    let of_headers = of_headers.filter_map(|(_, value)| fill(value).ok()).flat_map(|value| hidden_in(&value));
    let headers_texts = headers.into_iter().flat_map(IndexMap::values);
    let named = texts.into_iter().chain(headers_texts).flat_map(|text| names_in(text));
    let named = named.filter(|name| names_a_secret(name)).filter_map(|name| std::env::var(name).ok());
    named.chain(of_headers).chain(of_env(server)).collect()
}

/// The values of variables whose names say that they are secret.
fn of_env(server: &ToolTransport) -> Vec<String> {
    let ToolTransport::Program { env, .. } = server else { return Vec::new() };
    env.iter().filter(|(name, _)| names_a_secret(name)).filter_map(|(_, value)| fill(value).ok()).collect()
}

/// The variables that a text names.
fn names_in(text: &str) -> Vec<&str> {
    let named = text.split("${").skip(1).filter_map(|rest| rest.split_once('}'));
    named.map(|(inside, _)| inside.split_once(":-").map_or(inside, |(name, _)| name)).collect()
}

/// The secret parts of a header: the whole value, and the part after its scheme.
fn hidden_in(value: &str) -> Vec<String> {
    let after = value.split_once(' ').map(|(_, after)| after.to_owned());
    std::iter::once(value.to_owned()).chain(after).collect()
}

fn fill(text: &str) -> Result<String, String> {
    fill_with(text, |name| std::env::var(name).ok())
}

fn fill_with(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inside, behind)) = after.split_once('}') else { break };
        let (name, otherwise) = inside.split_once(":-").map_or((inside, None), |(name, text)| (name, Some(text)));
        let value = variable(name).or_else(|| otherwise.map(str::to_owned));
        filled.push_str(before);
        filled.push_str(&value.ok_or_else(|| format!("the variable `{name}` is not set"))?);
        rest = behind;
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Result<String, String> {
        fill_with(text, |name| (name == "A").then(|| "${B}".to_owned()))
    }

    #[test]
    fn variables_are_filled_in_once() {
        assert_eq!(told("x ${A} y ${A}").unwrap(), "x ${B} y ${B}");
        assert_eq!(told("${C:-else}${A:-else}").unwrap(), "else${B}");
        assert_eq!(told("$A ${open").unwrap(), "$A ${open");
        assert_eq!(told("${C}").unwrap_err(), "the variable `C` is not set");
    }

    #[test]
    fn the_variables_of_a_text_are_found() {
        assert_eq!(names_in("x ${A} ${B:-c} ${open"), ["A", "B"]);
    }

    #[test]
    fn the_token_in_a_header_is_hidden_by_itself() {
        assert_eq!(hidden_in("Bearer abc"), ["Bearer abc", "abc"]);
        assert_eq!(hidden_in("abc"), ["abc"]);
    }
}
