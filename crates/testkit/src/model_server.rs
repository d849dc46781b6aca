//! A model endpoint on loopback that answers from a script, for tests of real agents.
//!
//! It speaks what the agents speak, streaming or not: Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and
//! Gemini's generateContent. There is no model behind it, so the same script gives the same client the same answers.
//!
//! ```text
//! # one step a line; each request takes the next step of the first section that it fits
//! text Hello.
//! run echo hi > out.txt        the shell tool of this client, whatever it calls it
//! 2x overloaded
//! text The tool said: {{tool_result}}
//!
//! on lane limits               requests to http://127.0.0.1:PORT/lane/limits/…
//!   always usage-limit kind=window reset=+3600
//! ```
//!
//! **Sections.** `on CONDITION [and CONDITION]…`; steps before any of them come last and take what is left. Conditions, each also with `not`
//! before it: `any`, `lane NAME`, `api anthropic|responses|chat|gemini`, `model NAME` (`*` ends a beginning),
//! `prompt TEXT` (in the last message of the user), `history TEXT` (in any), `result TEXT` (of the last tool),
//! `system TEXT`, `key TEXT`, `side`, `compact`.
//!
//! **Answers.** `text WORDS`, `think WORDS`, `run COMMAND`, `write PATH TEXT`, `tool NAME k=v k:=json`, `raw-tool NAME TEXT`,
//! `structured k=v k:=json` (through the client's tool for it, otherwise as text), `echo`, `max-tokens WORDS`,
//! `refuse WORDS`, `empty`; `+ ANSWER` joins one to the answer before. In texts, `{{prompt}}`, `{{tool_result}}`, `{{n}}`
//! (which request of its lane), `{{lane}}` and `{{cwd}}` are filled in.
//!
//! **Failures**, in the shape of the API that was asked: `rate-limit`, `overloaded`, `server-error`, `context-overflow`,
//! `usage-limit kind=window|spend|quota`, `billing`, `auth`, `forbidden`, `no-model`, `bad-request`, each with `status=N`,
//! `retry-after=SECONDS`, `reset=EPOCH` or `reset=+SECONDS`, and `message=WORDS` to the end of the line; `stream-error FAILURE` tells it
//! after the stream has begun. Not even an error: `hang [SECONDS]`, `stall [SECONDS]` (after the first bytes), `cut`,
//! `drop`, `malformed`, `garbage`.
//!
//! **Around steps.** `3x STEP`, `always STEP`; `delay SECONDS` and `usage in=N out=N cached=N` hold for the rest of the section; `STEP <<END` takes
//! the lines up to `END` as its text.
//!
//! What agents ask on their own account (titles, routing, probes of a quota) is recognised and answered without taking
//! a step, unless a section is `on side`. A section that is used up answers 400, so that nobody tries again. The
//! log of requests is there for tests ([`ModelServer::log`]) and for other processes (`GET /_log`); `POST /_script`
//! begins again with another script.
//!
//! **Invariant:** only 127.0.0.1 is listened on; a request takes at most one step, and every request is in the log.

mod answer;
mod api;
mod body;
mod desk;
mod failure;
mod log;
mod play;
mod reading;
mod request;
mod script;
mod serve;
mod side;
mod tools;
mod wire;
mod words;

pub use log::{Entry, Outcome};
pub use script::{Error, Script};
pub use serve::{ModelServer, serve};
