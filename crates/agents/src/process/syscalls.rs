//! The two calls that the compiler cannot check, each behind a safe function.
#![expect(unsafe_code, reason = "std has no stable setsid, and tokio cannot see that an OwnedFd stays open")]

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::machine;

/// Makes the child call `setsid` before it becomes the program, and restores our original limit on open files.
///
/// In its own session the child has no terminal: nothing in it can ask for a password there, and the terminal cannot
/// stop it. Its session also distinguishes its leftovers from the engine's own children.
pub(crate) fn own_session(command: &mut Command) {
    // SAFETY: the closure runs in a forked child of a process with threads. It makes three system calls and reads a value that
    // was set long ago; it neither allocates nor takes a lock.
    unsafe {
        command.pre_exec(|| {
            machine::give_back_file_limit();
            Ok(rustix::process::setsid().map(drop)?)
        });
    }
}

/// A handle to wait on until a descriptor is readable.
pub(crate) fn readable(fd: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an `OwnedFd` is open and the same until it is dropped, and the `AsyncFd` owns it.
    Ok(unsafe { AsyncFd::register_with_interest(fd, Interest::READABLE) }?)
}
