// Ties the parts together: filters, cursor, colours, printing.
function listenToFilters() {
  const form = byId("filters");
  const read = () => {
    view.words = byId("text").value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = byId("entity").value.trim();
    view.entity = entities.find(id => id === wanted) ?? entities.find(id => nameOf(id) === wanted) ?? wanted;
    view.value = byId("value").value;
    view.group = byId("group").value === "entity" ? "entity" : "fluent";
    view.rarest = byId("group").value === "rarest";
    pageNumber = 0;
    scroller.scrollTop = 0;
    changed("filter");
  };
  form.addEventListener("input", read);
  form.addEventListener("submit", event => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => {
    view.hidden.clear();
    drawLegend();
    read();
  }));
  byId("entity-names").append(...entities.slice(0, 2000).map(id => {
    const option = element("option");
    option.value = id;
    if (nameOf(id) !== id) option.label = nameOf(id);
    return option;
  }));
  byId("value").append(...facts.values.filter(value => value !== "").map(value => {
    const option = element("option", value);
    option.value = value;
    return option;
  }));
}

function listenToCursor() {
  const slider = byId("cursor");
  slider.addEventListener("input", () => setCursor(facts.first + slider.value / 1000 * whole));
  let last = 0;
  const step = now => {
    if (!view.playing) return;
    if (last) setCursor(view.cursor + Math.min(now - last, 100) / 40000 * whole, false);
    last = now;
    if (view.cursor >= facts.last) play(false);
    else requestAnimationFrame(step);
  };
  const play = on => {
    view.playing = on;
    view.hover = null;
    last = 0;
    byId("play").textContent = on ? "❚❚" : "▶";
    byId("play").setAttribute("aria-label", on ? "Pause" : "Play");
    if (on && view.cursor >= facts.last) view.cursor = facts.first;
    if (on) requestAnimationFrame(step);
    else changed("tell");
  };
  byId("play").addEventListener("click", () => play(!view.playing));
}

function listenToTheme() {
  const button = byId("theme"), names = {"": "Auto", light: "Light", dark: "Dark"};
  const order = ["", "light", "dark"];
  const apply = scheme => {
    if (scheme) document.documentElement.dataset.theme = scheme;
    else delete document.documentElement.dataset.theme;
    button.textContent = names[scheme];
    button.setAttribute("aria-label", `Colours: ${scheme || "as the system"}`);
    recolour();
  };
  button.addEventListener("click", () => {
    apply(order[(order.indexOf(document.documentElement.dataset.theme ?? "") + 1) % 3]);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  let chosen = "";
  addEventListener("beforeprint", () => {
    if (!printing) chosen = document.documentElement.dataset.theme ?? "";
    printing = true;
    apply("light");
    redrawNow();
  });
  addEventListener("afterprint", () => {
    printing = false;
    apply(chosen);
    redrawNow();
  });
  apply("");
}

function recolour() {
  readTheme();
  drawLegend();
  changed("colours");
}

function redrawNow() {
  pending.add("size");
  flush();
}

function update(kinds) {
  const any = (...names) => names.some(name => kinds.has(name));
  if (any("period", "cursor", "filter", "colours", "size")) drawTimeline();
  const anew = any("size", "colours", "map", "filter");
  if (sea && (anew || kinds.has("cursor"))) drawMap(anew);
  if (any("cursor", "filter", "colours", "tell", "size")) {
    const holding = listNow();
    byId("cursor").value = String((cursorTime() - facts.first) / whole * 1000);
    byId("cursor").setAttribute("aria-valuetext", timeText(Math.round(view.cursor)));
    if (kinds.has("tell")) announce(`${timeText(Math.round(view.cursor))}: ${holding} hold`);
  }
  if (kinds.has("filter")) {
    const all = many(shown.length, "interval");
    byId("count").textContent = shownCount === shown.length ? all : `${shownCount.toLocaleString("en")} of ${all}`;
    drawListing();
  }
}

async function start() {
  columns = await readColumns();
  ({rows, entities} = readRows(columns));
  rarity = new Array(facts.fluents.length).fill(0);
  for (const row of rows) rarity[row.fluent] += row.last - row.first;
  shown = new Uint8Array(columns.start.length);
  readTheme();
  listenToTheme();
  listenToFilters();
  listenToCursor();
  listenToTimeline();
  if (sea) startMap();
  makeSortable();
  byId("zoom-in").addEventListener("click", () => zoom(0.6, focusTime()));
  byId("zoom-out").addEventListener("click", () => zoom(1 / 0.6, focusTime()));
  byId("zoom-fit").addEventListener("click", fitPeriod);
  byId("listing").addEventListener("toggle", drawListing);
  byId("page-before").addEventListener("click", () => { pageNumber--; drawListing(); });
  byId("page-after").addEventListener("click", () => { pageNumber++; drawListing(); });
  listeners.push(update);
  new ResizeObserver(() => changed("size")).observe(byId("timeline"));
  const sizes = new Array(facts.fluents.length).fill(0);
  for (const row of rows) sizes[row.fluent]++;
  facts.fluents.forEach((name, at) => sizes[at] > MANY && view.folded.add("fluent\0" + name));
  fitPeriod();
  view.cursor = facts.first + whole / 2;
  pending.add("filter").add("size").add("cursor");
  flush();
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

start().catch(error => {
  byId("failure").textContent = `The timeline cannot be shown in this browser: ${error.message}. The tables below are complete.`;
  byId("failure").hidden = false;
  console.error(error);
});
