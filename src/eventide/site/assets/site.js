"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const base = document.body.dataset.base;

  // The theme: as the machine says, or as chosen. Some browsers keep nothing for pages opened from a disk.
  const order = ["", "light", "dark"], names = {"": "Auto", light: "Light", dark: "Dark"};
  const kept = { get() { try { return localStorage.getItem("theme") ?? ""; } catch { return ""; } },
                 set(value) { try { localStorage.setItem("theme", value); } catch { /* for this page only */ } } };
  const apply = (theme) => {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    byId("theme").textContent = names[theme];
  };
  apply(order.includes(kept.get()) ? kept.get() : "");
  byId("theme").addEventListener("click", () => {
    const next = order[(order.indexOf(document.documentElement.dataset.theme ?? "") + 1) % 3];
    kept.set(next);
    apply(next);
  });

  // The search: every word must begin one of the page; titles count more than headings, these more than the text below.
  const input = byId("search"), list = byId("found");
  // The names of files are words for a page too; what changed comes behind what is.
  const entries = WORDS.map((entry) => ({...entry, title: `${entry.page} ${entry.at.split("#")[0]}`.toLowerCase(),
                                         head: entry.heading.toLowerCase(), low: entry.words.toLowerCase(),
                                         worth: entry.at.startsWith("changelog.html") ? 0.2 : 1}));
  const begins = (word) => `(?<![\\p{L}\\p{N}])${word.replace(/[.*+?^${}()|[\]\\\/]/g, "\\$&")}`;
  const scored = (entry, patterns) => {
    let score = 0;
    for (const pattern of patterns) {
      const inHead = entry.head.search(pattern) >= 0, inTitle = entry.title.search(pattern) >= 0;
      const times = (entry.low.match(pattern) ?? []).length;
      if (!inHead && !inTitle && !times) return 0;
      score += (inHead ? 10 : 0) + (inTitle ? 6 : 0) + Math.min(times, 5);
    }
    return score * entry.worth;
  };
  const excerpt = (entry, pattern) => {
    const from = Math.max(0, entry.low.search(pattern) - 40);
    return (from ? "…" : "") + entry.words.slice(from, from + 130);
  };
  const marked = (text, pattern) => {
    const line = document.createElement("small");
    let last = 0;
    for (const match of text.matchAll(pattern)) {
      line.append(text.slice(last, match.index));
      line.appendChild(document.createElement("mark")).textContent = match[0];
      last = match.index + match[0].length;
    }
    line.append(text.slice(last));
    return line;
  };
  const search = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    list.hidden = !words.length;
    if (!words.length) return;
    const patterns = words.map((word) => new RegExp(begins(word), "gu"));
    const any = new RegExp(words.map(begins).join("|"), "giu");
    const best = entries.map((entry) => [scored(entry, patterns), entry]).filter(([score]) => score)
      .sort((a, b) => b[0] - a[0]).slice(0, 20);
    list.replaceChildren(...best.map(([, entry]) => {
      const item = document.createElement("li"), link = item.appendChild(document.createElement("a"));
      link.href = `${base}/${entry.at}`;
      link.textContent = entry.heading === entry.page ? entry.page : `${entry.page} › ${entry.heading}`;
      link.append(marked(excerpt(entry, any), any));
      link.addEventListener("click", () => { list.hidden = true; });
      return item;
    }));
    if (!best.length) {
      const item = list.appendChild(document.createElement("li"));
      item.className = "none";
      item.textContent = "Nothing found.";
    }
  };
  input.addEventListener("input", search);
  input.addEventListener("focus", search);
  document.addEventListener("keydown", (event) => {
    const links = [...list.querySelectorAll("a")], at = links.indexOf(document.activeElement);
    if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      input.focus();
    } else if (event.key === "Escape") {
      list.hidden = true;
      input.blur();
    } else if (!list.hidden && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      (links[at + (event.key === "ArrowDown" ? 1 : -1)] ?? input).focus();
    } else if (event.key === "Enter" && document.activeElement === input && links.length) {
      links[0].click();
    }
  });
  document.addEventListener("click", (event) => { if (!event.target.closest(".search")) list.hidden = true; });

  // Code can be copied: of commands and of what is typed into Python, no prompts and no answers.
  const typed = (text) => {
    const python = /^>>> /m.test(text);
    if (!python && !/^\$ /m.test(text)) return text;
    const prompt = python ? /^(>>>|\.\.\.)( |$)/ : /^\$ /, lines = [];
    let goesOn = false;  // a command that ends with a backslash has another line
    for (const line of text.split("\n")) {
      if (prompt.test(line)) lines.push(line.replace(prompt, ""));
      else if (goesOn) lines.push(line);
      else continue;
      goesOn = !python && line.endsWith("\\");
    }
    return lines.join("\n");
  };
  for (const block of document.querySelectorAll("pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(typed(block.querySelector("code").textContent));
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1200);
    });
    block.append(button);
  }
  const menu = document.querySelector(".menu"), here = menu.querySelector("[aria-current]");
  if (matchMedia("(max-width: 760px)").matches) menu.querySelector("details").open = false;
  else if (here) menu.scrollTop = here.offsetTop - menu.clientHeight / 2;
})();
