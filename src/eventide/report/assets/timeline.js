// The timeline: rows of bars on one canvas that stays in place while its container scrolls; only what is seen is drawn.
const ROW = 24, AXIS = 26, MOST_PRINTED = 150;
const scroller = byId("rows"), chart = byId("chart"), overview = byId("overview");
let labelWidth = 200, plotWidth = 600, printing = false;

const xOf = time => labelWidth + (time - view.from) / (view.to - view.from) * plotWidth;
const timeAt = x => view.from + (x - labelWidth) / plotWidth * (view.to - view.from);

function drawTimeline() {
  const left = printing ? Math.max(0, items.length - MOST_PRINTED) : 0;
  const height = printing ? AXIS + (items.length - left + (left ? 1 : 0)) * ROW : scroller.clientHeight;
  byId("space").style.height = `${printing ? height : Math.max(scroller.clientHeight, AXIS + items.length * ROW + 4)}px`;
  chart.style.height = `${height}px`;
  const [pen, width] = sized(chart, height);
  labelWidth = Math.min(230, Math.max(110, width * 0.28));
  plotWidth = Math.max(40, width - labelWidth - 10);
  const top = printing ? 0 : scroller.scrollTop;
  drawGrid(pen, width, height);
  pen.save();
  pen.beginPath();
  pen.rect(0, AXIS, width, height - AXIS);
  pen.clip();
  const first = Math.floor(top / ROW), last = Math.min(items.length - left, first + Math.ceil(height / ROW) + 1);
  for (let at = first; at < last; at++) drawItem(pen, at, AXIS + at * ROW - top, width);
  if (left) {
    pen.fillStyle = theme.soft;
    pen.fillText(`and ${many(left, "more row")}`, 18, height - ROW / 2);
  }
  let head = first;
  while (head > 0 && items[head]?.group === undefined) head--;
  if (head < first || (items[head] && head * ROW < top)) {
    const next = items.findIndex((item, at) => at > head && item.group !== undefined);
    drawItem(pen, head, AXIS + Math.min(0, next < 0 ? 0 : next * ROW - top - ROW), width, true);
  }
  if (!items.length) {
    pen.fillStyle = theme.soft;
    pen.font = `14px ${theme.font}`;
    pen.fillText(rows.length ? "No interval passes the filters." : "Nothing was recognised.", labelWidth, AXIS + 40);
  }
  pen.restore();
  drawCursor(pen, height);
  drawOverview();
  const zone = isDates ? " UTC" : "";
  byId("range").textContent = `${timeText(Math.round(Math.max(view.from, facts.first)))} to ` +
    `${timeText(Math.round(Math.min(view.to, facts.last)))}${zone}`;
}

function drawGrid(pen, width, height) {
  pen.font = `11px ${theme.font}`;
  pen.textBaseline = "middle";
  pen.textAlign = "center";
  for (const [time, text] of marks(view.from, view.to, plotWidth / 110)) {
    const x = Math.round(xOf(time)) + 0.5;
    pen.strokeStyle = theme.line;
    pen.beginPath();
    pen.moveTo(x, AXIS - 5);
    pen.lineTo(x, height);
    pen.stroke();
    pen.fillStyle = theme.soft;
    const half = pen.measureText(text).width / 2;
    pen.fillText(text, Math.min(Math.max(x, labelWidth + half), width - half - 2), AXIS / 2 - 1);
  }
  pen.textAlign = "left";
}

function drawItem(pen, at, y, width, pinned = false) {
  const item = items[at];
  if (pinned) {
    pen.fillStyle = theme.panel;
    pen.fillRect(0, y, width, ROW);
  }
  if (item.group !== undefined) drawGroup(pen, item, y, width, pinned);
  else drawRow(pen, item.row, y, item.of);
  if (at === view.item && document.activeElement === scroller) {
    pen.strokeStyle = theme.accent;
    pen.lineWidth = 2;
    pen.strokeRect(1, y + 1, width - 2, ROW - 2);
    pen.lineWidth = 1;
  }
}

