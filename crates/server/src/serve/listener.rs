//! The listener: accepts connections until the server is to stop, and then lets those that are there end.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use libimmuxdb::Store;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::decompression::RequestDecompressionLayer;

use super::budget::Budget;
use super::chains::Chains;
use super::door::{Door, Limits};
use super::indexes::Makings;
use super::lane::Lane;
use super::metrics::Metrics;
use super::problem::{Code, Problem};
use super::stop::Stop;
use super::{connection, logging};
use crate::configuration::ImmuxDBConfiguration;
use crate::failure::{Exit, Failure, Result};
use crate::opened::options;

/// Connections beyond the limit that are being told so at one time; more are closed without a word.
const MOST_TURNED_AWAY: usize = 64;
/// How long one of them may take to read it.
const TURNING_AWAY: Duration = Duration::from_secs(1);
/// How long to wait after the system refused a connection, such as for want of descriptors.
const AFTER_REFUSAL: Duration = Duration::from_millis(100);

/// Serves until a signal comes.
///
/// # Errors
/// The address can't be listened at, or the store can't be opened or closed.
pub fn serve(configuration: &ImmuxDBConfiguration) -> Result<()> {
    let addresses = addresses(configuration)?;
    logging::start(configuration)?;
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    // Twice the processors, since some of them may wait for the disk.
    let threads = (2 * threads).clamp(4, 64);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .thread_name("immuxdb-serve")
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("threads can't be started: {error}")))?;
    let store = Store::open(&configuration.data_root, options(configuration))?;
    let door = Arc::new(door(configuration, store, threads));
    let result = runtime.block_on(listen(Arc::clone(&door), &addresses, configuration));
    // What still runs is work that nobody waits for any more.
    runtime.shutdown_timeout(Duration::from_secs(1));
    let closed = door.chains.close();
    result?;
    closed?;
    tracing::info!("stopped");
    Ok(())
}

fn door(configuration: &ImmuxDBConfiguration, store: Store, threads: usize) -> Door {
    let limits = Limits {
        max_body: configuration.max_body,
        max_connections: configuration.max_connections,
        header_timeout: configuration.header_timeout,
        body_timeout: configuration.body_timeout,
        idle_timeout: configuration.idle_timeout,
        write_timeout: configuration.write_timeout,
        stop_timeout: configuration.stop_timeout,
    };
    let chains = Arc::new(Chains::new(store));
    Door {
        metrics: Metrics::new(&chains),
        makings: Makings::default(),
        chains,
        lane: Lane::new(threads),
        budget: Arc::new(Budget::new(configuration.request_memory, configuration.body_timeout)),
        limits,
        stop: Stop::new(),
        durability: configuration.durability,
        token: configuration.token.clone(),
        room: Arc::new(Semaphore::new(configuration.max_connections)),
    }
}

/// The addresses to listen at; only this machine's own, unless there is a token.
fn addresses(configuration: &ImmuxDBConfiguration) -> Result<Vec<SocketAddr>> {
    let listen = &configuration.listen;
    let addresses: Vec<SocketAddr> = listen.to_socket_addrs().map(Iterator::collect).map_err(|error| {
        Failure::usage(format!("the address {listen} is not known: {error}"))
            .help("write an address and a port, such as 127.0.0.1:1991 or [::1]:1991")
    })?;
    let is_open = addresses.iter().any(|address| !address.ip().to_canonical().is_loopback());
    if is_open && configuration.token.is_none() {
        return Err(Failure::usage(format!(
            "{listen} can be reached from other machines, and no token is set: anybody could read and write"
        ))
        .help("set a token (IMMUXDB_TOKEN, or token in the configuration file), or listen at 127.0.0.1"));
    }
    Ok(addresses)
}

