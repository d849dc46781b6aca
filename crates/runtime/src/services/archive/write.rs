//! Writes a run into an archive file.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use longhaul_agents::private;
use longhaul_store::{RunRow, Store};
use walkdir::WalkDir;

use super::{Bytes, FORMAT, Line, PAGE};
use crate::engine::Error;

/// How many bytes of a file go into one line.
const PART: usize = 1 << 20;
/// Folders of a run that are left out: checkouts, and temporary files of git.
const LEFT_OUT: [&str; 2] = ["carried", "git"];

/// Writes a run to a temporary file, syncs it, and then renames it.
pub(super) async fn write(store: &dyn Store, row: &RunRow, about: &Path, file: &Path) -> Result<(), Error> {
    let folder = file.parent().unwrap_or(Path::new("."));
    private::create_dir_all(folder)?;
    let beside = file.with_extension(format!("{}.tmp", uuid::Uuid::new_v4().simple()));
    let written = write_beside(store, row, about, &beside).await;
    if written.is_err() {
        // An incomplete file has no use.
        let _ = std::fs::remove_file(&beside);
    }
    written?;
    std::fs::rename(&beside, file)?;
    Ok(File::open(folder)?.sync_all()?)
}

async fn write_beside(store: &dyn Store, row: &RunRow, about: &Path, beside: &Path) -> Result<(), Error> {
    // The file has questions and answers, so only its owner may read it.
    let mut lines = Lines::new(private::create_new(beside)?);
    let (run, head) = (row.run.clone(), row.head.clone());
    lines.add(&Line::Run { format: FORMAT, run: run.clone(), head, last_seq: row.last_seq })?;
    let mut seq = 0;
    while seq < row.last_seq {
        let events = store.read(&run, seq, PAGE).await?;
        seq += events.len() as u64;
        if events.is_empty() {
            return Err(Error::Damaged(format!("{run} has {seq} of {} events", row.last_seq)));
        }
        for event in events {
            lines.add(&Line::Event { id: event.id.to_string(), at: event.at_ms, body: event.body })?;
        }
    }
    for hash in store.blobs(&run).await? {
        let bytes = store.blob(hash).await?.ok_or_else(|| Error::Damaged(format!("blob {hash} is missing")))?;
        lines.add(&Line::Blob { hash: hash.to_string(), bytes: Bytes::of(&bytes) })?;
    }
    files(&mut lines, about)?;
    Ok(lines.end()?)
}

/// Adds the files of the run on this machine, in a fixed order.
fn files(lines: &mut Lines, about: &Path) -> Result<(), Error> {
    let is_about = |entry: &walkdir::DirEntry| {
        entry.depth() != 1 || !LEFT_OUT.iter().any(|left_out| entry.file_name() == *left_out)
    };
    let found = WalkDir::new(about).sort_by_file_name().into_iter().filter_entry(is_about).flatten();
    for entry in found.filter(|entry| entry.file_type().is_file()) {
        let path = entry.path().strip_prefix(about).ok().and_then(Path::to_str).map(str::to_owned);
        // Skip files that disappear meanwhile, or whose name is not text.
        if let (Some(path), Ok(file)) = (path, File::open(entry.path())) {
            parts(lines, &path, file)?;
        }
    }
    Ok(())
}

fn parts(lines: &mut Lines, path: &str, mut file: File) -> Result<(), Error> {
    loop {
        let mut part = Vec::new();
        Read::by_ref(&mut file).take(PART as u64).read_to_end(&mut part)?;
        let is_last = part.len() < PART;
        lines.add(&Line::File { path: path.to_owned(), bytes: Bytes::of(&part) })?;
        if is_last {
            return Ok(());
        }
    }
}

impl Bytes {
    fn of(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Hex(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
        }
    }
}

/// The lines of a file that is being written.
struct Lines {
    to: GzEncoder<BufWriter<File>>,
    hash: blake3::Hasher,
    count: u64,
}

impl Lines {
    fn new(file: File) -> Self {
        let to = GzEncoder::new(BufWriter::new(file), Compression::default());
        Self { to, hash: blake3::Hasher::new(), count: 0 }
    }

    fn add(&mut self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_string(line).map_err(io::Error::other)?;
        text.push('\n');
        self.hash.update(text.as_bytes());
        self.count += 1;
        self.to.write_all(text.as_bytes())
    }

    fn end(mut self) -> io::Result<()> {
        let end = Line::End { lines: self.count, hash: self.hash.finalize().to_hex().to_string() };
        self.add(&end)?;
        self.to.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }
}
