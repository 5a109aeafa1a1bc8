//! Tables in an object store: moto's S3 server on loopback.

use super::common::{self, Run, Scratch};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A server that keeps buckets in memory, stopped when it is dropped.
struct Store {
    server: Child,
    address: String,
}

impl Store {
    /// Starts it on a free port, with a bucket called `bucket`.
    fn start() -> Store {
        let python = std::env::var_os("TRUSTVB_MOTO_PYTHON")
            .expect("TRUSTVB_MOTO_PYTHON names a Python with moto; `cargo xtask cluster` sets it");
        let mut server = Command::new(python)
            .args(["-u", "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("moto starts");
        let mut lines = BufReader::new(server.stderr.take().expect("a pipe")).lines();
        let address = lines
            .by_ref()
            .map_while(Result::ok)
            .find_map(|line| Some(line.split_once("Running on http://")?.1.trim().to_owned()))
            .expect("moto says where it listens");
        // Its log goes on; a full pipe would stop it.
        std::thread::spawn(move || lines.for_each(drop));
        let store = Store { server, address };
        assert!(store.put("bucket", b"").starts_with("HTTP/1.1 200"));
        store
    }

    /// Puts an object, or makes a bucket, and returns what the server says. It wants a signature and does not
    /// look at it.
    fn put(&self, name: &str, content: &[u8]) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        let head = format!(
            "PUT /{name} HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\nConnection: close\r\n\
             Authorization: AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, \
             SignedHeaders=host, Signature=0\r\n\r\n",
            self.address,
            content.len()
        );
        stream.write_all(head.as_bytes()).expect("a request");
        stream.write_all(content).expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }

    fn run(&self, scratch: &Scratch, args: &[&str]) -> Run {
        common::output(self.command(scratch, args))
    }

    fn command(&self, scratch: &Scratch, args: &[&str]) -> Command {
        let mut command = scratch.command(args);
        command
            .env("AWS_ENDPOINT", format!("http://{}", self.address))
            .env("AWS_ALLOW_HTTP", "true")
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", "test")
            .env("AWS_SECRET_ACCESS_KEY", "test");
        command
    }

    fn ok(&self, scratch: &Scratch, args: &[&str]) -> String {
        let run = self.run(scratch, args);
        assert_eq!(run.code, Some(0), "trustvb {}: {}", args.join(" "), run.stderr);
        run.stdout
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // It may have ended by itself; either way it is gone.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
#[ignore = "needs an S3-compatible server: `cargo xtask cluster` installs and runs it"]
fn a_table_lives_in_an_object_store() {
    const TABLE: &str = "s3://bucket/work/faithful.tvb";
    let (scratch, store) = (Scratch::new(), Store::start());
    let build = |place: &str, more: &[&str]| {
        let base = ["table", "build", "-o", place, "--grid", "30", "-B", "60", "-q"];
        store.ok(&scratch, &[&base[..], more].concat())
    };
    build("here.tvb", &[]);
    build(TABLE, &["--shard", "1/2"]);
    let half = store.run(&scratch, &["table", "info", TABLE, "--complete"]);
    assert_eq!(half.code, Some(1), "{}", half.stdout);
    assert!(half.stdout.contains("missing: "), "{}", half.stdout);
    build(TABLE, &["--shard", "2/2"]);
    store.ok(&scratch, &["table", "info", TABLE, "--complete"]);
    let said = store.ok(&scratch, &["table", "diff", "here.tvb", TABLE]);
    assert!(said.starts_with("identical: "), "{said}");

    // Asked there as here, and the report too.
    let ask = |table: &str| {
        store.ok(&scratch, &["interval", table, "pi[1]", "mu[1,waiting]", "--format", "csv"])
    };
    assert_eq!(ask(TABLE), ask("here.tvb"));
    store.ok(&scratch, &["report", TABLE, "pi[1]", "-o", "report.html", "-q"]);
    assert!(scratch.read("report.html").contains("pi[1]"));

    // Merged to and fro.
    store.ok(&scratch, &["table", "merge", "-o", "s3://bucket/copy.tvb", "here.tvb", "-q"]);
    store.ok(&scratch, &["table", "merge", "-o", "back.tvb", "s3://bucket/copy.tvb", "-q"]);
    store.ok(&scratch, &["table", "diff", "back.tvb", TABLE]);

    // A damaged object is named, refused with a remedy, and made anew.
    let damaged = "work/faithful.tvb/parts/full-00001.parquet";
    assert!(store.put(&format!("bucket/{damaged}"), b"PAR1 and no more").contains(" 200 "));
    let info = store.run(&scratch, &["table", "info", TABLE, "--complete"]);
    assert_eq!(info.code, Some(1));
    assert!(info.stdout.contains("full-00001.parquet is damaged"), "{}", info.stdout);
    let refused = store.run(&scratch, &["interval", TABLE, "pi[1]"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("trustvb table build"), "{}", refused.stderr);
    build(TABLE, &[]);
    store.ok(&scratch, &["table", "diff", "here.tvb", TABLE]);

    // What is not there, and what is not a table, is said plainly.
    let absent = store.run(&scratch, &["interval", "s3://bucket/none.tvb", "pi[1]"]);
    assert_eq!(absent.code, Some(1));
    assert!(absent.stderr.contains("is not a TVB table"), "{}", absent.stderr);
    let other = ["table", "build", "-o", TABLE, "--grid", "31", "-B", "60", "-q"];
    let other = store.run(&scratch, &other);
    assert_eq!(other.code, Some(1));
    assert!(other.stderr.contains("made with other settings"), "{}", other.stderr);
}

/// A way to a server that can be closed, as when the server dies, and opened again.
struct Way {
    address: String,
    open: Arc<AtomicBool>,
}

impl Way {
    fn to(server: &str) -> Way {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let open = Arc::new(AtomicBool::new(true));
        let (server, is_open) = (server.to_owned(), open.clone());
        std::thread::spawn(move || {
            for client in listener.incoming().filter_map(Result::ok) {
                // A closed way hangs up at once; whatever was sent is lost.
                if !is_open.load(Ordering::Relaxed) {
                    continue;
                }
                let Ok(there) = TcpStream::connect(&server) else { continue };
                for (mut from, mut to) in [
                    (client.try_clone().expect("a socket"), there.try_clone().expect("a socket")),
                    (there, client),
                ] {
                    std::thread::spawn(move || {
                        let _ = std::io::copy(&mut from, &mut to);
                        let _ = to.shutdown(Shutdown::Both);
                    });
                }
            }
        });
        Way { address, open }
    }
}

#[test]
#[ignore = "needs an S3-compatible server: `cargo xtask cluster` installs and runs it"]
fn a_store_that_dies_and_comes_back_is_waited_for() {
    const AWAY: Duration = Duration::from_secs(15);
    let scratch = Scratch::new();
    let mut store = Store::start();
    let way = Way::to(&store.address);
    store.address.clone_from(&way.address);
    let table = "s3://bucket/far.tvb";
    let build =
        ["table", "build", "-o", table, "--grid", "60", "-B", "200", "-q", "--threads", "1"];
    let child =
        store.command(&scratch, &build).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let child = child.expect("trustvb starts");
    std::thread::sleep(Duration::from_millis(300));
    way.open.store(false, Ordering::Relaxed);
    std::thread::sleep(AWAY);
    way.open.store(true, Ordering::Relaxed);
    let run = common::finish(child);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    store.ok(&scratch, &["table", "check", table, "--complete"]);
    println!("a store that was away for {AWAY:?}: waited for, and the table is sound");
}

#[test]
#[ignore = "needs an S3-compatible server: `cargo xtask cluster` installs and runs it"]
fn of_two_builders_in_a_store_one_is_told() {
    let (scratch, store) = (Scratch::new(), Store::start());
    for round in 0..5 {
        let table = format!("s3://bucket/race{round}.tvb");
        let start = |seed| {
            let args =
                ["table", "build", "-o", &table, "--grid", "10", "-B", "40", "-q", "--seed", seed];
            let mut command = store.command(&scratch, &args);
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("trustvb starts")
        };
        let both = [start("1"), start("2")].map(common::finish);
        let codes: Vec<_> = both.iter().map(|run| run.code).collect();
        assert!(codes.contains(&Some(0)) && codes.contains(&Some(1)), "{both:?}");
        store.ok(&scratch, &["table", "check", &table, "--complete"]);
    }
    println!("5 races in a store: one winner each");
}

#[test]
#[ignore = "needs an S3-compatible server: `cargo xtask cluster` installs and runs it"]
fn what_waiting_does_not_mend_is_said_at_once() {
    let (scratch, store) = (Scratch::new(), Store::start());
    let build = |place| ["table", "build", "-o", place, "--grid", "3", "-B", "20", "-q"];
    let run = store.run(&scratch, &build("s3://nowhere/a.tvb"));
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("no such bucket"), "{}", run.stderr);
    assert!(!run.stderr.contains("goes on from there"), "{}", run.stderr);
    let mut command = store.command(&scratch, &build("s3://bucket/a.tvb"));
    command.env_remove("AWS_ACCESS_KEY_ID").env_remove("AWS_SECRET_ACCESS_KEY");
    let run = common::output(command);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("no keys were found"), "{}", run.stderr);
}

#[test]
#[ignore = "needs an S3-compatible server: `cargo xtask cluster` installs and runs it"]
fn a_study_lives_in_an_object_store() {
    const STUDY: &str = "s3://bucket/work/small.study";
    let (scratch, store) = (Scratch::new(), Store::start());
    let study = |place: &str, more: &[&str]| {
        let base =
            ["study", "section3", "--only", "sep3/n=300", "--replications", "20", "-B", "20"];
        let rest = ["--method", "vb,balanced", "--quantity", "pi[1]", "-q", "-o", place];
        store.run(&scratch, &[&base[..], &rest, more].concat())
    };
    // Two shards there are the whole here; seconds alone differ.
    assert_eq!(study("here.study", &[]).code, Some(0));
    assert_eq!(study(STUDY, &["--shard", "1/2"]).code, Some(0));
    let half = store.run(&scratch, &["study", STUDY, "--so-far", "--complete"]);
    assert_eq!(half.code, Some(1), "{}", half.stdout);
    assert!(half.stderr.contains("1 of 2 parts are missing"), "{}", half.stderr);
    assert_eq!(study(STUDY, &["--shard", "2/2"]).code, Some(0));
    let shown = |place: &str| {
        let text = store.ok(&scratch, &["study", place, "--so-far", "--format", "csv", "-q"]);
        let still = |line: &str| line.rsplit_once(',').map(|(rest, _)| rest.to_owned());
        text.lines().map(still).collect::<Vec<_>>()
    };
    assert_eq!(shown(STUDY), shown("here.study"));

    // Merged to and fro, with its summary and figures; another study is refused.
    store.ok(&scratch, &["study", "merge", "-o", "back.study", STUDY, "-q"]);
    assert_eq!(shown("back.study"), shown("here.study"));
    for file in ["summary.csv", "coverage.svg", "length.png", "replications.parquet"] {
        assert!(scratch.path("back.study").join(file).is_file(), "{file}");
    }
    let intervals = |study: &str| {
        std::fs::read(scratch.path(study).join("replications.parquet")).expect("intervals")
    };
    assert_eq!(intervals("back.study"), intervals("here.study"));
    let other = study(STUDY, &["--seed", "2"]);
    assert_eq!(other.code, Some(1));
    assert!(other.stderr.contains("study.seed"), "{}", other.stderr);
}
