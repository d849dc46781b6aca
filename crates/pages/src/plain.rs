//! What stands in for the dashboard where it was not built.

use crate::File;

/// The one page.
pub(crate) const FILES: &[File] = &[("/index.html", include_bytes!("plain.html"), b"")];
