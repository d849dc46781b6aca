//! Tests what every driver promises, with one test per promise and driver: the same clauses for all, against a stand-in
//! that prints the program's own stream, from finding the program to the meaning of its end.
mod answers;
mod bench;
mod failures;
mod lives;
mod outputs;
mod permissions;
mod sessions;

/// A test for each clause.
macro_rules! clauses {
    ($agent:ident; $($topic:ident: $($clause:ident),*;)*) => {
        $($(
            #[tokio::test]
            async fn $clause() {
                crate::conformance::$topic::$clause(&crate::conformance::bench::Bench::new(stringify!($agent))).await;
            }
        )*)*
    };
}

/// All clauses for a driver, in a module of its name.
macro_rules! conformance {
    ($agent:ident) => {
        mod $agent {
            clauses! {
                $agent;
                answers:
                    a_text_is_the_answer, the_prompt_arrives_as_it_is, a_persona_and_a_long_prompt_arrive, a_schema_is_met,
                    an_empty_answer_is_no_success, a_question_is_not_an_answer, the_answer_is_what_comes_after_the_tools;
                sessions:
                    a_session_is_told_before_anything_else, a_session_is_continued, a_resumed_turn_counts_only_itself,
                    a_session_that_is_not_there_is_a_failure, a_session_is_known_when_the_program_dies;
                permissions:
                    a_tool_that_was_not_allowed_is_told, every_permission_makes_a_command_line_that_is_understood,
                    no_variable_reaches_it_that_nobody_named;
                failures:
                    a_rate_limit, a_usage_limit, an_overload, an_overflow, a_bad_key, an_unknown_model, a_server_error;
                outputs:
                    a_huge_output_is_read, broken_text_is_read, lines_that_are_no_events_are_read;
                lives:
                    one_that_hangs_is_ended_in_time, one_that_is_cancelled_ends, one_that_will_not_go_is_made_to,
                    an_orphan_is_ended, one_that_dies_is_not_a_success;
            }
        }
    };
}

conformance!(claude);
conformance!(codex);
conformance!(copilot);
conformance!(gemini);
conformance!(opencode);