function drawGroup(pen, item, y, width, pinned) {
  pen.fillStyle = theme.ground;
  pen.fillRect(0, y, width, ROW);
  const colour = view.group === "fluent" ? colourOf(rows[item.members[0]].fluent) : theme.soft;
  if (view.group === "fluent") {
    pen.fillStyle = colour;
    pen.fillRect(18, y + 8, 8, 8);
  }
  pen.fillStyle = theme.soft;
  pen.font = `9px ${theme.font}`;
  pen.fillText(item.open ? "▼" : "▶", 5, y + ROW / 2);
  pen.font = `600 12px ${theme.font}`;
  pen.fillStyle = theme.ink;
  const left = view.group === "fluent" ? 32 : 18;
  const count = item.count.toLocaleString("en");
  pen.font = `11px ${theme.font}`;
  const right = labelWidth - pen.measureText(count).width - 8;
  pen.fillStyle = theme.soft;
  pen.fillText(count, right, y + ROW / 2);
  pen.font = `600 12px ${theme.font}`;
  pen.fillStyle = theme.ink;
  pen.fillText(shortened(pen, view.group === "fluent" ? item.group : nameOf(item.group), right - left - 6), left, y + ROW / 2);
  drawDensity(pen, item, y + ROW - 3, colour, pinned);
}

// How many rows of a group hold, as the height of a thin band.
function drawDensity(pen, item, base, colour) {
  const steps = new Float32Array(Math.ceil(plotWidth) + 2);
  for (const number of item.members)
    for (let i = rows[number].first; i < rows[number].last; i++) {
      if (!shown[i] || columns.end[i] < view.from || columns.start[i] > view.to) continue;
      const a = Math.max(0, Math.floor(xOf(columns.start[i]) - labelWidth));
      const b = Math.min(plotWidth, Math.max(a + 1, Math.ceil(xOf(Math.min(columns.end[i], facts.last)) - labelWidth)));
      steps[a]++;
      steps[Math.ceil(b)]--;
    }
  let level = 0, most = 1;
  for (let x = 0; x < steps.length; x++) most = Math.max(most, level += steps[x]);
  pen.fillStyle = colour;
  pen.globalAlpha = 0.55;
  level = 0;
  for (let x = 0; x < plotWidth; x++) {
    level += steps[x];
    const tall = level > 0 ? 2 + level / most * (ROW - 9) : 0;
    if (tall) pen.fillRect(labelWidth + x, base - tall, 1, tall);
  }
  pen.globalAlpha = 1;
}

// What a row adds to the name of its group.
function rowLabel(row, group) {
  const name = facts.fluents[row.fluent];
  if (view.group === "fluent") return row.label || name;
  const others = row.names.filter(other => other !== group).map(nameOf).join(", ");
  return others ? `${name}: ${others}` : name;
}

function drawRow(pen, number, y, group) {
  const row = rows[number];
  pen.font = `12px ${theme.font}`;
  pen.fillStyle = theme.ink;
  const left = view.group === "fluent" ? 32 : 18;
  pen.fillText(shortened(pen, rowLabel(row, group), labelWidth - left - 6), left, y + ROW / 2);
  pen.strokeStyle = theme.faint;
  pen.beginPath();
  pen.moveTo(0, y + ROW - 0.5);
  pen.lineTo(labelWidth + plotWidth, y + ROW - 0.5);
  pen.stroke();
  const colour = colourOf(row.fluent);
  pen.save();
  pen.beginPath();
  pen.rect(labelWidth, y, plotWidth + 8, ROW);
  pen.clip();
  let drawn = -1;
  for (let i = firstAfter(row, view.from); i < row.last && columns.start[i] <= view.to; i++) {
    if (!shown[i]) continue;
    const a = Math.max(labelWidth - 4, xOf(columns.start[i]));
    const open = columns.end[i] === Infinity;
    const b = Math.min(labelWidth + plotWidth + 6, open ? xOf(facts.last) : xOf(columns.end[i]));
    if (b < drawn + 0.4) continue;
    drawBar(pen, a, Math.max(b, a + 2), y, colour, i, open);
    drawn = Math.max(b, a + 2);
  }
  pen.restore();
}

