"use strict";
(() => {
  const root = document.documentElement;
  const of = (id) => document.getElementById(id);
  root.classList.add("scripted");

  // Light and dark. A file that is opened from a disk may have no storage.
  const kept = (value) => {
    try {
      if (value === undefined) return localStorage.getItem("theme");
      localStorage.setItem("theme", value);
    } catch {}
    return null;
  };
  const isDark = () => root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  const theme = of("theme");
  const show = (value) => {
    if (value === "light" || value === "dark") root.dataset.theme = value;
    theme.textContent = isDark() ? "Light" : "Dark";
    theme.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours");
  };
  theme.hidden = false;
  show(kept());
  theme.addEventListener("click", () => {
    show(isDark() ? "light" : "dark");
    kept(root.dataset.theme);
  });

  // The filter. Rows of the matrix and sections of contracts have the same order.
  const rows = [...document.querySelectorAll("#matrix tbody tr")];
  const sections = [...document.querySelectorAll(".contract")];
  let texts = null;
  const search = of("search");
  const outcome = of("outcome");
  const filter = () => {
    texts ??= sections.map((each) => each.textContent.toLowerCase());
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    sections.forEach((section, index) => {
      const isOf = !outcome.value || section.dataset.outcomes.split(" ").includes(outcome.value);
      const isShown = isOf && words.every((word) => texts[index].includes(word));
      section.hidden = !isShown;
      rows[index].hidden = !isShown;
      shown += isShown;
    });
    of("count").textContent = `${shown} of ${sections.length} contracts`;
    reach();
  };
  search.addEventListener("input", filter);
  outcome.addEventListener("change", filter);
  document.addEventListener("keydown", (event) => {
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && document.activeElement === search) {
      search.value = "";
      filter();
    }
  });

  // The matrix is one stop of the tab key; arrow keys move in it.
  const body = document.querySelector("#matrix tbody");
  const target = (cell) => cell.querySelector("a") ?? cell;
  const reach = () => {
    if (!body) return;
    const [old] = body.querySelectorAll('[tabindex="0"]');
    const row = rows.find((each) => !each.hidden);
    if (old && !old.closest("tr").hidden) return;
    old?.setAttribute("tabindex", "-1");
    if (row) target(row.cells[0]).setAttribute("tabindex", "0");
  };
  const move = (cell, right, down) => {
    const seen = rows.filter((each) => !each.hidden);
    const y = Math.min(Math.max(seen.indexOf(cell.parentNode) + down, 0), seen.length - 1);
    const x = Math.min(Math.max(cell.cellIndex + right, 0), cell.parentNode.cells.length - 1);
    const next = target(seen[y].cells[x]);
    body.querySelector('[tabindex="0"]')?.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  };
  if (body) {
    for (const link of body.querySelectorAll("a")) link.tabIndex = -1;
    reach();
    const far = rows.length;
    const wide = rows[0]?.cells.length ?? 0;
    const steps = {
      ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
      Home: [-wide, 0], End: [wide, 0], PageUp: [0, -10], PageDown: [0, 10],
    };
    body.addEventListener("keydown", (event) => {
      const step = steps[event.key];
      if (!step || event.altKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      const isEdge = event.ctrlKey && step[0] && Math.abs(step[0]) === wide;
      move(event.target.closest("th, td"), step[0], isEdge ? Math.sign(step[0]) * far : step[1]);
    });
    body.addEventListener("click", (event) => {
      const cell = event.target.closest("td");
      if (cell && !cell.querySelector("a")) move(cell, 0, 0);
    });
  }

  // What a link points to is opened and focused, so that the keyboard goes on from there.
  const arrive = () => {
    const aim = of(location.hash.slice(1));
    const section = aim?.closest(".contract");
    if (!section) return;
    if (section.hidden) {
      search.value = outcome.value = "";
      filter();
    }
    section.open = true;
    const place = aim === section ? section.querySelector("summary") : aim;
    if (place === aim) place.tabIndex = -1;
    place.focus({ preventScroll: true });
    aim.scrollIntoView({ behavior: "instant" });
  };
  addEventListener("hashchange", arrive);
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link && link.hash === location.hash) arrive();
  });
  arrive();
  of("open").addEventListener("click", () => {
    const isAny = sections.some((each) => !each.hidden && !each.open);
    for (const each of sections) if (!each.hidden) each.open = isAny;
  });
  addEventListener("beforeprint", () => {
    for (const each of sections) each.open = true;
  });

  document.addEventListener("click", async (event) => {
    const button = event.target.closest(".copy");
    if (!button) return;
    const text = button.previousElementSibling;
    let isCopied = true;
    try {
      await navigator.clipboard.writeText(text.textContent);
    } catch {
      getSelection().selectAllChildren(text);
      isCopied = document.execCommand("copy");
    }
    button.textContent = isCopied ? "Copied" : "Selected";
    of("said").textContent = isCopied ? "Copied" : "Selected: copy it with the keyboard";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
})();
