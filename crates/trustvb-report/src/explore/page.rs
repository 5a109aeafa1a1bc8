//! The page's own files, built into the program.

use crate::figures::style_sheet;
use axum::http::header;
use axum::response::IntoResponse;

const PAGE: &str = include_str!("page/index.html");
const SCRIPT: &str = include_str!("page/explore.js");
const STATE: &str = include_str!("page/state.js");
const STYLE: &str = include_str!("page/explore.css");
const ICON: &str = include_str!("page/icon.svg");

fn file(kind: &'static str, text: impl Into<String>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, kind)], text.into())
}

pub(super) async fn index() -> impl IntoResponse {
    file("text/html; charset=utf-8", PAGE)
}

pub(super) async fn script() -> impl IntoResponse {
    file("text/javascript; charset=utf-8", SCRIPT)
}

pub(super) async fn state() -> impl IntoResponse {
    file("text/javascript; charset=utf-8", STATE)
}

pub(super) async fn style() -> impl IntoResponse {
    file("text/css; charset=utf-8", format!("{STYLE}\n{}", style_sheet()))
}

pub(super) async fn icon() -> impl IntoResponse {
    file("image/svg+xml", ICON)
}
