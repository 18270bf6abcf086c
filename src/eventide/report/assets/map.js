// The map: land, areas and tracks on one canvas that is drawn when the map moves; vessels and situations on top of it.
const sea = byId("sea");
const DEGREE = 1e6;
const globe = {x: 0, y: 0, scale: 1, left: 0, top: 0, base: null, places: [], holding: []};
let vesselRows, gapLimit, trail;

const worldX = lon => lon / 360;
const worldY = lat => -Math.asinh(Math.tan(lat * Math.PI / 180)) / (2 * Math.PI);
const screenX = x => (x - globe.x) * globe.scale + globe.left;
const screenY = y => (y - globe.y) * globe.scale + globe.top;

function startMap() {
  for (const name of ["track", "land"]) {
    const lon = columns[`${name}Lon`], lat = columns[`${name}Lat`];
    for (let i = 0; i < lon.length; i++) {
      lon[i] = worldX(lon[i] / DEGREE - 180);
      lat[i] = worldY(lat[i] / DEGREE - 90);
    }
  }
  for (let i = 0; i < columns.trackTime.length; i++) columns.trackTime[i] += facts.trackOrigin;
  for (const area of facts.areas) area.rings = area.rings.map(ring => ring.map(([lon, lat]) => [worldX(lon), worldY(lat)]));
  const vessels = new Map(facts.vessels.map((id, at) => [id, at]));
  vesselRows = rows.map(row => row.names.filter(name => vessels.has(name)).map(name => vessels.get(name)));
  const steps = [];
  for (let v = 0; v < facts.vessels.length; v++)
    for (let i = columns.trackFirst[v] + 1; i < columns.trackFirst[v + 1]; i += 7) steps.push(columns.trackTime[i] - columns.trackTime[i - 1]);
  steps.sort((a, b) => a - b);
  gapLimit = Math.max(10 * (steps[steps.length >> 1] || 0), whole / 48);
  trail = isDates ? Math.min(whole / 6, 2400 * PER_SECOND[facts.unit]) : whole / 12;
  fitMap();
  listenToMap();
  byId("map-in").addEventListener("click", () => zoomMap(1.5));
  byId("map-out").addEventListener("click", () => zoomMap(1 / 1.5));
  byId("map-fit").addEventListener("click", () => { fitMap(); changed("map"); });
  new ResizeObserver(() => changed("size")).observe(sea);
}

// All tracks but for the outermost few positions, which may be wrong.
function fitMap() {
  const bounds = values => {
    const some = Float64Array.from({length: Math.min(values.length, 20000)},
      (_, i) => values[Math.floor(i * values.length / Math.min(values.length, 20000))]).sort();
    return [some[Math.floor(some.length * 0.002)], some[Math.ceil(some.length * 0.998) - 1]];
  };
  const [west, east] = bounds(columns.trackLon), [north, south] = bounds(columns.trackLat);
  globe.x = (west + east) / 2;
  globe.y = (north + south) / 2;
  globe.scale = 0.9 * Math.min(sea.clientWidth / Math.max(east - west, 1e-7), sea.clientHeight / Math.max(south - north, 1e-7));
}

function zoomMap(factor, x = sea.clientWidth / 2, y = sea.clientHeight / 2) {
  const scale = Math.min(Math.max(globe.scale * factor, 300), 1e9);
  globe.x += (x - sea.clientWidth / 2) * (1 / globe.scale - 1 / scale);
  globe.y += (y - sea.clientHeight / 2) * (1 / globe.scale - 1 / scale);
  globe.scale = scale;
  changed("map");
}

function drawMap(anew) {
  const height = sea.clientHeight, ratio = window.devicePixelRatio || 1;
  const [pen, width] = sized(sea, height);
  globe.left = width / 2;  // asking the element for every point would cost more than drawing it
  globe.top = height / 2;
  if (anew || !globe.base || globe.base.width !== sea.width || globe.base.height !== sea.height) {
    globe.base ??= document.createElement("canvas");
    globe.base.width = sea.width;
    globe.base.height = sea.height;
    findPartners();
    const base = globe.base.getContext("2d");
    base.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawBase(base, width, height);
  }
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.drawImage(globe.base, 0, 0);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawVessels(pen, width, height);
  drawScale(pen, height);
}

