//! Where a table or a study lives: a folder, or a prefix in an object store.
//!
//! The rest of the library reads and writes whole files by name and does not ask where they are. A file is
//! written whole or not at all: in a folder under a temporary name that is synced and renamed, in a store by
//! one request.

#[cfg(feature = "remote")]
mod remote;

use crate::data::{create_file, replace_file};
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A folder, or (feature `remote`) a prefix in an object store such as `s3://bucket/old-faithful.tvb`.
#[derive(Clone, Debug)]
pub struct Location(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Folder(PathBuf),
    #[cfg(feature = "remote")]
    Remote(remote::Remote),
}

/// An address that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LocationError {
    /// A scheme that is none of ours.
    #[error(
        "{address}: `{scheme}://` is no kind of place that is known; use a folder, or s3://, gs://, az:// or file://"
    )]
    Scheme {
        /// As it was given.
        address: String,
        /// Before `://`.
        scheme: String,
    },
    /// Left out of this build.
    #[error(
        "{address}: this trustvb was built without object stores; build it with the feature `remote`, or use a folder"
    )]
    Without {
        /// As it was given.
        address: String,
    },
    /// The store's own complaint.
    #[error(
        "{address}: {why}; addresses look like s3://bucket/folder, and keys, region and endpoint come from the \
         environment (AWS_…, GOOGLE_…, AZURE_…)"
    )]
    Store {
        /// As it was given.
        address: String,
        /// What is wrong.
        why: String,
    },
}

/// Kinds of object stores, by the beginning of their addresses.
const STORES: [&str; 8] = ["s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "adl"];

impl Location {
    /// A folder's path, a `file://` address or that of an object store, which is set up from the environment.
    pub fn parse(text: &str) -> Result<Location, LocationError> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return Ok(Location::from(Path::new(text)));
        };
        let address = text.to_owned();
        match scheme {
            "file" => Ok(Location::from(Path::new(rest.strip_prefix("localhost").unwrap_or(rest)))),
            _ if STORES.contains(&scheme) => Location::remote(address),
            _ => Err(LocationError::Scheme { address, scheme: scheme.to_owned() }),
        }
    }

    /// As [`Location::parse`], for what came as a path; one that is no Unicode is a folder.
    pub fn from_argument(path: &Path) -> Result<Location, LocationError> {
        path.to_str().map_or_else(|| Ok(Location::from(path)), Location::parse)
    }

    #[cfg(feature = "remote")]
    fn remote(address: String) -> Result<Location, LocationError> {
        remote::Remote::new(address).map(|remote| Location(Kind::Remote(remote)))
    }

    #[cfg(not(feature = "remote"))]
    fn remote(address: String) -> Result<Location, LocationError> {
        Err(LocationError::Without { address })
    }

    /// The folder, unless it is in a store.
    pub fn folder(&self) -> Option<&Path> {
        match &self.0 {
            Kind::Folder(path) => Some(path),
            #[cfg(feature = "remote")]
            Kind::Remote(_) => None,
        }
    }

    /// What messages call a file in it.
    pub(crate) fn name_of(&self, file: &str) -> String {
        match &self.0 {
            Kind::Folder(path) => path.join(file).display().to_string(),
            #[cfg(feature = "remote")]
            Kind::Remote(remote) => remote.name_of(file),
        }
    }

    /// Whether anything is there: a folder, even an empty one, or an object below the prefix.
    pub(crate) fn exists(&self) -> io::Result<bool> {
        match &self.0 {
            Kind::Folder(path) => path.try_exists(),
            #[cfg(feature = "remote")]
            Kind::Remote(remote) => remote.names().map(|names| !names.is_empty()),
        }
    }

    /// Whether a file is there.
    pub fn has(&self, file: &str) -> io::Result<bool> {
        match &self.0 {
            Kind::Folder(path) => path.join(file).try_exists(),
            #[cfg(feature = "remote")]
            Kind::Remote(remote) => remote.has(file),
        }
    }

    /// Names of files and folders directly in it.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        match &self.0 {
            Kind::Folder(path) => fs::read_dir(path)?
                .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
                .collect(),
            #[cfg(feature = "remote")]
            Kind::Remote(remote) => remote.names(),
        }
    }

    /// Names of files directly in a folder of it; none when it is not there.
    pub(crate) fn names_in(&self, folder: &str) -> io::Result<Vec<String>> {
        let names = match &self.0 {
            Kind::Folder(path) => Location::from(path.join(folder)).names(),
            #[cfg(feature = "remote")]
            Kind::Remote(remote) => remote.below(folder).names(),
        };
        match names {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            names => names,
        }
    }

    /// The whole of a file; [`io::ErrorKind::NotFound`] when it is not there.
    pub(crate) fn read(&self, file: &str) -> io::Result<Vec<u8>> {
        match &self.0 {
            Kind::Folder(path) => fs::read(path.join(file)),
            #[cfg(feature = "remote")]
            Kind::Remote(remote) => remote.read(file),
        }
    }

    /// Writes a file unless it is there, which `false` says; of several writers one succeeds.
    pub(crate) fn create(&self, file: &str, content: Vec<u8>) -> io::Result<bool> {
        match &self.0 {
            Kind::Folder(path) => {
                fs::create_dir_all(path)?;
                create_file(&path.join(file), &content)
            }
            #[cfg(feature = "remote")]
            Kind::Remote(remote) => remote.create(file, content),
        }
    }

    /// Writes a file whole or not at all, with the folders it needs.
    pub fn write(&self, file: &str, content: Vec<u8>) -> io::Result<()> {
        match &self.0 {
            Kind::Folder(path) => {
                let path = path.join(file);
                if let Some(folder) = path.parent() {
                    fs::create_dir_all(folder)?;
                }
                replace_file(&path, |mut f| f.write_all(&content).map(|()| f))
            }
            #[cfg(feature = "remote")]
            Kind::Remote(remote) => remote.write(file, content),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Folder(path) => path.display().fmt(f),
            #[cfg(feature = "remote")]
            Kind::Remote(remote) => f.write_str(remote.address()),
        }
    }
}

