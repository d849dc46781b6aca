//! A connection that nobody else reads.

use std::path::Path;
use std::sync::Arc;

use longhaul_core::event::Failure;
use longhaul_core::plan::ErrorClass;
use rustls::ClientConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls_platform_verifier::Verifier;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::super::invalid;
use crate::channels::Server;

/// Puts TLS around a connection; the server must be who its address says.
pub(super) async fn wrap(stream: TcpStream, server: &Server) -> Result<TlsStream<TcpStream>, Failure> {
    let host = server.address.rsplit_once(':').map_or(server.address.as_str(), |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let name = ServerName::try_from(host).map_err(|_| invalid(format!("`{}` names no host", server.address)))?;
    let config = config(server.trust.as_deref())?;
    let wrapped = TlsConnector::from(Arc::new(config)).connect(name, stream).await;
    wrapped.map_err(|error| {
        Failure::new(ErrorClass::Failed, format!("the mail server cannot be talked to in private: {error}"))
    })
}

fn config(trust: Option<&Path>) -> Result<ClientConfig, Failure> {
    let unusable = |error: rustls::Error| invalid(format!("no certificate can be checked: {error}"));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let extra = trust.map(certificates).transpose()?.unwrap_or_default();
    let verifier = Verifier::new_with_extra_roots(extra, Arc::clone(&provider)).map_err(unusable)?;
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    // The verifier is that of the system; only its extra certificates make it need this door.
    let builder = builder.map_err(unusable)?.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    Ok(builder.with_no_client_auth())
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let wrong = |why: String| invalid(format!("{} holds no certificates: {why}", file.display()));
    let read = CertificateDer::pem_file_iter(file).map_err(|error| wrong(error.to_string()))?;
    let found: Vec<_> = read.collect::<Result<_, _>>().map_err(|error| wrong(error.to_string()))?;
    if found.is_empty() { Err(wrong("it has none in it".to_owned())) } else { Ok(found) }
}
