//! `desktop`: a notification on the screen, with `notify-send`, or `osascript` on macOS.
//!
//! Both get the texts as arguments. `notify-send` reads markup in the text, so it is escaped.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use longhaul_core::event::Failure;

use super::program::Call;
use super::{Notice, invalid};

const PROGRAM: &str = if cfg!(target_os = "macos") { "osascript" } else { "notify-send" };
/// The script gets the texts as its arguments, so they are never read as a script.
const SCRIPT: [&str; 3] =
    ["on run texts", "display notification (item 2 of texts) with title (item 1 of texts)", "end run"];

pub(super) async fn show(notice: &Notice<'_>) -> Result<(), Failure> {
    let program = found(std::env::var_os("PATH").as_deref())
        .ok_or_else(|| invalid(format!("`{PROGRAM}` is not installed on this machine")))?;
    let args = arguments(&notice.headline(), &notice.text, cfg!(target_os = "macos"));
    Call { program: program.into(), args, stdin: Vec::new() }.make(notice).await
}

/// Whether this process can show notifications on a screen.
pub fn has_desktop() -> bool {
    let bus = std::env::var_os("XDG_RUNTIME_DIR").map(|folder| PathBuf::from(folder).join("bus"));
    let has_bus = std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some() || bus.is_some_and(|bus| bus.exists());
    (cfg!(target_os = "macos") || has_bus) && found(std::env::var_os("PATH").as_deref()).is_some()
}

fn arguments(title: &str, text: &str, is_mac: bool) -> Vec<OsString> {
    let plain = |text: &str| OsString::from(text.replace('\0', ""));
    if is_mac {
        let script = SCRIPT.iter().flat_map(|line| ["-e".into(), OsString::from(line)]);
        return script.chain(["--".into(), plain(title), plain(text)]).collect();
    }
    // After `--` a text may begin with a dash.
    vec!["--".into(), plain(title), plain(&escaped(text))]
}

/// The text without markup: the body of a notification may be read as HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
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

    #[test]
    fn texts_are_arguments_and_no_markup() {
        let hostile = "\" & (do shell script \"x\") <b>-e\0";
        let linux = arguments("-t", hostile, false);
        assert_eq!(linux, ["--", "-t", "\" &amp; (do shell script \"x\") &lt;b&gt;-e"]);
        let mac = arguments("t", hostile, true);
        assert_eq!(mac[6..], ["--", "t", "\" & (do shell script \"x\") <b>-e"]);
        assert!(mac[..6].iter().all(|arg| *arg == *"-e" || SCRIPT.iter().any(|line| *arg == **line)));
    }
}
