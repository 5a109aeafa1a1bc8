// The input for quantities: completion by keys and pointer.

import { element } from "./server.js";
import { accept, complete } from "./words.js";

/**
 * Makes an input offer completions; calls `typed` after every change, `enter` at Enter, and `closed` when
 * nothing is offered any more.
 */
export function combobox(input, list, { vocabulary, typed, enter, closed }) {
  let completion = { options: [] };
  let chosen = -1;

  function draw() {
    const open = completion.options.length > 0;
    list.hidden = !open;
    input.setAttribute("aria-expanded", String(open));
    list.replaceChildren(
      ...completion.options.map((option, i) => {
        const name = element("code", {}, option.label);
        const about = element("span", { className: "meaning" }, option.about);
        const item = element("li", { id: `completion-${i}`, role: "option" }, name, " ", about);
        item.setAttribute("aria-selected", String(i === chosen));
        item.addEventListener("pointerdown", (event) => {
          event.preventDefault();
          take(i);
        });
        return item;
      }),
    );
    if (chosen >= 0) {
      input.setAttribute("aria-activedescendant", `completion-${chosen}`);
      list.children[chosen].scrollIntoView({ block: "nearest" });
    } else {
      input.removeAttribute("aria-activedescendant");
    }
  }

  function offer() {
    completion = complete(input.value, input.selectionStart, vocabulary());
    chosen = -1;
    draw();
  }

  function close() {
    completion = { options: [] };
    chosen = -1;
    draw();
    closed();
  }

  function take(i) {
    const { text, caret } = accept(input.value, completion, completion.options[i]);
    input.value = text;
    input.setSelectionRange(caret, caret);
    offer();
    typed();
  }

  input.addEventListener("keydown", (event) => {
    const n = completion.options.length;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && n > 0) {
      chosen = chosen < 0 ? (step > 0 ? 0 : n - 1) : (chosen + step + n) % n;
      draw();
    } else if (event.key === "Tab" && n > 0 && !event.shiftKey && (chosen >= 0 || input.value !== "")) {
      take(Math.max(chosen, 0));
    } else if (event.key === "Enter" && chosen >= 0) {
      take(chosen);
    } else if (event.key === "Enter") {
      close();
      enter();
    } else if (event.key === "Escape" && n > 0) {
      close();
    } else {
      return;
    }
    event.preventDefault();
  });
  input.addEventListener("input", () => {
    offer();
    typed();
  });
  input.addEventListener("blur", close);
  input.addEventListener("click", offer);
}