function drawBar(pen, a, b, y, colour, i, open) {
  pen.fillStyle = colour;
  pen.globalAlpha = columns.value[i] % 2 && facts.values[columns.value[i]] !== "true" ? 0.72 : 0.95;
  pen.beginPath();
  if (b - a > 5) pen.roundRect(a, y + 4, b - a, ROW - 8, open ? [3, 0, 0, 3] : 3);
  else pen.rect(a, y + 4, b - a, ROW - 8);
  pen.fill();
  pen.globalAlpha = 1;
  if (open) {
    pen.beginPath();
    pen.moveTo(b, y + 4);
    pen.lineTo(b + 6, y + ROW / 2);
    pen.lineTo(b, y + ROW - 4);
    pen.fill();
  }
  const text = facts.values[columns.value[i]];
  if (text !== "true" && text !== "" && b - a > 26) {
    pen.font = `11px ${theme.font}`;
    pen.fillStyle = theme.scheme === "dark" ? "#10151c" : "#fff";
    pen.fillText(shortened(pen, text, Math.min(b, labelWidth + plotWidth) - Math.max(a, labelWidth) - 10),
      Math.max(a, labelWidth) + 5, y + ROW / 2 + 0.5);
  }
  if (i === view.interval) {
    pen.strokeStyle = theme.ink;
    pen.lineWidth = 2;
    pen.strokeRect(a, y + 3, b - a, ROW - 6);
    pen.lineWidth = 1;
  }
}

// Intervals of a row do not overlap, so their ends are in order too.
function firstAfter(row, time) {
  let low = row.first, high = row.last;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (columns.end[middle] < time) low = middle + 1; else high = middle;
  }
  return low;
}

function drawCursor(pen, height) {
  const time = cursorTime();
  if (printing || time < view.from || time > view.to) return;
  const x = Math.round(xOf(time)) + 0.5;
  pen.strokeStyle = theme.accent;
  pen.beginPath();
  pen.moveTo(x, AXIS - 6);
  pen.lineTo(x, height);
  pen.stroke();
  const text = clockText(isDates ? Math.round(time) : time);
  pen.font = `600 11px ${theme.font}`;
  const half = pen.measureText(text).width / 2 + 6;
  const middle = Math.min(Math.max(x, labelWidth + half), labelWidth + plotWidth + 8 - half);
  pen.fillStyle = theme.accent;
  pen.beginPath();
  pen.roundRect(middle - half, 3, 2 * half, 18, 4);
  pen.fill();
  pen.fillStyle = theme.scheme === "dark" ? "#10151c" : "#fff";
  pen.textAlign = "center";
  pen.fillText(text, middle, 12.5);
  pen.textAlign = "left";
}

// The whole period at once: how many intervals hold, and which part is shown below.
function drawOverview() {
  if (!overview.clientWidth) return;  // on paper
  const [pen, width] = sized(overview, 34);
  const room = width - labelWidth - 10, steps = new Int32Array(Math.ceil(room) + 2);
  const place = time => (Math.min(Math.max(time, facts.first), facts.last) - facts.first) / whole * (room - 1);
  for (let i = 0; i < shown.length; i++) {
    if (!shown[i]) continue;
    steps[Math.floor(place(columns.start[i]))]++;
    steps[Math.ceil(place(columns.end[i])) + 1]--;
  }
  let level = 0, most = 1;
  for (const step of steps) most = Math.max(most, level += step);
  level = 0;
  pen.fillStyle = theme.soft;
  pen.globalAlpha = 0.5;
  for (let x = 0; x < room; x++) {
    level += steps[x];
    pen.fillRect(labelWidth + x, 30 - level / most * 26, 1, level / most * 26);
  }
  pen.globalAlpha = 1;
  pen.font = `11px ${theme.font}`;
  pen.fillStyle = theme.soft;
  pen.textBaseline = "middle";
  pen.fillText(shortened(pen, `at most ${mostAtOnce.toLocaleString("en")} at once`, labelWidth - 8), 5, 18);
  const a = labelWidth + place(view.from), b = labelWidth + place(view.to);
  pen.fillStyle = theme.accent;
  pen.globalAlpha = 0.14;
  pen.fillRect(a, 1, Math.max(2, b - a), 31);
  pen.globalAlpha = 1;
  pen.strokeStyle = theme.accent;
  pen.strokeRect(a + 0.5, 1.5, Math.max(2, b - a - 1), 30);
  const x = Math.round(labelWidth + place(cursorTime())) + 0.5;
  pen.beginPath();
  pen.moveTo(x, 0);
  pen.lineTo(x, 34);
  pen.stroke();
}

