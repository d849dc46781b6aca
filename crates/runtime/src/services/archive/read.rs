//! Reads a run from an archive file.
//!
//! **Invariant:** no data is used before all of it was read and its hash is right. Paths stay below the target folder,
//! and no more bytes are unpacked than allowed.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Component, Path};

use flate2::read::MultiGzDecoder;
use longhaul_agents::private;
use longhaul_core::id::RunId;
use longhaul_core::rejection::Rejection;
use longhaul_store::{Blob, Hash, Head, NewEvent};

use super::{Archive, Bytes, FORMAT, Line};
use crate::engine::Error;

/// Longer than all lines that are written: a blob as hex, with the JSON around it.
const LINE_BYTES_MAX: u64 = 4 << 28;

/// Reads a file of at most `bytes_max` bytes when unpacked. Writes the files of the run to `folder`, if one is given.
pub(super) fn read(file: &Path, bytes_max: u64, folder: Option<&Path>) -> Result<Archive, Error> {
    let named = |why: &str| {
        Error::Rejected(Rejection::invalid(format!("{} is not an archive of a run: {why}", file.display())))
    };
    let opened = File::open(file).map_err(|error| named(&error.to_string()))?;
    let mut reading = Reading::default();
    let mut lines = BufReader::new(MultiGzDecoder::new(BufReader::new(opened)));
    let mut left = bytes_max;
    loop {
        let mut text = String::new();
        // Read one byte more than allowed, to see whether there is more.
        let read = lines.by_ref().take(LINE_BYTES_MAX.min(left.saturating_add(1))).read_line(&mut text);
        let read = read.map_err(|error| named(&format!("it is damaged ({error})")))? as u64;
        if read == 0 {
            return Err(named("its end is missing"));
        }
        left = left.checked_sub(read).ok_or_else(|| {
            let mib = bytes_max >> 20;
            named(&format!("it unpacks to more than {mib} MiB; if you trust it, allow more with `--max-mib`"))
        })?;
        let line = serde_json::from_str(&text).map_err(|error| named(&format!("it is damaged ({error})")))?;
        if let Line::End { lines: count, hash } = &line {
            let is_whole = *count == reading.count && *hash == reading.hash.finalize().to_hex().as_str();
            return if is_whole { reading.whole() } else { Err("its checksum is wrong".to_owned()) }
                .map_err(|why| named(&why));
        }
        reading.hash.update(text.as_bytes());
        reading.count += 1;
        reading.take(line, folder).map_err(|why| named(&why))?;
    }
}

#[derive(Default)]
struct Reading {
    hash: blake3::Hasher,
    count: u64,
    run: Option<(RunId, Head, u64)>,
    events: Vec<NewEvent>,
    blobs: Vec<Blob>,
}

impl Reading {
    fn take(&mut self, line: Line, folder: Option<&Path>) -> Result<(), String> {
        match line {
            Line::Run { format, .. } if format > FORMAT => {
                Err(format!("it is of format {format}, and this version knows {FORMAT}; use a newer one"))
            }
            Line::Run { run, head, last_seq, .. } => {
                self.run = Some((run, head, last_seq));
                Ok(())
            }
            Line::Event { id, at, body } => {
                let id = id.parse().map_err(|_| format!("`{id}` is no event"))?;
                self.events.push(NewEvent { id, at_ms: at, body });
                Ok(())
            }
            Line::Blob { hash, bytes } => {
                let blob = Blob::new(bytes.read()?);
                let is_same = hash.parse::<Hash>().is_ok_and(|hash| hash == blob.hash);
                self.blobs.push(blob);
                is_same.then_some(()).ok_or_else(|| format!("the checksum of blob {hash} is wrong"))
            }
            Line::File { path, bytes } => match folder {
                Some(folder) => put(&folder.join(below(&path)?), &bytes.read()?).map_err(|error| error.to_string()),
                None => Ok(()),
            },
            Line::End { .. } => Ok(()),
        }
    }

    fn whole(self) -> Result<Archive, String> {
        let (run, head, last_seq) = self.run.ok_or("it does not say which run it is")?;
        match self.events.len() as u64 == last_seq {
            true => Ok(Archive { run, head, events: self.events, blobs: self.blobs }),
            false => Err(format!("it has {} of {last_seq} events", self.events.len())),
        }
    }
}

/// Checks that a path stays below its folder.
fn below(path: &str) -> Result<&Path, String> {
    let path = Path::new(path);
    let leads_down = path.components().all(|part| matches!(part, Component::Normal(_)));
    let is_one = leads_down && path.components().next().is_some();
    is_one.then_some(path).ok_or_else(|| format!("`{}` leads elsewhere", path.display()))
}

fn put(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    private::create_dir_all(file.parent().unwrap_or(Path::new(".")))?;
    private::append(file)?.write_all(bytes)
}

impl Bytes {
    fn read(self) -> Result<Vec<u8>, String> {
        let digits = match self {
            Self::Text(text) => return Ok(text.into_bytes()),
            Self::Hex(digits) => digits,
        };
        let wrong = || "bytes in it are damaged".to_owned();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let pairs = digits.as_bytes().chunks(2).map(|pair| byte(pair).ok_or_else(wrong));
        if digits.len() % 2 == 1 { Err(wrong()) } else { pairs.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_down() {
        assert!(below("steps/one/@1/stdout").is_ok());
        for path in ["", "/etc/passwd", "../x", "a/../../x", "./x"] {
            assert!(below(path).is_err(), "{path}");
        }
    }

    #[test]
    fn no_more_is_unpacked_than_is_allowed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, into) = (folder.path().join("bomb.longhaul.gz"), folder.path().join("into"));
        let mut packed = flate2::write::GzEncoder::new(File::create(&file).unwrap(), flate2::Compression::best());
        let part = "x".repeat(1 << 20);
        for _ in 0..64 {
            writeln!(packed, r#"{{"file": {{"path": "big", "bytes": {{"text": "{part}"}}}}}}"#).unwrap();
        }
        packed.finish().unwrap();
        let told = read(&file, 3 << 20, Some(&into)).unwrap_err().to_string();
        assert!(
            told.ends_with("it unpacks to more than 3 MiB; if you trust it, allow more with `--max-mib`"),
            "{told}"
        );
        assert!(into.join("big").metadata().unwrap().len() <= 3 << 20);
        let told = read(&file, u64::MAX, None).unwrap_err().to_string();
        assert!(told.ends_with("its end is missing"), "{told}");
    }

    #[test]
    fn bytes_that_are_no_text_come_back() {
        let read = |text: &str| serde_json::from_str::<Bytes>(text).unwrap().read();
        assert_eq!(read(r#"{"hex": "00ff10"}"#), Ok(vec![0, 255, 16]));
        assert_eq!(read(r#"{"text": "ü"}"#), Ok("ü".as_bytes().to_vec()));
        assert!(read(r#"{"hex": "0"}"#).is_err());
        assert!(read(r#"{"hex": "zz"}"#).is_err());
    }
}
