//! From Markdown to a page: HTML with anchors as GitHub makes them, links to pages instead of files, and text to search.

use super::escape;
use super::pages::{Entry, address};
use crate::command::root;
use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd, html};
use std::collections::HashMap;

/// A page of the site.
pub(super) struct Page {
    /// The heading it stands under in the list of pages.
    pub(super) group: &'static str,
    /// Its name in that list.
    pub(super) name: String,
    /// Its first heading.
    pub(super) title: String,
    /// Its first words, for search engines.
    pub(super) description: String,
    /// Where it stands, from the site's root.
    pub(super) address: String,
    /// What it says, as HTML.
    pub(super) body: String,
    /// Its sections, each from one heading to the next.
    pub(super) sections: Vec<Section>,
    /// Files of the repository that it links to or shows.
    pub(super) files: Vec<String>,
}

/// A heading with the text below it.
pub(super) struct Section {
    pub(super) level: u8,
    pub(super) id: String,
    pub(super) heading: String,
    pub(super) text: String,
    /// What its tables explain: code in the first column.
    pub(super) terms: Vec<String>,
}

/// Letters of the description, at most.
const DESCRIPTION: usize = 160;

/// Letters of code that fit even a narrow screen without a break.
const UNBROKEN: usize = 20;

/// Pixels across from which on a picture scrolls on a narrow screen, where it could not be read otherwise.
const NARROW: u32 = 600;

/// Converts a page; `sources` are those of all pages.
pub(super) fn page(entry: &Entry, text: &str, sources: &[String]) -> Result<Page, String> {
    let mut writer = Writer {
        source: &entry.source,
        text,
        sources,
        events: Vec::new(),
        sections: Vec::new(),
        slugs: HashMap::new(),
        files: Vec::new(),
        tables: 0,
        in_head: false,
        in_rust: false,
        is_first_cell: false,
        cell: None,
        heading: None,
        description: String::new(),
    };
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        writer.take(event, range.start)?;
    }
    let title = match writer.sections.first() {
        Some(first) if first.level == 1 => first.heading.clone(),
        _ => return Err(format!("{}: the page does not begin with a title (# …)", entry.source)),
    };
    let mut body = String::new();
    html::push_html(&mut body, writer.events.into_iter());
    Ok(Page {
        group: entry.group,
        name: entry.name.map_or_else(|| title.clone(), str::to_owned),
        title,
        description: shortened(&writer.description),
        address: address(&entry.source),
        body,
        sections: writer.sections,
        files: writer.files,
    })
}

/// The first sentences of a text, or as many words as fit.
fn shortened(text: &str) -> String {
    let mut kept = String::new();
    for word in text.split_whitespace() {
        if kept.chars().count() + word.chars().count() >= DESCRIPTION {
            return kept + " …";
        }
        if !kept.is_empty() {
            kept.push(' ');
        }
        kept.push_str(word);
    }
    kept
}

/// The anchor that GitHub gives a heading: lower case, letters, digits, `-` and `_` kept, spaces as `-`.
fn slug(heading: &str) -> String {
    let kept =
        heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

struct Writer<'a> {
    source: &'a str,
    text: &'a str,
    sources: &'a [String],
    events: Vec<Event<'a>>,
    sections: Vec<Section>,
    slugs: HashMap<String, usize>,
    files: Vec<String>,
    tables: usize,
    in_head: bool,
    in_rust: bool,
    /// Whether a row of a table has begun and its first cell has not ended.
    is_first_cell: bool,
    /// Where the cell that is being read began, among the events.
    cell: Option<usize>,
    /// Where the heading that is being read began, with its text.
    heading: Option<(usize, String)>,
    description: String,
}

impl<'a> Writer<'a> {
    fn html(&mut self, text: impl Into<CowStr<'a>>) {
        self.events.push(Event::Html(text.into()));
    }

    /// Adds text to the section, to the heading that is open, and to the description.
    fn say(&mut self, words: &str) {
        if let Some((_, heading)) = &mut self.heading {
            heading.push_str(words);
        } else if let Some(section) = self.sections.last_mut() {
            section.text.push_str(words);
            if self.sections.len() == 1 && self.description.len() < 4 * DESCRIPTION {
                self.description.push_str(words);
            }
        }
    }

