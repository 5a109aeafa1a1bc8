//! A folder, or a prefix in an object store, of parts under a manifest: what tables, studies and runs by
//! groups all are.
//!
//! A store is claimed by creating its manifest exclusively, and then compared with what was wanted, so that of two
//! builders with different settings one is told. The manifest states its own hash; every part names that hash and
//! the replicates it holds, and carries a checksum of its contents. So a part that was changed, or that belongs
//! to another store or another place in this one, is refused and never answers.

mod error;
mod part;

pub use error::StoreError;
pub(crate) use error::{Words, if_there};

use crate::data::{ColumnValues, Sheet, SomeRows, remove_leftovers};
use crate::hash::hex;
use crate::location::Location;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::io;
use std::path::Path;
use std::time::Duration;

/// The file that says what a store holds.
pub(crate) const MANIFEST: &str = "manifest.json";

/// The folder of parts.
pub(crate) const PARTS: &str = "parts";

/// The manifest's field that holds the hash of all others.
const HASH: &str = "hash";

/// What a store says about itself.
pub(crate) trait Manifest: Serialize + DeserializeOwned + Clone {
    /// How messages speak of such a store.
    const WORDS: &'static Words;
    /// The latest version of what is written.
    const SCHEMA: u32;
    /// The first version whose parts are sealed.
    const SEALED: u32 = Self::SCHEMA;
    /// A field without which it is a manifest of something else, compared before all others.
    const OWN: Option<&'static str>;
    /// What may be in a folder before its manifest, beside parts.
    const EARLY: &'static [&'static str];
    /// The version of what was read.
    fn schema(&self) -> u32;
    /// Says what contradicts itself, before anything is made from it.
    fn check(&mut self) -> Result<(), String>;
    /// Gives the manifest of an older version today's form.
    fn upgrade(value: &mut Value);
}

/// A claimed or opened store.
#[derive(Clone, Debug)]
pub(crate) struct Store<M> {
    pub(crate) place: Location,
    pub(crate) manifest: M,
    /// What parts are bound to; `None` for an older store, whose parts are unchecked.
    seal: Option<String>,
}

impl<M: Manifest> Store<M> {
    /// Makes the store of a manifest, or checks that it is one.
    pub(crate) fn claim(place: &Location, manifest: M) -> Result<Store<M>, StoreError> {
        let noun = M::WORDS.noun;
        if place.folder().is_some_and(Path::is_file) {
            return Err(StoreError::IsFile { place: place.to_string(), noun });
        }
        let file = || place.name_of(MANIFEST);
        let refused = |source| StoreError::Io { file: file(), source };
        let mut created = false;
        if !place.has(MANIFEST).map_err(refused)? {
            refuse_foreign::<M>(place)?;
            let content = content(&manifest).map_err(refused)?;
            created = place.create(MANIFEST, content).map_err(refused)?;
        }
        let theirs = match created {
            true => Store::<M>::open(place)?,
            false => open_settled::<M>(place)?,
        };
        if theirs.seal.is_none() {
            let (found, known) = (theirs.manifest.schema(), M::SCHEMA);
            return Err(StoreError::Older { place: place.to_string(), found, known });
        }
        if let Some((field, theirs, ours)) = difference(&theirs.manifest, &manifest) {
            let place = place.to_string();
            return Err(StoreError::Different { place, noun, field, theirs, ours });
        }
        if let Some(folder) = place.folder() {
            remove_leftovers(folder);
            remove_leftovers(&folder.join(PARTS));
        }
        Ok(theirs)
    }

