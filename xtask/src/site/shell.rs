//! What stands around every page: its head, the search, the list of pages, and the way to the next.

use super::convert::Page;
use super::escape;

/// Headings in a page's own list of contents from which on it is worth having.
const MOST_WITHOUT: usize = 3;

/// A page as a whole document. `extra` are references that other programs wrote.
pub(super) fn document(pages: &[Page], number: usize, extra: &[(String, String)]) -> String {
    let page = &pages[number];
    let up = "../".repeat(page.address.matches('/').count());
    let title = match number {
        0 => "trustvb: variational Bayes with intervals that can be believed".to_owned(),
        _ => format!("{} – trustvb", page.title),
    };
    let (before, after) = around_title(&page.body);
    format!(
        "<!DOCTYPE html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<meta name=\"color-scheme\" content=\"light dark\">
<title>{title}</title>
<meta name=\"description\" content=\"{description}\">
<link rel=\"icon\" href=\"data:,\">
<link rel=\"stylesheet\" href=\"{up}site/site.css\">
<script defer src=\"{up}site/site.js\" data-root=\"{up}\"></script>
</head>
<body>
<a class=\"skip\" href=\"#content\">Skip to the text</a>
<header>
<a class=\"home\" href=\"{up}index.html\">trustvb</a>
<form role=\"search\">
<label class=\"unseen\" for=\"search\">Search all pages</label>
<input id=\"search\" type=\"search\" placeholder=\"Search\" autocomplete=\"off\" aria-describedby=\"found-count\">
</form>
<a class=\"to-pages\" href=\"#pages\">Pages</a>
<section id=\"found\" aria-label=\"Found\" hidden><p id=\"found-count\" role=\"status\"></p><ol></ol></section>
</header>
<main id=\"content\">
{before}{contents}{after}{neighbours}</main>
<nav id=\"pages\" aria-label=\"Pages\">
{list}</nav>
</body>
</html>
",
        title = escape(&title),
        description = escape(&page.description),
        contents = contents(page),
        neighbours = neighbours(pages, number, &up),
        list = list(pages, number, extra, &up),
    )
}

/// The page up to the end of its title, and the rest.
fn around_title(body: &str) -> (&str, &str) {
    const END: &str = "</h1>\n";
    body.split_at(body.find(END).map_or(0, |at| at + END.len()))
}

/// The page's own headings, folded.
fn contents(page: &Page) -> String {
    let headings: Vec<_> = page.sections.iter().filter(|section| section.level == 2).collect();
    if headings.len() <= MOST_WITHOUT {
        return String::new();
    }
    let item = |id: &str, heading: &str| {
        format!("<li><a href=\"#{}\">{}</a></li>\n", escape(id), escape(heading))
    };
    let items: String =
        headings.iter().map(|section| item(&section.id, &section.heading)).collect();
    format!(
        "<details class=\"contents\"><summary>On this page</summary><ul>\n{items}</ul></details>\n"
    )
}

/// The pages before and after, as one would read them.
fn neighbours(pages: &[Page], number: usize, up: &str) -> String {
    let link = |page: Option<&Page>, class: &str, arrow: (&str, &str)| match page {
        None => String::new(),
        Some(page) => format!(
            "<a class=\"{class}\" href=\"{up}{}\">{}{}{}</a>\n",
            page.address,
            arrow.0,
            escape(&page.name),
            arrow.1
        ),
    };
    let before = number.checked_sub(1).and_then(|before| pages.get(before));
    format!(
        "<nav class=\"neighbours\" aria-label=\"Neighbouring pages\">\n{}{}</nav>\n",
        link(before, "before", ("← ", "")),
        link(pages.get(number + 1), "after", ("", " →"))
    )
}

/// All pages under the headings of their groups, then the references.
fn list(pages: &[Page], number: usize, extra: &[(String, String)], up: &str) -> String {
    let mut list = String::new();
    for group in pages.chunk_by(|a, b| a.group == b.group) {
        list.push_str(&format!("<h2>{}</h2>\n<ul>\n", escape(group[0].group)));
        for page in group {
            let here =
                if page.address == pages[number].address { " aria-current=\"page\"" } else { "" };
            list.push_str(&item(&page.address, &page.name, here, up));
        }
        list.push_str("</ul>\n");
    }
    // Without references the Rust of the first page is where to begin.
    let in_short = [("Rust, in short".to_owned(), "index.html#from-rust".to_owned())];
    let references = if extra.is_empty() { &in_short[..] } else { extra };
    list.push_str("<h2>References</h2>\n<ul>\n");
    let own = [("Python reference", "docs/PYTHON.html"), ("R reference", "docs/R.html")];
    own.iter().for_each(|(name, address)| list.push_str(&item(address, name, "", up)));
    references.iter().for_each(|(name, address)| list.push_str(&item(address, name, "", up)));
    list + "</ul>\n"
}

fn item(address: &str, name: &str, here: &str, up: &str) -> String {
    format!("<li><a href=\"{up}{address}\"{here}>{}</a></li>\n", escape(name))
}
