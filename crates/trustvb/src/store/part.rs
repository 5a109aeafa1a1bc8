//! The seal of a part: which store and which replicates it belongs to, and checksums of what it holds.
//!
//! The seal is in the Parquet file's own key–value metadata, so that any reader still opens the file. One checksum is of
//! names and values as they are read back: whatever changes a number is found, whether it is in the pages, in the
//! footer or in the decoder. The other is of all bytes of the file, so that what changes no number is found too, and so
//! that nothing needs to be decoded but what is asked for. Parts of earlier versions have only the first.

use crate::data::{
    ColumnValues, Sheet, SomeRows, parquet_bytes, read_columns, read_sheet, read_some,
};
use bytes::Bytes;
use std::io;
use twox_hash::XxHash3_128;

const OWNER: &str = "trustvb.manifest";
const PART: &str = "trustvb.part";
const CHECKSUM: &str = "trustvb.checksum";
const BYTES: &str = "trustvb.bytes";

/// What stands for the checksum of all bytes while it is computed.
const UNKNOWN: &str = "00000000000000000000000000000000";

/// The file of a part.
pub(super) fn encode(
    owner: &str,
    part: &str,
    columns: &[(&str, ColumnValues<'_>)],
) -> io::Result<Vec<u8>> {
    let mut sum = Checksum::new(owner, part);
    columns.iter().for_each(|(name, values)| sum.values(name, values));
    // That of the bytes comes first: a list that lost its end then lost the other one, without which no part is read.
    let seal = [
        (BYTES, UNKNOWN.to_owned()),
        (OWNER, owner.to_owned()),
        (PART, part.to_owned()),
        (CHECKSUM, sum.hex()),
    ];
    let mut content = parquet_bytes(columns, &seal)?;
    let (at, sum) = whole(&content, UNKNOWN)
        .ok_or_else(|| io::Error::other("a part has no place for the checksum of its bytes"))?;
    content[at..at + UNKNOWN.len()].copy_from_slice(sum.as_bytes());
    Ok(content)
}

/// The columns of a part. Without an `owner` it is a part of an older store, which has no seal.
pub(super) fn decode(
    content: Vec<u8>,
    owner: Option<&str>,
    part: &str,
    names: &[String],
    n_rows: usize,
) -> Result<Vec<Vec<f64>>, String> {
    let content = Bytes::from(content);
    let (columns, metadata) = read_columns(content.clone(), names, n_rows)?;
    let checksum = |mut sum: Checksum| {
        names.iter().zip(&columns).for_each(|(name, x)| sum.column(name, x.iter().copied()));
        sum.hex()
    };
    check(&content, &metadata, (owner, part), checksum)?;
    Ok(columns)
}

/// Some rows of some columns of a part, all bytes of which are checked; `None` where it states no checksum of them, or
/// cannot be read so.
pub(super) fn decode_some(
    content: Vec<u8>,
    owner: Option<&str>,
    part: &str,
    wanted: &SomeRows<'_>,
) -> Result<Option<Vec<Vec<f64>>>, String> {
    let Some(owner) = owner else { return Ok(None) };
    let content = Bytes::from(content);
    read_some(content.clone(), wanted, |metadata| {
        check_seal(metadata, owner, part)?;
        check_bytes(&content, metadata)?;
        Ok(metadata.iter().any(|(key, _)| key == BYTES))
    })
}

/// All columns of a part that may hold words.
pub(super) fn decode_sheet(
    content: Vec<u8>,
    owner: Option<&str>,
    part: &str,
) -> Result<Sheet, String> {
    let content = Bytes::from(content);
    let (sheet, metadata) = read_sheet(content.clone())?;
    let checksum = |mut sum: Checksum| {
        sheet.values().iter().for_each(|(name, values)| sum.values(name, values));
        sum.hex()
    };
    check(&content, &metadata, (owner, part), checksum)?;
    Ok(sheet)
}

/// Says what is wrong with a part of these bytes, whose file has these key–value pairs and this checksum of its values.
fn check(
    content: &[u8],
    metadata: &[(String, String)],
    (owner, part): (Option<&str>, &str),
    checksum: impl FnOnce(Checksum) -> String,
) -> Result<(), String> {
    let Some(owner) = owner else {
        return match field(metadata, OWNER) {
            None => Ok(()),
            Some(theirs) => Err(format!("it belongs to another manifest, {}", short(theirs))),
        };
    };
    if check_seal(metadata, owner, part)? != checksum(Checksum::new(owner, part)) {
        return Err("its contents do not match their checksum".to_owned());
    }
    check_bytes(content, metadata)
}

fn field<'a>(metadata: &'a [(String, String)], key: &str) -> Option<&'a str> {
    metadata.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str())
}

