"""Makes `assets/glyphs.npz`, the letters of PNG pictures, with a browser and the font DejaVu Sans.

`python -m tests.report.make_glyphs` writes it anew; that is needed only for other letters or sizes.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from tests.report.browser import Page, browser

from eventide.report.glyphs import FILE, SCALE, UNKNOWN
from eventide.report.shapes import SIZES

FONTS = {"plain": "", "bold": "bold ", "title": "bold "}
LATIN = [*range(0x20, 0x7F), *range(0xA0, 0x180)]
MORE = [*range(0x391, 0x3CA), *range(0x400, 0x460)]
SIGNS = [ord(sign) for sign in "–—‘’“”…•·→←≤≥≠×°∞↻▶" + UNKNOWN]
SCRIPT = """((font, size, letters) => {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 4 * size;
  const pen = canvas.getContext("2d", {willReadFrequently: true});
  pen.font = font;
  return letters.map(code => {
    const text = String.fromCodePoint(code);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.fillText(text, size, 2 * size);
    const data = pen.getImageData(0, 0, canvas.width, canvas.height).data;
    let left = 4 * size, right = -1, top = 4 * size, bottom = -1;
    for (let y = 0; y < 4 * size; y++) for (let x = 0; x < 4 * size; x++) if (data[(y * 4 * size + x) * 4 + 3]) {
      left = Math.min(left, x); right = Math.max(right, x); top = Math.min(top, y); bottom = Math.max(bottom, y);
    }
    const ink = [];
    for (let y = top; y <= bottom; y++) for (let x = left; x <= right; x++) ink.push(data[(y * 4 * size + x) * 4 + 3]);
    const box = ink.length ? [left - size, top - 2 * size, right - left + 1, bottom - top + 1] : [0, 0, 0, 0];
    return {advance: pen.measureText(text).width, box, ink};
  });
})"""


def drawn(page: Page, face: str, letters: list[int]) -> dict[str, Any]:
    """The letters of a face as the arrays of the file."""
    size = SIZES[face] * SCALE  # type: ignore[index]
    found = page.run(f"{SCRIPT}({f'{FONTS[face]}{size}px DejaVu Sans'!r}, {size}, {letters})")
    return {f"{face}_letters": np.array(letters, np.int32),
            f"{face}_advances": np.array([each["advance"] for each in found], np.float32),
            f"{face}_boxes": np.array([each["box"] for each in found], np.int16),
            f"{face}_ink": np.array([value for each in found for value in each["ink"]], np.uint8)}


def main() -> int:
    """Write the file."""
    with browser() as running, tempfile.TemporaryDirectory() as folder:
        page = running.page()
        blank = Path(folder) / "blank.html"
        blank.write_text("<p style='font-family: DejaVu Sans'>a<b>a</b></p>")
        page.open(blank)
        arrays: dict[str, Any] = {}
        for face in FONTS:
            arrays |= drawn(page, face, LATIN + SIGNS + (MORE if face == "plain" else []))
    np.savez_compressed(FILE, **arrays)
    print(f"{FILE.name}: {FILE.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
