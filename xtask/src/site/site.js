// The search of the documentation site: every word must occur; headings count most, and what tables explain. Needs no server and no network.
"use strict";
(() => {
  const root = document.currentScript.dataset.root;
  const input = document.getElementById("search");
  const box = document.getElementById("found");
  const count = document.getElementById("found-count");
  const list = box.querySelector("ol");
  const MOST = 12;
  const AROUND = 70;

  // The index is a script, because a page from the disk may load a script and not a file of data.
  let loading;
  const load = () => {
    loading ??= new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = root + "site/index.js";
      script.onload = () => done(prepared(window.siteIndex));
      script.onerror = () => failed(new Error("site/index.js is missing"));
      document.head.append(script);
    });
    return loading;
  };

  const prepared = ({ pages, sections }) =>
    sections.map(([page, id, heading, text, terms]) => ({
      address: pages[page][0] + "#" + id,
      name: pages[page][1],
      heading,
      text,
      head: heading.toLowerCase(),
      page: pages[page][1].toLowerCase(),
      body: text.toLowerCase(),
      terms: terms.map((term) => term.toLowerCase()),
    }));

  // How well a section fits a word; 0 if it does not have it.
  const fit = (section, word) => {
    const begins = (text) => text.startsWith(word) || text.includes(" " + word);
    let score = 0;
    if (section.head.includes(word)) score += begins(section.head) ? 12 : 8;
    if (section.page.includes(word)) score += 4;
    if (section.terms.includes(word)) score += 10;
    const times = section.body.split(word).length - 1;
    if (times > 0) score += Math.min(times, 5) + (begins(section.body) ? 2 : 0);
    return score;
  };

  const search = (sections, words) => {
    const found = [];
    for (const section of sections) {
      const scores = words.map((word) => fit(section, word));
      if (scores.every((score) => score > 0)) found.push([scores.reduce((a, b) => a + b), section]);
    }
    return found.sort((a, b) => b[0] - a[0]).map(([, section]) => section);
  };

  // Text with every word marked; it goes in as text, never as HTML.
  const marked = (text, words) => {
    const node = document.createElement("span");
    const lower = text.toLowerCase();
    let at = 0;
    while (at < text.length) {
      const next = words
        .map((word) => [lower.indexOf(word, at), word.length])
        .filter(([place]) => place >= 0)
        .sort((a, b) => a[0] - b[0])[0];
      if (!next) break;
      const mark = document.createElement("mark");
      mark.textContent = text.slice(next[0], next[0] + next[1]);
      node.append(text.slice(at, next[0]), mark);
      at = next[0] + next[1];
    }
    node.append(text.slice(at));
    return node;
  };

  const excerpt = (section, words) => {
    const at = Math.max(0, Math.min(...words.map((word) => section.body.indexOf(word)).filter((place) => place >= 0), section.text.length));
    const from = at === section.text.length ? 0 : Math.max(0, at - AROUND);
    const piece = section.text.slice(from, from + 3 * AROUND);
    return (from > 0 ? "…" : "") + piece + (from + 3 * AROUND < section.text.length ? "…" : "");
  };

  const close = () => {
    box.hidden = true;
    list.replaceChildren();
    count.textContent = "";
  };

  const show = async () => {
    const asked = input.value;
    const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return close();
    const found = search(await load(), words);
    // Somebody typed on while the index was loading.
    if (asked !== input.value) return;
    count.textContent = found.length === 0 ? "Nothing found: try fewer or other words."
      : found.length > MOST ? `${MOST} of ${found.length} places` : `${found.length} ${found.length === 1 ? "place" : "places"}`;
    list.replaceChildren(...found.slice(0, MOST).map((section) => {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = root + section.address;
      link.textContent = section.name === section.heading ? section.name : `${section.name}: ${section.heading}`;
      item.append(link, marked(excerpt(section, words), words));
      return item;
    }));
    box.hidden = false;
  };

  input.addEventListener("input", show);
  input.form.addEventListener("submit", (event) => {
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  box.addEventListener("click", (event) => {
    // A link to this very page loads nothing, so the list would stay over it.
    if (event.target.closest("a")) close();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      close();
    } else if (event.key === "/" && !event.target.closest("input, textarea")) {
      event.preventDefault();
      input.focus();
    }
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest("header")) close();
  });
})();