function drawBase(pen, width, height) {
  pen.fillStyle = theme.sea;
  pen.fillRect(0, 0, width, height);
  pen.lineJoin = "round";
  pen.beginPath();
  for (let shape = 0; shape + 1 < columns.landFirst.length; shape++)
    polyline(pen, columns.landLon, columns.landLat, columns.landFirst[shape], columns.landFirst[shape + 1], 0.7, true);
  pen.fillStyle = theme.land;
  pen.fill();
  pen.strokeStyle = theme.coast;
  pen.stroke();
  pen.font = `11px ${theme.font}`;
  for (const area of facts.areas) {
    pen.beginPath();
    let x = 0, y = 0, left = Infinity, right = -Infinity;
    for (const ring of area.rings) {
      ring.forEach(([lon, lat], at) => {
        x = screenX(lon);
        y = screenY(lat);
        left = Math.min(left, x);
        right = Math.max(right, x);
        if (at) pen.lineTo(x, y); else pen.moveTo(x, y);
      });
      pen.closePath();
    }
    pen.fillStyle = pen.strokeStyle = theme.accent;
    pen.globalAlpha = 0.07;
    pen.fill("evenodd");
    pen.globalAlpha = 0.55;
    pen.setLineDash([4, 3]);
    pen.stroke();
    pen.setLineDash([]);
    pen.globalAlpha = 0.9;
    const text = area.name;
    if (right - left > pen.measureText(text).width + 8 && area.rings.length) {
      pen.textAlign = "center";
      const tops = area.rings[0].map(point => screenY(point[1]));
      pen.fillText(text, (left + right) / 2, Math.min(...tops) + 13);
      pen.textAlign = "left";
    }
    pen.globalAlpha = 1;
  }
  pen.strokeStyle = theme.soft;
  pen.globalAlpha = 0.28;
  pen.lineWidth = 0.8;
  pen.beginPath();
  for (let v = 0; v < facts.vessels.length; v++)
    if (isWanted(v)) polyline(pen, columns.trackLon, columns.trackLat, columns.trackFirst[v], columns.trackFirst[v + 1], 1);
  pen.stroke();
  pen.globalAlpha = 1;
  pen.lineWidth = 1;
}

// With an entity as filter, the map shows it and whoever shares a situation with it.
const partners = new Set();
const isWanted = v => !view.entity || facts.vessels[v] === view.entity || partners.has(v);

function findPartners() {
  partners.clear();
  rows.forEach((row, number) => {
    if (view.entity && row.names.includes(view.entity)) for (const v of vesselRows[number]) partners.add(v);
  });
}

// Points that lie on the one before are left out: most of a long track, when it is small.
function polyline(pen, lon, lat, first, last, least, closed = false) {
  let x0 = NaN, y0 = NaN;
  for (let i = first; i < last; i++) {
    const x = screenX(lon[i]), y = screenY(lat[i]);
    if (i > first && i < last - 1 && Math.abs(x - x0) < least && Math.abs(y - y0) < least) continue;
    if (i === first) pen.moveTo(x, y); else pen.lineTo(x, y);
    x0 = x;
    y0 = y;
  }
  if (closed) pen.closePath();
}

// Where a vessel is at a time: between two positions, or where it was last seen.
function placeOf(v, time) {
  let low = columns.trackFirst[v], high = columns.trackFirst[v + 1];
  const first = low, last = high;
  while (low < high) {
    const at = (low + high) >> 1;
    if (columns.trackTime[at] <= time) low = at + 1; else high = at;
  }
  const i = low - 1;
  if (i < first) return null;
  const after = i + 1 < last ? i + 1 : i, gap = columns.trackTime[after] - columns.trackTime[i];
  const seen = after > i && gap <= gapLimit || time - columns.trackTime[i] <= gapLimit / 4;
  const share = after > i && seen && gap > 0 ? Math.min(1, (time - columns.trackTime[i]) / gap) : 0;
  const before = Math.max(first, i - 1);
  const dx = columns.trackLon[after] - columns.trackLon[before], dy = columns.trackLat[after] - columns.trackLat[before];
  return {
    i, seen, x: screenX(columns.trackLon[i] + share * (columns.trackLon[after] - columns.trackLon[i])),
    y: screenY(columns.trackLat[i] + share * (columns.trackLat[after] - columns.trackLat[i])),
    moving: Math.hypot(dx, dy) > 1e-7 * Math.max(1, (columns.trackTime[after] - columns.trackTime[before]) / 120), angle: Math.atan2(dy, dx),
  };
}

