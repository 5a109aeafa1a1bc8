// Copying: the only thing a report needs a script for. Everything else works without.
(() => {
  const text = (node) =>
    node.tagName === "TABLE"
      ? Array.from(node.rows, (row) => {
          // A quantity's name spans its rows; in a copy every row has it.
          const cells = Array.from(row.cells, (cell) => cell.textContent.trim());
          const group = row.parentElement.querySelector("th[scope=rowgroup]");
          if (group && !row.contains(group)) cells.unshift(group.textContent.trim());
          return cells.join("\t");
        }).join("\n") + "\n"
      : node.textContent;

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
