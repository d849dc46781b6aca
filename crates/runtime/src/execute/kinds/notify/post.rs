//! `webhook` and `slack`: post a message as JSON.

use longhaul_core::Json;
use longhaul_core::event::Failure;
use longhaul_core::notification::Outgoing;
use serde_json::json;

use super::{Notice, invalid};
use crate::execute::kinds::http::{self, follow};
use longhaul_config::SecretSetting;

pub(super) async fn webhook(notice: &Notice<'_>, url: &SecretSetting) -> Result<(), Failure> {
    let body = json!({"run": notice.run, "step": notice.step, "title": notice.title, "text": notice.text});
    let body = notice.about.map_or(body, |about| about_body(notice, about));
    post(notice, url, &body).await
}

pub(super) async fn slack(notice: &Notice<'_>, url: &SecretSetting) -> Result<(), Failure> {
    let title = notice.title.as_ref().map(|title| format!("*{}*\n", plain(title))).unwrap_or_default();
    post(notice, url, &json!({"text": format!("{title}{}", plain(&notice.text))})).await
}

/// The body of a notification about runs.
fn about_body(notice: &Notice<'_>, about: &Outgoing) -> Json {
    json!({
        "id": about.id, "kind": about.kind, "run": about.run, "step": about.step, "title": notice.title,
        "text": notice.text, "command": about.command, "link": about.link,
    })
}

/// Escapes Slack's three special characters. So the text is shown as it is, and mentions no user.
fn plain(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Posts the message. The address is a secret, so no error contains it.
async fn post(notice: &Notice<'_>, url: &SecretSetting, body: &Json) -> Result<(), Failure> {
    let url = url.value().map_err(invalid)?;
    let mut request = http::CLIENT.post(url).json(body);
    if let Some(about) = notice.about {
        request = request.header("Idempotency-Key", &about.id);
    }
    let request = request.build();
    let request = request.map_err(|error| invalid(format!("the address is wrong: {}", follow::reason(error))))?;
    let status = follow::send(request, notice.shared.secrets.known(), |_| {}).await?.status();
    match status.is_success() {
        true => Ok(()),
        false => Err(Failure::new(http::class(status), format!("the server answered {status}"))),
    }
}
