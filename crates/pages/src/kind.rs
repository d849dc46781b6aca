//! What a path says about its file.

/// The folder whose files carry their hash.
pub(crate) const HASHED: &str = "/assets/";

/// The `Content-Type` of a file. A browser guesses nothing (`nosniff`), so this has to be right.
pub(crate) fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json" | "webmanifest") => "application/json",
        Some("woff2") => "font/woff2",
        Some("png") => "image/png",
        _ => "application/octet-stream",
    }
}

/// Whether a path can only mean a file: names of runs and workflows may hold dots, so only the folder of
/// built files and single names at the top count.
pub(crate) fn is_file(path: &str) -> bool {
    let name = path.strip_prefix('/').unwrap_or(path);
    path.starts_with(HASHED) || (!name.contains('/') && name.contains('.'))
}
