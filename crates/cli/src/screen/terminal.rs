//! The terminal: whether there is one that can be drawn on, its size, and its mode.
//!
//! **Invariant:** whoever changed the mode puts it back: when it is dropped, when the process panics, and before it exits on a second signal.
//! Signals stay what they are: Ctrl-C is no key.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::keys::{Decoder, Key};

/// How long to wait for the rest of a sequence of bytes, and how soon a reader notices that it is not wanted any more.
const PATIENCE: Duration = Duration::from_millis(50);
const HIDE_CURSOR: &str = "\x1b[?25l";
const SHOW_CURSOR: &str = "\x1b[?25h";

/// The mode before ours, while ours is set.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);
static HOOK: Once = Once::new();

/// Whether frames can be drawn: somebody looks, the terminal understands, and colours were not refused.
pub(crate) fn can_draw() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var("TERM").is_ok_and(|term| term == "dumb");
    std::io::stdout().is_terminal() && !dumb && !set("NO_COLOR")
}

/// Columns and rows.
pub(crate) fn size() -> (usize, usize) {
    let told = rustix::termios::tcgetwinsize(std::io::stdout()).ok();
    let told = told.map(|size| (usize::from(size.ws_col), usize::from(size.ws_row)));
    told.filter(|(columns, rows)| *columns > 0 && *rows > 0).unwrap_or((80, 24))
}

/// A terminal whose keys come one by one and unseen, and whose cursor is hidden.
#[derive(Debug)]
pub(crate) struct Terminal {
    wanted: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
}

impl Terminal {
    /// Takes the terminal. Without a keyboard there are no keys, and the rest is the same.
    pub(crate) fn take() -> (Self, UnboundedReceiver<Key>) {
        HOOK.call_once(|| {
            let usual = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                restore();
                usual(panic);
            }));
        });
        let (sender, receiver) = unbounded_channel();
        let wanted = Arc::new(AtomicBool::new(true));
        change();
        let heard = Arc::clone(&wanted);
        let listen = move || read(&sender, &heard);
        // Without a thread nobody hears the keys; what is shown is as good.
        let start = || std::thread::Builder::new().spawn(listen).ok();
        let reader = std::io::stdin().is_terminal().then(start).flatten();
        (Self { wanted, reader }, receiver)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.wanted.store(false, Ordering::SeqCst);
        // Whoever takes the terminal next must not share its keys with this one. It ends within its patience.
        self.reader.take().map(JoinHandle::join);
        restore();
    }
}

fn before() -> std::sync::MutexGuard<'static, Option<Termios>> {
    BEFORE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn change() {
    let mut before = before();
    if before.is_none()
        && let Ok(mode) = tcgetattr(std::io::stdin())
    {
        let mut ours = mode.clone();
        ours.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        // What cannot be changed still shows the run; keys then come by the line.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &ours);
        *before = Some(mode);
    }
    write(HIDE_CURSOR);
}

/// Puts the mode back that was there before ours; does nothing if ours is not set.
pub(crate) fn restore() {
    if let Some(mode) = before().take() {
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &mode);
        write(SHOW_CURSOR);
    }
}

/// Writes to the terminal, all at once.
pub(crate) fn write(text: &str) {
    let mut out = std::io::stdout().lock();
    // Nobody who looks is no reason to stop a run.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Sends keys until nobody wants them.
fn read(keys: &UnboundedSender<Key>, wanted: &AtomicBool) {
    let mut decoder = Decoder::default();
    let mut bytes = [0; 256];
    while wanted.load(Ordering::SeqCst) && !keys.is_closed() {
        let typed = waits();
        if !wanted.load(Ordering::SeqCst) {
            return;
        }
        let pressed = match typed {
            // Not through the buffer of the library: `waits` could not see what is in it.
            true => match rustix::io::read(std::io::stdin(), &mut bytes) {
                Ok(0) | Err(_) => return,
                Ok(read) => decoder.keys(&bytes[..read]),
            },
            false => decoder.settle().into_iter().collect(),
        };
        // Nobody who wants them ends the loop above.
        pressed.into_iter().for_each(|key| _ = keys.send(key));
    }
}

/// Whether something was typed.
fn waits() -> bool {
    let stdin = std::io::stdin();
    let pause = Timespec { tv_sec: 0, tv_nsec: i64::from(PATIENCE.subsec_nanos()) };
    let mut of = [PollFd::new(&stdin, PollFlags::IN)];
    poll(&mut of, Some(&pause)).is_ok_and(|ready| ready > 0)
}