impl From<&Path> for Location {
    fn from(path: &Path) -> Location {
        Location(Kind::Folder(path.to_path_buf()))
    }
}

impl From<PathBuf> for Location {
    fn from(path: PathBuf) -> Location {
        Location(Kind::Folder(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What every kind of place must do.
    fn keeps_files(place: &Location) {
        assert!(!place.has("parts/a.bin").unwrap());
        assert_eq!(place.read("parts/a.bin").unwrap_err().kind(), io::ErrorKind::NotFound);
        place.write("parts/a.bin", vec![1, 2, 3]).unwrap();
        place.write("top", b"first".to_vec()).unwrap();
        place.write("top", b"second".to_vec()).unwrap();
        assert!(place.exists().unwrap() && place.has("parts/a.bin").unwrap());
        assert_eq!(place.read("parts/a.bin").unwrap(), [1, 2, 3]);
        assert_eq!(place.read("top").unwrap(), b"second");
        let mut names = place.names().unwrap();
        names.sort();
        assert_eq!(names, ["parts", "top"]);
        assert!(!place.create("top", b"third".to_vec()).unwrap());
        assert_eq!(place.read("top").unwrap(), b"second");
        let made: usize = std::thread::scope(|scope| {
            let one = |i: u8| scope.spawn(move || place.create("new", vec![i; 99]).unwrap());
            let tries: Vec<_> = (0..8).map(one).collect();
            tries.into_iter().map(|t| usize::from(t.join().unwrap())).sum()
        });
        let new = place.read("new").unwrap();
        assert_eq!((made, new.len()), (1, 99));
        assert_eq!(place.names().unwrap().len(), 3);
    }

    #[test]
    fn a_folder_keeps_files() {
        let folder = tempfile::tempdir().unwrap();
        let place = Location::from(folder.path().join("new"));
        assert!(!place.exists().unwrap());
        keeps_files(&place);
        let address = format!("file://{}", folder.path().join("new").display());
        assert_eq!(Location::parse(&address).unwrap().read("top").unwrap(), b"second");
    }

    #[cfg(feature = "remote")]
    #[test]
    fn a_store_keeps_files() {
        let place = Location(Kind::Remote(remote::Remote::in_memory()));
        assert!(!place.exists().unwrap());
        keeps_files(&place);
    }

    #[test]
    fn addresses_are_told_apart() {
        assert_eq!(Location::parse("a/b.tvb").unwrap().folder(), Some(Path::new("a/b.tvb")));
        let odd = Location::parse("ftp://host/x").unwrap_err().to_string();
        assert!(odd.contains("`ftp://`") && odd.contains("s3://"), "{odd}");
        let address = Location::parse("s3://bucket/x.tvb");
        match cfg!(feature = "remote") {
            true => {
                let place = address.unwrap();
                assert_eq!(place.folder(), None);
                assert_eq!(place.to_string(), "s3://bucket/x.tvb");
                assert_eq!(place.name_of("parts/a"), "s3://bucket/x.tvb/parts/a");
            }
            false => assert!(address.unwrap_err().to_string().contains("feature `remote`")),
        }
    }
}