/// The checksum of its values that a part states, if it is this one.
fn check_seal<'a>(
    metadata: &'a [(String, String)],
    owner: &str,
    part: &str,
) -> Result<&'a str, String> {
    match [OWNER, PART, CHECKSUM].map(|key| field(metadata, key)) {
        [Some(theirs), _, _] if theirs != owner => Err(format!(
            "it belongs to another manifest, {}; the one here is {}",
            short(theirs),
            short(owner)
        )),
        [_, Some(theirs), _] if theirs != part => {
            Err(format!("it holds {} where {part} should be", short(theirs)))
        }
        [Some(_), Some(_), Some(stated)] => Ok(stated),
        _ => Err("it carries no checksum".to_owned()),
    }
}

/// Checks all bytes of a part whose values are right. One of an earlier version states no checksum of them; it has no
/// other pairs than those of its seal either, so that a damaged name of this one is not taken for such a part.
fn check_bytes(content: &[u8], metadata: &[(String, String)]) -> Result<(), String> {
    let is_known = |key: &str| [BYTES, OWNER, PART, CHECKSUM].contains(&key);
    if let Some((key, _)) = metadata.iter().find(|(key, _)| !is_known(key)) {
        return Err(format!("its metadata has `{}`, which is of no part", short(key)));
    }
    match metadata.iter().find(|(key, _)| key == BYTES) {
        Some((_, stated)) if whole(content, stated).is_none_or(|(_, sum)| sum != *stated) => {
            Err("its bytes do not match their checksum".to_owned())
        }
        _ => Ok(()),
    }
}

/// Where a file states the checksum of all its bytes, and what that should be: with [`UNKNOWN`] in its place.
fn whole(content: &[u8], stated: &str) -> Option<(usize, String)> {
    let length = UNKNOWN.len();
    // The footer is at the end, and a column may hold the same bytes by chance.
    let at = content.windows(length).rposition(|window| window == stated.as_bytes())?;
    let mut sum = Checksum(XxHash3_128::new());
    for piece in [&content[..at], UNKNOWN.as_bytes(), &content[at + length..]] {
        sum.0.write(piece);
    }
    Some((at, sum.hex()))
}

/// As much of a hash as tells two apart.
fn short(text: &str) -> String {
    text.chars().take(24).collect()
}

/// A checksum that grows column by column: quick enough to be checked on every read.
struct Checksum(twox_hash::xxhash3_128::Hasher);

impl Checksum {
    fn new(owner: &str, part: &str) -> Checksum {
        let mut sum = Checksum(XxHash3_128::new());
        sum.text(owner);
        sum.text(part);
        sum
    }

    fn text(&mut self, text: &str) {
        self.0.write(&(text.len() as u64).to_le_bytes());
        self.0.write(text.as_bytes());
    }

    fn values(&mut self, name: &str, values: &ColumnValues<'_>) {
        match values {
            ColumnValues::Doubles(x) => self.column(name, x.iter().copied()),
            ColumnValues::Integers(x) => self.column(name, x.iter().map(|&i| f64::from(i))),
            ColumnValues::Text(x) => {
                self.text(name);
                self.0.write(&(x.len() as u64).to_le_bytes());
                x.iter().for_each(|word| self.text(word));
            }
        }
    }

    fn column(&mut self, name: &str, values: impl ExactSizeIterator<Item = f64>) {
        self.text(name);
        self.0.write(&(values.len() as u64).to_le_bytes());
        let mut bytes = [0; 4096];
        let mut filled = 0;
        for x in values {
            bytes[filled..filled + 8].copy_from_slice(&x.to_bits().to_le_bytes());
            filled += 8;
            if filled == bytes.len() {
                self.0.write(&bytes);
                filled = 0;
            }
        }
        self.0.write(&bytes[..filled]);
    }

