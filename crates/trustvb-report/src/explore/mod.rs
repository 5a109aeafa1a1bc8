//! The explorer: a small server for a page on which tables are asked, and see their answers at once.
//!
//! The page is plain HTML, CSS and JavaScript modules, as they lie in `page/`. It sends questions as JSON
//! and gets back numbers, the same that `trustvb interval --format json` prints, and figures. Tables are
//! opened before the server starts; no request can name a file. See `guard` for who may ask and `limits`
//! for how much.

mod api;
mod guard;
mod limits;
mod listen;
mod overview;
mod page;
mod session;

use guard::Guard;
use listen::Bounded;
use session::Session;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use trustvb::remedy::{Advise, in_command};
use trustvb::table::TvbTable;

/// How to serve.
#[derive(Clone, Copy, Debug)]
pub struct ExploreOptions {
    /// The address to listen on.
    pub bind: IpAddr,
    /// The port; 0 takes a free one.
    pub port: u16,
    /// Demand a token also on the loopback address. Elsewhere it is always demanded.
    pub token: bool,
    /// Draws behind each law that has no exact form.
    pub draws: usize,
}

/// Why the explorer cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ExploreError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}; choose another --port or --bind")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// A table's data do not make its model.
    #[error("{table}: {}", source.advised(in_command))]
    Model {
        /// The table.
        table: String,
        /// Why not.
        source: trustvb::model::ModelError,
    },
    /// The system gives no random numbers or threads.
    #[error("the system refuses what a server needs: {0}")]
    System(String),
}

/// A server that listens but does not answer yet.
pub struct Explorer {
    listener: std::net::TcpListener,
    address: SocketAddr,
    token: Option<String>,
    session: Arc<Session>,
}

impl Explorer {
    /// Opens a port for these tables, each with the name that the page shows.
    pub fn new(
        tables: Vec<(String, TvbTable)>,
        options: &ExploreOptions,
    ) -> Result<Explorer, ExploreError> {
        let wanted = SocketAddr::new(options.bind, options.port);
        let refused = |source| ExploreError::Listen { address: wanted, source };
        let session = Session::new(tables, options.draws)
            .map_err(|(table, source)| ExploreError::Model { table, source })?;
        let listener = std::net::TcpListener::bind(wanted).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let token = (options.token || !options.bind.is_loopback())
            .then(guard::new_token)
            .transpose()
            .map_err(|error| ExploreError::System(error.to_string()))?;
        Ok(Explorer { listener, address, token, session: Arc::new(session) })
    }

    /// The address to open in a browser.
    pub fn url(&self) -> String {
        // A browser cannot go to "every address"; it can go to this machine.
        let host = match self.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => "127.0.0.1".to_owned(),
            IpAddr::V6(ip) if ip.is_unspecified() => "[::1]".to_owned(),
            IpAddr::V6(ip) => format!("[{ip}]"),
            IpAddr::V4(ip) => ip.to_string(),
        };
        let token = self.token.as_ref().map_or_else(String::new, |token| format!("?token={token}"));
        format!("http://{host}:{}/{token}", self.address.port())
    }

    /// Serves until `stop` is done. Questions that are still open then are not answered.
    pub fn serve(
        self,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), ExploreError> {
        let system = |error: io::Error| ExploreError::System(error.to_string());
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(system)?;
        let served = runtime.block_on(async move {
            let listener = Bounded::new(tokio::net::TcpListener::from_std(self.listener)?);
            let guard = Arc::new(Guard::new(self.address, self.token));
            let app = api::routes(self.session, guard);
            tokio::select! {
                served = async { axum::serve(listener, app).await } => served,
                () = stop => Ok(()),
            }
        });
        runtime.shutdown_background();
        served.map_err(system)
    }
}
