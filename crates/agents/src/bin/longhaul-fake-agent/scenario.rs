//! Reads the scenario in `FAKE_AGENT`.

/// One act.
#[derive(Debug)]
pub(crate) enum Act {
    Tool(String),
    Deny(String),
    Noise,
    Broken,
    Huge(usize),
    Orphan,
    Env(String),
    Text(String),
    Json(String),
    Echo,
    Turns,
    Empty,
    Ask(String),
    Fail(Failure),
    Hang,
    Stubborn,
    Crash,
}

/// The error of the service behind the model.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Failure {
    RateLimit,
    UsageLimit,
    Overload,
    Overflow,
    BadKey,
    NoModel,
    ServerError,
}

/// The acts of the scenario; without one, the agent says hello.
pub(crate) fn read() -> Vec<Act> {
    let text = std::env::var("FAKE_AGENT").unwrap_or_else(|_| "text hello".to_owned());
    text.split(';').map(|act| read_act(act.trim())).collect()
}

fn read_act(act: &str) -> Act {
    let (word, rest) = act.split_once(' ').unwrap_or((act, ""));
    let rest = rest.to_owned();
    match word {
        "tool" => Act::Tool(rest),
        "deny" => Act::Deny(rest),
        "noise" => Act::Noise,
        "broken" => Act::Broken,
        "huge" => Act::Huge(rest.parse().unwrap_or(1)),
        "orphan" => Act::Orphan,
        "env" => Act::Env(rest),
        "json" => Act::Json(rest),
        "echo" => Act::Echo,
        "turns" => Act::Turns,
        "empty" => Act::Empty,
        "ask" => Act::Ask(rest),
        "rate-limit" => Act::Fail(Failure::RateLimit),
        "usage-limit" => Act::Fail(Failure::UsageLimit),
        "overload" => Act::Fail(Failure::Overload),
        "overflow" => Act::Fail(Failure::Overflow),
        "bad-key" => Act::Fail(Failure::BadKey),
        "no-model" => Act::Fail(Failure::NoModel),
        "server-error" => Act::Fail(Failure::ServerError),
        "hang" => Act::Hang,
        "stubborn" => Act::Stubborn,
        "crash" => Act::Crash,
        _ => Act::Text(rest),
    }
}
