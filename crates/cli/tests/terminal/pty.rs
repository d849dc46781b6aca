//! Runs the command at a terminal of the test.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use crate::binary::command;
use crate::terminal::screen::Screen;

/// After this time a test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command at a terminal.
pub(crate) struct Session {
    child: Child,
    master: File,
    /// Kept open, so that the test can read its mode.
    terminal: OwnedFd,
    printed: Receiver<Vec<u8>>,
    raw: Vec<u8>,
    size: (u16, u16),
}

impl Session {
    pub(crate) fn start(folder: &Path, args: &[&str], columns: u16, rows: u16, env: &[(&str, &str)]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let open = || File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        tcsetwinsize(&master, window(columns, rows)).unwrap();
        let mut command = command(folder, args);
        command.env_remove("NO_COLOR").envs(env.iter().copied());
        command.stdin(Stdio::from(open())).stdout(Stdio::from(open())).stderr(Stdio::from(open()));
        let terminal = OwnedFd::from(open());
        let child = command.spawn().unwrap();
        let (sender, printed) = channel();
        let mut reader = File::from(master.try_clone().unwrap());
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read) = reader.read(&mut bytes) {
                if read == 0 || sender.send(bytes[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { child, master: File::from(master), terminal, printed, raw: Vec::new(), size: (columns, rows) }
    }

    /// Waits until the screen shows a text.
    pub(crate) fn until(&mut self, text: &str) {
        let end = Instant::now() + PATIENCE;
        while !self.screen().contains(text) {
            let left = end.saturating_duration_since(Instant::now());
            let more = self.printed.recv_timeout(left);
            let more = more.unwrap_or_else(|_| panic!("`{text}` never came:\n{}", self.screen()));
            self.raw.extend(more);
        }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    /// Changes the size of the terminal; earlier output is not read again.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        tcsetwinsize(&self.master, window(columns, rows)).unwrap();
        self.size = (columns, rows);
        self.raw.clear();
    }

    pub(crate) fn terminate(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    }

    /// Waits for the end, and reads the remaining output.
    pub(crate) fn wait(&mut self) -> i32 {
        let status = self.child.wait().unwrap();
        while let Ok(more) = self.printed.recv_timeout(Duration::from_millis(300)) {
            self.raw.extend(more);
        }
        status.code().unwrap()
    }

    pub(crate) fn screen(&self) -> String {
        let mut screen = Screen::new(usize::from(self.size.0), usize::from(self.size.1));
        screen.take(&self.raw());
        screen.text()
    }

    pub(crate) fn raw(&self) -> String {
        String::from_utf8_lossy(&self.raw).into_owned()
    }

    /// Asserts that the terminal echoes and edits lines, as before.
    pub(crate) fn is_as_before(&self) {
        let mode = tcgetattr(&self.terminal).unwrap().local_modes;
        assert!(mode.contains(LocalModes::ICANON | LocalModes::ECHO), "{mode:?}");
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn window(columns: u16, rows: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}