async fn listen(door: Arc<Door>, addresses: &[SocketAddr], configuration: &ImmuxDBConfiguration) -> Result<()> {
    let handled = |error: io::Error| Failure::new(format!("signals can't be handled: {error}"));
    let mut interrupt = signal(SignalKind::interrupt()).map_err(handled)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(handled)?;
    let listen = &configuration.listen;
    let cannot = |error: io::Error| {
        let failure = Failure::new(format!("can't listen at {listen}: {error}"));
        match error.kind() {
            io::ErrorKind::AddrInUse => failure.help("another server runs there; choose another port with --listen"),
            _ => failure.help("choose another address with --listen"),
        }
    };
    let listener = TcpListener::bind(addresses).await.map_err(cannot)?;
    let address = listener.local_addr().map_err(cannot)?;
    allow_descriptors();
    tracing::info!(
        data_root = %configuration.data_root.display(),
        token = if door.token.is_some() { "needed" } else { "not needed" },
        "listening at http://{address}"
    );
    let router = router(&door);
    let mut connections = JoinSet::new();
    let turned_away = Arc::new(Semaphore::new(MOST_TURNED_AWAY));
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    while connections.try_join_next().is_some() {}
                    // The answer to a small request must not wait for more to send.
                    let _ = stream.set_nodelay(true);
                    door.metrics.connections_accepted.inc();
                    if connections.len() < door.limits.max_connections {
                        let (router, limits, stop) = (router.clone(), door.limits, door.stop.clone());
                        let open = door.metrics.connections.clone();
                        connections.spawn(async move {
                            open.inc();
                            connection::serve(stream, router, limits, stop).await;
                            open.dec();
                        });
                        continue;
                    }
                    door.metrics.connections_refused.inc();
                    if let Ok(permit) = Arc::clone(&turned_away).try_acquire_owned() {
                        tokio::spawn(async move {
                            let _ = tokio::time::timeout(TURNING_AWAY, turn_away(stream)).await;
                            drop(permit);
                        });
                    }
                }
                Err(error) => {
                    tracing::warn!("a connection can't be accepted: {error}");
                    tokio::time::sleep(AFTER_REFUSAL).await;
                }
            },
            _ = interrupt.recv() => break,
            _ = terminate.recv() => break,
        }
    }
    drop(listener);
    tracing::info!(connections = connections.len(), "stopping; a second signal stops at once");
    door.stop.begin();
    let ended = async { while connections.join_next().await.is_some() {} };
    tokio::select! {
        result = tokio::time::timeout(door.limits.stop_timeout, ended) => if result.is_err() {
            tracing::warn!("some requests did not end in time, and are broken off");
        },
        _ = interrupt.recv() => at_once(),
        _ = terminate.recv() => at_once(),
    }
    Ok(())
}

/// The user does not want to wait. What was acknowledged is as safe as its durability says.
fn at_once() {
    tracing::warn!("stopped at once");
    std::process::exit(Exit::Interrupted.code().into());
}

fn router(door: &Arc<Door>) -> Router {
    let door = Arc::clone(door);
    let panicked = |_: Box<dyn std::any::Any + Send>| {
        Problem::new(Code::Internal, "the request made the server panic")
            .help("this is a fault of the server; its log says more")
            .response()
    };
    Router::new()
        .fallback(move |request: Request| Arc::clone(&door).answer(request))
        .layer(RequestDecompressionLayer::new().gzip(true).pass_through_unaccepted(true))
        .layer(CatchPanicLayer::custom(panicked))
}

/// Tells a client that there are too many, in words of HTTP/1.1, without waiting for what it wants.
async fn turn_away(mut stream: TcpStream) -> io::Result<()> {
    let text = Problem::new(Code::TooManyConnections, "there are as many connections as the server takes")
        .help("close connections that are not needed, or raise the server's setting max_connections")
        .text();
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\nimmux-wire: 1\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         retry-after: 1\r\nconnection: close\r\n\r\n{text}",
        text.len()
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await?;
    // To close with bytes unread would take the answer away from the client.
    tokio::io::copy(&mut stream, &mut tokio::io::sink()).await?;
    Ok(())
}

/// A connection takes a descriptor: as many as the system allows without asking.
fn allow_descriptors() {
    let raised = getrlimit(Resource::RLIMIT_NOFILE).and_then(|(soft, hard)| match soft < hard {
        true => setrlimit(Resource::RLIMIT_NOFILE, hard, hard),
        false => Ok(()),
    });
    if let Err(error) = raised {
        tracing::warn!("the limit of open files can't be raised: {error}");
    }
}
