//! `command`: a program of the project. Also the parts that all channels with programs share.

use std::ffi::OsString;

use longhaul_agents::process::{self, Command, Files, Mark, ProcessEnd};
use longhaul_core::event::Failure;
use longhaul_core::plan::ErrorClass;

use super::{Notice, invalid};

pub(super) async fn command(notice: &Notice<'_>, command: &[String]) -> Result<(), Failure> {
    let (program, args) = command.split_first().ok_or_else(|| invalid("the command is empty"))?;
    let call = Call {
        program: program.into(),
        args: args.iter().map(OsString::from).collect(),
        stdin: notice.text.clone().into_bytes(),
    };
    call.make(notice).await
}

/// A program, with its arguments and input.
pub(super) struct Call {
    pub(super) program: OsString,
    pub(super) args: Vec<OsString>,
    pub(super) stdin: Vec<u8>,
}

impl Call {
    /// Runs the program. Every exit code but 0 is a failure.
    pub(super) async fn make(self, notice: &Notice<'_>) -> Result<(), Failure> {
        let failed = |message: String| Failure::new(ErrorClass::Failed, message);
        let files = Files { stdout: notice.folder.join("stdout"), stderr: notice.folder.join("stderr") };
        let engine = notice.shared.worker.as_str().to_owned();
        let mark = Mark { engine, attempt: format!("{}/{}", notice.run, notice.step) };
        let name = self.program.to_string_lossy().into_owned();
        let mut command = Command::new(self.program, files, mark);
        command.args = self.args;
        command.stdin = self.stdin;
        command.cwd = Some(notice.shared.options.workspace.clone());
        command.env.extend(variables(notice));
        if let Some(about) = notice.about {
            command.env.push(("LONGHAUL_NOTIFICATION".into(), about.id.replace('\0', "").into()));
        }
        command.secrets = notice.shared.secrets.known().clone();
        // A notification does not wait: without a guard, the sweep cleans up.
        let _guarded = notice.shared.guarded().await;
        let output = process::run(command, notice.cancel.clone(), |_| {}).await;
        match output.map_err(|error| failed(error.to_string()))?.ended {
            ProcessEnd::Exited(0) => Ok(()),
            ProcessEnd::Exited(code) => Err(failed(format!("`{name}` ended with exit code {code}"))),
            ProcessEnd::Signalled(signal) => Err(failed(format!("`{name}` was ended by signal {signal}"))),
            ProcessEnd::TimedOut | ProcessEnd::Cancelled => Err(failed("stopped".to_owned())),
        }
    }
}

fn variables(notice: &Notice<'_>) -> [(OsString, OsString); 3] {
    // No variable can hold a NUL.
    let title = notice.title.as_deref().unwrap_or_default().replace('\0', "");
    [
        ("LONGHAUL_TITLE".into(), title.into()),
        ("LONGHAUL_RUN".into(), notice.run.as_str().into()),
        ("LONGHAUL_STEP".into(), notice.step.to_string().into()),
    ]
}
