// The editor: completion from the names of the lake, earlier queries, Ctrl+Enter.
(() => {
  "use strict";
  const KEPT = 30;
  const SHOWN = 8;
  const form = document.getElementById("query");
  if (!form) return;
  const editor = form.elements.sql;
  const shown = document.getElementById("completion");
  const earlier = document.getElementById("earlier");
  const place = `labctl:${document.querySelector("header .lab").textContent}:queries`;
  let names = [];

  fetch("/query/names").then((answer) => (answer.ok ? answer.json() : {})).then((tables) => {
    const columns = new Set(Object.values(tables).flat());
    names = [...Object.keys(tables), ...columns];
    suggest();
  }).catch(() => {});  // without the server, there is nothing to complete

  /** Return the beginning of the name before the cursor, and the names that go on from it. */
  function candidates() {
    const [begun] = editor.value.slice(0, editor.selectionStart).match(/[\p{L}\p{N}_.]*$/u);
    const low = begun.toLowerCase();
    const fits = (name) => {
      const own = name.toLowerCase();
      return own !== low && (own.startsWith(low) || own.slice(own.indexOf(".") + 1).startsWith(low));
    };
    return { begun, found: names.filter(fits).slice(0, SHOWN) };
  }

  function suggest() {
    shown.textContent = candidates().found.join("  ");
  }

  function complete() {
    const { begun, found } = candidates();
    if (!found.length) return;
    const end = editor.selectionStart;
    editor.setRangeText(found[0], end - begun.length, end, "end");
    suggest();
  }

  function kept() {
    try {
      return JSON.parse(localStorage.getItem(place)) ?? [];
    } catch {
      return [];
    }
  }

  function listEarlier() {
    earlier.replaceChildren(earlier.options[0], ...kept().map((sql) => new Option(sql.slice(0, 80), sql)));
  }

  editor.addEventListener("input", suggest);
  editor.addEventListener("click", suggest);
  editor.addEventListener("keydown", (event) => {
    if (event.ctrlKey && event.key === " ") {
      event.preventDefault();
      complete();
    } else if (event.ctrlKey && event.key === "Enter") {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  form.addEventListener("submit", () => {
    const all = [editor.value, ...kept().filter((sql) => sql !== editor.value)];
    localStorage.setItem(place, JSON.stringify(all.slice(0, KEPT)));
    listEarlier();
  });
  earlier.addEventListener("change", () => {
    if (earlier.value) editor.value = earlier.value;
    earlier.selectedIndex = 0;
    editor.focus();
  });
  listEarlier();
  editor.focus();
})();
