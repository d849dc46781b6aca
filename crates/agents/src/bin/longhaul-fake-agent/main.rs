//! Replaces real agent programs in tests: it accepts their command lines, prints their streams, and plays the scenario
//! in `FAKE_AGENT`, which can also harm its own process.
//!
//! The name under which it starts decides which agent it is: a link with the name `claude` is Claude Code. It refuses a
//! flag that the real one does not know, and a session that does not exist, with the real one's words. Sessions are
//! below `HOME`.
//!
//! A scenario is a list of acts, separated by `;`. Acts that play themselves come first, and the last one ends the turn:
//!
//! | act | what comes of it |
//! |---|---|
//! | `tool CMD`, `deny CMD` | a shell tool is used, or was not allowed |
//! | `noise`, `broken`, `huge N` | lines that are no events; bytes that are no text; N megabytes from a tool |
//! | `orphan` | a child in a session of its own that outlives its parents |
//! | `env FILE` | the variables it sees, into a file |
//! | `text T`, `json J`, `echo`, `turns`, `empty` | the answer: T, J held to the schema, the prompt, how many turns the session had, none |
//! | `ask Q` | it ends by asking a person |
//! | `rate-limit`, `usage-limit`, `overload`, `overflow`, `bad-key`, `no-model`, `server-error` | the service refuses |
//! | `hang`, `stubborn`, `crash` | it never ends; nor does it when asked to; it dies in the middle |

mod call;
mod mischief;
mod scenario;
mod session;
mod voice;

use std::io::Read;
use std::process::ExitCode;

use call::Call;
use scenario::Act;
use session::Sessions;
use voice::Voice;

/// The tokens of each turn.
const INPUT_TOKENS: u64 = 1000;
const CACHED_TOKENS: u64 = 200;
const OUTPUT_TOKENS: u64 = 30;

fn main() -> ExitCode {
    let call = match Call::read(std::env::args()) {
        Ok(call) => call,
        Err(refusal) => return complain(&refusal, 2),
    };
    if call.version {
        voice::say(call.agent.version());
        return ExitCode::SUCCESS;
    }
    let mut prompt = String::new();
    if std::io::stdin().read_to_string(&mut prompt).is_err() || prompt.trim().is_empty() {
        return complain("no prompt was given by stdin", 1);
    }
    match Sessions::of(&call).begin(&call) {
        Ok(turns) => play(&call, &call.agent.heard(prompt), turns),
        Err(refusal) => refuse(&call, &refusal),
    }
}

fn play(call: &Call, prompt: &str, turns: u64) -> ExitCode {
    let voice = Voice::new(call, turns);
    voice.begin();
    let mut code = 0;
    for act in scenario::read() {
        code = perform(&act, &voice, prompt);
    }
    ExitCode::from(code)
}

fn perform(act: &Act, voice: &Voice<'_>, prompt: &str) -> u8 {
    match act {
        Act::Tool(command) => voice.tool(command, Ok(&mischief::shell(command))),
        Act::Deny(command) => voice.tool(command, Err("denied")),
        Act::Noise => voice::say("warn: something that is no event"),
        Act::Broken => mischief::broken(),
        Act::Huge(megabytes) => voice.tool("cat huge", Ok(&"x".repeat(megabytes << 20))),
        Act::Orphan => mischief::orphan(),
        Act::Env(file) => mischief::environment(file),
        Act::Text(text) => voice.answer(text),
        Act::Json(json) => voice.structured(json),
        Act::Echo => voice.answer(prompt),
        Act::Turns => voice.answer(&format!("turn {}", voice.turns)),
        Act::Empty => return voice.empty(),
        Act::Ask(question) => voice.ask(question),
        Act::Fail(failure) => return voice.fail(*failure),
        Act::Hang => mischief::hang(),
        Act::Stubborn => mischief::stubborn(),
        Act::Crash => mischief::crash(),
    }
    0
}

/// Refuses a session that does not exist, or exists already: some agents say so in their stream, most on stderr.
fn refuse(call: &Call, refusal: &str) -> ExitCode {
    match Voice::new(call, 0).refuse(refusal) {
        Some(code) => ExitCode::from(code),
        None => complain(refusal, call.agent.refusal_code()),
    }
}

fn complain(words: &str, code: u8) -> ExitCode {
    voice::complain(words);
    ExitCode::from(code)
}
