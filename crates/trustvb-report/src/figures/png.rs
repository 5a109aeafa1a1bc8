//! Figures as files: PNG from SVG with a built-in font, and writing that leaves no half files behind.

use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use resvg::{tiny_skia, usvg};
use thiserror::Error;

/// Pixels per SVG unit in saved PNG files: sharp on current screens and in print at column width.
pub const SAVED_SCALE: f32 = 2.0;

/// The largest side of a PNG, in pixels.
const LARGEST_SIDE: f32 = 20_000.0;

/// Why a figure could not be drawn or saved.
#[derive(Debug, Error)]
pub enum FigureError {
    /// The text is not an SVG document.
    #[error("cannot read the figure as SVG: {0}")]
    Svg(String),
    /// The picture would be empty or too large.
    #[error(
        "a PNG of {width:.0} × {height:.0} pixels is not possible: each side must be between 1 \
         and {LARGEST_SIDE:.0}; choose another scale, or save as .svg"
    )]
    Size {
        /// Its width in pixels.
        width: f32,
        /// Its height in pixels.
        height: f32,
    },
    /// The PNG could not be written to memory.
    #[error("cannot encode the figure as PNG: {0}")]
    Encode(String),
    /// The file's name does not say which format.
    #[error("cannot tell the format of {}: the name must end in .svg or .png", .0.display())]
    Extension(PathBuf),
    /// The file system refused.
    #[error("cannot write {}: {source}", path.display())]
    Io {
        /// The file asked for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// The fonts that PNGs are drawn with: Noto Sans, regular and bold, and nothing of the machine's own.
///
/// They cover Latin, Greek and Cyrillic; other letters are missing from a PNG but not from an SVG.
fn fonts() -> Arc<usvg::fontdb::Database> {
    static FONTS: OnceLock<Arc<usvg::fontdb::Database>> = OnceLock::new();
    let load = || {
        let mut database = usvg::fontdb::Database::new();
        database.load_font_data(ttf_noto_sans::REGULAR.to_vec());
        database.load_font_data(ttf_noto_sans::BOLD.to_vec());
        database.set_sans_serif_family("Noto Sans");
        Arc::new(database)
    };
    FONTS.get_or_init(load).clone()
}

/// Draws an SVG document as a PNG, `scale` pixels per unit, in the light colours.
///
/// # Errors
/// If the text is not SVG, or the picture would be empty or larger than 20,000 pixels on a side.
pub fn render_png(svg: &str, scale: f32) -> Result<Vec<u8>, FigureError> {
    let options = usvg::Options {
        font_family: "Noto Sans".to_string(),
        fontdb: fonts(),
        ..usvg::Options::default()
    };
    let tree = usvg::Tree::from_str(svg, &options).map_err(|e| FigureError::Svg(e.to_string()))?;
    let (width, height) = (tree.size().width() * scale, tree.size().height() * scale);
    let fits = |side: f32| (1.0..=LARGEST_SIDE).contains(&side);
    let size_error = FigureError::Size { width, height };
    if !fits(width) || !fits(height) {
        return Err(size_error);
    }
    let Some(mut pixels) = tiny_skia::Pixmap::new(width.ceil() as u32, height.ceil() as u32) else {
        return Err(size_error);
    };
    // Rounding up the size leaves a sliver that the figure's own background may not cover.
    pixels.fill(tiny_skia::Color::WHITE);
    resvg::render(&tree, tiny_skia::Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|e| FigureError::Encode(e.to_string()))
}

/// Saves a figure as `.svg` or `.png`, whichever the name asks for.
///
/// The file appears complete or not at all: it is written under a temporary name beside its
/// place and then renamed.
///
/// # Errors
/// If the name has another extension, the figure cannot be drawn, or the file cannot be written.
pub fn save(path: &Path, svg: &str) -> Result<(), FigureError> {
    let extension = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    let bytes = match extension.as_deref() {
        Some("svg") => svg.as_bytes().to_vec(),
        Some("png") => render_png(svg, SAVED_SCALE)?,
        _ => return Err(FigureError::Extension(path.to_path_buf())),
    };
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    // Processes on two machines that share a folder may have the same number.
    let random = RandomState::new().build_hasher().finish();
    name.push(format!(".{}-{random:016x}.tmp", std::process::id()));
    let temporary = path.with_file_name(name);
    let written = write_then_rename(&temporary, path, &bytes);
    written.map_err(|source| {
        // Nothing to do if even this fails: the first error is the one to report.
        let _ = fs::remove_file(&temporary);
        FigureError::Io { path: path.to_path_buf(), source }
    })
}

fn write_then_rename(temporary: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(temporary, path)
}
