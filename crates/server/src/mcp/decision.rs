//! Reads a person's answer at a gate from the words that clients use.

use longhaul_core::Json;
use longhaul_core::event::{Answer, QuestionKind};
use longhaul_core::view::Asked;

use crate::mcp::tool::Problem;

/// The answer for a decision and a value.
pub(crate) fn answer(
    asked: &Asked,
    decision: Option<&str>,
    value: Option<Json>,
    comment: Option<String>,
) -> Result<Answer, Problem> {
    let Some(decision) = decision.map(str::trim).filter(|decision| !decision.is_empty()) else {
        return match value {
            Some(value) => Ok(Answer::Value { value }),
            None => Err(Problem::new(format!("what is the answer? {}", takes(asked)))),
        };
    };
    if let Some(choice) = asked.choices.iter().find(|choice| choice.eq_ignore_ascii_case(decision)) {
        return Ok(Answer::Value { value: Json::String(choice.clone()) });
    }
    match decision.to_lowercase().as_str() {
        "approve" | "approved" | "yes" | "y" => Ok(Answer::Approve),
        "deny" | "denied" | "no" | "n" => Ok(Answer::Deny { reason: comment }),
        "edit" | "edited" => match value.filter(|value| value.as_str().is_none_or(|text| !text.trim().is_empty())) {
            Some(value) => Ok(Answer::Edit { value }),
            None => Err(Problem::new("`edit` needs a `value`: what is to be used instead; the gate still waits")),
        },
        "skip" => Ok(Answer::Skip),
        "answer" | "choice" | "value" => match value {
            Some(value) => Ok(Answer::Value { value }),
            None => Err(Problem::new(format!("`{decision}` needs a `value`; {}", takes(asked)))),
        },
        _ => Err(Problem::new(format!("`{decision}` is not a decision; {}; the gate still waits", takes(asked)))),
    }
}

/// The possible answers, in words.
pub(crate) fn takes(asked: &Asked) -> String {
    let mut words: Vec<&str> = words(asked.kind).to_vec();
    words.extend(asked.choices.iter().map(String::as_str));
    match words.as_slice() {
        [] => "give it as `value`".to_owned(),
        words => format!("`decision` takes: {}", words.join(", ")),
    }
}

/// The decisions that a kind of question allows, in addition to its choices.
pub(crate) fn words(kind: QuestionKind) -> &'static [&'static str] {
    match kind {
        QuestionKind::Approval | QuestionKind::Consent => &["approve", "deny"],
        QuestionKind::Review => &["approve", "deny", "edit"],
        QuestionKind::Operator => &["approve", "deny", "edit", "skip"],
        QuestionKind::Question | QuestionKind::Machine => &[],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(kind: QuestionKind, decision: &str, value: Option<Json>) -> String {
        let asked = Asked {
            path: "plan".parse().unwrap(),
            name: None,
            kind,
            text: "OK?".to_owned(),
            choices: vec!["later".to_owned()],
            schema: None,
            output: None,
            error: None,
            approvals: None,
            needed: None,
            approved: Vec::new(),
            shown: String::new(),
            asked_at: 0,
            due: None,
        };
        match answer(&asked, Some(decision), value, None) {
            Ok(answer) => serde_json::to_string(&answer).unwrap(),
            Err(problem) => problem.text,
        }
    }

    #[test]
    fn the_words_of_people_are_understood() {
        for word in ["approve", "Approved", "yes", " y "] {
            assert_eq!(told(QuestionKind::Review, word, None), r#""approve""#, "{word}");
        }
        for word in ["deny", "denied", "NO", "n"] {
            assert_eq!(told(QuestionKind::Review, word, None), r#"{"deny":{}}"#, "{word}");
        }
        assert_eq!(told(QuestionKind::Review, "edit", Some(json!("P2"))), r#"{"edit":{"value":"P2"}}"#);
        assert_eq!(told(QuestionKind::Approval, "LATER", None), r#"{"value":{"value":"later"}}"#);
        assert_eq!(told(QuestionKind::Question, "", Some(json!(3))), r#"{"value":{"value":3}}"#);
    }

    #[test]
    fn what_is_no_decision_says_what_is_one() {
        let said = told(QuestionKind::Review, "maybe", None);
        assert_eq!(
            said,
            "`maybe` is not a decision; `decision` takes: approve, deny, edit, later; the gate still waits"
        );
        assert!(told(QuestionKind::Review, "edit", None).starts_with("`edit` needs a `value`"));
        assert!(told(QuestionKind::Review, "edit", Some(json!("  "))).starts_with("`edit` needs a `value`"));
        assert!(told(QuestionKind::Question, "", None).starts_with("what is the answer?"));
    }
}
