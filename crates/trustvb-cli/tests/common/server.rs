//! A running `trustvb explore`, and requests to it without a browser.

#![allow(dead_code, reason = "each test binary uses its own share of the helpers")]

use crate::common::Scratch;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// A server that ends with the test.
pub(crate) struct Server {
    process: Child,
    /// The address it printed.
    pub(crate) url: String,
}

impl Server {
    /// Starts `trustvb explore` and reads its address.
    pub(crate) fn start(scratch: &Scratch, args: &[&str]) -> Server {
        let mut all = vec!["explore", "--no-browser", "--quiet"];
        all.extend(args);
        let mut process =
            scratch.command(&all).stdout(Stdio::piped()).spawn().expect("trustvb starts");
        let out = process.stdout.take().expect("its output is a pipe");
        let mut url = String::new();
        BufReader::new(out).read_line(&mut url).expect("it prints its address");
        Server { process, url: url.trim().to_owned() }
    }

    /// `127.0.0.1:4321`.
    pub(crate) fn address(&self) -> &str {
        let rest = self.url.trim_start_matches("http://");
        rest.split('/').next().unwrap_or(rest)
    }

    /// Sends a request and returns status, headers and body.
    pub(crate) fn request(
        &self,
        line: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (u16, String, String) {
        let address = self.address();
        let mut text = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            text.push_str(&format!("Host: {address}\r\n"));
        }
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        let mut stream = TcpStream::connect(address).expect("it listens");
        // It may refuse before it has read everything.
        let _ = stream.write_all(text.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        (status, head.to_lowercase(), body.to_owned())
    }

    /// Asks for an answer in JSON.
    pub(crate) fn ask(&self, path: &str, question: &serde_json::Value) -> (u16, String) {
        let headers = [("Content-Type", "application/json")];
        let (status, _, body) =
            self.request(&format!("POST {path}"), &headers, &question.to_string());
        (status, body)
    }

    /// Sends what Ctrl-C sends, and returns the exit code.
    pub(crate) fn interrupt(mut self) -> Option<i32> {
        let id = self.process.id().to_string();
        Command::new("kill").args(["-INT", &id]).status().expect("kill runs");
        self.process.wait().expect("it ends").code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