function drawVessels(pen, width, height) {
  const time = cursorTime();
  const holding = facts.vessels.map(() => []), pairs = [];
  eachHolding(time, (i, row, number) => {
    const who = vesselRows[number];
    for (const v of who) holding[v].push([row.fluent, i, row]);
    for (let k = 1; k < who.length; k++) pairs.push([who[0], who[k], row.fluent]);
  });
  for (const found of holding) found.sort((a, b) => rarity[a[0]] - rarity[b[0]]);
  globe.places = facts.vessels.map((_, v) => isWanted(v) ? placeOf(v, time) : null);
  const inside = p => p && p.x > -20 && p.y > -20 && p.x < width + 20 && p.y < height + 20;
  for (const strong of [false, true])
    globe.places.forEach((place, v) => {
      if (!inside(place) || Boolean(holding[v].length) !== strong) return;
      const colour = strong ? colourOf(holding[v][0][0]) : theme.soft;
      pen.strokeStyle = colour;
      pen.globalAlpha = strong ? 0.85 : 0.4;
      pen.lineWidth = strong ? 2 : 1.2;
      pen.beginPath();
      let first = place.i;
      while (first > columns.trackFirst[v] && columns.trackTime[first - 1] > time - trail) first--;
      polyline(pen, columns.trackLon, columns.trackLat, first, place.i + 1, 0.7);
      if (place.seen) pen.lineTo(place.x, place.y);
      pen.stroke();
      pen.globalAlpha = 1;
      pen.lineWidth = 1;
    });
  for (const [a, b, fluent] of pairs) {
    const p = globe.places[a], q = globe.places[b];
    if (!p || !q) continue;
    pen.strokeStyle = colourOf(fluent);
    pen.lineWidth = 1.5;
    pen.setLineDash([3, 3]);
    pen.beginPath();
    pen.moveTo(p.x, p.y);
    pen.lineTo(q.x, q.y);
    pen.stroke();
    pen.setLineDash([]);
    const radius = Math.hypot(p.x - q.x, p.y - q.y) / 2 + 9;
    if (radius < 40) {
      pen.beginPath();
      pen.arc((p.x + q.x) / 2, (p.y + q.y) / 2, radius, 0, 7);
      pen.stroke();
    }
    pen.lineWidth = 1;
  }
  for (const strong of [false, true])
    globe.places.forEach((place, v) => {
      if (!inside(place) || Boolean(holding[v].length) !== strong) return;
      marker(pen, place, strong ? colourOf(holding[v][0][0]) : theme.soft, strong);
    });
  labelVessels(pen, holding, inside);
  globe.holding = holding;
}

function marker(pen, place, colour, strong) {
  const size = strong ? 5.5 : 3.5;
  pen.save();
  pen.translate(place.x, place.y);
  pen.beginPath();
  if (place.moving && place.seen) {
    pen.rotate(place.angle);
    pen.moveTo(size * 1.5, 0);
    pen.lineTo(-size, size * 0.85);
    pen.lineTo(-size * 0.5, 0);
    pen.lineTo(-size, -size * 0.85);
    pen.closePath();
  } else pen.arc(0, 0, size * 0.8, 0, 7);
  if (place.seen) {
    pen.fillStyle = colour;
    pen.fill();
    pen.strokeStyle = theme.sea;
    pen.lineWidth = 1;
    if (strong) pen.stroke();
  } else {
    pen.strokeStyle = colour;
    pen.lineWidth = 1.4;
    pen.stroke();
  }
  pen.restore();
}

// Names of vessels in a situation, as long as they do not cover each other.
function labelVessels(pen, holding, inside) {
  const taken = [];
  pen.font = `11px ${theme.font}`;
  pen.textBaseline = "middle";
  const order = holding.map((found, v) => [found.length ? rarity[found[0][0]] : Infinity, v]).sort((a, b) => a[0] - b[0]);
  for (const [, v] of order.slice(0, 60)) {
    const place = globe.places[v];
    if (!holding[v].length || !inside(place)) continue;
    const text = nameOf(facts.vessels[v]), width = pen.measureText(text).width;
    const box = [place.x + 9, place.y - 7, place.x + 11 + width, place.y + 7];
    if (taken.some(o => box[0] < o[2] && box[2] > o[0] && box[1] < o[3] && box[3] > o[1])) continue;
    taken.push(box);
    pen.lineWidth = 3;
    pen.strokeStyle = theme.sea;
    pen.strokeText(text, box[0] + 1, place.y);
    pen.fillStyle = theme.ink;
    pen.fillText(text, box[0] + 1, place.y);
    pen.lineWidth = 1;
  }
}

