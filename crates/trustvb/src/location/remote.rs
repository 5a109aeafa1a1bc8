//! Files in an object store, behind calls that wait for their answer.
//!
//! The crate `object_store` speaks to the stores and tries again when they stumble. It is asynchronous and
//! we are not: requests run on a small runtime of their own, and the caller waits on a channel, which works on
//! every thread, those of another runtime included.

use super::LocationError;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path as Key;
use object_store::{
    BackoffConfig, ObjectStore, ObjectStoreExt, ObjectStoreScheme, PutMode, PutOptions, RetryConfig,
};
use std::future::Future;
use std::io;
use std::sync::{Arc, OnceLock, mpsc};
use std::time::Duration;
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
        let (store, prefix) = set_up(&url).map_err(|e| wrong(e.to_string()))?;
        let address = address.trim_end_matches('/').to_owned();
        Ok(Remote { address, store, prefix })
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
        wait(async move { store.put(&key, content.into()).await }).map(|_| ()).map_err(written)
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
        });
        created.map_err(written)
    }
}

/// A store that is away comes back: requests are repeated, ever more slowly, for three minutes. The usual ten
/// attempts are over in seconds when nobody listens.
fn patience() -> RetryConfig {
    let (init_backoff, max_backoff) = (Duration::from_millis(100), Duration::from_secs(10));
    RetryConfig {
        backoff: BackoffConfig { init_backoff, max_backoff, base: 2.0 },
        max_retries: 10_000,
        retry_timeout: Duration::from_secs(180),
    }
}

/// The store of an address and the prefix in it, set up from the environment.
fn set_up(url: &Url) -> object_store::Result<(Arc<dyn ObjectStore>, Key)> {
    // Builders of different kinds have the same methods and no trait.
    macro_rules! built {
        ($builder:ty) => {{
            let start = <$builder>::new().with_url(url.to_string()).with_retry(patience());
            let builder = std::env::vars().fold(start, |builder, (key, value)| {
                match key.to_ascii_lowercase().parse() {
                    Ok(key) => builder.with_config(key, value),
                    Err(_) => builder,
                }
            });
            Arc::new(builder.build()?) as Arc<dyn ObjectStore>
        }};
    }
    let (scheme, path) = ObjectStoreScheme::parse(url)?;
    let store = match scheme {
        ObjectStoreScheme::AmazonS3 => built!(AmazonS3Builder),
        ObjectStoreScheme::GoogleCloudStorage => built!(GoogleCloudStorageBuilder),
        ObjectStoreScheme::MicrosoftAzure => built!(MicrosoftAzureBuilder),
        other => {
            let source = format!("{other:?} is no object store").into();
            return Err(object_store::Error::Generic { store: "address", source });
        }
    };
    Ok((store, Key::parse(path)?))
}

/// What went wrong, in words that say whose turn it is.
fn told(error: object_store::Error) -> io::Error {
    use object_store::Error;
    let text = error.to_string();
    // Without keys the client asks the address at which machines of a cloud tell theirs.
    if text.contains("169.254.169.254") || text.contains("metadata.google.internal") {
        let what = "no keys were found; set those of the store in the environment (AWS_ACCESS_KEY_ID and \
                    AWS_SECRET_ACCESS_KEY, GOOGLE_…, AZURE_…)";
        return io::Error::new(io::ErrorKind::PermissionDenied, what);
    }
    if ["NoSuchBucket", "ContainerNotFound"].iter().any(|code| text.contains(code)) {
        let what = "there is no such bucket or container; make it first";
        return io::Error::new(io::ErrorKind::InvalidInput, what);
    }
    match error {
        Error::NotFound { .. } => io::Error::new(io::ErrorKind::NotFound, error),
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
            let what = format!("the store refuses access; check keys and permissions ({text})");
            io::Error::new(io::ErrorKind::PermissionDenied, what)
        }
        other => io::Error::other(other),
    }
}

/// What can be wrong with a bucket when something is to be written: a key that is not there is no obstacle.
fn written(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::NotFound => {
            let what = format!("there is no such bucket or container; make it first ({error})");
            io::Error::new(io::ErrorKind::InvalidInput, what)
        }
        _ => error,
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
    answer.map_err(told)
}

fn runtime() -> io::Result<&'static Runtime> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let made = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    Ok(RUNTIME.get_or_init(|| made))
}
