//! Who may talk to the explorer: this machine's browser, on this page, with the token if there is one.
//!
//! A page of somebody else can send requests to a loopback address, and by changing what its own name
//! resolves to (DNS rebinding) it can even read the answers. The names that the browser believes to talk to
//! (`Host`) and to come from (`Origin`) give both away.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::SocketAddr;
use std::sync::Arc;

/// What requests are checked against.
#[derive(Clone, Debug)]
pub(super) struct Guard {
    address: SocketAddr,
    token: Option<String>,
}

/// Nothing from elsewhere, no inline script or style, no frames.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

impl Guard {
    pub(super) fn new(address: SocketAddr, token: Option<String>) -> Guard {
        Guard { address, token }
    }

    /// Whether the name that the request was sent to is one of ours. Bound elsewhere than to loopback the
    /// machine may be known by any name; the token then is what a stranger lacks.
    fn knows_host(&self, host: &str) -> bool {
        if !self.address.ip().is_loopback() {
            return self.token.is_some();
        }
        let port = self.address.port();
        let ours = |name: &str| host == format!("{name}:{port}") || (port == 80 && host == name);
        ours("127.0.0.1") || ours("localhost") || ours("[::1]") || host == self.address.to_string()
    }

    fn check(&self, request: &Request) -> Result<(), (StatusCode, &'static str)> {
        let headers = request.headers();
        let host = single(headers, header::HOST.as_str()).unwrap_or("");
        if !self.knows_host(host) {
            return Err((
                StatusCode::FORBIDDEN,
                "this server answers to its own address only; open the address that `trustvb explore` printed",
            ));
        }
        // A request without an origin is a plain navigation or no browser at all.
        let same = |origin: &str| origin.strip_prefix("http://") == Some(host);
        if headers.contains_key(header::ORIGIN)
            && !single(headers, header::ORIGIN.as_str()).is_some_and(same)
        {
            return Err((StatusCode::FORBIDDEN, "another site's page may not ask here"));
        }
        let path = request.uri().path();
        let foreign = single(headers, "sec-fetch-site")
            .is_some_and(|site| !matches!(site, "same-origin" | "none"));
        if foreign && path != "/" {
            return Err((StatusCode::FORBIDDEN, "another site's page may not ask here"));
        }
        if request.method() == Method::POST && !is_json(headers) {
            return Err((
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "questions are sent as application/json",
            ));
        }
        // The page's own files hold nothing secret, and modules cannot send a token.
        let needs_token = path == "/" || path.starts_with("/api/");
        match &self.token {
            Some(token) if needs_token && !has_token(request, token) => Err((
                StatusCode::UNAUTHORIZED,
                "a token is needed; open the whole address that `trustvb explore` printed",
            )),
            _ => Ok(()),
        }
    }
}

/// A header that is there exactly once, as text.
fn single<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

fn is_json(headers: &HeaderMap) -> bool {
    single(headers, header::CONTENT_TYPE.as_str())
        .and_then(|kind| kind.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

fn has_token(request: &Request, token: &str) -> bool {
    let header = single(request.headers(), "x-trustvb-token");
    let query = request.uri().query().unwrap_or("");
    let asked = query.split('&').find_map(|pair| pair.strip_prefix("token="));
    header.or(asked).is_some_and(|given| equal(given.as_bytes(), token.as_bytes()))
}

/// Compares without telling by its time how much was right.
fn equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |different, (x, y)| different | (x ^ y)) == 0
}

/// A token that cannot be guessed.
pub(super) fn new_token() -> Result<String, getrandom::Error> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Checks a request, and sends every answer with the headers that keep it where it belongs.
pub(super) async fn guard(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match guard.check(&request) {
        Ok(()) => next.run(request).await,
        Err((status, why)) => (status, format!("{why}\n")).into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("x-frame-options", "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    fn request(method: &str, path: &str, headers: &[(&str, &str)]) -> Request {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(Body::empty()).unwrap()
    }

    fn status(guard: &Guard, request: &Request) -> u16 {
        guard.check(request).map_or_else(|(status, _)| status.as_u16(), |()| 200)
    }

    const JSON: (&str, &str) = ("content-type", "application/json");

    #[test]
    fn strangers_are_refused() {
        let guard = Guard::new("127.0.0.1:4000".parse().unwrap(), None);
        let host = ("host", "127.0.0.1:4000");
        for (expected, method, path, headers) in [
            (200, "GET", "/", vec![host]),
            (200, "GET", "/", vec![("host", "localhost:4000")]),
            (403, "GET", "/", vec![]),
            (403, "GET", "/", vec![("host", "localhost")]),
            (403, "GET", "/", vec![("host", "127.0.0.1:4001")]),
            (403, "GET", "/", vec![("host", "evil.example:4000")]),
            (403, "GET", "/", vec![host, ("host", "127.0.0.1:4000")]),
            (200, "POST", "/api/ask", vec![host, JSON]),
            (200, "POST", "/api/ask", vec![host, JSON, ("origin", "http://127.0.0.1:4000")]),
            (403, "POST", "/api/ask", vec![host, JSON, ("origin", "http://localhost:4000")]),
            (403, "POST", "/api/ask", vec![host, JSON, ("origin", "https://evil.example")]),
            (403, "POST", "/api/ask", vec![host, JSON, ("origin", "null")]),
            (415, "POST", "/api/ask", vec![host, ("content-type", "text/plain")]),
            (415, "POST", "/api/ask", vec![host]),
            (403, "GET", "/api/tables", vec![host, ("sec-fetch-site", "cross-site")]),
            (403, "GET", "/explore.js", vec![host, ("sec-fetch-site", "same-site")]),
            (200, "GET", "/", vec![host, ("sec-fetch-site", "cross-site")]),
        ] {
            let request = request(method, path, &headers);
            assert_eq!(status(&guard, &request), expected, "{method} {path} {headers:?}");
        }
    }

    #[test]
    fn elsewhere_the_token_is_needed() {
        let token = new_token().unwrap();
        assert_eq!(token.len(), 32);
        assert_ne!(token, new_token().unwrap());
        let guard = Guard::new("0.0.0.0:4000".parse().unwrap(), Some(token.clone()));
        let host = ("host", "node17:4000");
        let with = format!("/?h=pi&token={token}");
        assert_eq!(status(&guard, &request("GET", &with, &[host])), 200);
        assert_eq!(status(&guard, &request("GET", "/", &[host])), 401);
        assert_eq!(status(&guard, &request("GET", "/?token=", &[host])), 401);
        assert_eq!(status(&guard, &request("GET", "/explore.js", &[host])), 200);
        let sent = ("x-trustvb-token", token.as_str());
        assert_eq!(status(&guard, &request("POST", "/api/ask", &[host, JSON, sent])), 200);
        let wrong = ("x-trustvb-token", "0123456789abcdef0123456789abcdef");
        assert_eq!(status(&guard, &request("POST", "/api/ask", &[host, JSON, wrong])), 401);
        let open = Guard::new("0.0.0.0:4000".parse().unwrap(), None);
        assert_eq!(status(&open, &request("GET", "/", &[host])), 403);
    }
}
