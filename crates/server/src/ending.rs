//! A body that ends early on a signal.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// A body that ends early on a signal. It keeps a value alive until it is sent.
pub(crate) struct Ending<K> {
    body: Body,
    ended: Pin<Box<WaitForCancellationFutureOwned>>,
    _kept: K,
}

impl<K> Ending<K> {
    pub(crate) fn new(body: Body, ended: CancellationToken, kept: K) -> Self {
        Self { body, ended: Box::pin(ended.cancelled_owned()), _kept: kept }
    }
}

impl<K: Unpin> HttpBody for Ending<K> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        if this.ended.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        Pin::new(&mut this.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
