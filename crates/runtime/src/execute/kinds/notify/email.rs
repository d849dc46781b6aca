//! `email`: a message by e-mail, with sendmail or directly to a server.

mod letter;
mod smtp;
mod tls;

use longhaul_core::event::Failure;

use super::program::Call;
use super::{Notice, invalid};
use letter::Letter;
use longhaul_config::MailCarrier;

pub(super) async fn send(notice: &Notice<'_>, to: &[String], from: &str, by: &MailCarrier) -> Result<(), Failure> {
    // A recipient in the step replaces those in the configuration.
    let named = notice.to.as_ref().map(|to| to.split(',').map(|to| to.trim().to_owned()).collect::<Vec<_>>());
    let letter = Letter {
        from: from.to_owned(),
        to: named.unwrap_or_else(|| to.to_vec()),
        subject: notice.headline(),
        text: notice.text.clone(),
        at_ms: notice.shared.clock.now_ms(),
        id: notice.about.map(|about| about.id.clone()),
    };
    let text = letter.text().map_err(invalid)?;
    match by {
        MailCarrier::Smtp(server) => smtp::send(server, &letter, &text).await,
        MailCarrier::Sendmail(program) => {
            let mut args = vec!["-i".into(), "-f".into(), letter.from.clone().into()];
            args.extend(letter.to.iter().map(Into::into));
            // sendmail expects the system's line endings.
            let stdin = text.replace("\r\n", "\n").into_bytes();
            Call { program: program.into(), args, stdin }.make(notice).await
        }
    }
}
