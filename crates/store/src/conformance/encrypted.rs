//! A server that takes encrypted connections alone, with certificates that are made for it.

use std::fs;
use std::path::{Path, PathBuf};

use super::server::{Safe, TestServer, as_somebody};

/// Who is let in: over the network only what is encrypted.
const DOOR: &str = "local all all trust\nhostssl all all all trust\n";
/// How a key is made, and not locked.
const KEY: &str = "-nodes -newkey ec -pkeyopt ec_paramgen_curve:prime256v1";
/// What the certificate of the server says.
const NAMES: &str = "subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n";

/// A server with a certificate for `localhost`.
pub struct Encrypted {
    /// The server. Its own addresses lead past the network.
    pub server: TestServer,
}

impl Encrypted {
    /// Starts one.
    pub fn start() -> Self {
        let mut server = TestServer::new(Safe::No);
        certify(&server.folder);
        server.listen("127.0.0.1", DOOR);
        server.settings.push("ssl=on".to_owned());
        for (setting, file) in [("ssl_cert_file", "server.pem"), ("ssl_key_file", "server.key")] {
            server.settings.push(format!("{setting}={}", server.folder.join(file).display()));
        }
        server.restart();
        Self { server }
    }

    /// The address of a store of its own, over the network, by a name of the machine.
    pub fn address(&self, host: &str, options: &str) -> String {
        format!("{}&{options}", self.server.over_network(&self.server.address(), host))
    }

    /// The certificate of who vouches for the server.
    pub fn authority(&self) -> PathBuf {
        self.server.folder.join("authority.pem")
    }

    /// The certificate of somebody who does not.
    pub fn stranger(&self) -> PathBuf {
        self.server.folder.join("stranger.pem")
    }
}

/// Two authorities, and a certificate for the server of the first.
fn certify(folder: &Path) {
    for name in ["authority", "stranger"] {
        openssl(folder, &format!("req -x509 {KEY} -days 2 -subj /CN={name} -keyout {name}.key -out {name}.pem"));
    }
    fs::write(folder.join("names"), NAMES).unwrap();
    openssl(folder, &format!("req -new {KEY} -subj /CN=server -keyout server.key -out server.csr"));
    let authority = "-CA authority.pem -CAkey authority.key -CAcreateserial";
    openssl(folder, &format!("x509 -req -in server.csr {authority} -days 2 -extfile names -out server.pem"));
}

/// As whoever runs the server, because its key must be its own.
fn openssl(folder: &Path, line: &str) {
    let mut command = as_somebody(Path::new("openssl"));
    let done = command.args(line.split(' ')).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "openssl {line}: {}", String::from_utf8_lossy(&done.stderr));
}