    /// Opens a store and checks what its manifest says of itself.
    pub(crate) fn open(place: &Location) -> Result<Store<M>, StoreError> {
        let (mut value, schema) = read_manifest::<M>(place)?;
        let damaged = |what: String| damaged::<M>(place, MANIFEST, what);
        let stated = value.as_object_mut().and_then(|fields| fields.remove(HASH));
        let seal = match (stated, schema >= M::SEALED) {
            (Some(stated), true) => {
                let found = hash(&value);
                if stated.as_str() != Some(found.as_str()) {
                    let what =
                        "it was changed after it was written: its hash is another".to_owned();
                    return Err(damaged(what));
                }
                Some(found)
            }
            (None, false) => {
                M::upgrade(&mut value);
                None
            }
            (None, true) => return Err(damaged("it has no hash".to_owned())),
            (Some(_), false) => {
                return Err(damaged(format!("it has a hash, which format {schema} has not")));
            }
        };
        let mut manifest: M = serde_json::from_value(value).map_err(|e| damaged(e.to_string()))?;
        manifest.check().map_err(damaged)?;
        if seal.as_ref().is_some_and(|seal| *seal != seal_of(&manifest)) {
            let what = "it has fields that this version of trustvb does not know".to_owned();
            return Err(damaged(what));
        }
        Ok(Store { place: place.clone(), manifest, seal })
    }

    /// Whether its parts carry checksums.
    pub(crate) fn is_sealed(&self) -> bool {
        self.seal.is_some()
    }

    /// Whether it has a file.
    pub(crate) fn has(&self, file: &str) -> Result<bool, StoreError> {
        self.place.has(file).map_err(|source| self.io(file, source))
    }

    /// Names of the files in a folder of it.
    pub(crate) fn names_in(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        self.place.names_in(folder).map_err(|source| self.io(folder, source))
    }

    /// Writes a file, whole or not at all.
    pub(crate) fn write(&self, file: &str, content: io::Result<Vec<u8>>) -> Result<(), StoreError> {
        content
            .and_then(|content| self.place.write(file, content))
            .map_err(|source| self.io(file, source))
    }

    /// Writes a part: `part` says what it holds, such as `full 0-19`.
    pub(crate) fn write_part(
        &self,
        file: &str,
        part: &str,
        columns: &[(&str, ColumnValues<'_>)],
    ) -> Result<(), StoreError> {
        let seal = self.seal.as_deref().unwrap_or_default();
        self.write(file, part::encode(seal, part, columns))
    }

    /// Reads the columns of a part and checks that it is this part of this store, unchanged.
    pub(crate) fn read_part(
        &self,
        file: &str,
        part: &str,
        names: &[String],
        n_rows: usize,
    ) -> Result<Vec<Vec<f64>>, StoreError> {
        let content = self.place.read(file).map_err(|source| self.io(file, source))?;
        part::decode(content, self.seal.as_deref(), part, names, n_rows)
            .map_err(|what| self.damaged(file, what))
    }

    /// Some rows of some columns of a part, all bytes of which are checked; `None` for a part that has to be read as a
    /// whole, because its seal is that of an earlier version.
    pub(crate) fn read_some(
        &self,
        file: &str,
        part: &str,
        wanted: &SomeRows<'_>,
    ) -> Result<Option<Vec<Vec<f64>>>, StoreError> {
        let content = self.place.read(file).map_err(|source| self.io(file, source))?;
        part::decode_some(content, self.seal.as_deref(), part, wanted)
            .map_err(|what| self.damaged(file, what))
    }

    /// As [`read_part`](Self::read_part), all columns of a part that may hold words.
    pub(crate) fn read_sheet(&self, file: &str, part: &str) -> Result<Sheet, StoreError> {
        let content = self.place.read(file).map_err(|source| self.io(file, source))?;
        part::decode_sheet(content, self.seal.as_deref(), part)
            .map_err(|what| self.damaged(file, what))
    }

    /// The error for a file that is not what it should be.
    pub(crate) fn damaged(&self, file: &str, what: impl Into<String>) -> StoreError {
        damaged::<M>(&self.place, file, what.into())
    }

    fn io(&self, file: &str, source: io::Error) -> StoreError {
        StoreError::Io { file: self.place.name_of(file), source }
    }
}

/// Opens stores to be merged, and checks that they are of one kind and format with equal manifests, before anything
/// is written.
pub(crate) fn open_alike<M: Manifest>(places: &[Location]) -> Result<Vec<Store<M>>, StoreError> {
    let stores = places.iter().map(Store::<M>::open).collect::<Result<Vec<_>, _>>()?;
    for store in &stores {
        if !store.is_sealed() {
            let (found, known) = (store.manifest.schema(), M::SCHEMA);
            return Err(StoreError::Older { place: store.place.to_string(), found, known });
        }
        if let Some((field, theirs, ours)) = difference(&stores[0].manifest, &store.manifest) {
            let places = format!("{} and {}", stores[0].place, store.place);
            let noun = M::WORDS.noun;
            return Err(StoreError::Unlike { places, noun, field, theirs, ours });
        }
    }
    Ok(stores)
}

fn damaged<M: Manifest>(place: &Location, file: &str, what: String) -> StoreError {
    StoreError::Damaged { file: place.name_of(file), what, mend: M::WORDS.mend }
}

/// A manifest's hash, which its parts name.
pub(crate) fn seal_of(manifest: &impl Serialize) -> String {
    hash(&serde_json::to_value(manifest).unwrap_or_default())
}

/// SHA-256 of a JSON value: fields in alphabetical order, no spaces.
fn hash(value: &Value) -> String {
    let mut hash = Sha256::new();
    hash.update(canonical(value).as_bytes());
    hex(hash)
}

/// The order is ours: another crate of the program may make the JSON crate keep that of the file.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            let name = |name: &str| Value::from(name).to_string();
            let field =
                |(key, value): (&String, &Value)| format!("{}:{}", name(key), canonical(value));
            format!("{{{}}}", fields.into_iter().map(field).collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(","))
        }
        leaf => leaf.to_string(),
    }
}

