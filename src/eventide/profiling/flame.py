"""A profile as a flame view: one HTML file that opens offline. A box is a node, below it stand its operands.

The picture is drawn by the browser from nested data; a click makes a box as wide as the page.
"""

from __future__ import annotations

import json
from html import escape
from typing import Any

from eventide.algebra.text import label
from eventide.engine.profile import Frame, Profile
from eventide.profiling.owners import Owners
from eventide.profiling.tables import operator_costs, operator_lines, rule_costs, rule_lines, size_text
from eventide.report.page import ASSETS

_LEAST = 1 / 2000
"""Boxes narrower than this part of the whole are left out; the picture says so."""
_STYLE = """
body { margin: 1.5rem; }
#flame { position: relative; width: 100%; font: 12px/18px ui-sans-serif, system-ui, sans-serif; }
#flame div { position: absolute; height: 18px; box-sizing: border-box; overflow: hidden; white-space: nowrap;
  border: 1px solid rgb(255 255 255 / 60%); border-radius: 2px; padding: 0 3px; cursor: pointer; color: #1b1b1b; }
#flame div.rule { font-weight: 600; }
#flame div.shared { background-image: repeating-linear-gradient(45deg, transparent 0 6px, rgb(0 0 0 / 8%) 6px 12px); }
#told { min-height: 3.2em; white-space: pre-wrap; font: 12px/1.4 ui-monospace, monospace; }
pre { font: 12px/1.5 ui-monospace, monospace; overflow-x: auto; }
"""
_SCRIPT = """
const data = JSON.parse(document.getElementById("frames").textContent);
const flame = document.getElementById("flame"), told = document.getElementById("told");
const hues = {definition: "#f2b872", rule: "#f5d68a", operator: "#cfe3f7", whole: "#dddddd"};
let chosen = data;
function draw() {
  flame.replaceChildren();
  let deepest = 0;
  const path = [];
  (function find(box) { path.push(box); if (box === chosen) return true;
    for (const inner of box.inner) if (find(inner)) return true; path.pop(); return false; })(data);
  path.slice(0, -1).forEach((box, depth) => add(box, depth, 0, 1));
  (function place(box, depth, left, width) {
    add(box, depth, left, width); deepest = Math.max(deepest, depth);
    let at = left;
    for (const inner of box.inner) {
      const part = width * inner.time / Math.max(box.time, 1);
      if (part > 1 / 3000) place(inner, depth + 1, at, part);
      at += part;
    }
  })(chosen, path.length - 1, 0, 1);
  flame.style.height = (deepest + 1) * 18 + "px";
}
function add(box, depth, left, width) {
  const one = document.createElement("div");
  one.textContent = box.name; one.className = box.kind + (box.shared ? " shared" : "");
  one.style.cssText = `left:${left * 100}%;width:${width * 100}%;top:${depth * 18}px`;
  one.style.backgroundColor = hues[box.kind];
  one.title = box.told; one.onmouseenter = () => { told.textContent = box.told; };
  one.onclick = () => { chosen = box; draw(); };
  flame.append(one);
}
draw();
"""


def page(profile: Profile, owners: Owners, title: str) -> str:
    """The flame view with the tables below it."""
    data = json.dumps(_box(profile.root, owners, _total(profile.root), title)).replace("<", "\\u003c")
    style = (ASSETS / "theme.css").read_text(encoding="utf-8") + _STYLE
    rules = "\n".join(rule_lines(rule_costs(profile, owners), most=200))
    operators = "\n".join(operator_lines(operator_costs(profile)))
    return (f"<!doctype html>\n<html lang=en><head><meta charset=utf-8><title>{escape(title)}</title><style>{style}"
            f"</style></head>\n<body><h1>{escape(title)}</h1>\n<p>A box is as wide as the time it took with everything "
            "below it. Definitions are dark, rules yellow, operators blue; what several rules share is hatched and "
            "stands where it was computed first. A click widens a box, a click on one above it goes back. Boxes "
            "below a two-thousandth of the whole are left out.</p>\n<div id=flame></div>\n<p id=told></p>\n<h2>Rules"
            f"</h2>\n<pre>{escape(rules)}</pre>\n<h2>Operators</h2>\n<pre>{escape(operators)}</pre>\n"
            f"<script type=application/json id=frames>{data}</script>\n<script>{_SCRIPT}</script>\n</body></html>\n")


def _total(frame: Frame) -> int:
    return frame.nanoseconds if frame.node is not None else sum(one.nanoseconds for one in frame.children.values())


def _box(frame: Frame, owners: Owners, total: int, title: str) -> dict[str, Any]:
    inner = [_box(one, owners, total, title) for one in sorted(frame.children.values(), key=lambda f: -f.nanoseconds)
             if one.nanoseconds >= _LEAST * total]
    time = _total(frame)
    if frame.node is None:
        return {"name": title, "kind": "whole", "shared": False, "time": time, "inner": inner,
                "told": f"all rules: {time / 1e9:.4f} s"}
    rule, definition, those = owners.rules.get(id(frame.node)), owners.definitions.get(id(frame.node)), owners.of(
        frame.node)
    name = definition or (rule.title if rule is not None else label(frame.node))
    by = "\n".join(map(str, those)) if len(those) > 1 or rule is None else str(rule)
    told = (f"{label(frame.node)}\n{time / 1e9:.4f} s ({100 * time / max(total, 1):.1f} %), itself "
            f"{frame.own / 1e9:.4f} s; {frame.calls} times, {frame.rows} rows, {size_text(frame.bytes)}\n{by}")
    kind = "definition" if definition else "rule" if rule is not None else "operator"
    return {"name": name, "kind": kind, "shared": len(those) > 1, "time": time, "inner": inner, "told": told}