    fn take(&mut self, event: Event<'a>, at: usize) -> Result<(), String> {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                self.heading = Some((self.events.len(), String::new()));
            }
            Event::End(TagEnd::Heading(level)) => self.end_heading(level as u8),
            Event::Start(Tag::Link { dest_url, title, .. }) => {
                let dest = self.link(&dest_url).map_err(|why| self.fault(at, &why))?;
                let title = match title.is_empty() {
                    true => String::new(),
                    false => format!(" title=\"{}\"", escape(&title)),
                };
                self.events.push(inline(format!("<a href=\"{}\"{title}>", escape(&dest))));
            }
            Event::End(TagEnd::Link) => self.events.push(inline("</a>".to_owned())),
            Event::Start(Tag::Image { ref dest_url, .. }) => {
                let dest = self.link(dest_url).map_err(|why| self.fault(at, &why))?;
                let open = self.open_picture(&dest);
                self.events.extend([open, event]);
            }
            Event::End(TagEnd::Image) => {
                self.events.extend([event, inline("</a>".to_owned())]);
            }
            Event::Start(Tag::CodeBlock(kind)) => self.start_code(&kind),
            Event::End(TagEnd::CodeBlock) => {
                self.in_rust = false;
                self.html("</code></pre>\n");
            }
            Event::Start(Tag::Table(_)) => self.start_table(),
            Event::End(TagEnd::Table) => self.html("</tbody></table></div>\n"),
            Event::Start(Tag::TableHead) => {
                self.in_head = true;
                self.html("<thead><tr>");
            }
            Event::End(TagEnd::TableHead) => {
                self.in_head = false;
                self.html("</tr></thead><tbody>\n");
            }
            Event::Start(Tag::TableRow) => {
                self.is_first_cell = true;
                self.html("<tr>");
            }
            Event::End(TagEnd::TableRow) => self.html("</tr>\n"),
            Event::Start(Tag::TableCell) => self.cell = Some(self.events.len()),
            Event::End(TagEnd::TableCell) => self.end_cell(),
            Event::Text(ref words) if self.in_rust => {
                let seen: String =
                    words.split_inclusive('\n').filter(|line| is_seen(line)).collect();
                self.say(&seen);
                self.events.push(Event::Text(seen.into()));
            }
            Event::Text(ref words) => {
                self.say(words);
                self.events.push(event);
            }
            Event::Code(ref words) => {
                self.say(words);
                if self.is_first_cell
                    && let Some(section) = self.sections.last_mut()
                {
                    section.terms.push(words.to_string());
                }
                self.events.push(inline(code(words)));
            }
            Event::SoftBreak | Event::HardBreak | Event::End(TagEnd::Paragraph | TagEnd::Item) => {
                self.say(" ");
                self.events.push(event);
            }
            other => self.events.push(other),
        }
        Ok(())
    }

    /// A link to the picture by itself, as large as it was drawn.
    fn open_picture(&self, dest: &str) -> Event<'a> {
        let wide = match self.files.last().and_then(|file| picture_width(file)) {
            Some(width) if width > NARROW => " wide",
            _ => "",
        };
        inline(format!("<a class=\"figure{wide}\" href=\"{}\">", escape(dest)))
    }

    fn start_code(&mut self, kind: &CodeBlockKind) {
        self.say(" ");
        let language = match kind {
            CodeBlockKind::Fenced(info) => info.split(' ').next().unwrap_or_default(),
            CodeBlockKind::Indented => "",
        };
        self.in_rust = language == "rust";
        // Long lines scroll, which must be possible without a mouse.
        self.html(format!("<pre tabindex=\"0\" class=\"{}\"><code>", escape(language)));
    }

    fn end_heading(&mut self, level: u8) {
        let Some((start, heading)) = self.heading.take() else { return };
        let slug = slug(&heading);
        let times = self.slugs.entry(slug.clone()).and_modify(|n| *n += 1).or_insert(0);
        let id = if *times == 0 { slug } else { format!("{slug}-{times}") };
        self.events.insert(start, Event::Html(format!("<h{level} id=\"{}\">", escape(&id)).into()));
        self.html(format!("</h{level}>\n"));
        let (text, terms) = (String::new(), Vec::new());
        self.sections.push(Section { level, id, heading, text, terms });
    }

    fn start_table(&mut self) {
        self.tables += 1;
        let section = self.sections.last().map_or("", |section| section.heading.as_str());
        // A wide table scrolls by itself; whoever cannot see it is told what it is.
        let open = format!(
            "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Table {}: {}\"><table>\n",
            self.tables,
            escape(section)
        );
        self.html(open);
    }

    /// A heading of a column says so; an empty one is none.
    fn end_cell(&mut self) {
        let Some(start) = self.cell.take() else { return };
        self.is_first_cell = false;
        self.say(" ");
        let (open, close) = match self.in_head && self.events.len() > start {
            true => ("<th scope=\"col\">", "</th>"),
            false => ("<td>", "</td>"),
        };
        self.events.insert(start, Event::Html(open.into()));
        self.html(close);
    }

    /// Where a link of the page leads in the site; what it names must be there.
    fn link(&mut self, dest: &str) -> Result<String, String> {
        if dest.starts_with("https://") || dest.starts_with("mailto:") || dest.starts_with('#') {
            return Ok(dest.to_owned());
        }
        let (path, anchor) = match dest.split_once('#') {
            Some((path, anchor)) => (path, format!("#{anchor}")),
            None => (dest, String::new()),
        };
        let named = resolved(self.source, path)
            .ok_or_else(|| format!("the link {dest} leads out of the project"))?;
        if !root().join(&named).is_file() {
            return Err(format!("the link {dest} leads to {named}, which is not there"));
        }
        let up = "../".repeat(self.source.matches('/').count());
        if self.sources.contains(&named) {
            return Ok(format!("{up}{}{anchor}", address(&named)));
        }
        if named.ends_with(".md") {
            return Err(format!(
                "{named} is no page of the site; name it in xtask/src/site/pages.rs"
            ));
        }
        self.files.push(named.clone());
        Ok(format!("{up}{named}{anchor}"))
    }

    fn fault(&self, at: usize, why: &str) -> String {
        let line = 1 + self.text[..at].matches('\n').count();
        format!("{}:{line}: {why}", self.source)
    }
}

