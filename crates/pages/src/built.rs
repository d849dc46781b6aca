//! The files that the build of `web/` made.

use crate::File;

/// By path.
pub(crate) const FILES: &[File] = include!(concat!(env!("OUT_DIR"), "/table.rs"));
