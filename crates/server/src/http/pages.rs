//! The built pages, and the one that stands for all addresses which are the pages' own.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

/// What a page may load: nothing from elsewhere, nothing inline.
const POLICY: &str =
    "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

/// The page at an address.
pub(super) fn page(_path: &str) -> Response {
    let text = "Longhaul serves its API here, under /api/v1; this program was built without the dashboard.\n";
    let headers = [(header::CONTENT_TYPE, "text/plain; charset=utf-8"), (header::CONTENT_SECURITY_POLICY, POLICY)];
    (StatusCode::OK, headers, text).into_response()
}
