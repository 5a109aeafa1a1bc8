//! Finds durations, which Arrow stores as plain integers and tells only in a schema of its own.
//!
//! That schema is a FlatBuffers message in base64 under `ARROW:schema`. Of it no more is read than the names and types
//! of the top-level fields; what cannot be read is taken as saying nothing.

/// Number of the type Duration among Arrow's types.
const DURATION: u8 = 18;

/// Names of the columns that Arrow calls durations.
pub(super) fn durations(schema: &str) -> Vec<String> {
    decode(schema).and_then(|bytes| names_of_durations(&bytes)).unwrap_or_default()
}

fn names_of_durations(bytes: &[u8]) -> Option<Vec<String>> {
    // A mark, the length, and then the message; older writers left out the mark.
    let message = match bytes.get(..4)? {
        [0xff, 0xff, 0xff, 0xff] => bytes.get(8..)?,
        _ => bytes.get(4..)?,
    };
    let buffer = Buffer(message);
    let root = buffer.follow(0)?;
    let schema = buffer.follow(buffer.field(root, 2)?)?;
    let fields = buffer.follow(buffer.field(schema, 1)?)?;
    let count = buffer.u32(fields)?;
    let mut names = Vec::new();
    for number in 0..count as usize {
        let field = buffer.follow(fields + 4 + 4 * number)?;
        let kind = buffer.field(field, 2).and_then(|at| message.get(at).copied());
        if kind == Some(DURATION) {
            let name = buffer.follow(buffer.field(field, 0)?)?;
            let bytes = message.get(name + 4..)?.get(..buffer.u32(name)? as usize)?;
            names.push(String::from_utf8_lossy(bytes).trim().to_owned());
        }
    }
    Some(names)
}

/// FlatBuffers: tables begin with the distance to a list of where their fields are.
struct Buffer<'a>(&'a [u8]);

impl Buffer<'_> {
    fn u16(&self, at: usize) -> Option<u16> {
        self.0.get(at..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes))
    }

    fn u32(&self, at: usize) -> Option<u32> {
        self.0.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
    }

    /// Where the offset at a place leads.
    fn follow(&self, at: usize) -> Option<usize> {
        at.checked_add(self.u32(at)? as usize)
    }

    /// Where a field of a table is, if it is there.
    fn field(&self, table: usize, number: usize) -> Option<usize> {
        let list = table.checked_add_signed(-(self.u32(table)? as i32 as isize))?;
        let place = 4 + 2 * number;
        if place >= usize::from(self.u16(list)?) {
            return None;
        }
        match self.u16(list + place)? {
            0 => None,
            offset => table.checked_add(usize::from(offset)),
        }
    }
}

/// Base64 with the usual letters.
fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut n_bits) = (0u32, 0);
    for letter in text.trim_end_matches('=').bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push((bits >> n_bits) as u8);
            bits &= (1 << n_bits) - 1;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::durations;

    /// As pyarrow writes it for `x: double, wait: duration[s], n: int64`.
    const SCHEMA: &str = "\
        /////9gAAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAMAAAB8AAAAPAAAAAQAAACg////\
        AAABAhAAAAAcAAAABAAAAAAAAAABAAAAbgAAAAgADAAIAAcACAAAAAAAAAFAAAAA1P///wAAARIQAAAAGAAAAAQAAAAAAAAA\
        BAAAAHdhaXQAAAAAyv///wAAAAAQABQACAAGAAcADAAAABAAEAAAAAAAAQMQAAAAGAAAAAQAAAAAAAAAAQAAAHgABgAIAAYA\
        BgAAAAAAAgA=";

    #[test]
    fn a_duration_is_known_by_its_schema() {
        assert_eq!(durations(SCHEMA), ["wait"]);
    }

    #[test]
    fn a_damaged_schema_says_nothing() {
        for end in 0..SCHEMA.len() {
            let _ = durations(&SCHEMA[..end]);
            let mut letters = SCHEMA.as_bytes().to_vec();
            letters[end] = b'/';
            let _ = durations(&String::from_utf8_lossy(&letters));
        }
        assert!(durations("").is_empty() && durations("§").is_empty());
    }
}
