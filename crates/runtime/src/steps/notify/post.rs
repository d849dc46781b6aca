//! `webhook` and `slack`: a notice as JSON, posted.

use longhaul_core::Json;
use longhaul_core::event::Failure;
use longhaul_core::plan::ErrorClass;
use serde_json::json;

use super::{Notice, invalid};
use crate::channels::Setting;
use crate::steps::http;

pub(super) async fn webhook(notice: &Notice<'_>, url: &Setting) -> Result<(), Failure> {
    let body = json!({"run": notice.run, "step": notice.step, "title": notice.title, "text": notice.text});
    post(url, &body).await
}

pub(super) async fn slack(notice: &Notice<'_>, url: &Setting) -> Result<(), Failure> {
    let title = notice.title.as_ref().map(|title| format!("*{}*\n", plain(title))).unwrap_or_default();
    post(url, &json!({"text": format!("{title}{}", plain(&notice.text))})).await
}

/// Slack's three characters: what is written is shown, and calls nobody.
fn plain(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The address is a secret: no message holds it.
async fn post(url: &Setting, body: &Json) -> Result<(), Failure> {
    let url = url.value().map_err(invalid)?;
    let sent = http::CLIENT.post(url).json(body).send().await;
    let status = sent.map_err(|error| {
        let class = if error.is_builder() { ErrorClass::Invalid } else { ErrorClass::Transient };
        Failure::new(class, format!("the request failed: {}", error.without_url()))
    })?;
    let status = status.status();
    match status.is_success() {
        true => Ok(()),
        false => Err(Failure::new(http::class(status), format!("the server answered {status}"))),
    }
}
