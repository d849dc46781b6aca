//! Asks for, reads and compares versions of programs.

use std::fmt;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use super::surroundings::Surroundings;
use crate::machine;

/// How long to wait for the answer: a program that unpacks itself on its first start takes some seconds.
const PATIENCE: Duration = Duration::from_secs(30);
/// The most bytes of the answer.
const ANSWER_BYTES_MAX: u64 = 4096;
/// The variables that a program needs to print its version; no keys.
const NEEDED: [&str; 5] = ["PATH", "HOME", "LANG", "TMPDIR", "XDG_CACHE_HOME"];

/// A version of three numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(pub(super) u32, pub(super) u32, pub(super) u32);

impl Version {
    /// The first text that looks like a version.
    pub(super) fn find(text: &str) -> Option<Self> {
        text.split(|c: char| !c.is_ascii_digit() && c != '.').find_map(Self::read)
    }

    fn read(word: &str) -> Option<Self> {
        let mut numbers = word.trim_matches('.').split('.').map(str::parse);
        match (numbers.next()?, numbers.next()?, numbers.next()?) {
            (Ok(major), Ok(minor), Ok(patch)) => Some(Self(major, minor, patch)),
            _ => None,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// The answer of a program to `--version`, or why there is none.
pub(super) fn ask(program: &Path, around: &Surroundings<'_>) -> Result<String, String> {
    let mut child = machine::patiently_here(|| start(program, around)).map_err(|error| error.to_string())?;
    let answer = hear(&mut child);
    // Errors do not matter: the program may have ended already.
    let _ = child.kill();
    let _ = child.wait();
    answer
}

/// Starts it outside the folder of a run, whose files must not influence it.
fn start(program: &Path, around: &Surroundings<'_>) -> io::Result<Child> {
    let mut command = Command::new(program);
    command.arg("--version").current_dir("/").env_clear();
    for name in NEEDED {
        command.envs(around.variable(name).map(|value| (name, value)));
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
}

fn hear(child: &mut Child) -> Result<String, String> {
    let Some(stdout) = child.stdout.take() else {
        return Err("it has no output".to_owned());
    };
    let (sender, receiver) = mpsc::channel();
    let listen = move || {
        let mut heard = Vec::new();
        let read = stdout.take(ANSWER_BYTES_MAX).read_to_end(&mut heard);
        // After a timeout the receiver is gone.
        let _ = sender.send(read.map(|_| String::from_utf8_lossy(&heard).into_owned()));
    };
    std::thread::Builder::new().spawn(listen).map_err(|error| error.to_string())?;
    match receiver.recv_timeout(PATIENCE) {
        Ok(Ok(said)) => Ok(said),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("no answer to `--version` in {} s", PATIENCE.as_secs())),
    }
}