// The item under the pointer, and the interval of its row that is nearest to it within a few pixels.
function timelineHit(event) {
  const box = chart.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  const pinnedHead = scroller.scrollTop > 0 && y < AXIS + ROW ? pinnedItem() : -1;
  const at = y < AXIS ? -1 : pinnedHead >= 0 ? pinnedHead : Math.floor((y - AXIS + scroller.scrollTop) / ROW);
  const item = items[at];
  const hit = {x, y, at: item ? at : -1, item, interval: -1};
  if (!item || item.row === undefined || x < labelWidth) return hit;
  const row = rows[item.row], slack = 3 / plotWidth * (view.to - view.from), time = timeAt(x);
  for (let i = firstAfter(row, time - slack); i < row.last && columns.start[i] <= time + slack; i++)
    if (shown[i]) {
      hit.interval = i;
      if (columns.start[i] <= time && time < columns.end[i]) break;
    }
  return hit;
}

function pinnedItem() {
  let at = Math.floor(scroller.scrollTop / ROW);
  while (at > 0 && items[at]?.group === undefined) at--;
  return at;
}

function fold(item) {
  const key = view.group + "\0" + item.group;
  if (!view.folded.delete(key)) view.folded.add(key);
  changed("filter");
}

function listenToTimeline() {
  const pointers = new Map();
  let drag = null, apart = 0;
  scroller.addEventListener("scroll", () => changed("period"));
  scroller.addEventListener("wheel", event => {
    const box = chart.getBoundingClientRect(), x = event.clientX - box.left, onAxis = event.clientY - box.top < AXIS;
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (event.ctrlKey || event.metaKey || onAxis) zoom(Math.exp(event.deltaY * (event.ctrlKey ? 0.004 : 0.002)), timeAt(x));
    else if (Math.abs(sideways) > (event.shiftKey ? 0 : Math.abs(event.deltaY))) {
      const by = sideways / plotWidth * (view.to - view.from);
      setPeriod(view.from + by, view.to + by);
    } else return;
    event.preventDefault();
  }, {passive: false});
  chart.addEventListener("pointerdown", event => {
    pointers.set(event.pointerId, event);
    drag = {x: event.clientX, from: view.from, to: view.to, moved: false};
    if (pointers.size === 2) apart = spread(pointers);
    chart.setPointerCapture(event.pointerId);
  });
  chart.addEventListener("pointermove", event => {
    if (pointers.has(event.pointerId)) {
      pointers.set(event.pointerId, event);
      if (pointers.size === 2) {
        const now = spread(pointers);
        zoom(apart / Math.max(1, now), timeAt(middle(pointers) - chart.getBoundingClientRect().left));
        apart = now;
        drag.moved = true;
        return;
      }
      if (Math.abs(event.clientX - drag.x) > 3) drag.moved = true;
      if (drag.moved) {
        const by = (drag.x - event.clientX) / plotWidth * (drag.to - drag.from);
        setPeriod(drag.from + by, drag.to + by);
        tip(null);
        return;
      }
    }
    const hit = timelineHit(event);
    view.hover = hit.x > labelWidth && !view.playing && event.pointerType === "mouse"
      ? Math.min(Math.max(timeAt(hit.x), facts.first), facts.last) : null;
    chart.style.cursor = hit.item?.group !== undefined && hit.x < labelWidth ? "pointer" : hit.interval >= 0 ? "pointer" : "grab";
    tip(hit.interval >= 0 ? [...intervalLines(hit.interval, rows[hit.item.row]), ...whyLines(hit.interval, rows[hit.item.row])]
      : hit.item && hit.x < labelWidth ? labelLines(hit.item) : null, event.clientX, event.clientY);
    changed("cursor");
  });
  chart.addEventListener("pointerup", event => {
    pointers.delete(event.pointerId);
    if (!drag || drag.moved || pointers.size) return;
    const hit = timelineHit(event);
    if (hit.item) view.item = hit.at;
    if (hit.item?.group !== undefined && hit.x < labelWidth) fold(hit.item);
    else if (hit.x >= labelWidth) {
      view.interval = hit.interval;
      setCursor(timeAt(hit.x));
      if (hit.interval >= 0) showProof(hit.interval, rows[hit.item.row]);
    }
    changed("period");
  });
  chart.addEventListener("pointercancel", event => pointers.delete(event.pointerId));
  chart.addEventListener("pointerleave", () => {
    view.hover = null;
    tip(null);
    changed("cursor");
  });
  for (const kind of ["focus", "blur"]) scroller.addEventListener(kind, () => changed("period"));
  scroller.addEventListener("keydown", timelineKey);
  let brushing = false;
  const brush = event => {
    const box = overview.getBoundingClientRect();
    const time = facts.first + (event.clientX - box.left - labelWidth) / (box.width - labelWidth - 10) * whole;
    const half = (view.to - view.from) / 2;
    setPeriod(time - half, time + half);
  };
  overview.addEventListener("pointerdown", event => {
    brushing = true;
    overview.setPointerCapture(event.pointerId);
    brush(event);
  });
  overview.addEventListener("pointermove", event => brushing && brush(event));
  overview.addEventListener("pointerup", () => brushing = false);
  overview.addEventListener("wheel", event => {
    event.preventDefault();
    zoom(Math.exp(event.deltaY * 0.002));
  }, {passive: false});
}

