//! Serves the built pages. One page serves all addresses inside the app.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use longhaul_pages::Page;

use super::compress::takes_gzip;
use super::problem::Problem;

/// What a page may load: nothing from other sites, nothing inline.
const POLICY: &str =
    "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";
/// A file with a hash in its name never changes.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// The page for an address.
pub(super) fn page(path: &str, headers: &HeaderMap) -> Response {
    match longhaul_pages::page(path) {
        Some(page) => sent(&page, headers),
        None => Problem::missing("There is no such page.").into_response(),
    }
}

fn sent(page: &Page, headers: &HeaderMap) -> Response {
    let packed = page.gzip.filter(|_| takes_gzip(headers));
    let bytes = packed.unwrap_or(page.bytes);
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = StatusCode::OK;
    let told = response.headers_mut();
    told.insert(header::CONTENT_TYPE, HeaderValue::from_static(page.content_type));
    told.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    if page.gzip.is_some() {
        told.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    }
    if packed.is_some() {
        told.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if page.hashed {
        told.insert(header::CACHE_CONTROL, HeaderValue::from_static(FOR_EVER));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_live_under_a_strict_policy_and_are_asked_for_each_time() {
        let page = page("/runs/release-1", &HeaderMap::new());
        assert_eq!(page.headers()[header::CONTENT_TYPE], "text/html; charset=utf-8");
        assert!(page.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap().starts_with("default-src 'self';"));
        assert!(!page.headers().contains_key(header::CACHE_CONTROL), "the guard says `no-store`");
        assert!(!page.headers().contains_key(header::CONTENT_ENCODING), "nobody asked for it");
    }

    #[test]
    fn what_can_only_be_a_file_is_not_answered_with_a_page() {
        assert_eq!(page("/assets/gone.js", &HeaderMap::new()).status(), StatusCode::NOT_FOUND);
    }
}
