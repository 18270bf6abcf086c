// What is shown: the period, the filters, the time under the cursor; and who must be told when it changes.
const view = {
  from: facts.first, to: facts.last, cursor: facts.first, hover: null, group: "fluent", rarest: true,
  words: [], entity: "", value: "", hidden: new Set(), folded: new Set(), item: 0, interval: -1, playing: false,
};
let columns, rows, entities, rarity, shown, items, shownCount = 0, mostAtOnce = 0;
const MANY = 40;  // situations with more rows than this are folded at first
const listeners = [];
const pending = new Set();

function changed(...kinds) {
  if (!pending.size) requestAnimationFrame(flush);
  for (const kind of kinds) pending.add(kind);
}

function flush() {
  const kinds = new Set(pending);
  pending.clear();
  if (kinds.has("filter")) applyFilters();
  for (const listener of listeners) listener(kinds);
}

const cursorTime = () => view.hover ?? view.cursor;
const whole = Math.max(facts.last - facts.first, 1e-9);

function setPeriod(from, to) {
  const room = whole * 0.02, least = Math.min(whole, isDates ? 5 * PER_SECOND[facts.unit] : whole / 1e5);
  let length = Math.min(Math.max(to - from, least), whole + 2 * room);
  from = (from + to) / 2 - length / 2;
  from = Math.min(Math.max(from, facts.first - room), facts.last + room - length);
  view.from = from;
  view.to = from + length;
  changed("period");
}

function zoom(factor, around = (view.from + view.to) / 2) {
  setPeriod(around - (around - view.from) * factor, around + (view.to - around) * factor);
}

const fitPeriod = () => setPeriod(facts.first - whole * 0.02, facts.last + whole * 0.02);

function setCursor(time, tell = true) {
  view.cursor = Math.min(Math.max(time, facts.first), facts.last);
  changed("cursor");
  if (tell) changed("tell");
}

// Which intervals pass the filters, and the items of the timeline: groups and their rows.
function applyFilters() {
  const values = facts.values.map(value => value.toLowerCase());
  const groups = new Map();
  shown.fill(0);
  shownCount = 0;
  rows.forEach((row, number) => {
    row.count = 0;
    if (view.hidden.has(row.fluent) || (view.entity && !row.names.includes(view.entity))) return;
    const words = view.words.filter(word => !row.search.includes(word));
    for (let i = row.first; i < row.last; i++) {
      const value = columns.value[i];
      if ((view.value && facts.values[value] !== view.value) || !words.every(word => values[value].includes(word))) continue;
      shown[i] = 1;
      row.count++;
    }
    if (!row.count) return;
    shownCount += row.count;
    const keys = view.group === "fluent" ? [facts.fluents[row.fluent]] : row.entities.length ? row.entities : [""];
    for (const key of keys) {
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(number);
    }
  });
  const order = view.group === "fluent" ? [...groups.keys()] : ["", ...entities].filter(key => groups.has(key));
  if (view.group === "fluent" && view.rarest) {
    const count = key => rarity[rows[groups.get(key)[0]].fluent];
    order.sort((a, b) => count(a) - count(b));
  }
  items = [];
  for (const key of order) {
    const members = groups.get(key);
    const open = !view.folded.has(view.group + "\0" + key);
    items.push({group: key, members, open, count: members.reduce((sum, row) => sum + rows[row].count, 0)});
    if (open) for (const row of members) items.push({row, of: key});
  }
  view.item = Math.min(view.item, Math.max(0, items.length - 1));
  view.interval = -1;
  mostAtOnce = countAtOnce();
}

// How many of the intervals that are shown hold at the same time, at most.
function countAtOnce() {
  const starts = columns.start.filter((_, i) => shown[i]).sort(), ends = columns.end.filter((_, i) => shown[i]).sort();
  let most = 0;
  for (let i = 0, ended = 0; i < starts.length; i++) {
    while (ends[ended] <= starts[i]) ended++;
    most = Math.max(most, i + 1 - ended);
  }
  return most;
}

// Calls back for every interval that is shown and holds at a time, with its row.
function eachHolding(time, call) {
  rows.forEach((row, number) => {
    if (!row.count) return;
    for (let i = row.first; i < row.last; i++)
      if (shown[i] && columns.start[i] <= time && time < columns.end[i]) call(i, row, number);
  });
}

// Colours that most people can tell apart (after Okabe and Ito, and Tol), for light and for dark.
const PALETTE = {
  light: ["#0072b2", "#d55e00", "#009e73", "#b8578f", "#a87400", "#3a93c9", "#882255", "#7d7d1f", "#2f8f83", "#5b4b9e"],
  dark: ["#4ba3dd", "#f08a4b", "#2fc79a", "#df9cc4", "#e6b13d", "#8fd0f5", "#d4709f", "#c3c352", "#6fd1c5", "#a699e8"],
};
const theme = {};

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["ink", "soft", "faint", "line", "panel", "ground", "sea", "land", "coast", "accent"])
    theme[name] = style.getPropertyValue(`--${name}`).trim();
  theme.scheme = style.getPropertyValue("--scheme").trim() || "light";
  theme.font = style.getPropertyValue("--font").trim() || "sans-serif";
}

// The second ten are mixed with the paper, the third ten with the ink.
function colourOf(fluent) {
  const colour = PALETTE[theme.scheme][fluent % 10], turn = Math.floor(fluent / 10) % 3;
  if (!turn) return colour;
  const towards = (turn === 1) === (theme.scheme === "light") ? 255 : 0;
  const mixed = [1, 3, 5].map(at => Math.round(0.6 * parseInt(colour.slice(at, at + 2), 16) + 0.4 * towards));
  return `#${mixed.map(part => part.toString(16).padStart(2, "0")).join("")}`;
}

function sized(canvas, height) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return [pen, width];
}

function shortened(pen, text, room) {
  if (pen.measureText(text).width <= room) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (pen.measureText(text.slice(0, middle) + "…").width <= room) low = middle; else high = middle - 1;
  }
  return low ? text.slice(0, low) + "…" : "";
}

function tip(lines, x, y) {
  const box = byId("tip");
  box.hidden = !lines;
  if (!lines) return;
  box.replaceChildren(...lines.map((line, at) => {
    const part = document.createElement(at ? "div" : "strong");
    part.textContent = line;
    return part;
  }));
  const {width, height} = box.getBoundingClientRect();
  box.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 8))}px`;
  box.style.top = `${y + 18 + height > innerHeight ? y - height - 10 : y + 18}px`;
}

function intervalLines(i, row) {
  const start = columns.start[i], end = columns.end[i];
  const lasts = Math.min(end, facts.last) - Math.max(start, facts.first);
  return [situationText(row.fluent, row.names, facts.values[columns.value[i]]),
    `${timeText(start)} to ${end === Infinity ? "open" : timeText(end)}`,
    end === Infinity ? `${durationText(lasts)} so far` : `${durationText(end - start)}`];
}
