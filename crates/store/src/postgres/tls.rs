//! Encrypted connections, as the address asks for them.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use rustls_platform_verifier::Verifier;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::Verify;
use crate::Error;

/// What makes connections encrypted.
pub(super) fn connector(verify: &Verify) -> Result<MakeRustlsConnect, Error> {
    let wrong = |error: &dyn std::fmt::Display| Error::Unreachable(format!("TLS cannot be set up: {error}"));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| wrong(&error))?;
    let config = match verify {
        Verify::Nothing => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(Anybody(provider))).with_no_client_auth()
        }
        Verify::Machine => {
            let verifier = Verifier::new(provider).map_err(|error| wrong(&error))?;
            builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth()
        }
        Verify::File(file) => {
            let mut roots = RootCertStore::empty();
            let found = CertificateDer::pem_file_iter(file).map_err(|error| wrong(&error))?;
            for certificate in found {
                roots.add(certificate.map_err(|error| wrong(&error))?).map_err(|error| wrong(&error))?;
            }
            builder.with_root_certificates(roots).with_no_client_auth()
        }
    };
    Ok(MakeRustlsConnect::new(config))
}

/// Takes any certificate, as `sslmode=require` is understood by all programs that know it: against listeners, not against impostors.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
