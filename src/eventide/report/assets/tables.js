// Tables: sorting, the list of what holds now, the intervals page by page, the legend.
const PAGE = 50, LISTED = 8;
let pageNumber = 0;

function element(tag, text, classes = "") {
  const found = document.createElement(tag);
  if (text !== undefined) found.textContent = text;
  if (classes) found.className = classes;
  return found;
}

function makeSortable() {
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, at) => {
      const button = element("button", head.textContent);
      button.type = "button";
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const rising = head.getAttribute("aria-sort") === "descending" ||
          (!head.hasAttribute("aria-sort") && !head.classList.contains("number"));
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", rising ? "ascending" : "descending");
        const keyed = [...table.tBodies[0].rows].map(row => [row.cells[at].dataset.sort, row]);
        const order = head.classList.contains("number") ? (a, b) => a[0] - b[0]
          : (a, b) => a[0].localeCompare(b[0], "en", {numeric: true});
        table.tBodies[0].append(...keyed.sort((a, b) => rising ? order(a, b) : order(b, a)).map(pair => pair[1]));
      });
    });
    for (const row of table.querySelectorAll("tr[data-key]")) {
      const button = element("button", undefined, "link");
      button.type = "button";
      button.title = "Show only this in the timeline";
      button.append(...row.cells[0].childNodes);
      row.cells[0].append(button);
      button.addEventListener("click", () => table.id === "table-fluents" ? onlyFluent(row.dataset.key) : onlyEntity(row.dataset.key));
    }
  }
}

function onlyFluent(name) {
  view.hidden = new Set(facts.fluents.map((_, at) => at).filter(at => facts.fluents[at] !== name));
  drawLegend();
  showTimeline();
}

function onlyEntity(name) {
  byId("entity").value = view.entity = view.entity === name ? "" : name;
  showTimeline();
}

function showTimeline() {
  changed("filter");
  byId("explore").scrollIntoView({block: "start"});
}

function drawLegend() {
  const buttons = facts.fluents.map((name, fluent) => {
    const button = element("button", undefined, "chip");
    button.type = "button";
    button.setAttribute("aria-pressed", String(!view.hidden.has(fluent)));
    const swatch = element("i");
    swatch.style.background = colourOf(fluent);
    button.append(swatch, element("span", name), element("small", rarity[fluent].toLocaleString("en")));
    button.title = "Click to show or hide, double-click to show only this";
    button.addEventListener("click", () => {
      if (!view.hidden.delete(fluent)) view.hidden.add(fluent);
      button.setAttribute("aria-pressed", String(!view.hidden.has(fluent)));
      changed("filter");
    });
    button.addEventListener("dblclick", () => onlyFluent(name));
    return button;
  });
  if (facts.fluents.length > 1) {
    const all = element("button", "All", "chip plain");
    all.type = "button";
    all.addEventListener("click", () => {
      view.hidden.clear();
      drawLegend();
      changed("filter");
    });
    buttons.push(all);
  }
  byId("legend").replaceChildren(...buttons);
}

// What holds at the time under the cursor, in words.
function listNow() {
  const time = cursorTime(), groups = new Map();
  eachHolding(time, (i, row) => {
    if (!groups.has(row.fluent)) groups.set(row.fluent, []);
    groups.get(row.fluent).push([i, row]);
  });
  byId("now-time").textContent = timeText(Math.round(time)) + (isDates ? " UTC" : "");
  byId("time").textContent = timeText(Math.round(time));
  const cards = [...groups].sort((a, b) => rarity[a[0]] - rarity[b[0]]).map(([fluent, found]) => {
    const card = element("div", undefined, "card");
    const head = element("h4");
    const swatch = element("i");
    swatch.style.background = colourOf(fluent);
    head.append(swatch, element("span", facts.fluents[fluent]), element("small", found.length.toLocaleString("en")));
    const list = element("ul");
    for (const [i, row] of found.slice(0, LISTED)) {
      const value = facts.values[columns.value[i]];
      const item = element("li", row.label + (value === "true" || value === "" ? "" : ` = ${value}`));
      item.append(element("small", columns.end[i] === Infinity ? "open" : `until ${clockText(columns.end[i])}`));
      list.append(item);
    }
    if (found.length > LISTED) list.append(element("li", `and ${(found.length - LISTED).toLocaleString("en")} more`, "more"));
    card.append(head, list);
    return card;
  });
  byId("now-list").replaceChildren(...cards.length ? cards : [element("p", "Nothing holds.", "empty")]);
  return [...groups.values()].reduce((sum, found) => sum + found.length, 0);
}

function drawListing() {
  if (!byId("listing").open) return;
  const pages = Math.max(1, Math.ceil(shownCount / PAGE));
  pageNumber = Math.min(Math.max(pageNumber, 0), pages - 1);
  const found = [];
  let skip = pageNumber * PAGE;
  for (const row of rows) {
    if (!row.count) continue;
    if (skip >= row.count) { skip -= row.count; continue; }
    for (let i = row.first; i < row.last && found.length < PAGE; i++) {
      if (!shown[i] || skip-- > 0) continue;
      const [, , lasts] = intervalLines(i, row);
      const cells = [facts.fluents[row.fluent], row.label, facts.values[columns.value[i]], timeText(columns.start[i]),
        timeText(columns.end[i]), lasts];
      const line = element("tr");
      line.append(...cells.map((text, at) => element("td", text, at > 2 ? "number" : "")));
      found.push(line);
    }
    skip = 0;
    if (found.length >= PAGE) break;
  }
  byId("listing-rows").replaceChildren(...found);
  byId("listing-caption").textContent = many(shownCount, "interval") +
    (shownCount < shown.length ? ` of ${shown.length.toLocaleString("en")}` : "");
  byId("page-number").textContent = `page ${(pageNumber + 1).toLocaleString("en")} of ${pages.toLocaleString("en")}`;
  byId("page-before").disabled = pageNumber === 0;
  byId("page-after").disabled = pageNumber === pages - 1;
}
