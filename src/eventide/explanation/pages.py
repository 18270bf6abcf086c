"""Proofs as HTML: branches that open and close without a script, as a piece for notebooks and as a page by itself."""

from __future__ import annotations

from html import escape

from eventide.explanation.proof import Line, Proof, Reason, outline
from eventide.report.page import ASSETS

STYLE = (ASSETS / "proof.css").read_text(encoding="utf-8")


def proof_html(proof: Proof, depth: int | None = None, prefix: str = "p") -> str:
    """The proof as one `div` with its style; branches below `depth` rules are closed at first.

    `prefix` begins the names of its anchors: proofs of one page need different ones.

    >>> "<summary" in proof_html(Proof("f=true", 1, True, Reason("holds", "f", (Reason("note", "a < b"),))))
    True
    """
    return f"<div class='proof'><style>{STYLE}</style>{proof_tree(proof, depth, prefix)}</div>"


def proof_tree(proof: Proof, depth: int | None = None, prefix: str = "p") -> str:
    """The branches of a proof alone, for a page that has the style already."""
    parts: list[str] = []
    open_: list[int] = []
    rules: list[int] = []
    for line in outline(proof.reason):
        while open_ and open_[-1] >= line.level:
            open_.pop()
            rules.pop()
            parts.append("</details>")
        above = rules[-1] if rules else 0
        if line.see is not None or not line.reason.reasons:
            parts.append(f"<div class='leaf'>{_label(line, prefix)}</div>")
            continue
        unfolded = "" if depth is not None and above >= depth else " open"
        anchor = "" if line.number is None else f" id='{escape(prefix)}{line.number}'"
        parts.append(f"<details{unfolded}{anchor}><summary>{_label(line, prefix)}</summary>")
        open_.append(line.level)
        rules.append(above + (line.reason.kind == "rule"))
    parts += ["</details>"] * len(open_)
    return "".join(parts) + _footer(proof)


def proof_page(proof: Proof, depth: int | None = None) -> str:
    """The proof as a whole page, which opens offline.

    >>> proof_page(Proof("f=true", 1, True, Reason("holds", "f holds at 1"))).startswith("<!doctype html>")
    True
    """
    between = proof.run.get("between")
    title = escape(f"{proof.question} {f'at {proof.at}' if between is None else 'between {} and {}'.format(*between)}")
    theme = (ASSETS / "theme.css").read_text(encoding="utf-8")
    style = f"{theme}body {{ margin: 2em; background: var(--ground); color: var(--ink); }}{STYLE}"
    return ("<!doctype html><html lang='en'><head><meta charset='utf-8'>"
            "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">"
            f"<meta name='viewport' content='width=device-width'><title>{title}</title><style>{style}</style></head>"
            f"<body><h1>{title}</h1><div class='proof'>{proof_tree(proof, depth)}</div></body></html>\n")


def _label(line: Line, prefix: str) -> str:
    reason = line.reason
    if line.see is not None:
        return f"{escape(reason.claim)} <a class='place' href='#{escape(prefix)}{line.see}'>as shown there</a>"
    marks = {True: "", False: "<span class='failed'>✗</span> ", None: "<span class='untried'>?</span> "}
    return marks[reason.holds] + _claim(reason)


def _claim(reason: Reason) -> str:
    text = escape(reason.claim)
    if reason.rule is not None:
        bindings = "".join(f"<span class='binding'>{escape(name)}={escape(value)}</span>"
                           for name, value in reason.bindings.items())
        place = f" <span class='place'>{escape(reason.rule.place)}</span>" if reason.rule.place else ""
        text = f"by rule <code>{escape(reason.rule.text)}</code>{bindings}{place}"
    elif reason.fact is not None and reason.fact.place:
        text += f" <span class='place'>{escape(reason.fact.place)}</span>"
    if reason.probability is not None:
        text += f" <span class='count'>probability {reason.probability:.6g}</span>"
    return text


def _footer(proof: Proof) -> str:
    if not proof.facts:
        return ""
    kept = ", none of which can be left out" if proof.minimal else ""
    count = f"{len(proof.facts)} fact{'' if len(proof.facts) == 1 else 's'} of the input{kept}"
    return f"<p class='count'>{count}</p>"
