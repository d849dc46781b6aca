//! Prints rejections at the command line, and chooses their exit codes.

use longhaul_core::Json;
use longhaul_core::id::RunId;
use longhaul_core::rejection::{Rejection, RejectionKind, Remedy};
use longhaul_runtime::Error;
use serde_json::json;

/// The exit code for each kind of rejection: 1 the answer is no, 2 the command was wrong, 75 try again later.
pub(crate) fn exit_code(kind: RejectionKind) -> u8 {
    match kind {
        RejectionKind::Forbidden | RejectionKind::Conflict | RejectionKind::Untimely => 1,
        RejectionKind::NotFound | RejectionKind::Invalid | RejectionKind::Unavailable => 2,
        RejectionKind::Busy => 75,
    }
}

/// A remedy, as a command or an option to type.
fn remedy(remedy: &Remedy) -> String {
    match remedy {
        Remedy::GiveInput(name) => format!("give it with --input {name}=…"),
        Remedy::AnswerInstead => "or answer in its place, with --override".to_owned(),
        Remedy::ListRuns => "longhaul runs lists them".to_owned(),
        Remedy::ListVersions(workflow) => format!("longhaul registry versions {workflow} lists them"),
        Remedy::ListProposals => "longhaul registry proposals list shows them".to_owned(),
        Remedy::ListGrants => "see: longhaul consent list".to_owned(),
        Remedy::Say(_) | Remedy::LookAgain | Remedy::TryAgain | Remedy::CancelFirst | Remedy::Follow(_) => {
            remedy.plain()
        }
    }
}

/// A rejection in words, with the command that helps.
pub(crate) fn words(rejection: &Rejection) -> String {
    rejection.in_words(remedy)
}

/// The rejection behind an error, if it is one.
fn behind(cause: &(dyn std::error::Error + 'static)) -> Option<Rejection> {
    let engine = cause.downcast_ref::<Error>().map(Error::rejection);
    engine.or_else(|| cause.downcast_ref::<Rejection>().cloned())
}

/// One cause of an error, in words.
pub(crate) fn cause(cause: &(dyn std::error::Error + 'static)) -> String {
    behind(cause).map_or_else(|| cause.to_string(), |rejection| words(&rejection))
}

/// The rejection that an error is about, if it is about one.
pub(crate) fn of(error: &anyhow::Error) -> Option<Rejection> {
    error.chain().find_map(behind)
}

/// The exit code of an error: that of its rejection, else 2.
pub(crate) fn exit_code_of(error: &anyhow::Error) -> u8 {
    of(error).map_or(2, |rejection| exit_code(rejection.kind))
}

/// A rejected command as data.
pub(crate) fn data(run: &RunId, rejection: &Rejection) -> Json {
    let mut data = json!({"run": run, "outcome": "rejected", "kind": rejection.kind.word(), "code": rejection.code,
        "text": words(rejection)});
    if let Some(first) = &rejection.first {
        data["first"] = json!(first);
    }
    data
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_rejection_has_one_exit_code() {
        let codes = RejectionKind::ALL.map(|kind| (kind.word(), exit_code(kind)));
        let expected = [
            ("not_found", 2),
            ("invalid", 2),
            ("forbidden", 1),
            ("conflict", 1),
            ("untimely", 1),
            ("busy", 75),
            ("unavailable", 2),
        ];
        assert_eq!(codes, expected);
    }

    #[test]
    fn an_error_has_the_words_and_the_code_of_its_rejection() {
        let missing = Rejection::invalid("the input `a` is missing").with(Remedy::GiveInput("a".to_owned()));
        let error = anyhow::Error::from(Error::from(missing)).context("nothing was started");
        let causes: Vec<String> = error.chain().map(cause).collect();
        assert_eq!(causes, ["nothing was started", "the input `a` is missing; give it with --input a=…"]);
        assert_eq!(exit_code_of(&error), 2);
        assert_eq!(exit_code_of(&Rejection::conflict("too late").into()), 1);
        assert_eq!(exit_code_of(&anyhow::anyhow!("no such file")), 2);
    }
}
