//! A PostgreSQL server that accepts only encrypted connections, with certificates made for the test.

use std::fs;
use std::path::{Path, PathBuf};

use super::server::{Safe, TestServer, as_somebody};

/// The contents of `pg_hba.conf`: over the network only encrypted connections.
const DOOR: &str = "local all all trust\nhostssl all all all trust\n";
/// The options for a key without a passphrase.
const KEY: &str = "-nodes -newkey ec -pkeyopt ec_paramgen_curve:prime256v1";
/// The extensions of the server's certificate.
const NAMES: &str = "subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n";

/// A server with a certificate for `localhost`.
pub struct Encrypted {
    /// The server. Its own addresses use the socket, not the network.
    pub server: TestServer,
}

impl Encrypted {
    /// Makes the certificates and starts the server.
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

    /// The address of a new store, over the network, with `host` as the name of the machine.
    pub fn address(&self, host: &str, options: &str) -> String {
        format!("{}&{options}", self.server.over_network(&self.server.address(), host))
    }

    /// The certificate of the authority that signed the server's certificate.
    pub fn authority(&self) -> PathBuf {
        self.server.folder.join("authority.pem")
    }

    /// The certificate of another authority, which did not sign it.
    pub fn stranger(&self) -> PathBuf {
        self.server.folder.join("stranger.pem")
    }
}

/// Makes two authorities, and a server certificate signed by the first.
fn certify(folder: &Path) {
    for name in ["authority", "stranger"] {
        openssl(folder, &format!("req -x509 {KEY} -days 2 -subj /CN={name} -keyout {name}.key -out {name}.pem"));
    }
    fs::write(folder.join("names"), NAMES).unwrap();
    openssl(folder, &format!("req -new {KEY} -subj /CN=server -keyout server.key -out server.csr"));
    let authority = "-CA authority.pem -CAkey authority.key -CAcreateserial";
    openssl(folder, &format!("x509 -req -in server.csr {authority} -days 2 -extfile names -out server.pem"));
}

/// Runs openssl as the user of the server, because the server must own its key.
fn openssl(folder: &Path, line: &str) {
    let mut command = as_somebody(Path::new("openssl"));
    let done = command.args(line.split(' ')).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "openssl {line}: {}", String::from_utf8_lossy(&done.stderr));
}
