//! A small WebDriver client for Chromium: starts `chromedriver`, sends it JSON over HTTP, reads JSON back.

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long to wait for something to appear on a page.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser with one window.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    /// Profile and downloads, gone with the browser.
    folder: TempDir,
}

impl Browser {
    /// Starts Chromium without a window on the screen.
    pub(crate) fn start() -> Browser {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|why| {
                panic!(
                    "chromedriver cannot be started: {why}. `cargo xtask test` installs Chromium and \
                     its driver; on Debian, `apt-get install chromium chromium-driver` does"
                )
            });
        let port = port_of(&mut driver);
        let folder = tempfile::tempdir().expect("a scratch folder");
        let mut browser = Browser { driver, port, session: String::new(), folder };
        let profile = browser.folder.path().join("profile");
        let arguments = [
            "--headless".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-quic".to_owned(),
            "--disable-dev-shm-usage".to_owned(),
            "--no-first-run".to_owned(),
            "--disable-background-networking".to_owned(),
            "--disable-component-update".to_owned(),
            "--disable-sync".to_owned(),
            "--hide-scrollbars".to_owned(),
            "--force-color-profile=srgb".to_owned(),
            format!("--user-data-dir={}", profile.display()),
        ];
        let made = browser.send(
            "POST",
            "/session",
            &json!({ "capabilities": { "alwaysMatch": {
                "browserName": "chrome",
                "goog:chromeOptions": { "args": arguments },
                "goog:loggingPrefs": { "browser": "ALL" },
                "unhandledPromptBehavior": "ignore",
            }}}),
        );
        browser.session = made["sessionId"].as_str().expect("a session").to_owned();
        let downloads = browser.downloads();
        fs::create_dir_all(&downloads).expect("a folder for downloads");
        browser.devtools(
            "Browser.setDownloadBehavior",
            json!({ "behavior": "allow", "downloadPath": downloads.display().to_string() }),
        );
        browser
    }

    /// Where downloads go.
    pub(crate) fn downloads(&self) -> std::path::PathBuf {
        self.folder.path().join("downloads")
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = exchange(self.port, method, path, body);
        let value = answer["value"].clone();
        assert!(value["error"].is_null(), "{method} {path}: {}", value["message"]);
        value
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        self.send(method, &format!("/session/{}{path}", self.session), body)
    }

    /// A command of Chromium's own protocol.
    pub(crate) fn devtools(&self, command: &str, parameters: Value) -> Value {
        self.call("POST", "/goog/cdp/execute", &json!({ "cmd": command, "params": parameters }))
    }

    pub(crate) fn open(&self, url: &str) {
        self.call("POST", "/url", &json!({ "url": url }));
    }

    /// Goes back one step, as the browser's own button does.
    pub(crate) fn back(&self) {
        self.call("POST", "/back", &json!({}));
    }

    pub(crate) fn url(&self) -> String {
        self.call("GET", "/url", &Value::Null).as_str().expect("an address").to_owned()
    }

    /// Runs a script's body in the page and returns what it returns.
    pub(crate) fn run(&self, script: &str, arguments: Value) -> Value {
        self.call("POST", "/execute/sync", &json!({ "script": script, "args": arguments }))
    }

    /// Runs an asynchronous script's body in the page and returns what its promise gives.
    pub(crate) fn run_async(&self, script: &str, arguments: Value) -> Value {
        let wrapped = format!(
            "const done = arguments[arguments.length - 1];
             (async () => {{ {script} }})().then(done, (why) => done('threw: ' + why));"
        );
        self.call("POST", "/execute/async", &json!({ "script": wrapped, "args": arguments }))
    }

    /// Waits until an expression is true in the page.
    pub(crate) fn wait(&self, condition: &str) {
        let began = Instant::now();
        while self.run(&format!("return Boolean({condition})"), json!([])) != json!(true) {
            assert!(
                began.elapsed() < PATIENCE,
                "this did not become true: {condition}\nthe page says: {}",
                self.run("return document.body.innerText", json!([]))
            );
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    fn element(&self, selector: &str) -> String {
        let found =
            self.call("POST", "/element", &json!({ "using": "css selector", "value": selector }));
        let id = found.as_object().and_then(|map| map.values().next()?.as_str());
        id.unwrap_or_else(|| panic!("there is no {selector}")).to_owned()
    }

    pub(crate) fn click(&self, selector: &str) {
        let element = self.element(selector);
        self.call("POST", &format!("/element/{element}/click"), &json!({}));
    }

    /// Types into an element, key by key.
    pub(crate) fn type_into(&self, selector: &str, keys: &str) {
        let element = self.element(selector);
        self.call("POST", &format!("/element/{element}/value"), &json!({ "text": keys }));
    }

    pub(crate) fn clear(&self, selector: &str) {
        self.run(
            "const input = document.querySelector(arguments[0]);
             input.value = ''; input.dispatchEvent(new Event('input', { bubbles: true }));",
            json!([selector]),
        );
    }

    /// What the console said since the last time, warnings and errors only.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let log = self.call("POST", "/se/log", &json!({ "type": "browser" }));
        log.as_array()
            .into_iter()
            .flatten()
            .filter(|entry| matches!(entry["level"].as_str(), Some("SEVERE" | "WARNING")))
            .map(|entry| entry["message"].to_string())
            .collect()
    }

    /// Cuts the network off, or gives it back.
    pub(crate) fn offline(&self, offline: bool) {
        self.devtools("Network.enable", json!({}));
        self.devtools(
            "Network.emulateNetworkConditions",
            json!({ "offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 }),
        );
    }

    /// Sets the window's size and the reader's colour scheme.
    pub(crate) fn look(&self, width: u32, height: u32, scheme: &str) {
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false }),
        );
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.devtools("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// Keeps a picture of the page as it would be printed on A4, and goes back to the screen.
    pub(crate) fn look_at_paper(&self, path: &Path) {
        self.look(718, 1000, "light");
        self.devtools("Emulation.setEmulatedMedia", json!({ "media": "print" }));
        self.picture(path, true);
        self.devtools("Emulation.setEmulatedMedia", json!({ "media": "" }));
    }

    /// The page as a PDF on A4, with its headings in the outline.
    pub(crate) fn print(&self) -> Vec<u8> {
        let printed = self.devtools(
            "Page.printToPDF",
            json!({
                "paperWidth": 8.27, "paperHeight": 11.69, "printBackground": true,
                "generateTaggedPDF": true, "generateDocumentOutline": true,
            }),
        );
        from_base64(printed["data"].as_str().expect("a PDF"))
    }

    /// Keeps a picture of the window, or of the whole page.
    ///
    /// Chromium gives up on a picture after some seconds. On a machine that is busy with other things it is asked again.
    pub(crate) fn picture(&self, path: &Path, whole_page: bool) {
        let format = json!({ "format": "png", "captureBeyondViewport": whole_page, "optimizeForSpeed": false });
        let asked = json!({ "cmd": "Page.captureScreenshot", "params": format });
        let ask = |_| {
            let path = format!("/session/{}/goog/cdp/execute", self.session);
            let taken = exchange(self.port, "POST", &path, &asked)["value"].clone();
            taken["data"].is_string().then_some(taken)
        };
        let taken =
            (0..3).find_map(ask).unwrap_or_else(|| self.call("POST", "/goog/cdp/execute", &asked));
        let bytes = from_base64(taken["data"].as_str().expect("a picture"));
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).expect("a folder for pictures");
        }
        fs::write(path, bytes).expect("a picture can be written");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            let path = format!("/session/{}", self.session);
            exchange(self.port, "DELETE", &path, &Value::Null);
        }
        // Ends Chromium too.
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// The port that the driver chose, from what it prints.
fn port_of(driver: &mut Child) -> u16 {
    let out = driver.stdout.take().expect("the driver's output is a pipe");
    let mut lines = BufReader::new(out).lines();
    let port = lines
        .by_ref()
        .map_while(Result::ok)
        .find_map(|line| {
            let rest = line.split_once("started successfully on port ")?.1;
            rest.trim_end_matches('.').parse().ok()
        })
        .expect("chromedriver tells its port");
    // Somebody must go on reading, or the driver stops when the pipe is full.
    std::thread::spawn(move || lines.for_each(drop));
    port
}

/// One request and its answer.
fn exchange(port: u16, method: &str, path: &str, body: &Value) -> Value {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the driver listens");
    stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a timeout can be set");
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .expect("the driver reads");
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("the driver answers");
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().expect("a length");
        }
    }
    let mut answer = vec![0; length];
    reader.read_exact(&mut answer).expect("the whole answer");
    serde_json::from_slice(&answer).unwrap_or_else(|why| panic!("{method} {path}: {why}"))
}

fn from_base64(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let letters: Vec<u8> =
        text.bytes().filter(|c| !c.is_ascii_whitespace() && *c != b'=').collect();
    let mut bytes = Vec::with_capacity(letters.len() * 3 / 4);
    for group in letters.chunks(4) {
        let word = group.iter().fold(0u32, |word, c| word << 6 | u32::from(value(*c)));
        let word = word << (6 * (4 - group.len()));
        bytes.extend(&word.to_be_bytes()[1..group.len()]);
    }
    bytes
}
