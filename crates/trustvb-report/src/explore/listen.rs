//! Connections that do not wait for ever: a header comes soon, and there are only so many at once.
//!
//! A browser opens a handful of connections and sends its header at once. Whoever opens hundreds and sends nothing
//! would otherwise keep everybody else out until the process has no descriptors left.

use super::limits::{CONNECTIONS, HEADER, IDLE};
use axum::serve::Listener;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};

/// A listener that gives out at most so many connections at once.
pub(super) struct Bounded {
    listener: TcpListener,
    places: Arc<Semaphore>,
}

impl Bounded {
    pub(super) fn new(listener: TcpListener) -> Bounded {
        Bounded { listener, places: Arc::new(Semaphore::new(CONNECTIONS)) }
    }
}

impl Listener for Bounded {
    type Io = Impatient;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Impatient, SocketAddr) {
        // The semaphore is never closed, so there is a place sooner or later.
        let place = self.places.clone().acquire_owned().await.ok();
        let (stream, address) = Listener::accept(&mut self.listener).await;
        let (clock, waits) = (Box::pin(sleep(HEADER)), Waits::Header(0));
        (Impatient { stream, place, clock, waits }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// What a connection waits for.
#[derive(Clone, Copy, PartialEq)]
enum Waits {
    /// The first byte of another request.
    Idle,
    /// The end of a header, of whose last line so many bytes have come.
    Header(usize),
    /// The rest of a request, and its answer.
    Answer,
}

/// A connection that ends when the next header does not come in time.
pub(super) struct Impatient {
    stream: TcpStream,
    #[allow(dead_code, reason = "given back when the connection ends")]
    place: Option<OwnedSemaphorePermit>,
    clock: Pin<Box<Sleep>>,
    waits: Waits,
}

impl Impatient {
    fn heard(&mut self, bytes: &[u8]) {
        const END: [u8; 4] = *b"\r\n\r\n";
        if self.waits == Waits::Idle && !bytes.is_empty() {
            self.wait_for(Waits::Header(0), HEADER);
        }
        for &byte in bytes {
            let Waits::Header(at) = self.waits else { return };
            match at {
                at if byte != END[at] => self.waits = Waits::Header(usize::from(byte == END[0])),
                3 => self.wait_for(Waits::Answer, IDLE),
                at => self.waits = Waits::Header(at + 1),
            }
        }
    }

    fn wait_for(&mut self, what: Waits, time: Duration) {
        self.waits = what;
        self.clock.as_mut().reset(Instant::now() + time);
    }
}

impl AsyncRead for Impatient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        match Pin::new(&mut self.stream).poll_read(cx, buffer) {
            Poll::Pending => match self.clock.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
                Poll::Pending => Poll::Pending,
            },
            ready => {
                self.heard(&buffer.filled()[before..]);
                ready
            }
        }
    }
}

impl AsyncWrite for Impatient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.wait_for(Waits::Idle, IDLE);
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
