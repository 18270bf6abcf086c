// Times as people read them: numbers or dates, durations, the marks of an axis.
const PER_SECOND = {s: 1, ms: 1e3, us: 1e6, ns: 1e9};
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800];
const isDates = facts.unit !== "number";
const origin = BigInt(facts.origin);

const many = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;

function numberText(value, from = 0n) {
  if (Number.isInteger(value)) return String(BigInt(value) + from);
  return String(Number((value + Number(from)).toFixed(6)));
}

function timeText(value) {
  if (!Number.isFinite(value)) return value > 0 ? "open" : "always";
  if (!isDates) return numberText(value, origin);
  const moment = new Date(Math.floor((Number(origin) + value) / PER_SECOND[facts.unit]) * 1000);
  return Number.isNaN(moment.getTime()) ? numberText(value, origin) : moment.toISOString().slice(0, 19).replace("T", " ");
}

function clockText(value) {
  const text = timeText(isDates ? value : Number(value.toPrecision(6)));
  return isDates && facts.last - facts.first < 36 * 3600 * PER_SECOND[facts.unit] ? text.slice(11) || text : text;
}

function durationText(value) {
  if (!Number.isFinite(value)) return "endless";
  if (!isDates) return numberText(value);
  const seconds = value / PER_SECOND[facts.unit];
  if (seconds < 60) return `${numberText(Math.round(seconds * 1000) / 1000)} s`;
  const whole = Math.round(seconds);
  for (const [name, size, below, small] of [["d", 86400, "h", 3600], ["h", 3600, "min", 60], ["min", 60, "s", 1]])
    if (whole >= size) {
      const rest = Math.floor(whole % size / small);
      return `${Math.floor(whole / size)} ${name}` + (rest ? ` ${rest} ${below}` : "");
    }
  return `${whole} s`;
}

function stepOf(rough) {
  if (!isDates) {
    const power = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 5, 10].map(m => m * power).find(step => step >= rough * 0.999);
  }
  const parts = PER_SECOND[facts.unit], seconds = rough / parts;
  return parts * (STEPS.find(step => step >= seconds) ?? Math.ceil(seconds / 604800) * 604800);
}

function marks(from, to, about) {
  const step = stepOf(Math.max(to - from, 1e-9) / Math.max(about, 1)), found = [];
  const start = Number(origin);
  for (let at = Math.ceil((from + start) / step) * step - start; at <= to && found.length < 200; at += step) {
    let text = timeText(isDates ? at : Number(at.toPrecision(12)));
    if (isDates) {
      const [day, clock] = text.split(" ");
      text = clock === "00:00:00" ? day : step < 60 * PER_SECOND[facts.unit] ? clock : clock.slice(0, 5);
    }
    found.push([at, text]);
  }
  return found;
}
