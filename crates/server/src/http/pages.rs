//! The built pages, and the one that stands for all addresses which are the pages' own.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::compress::takes_gzip;

/// What a page may load: nothing from elsewhere, nothing inline.
const POLICY: &str =
    "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

/// How long what carries its hash is kept: a year.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// The page at an address; nothing, if that can only mean a file which is not there.
pub(super) fn page(path: &str, accepts: Option<&HeaderValue>) -> Option<Response> {
    let page = longhaul_pages::page(path)?;
    let packed = page.gzip.filter(|_| takes_gzip(accepts));
    let mut response = (StatusCode::OK, packed.unwrap_or(page.bytes)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(page.content_type));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if packed.is_some() {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if page.hashed {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(FOR_EVER));
    }
    Some(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_live_under_a_strict_policy_and_are_asked_for_each_time() {
        let page = page("/runs/release-1", None).unwrap();
        assert_eq!(page.headers()[header::CONTENT_TYPE], "text/html; charset=utf-8");
        assert!(page.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap().starts_with("default-src 'self';"));
        assert!(!page.headers().contains_key(header::CACHE_CONTROL), "the guard says `no-store`");
        assert!(!page.headers().contains_key(header::CONTENT_ENCODING), "nobody asked for it");
    }

    #[test]
    fn what_can_only_be_a_file_is_not_answered_with_a_page() {
        assert!(page("/assets/gone.js", None).is_none());
    }
}
