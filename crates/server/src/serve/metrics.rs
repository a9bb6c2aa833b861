//! `/.metrics`: counts and sizes, in Prometheus' text format.
//!
//! Labels are few: resources, methods and statuses come from fixed lists, and no more chains can be open than a fixed number.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use axum::http::{Method, StatusCode};
use axum::response::Response;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric as _};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use super::chains::Chains;
use super::door::Call;
use super::problem::{Code, Problem};
use super::resource::Kind;
use super::{answer, lane};

/// The type of the text.
const TEXT: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    resource: &'static str,
    method: &'static str,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LatencyLabels {
    resource: &'static str,
    method: &'static str,
}

/// What is counted.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    latency: Family<LatencyLabels, Histogram>,
    pub(crate) connections: Gauge,
    pub(crate) connections_accepted: Counter,
    pub(crate) connections_refused: Counter,
    pub(crate) received: Counter,
    pub(crate) sent: Counter,
    pub(crate) commits: Counter<u64, AtomicU64>,
}

impl Metrics {
    pub(crate) fn new(chains: &Arc<Chains>) -> Metrics {
        let mut metrics = Metrics {
            registry: Registry::with_prefix("immuxdb"),
            requests: Family::default(),
            // 20 microseconds to 20 seconds.
            latency: Family::new_with_constructor(|| Histogram::new(exponential_buckets(0.000_02, 2.0, 21))),
            connections: Gauge::default(),
            connections_accepted: Counter::default(),
            connections_refused: Counter::default(),
            received: Counter::default(),
            sent: Counter::default(),
            commits: Counter::default(),
        };
        let registry = &mut metrics.registry;
        registry.register("requests", "Requests answered", metrics.requests.clone());
        registry.register_with_unit(
            "request_duration",
            "Time until an answer begins",
            Unit::Seconds,
            metrics.latency.clone(),
        );
        registry.register("connections", "Connections that are open", metrics.connections.clone());
        registry.register("connections_accepted", "Connections accepted", metrics.connections_accepted.clone());
        let refused = "Connections refused, since there were too many";
        registry.register("connections_refused", refused, metrics.connections_refused.clone());
        registry.register_with_unit("received", "Bytes of requests' bodies", Unit::Bytes, metrics.received.clone());
        registry.register_with_unit("sent", "Bytes of answers' bodies", Unit::Bytes, metrics.sent.clone());
        registry.register("commits", "Commits made by requests", metrics.commits.clone());
        registry.register_collector(Box::new(ChainCollector { chains: Arc::clone(chains) }));
        metrics
    }

    /// A request was answered.
    pub(crate) fn answered(&self, kind: Option<Kind>, method: &Method, status: StatusCode, took: Duration) {
        let (resource, method) = (kind.map_or("none", Kind::label), method_label(method));
        self.requests.get_or_create(&RequestLabels { resource, method, status: status.as_u16() }).inc();
        self.latency.get_or_create(&LatencyLabels { resource, method }).observe(took.as_secs_f64());
    }
}

/// Clients may invent methods; those are one.
fn method_label(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "PUT" => "PUT",
        "POST" => "POST",
        "DELETE" => "DELETE",
        _ => "other",
    }
}

/// Gives them out.
pub(crate) async fn get(call: Call) -> Result<Response, Problem> {
    call.check_parameters(&[])?;
    let door = call.door;
    let text = lane::long(move || {
        let mut text = String::new();
        let encoded = prometheus_client::encoding::text::encode(&mut text, &door.metrics.registry);
        encoded.map_err(|error| Problem::new(Code::Internal, format!("the metrics can't be written: {error}")))?;
        Ok(text)
    })
    .await?;
    Ok(answer::body(StatusCode::OK, TEXT, text))
}

/// Looks at the chains and at the process when it is asked.
#[derive(Debug)]
struct ChainCollector {
    chains: Arc<Chains>,
}

impl Collector for ChainCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let stats: Vec<_> = self.chains.open().iter().map(|chain| (chain.name().to_owned(), chain.stats())).collect();
        let mut per_chain = |name: &str, help: &str, unit: Option<Unit>, value: &dyn Fn(usize) -> u64| {
            let kind = prometheus_client::metrics::MetricType::Gauge;
            let mut encoder = encoder.encode_descriptor(name, help, unit.as_ref(), kind)?;
            for (at, (chain, _)) in stats.iter().enumerate() {
                let labels = [("chain", chain.as_str())];
                let gauge = ConstGauge::new(i64::try_from(value(at)).unwrap_or(i64::MAX));
                gauge.encode(encoder.encode_family(&labels)?)?;
            }
            Ok::<(), fmt::Error>(())
        };
        per_chain("chain_height", "The newest height", None, &|at| stats[at].1.height.0)?;
        let synced = "The newest height that survives power loss";
        per_chain("chain_synced_height", synced, None, &|at| stats[at].1.synced.0)?;
        per_chain("chain_log", "Size of the log", Some(Unit::Bytes), &|at| stats[at].1.log_bytes)?;
        per_chain("chain_index", "Size of the index", Some(Unit::Bytes), &|at| stats[at].1.index_bytes())?;
        per_chain("chain_runs", "Runs of the index", None, &|at| stats[at].1.runs.len() as u64)?;
        let memory = "Memory of entries that are in no run yet";
        per_chain("chain_memory", memory, Some(Unit::Bytes), &|at| stats[at].1.delta_bytes as u64)?;
        if let Some(bytes) = resident_bytes() {
            let kind = prometheus_client::metrics::MetricType::Gauge;
            let help = "Memory of the process";
            let encoder = encoder.encode_descriptor("resident_memory", help, Some(&Unit::Bytes), kind)?;
            ConstGauge::new(bytes).encode(encoder)?;
        }
        Ok(())
    }
}

/// What the system says that this process takes, where it says so.
fn resident_bytes() -> Option<i64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: i64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    let page = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE).ok()??;
    Some(pages * page)
}