function spread(pointers) {
  const [a, b] = [...pointers.values()];
  return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
}

function middle(pointers) {
  const [a, b] = [...pointers.values()];
  return (a.clientX + b.clientX) / 2;
}

function labelLines(item) {
  if (item.group === undefined) {
    const row = rows[item.row];
    return [situationText(row.fluent, row.names, ""), many(row.count, "interval")];
  }
  const name = view.group === "fluent" ? item.group : nameOf(item.group);
  return [name, `${many(item.members.length, "row")}, ${many(item.count, "interval")}`];
}

function timelineKey(event) {
  const item = items[view.item], span = view.to - view.from;
  const moves = {ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10};
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "+" || event.key === "=") zoom(0.7, focusTime());
  else if (event.key === "-") zoom(1 / 0.7, focusTime());
  else if (event.key === "0") fitPeriod();
  else if (event.shiftKey && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
    const by = (event.key === "ArrowLeft" ? -0.2 : 0.2) * span;
    setPeriod(view.from + by, view.to + by);
  } else if (event.key in moves) goTo(view.item + moves[event.key]);
  else if (event.key === "Home") goTo(0);
  else if (event.key === "End") goTo(items.length - 1);
  else if (item && (event.key === "ArrowLeft" || event.key === "ArrowRight")) walk(item, event.key === "ArrowRight");
  else if (item && (event.key === "Enter" || event.key === " ")) {
    if (item.group !== undefined) fold(item);
    else if (view.interval >= 0) {
      const end = Math.min(columns.end[view.interval], facts.last), start = columns.start[view.interval];
      setPeriod(start - (end - start) * 0.5, end + (end - start) * 0.5);
    }
  } else if (event.key === "w" && item?.row !== undefined && view.interval >= 0) showProof(view.interval, rows[item.row]);
  else if (event.key === "Escape") {
    view.interval = -1;
    changed("period");
  } else return;
  event.preventDefault();
}

const focusTime = () => view.cursor >= view.from && view.cursor <= view.to ? view.cursor : (view.from + view.to) / 2;

function goTo(at) {
  view.item = Math.min(Math.max(at, 0), items.length - 1);
  view.interval = -1;
  const top = view.item * ROW;
  if (top < scroller.scrollTop + ROW) scroller.scrollTop = Math.max(0, top - ROW);
  else if (top + ROW > scroller.scrollTop + scroller.clientHeight - AXIS) scroller.scrollTop = top + ROW - scroller.clientHeight + AXIS;
  if (items[view.item]) announce(labelLines(items[view.item]).join(", "));
  changed("period");
}

function walk(item, forward) {
  if (item.group !== undefined) {
    if (forward !== item.open) fold(item);
    return;
  }
  const row = rows[item.row];
  let i = view.interval < 0 ? (forward ? row.first : row.last - 1) : view.interval + (forward ? 1 : -1);
  while (i >= row.first && i < row.last && !shown[i]) i += forward ? 1 : -1;
  if (i < row.first || i >= row.last) return announce(forward ? "No later interval" : "No earlier interval");
  view.interval = i;
  const start = Math.max(columns.start[i], facts.first);
  if (start < view.from || start > view.to) setPeriod(start - (view.to - view.from) / 2, start + (view.to - view.from) / 2);
  setCursor(start, false);
  announce(intervalLines(i, row).join(", "));
}

function announce(text) {
  byId("live").textContent = text;
}