/// A manifest's file: its fields, then the hash of them.
fn content(manifest: &impl Serialize) -> io::Result<Vec<u8>> {
    #[derive(Serialize)]
    struct Sealed<'a, M> {
        #[serde(flatten)]
        manifest: &'a M,
        hash: String,
    }
    Ok(serde_json::to_vec_pretty(&Sealed { manifest, hash: seal_of(manifest) })?)
}

/// The first field in which two manifests differ, with both values shortly.
pub(crate) fn difference<M: Manifest>(a: &M, b: &M) -> Option<(String, String, String)> {
    let value = |manifest: &M| serde_json::to_value(manifest).unwrap_or_default();
    let (mut a, mut b) = (value(a), value(b));
    // What is said first should be what somebody chose, not what follows from it.
    let own = M::OWN.and_then(|own| first_difference(own, &a[own], &b[own]));
    let schema = |value: &mut Value| value.as_object_mut().and_then(|all| all.remove("schema"));
    let schemas = (schema(&mut a).unwrap_or_default(), schema(&mut b).unwrap_or_default());
    own.or_else(|| first_difference("", &a, &b))
        .or_else(|| first_difference("schema", &schemas.0, &schemas.1))
}

/// The first leaf in which two JSON values differ, as `path.seed`, with both values.
pub(crate) fn first_difference(
    name: &str,
    a: &Value,
    b: &Value,
) -> Option<(String, String, String)> {
    if a == b {
        return None;
    }
    let (Value::Object(ours), Value::Object(theirs)) = (a, b) else {
        return Some((name.to_owned(), short(a), short(b)));
    };
    let fields = ours.keys().chain(theirs.keys().filter(|key| !ours.contains_key(*key)));
    fields.into_iter().find_map(|field| {
        let inner = if name.is_empty() { field.clone() } else { format!("{name}.{field}") };
        let side =
            |map: &serde_json::Map<String, Value>| map.get(field).cloned().unwrap_or_default();
        first_difference(&inner, &side(ours), &side(theirs))
    })
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// A folder without a manifest may be a store whose builder has just begun, or was killed then. One with
/// anything else in it is somebody's.
fn refuse_foreign<M: Manifest>(place: &Location) -> Result<(), StoreError> {
    let refused = |source| StoreError::Io { file: place.to_string(), source };
    if !place.exists().map_err(refused)? {
        return Ok(());
    }
    for name in place.names().map_err(refused)? {
        let ours = name == PARTS || name == MANIFEST || M::EARLY.contains(&name.as_str());
        if !ours && !name.ends_with(".tmp") {
            let noun = M::WORDS.noun;
            return Err(StoreError::Foreign { place: place.to_string(), file: name, noun });
        }
    }
    Ok(())
}

/// Opens what another builder may be about to create: where a file cannot be created whole, it is read until it is.
fn open_settled<M: Manifest>(place: &Location) -> Result<Store<M>, StoreError> {
    for _ in 0..20 {
        match Store::<M>::open(place) {
            Err(StoreError::Damaged { .. }) => std::thread::sleep(Duration::from_millis(50)),
            other => return other,
        }
    }
    Store::<M>::open(place)
}

/// The manifest as JSON, of a version that can be read.
fn read_manifest<M: Manifest>(place: &Location) -> Result<(Value, u32), StoreError> {
    let not_one = |why: String| {
        let (what, make) = (M::WORDS.what, M::WORDS.make);
        StoreError::NotOne { place: place.to_string(), what, why, make }
    };
    let content = match place.read(MANIFEST) {
        Ok(content) => content,
        // A store says in its own words why it cannot be reached; a folder is there or not.
        Err(source) if place.folder().is_none() && source.kind() != io::ErrorKind::NotFound => {
            return Err(StoreError::Io { file: place.name_of(MANIFEST), source });
        }
        Err(_) => {
            let why = match place.exists() {
                Ok(true) => format!("it has no readable {MANIFEST}"),
                _ if place.folder().is_some() => "there is no such folder".to_owned(),
                _ => "nothing is there".to_owned(),
            };
            return Err(not_one(why));
        }
    };
    let damaged = |what: String| damaged::<M>(place, MANIFEST, what);
    // A server that is no object store answers with a page.
    if place.folder().is_none() && content.trim_ascii_start().starts_with(b"<") {
        let what = "the address answers with a page and not with a manifest; check the endpoint and the bucket";
        let source = io::Error::new(io::ErrorKind::InvalidInput, what);
        return Err(StoreError::Io { file: place.name_of(MANIFEST), source });
    }
    let value: Value = serde_json::from_slice(&content).map_err(|e| damaged(e.to_string()))?;
    if M::OWN.is_some_and(|own| value.get(own).is_none()) {
        return Err(not_one(format!("its manifest is not that of a {}", M::WORDS.noun)));
    }
    let found =
        value["schema"].as_u64().ok_or_else(|| damaged("it has no schema number".into()))?;
    match u32::try_from(found) {
        Ok(schema) if schema <= M::SCHEMA => Ok((value, schema)),
        _ => {
            let library = value["library"].as_str().unwrap_or("of an unknown version").to_owned();
            let (place, known) = (place.to_string(), M::SCHEMA);
            Err(StoreError::Newer { place, found, known, library })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_of_the_fields_and_not_of_their_order() {
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let value = read(r#"{"b": [1, 2.50, {"y": null, "x": "ü\n"}], "a": true}"#);
        assert_eq!(canonical(&value), r#"{"a":true,"b":[1,2.5,{"x":"ü\n","y":null}]}"#);
        assert_eq!(hash(&value), hash(&read(&canonical(&value))));
        assert_ne!(hash(&value), hash(&read(r#"{"a": true, "b": []}"#)));
    }

    #[test]
    fn the_first_difference_is_named_with_both_values() {
        let (a, b) = (serde_json::json!({"p": {"seed": 1}}), serde_json::json!({"p": {"seed": 2}}));
        let found = first_difference("", &a, &b);
        assert_eq!(found, Some(("p.seed".to_owned(), "1".to_owned(), "2".to_owned())));
        assert_eq!(first_difference("", &a, &a), None);
    }
}
