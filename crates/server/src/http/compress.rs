//! Compresses long answers for clients that accept it. Streams are not compressed.

use std::io::Write;

use axum::body::{Body, HttpBody, to_bytes};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Shorter answers are sent as they are.
const BYTES_MIN: u64 = 1024;
/// Stronger compression takes longer than sending more bytes.
const EFFORT: Compression = Compression::new(4);

/// Compresses an answer if that makes sense.
pub(super) async fn compressed(response: Response, takes: bool) -> Response {
    let size = response.body().size_hint();
    let is_whole = size.exact().is_some_and(|bytes| bytes >= BYTES_MIN);
    if !takes || !is_whole || !is_text(&response) || response.headers().contains_key(header::CONTENT_ENCODING) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    // The body is already in memory, so it needs no limit.
    let Ok(bytes) = to_bytes(body, usize::MAX).await else { return Response::from_parts(parts, Body::empty()) };
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), EFFORT);
    let packed = encoder.write_all(&bytes).and_then(|()| encoder.finish());
    let Ok(packed) = packed else { return Response::from_parts(parts, Body::from(bytes)) };
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    parts.headers.append(header::VARY, HeaderValue::from_static("accept-encoding"));
    Response::from_parts(parts, Body::from(packed))
}

/// Whether a client accepts gzip.
pub(super) fn takes_gzip(headers: &HeaderMap) -> bool {
    let accepts = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accepts.split(',').map(str::trim).any(|coding| {
        let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
        name.trim().eq_ignore_ascii_case("gzip") && !is_refused(quality)
    })
}

/// A quality of zero refuses, with any number of digits.
fn is_refused(quality: &str) -> bool {
    let number = quality.split_once('=').filter(|(name, _)| name.trim().eq_ignore_ascii_case("q"));
    number.and_then(|(_, number)| number.trim().parse::<f32>().ok()) == Some(0.0)
}

fn is_text(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    ["application/json", "application/problem+json", "text/", "application/javascript", "image/svg"]
        .iter()
        .any(|text| kind.starts_with(text))
        && !kind.starts_with("text/event-stream")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_taken_unless_its_quality_is_zero() {
        let takes = |accepts: &'static str| {
            takes_gzip(&HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(accepts))]))
        };
        for accepts in ["gzip", "br, GZIP;q=0.5", "deflate, gzip; q=1.000", "gzip;q=0.001"] {
            assert!(takes(accepts), "{accepts}");
        }
        for refuses in ["", "br", "gzip;q=0", "gzip; Q=0.000", "x-gzip"] {
            assert!(!takes(refuses), "{refuses}");
        }
    }
}
