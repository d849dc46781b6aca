//! The body of an answer: some pieces, then a proper end or a broken one.
//!
//! **Invariant:** an entry of the log is closed once, also if the client disconnects first: dropping the seal closes
//! it.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Bytes, Frame, SizeHint};

use super::log::RequestOutcome;
use super::state::{Desk, Ticket};

/// The connection ends here, without a proper end.
#[derive(Debug)]
pub(super) struct Hangup;

impl std::fmt::Display for Hangup {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the script ends the connection")
    }
}

impl std::error::Error for Hangup {}

/// Closes an entry of the log when it is dropped: the client is gone, unless another outcome was set before.
pub(super) struct Seal {
    desk: Arc<Desk>,
    ticket: Ticket,
    pub(super) status: u16,
    pub(super) outcome: RequestOutcome,
}

impl Seal {
    /// A seal for an open entry.
    pub(super) fn new(desk: Arc<Desk>, ticket: Ticket) -> Self {
        Self { desk, ticket, status: 0, outcome: RequestOutcome::ClientGone }
    }
}

impl Drop for Seal {
    fn drop(&mut self) {
        self.desk.close(self.ticket, self.status, self.outcome);
    }
}

/// A wait.
pub(super) type Held = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A wait of some seconds, or for ever.
pub(super) fn held(seconds: Option<f64>) -> Held {
    match seconds {
        Some(seconds) => Box::pin(tokio::time::sleep(Duration::from_secs_f64(seconds))),
        None => Box::pin(std::future::pending()),
    }
}

/// A wait that is just long enough for the sent bytes to leave: a closed connection would drop them.
pub(super) fn let_leave() -> Held {
    Box::pin(tokio::task::yield_now())
}

/// The end after the last piece.
pub(super) enum End {
    /// The end of an answer.
    Proper(RequestOutcome),
    /// Nothing for a while; then the connection is gone.
    Hangup(Held),
}

/// The body of a response.
pub(super) struct Body {
    pieces: VecDeque<Bytes>,
    end: End,
    /// Whether the length is sent first.
    is_whole: bool,
    seal: Option<Seal>,
}

impl Body {
    /// A body that is sent at once, with its length. Without a seal nothing is logged.
    pub(super) fn whole(text: String, seal: Option<Seal>, outcome: RequestOutcome) -> Self {
        Self { pieces: VecDeque::from([Bytes::from(text)]), end: End::Proper(outcome), is_whole: true, seal }
    }

    /// A body that is sent piece by piece.
    pub(super) fn stream(pieces: impl IntoIterator<Item = String>, end: End, seal: Seal) -> Self {
        let pieces = pieces.into_iter().map(Bytes::from).collect();
        Self { pieces, end, is_whole: false, seal: Some(seal) }
    }

    fn close(&mut self, outcome: RequestOutcome) {
        if let Some(mut seal) = self.seal.take() {
            seal.outcome = outcome;
        }
    }
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = Hangup;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Hangup>>> {
        let body = self.get_mut();
        if let Some(piece) = body.pieces.pop_front() {
            if let (End::Proper(outcome), true) = (&body.end, body.pieces.is_empty()) {
                body.close(*outcome);
            }
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        match &mut body.end {
            End::Proper(_) => return Poll::Ready(None),
            End::Hangup(held) => ready!(held.as_mut().poll(context)),
        }
        body.close(RequestOutcome::Broken);
        Poll::Ready(Some(Err(Hangup)))
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_empty() && matches!(self.end, End::Proper(_))
    }

    fn size_hint(&self) -> SizeHint {
        if self.is_whole {
            SizeHint::with_exact(self.pieces.iter().map(|piece| piece.len() as u64).sum())
        } else {
            SizeHint::default()
        }
    }
}
