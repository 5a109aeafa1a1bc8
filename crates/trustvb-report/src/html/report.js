// Copying, opening what a link leads to, paper, and tables in narrow windows. Everything else works without.
(() => {
  const text = (node) =>
    node.tagName === "TABLE"
      ? Array.from(node.rows, (row) => {
          // A quantity's name spans its rows; in a copy every row has it.
          const cells = Array.from(row.cells, (cell) => cell.textContent.trim().replace(/\s+/g, " "));
          const group = row.parentElement.querySelector("th[scope=rowgroup]");
          if (group && !row.contains(group)) cells.unshift(group.textContent.trim());
          return cells.join("\t");
        }).join("\n") + "\n"
      : node.textContent;

  // In a narrow window rows become blocks, whose cells need the names of their columns.
  for (const table of document.querySelectorAll(".scroll > table")) {
    const names = Array.from(table.tHead?.rows[0]?.cells ?? [], (cell) => cell.textContent.trim());
    for (const row of Array.from(table.tBodies).flatMap((body) => Array.from(body.rows))) {
      // Cells of a row without the quantity's name, which spans several, are counted from the right.
      const shift = names.length - row.cells.length;
      Array.from(row.cells).forEach((cell, i) => {
        if (cell.tagName === "TD" && cell.textContent.trim() !== "") cell.dataset.label = names[i + shift];
      });
    }
    table.classList.toggle("labelled", names.length > 0);
  }

  const unfold = () => {
    const place = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    const fold = place && (place.querySelector("details") ?? place.closest("details"));
    if (fold && place.tagName === "ARTICLE") fold.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();

  // On paper nothing can be opened: a short report is printed whole.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = Array.from(document.querySelectorAll(".few details:not([open])"));
    for (const fold of folded) fold.open = true;
  });
  addEventListener("afterprint", () => {
    for (const fold of folded) fold.open = false;
  });

  const copy = async (node) => {
    try {
      await navigator.clipboard.writeText(text(node));
      return true;
    } catch {
      // Without permission: select it, so that the reader's own keys copy it.
      getSelection().selectAllChildren(node);
      return document.execCommand("copy");
    }
  };

  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.hidden = false;
    const name = button.textContent;
    button.addEventListener("click", async () => {
      const done = await copy(document.getElementById(button.dataset.copy));
      button.textContent = done ? "Copied" : "Selected: press Ctrl+C";
      setTimeout(() => (button.textContent = name), 2000);
    });
  }
})();
