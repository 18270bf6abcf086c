// The data of the page: names as JSON, numbers as packed columns.
const byId = id => document.getElementById(id);
const facts = JSON.parse(byId("facts").textContent);
const OPEN = 2 ** 31 - 1;

async function unpacked() {
  const text = atob(byId("columns").textContent);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Whole numbers come as differences, bytes of equal weight together; infinity is the largest of them.
function wholeNumbers(bytes, at, n) {
  const found = new Float64Array(n);
  let value = 0;
  for (let i = 0; i < n; i++) {
    value = (value + (bytes[at + i] | bytes[at + n + i] << 8 | bytes[at + 2 * n + i] << 16 | bytes[at + 3 * n + i] << 24)) | 0;
    found[i] = value === OPEN ? Infinity : value;
  }
  return found;
}

function decimals(bytes, at, n) {
  const raw = new Uint8Array(8 * n);
  for (let i = 0; i < n; i++) for (let k = 0; k < 8; k++) raw[8 * i + k] = bytes[at + k * n + i];
  return new Float64Array(raw.buffer);
}

async function readColumns() {
  const bytes = await unpacked();
  const found = {};
  for (const [name, [kind, at, n]] of Object.entries(facts.columns))
    found[name] = (kind === "i32" ? wholeNumbers : decimals)(bytes, at, n);
  return found;
}

// Rows of the timeline, entities, and what is called how.
function readRows(columns) {
  const parts = facts.args.map(args => args === "" ? [] : args.split("|"));
  const known = new Set(facts.vessels);
  const entities = new Set();
  for (const names of parts) if (names.length) entities.add(names[0]);
  for (const names of parts) for (const name of names) if (known.has(name)) entities.add(name);
  const rows = [];
  for (let row = 0; row < columns.rowFluent.length; row++) {
    const fluent = columns.rowFluent[row], names = parts[columns.rowArgs[row]];
    rows.push({
      fluent, names, first: columns.rowFirst[row], last: columns.rowFirst[row + 1],
      entities: [...new Set(names)].filter(name => entities.has(name)),
      label: names.map(nameOf).join(", "),
      search: [facts.fluents[fluent], ...names, ...names.map(nameOf)].join(" ").toLowerCase(),
    });
  }
  return {rows, entities: [...entities].sort((a, b) => a.localeCompare(b, "en", {numeric: true}))};
}

function nameOf(id) {
  const told = Object.hasOwn(facts.names, id) ? facts.names[id] : null;
  return told && told[0] ? told[0] : id;
}

function typeOf(id) {
  return Object.hasOwn(facts.names, id) ? facts.names[id][1] : "";
}

function situationText(fluent, names, value) {
  const shown = names.map(name => nameOf(name) === name ? name : `${nameOf(name)} (${name})`);
  return facts.fluents[fluent] + (shown.length ? `(${shown.join(", ")})` : "") + (value === "" ? "" : ` = ${value}`);
}
