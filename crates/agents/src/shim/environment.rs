//! Builds the environment of an agent: common variables, those that its driver names or sets, and nothing else.
//!
//! **Invariant:** a variable that is not in one of these sets is not passed on.

use std::ffi::OsString;

use crate::contract::Invocation;

/// Variables that programs need, and that hold no secrets. `*` ends a prefix.
const COMMON: [&str; 23] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TERM",
    "COLORTERM",
    "TZ",
    "TMPDIR",
    "XDG_*",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_*",
    "NODE_EXTRA_CA_CERTS",
];

/// The environment of a turn, from ours.
pub fn environment(
    invocation: &Invocation,
    ours: impl IntoIterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let ours: Vec<(OsString, OsString)> = ours.into_iter().collect();
    invocation.environment(&COMMON, &ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ours: &[&str], keep: &[&str], set: &[(&str, &str)]) -> Vec<String> {
        let invocation = Invocation {
            program: "agent".into(),
            args: Vec::new(),
            env: set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            keep_env: keep.iter().map(|name| (*name).to_owned()).collect(),
            stdin: Vec::new(),
        };
        let ours = ours.iter().map(|name| (OsString::from(name), OsString::from("ours")));
        let shown = |(name, value): (OsString, OsString)| format!("{}={}", name.display(), value.display());
        environment(&invocation, ours).into_iter().map(shown).collect()
    }

    #[test]
    fn what_is_common_is_kept_and_everything_else_is_not() {
        let ours = ["PATH", "LC_ALL", "LC", "XDG_CONFIG_HOME", "https_proxy", "AWS_SECRET_ACCESS_KEY", "PATHS", "path"];
        assert_eq!(of(&ours, &[], &[]), ["PATH=ours", "LC_ALL=ours", "XDG_CONFIG_HOME=ours", "https_proxy=ours"]);
    }

    #[test]
    fn what_is_named_is_kept_by_its_whole_name_or_by_its_beginning() {
        let ours = ["KEY", "KEY_2", "CLAUDE_A", "CLAUDE_", "XCLAUDE_A"];
        assert_eq!(of(&ours, &["KEY", "CLAUDE_*"], &[]), ["KEY=ours", "CLAUDE_A=ours", "CLAUDE_=ours"]);
    }

    #[test]
    fn what_is_set_counts() {
        assert_eq!(of(&["HOME"], &[], &[("HOME", "theirs"), ("A", "")]), ["HOME=theirs", "A="]);
    }
}