    fn hex(&self) -> String {
        format!("{:032x}", self.0.finish_128())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 3] = ["replicate", "omega", "pi"];

    fn columns<'a>(ids: &'a [i32], x: &'a [f64]) -> Vec<(&'a str, ColumnValues<'a>)> {
        let doubles = ColumnValues::Doubles(x);
        NAMES.into_iter().zip([ColumnValues::Integers(ids), doubles, doubles]).collect()
    }

    fn read(content: Vec<u8>, part: &str) -> Result<Vec<Vec<f64>>, String> {
        decode(content, Some("a hash"), part, &NAMES.map(str::to_owned), 3)
    }

    /// The second number of a column.
    fn some(content: Vec<u8>, part: &str) -> Result<Option<Vec<Vec<f64>>>, String> {
        let wanted = SomeRows { columns: &[("pi", &[1])], period: 3, n_rows: 3 };
        decode_some(content, Some("a hash"), part, &wanted)
    }

    #[test]
    fn no_byte_of_a_part_may_change() {
        let (ids, x) = ([1, 2, 3], [0.25, f64::NAN, -1e300]);
        let part = encode("a hash", "full 0-19", &columns(&ids, &x)).unwrap();
        let back = read(part.clone(), "full 0-19").unwrap();
        assert_eq!(back[0], [1.0, 2.0, 3.0]);
        assert_eq!(back[1].iter().map(|v| v.to_bits()).collect::<Vec<_>>(), x.map(f64::to_bits));
        for at in 0..part.len() {
            for bits in (0..8).map(|bit| 1 << bit).chain([0x20 ^ 0x40, 0xff]) {
                let mut changed = part.clone();
                changed[at] ^= bits;
                // Whoever looks at one number asks for all when a name of the seal is gone.
                let is_whole = some(changed.clone(), "full 0-19").is_ok_and(|x| x.is_some());
                let read = read(changed, "full 0-19");
                let what = format!("byte {at} of {} changed by {bits:#x}", part.len());
                assert!(read.is_err() && !is_whole, "{what}");
            }
        }
        for cut in 1..part.len() {
            assert!(read(part[..cut].to_vec(), "full 0-19").is_err(), "cut to {cut} bytes");
        }
        let few = some(part.clone(), "full 0-19").unwrap().unwrap();
        assert!(few.len() == 1 && few[0].len() == 1 && few[0][0].is_nan());
        for refused in [read(part.clone(), "full 20-39").err(), some(part, "full 20-39").err()] {
            assert!(refused.unwrap().contains("where full 20-39 should be"));
        }
    }

    /// As versions wrote them that had no checksum of bytes: values are checked as ever, and other pairs are refused.
    #[test]
    fn earlier_parts_are_read_as_before() {
        let (ids, x) = ([1, 2, 3], [0.25, 0.5, 0.75]);
        let columns = columns(&ids, &x);
        let earlier = |sum: String, extra: Option<&str>| {
            let mut seal = vec![(OWNER, "a hash".to_owned()), (PART, "full 0-19".to_owned())];
            seal.push((CHECKSUM, sum));
            seal.extend(extra.map(|key| (key, UNKNOWN.to_owned())));
            let content = parquet_bytes(&columns, &seal).unwrap();
            assert!(!some(content, "full 0-19").is_ok_and(|x| x.is_some()));
            read(parquet_bytes(&columns, &seal).unwrap(), "full 0-19")
        };
        let mut sum = Checksum::new("a hash", "full 0-19");
        for (name, values) in NAMES.into_iter().zip([[1.0, 2.0, 3.0], x, x]) {
            sum.column(name, values.into_iter());
        }
        assert_eq!(earlier(sum.hex(), None).unwrap()[2], x);
        assert!(earlier(UNKNOWN.to_owned(), None).unwrap_err().contains("contents do not match"));
        assert!(earlier(sum.hex(), Some(BYTES)).unwrap_err().contains("bytes do not match"));
        assert!(earlier(sum.hex(), Some("trustvb.bytez")).unwrap_err().contains("trustvb.bytez"));
    }
}
