//! `desktop`: a notification on the screen, with `notify-send`.

use std::ffi::OsStr;
use std::path::PathBuf;

use longhaul_core::event::Failure;

use super::program::Call;
use super::{Notice, invalid};

const PROGRAM: &str = "notify-send";

pub(super) async fn show(notice: &Notice<'_>) -> Result<(), Failure> {
    let program = found(std::env::var_os("PATH").as_deref())
        .ok_or_else(|| invalid("`notify-send` is not installed on this machine"))?;
    call(program, notice).make(notice).await
}

fn call(program: PathBuf, notice: &Notice<'_>) -> Call {
    let text = |text: &str| text.replace('\0', "").into();
    // After `--` a text may begin with a dash.
    let args = vec!["--".into(), text(&notice.headline()), text(&notice.text)];
    Call { program: program.into(), args, stdin: Vec::new() }
}

fn found(path: Option<&OsStr>) -> Option<PathBuf> {
    std::env::split_paths(path?).map(|folder| folder.join(PROGRAM)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_looked_for_in_every_folder_of_the_path() {
        let (empty, full) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let path = std::env::join_paths([empty.path(), full.path()]).unwrap();
        assert_eq!(found(Some(&path)), None);
        std::fs::write(full.path().join(PROGRAM), "").unwrap();
        assert_eq!(found(Some(&path)), Some(full.path().join(PROGRAM)));
        assert_eq!(found(None), None);
    }
}
