//! The seal of a part: which store and which replicates it belongs to, and a checksum of what it holds.
//!
//! The seal is in the Parquet file's own key–value metadata, so that any reader still opens the file. The
//! checksum is of names and values as they are read back, not of bytes: whatever changes a number is found,
//! whether it is in the pages, in the footer or in the decoder.

use crate::data::{ColumnValues, Sheet, parquet_bytes, read_columns, read_sheet};
use std::io;
use twox_hash::XxHash3_128;

const OWNER: &str = "trustvb.manifest";
const PART: &str = "trustvb.part";
const CHECKSUM: &str = "trustvb.checksum";

/// The file of a part.
pub(super) fn encode(
    owner: &str,
    part: &str,
    columns: &[(&str, ColumnValues<'_>)],
) -> io::Result<Vec<u8>> {
    let mut sum = Checksum::new(owner, part);
    columns.iter().for_each(|(name, values)| sum.values(name, values));
    let seal = [(OWNER, owner.to_owned()), (PART, part.to_owned()), (CHECKSUM, sum.hex())];
    parquet_bytes(columns, &seal)
}

/// The columns of a part. Without an `owner` it is a part of an older store, which has no seal.
pub(super) fn decode(
    content: Vec<u8>,
    owner: Option<&str>,
    part: &str,
    names: &[String],
    n_rows: usize,
) -> Result<Vec<Vec<f64>>, String> {
    let (columns, metadata) = read_columns(content, names, n_rows)?;
    let checksum = |mut sum: Checksum| {
        names.iter().zip(&columns).for_each(|(name, x)| sum.column(name, x.iter().copied()));
        sum.hex()
    };
    check(&metadata, owner, part, checksum)?;
    Ok(columns)
}

/// All columns of a part that may hold words.
pub(super) fn decode_sheet(
    content: Vec<u8>,
    owner: Option<&str>,
    part: &str,
) -> Result<Sheet, String> {
    let (sheet, metadata) = read_sheet(content)?;
    let checksum = |mut sum: Checksum| {
        sheet.values().iter().for_each(|(name, values)| sum.values(name, values));
        sum.hex()
    };
    check(&metadata, owner, part, checksum)?;
    Ok(sheet)
}

/// Says what is wrong with a part whose file has these key–value pairs and this checksum.
fn check(
    metadata: &[(String, String)],
    owner: Option<&str>,
    part: &str,
    checksum: impl FnOnce(Checksum) -> String,
) -> Result<(), String> {
    let field =
        |key: &str| metadata.iter().find(|(k, _)| k == key).map(|(_, value)| value.as_str());
    let Some(owner) = owner else {
        return match field(OWNER) {
            None => Ok(()),
            Some(theirs) => Err(format!("it belongs to another manifest, {}", short(theirs))),
        };
    };
    match (field(OWNER), field(PART), field(CHECKSUM)) {
        (Some(theirs), _, _) if theirs != owner => Err(format!(
            "it belongs to another manifest, {}; the one here is {}",
            short(theirs),
            short(owner)
        )),
        (_, Some(theirs), _) if theirs != part => {
            Err(format!("it holds {} where {part} should be", short(theirs)))
        }
        (Some(_), Some(_), Some(stated)) => match stated == checksum(Checksum::new(owner, part)) {
            true => Ok(()),
            false => Err("its contents do not match their checksum".to_owned()),
        },
        _ => Err("it carries no checksum".to_owned()),
    }
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
