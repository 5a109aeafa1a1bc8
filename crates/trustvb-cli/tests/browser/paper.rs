//! A printed page: where its headings are, and what stands below each on the same sheet.
//!
//! Chromium writes headings into the outline of a PDF, with the page and the height of each, and marks what belongs to
//! which element of the page. That much of the format is read here.

use flate2::read::ZlibDecoder;
use std::collections::{BTreeMap, HashSet};
use std::io::Read;

/// A heading on paper.
#[derive(Debug)]
pub(crate) struct Heading {
    /// Its first words.
    pub(crate) title: String,
    /// The sheet, from 1.
    pub(crate) page: usize,
    /// Lines and shapes of other elements below it on that sheet.
    pub(crate) company: usize,
}

/// The sheets of a PDF, and its headings in order.
pub(crate) fn headings(pdf: &[u8]) -> (usize, Vec<Heading>) {
    let paper = Paper::read(pdf);
    let mut found = Vec::new();
    for object in paper.objects.values() {
        let (Some(page), Some(element)) = (after(object, "/Dest ["), after(object, "/SE ")) else {
            continue;
        };
        let place: Vec<f64> = page.split([' ', ']']).filter_map(|word| word.parse().ok()).collect();
        // `2 0 R /XYZ x y zoom`
        let (number, y) = (place[0] as usize, place[3]);
        let mut own = HashSet::new();
        paper.marks(reference(element), &mut own);
        let drawn = paper.drawn(number);
        let below =
            |(mark, at): &&(Option<usize>, f64)| *at < y && !mark.is_some_and(|m| own.contains(&m));
        let page = paper.pages.iter().position(|page| *page == number).expect("its page") + 1;
        let company = drawn.iter().filter(below).count();
        found.push((page, -y, Heading { title: title(object), page, company }));
    }
    found.sort_by(|a, b| (a.0, a.1).partial_cmp(&(b.0, b.1)).expect("numbers"));
    (paper.pages.len(), found.into_iter().map(|(_, _, heading)| heading).collect())
}

struct Paper<'a> {
    /// Objects as text by number; streams are cut off.
    objects: BTreeMap<usize, String>,
    /// Streams by number of their object.
    streams: BTreeMap<usize, &'a [u8]>,
    /// Numbers of the sheets' objects, in order.
    pages: Vec<usize>,
}

impl<'a> Paper<'a> {
    fn read(pdf: &'a [u8]) -> Paper<'a> {
        let (mut objects, mut streams) = (BTreeMap::new(), BTreeMap::new());
        let mut at = 0;
        while let Some(found) = find(&pdf[at..], b" 0 obj\n") {
            let digits = pdf[..at + found].iter().rev().take_while(|c| c.is_ascii_digit()).count();
            let number = text(&pdf[at + found - digits..at + found]).parse().expect("a number");
            let begin = at + found + b" 0 obj\n".len();
            let end = begin + find(&pdf[begin..], b"endobj").expect("objects end");
            let body = &pdf[begin..end];
            let head = find(body, b"stream\n").unwrap_or(body.len());
            if head < body.len() {
                let stream = &body[head + b"stream\n".len()..];
                let length = after(&text(&body[..head]), "/Length ").and_then(first_number);
                streams.insert(number, &stream[..length.expect("a length").min(stream.len())]);
            }
            objects.insert(number, text(&body[..head]));
            at = end;
        }
        // Chromium numbers sheets as it draws them; the tree of many has several nodes.
        let sheets = objects.iter().filter(|(_, object)| object.starts_with("<</Type /Page\n"));
        let pages = sheets.map(|(number, _)| *number).collect();
        Paper { objects, streams, pages }
    }

    /// Numbers of all marked content of an element.
    fn marks(&self, element: usize, found: &mut HashSet<usize>) {
        let Some(object) = self.objects.get(&element) else { return };
        let Some(kids) = after(object, "/K ") else { return };
        let end = if kids.starts_with('[') { "]" } else { "\n" };
        let kids = kids.split(end).next().unwrap_or_default().replace(['[', '<', '>'], " ");
        let words: Vec<&str> = kids.split_whitespace().collect();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let is_reference = words.get(at + 1..at + 3) == Some(&["0", "R"]);
            at += if is_reference { 3 } else { 1 };
            match word.parse() {
                // The page that a mark is on is referred to as well.
                Ok(kid) if is_reference => {
                    if self.objects.get(&kid).is_some_and(|kid| kid.contains("/StructElem")) {
                        self.marks(kid, found);
                    }
                }
                Ok(mark) => drop(found.insert(mark)),
                Err(_) => {}
            }
        }
    }

    /// What is drawn on a sheet: the mark it belongs to, and its height.
    fn drawn(&self, page: usize) -> Vec<(Option<usize>, f64)> {
        let contents = after(&self.objects[&page], "/Contents ").map(reference).expect("contents");
        let mut unpacked = Vec::new();
        ZlibDecoder::new(self.streams[&contents]).read_to_end(&mut unpacked).expect("a stream");
        let stream = text(&unpacked);
        let (mut stack, mut scale) = (Vec::new(), (1.0, 0.0));
        let (mut mark, mut drawn, mut numbers) = (None, Vec::new(), Vec::<f64>::new());
        for word in stream.split_whitespace() {
            if let Ok(number) = word.parse() {
                numbers.push(number);
                continue;
            }
            let last = |n: usize| numbers.len().checked_sub(n).map(|i| numbers[i]);
            // Pages are not turned, so that heights are enough.
            match word {
                "q" => stack.push(scale),
                "Q" => scale = stack.pop().unwrap_or(scale),
                "cm" => {
                    let (by, to) = (last(3).unwrap_or(1.0), last(1).unwrap_or(0.0));
                    scale = (scale.0 * by, scale.1 + scale.0 * to);
                }
                ">>BDC" => mark = last(1).map(|n| n as usize),
                "EMC" => mark = None,
                "Tm" => drawn.push((mark, scale.1 + scale.0 * last(1).unwrap_or(0.0))),
                "re" if mark.is_some() => {
                    drawn.push((mark, scale.1 + scale.0 * last(3).unwrap_or(0.0)));
                }
                _ => {}
            }
            numbers.clear();
        }
        drawn
    }
}

fn text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn after<'t>(text: &'t str, what: &str) -> Option<&'t str> {
    text.split_once(what).map(|(_, rest)| rest)
}

fn first_number(text: &str) -> Option<usize> {
    text.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// `12 0 R`.
fn reference(text: &str) -> usize {
    first_number(text).expect("a reference")
}

/// A title in Latin letters, or in pairs of bytes as hexadecimal numbers.
fn title(object: &str) -> String {
    match after(object, "/Title <FEFF") {
        Some(hex) => {
            let hex: Vec<char> = hex.chars().take_while(char::is_ascii_hexdigit).collect();
            let letter = |four: &[char]| {
                let number = u32::from_str_radix(&four.iter().collect::<String>(), 16);
                number.ok().and_then(char::from_u32).unwrap_or('?')
            };
            hex.chunks(4).map(letter).collect()
        }
        None => after(object, "/Title (")
            .and_then(|rest| rest.split(")\n").next())
            .unwrap_or_default()
            .to_owned(),
    }
}
