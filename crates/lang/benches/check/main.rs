//! How long it takes to read and check workflows of 10, 1,000 and 10,000 steps.

mod written;

use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use longhaul_lang::dialect::Dialect;
use longhaul_lang::source::{self, Format, Sources};
use longhaul_lang::world::Bare;
use longhaul_lang::{CheckReport, CheckRequest};
use written::Order;

const SIZES: [usize; 3] = [10, 1_000, 10_000];

fn check(text: String, dialect: Dialect) -> CheckReport {
    let request = CheckRequest { file: "w.yaml".to_owned(), text, dialect: Some(dialect), ..CheckRequest::default() };
    longhaul_lang::check(request, &Bare::default())
}

fn reading(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("read");
    for size in SIZES {
        let mut sources = Sources::default();
        let file = sources.add("w.yaml", written::native(size, Order::Graph));
        group.throughput(Throughput::Elements(size as u64));
        group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
            bencher.iter(|| source::read(&sources, file, Format::Yaml, &mut Vec::new()));
        });
    }
}

fn checking(criterion: &mut Criterion) {
    for (name, order) in [("graph", Order::Graph), ("sequence", Order::Sequence), ("machine", Order::Machine)] {
        let mut group = criterion.benchmark_group(format!("check/{name}"));
        group.sample_size(10).measurement_time(Duration::from_secs(3));
        for size in SIZES {
            let text = written::native(size, order);
            must_be_sound(&check(text.clone(), Dialect::Native));
            group.throughput(Throughput::Elements(size as u64));
            group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
                bencher.iter_batched(|| text.clone(), |text| check(text, Dialect::Native), BatchSize::LargeInput);
            });
        }
    }
}

fn dialects(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("check/dialect");
    group.sample_size(10).measurement_time(Duration::from_secs(3));
    let files = [(Dialect::Agent007, written::agent007(1_000)), (Dialect::Workhorse, written::workhorse(1_000))];
    for (dialect, text) in files {
        must_be_sound(&check(text.clone(), dialect));
        group.bench_function(BenchmarkId::new(dialect.name(), 1_000), |bencher| {
            bencher.iter_batched(|| text.clone(), |text| check(text, dialect), BatchSize::LargeInput);
        });
    }
}

/// A benchmark of a workflow with mistakes would measure something else.
fn must_be_sound(report: &CheckReport) {
    let first = report.diagnostics.first().map(|found| (found.message.clone(), found.report(&report.sources).line));
    assert!(!report.has_errors(), "{first:?}");
}

criterion_group!(benches, reading, checking, dialects);
criterion_main!(benches);
