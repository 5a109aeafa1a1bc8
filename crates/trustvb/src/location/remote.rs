//! Files in an object store, behind calls that wait for their answer.
//!
//! The crate `object_store` speaks to the stores and tries again when they stumble. It is asynchronous and
//! we are not: requests run on a small runtime of their own, and the caller waits on a channel, which works on
//! every thread, those of another runtime included.

use super::LocationError;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutOptions, parse_url_opts};
use std::future::Future;
use std::io;
use std::sync::{Arc, OnceLock, mpsc};
use tokio::runtime::{Builder, Runtime};
use url::Url;

/// A prefix in an object store.
#[derive(Clone, Debug)]
pub(super) struct Remote {
    address: String,
    store: Arc<dyn ObjectStore>,
    prefix: Key,
}

impl Remote {
    /// Sets up the store of an address such as `s3://bucket/prefix` from the environment.
    pub(super) fn new(address: String) -> Result<Remote, LocationError> {
        // Says who does TLS, once per process; it is no error when that was said before.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let wrong = |why: String| LocationError::Store { address: address.clone(), why };
        let url = Url::parse(&address).map_err(|e| wrong(e.to_string()))?;
        let (store, prefix) =
            parse_url_opts(&url, std::env::vars()).map_err(|e| wrong(e.to_string()))?;
        let address = address.trim_end_matches('/').to_owned();
        Ok(Remote { address, store: Arc::from(store), prefix })
    }

    #[cfg(test)]
    pub(super) fn in_memory() -> Remote {
        let store = Arc::new(object_store::memory::InMemory::new());
        Remote { address: "memory:///x".to_owned(), store, prefix: Key::from("x") }
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    pub(super) fn name_of(&self, file: &str) -> String {
        format!("{}/{file}", self.address)
    }

    fn key(&self, file: &str) -> Key {
        file.split('/').fold(self.prefix.clone(), |key, part| key.join(part))
    }

    /// The prefix of a folder in it.
    pub(super) fn below(&self, folder: &str) -> Remote {
        let address = self.name_of(folder);
        Remote { address, store: self.store.clone(), prefix: self.key(folder) }
    }

    pub(super) fn has(&self, file: &str) -> io::Result<bool> {
        let (store, key) = (self.store.clone(), self.key(file));
        match wait(async move { store.head(&key).await }) {
            Ok(_) => Ok(true),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(e) => Err(e),
        }
    }

    pub(super) fn names(&self) -> io::Result<Vec<String>> {
        let (store, prefix) = (self.store.clone(), self.prefix.clone());
        let listed = wait(async move { store.list_with_delimiter(Some(&prefix)).await })?;
        let files = listed.objects.into_iter().map(|object| object.location);
        Ok(files
            .chain(listed.common_prefixes)
            .filter_map(|key| key.filename().map(str::to_owned))
            .collect())
    }

    pub(super) fn read(&self, file: &str) -> io::Result<Vec<u8>> {
        let (store, key) = (self.store.clone(), self.key(file));
        wait(async move { store.get(&key).await?.bytes().await }).map(|bytes| bytes.to_vec())
    }

    pub(super) fn write(&self, file: &str, content: Vec<u8>) -> io::Result<()> {
        let (store, key) = (self.store.clone(), self.key(file));
        wait(async move { store.put(&key, content.into()).await }).map(|_| ())
    }

    pub(super) fn create(&self, file: &str, content: Vec<u8>) -> io::Result<bool> {
        let (store, key) = (self.store.clone(), self.key(file));
        let created = wait(async move {
            let options = PutOptions::from(PutMode::Create);
            match store.put_opts(&key, content.into(), options).await {
                Ok(_) => Ok(true),
                Err(object_store::Error::AlreadyExists { .. }) => Ok(false),
                Err(error) => Err(error),
            }
        })?;
        Ok(created)
    }
}

/// Runs a request and waits for its answer.
fn wait<T: Send + 'static>(
    request: impl Future<Output = object_store::Result<T>> + Send + 'static,
) -> io::Result<T> {
    let (answer, answered) = mpsc::sync_channel(1);
    runtime()?.spawn(async move {
        // Nobody waits any more when the caller is gone.
        let _ = answer.send(request.await);
    });
    let answer = answered.recv().map_err(|_| io::Error::other("the request was given up"))?;
    answer.map_err(|error| match error {
        object_store::Error::NotFound { .. } => io::Error::new(io::ErrorKind::NotFound, error),
        other => io::Error::other(other),
    })
}

fn runtime() -> io::Result<&'static Runtime> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let made = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    Ok(RUNTIME.get_or_init(|| made))
}
