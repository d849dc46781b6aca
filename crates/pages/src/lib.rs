//! The built pages of the dashboard, inside the binary.
//!
//! `build.rs` makes them from `web/`. Without the feature `dashboard` nothing is built, and there is one page
//! that says so.
//!
//! **Invariant:** what is said of a page depends on its path alone, and there is nothing secret in any.

#[cfg(feature = "dashboard")]
mod built;
mod kind;
#[cfg(not(feature = "dashboard"))]
mod plain;

#[cfg(feature = "dashboard")]
use built::FILES;
#[cfg(not(feature = "dashboard"))]
use plain::FILES;

/// Whether the dashboard is in this binary.
pub const BUILT: bool = cfg!(feature = "dashboard");

/// A file as it was built: its path, its bytes, and the same packed with gzip.
type File = (&'static str, &'static [u8], &'static [u8]);

/// What a browser is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// The file itself.
    pub bytes: &'static [u8],
    /// The same packed with gzip, where that is there and shorter.
    pub gzip: Option<&'static [u8]>,
    /// Its `Content-Type`.
    pub content_type: &'static str,
    /// Whether its name carries the hash of its content, so that it may be kept for ever.
    pub hashed: bool,
}

/// The page at a path, which begins with a slash.
///
/// The addresses of the dashboard are its own, so a path that names no file is answered with the page that
/// knows them. Only what looks like a file and is none has no answer.
#[must_use]
pub fn page(path: &str) -> Option<Page> {
    find(path).or_else(|| if kind::is_file(path) { None } else { find("/index.html") })
}

fn find(path: &str) -> Option<Page> {
    FILES.iter().find(|(name, ..)| *name == path).map(|file| sent(*file))
}

fn sent((path, bytes, gzip): File) -> Page {
    Page {
        bytes,
        gzip: (!gzip.is_empty() && gzip.len() < bytes.len()).then_some(gzip),
        content_type: kind::content_type(path),
        hashed: path.starts_with(kind::HASHED),
    }
}
