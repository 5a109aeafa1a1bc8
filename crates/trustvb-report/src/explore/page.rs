//! The page's own files, built into the program.

use crate::figures::style_sheet;
use axum::http::header;
use axum::response::IntoResponse;

const PAGE: &str = include_str!("page/index.html");
const SCRIPT: &str = include_str!("page/explore.js");
const STATE: &str = include_str!("page/state.js");
const WORDS: &str = include_str!("page/words.js");
const SERVER: &str = include_str!("page/server.js");
const CARD: &str = include_str!("page/card.js");
const COMBOBOX: &str = include_str!("page/combobox.js");
const STYLE: &str = include_str!("page/explore.css");
const ICON: &str = include_str!("page/icon.svg");

fn file(kind: &'static str, text: impl Into<String>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, kind)], text.into())
}

pub(super) async fn index() -> impl IntoResponse {
    file("text/html; charset=utf-8", PAGE)
}

fn module(text: &'static str) -> impl IntoResponse {
    file("text/javascript; charset=utf-8", text)
}

pub(super) async fn script() -> impl IntoResponse {
    module(SCRIPT)
}

pub(super) async fn state() -> impl IntoResponse {
    module(STATE)
}

pub(super) async fn words() -> impl IntoResponse {
    module(WORDS)
}

pub(super) async fn server() -> impl IntoResponse {
    module(SERVER)
}

pub(super) async fn card() -> impl IntoResponse {
    module(CARD)
}

pub(super) async fn combobox() -> impl IntoResponse {
    module(COMBOBOX)
}

pub(super) async fn style() -> impl IntoResponse {
    file("text/css; charset=utf-8", format!("{STYLE}\n{}", style_sheet()))
}

pub(super) async fn icon() -> impl IntoResponse {
    file("image/svg+xml", ICON)
}
