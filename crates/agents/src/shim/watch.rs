//! Waits for a change in a folder or for the end of the shim, whichever comes first.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::fs::inotify;
use rustix::io::Errno;
use tokio::io::unix::AsyncFd;

use super::Error;
use super::folder::Folder;
use crate::process::{syscalls, table};

/// How often to check if the system gives no file watch.
const WITHOUT_WATCH: Duration = Duration::from_millis(250);

/// A watched folder and shim. No change after its creation is missed.
#[derive(Debug)]
pub(super) struct Watch {
    changes: Option<AsyncFd<OwnedFd>>,
    /// `None` once it has ended.
    shim: Option<AsyncFd<OwnedFd>>,
}

impl Watch {
    pub(super) fn of(folder: &Folder, shim: &table::Process) -> Result<Self, Error> {
        let changes = watch(folder).ok();
        Ok(Self { changes, shim: Some(end_of(shim)?) })
    }

    /// A watch for a shim that has ended.
    pub(super) fn ended() -> Self {
        Self { changes: None, shim: None }
    }

    pub(super) fn is_ended(&self) -> bool {
        self.shim.is_none()
    }

    /// Waits for the next change; the end of the shim is one.
    pub(super) async fn changed(&mut self) -> Result<(), Error> {
        let Some(shim) = &self.shim else { return Ok(()) };
        let changed = tokio::select! {
            ended = shim.readable() => ended.map(|_| true),
            changed = changed(self.changes.as_ref()) => changed.map(|()| false),
        };
        if changed.map_err(Error::io("watch the folder"))? {
            self.shim = None;
        }
        Ok(())
    }
}

impl Watch {
    /// Waits for a time, or until the shim ends; changes meanwhile count as part of this wait.
    pub(super) async fn settled(&mut self, time: Duration) -> Result<(), Error> {
        let Some(shim) = &self.shim else { return Ok(()) };
        tokio::select! {
            ended = shim.readable() => {
                drop(ended.map_err(Error::io("watch the shim"))?);
                self.shim = None;
            }
            () = tokio::time::sleep(time) => {}
        }
        if let Some(changes) = &self.changes {
            // The result does not matter: the files are read next.
            let _read = rustix::io::read(changes.get_ref(), &mut [0; 4096]);
        }
        Ok(())
    }
}

fn watch(folder: &Folder) -> io::Result<AsyncFd<OwnedFd>> {
    let fd = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC)?;
    let what = inotify::WatchFlags::MODIFY | inotify::WatchFlags::CREATE | inotify::WatchFlags::MOVED_TO;
    inotify::add_watch(&fd, folder.path(), what)?;
    syscalls::readable(fd)
}

async fn changed(changes: Option<&AsyncFd<OwnedFd>>) -> io::Result<()> {
    let Some(changes) = changes else {
        tokio::time::sleep(WITHOUT_WATCH).await;
        return Ok(());
    };
    // The files show what changed.
    let mut events = [0; 4096];
    loop {
        let mut ready = changes.readable().await?;
        if let Ok(read) = ready.try_io(|fd| Ok(rustix::io::read(fd, &mut events)?)) {
            return read.map(drop);
        }
    }
}

/// A handle that becomes readable when the shim ends; at once, if it has ended.
pub(super) fn end_of(shim: &table::Process) -> Result<AsyncFd<OwnedFd>, Error> {
    let handle = match table::handle(shim) {
        Ok(handle) => handle,
        // A pipe without a writer is readable too.
        Err(Errno::SRCH) => io::pipe().map_err(Error::io("make a pipe"))?.0.into(),
        Err(error) => return Err(Error::io("watch the shim")(error.into())),
    };
    syscalls::readable(handle).map_err(Error::io("watch the shim"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn where_nothing_can_be_watched_it_is_looked_at_now_and_then() {
        let own = table::read(std::process::id()).unwrap();
        let mut watch = Watch { changes: None, shim: Some(end_of(&own).unwrap()) };
        watch.changed().await.unwrap();
        assert!(!watch.is_ended());
    }

    #[tokio::test]
    async fn the_end_of_one_that_has_long_ended_is_a_change() {
        let own = table::read(std::process::id()).unwrap();
        let gone = table::Process { start: own.start + 1, ..own };
        let folder = tempfile::tempdir().unwrap();
        let mut watch = Watch::of(&Folder::new(folder.path().to_owned()), &gone).unwrap();
        watch.changed().await.unwrap();
        assert!(watch.is_ended());
    }
}
