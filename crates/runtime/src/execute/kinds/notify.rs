//! `notify`: sends a message to people. Each channel has its own file.
//!
//! **Invariant:** a step tries all of its channels, even if some fail. The message is only data for a channel: no
//! quote, line break or dash in it becomes a header, an argument or an address.

pub(crate) mod desktop;
mod email;
mod post;
mod program;

use std::path::PathBuf;
use std::time::Duration;

use longhaul_core::event::Failure;
use longhaul_core::id::RunId;
use longhaul_core::notification::Outgoing;
use longhaul_core::path::StepPath;
use longhaul_core::plan::ErrorClass;
use longhaul_core::{Json, eval};
use serde_json::{Map, json};
use tokio_util::sync::CancellationToken;

use super::{Attempt, Done};
use crate::engine::{EngineEvent, Shared};
use longhaul_config::Channel;

/// The default time limit of one channel.
const USUAL: Duration = Duration::from_secs(60);

/// A message, with the data that channels need.
pub(crate) struct Notice<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) run: &'a RunId,
    pub(crate) step: StepPath,
    pub(crate) title: Option<String>,
    pub(crate) text: String,
    /// The recipient, if the step names one.
    pub(crate) to: Option<String>,
    /// The folder for files of programs.
    pub(crate) folder: PathBuf,
    pub(crate) timeout: Option<Duration>,
    pub(crate) cancel: CancellationToken,
    /// The notification that it brings, if it is one.
    pub(crate) about: Option<&'a Outgoing>,
}

pub(super) async fn make(attempt: &Attempt) -> Done {
    let owned = |name: &str| attempt.text(name).map(str::to_owned);
    let notice = Notice {
        shared: &attempt.shared,
        run: &attempt.run,
        step: attempt.start.path.clone(),
        title: owned("title"),
        text: owned("text").unwrap_or_default(),
        to: owned("to"),
        folder: attempt.place(),
        timeout: attempt.timeout(Some(USUAL)),
        cancel: attempt.cancel.clone(),
        about: None,
    };
    let channels = names(attempt.param("channels"));
    match notice.tell(&channels).await {
        Ok(()) => Done::with(json!({"told": channels})),
        Err(failure) => Done { failure: Some(failure), ..Done::default() },
    }
}

/// The names of the channels in a parameter.
fn names(param: Option<&Json>) -> Vec<String> {
    let items = param.and_then(Json::as_array).into_iter().flatten();
    items.filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

impl<'a> Notice<'a> {
    /// The message about a failed run. Without a text, it says that the run failed and why.
    pub(crate) fn of_failure(
        shared: &'a Shared,
        run: &'a RunId,
        params: &Map<String, Json>,
        why: &str,
    ) -> Result<(Self, Vec<String>), eval::EvalProblem> {
        let owned = |name: &str| params.get(name).and_then(Json::as_str).map(str::to_owned);
        let step = "on_failure".parse().map_err(|_| eval::EvalProblem("`on_failure` is no path".to_owned()))?;
        let notice = Self {
            title: owned("title").or_else(|| Some(format!("Run {run} failed"))),
            text: owned("text").unwrap_or_else(|| why.to_owned()),
            to: owned("to"),
            folder: shared.artifacts.run(run).join("on_failure"),
            timeout: Some(USUAL),
            cancel: CancellationToken::new(),
            about: None,
            shared,
            run,
            step,
        };
        Ok((notice, names(params.get("channels"))))
    }

    /// Sends the message to all channels. The failure names those that failed.
    pub(crate) async fn tell(&self, channels: &[String]) -> Result<(), Failure> {
        let mut failed: Vec<Failure> = Vec::new();
        for name in channels {
            if let Err(mut failure) = self.send(name).await {
                failure.message = format!("the channel `{name}` failed: {}", failure.message);
                failed.push(failure);
            }
        }
        let messages: Vec<&str> = failed.iter().map(|failure| failure.message.as_str()).collect();
        let message = messages.join("; ");
        // A retry helps only if it may help every channel that failed.
        let hopeless = failed.iter().map(|failure| failure.class).find(|class| !passing(*class));
        match hopeless.or_else(|| failed.first().map(|failure| failure.class)) {
            Some(class) => Err(Failure::new(class, message)),
            None => Ok(()),
        }
    }

    /// Sends the message to one channel, in time.
    pub(crate) async fn send(&self, name: &str) -> Result<(), Failure> {
        let late = async {
            match self.timeout {
                Some(timeout) => tokio::time::sleep(timeout).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            told = self.through(name) => told,
            () = late => Err(Failure::new(ErrorClass::Timeout, "it took too long")),
            () = self.cancel.cancelled() => Err(Failure::new(ErrorClass::Failed, "stopped")),
        }
    }

    async fn through(&self, name: &str) -> Result<(), Failure> {
        match (self.shared.options.channels.get(name), name) {
            (Some(Channel::Webhook { url }), _) => post::webhook(self, url).await,
            (Some(Channel::Slack { url }), _) => post::slack(self, url).await,
            (Some(Channel::Email { to, from, by }), _) => email::send(self, to, from, by).await,
            (Some(Channel::Command { command }), _) => program::command(self, command).await,
            (None, "owner" | "terminal" | "orchestrator") => {
                self.say();
                Ok(())
            }
            (None, "desktop") => desktop::show(self).await,
            (None, _) => Err(unconfigured(name)),
        }
    }

    /// Shows the message where the engine runs.
    fn say(&self) {
        let title = self.title.as_ref().map(|title| format!("{title}: ")).unwrap_or_default();
        say(self.shared, self.run, &self.step, &format!("{title}{}", self.text));
    }

    /// The title, or one made from the run.
    fn headline(&self) -> String {
        self.title.clone().unwrap_or_else(|| format!("Longhaul: {} of {}", self.step, self.run))
    }
}

/// Shows a message about a run where the engine runs.
pub(crate) fn say(shared: &Shared, run: &RunId, step: &StepPath, text: &str) {
    let text = shared.secrets.redact(text.to_owned());
    // No watcher is fine.
    let _ = shared.pulse.send(EngineEvent::Notice(run.clone(), step.clone(), text.into()));
}

/// Whether a retry may help.
fn passing(class: ErrorClass) -> bool {
    matches!(class, ErrorClass::Transient | ErrorClass::RateLimit | ErrorClass::Timeout)
}

fn unconfigured(name: &str) -> Failure {
    let message = format!("nothing is configured; add `[channels.{name}]` to `.longhaul/config.toml`");
    Failure::unusable(ErrorClass::Invalid, message)
}

fn invalid(message: impl Into<String>) -> Failure {
    Failure::unusable(ErrorClass::Invalid, message)
}
