//! `certs`: an authority and certificates for nodes, for development.
//!
//! What `Tls::from_files` reads. An authority that was made here before issues further ones; nothing that is there is written over.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer,
    KeyPair, KeyUsagePurpose,
};
use serde::Serialize;

use crate::output;

const AUTHORITY: &str = "authority.pem";
const AUTHORITY_KEY: &str = "authority.key";

/// The files that were written.
#[derive(Debug, Serialize)]
struct Written {
    authority: String,
    certificates: Vec<Pair>,
}

/// Of one node.
#[derive(Debug, Serialize)]
struct Pair {
    node: String,
    certificate: String,
    key: String,
}

pub(super) fn make(folder: &Path, nodes: &[String], hosts: &[String], json: bool) -> Result<()> {
    for node in nodes {
        let is_name = node.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
        if !is_name || node.starts_with('.') || node.is_empty() || node == "authority" {
            bail!("{node:?} cannot be the name of a file: use letters, digits, `-`, `_` and `.`");
        }
    }
    fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let authority = authority(folder)?;
    let mut certificates = Vec::new();
    for node in nodes {
        certificates.push(issue(folder, &authority, node, hosts)?);
    }
    let written = Written { authority: folder.join(AUTHORITY).display().to_string(), certificates };
    if json {
        return output::json(&written);
    }
    let hosts = hosts.join(", ");
    output::line(format_args!(
        "valid for {hosts}; for development only: the authority's key lies beside them"
    ))?;
    for Pair { certificate, key, .. } in &written.certificates {
        output::line(format_args!("Tls::from_files({:?}, {certificate:?}, {key:?})", written.authority))?;
    }
    Ok(())
}

/// The one that is there, or a new one. What this program calls its authorities never changes, so the key is all that must be read.
fn authority(folder: &Path) -> Result<Issuer<'static, KeyPair>> {
    let (certificate, key) = (folder.join(AUTHORITY), folder.join(AUTHORITY_KEY));
    let mut params = named("Borough development authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    if key.exists() {
        let no_key = || format!("{} holds no key of an authority; name another folder", key.display());
        let text = fs::read_to_string(&key).with_context(no_key)?;
        return Ok(Issuer::new(params, KeyPair::from_pem(&text).with_context(no_key)?));
    }
    let pair = KeyPair::generate()?;
    write(&certificate, &params.self_signed(&pair)?.pem(), false)?;
    write(&key, &pair.serialize_pem(), true)?;
    Ok(Issuer::new(params, pair))
}

fn issue(folder: &Path, authority: &Issuer<'_, KeyPair>, node: &str, hosts: &[String]) -> Result<Pair> {
    let mut params = named(node);
    let names = CertificateParams::new(hosts).context("a host is no name and no number of one")?;
    params.subject_alt_names = names.subject_alt_names;
    // Every node both dials and accepts.
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    params.use_authority_key_identifier_extension = true;
    let pair = KeyPair::generate()?;
    let (certificate, key) = (folder.join(format!("{node}.pem")), folder.join(format!("{node}.key")));
    write(&certificate, &params.signed_by(&pair, authority)?.pem(), false)?;
    write(&key, &pair.serialize_pem(), true)?;
    let shown = |path: &Path| path.display().to_string();
    Ok(Pair { node: node.to_owned(), certificate: shown(&certificate), key: shown(&key) })
}

fn named(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

/// A new file; keys are for their owner alone.
fn write(path: &Path, text: &str, is_secret: bool) -> Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if is_secret {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = is_secret;
    let file = options.open(path);
    let mut file = file.with_context(|| {
        format!("{} is there already or cannot be made; nothing was written over", path.display())
    })?;
    file.write_all(text.as_bytes()).with_context(|| format!("{} cannot be written", path.display()))
}