fn inline<'a>(text: String) -> Event<'a> {
    Event::InlineHtml(text.into())
}

/// Code within a line. `--level` is one word, though browsers break lines after its dashes.
fn code(text: &str) -> String {
    let is_short = |text: &str| text.chars().count() <= UNBROKEN;
    if is_short(text) {
        // `components-overlap` or `trustvb fit` may break where a table would not fit otherwise.
        let is_soft = text.contains(['-', ' ']) && !text.starts_with('-') && !text.contains(" -");
        let soft = if is_soft { " soft" } else { "" };
        return format!("<code class=\"short{soft}\">{}</code>", escape(text));
    }
    let word = |word: &str| match word.starts_with('-') && is_short(word) {
        true => format!("<span class=\"short\">{}</span>", escape(word)),
        false => escape(word),
    };
    let words: Vec<String> = text.split(' ').map(word).collect();
    format!("<code>{}</code>", words.join(" "))
}

/// Whether a line of Rust is for readers: rustdoc runs those that begin with `#` and a space, and does not show them.
fn is_seen(line: &str) -> bool {
    let line = line.trim();
    line != "#" && !line.starts_with("# ")
}

/// How many pixels a picture of the project is drawn across, if it is a PNG or one of our SVGs.
fn picture_width(file: &str) -> Option<u32> {
    let bytes = std::fs::read(root().join(file)).ok()?;
    if bytes.starts_with(b"\x89PNG") {
        return Some(u32::from_be_bytes(bytes.get(16..20)?.try_into().ok()?));
    }
    let text = String::from_utf8(bytes).ok()?;
    let (_, after) = text.split_once("width=\"")?;
    after.split_once('"')?.0.parse().ok()
}

