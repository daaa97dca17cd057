//! For tests: an authority that issues certificates.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use super::Tls;

pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate and its key, in PEM form.
pub(crate) struct Issued {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self { issuer: CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap() }
    }

    pub(crate) fn pem(&self) -> String {
        self.issuer.pem()
    }

    pub(crate) fn issue(&self, host: &str) -> Issued {
        self.issue_with(host, |_| {})
    }

    pub(crate) fn issue_with(&self, host: &str, change: impl FnOnce(&mut CertificateParams)) -> Issued {
        let mut params = CertificateParams::new([host.to_owned()]).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap().pem();
        Issued { certificate, key: key.serialize_pem() }
    }

    /// What a node of that host has.
    pub(crate) fn tls(&self, host: &str) -> Tls {
        self.tls_of(&self.issue(host))
    }

    pub(crate) fn tls_of(&self, issued: &Issued) -> Tls {
        Tls::from_pem(self.pem(), issued.certificate.clone(), issued.key.clone())
    }
}
