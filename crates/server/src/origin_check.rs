//! Checks that a request is meant for this server: the host that it names, and the page that sent it.
//!
//! **Invariant:** a page of another site reaches nothing. A request must name one of our hosts, and must not have a
//! foreign `Origin`. This check comes before all others.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, header};

/// The names of a server, and the pages that may call it.
#[derive(Debug, Clone)]
pub(crate) struct Door {
    /// The address that it listens on.
    pub(crate) address: SocketAddr,
    /// Names of this machine, in addition to those of its loopback.
    pub(crate) hosts: Vec<String>,
    /// Foreign pages that may call it.
    pub(crate) origins: Vec<String>,
    /// Whether this server has its own pages, which may call it.
    pub(crate) own_pages: bool,
}

/// Why a request is not meant for this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// It names another server.
    Host,
    /// A page of another site sent it.
    Origin,
}

impl Door {
    /// Why the server refuses a request; `None` if it accepts it.
    pub(crate) fn foreign(&self, authority: Option<&str>, headers: &HeaderMap) -> Option<Foreign> {
        let hosts: Vec<Option<&str>> =
            headers.get_all(header::HOST).iter().map(|host| host.to_str().ok()).chain(authority.map(Some)).collect();
        if hosts.is_empty() || !hosts.iter().all(|host| host.is_some_and(|host| self.is_ours(host))) {
            return Some(Foreign::Host);
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let fits = match (origins.next(), origins.next()) {
            (None, _) => true,
            (Some(origin), None) => origin.to_str().is_ok_and(|origin| self.may_call(origin, &hosts)),
            (Some(_), Some(_)) => false,
        };
        (!fits).then_some(Foreign::Origin)
    }

    /// Whether the server listens on all addresses and the request names one of them.
    pub(crate) fn is_asked_by_address(&self, headers: &HeaderMap) -> bool {
        let is_address = |host: &str| {
            let name = without_port(host);
            name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
        };
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok());
        self.address.ip().is_unspecified()
            && hosts.next().is_none()
            && host.is_some_and(is_address)
            && !headers.contains_key(header::ORIGIN)
    }

    fn is_ours(&self, host: &str) -> bool {
        let name = without_port(host);
        let loopback = ["localhost", "127.0.0.1", "[::1]"];
        let own = self.address.ip();
        let is_own = !own.is_unspecified() && without_port(&self.address.to_string()) == name;
        loopback.contains(&name) || is_own || self.hosts.iter().any(|known| known == host || known == name)
    }

    /// Whether a page may call. Our own pages come from the host that the request names.
    fn may_call(&self, origin: &str, hosts: &[Option<&str>]) -> bool {
        let own = || origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        let is_own = || own().is_some_and(|page| hosts.iter().all(|host| *host == Some(page)));
        self.origins.iter().any(|known| known == origin) || (self.own_pages && is_own())
    }
}

/// The token in the `Authorization` header. The scheme's name is not case-sensitive.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim()).filter(|token| !token.is_empty())
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) && !name.is_empty() => name,
        _ => host,
    }
}