// A bar of a round number of kilometres, right at the middle of the map.
function drawScale(pen, height) {
  const lat = Math.atan(Math.sinh(-globe.y * 2 * Math.PI));
  const perPixel = 40075 * Math.cos(lat) / globe.scale;
  const power = 10 ** Math.floor(Math.log10(perPixel * 110));
  const length = [5, 2, 1].map(m => m * power).find(km => km <= perPixel * 110) ?? power;
  const wide = length / perPixel;
  pen.strokeStyle = pen.fillStyle = theme.ink;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.moveTo(12, height - 18);
  pen.lineTo(12, height - 13);
  pen.lineTo(12 + wide, height - 13);
  pen.lineTo(12 + wide, height - 18);
  pen.stroke();
  pen.lineWidth = 1;
  pen.font = `11px ${theme.font}`;
  const text = length >= 1 ? `${length.toLocaleString("en")} km` : `${Math.round(length * 1000)} m`;
  pen.fillText(text, 16, height - 23);
  const degrees = `${Math.abs(lat * 180 / Math.PI).toFixed(2)}° ${lat < 0 ? "S" : "N"}, ` +
    `${Math.abs(globe.x * 360).toFixed(2)}° ${globe.x < 0 ? "W" : "E"}`;
  byId("scale").textContent = degrees;
}

function nearestVessel(event) {
  const box = sea.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
  let best = -1, least = 12;
  globe.places.forEach((place, v) => {
    if (!place) return;
    const far = Math.hypot(place.x - x, place.y - y) - (globe.holding[v].length ? 3 : 0);
    if (far < least) { best = v; least = far; }
  });
  return best;
}

function vesselLines(v) {
  const id = facts.vessels[v], name = nameOf(id), kind = typeOf(id);
  const lines = [name + (name === id ? "" : ` (${id})`) + (kind ? `, ${kind}` : "")];
  for (const [fluent, i, row] of globe.holding[v].slice(0, 8)) {
    const others = row.names.filter(other => other !== id).map(nameOf).join(", ");
    const value = facts.values[columns.value[i]];
    lines.push(facts.fluents[fluent] + (others ? ` with ${others}` : "") + (value === "true" ? "" : ` = ${value}`) +
      ` since ${clockText(columns.start[i])}`);
  }
  if (lines.length === 1) lines.push("no situation holds");
  if (!globe.places[v].seen) lines.push("no signal: last seen here");
  return lines;
}

function listenToMap() {
  const pointers = new Map();
  let drag = null, apart = 0;
  sea.addEventListener("wheel", event => {
    event.preventDefault();
    const box = sea.getBoundingClientRect();
    zoomMap(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), event.clientX - box.left, event.clientY - box.top);
  }, {passive: false});
  sea.addEventListener("pointerdown", event => {
    pointers.set(event.pointerId, event);
    drag = {x: event.clientX, y: event.clientY, at: [globe.x, globe.y], moved: false};
    if (pointers.size === 2) apart = spread(pointers);
    sea.setPointerCapture(event.pointerId);
  });
  sea.addEventListener("pointermove", event => {
    if (pointers.has(event.pointerId)) {
      pointers.set(event.pointerId, event);
      if (pointers.size === 2) {
        const now = spread(pointers);
        zoomMap(now / Math.max(1, apart));
        apart = now;
        drag.moved = true;
      } else {
        const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
        if (Math.hypot(dx, dy) > 3) drag.moved = true;
        if (drag.moved) {
          globe.x = drag.at[0] - dx / globe.scale;
          globe.y = drag.at[1] - dy / globe.scale;
          changed("map");
        }
      }
      if (drag.moved) return tip(null);
    }
    const v = nearestVessel(event);
    sea.style.cursor = v >= 0 ? "pointer" : "grab";
    tip(v >= 0 ? vesselLines(v) : null, event.clientX, event.clientY);
  });
  sea.addEventListener("pointerup", event => {
    pointers.delete(event.pointerId);
    if (!drag || drag.moved || pointers.size) return;
    const v = nearestVessel(event);
    if (v < 0 && !view.entity) return;
    byId("entity").value = view.entity = v < 0 || facts.vessels[v] === view.entity ? "" : facts.vessels[v];
    changed("filter", "cursor");
  });
  sea.addEventListener("pointercancel", event => pointers.delete(event.pointerId));
  sea.addEventListener("pointerleave", () => tip(null));
  sea.addEventListener("keydown", event => {
    const by = 60 / globe.scale;
    const moves = {ArrowLeft: [-by, 0], ArrowRight: [by, 0], ArrowUp: [0, -by], ArrowDown: [0, by]};
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in moves) {
      globe.x += moves[event.key][0];
      globe.y += moves[event.key][1];
      changed("map");
    } else if (event.key === "+" || event.key === "=") zoomMap(1.4);
    else if (event.key === "-") zoomMap(1 / 1.4);
    else if (event.key === "0") { fitMap(); changed("map"); }
    else return;
    event.preventDefault();
  });
}
