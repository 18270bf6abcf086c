"""A page's Markdown as HTML, with the headings, links and words that are in it. Not for where links lead."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.lexers.special import TextLexer

# Languages of ours look like one that the highlighter knows.
_LIKE = {"mtl": "prolog", "lars": "prolog", "facts": "prolog", "ectest": "prolog", "sh": "bash", "csv": "text",
         "stream": "text", "modes": "prolog", "": "text"}
_LIGHT, _DARK = "friendly", "github-dark"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: how deep, its words, and what a link calls it."""

    level: int
    words: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Link:
    """What a link or a picture names, and the line of the page."""

    target: str
    line: int


@dataclass(frozen=True, slots=True)
class Part:
    """A heading with the words below it, for the search."""

    heading: Heading
    words: str


class Document:
    """A page that has been read."""

    def __init__(self, text: str) -> None:
        self._tokens = _MARKDOWN.parse(text)
        self.headings = list(_headings(self._tokens))
        self.links = [Link(str(token.attrs[name]), line) for token, line in _inside(self._tokens)
                      for name in ("href", "src") if name in token.attrs]

    @property
    def title(self) -> str:
        """The words of the first heading."""
        return self.headings[0].words if self.headings else ""

    @property
    def anchors(self) -> set[str]:
        """What links may name in this page."""
        return {heading.anchor for heading in self.headings}

    def parts(self) -> list[Part]:
        """The words of the page, heading by heading."""
        found: list[tuple[Heading, list[str]]] = []
        headings = iter(self.headings)
        opened = False
        for token in self._tokens:
            if token.type == "heading_open":
                found.append((next(headings), []))
            opened = token.type == "heading_open" or (opened and token.type != "heading_close")
            if found and not opened and token.type in ("inline", "fence", "code_block"):
                found[-1][1].append(_words(token) if token.type == "inline" else token.content)
        return [Part(heading, " ".join(" ".join(words).split())) for heading, words in found]

    def html(self, resolve: Callable[[str], str]) -> str:
        """The page's body; `resolve` gives for each target of a link what stands in its place."""
        headings = iter(self.headings)
        for token in self._tokens:
            if token.type == "heading_open":
                token.attrSet("id", next(headings).anchor)
        for token, _ in _inside(self._tokens):
            for name in ("href", "src"):
                if name in token.attrs:
                    token.attrSet(name, resolve(str(token.attrs[name])))
        return str(_MARKDOWN.renderer.render(self._tokens, _MARKDOWN.options, {}))


def document(file: Path) -> Document:
    """The page in a file: Markdown, or a notebook."""
    text = file.read_text(encoding="utf-8")
    return Document(_notebook(json.loads(text)) if file.suffix == ".ipynb" else text)


def anchor_of(words: str) -> str:
    """What a link calls a heading.

    >>> anchor_of("It runs, but: `check`")
    'it-runs-but-check'
    """
    return re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")


def highlight_style() -> str:
    """The style of highlighted code, light and dark."""
    light, dark = (HtmlFormatter(style=name) for name in (_LIGHT, _DARK))
    return (f"{light.get_style_defs('pre code')}\n@media (prefers-color-scheme: dark) {{\n"
            f"{dark.get_style_defs(':root:not([data-theme=light]) pre code')}\n}}\n"
            f"{dark.get_style_defs(':root[data-theme=dark] pre code')}\n"
            ":root:root pre code { background: none; color: inherit; }\n")


def _headings(tokens: Sequence[Token]) -> Iterator[Heading]:
    seen: dict[str, int] = {}
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            words = _words(inline)
            anchor = anchor_of(words)
            times = seen.get(anchor, 0)
            seen[anchor] = times + 1
            yield Heading(int(opening.tag[1:]), words, f"{anchor}-{times}" if times else anchor)


def _inside(tokens: Sequence[Token]) -> Iterator[tuple[Token, int]]:
    """The pieces of running text, each with its line."""
    for token in tokens:
        line = token.map[0] + 1 if token.map else 1
        for child in token.children or ():
            line += child.type in ("softbreak", "hardbreak")
            yield child, line


def _words(token: Token) -> str:
    return "".join(" " if child.type in ("softbreak", "hardbreak") else child.content
                   for child in token.children or () if child.type != "html_inline")


def _lexer(language: str) -> Lexer:
    name = _LIKE.get(language, language)
    return TextLexer() if name == "text" else get_lexer_by_name(name)


def _fence(tokens: Sequence[Token], index: int, *ignored: object) -> str:
    """A block of code with the file it belongs to, if it names one."""
    language, _, title = tokens[index].info.strip().partition(" ")
    code = highlight(tokens[index].content, _lexer(language), HtmlFormatter(nowrap=True))
    caption = f"<figcaption>{escape(title)}</figcaption>" if "." in title and "=" not in title else ""
    return f'<figure class="code">{caption}<pre><code>{code}</code></pre></figure>\n'


def _notebook(notebook: dict[str, object]) -> str:
    """A notebook's cells as Markdown: code with what it printed or showed."""
    parts = []
    cells = notebook["cells"]
    assert isinstance(cells, list)
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "text/html" in data:
                parts.append(f'<div class="shown">{"".join(data["text/html"])}</div>')
            else:
                printed = "".join(output.get("text", data.get("text/plain", "")))
                parts.append(f"```text\n{printed.rstrip()}\n```")
    return "\n\n".join(parts)


_MARKDOWN = MarkdownIt("commonmark").enable("table")
_MARKDOWN.renderer.rules["fence"] = _fence  # type: ignore[attr-defined]
