//! Where a server keeps what is its own, and how others find it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use anyhow::{Context, Result};
use longhaul_agents::private;
use serde::{Deserialize, Serialize};

use crate::office::{self, EngineArgs};

/// Where a server keeps what is its own, and nobody commits.
pub(super) struct Place {
    pub(super) folder: PathBuf,
    /// What the store is called.
    pub(super) store: String,
}

/// A server that runs.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Standing {
    pub(super) pid: u32,
    pub(super) url: String,
}

/// Takes the note of a server away that does not run any more.
pub(super) struct Note(PathBuf);

impl Drop for Note {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Place {
    pub(super) fn of(args: &EngineArgs) -> Result<Self> {
        let folder = office::data_dir(args)?.join("serve");
        private::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        Ok(Self { folder, store: office::store_name(args)? })
    }

    /// Notes that a server runs here, for as long as the answer lives.
    pub(super) fn stand(&self, address: &SocketAddr) -> Result<Note> {
        let standing = Standing { pid: std::process::id(), url: url(address) };
        let file = self.folder.join(format!("at-{}.json", standing.pid));
        private::replace(&file, &serde_json::to_vec(&standing)?)?;
        Ok(Note(file))
    }

    /// The servers that were noted here, whether they still run or not.
    pub(super) fn standing(&self) -> Vec<(PathBuf, Standing)> {
        let files = std::fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|file| file.path());
        let notes = files.filter(|file| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("at-")));
        notes
            .filter_map(|file| Some((file.clone(), serde_json::from_slice(&std::fs::read(file).ok()?).ok()?)))
            .collect()
    }
}

/// The address as a browser on this machine opens it.
pub(super) fn url(address: &SocketAddr) -> String {
    let here = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(here, address.port()))
}
