//! The explorer without a browser: the same numbers as the command, and no answer to strangers.

mod common;
#[path = "common/server.rs"]
mod server;

use common::Scratch;
use serde_json::{Value, json};
use server::Server;

const METHODS: [&str; 3] = ["balanced", "vb", "tvb"];

fn with_table() -> Scratch {
    let scratch = Scratch::new();
    scratch.ok(&["table", "build", "-o", "faithful.tvb", "--grid", "30", "-B", "60"]);
    scratch
}

#[test]
fn connections_that_send_nothing_keep_nobody_out() {
    let scratch = with_table();
    let server = Server::start(&scratch, &["faithful.tvb"]);
    let silent: Vec<_> = (0..150)
        .map(|_| std::net::TcpStream::connect(server.address()).expect("a connection"))
        .collect();
    assert_eq!(server.request("GET /api/tables", &[], "").0, 200);
    drop(silent);
}

#[test]
fn answers_are_those_of_the_command_in_any_order_of_levels() {
    let scratch = with_table();
    let server = Server::start(&scratch, &["faithful.tvb"]);
    for functional in ["pi[1]", "mu[1,waiting] - mu[2,waiting]", "mu[2,]", "-mu[1,1]"] {
        // What is kept from one level must not change the next.
        for level in ["0.95", "0.5", "0.9", "0.95"] {
            let asked = [
                "interval",
                "--level",
                level,
                "--method",
                "balanced,vb,tvb",
                "--format",
                "json",
                "--",
                "faithful.tvb",
            ];
            let expected = scratch.ok(&[&asked[..], &[functional]].concat()).json();
            let level: f64 = level.parse().unwrap();
            let question = json!({
                "table": 0, "functional": functional, "level": level,
                "methods": ["tvb", "vb", "balanced"],
            });
            let (status, body) = server.ask("/api/ask", &question);
            assert_eq!(status, 200, "{body}");
            let found: Value = serde_json::from_str(&body).expect("JSON");
            assert_eq!(found["answer"], expected, "{functional} at {level}");
        }
    }
    // Several levels at once give what each gives alone.
    let several = ["interval", "faithful.tvb", "pi[1]", "--level", "0.5,0.95", "--format", "json"];
    let several = scratch.ok(&several).json();
    for level in ["0.5", "0.95"] {
        let alone = ["interval", "faithful.tvb", "pi[1]", "--level", level, "--format", "json"];
        for interval in scratch.ok(&alone).json()["intervals"].as_array().unwrap() {
            assert!(several["intervals"].as_array().unwrap().contains(interval), "{level}");
        }
    }
}

