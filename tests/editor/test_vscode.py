"""The extension for Visual Studio Code: files that fit together, colours for the words of the languages, a client that
works with the real server (with Node.js, where it is installed)."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from eventide.cli.main import COMMANDS
from eventide.editor.checking import LANGUAGES
from eventide.editor.keywords import KEYWORDS
from eventide.syntax.vocabulary import CONDITIONS, DECLARATIONS, HEADS

FOLDER = Path(__file__).resolve().parents[2] / "editors" / "vscode"
PACKAGE: dict[str, Any] = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))


def grammar(language: str) -> list[dict[str, str]]:
    """The patterns of a language."""
    found = json.loads((FOLDER / "syntaxes" / f"{language}.tmLanguage.json").read_text(encoding="utf-8"))
    assert found["scopeName"] == f"source.eventide-{language}"
    patterns: list[dict[str, str]] = found["patterns"]
    return patterns


def scopes(language: str, line: str) -> dict[str, str]:
    """The pieces of a line with their colours: at each place the earliest match, of equal ones the first pattern."""
    patterns = [(re.compile(each["match"]), each["name"]) for each in grammar(language) if "match" in each]
    found: dict[str, str] = {}
    at = 0
    while at < len(line):
        matches = [(match.start(), number, match, name) for number, (pattern, name) in enumerate(patterns)
                   if (match := pattern.search(line, at)) is not None and match.group()]
        if not matches:
            break
        _, _, match, name = min(matches, key=lambda each: each[:2])
        found[match.group()] = name.removesuffix(".eventide")
        at = match.end()
    return found


def test_everything_that_the_package_names_is_there() -> None:
    contributes = PACKAGE["contributes"]
    languages = {each["id"] for each in contributes["languages"]}
    assert languages == {f"eventide-{language}" for language in LANGUAGES.values()}
    assert {each["language"] for each in contributes["grammars"]} == languages
    assert PACKAGE["activationEvents"] == [f"onLanguage:{each['id']}" for each in contributes["languages"]]
    for path in [PACKAGE["main"], *(each["path"] for each in contributes["grammars"]),
                 *(each["configuration"] for each in contributes["languages"])]:
        assert (FOLDER / path).is_file(), path
    for each in contributes["languages"]:
        assert all(LANGUAGES[ending] == each["id"].removeprefix("eventide-") for ending in each["extensions"])
    assert contributes["configuration"]["properties"]["eventide.command"]["default"] == ["eventide", "lsp"]
    assert "lsp" in COMMANDS


def test_expressions_of_the_configuration_are_valid() -> None:
    found = json.loads((FOLDER / "language-configuration.json").read_text(encoding="utf-8"))
    word = re.compile(found["wordPattern"])
    assert [match.group() for match in word.finditer("near(V1, 'Port 2') >= 2.5")] == ["near", "V1", "'Port 2'", "2.5"]
    opening, closing = (re.compile(rule["beforeText"]) for rule in found["onEnterRules"])
    assert opening.match("a(X) :-  % why") and not opening.match("% a :-")
    assert closing.match("    b(X).") and not closing.match("a(X).") and not closing.match("    b(X),")


@pytest.mark.parametrize("language", ["ec", "mtl", "lars"])
def test_every_pattern_is_valid_and_none_matches_nothing(language: str) -> None:
    for pattern in grammar(language):
        for key in ("match", "begin", "end"):
            if key in pattern:
                assert not re.compile(pattern[key]).match(""), pattern


def test_colours_of_the_event_calculus() -> None:
    found = scopes("ec", r"0.8::initiatedAt(light(X)='on', T) :- happensAt(go(X, 2.5), T), \+ X =< 5. % why")
    assert found == {
        "0.8": "constant.numeric", "::": "keyword.operator.logical", "initiatedAt": "keyword.control",
        "light": "entity.name.function", "X": "variable.parameter", "=": "keyword.operator.comparison",
        "'on'": "string.quoted.single", "T": "variable.parameter", ":-": "keyword.operator.logical",
        "happensAt": "keyword.control", "go": "entity.name.function", "2.5": "constant.numeric",
        "\\+": "keyword.operator.logical", "=<": "keyword.operator.comparison", "5": "constant.numeric",
        "% why": "comment.line.percentage"}


def test_colours_of_metric_rules() -> None:
    found = scopes("mtl", "[]+[0,3] Mon(X) :- <>-(0,1/2] Req(X), not Down(X) since[0,inf) Up(X), X != a.")
    assert found["[]+"] == found["<>-"] == found["since"] == "keyword.operator.temporal"
    assert found["Mon"] == found["Req"] == "entity.name.function"
    assert found["not"] == "keyword.operator.logical" and found["inf"] == "constant.language"
    assert found["X"] == "variable.parameter" and found["!="] == "keyword.operator.comparison"


def test_colours_of_stream_rules() -> None:
    found = scopes("lars", 'high(V) at T :- alpha(V) at T [300 sec], not low always [5 # by V], V >= 18, s("A"). // x')
    assert found["[300 sec]"] == found["[5 # by V]"] == "meta.window"
    assert found["at"] == found["always"] == "keyword.operator.temporal"
    assert found["not"] == "keyword.operator.logical" and found['"A"'] == "string.quoted.double"
    assert found["// x"] == "comment.line.double-slash"


@pytest.mark.parametrize("word", sorted({*HEADS, *CONDITIONS, *DECLARATIONS} - {"preProcessing"}))
def test_every_word_of_the_event_calculus_has_a_colour(word: str) -> None:
    assert scopes("ec", f"{word}(a)")[word] in ("keyword.control", "storage.type", "support.function")


@pytest.mark.parametrize("language", ["mtl", "lars"])
def test_every_keyword_of_the_other_languages_has_a_colour(language: str) -> None:
    for each in KEYWORDS[language]:  # type: ignore[index]
        if each.word not in ("rule", "contradiction"):
            found = scopes(language, each.form)
            assert found.get(each.word) or any(each.word in piece for piece in found), each


def run_client(tmp_path: Path, *command: str) -> dict[str, Any]:
    """What the extension gets from a server that is started by a command."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not installed")
    stub = Path(__file__).with_name("vscode_stub.js")
    run = subprocess.run([node, str(stub), str(FOLDER / "client.js"), str(tmp_path / "rules.ec"), *command],
                         capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def test_the_client_works_with_the_server(tmp_path: Path) -> None:
    found = run_client(tmp_path, sys.executable, "-m", "eventide", "lsp")
    assert found["before"] == 0
    assert found["wrong"] == [["unknown-fluent", 0, 2, 29]]
    assert found["hover"].startswith("**fluent** `rich(_)`, level 1")
    assert (found["definition"], found["references"], found["edits"]) == (1, 2, 0)
    assert found["completion"][:2] == ["initiatedAt", "terminatedAt"]
    assert found["symbols"] == ["rich(_)=true", "glad(_)=true"]


def test_the_client_says_that_there_is_no_server(tmp_path: Path) -> None:
    assert "no-such-program" in run_client(tmp_path, "no-such-program")["shown"][0]
