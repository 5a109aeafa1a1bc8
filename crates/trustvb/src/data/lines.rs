//! Makes every line end in a single `\n`, so that lines can be counted without special cases, and refuses one that never
//! ends.

use std::io::{self, Read};

/// Bytes that a line may have: more would be the memory of a machine before anything can be said of it.
const LONGEST: u64 = 1 << 26;

/// Turns `\r\n` and a lone `\r` into `\n`, and ends the last line.
pub(super) struct UnixLines<R> {
    inner: R,
    after_return: bool,
    ended: bool,
    bytes_read: u64,
    /// Bytes of the line at hand so far.
    of_line: u64,
}

impl<R: Read> UnixLines<R> {
    pub(super) fn new(inner: R) -> Self {
        UnixLines { inner, after_return: false, ended: false, bytes_read: 0, of_line: 0 }
    }

    /// Bytes taken from the source so far.
    pub(super) fn bytes_read(&self) -> u64 {
        self.bytes_read
    }
}

impl<R: Read> Read for UnixLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() || self.ended {
            return Ok(0);
        }
        loop {
            let n = self.inner.read(buffer)?;
            if n == 0 {
                self.ended = true;
                buffer[0] = b'\n';
                return Ok(1);
            }
            self.bytes_read += n as u64;
            let ends = |byte: &u8| matches!(byte, b'\n' | b'\r');
            self.of_line = match buffer[..n].iter().rposition(ends) {
                Some(last) => (n - last) as u64,
                None => self.of_line + n as u64,
            };
            if self.of_line > LONGEST {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!(
                        "a line has more than {} MB, so it holds no rows of a table",
                        LONGEST >> 20
                    ),
                ));
            }
            if !self.after_return && !buffer[..n].contains(&b'\r') {
                return Ok(n);
            }
            let mut kept = 0;
            for i in 0..n {
                let byte = buffer[i];
                let second_half = byte == b'\n' && self.after_return;
                self.after_return = byte == b'\r';
                if !second_half {
                    buffer[kept] = if byte == b'\r' { b'\n' } else { byte };
                    kept += 1;
                }
            }
            if kept > 0 {
                return Ok(kept);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out one byte at a time, so that every `\r\n` is split.
    struct Drip<'a>(&'a [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = self.0.len().min(1);
            buffer[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    #[test]
    fn all_line_ends_become_one() {
        for (text, expected) in
            [("a\r\nb\rc\n\nd", "a\nb\nc\n\nd\n"), ("", "\n"), ("\r\r\n\n", "\n\n\n\n")]
        {
            for dripping in [false, true] {
                let mut out = String::new();
                if dripping {
                    UnixLines::new(Drip(text.as_bytes())).read_to_string(&mut out).unwrap();
                } else {
                    UnixLines::new(text.as_bytes()).read_to_string(&mut out).unwrap();
                }
                assert_eq!(out, expected);
            }
        }
    }
}