#[test]
fn the_overview_is_of_the_interval_to_use_and_of_vb_s_own() {
    let scratch = with_table();
    let server = Server::start(&scratch, &["faithful.tvb"]);
    let list = ["pi[1]", "mu[1,]", "mu[1,1]", "nonsense[", "log(pi[2])"];
    let question =
        json!({ "table": 0, "functionals": list, "level": 0.9, "methods": ["vb", "balanced"] });
    let (status, body) = server.ask("/api/overview", &question);
    assert_eq!(status, 200, "{body}");
    let found: Value = serde_json::from_str(&body).expect("JSON");
    // What an earlier one shows already is not repeated, and what cannot be read is told beside the others.
    let rows = found["rows"].as_array().expect("rows");
    let labels: Vec<&str> = rows.iter().map(|row| row["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["pi[1]", "mu[1,eruptions]", "mu[1,waiting]", "log(pi[2])"]);
    assert_eq!(rows[1]["functional"], "mu[1,]");
    assert_eq!(rows[2]["plain"], "mean of waiting in component 1");
    assert_eq!(found["problems"][0]["functional"], "nonsense[");
    let asked = ["interval", "faithful.tvb", "pi[1]", "mu[1,]", "log(pi[2])", "--level", "0.9"];
    let asked = [&asked[..], &["--method", "balanced,vb", "--format", "json"]].concat();
    let expected = scratch.ok(&asked).json();
    let expected = expected["intervals"].as_array().unwrap();
    for row in rows {
        let of = |method: &str| {
            let same = |a: &&Value| a["label"] == row["label"] && a["method"] == method;
            expected.iter().find(same).unwrap_or_else(|| panic!("{row}"))
        };
        let (used, own) = (of("balanced"), of("vb"));
        assert_eq!(row["numbers"], json!([used["estimate"], used["lower"], used["upper"]]));
        assert_eq!(row["covers"], own["coverage"]);
        let length = |a: &Value| a["upper"].as_f64().unwrap() - a["lower"].as_f64().unwrap();
        assert_eq!(row["longer"], format!("×{:.2}", length(used) / length(own)));
    }
    assert!(found["command"].as_str().unwrap().ends_with("--level 0.9 --method balanced,vb"));
    for (field, value) in
        [("level", json!(95)), ("table", json!(3)), ("functionals", json!(vec!["pi[1]"; 101]))]
    {
        let mut wrong = question.clone();
        wrong[field] = value;
        assert!((400..500).contains(&server.ask("/api/overview", &wrong).0), "{field}");
    }
    let none = json!({ "table": 0, "functionals": [], "level": 0.9 });
    assert_eq!(server.ask("/api/overview", &none).0, 200);
}

#[test]
fn exports_are_what_the_command_writes() {
    let scratch = with_table();
    let server = Server::start(&scratch, &["faithful.tvb"]);
    let list = json!(["pi[1]", "mu[1,]"]);
    for format in ["json", "csv"] {
        let question = json!({
            "table": 0, "functionals": list, "level": 0.8, "methods": METHODS, "format": format,
        });
        let (status, body) = server.ask("/api/export", &question);
        let command = [
            "interval",
            "faithful.tvb",
            "pi[1]",
            "mu[1,]",
            "--level",
            "0.8",
            "--method",
            "balanced,vb,tvb",
            "--format",
            format,
        ];
        assert_eq!((status, body), (200, scratch.ok(&command).stdout), "{format}");
    }
    let question = json!({
        "table": 0, "functionals": list, "level": 0.8, "methods": METHODS, "format": "report",
    });
    let (_, body) = server.ask("/api/export", &question);
    scratch.ok(&["report", "faithful.tvb", "pi[1]", "mu[1,]", "--level", "0.8", "-o", "r.html"]);
    assert!(body == scratch.read("r.html"), "the reports differ");
}

#[test]
fn mistakes_are_told_with_their_place() {
    let scratch = with_table();
    let server = Server::start(&scratch, &["faithful.tvb"]);
    let check = |text: &str| {
        let (status, body) = server.ask("/api/check", &json!({ "table": 0, "functional": text }));
        (status, serde_json::from_str::<Value>(&body).expect("JSON")["error"].clone())
    };
    let (status, error) = check("\u{1d70b} + pi[3]");
    assert_eq!(status, 200);
    assert!(error["message"].as_str().unwrap().contains("unknown quantity"), "{error}");
    // In JavaScript's characters the first letter counts twice.
    assert_eq!((error["from"].as_u64(), error["to"].as_u64()), (Some(0), Some(2)));
    let (_, error) = check("pi[1] + pi[3]");
    assert_eq!((error["from"].as_u64(), error["to"].as_u64()), (Some(11), Some(12)));
    assert!(error["suggestion"].as_str().unwrap().contains("from 1 to 2"));
    assert!(check("pi[1]").1.is_null());
    let long = check(&"1+".repeat(600)).1["message"].to_string();
    assert!(long.contains("more than 1000 characters"), "{long}");
    let (status, _) =
        server.ask("/api/check", &json!({ "table": 0, "functional": "1+".repeat(500_000) }));
    assert_eq!(status, 413);
    let ask = |question: Value| server.ask("/api/ask", &question);
    let good = json!({ "table": 0, "functional": "pi[1]", "level": 0.9, "methods": ["vb"] });
    for (field, value) in [
        ("table", json!(1)),
        ("table", json!("faithful.tvb")),
        ("table", json!(-1)),
        ("level", json!(1.0)),
        ("level", json!(null)),
        ("methods", json!([])),
        ("methods", json!(["rubbish"])),
        ("functional", json!("")),
        ("functional", json!(7)),
    ] {
        let mut question = good.clone();
        question[field] = value.clone();
        let (status, body) = ask(question);
        assert!((400..500).contains(&status), "{field} {value}: {status}");
        let error: Value = serde_json::from_str(&body).expect("JSON");
        assert!(error["error"]["message"].is_string(), "{field} {value}: {body}");
    }
    assert_eq!(ask(good).0, 200);
}

#[test]
fn only_its_own_page_on_this_machine_is_answered() {
    let scratch = with_table();
    let server = Server::start(&scratch, &["faithful.tvb"]);
    assert!(server.address().starts_with("127.0.0.1:"));
    let own = format!("http://{}", server.address());
    let json = ("Content-Type", "application/json");
    let body = json!({ "table": 0, "functional": "pi[1]", "level": 0.9, "methods": ["vb"] });
    let body = body.to_string();
    for (expected, headers) in [
        (200, vec![json]),
        (200, vec![json, ("Origin", own.as_str())]),
        (403, vec![json, ("Origin", "http://evil.example")]),
        (403, vec![json, ("Host", "evil.example")]),
        (403, vec![json, ("Host", "127.0.0.1:1")]),
        (403, vec![json, ("Sec-Fetch-Site", "cross-site")]),
        (415, vec![("Content-Type", "text/plain")]),
    ] {
        let (status, head, _) = server.request("POST /api/ask", &headers, &body);
        assert_eq!(status, expected, "{headers:?}");
        for header in ["content-security-policy: default-src 'none'", "nosniff", "no-store"] {
            assert!(head.contains(header), "{headers:?}: no {header}");
        }
    }
    for (line, expected) in [
        ("GET /", 200),
        ("GET /explore.js", 200),
        ("GET /manifest.json", 404),
        ("GET /../faithful.tvb/manifest.json", 404),
        ("GET /faithful.tvb/manifest.json", 404),
        ("GET /%2e%2e/%2e%2e/etc/passwd", 404),
        ("DELETE /api/tables", 405),
        ("GET /api/ask", 405),
    ] {
        assert_eq!(server.request(line, &[], "").0, expected, "{line}");
    }
    let (_, _, page) = server.request("GET /", &[], "");
    assert!(!page.contains(" style=") && !page.contains("<script>") && !page.contains("http"));
}

#[test]
fn elsewhere_a_token_is_needed() {
    let scratch = with_table();
    let server = Server::start(&scratch, &["faithful.tvb", "--bind", "0.0.0.0"]);
    let token = server.url.split_once("?token=").expect("a token in the address").1.to_owned();
    assert_eq!(token.len(), 32);
    assert_eq!(server.request("GET /api/tables", &[], "").0, 401);
    assert_eq!(server.request("GET /", &[], "").0, 401);
    assert_eq!(server.request(&format!("GET /?token={token}"), &[], "").0, 200);
    let sent = [("X-Trustvb-Token", token.as_str())];
    assert_eq!(server.request("GET /api/tables", &sent, "").0, 200);
}

#[cfg(unix)]
#[test]
fn control_c_ends_it_cleanly() {
    let scratch = with_table();
    let server = Server::start(&scratch, &["faithful.tvb"]);
    assert_eq!(server.request("GET /api/tables", &[], "").0, 200);
    assert_eq!(server.interrupt(), Some(0));
}
