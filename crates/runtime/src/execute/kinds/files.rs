//! Lists the files that match a pattern, for `for_each`.

use globset::Glob;
use longhaul_core::Json;
use longhaul_core::plan::ErrorClass;
use walkdir::WalkDir;

use super::{Attempt, Done};

pub(super) async fn make(attempt: &Attempt) -> Done {
    let pattern = attempt.text("pattern").unwrap_or_default().to_owned();
    let root = attempt.cwd();
    let found = tokio::task::spawn_blocking(move || matching(&root, &pattern)).await;
    match found {
        Ok(Ok(files)) => Done::with(Json::Array(files.into_iter().map(Json::String).collect())),
        Ok(Err(message)) => Done::unusable(ErrorClass::Invalid, message),
        Err(error) => Done::failed(ErrorClass::Failed, error.to_string()),
    }
}

/// Paths below a folder that match, sorted.
pub(crate) fn matching(root: &std::path::Path, pattern: &str) -> Result<Vec<String>, String> {
    let glob = Glob::new(pattern).map_err(|error| error.to_string())?.compile_matcher();
    let hidden = |entry: &walkdir::DirEntry| entry.depth() > 0 && entry.file_name().to_string_lossy().starts_with('.');
    let entries = WalkDir::new(root).into_iter().filter_entry(|entry| !hidden(entry)).filter_map(Result::ok);
    let below = entries.filter(|entry| entry.file_type().is_file()).filter_map(|entry| {
        let path = entry.path().strip_prefix(root).ok()?.to_string_lossy().into_owned();
        glob.is_match(&path).then_some(path)
    });
    let mut files: Vec<String> = below.collect();
    files.sort();
    Ok(files)
}