/// A relative path of a page, from the root; `None` if it leads out of it.
fn resolved(source: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = source.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(text: &str) -> Result<Page, String> {
        let entry = Entry { group: "Use it", source: "docs/GUIDE.md".to_owned(), name: None };
        page(&entry, text, &["README.md".to_owned(), "docs/GUIDE.md".to_owned()])
    }

    #[test]
    fn anchors_are_github_s() {
        assert_eq!(slug("Which interval?"), "which-interval");
        assert_eq!(slug("1.2 The default prior of gmm"), "12-the-default-prior-of-gmm");
        assert_eq!(slug("calibrate(fitter, data, h, *, …)"), "calibratefitter-data-h--");
        assert_eq!(slug("About ω: tvb_x"), "about-ω-tvb_x");
    }

    #[test]
    fn links_lead_to_pages_and_files_that_are_there() {
        let made = converted(
            "# T\n\n[a](../README.md#install) [b](data/overlap.csv) [c](#t) [d](https://x.org)",
        )
        .unwrap();
        for href in ["../index.html#install", "../docs/data/overlap.csv", "#t", "https://x.org"] {
            assert!(
                made.body.contains(&format!("href=\"{href}\"")),
                "{href} is not in {}",
                made.body
            );
        }
        assert_eq!(made.files, ["docs/data/overlap.csv"]);
        for (text, fragment) in [
            ("# T\n\n[a](nowhere.md)", "docs/GUIDE.md:3: the link nowhere.md"),
            ("# T\n\n\n![a](x.png)", "docs/GUIDE.md:4: the link x.png"),
            ("# T\n\n[a](../../x)", "leads out of the project"),
            ("# T\n\n[a](METHOD.md)", "no page of the site"),
            ("## T\n", "does not begin with a title"),
        ] {
            let why = converted(text).err().unwrap();
            assert!(why.contains(fragment), "{fragment:?} is not in {why:?}");
        }
    }

    #[test]
    fn pictures_lead_to_themselves_and_hidden_lines_of_rust_stay_hidden() {
        let made = converted(
            "# T\n\n![a figure](studies/reviewer-levels.svg)\n\n![a phone](pictures/report-narrow.png)\n\n\
             ```rust\nuse x;\n# fn f() {}\n#[test]\n```\n",
        )
        .unwrap();
        let figure = "<a class=\"figure wide\" href=\"../docs/studies/reviewer-levels.svg\">\
                      <img src=\"studies/reviewer-levels.svg\" alt=\"a figure\" /></a>";
        assert!(made.body.contains(figure), "{}", made.body);
        assert!(made.body.contains("<a class=\"figure\" href"), "{}", made.body);
        assert!(made.body.contains("use x;\n#[test]\n</code>"), "{}", made.body);
    }

    #[test]
    fn sections_hold_what_can_be_searched() {
        let made = converted("# T `x`\n\nOne\ntwo.\n\n## A\n\n| a | |\n|---|---|\n| `b` | c |\n\n```sh\nrun <it>\n```\n\n## A\n").unwrap();
        let ids: Vec<&str> = made.sections.iter().map(|section| section.id.as_str()).collect();
        assert_eq!(ids, ["t-x", "a", "a-1"]);
        assert_eq!((made.title.as_str(), made.description.as_str()), ("T x", "One two."));
        assert_eq!(
            made.sections[1].text.split_whitespace().collect::<Vec<_>>(),
            ["a", "b", "c", "run", "<it>"]
        );
        assert_eq!(made.sections[1].terms, ["b"]);
        assert!(made.body.contains("<th scope=\"col\">a</th><td></td>"), "{}", made.body);
        assert!(made.body.contains("run &lt;it&gt;"), "{}", made.body);
        let option = "<code>trustvb study NAME <span class=\"short\">--flags</span></code>";
        assert_eq!(code("trustvb study NAME --flags"), option);
        assert_eq!(code("few-rows"), "<code class=\"short soft\">few-rows</code>");
        assert_eq!(code("--level"), "<code class=\"short\">--level</code>");
    }
}
