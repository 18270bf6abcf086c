"""The language server as editors meet it: a process that is spoken to, with whole texts and half-typed ones."""

from __future__ import annotations

import gc
import signal
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.editor.client import Editor

import eventide
from eventide.editor.server import SETTLE, RuleServer, tidy_up
from eventide.program import load

APPLICATIONS = Path(eventide.__file__).parent / "applications"
RULES = """\
% Who has won is rich.
initiatedAt(rich(X)=true, T) :-
    happensAt(win(X), T).
terminatedAt(rich(X)=true, T) :-
    happensAt(lose(X), T).

holdsFor(happy(X)=true, I) :-
    holdsFor(rich(X)=true, I1),
    holdsFor(location(X)=pub, I2),
    union_all([I1, I2], I).

initiatedAt(location(X)=Y, T) :-
    happensAt(go_to(X, Y), T),
    place(Y).
"""


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    folder = tmp_path_factory.mktemp("rules")
    (folder / "places.ec").write_text("place(pub).\nplace(home).\n", encoding="utf-8")
    started = Editor(folder)
    yield started
    assert started.leave() == 0


def place(problem: dict[str, Any]) -> tuple[int, int]:
    start = problem["range"]["start"]
    return start["line"], start["character"]


def test_it_says_what_it_can(editor: Editor) -> None:
    offered = editor.about["capabilities"]
    assert {"hoverProvider", "definitionProvider", "referencesProvider", "completionProvider", "documentSymbolProvider",
            "documentFormattingProvider"} <= set(offered)
    assert offered["textDocumentSync"]["change"] == 1  # whole texts


def test_problems_come_and_go_as_one_types(editor: Editor) -> None:
    assert editor.open("a.ec", RULES) == []
    found = editor.change("a.ec", RULES.replace("holdsFor(rich", "holdsFor(rihc"))
    assert [(each["code"], each["severity"], place(each)) for each in found] == [("unknown-fluent", 1, (7, 4))]
    assert "did you mean rich?" in found[0]["message"]
    assert editor.change("a.ec", RULES) == []


def test_the_problems_are_those_of_check(editor: Editor) -> None:
    path = editor.folder / "b.ec"
    text = RULES.replace("win(X), T", "win(X), t").replace("place(Y)", "Y > Z")
    path.write_text(text, encoding="utf-8")
    said = [(each.code, each.span.line - 1, each.span.column - 1) for each in
            load(path, background=[str(editor.folder / "places.ec")]).check() if each.span is not None]
    path.unlink()
    assert [(each["code"], *place(each)) for each in editor.open("b.ec", text)] == said
    assert said


def test_only_the_last_of_many_changes_is_answered(editor: Editor) -> None:
    editor.open("quick.ec", "")
    for end in range(1, 200):
        editor.type("quick.ec", RULES[:end])
    assert editor.change("quick.ec", RULES) == []


def test_where_checking_is_long_a_change_waits_longer_for_the_next_one() -> None:
    server = RuleServer("1")
    server.took["file:///my rules/a.ec"] = 2.0
    assert server.settle("file:///my%20rules/a.ec") == 0.5
    server.took["file:///my rules/a.ec"] = 60.0
    assert server.settle("file:///my%20rules/a.ec") == 1.0
    assert server.settle("file:///b.ec") == SETTLE


def test_hover_tells_definition_level_and_dependencies(editor: Editor) -> None:
    editor.open("c.ec", RULES)
    said = editor.ask("textDocument/hover", editor.at("c.ec", 6, 10))  # happy
    text = said["contents"]["value"]
    assert text.startswith("**fluent** `happy(_)`, level 2")
    assert "union_all([I1, I2], I).\n```" in text
    assert "depends on `rich(_)` (level 1), `location(_)` (level 1)" in text
    assert said["range"] == {"start": {"line": 6, "character": 9}, "end": {"line": 6, "character": 14}}
    rich = editor.ask("textDocument/hover", editor.at("c.ec", 7, 15))["contents"]["value"]
    assert "% Who has won is rich.\ninitiatedAt(rich(X)=true, T)" in rich and "terminatedAt(rich" in rich
    assert "used by `happy(_)` (level 2)" in rich
    background = editor.ask("textDocument/hover", editor.at("c.ec", 13, 5))["contents"]["value"]
    assert "**background predicate** `place/1`" in background and "in places.ec" in background
    keyword = editor.ask("textDocument/hover", editor.at("c.ec", 9, 6))["contents"]["value"]
    assert keyword.startswith("`union_all([I1, I2], I)`")
    assert editor.ask("textDocument/hover", editor.at("c.ec", 5, 0)) is None


def test_definitions_and_references_across_files(editor: Editor) -> None:
    editor.open("d.ec", RULES)
    found = editor.ask("textDocument/definition", editor.at("d.ec", 7, 15))
    assert [(each["uri"], each["range"]["start"]["line"]) for each in found] == [(editor.uri("d.ec"), 1),
                                                                                 (editor.uri("d.ec"), 3)]
    found = editor.ask("textDocument/definition", editor.at("d.ec", 13, 4))
    assert [(each["uri"], each["range"]["start"]["line"]) for each in found] == [
        (editor.uri("places.ec"), 0), (editor.uri("places.ec"), 1)]
    asked = {**editor.at("d.ec", 1, 13), "context": {"includeDeclaration": True}}
    assert [each["range"]["start"]["line"] for each in editor.ask("textDocument/references", asked)] == [1, 3, 7]
    asked["context"]["includeDeclaration"] = False
    assert [each["range"]["start"]["line"] for each in editor.ask("textDocument/references", asked)] == [7]


def labels(editor: Editor, name: str, text: str) -> list[str]:
    """What is suggested at the end of a text."""
    lines = text.split("\n")
    editor.open(name, text)
    found = editor.ask("textDocument/completion", editor.at(name, len(lines) - 1, len(lines[-1])))
    return [each["label"] for each in found["items"]]


def test_completion_knows_what_may_stand_where(editor: Editor) -> None:
    assert labels(editor, "e.ec", RULES + "\ninit")[:2] == ["initiatedAt", "terminatedAt"]
    conditions = labels(editor, "e.ec", RULES + "\ninitiatedAt(poor(X)=true, T) :-\n    ")
    assert {"happensAt", "holdsAt", "place/1", "X", "T"} <= set(conditions)
    assert {"win(_)", "lose(_)", "go_to(_,_)", "start"} <= set(
        labels(editor, "e.ec", RULES + "\ninitiatedAt(poor(X)=true, T) :- happensAt("))
    assert {"rich(_)=true", "location(_)=pub", "happy(_)=true"} <= set(
        labels(editor, "e.ec", RULES + "\ninitiatedAt(poor(X)=true, T) :- happensAt(a(X), T), holdsAt(ri"))
    values = labels(editor, "e.ec", RULES + "\ninitiatedAt(f(X)=true, T) :- happensAt(a(X), T), holdsAt(location(X)=")
    assert values[0] == "pub"
    for comment in ("% init", "/* init", "/* why\n  init", "% X // 2\n% init"):
        assert labels(editor, "e.ec", f"{RULES}\n{comment}") == [], comment
    assert labels(editor, "e.lars", "h(X) :- a(X) [5]. // no") == []
    for before in ("/* why */ ", "port('/*'). ", "% why /*\n"):
        assert labels(editor, "e.ec", f"{RULES}\n{before}init")[0] == "initiatedAt", before
    assert {"<>-", "not", "P(_)"} <= set(labels(editor, "e.mtl", "P(X) :- Q(X).\nR(X) :- "))
    assert {"not", "a(_)", "always"} <= set(labels(editor, "e.lars", "h(X) :- a(X) [5].\nr(X) :- "))


def test_what_is_suggested_is_inserted_in_place_of_the_word(editor: Editor) -> None:
    editor.open("f.ec", "initiatedAt(f(X)=true, T) :-\n    happ")
    found = editor.ask("textDocument/completion", editor.at("f.ec", 1, 8))["items"]
    edit = next(each for each in found if each["label"] == "happensAt")["textEdit"]
    assert edit["range"] == {"start": {"line": 1, "character": 4}, "end": {"line": 1, "character": 8}}
    assert edit["newText"] == "happensAt(${1:event}(${2:X}), T)"


def test_the_outline_lists_what_is_defined(editor: Editor) -> None:
    editor.open("g.ec", RULES + "place(x).\nplace(y).\n")
    found = editor.ask("textDocument/documentSymbol", {"textDocument": {"uri": editor.uri("g.ec")}})
    assert [each["name"] for each in found] == [
        "rich(_)=true", "rich(_)=true", "happy(_)=true", "location(_)", "place/1"]


def test_formatting_touches_white_space_alone(editor: Editor) -> None:
    asked = {"textDocument": {"uri": editor.uri("h.ec")}, "options": {"tabSize": 4, "insertSpaces": True}}
    editor.open("h.ec", "a(X) :-\n  b(X),  \n c(X).   % why\nb(1).\nc(1).")
    edits = editor.ask("textDocument/formatting", asked)
    assert [each["newText"] for each in edits] == ["a(X) :-\n    b(X),\n    c(X).   % why\nb(1).\nc(1).\n"]
    editor.change("h.ec", edits[0]["newText"])
    assert editor.ask("textDocument/formatting", asked) == []


def test_characters_beyond_the_first_plane_count_twice(editor: Editor) -> None:
    found = editor.open("i.ec", "initiatedAt(f('𝛼𝛽')=true, t) :-\n    happensAt(a, T).")
    assert [(each["code"], place(each)) for each in found] == [("bad-time", (0, 28))]
    # a form feed ends a line for the readers of rules, not for an editor
    found = editor.open("j.ec", "port(c).\x0cport(a)\nport(b).")
    assert [(each["code"], place(each)) for each in found] == [("missing-end", (0, 16))]


def test_background_is_named_by_a_comment(editor: Editor) -> None:
    (editor.folder / "types.csv").write_text("vessel,type\nv1,tug\n", encoding="utf-8")
    rule = "initiatedAt(f(V)=true, T) :- happensAt(e(V), T), kind(V, tug).\n"
    missing = editor.open("k.ec", rule)
    assert [(each["code"], each["severity"]) for each in missing] == [("missing-background", 2)]
    assert "% background: FILE" in missing[0]["message"]
    assert editor.change("k.ec", "% background: kind=types.csv\n" + rule) == []
    found = editor.change("k.ec", "% background: kind=typ.csv\n" + rule)
    assert [(each["code"], place(each)) for each in found] == [
        ("unreadable-background", (0, 14)), ("missing-background", (1, 49))]
    (editor.folder / "kind.csv").write_text("vessel,type\nv1,tug\n", encoding="utf-8")
    assert editor.change("k.ec", rule) == []


def test_background_that_cannot_be_is_told_in_short(editor: Editor) -> None:
    rule = "initiatedAt(f(V)=true, T) :- happensAt(e(V), T).\n"
    (editor.folder / "binary.ec").write_bytes(b"\xff\xfe\x00")
    for name, said in (("binary.ec", "binary.ec: the file is not UTF-8"), ("nope.ec", "nope.ec: No such file"),
                       ("a=", "a=: the ending does not say what the file is"), ("\0.ec", "\0.ec: embedded null byte")):
        found, = editor.open("p.ec", f"% background: {name}\n{rule}")
        assert found["code"] == "unreadable-background" and found["message"].startswith(said), found
    (editor.folder / "q.ec").write_text(rule, encoding="utf-8")
    assert editor.open("q.ec", f"% background: q.ec\n{rule}") == []


def test_background_that_is_open_counts_as_it_is_there(editor: Editor) -> None:
    rule = "% background: m.ec\ninitiatedAt(f(V)=true, T) :- happensAt(e(V), T), known(V).\n"
    (editor.folder / "m.ec").write_text("other(a).\n", encoding="utf-8")
    assert [each["code"] for each in editor.open("l.ec", rule)] == ["missing-background"]
    editor.open("m.ec", "known(a).\n")
    assert editor.change("l.ec", rule + "\n") == []
    editor.change("m.ec", "known(a")
    assert "m.ec:1: " in editor.change("l.ec", rule)[0]["message"]


@pytest.mark.parametrize("comment", ["% background: ../shore/places.ec\n", ""])
def test_what_is_typed_in_the_background_shows_in_the_rules(tmp_path: Path, comment: str) -> None:
    """Also before it is saved; and when it is closed without being saved, what is on disk counts."""
    (tmp_path / "shore").mkdir()
    started, places = Editor(tmp_path / "shore"), tmp_path / "shore" / "places.ec"
    places.write_text("harbour(brest).\n", encoding="utf-8")
    assert started.open("places.ec", "harbour(brest).\n") == []
    rule = f"{comment}initiatedAt(f(V)=true, T) :- happensAt(e(V), T), quay(V).\n"
    assert [each["code"] for each in started.open("a.ec", rule)] == ["missing-background"]
    assert started.change("places.ec", "quay(brest).\n") == []
    assert started.problems("a.ec") == []
    started.change("places.ec", "harbour(brest).\n")
    assert [each["code"] for each in started.problems("a.ec")] == ["missing-background"]
    started.change("places.ec", "quay(brest).\n")
    assert started.problems("a.ec") == []
    started.tell("textDocument/didClose", {"textDocument": {"uri": started.uri("places.ec")}})
    assert [each["code"] for each in started.problems("a.ec")] == ["missing-background"]
    started.open("places.ec", "quay(brest).\n")
    assert started.problems("a.ec") == []
    assert started.leave() == 0


@pytest.mark.parametrize("path", ["network/network.mtl", "city/city.lars", "content/content.lars", "toy/rules.ec"])
def test_rules_that_are_shipped_have_no_errors(editor: Editor, path: str) -> None:
    file = APPLICATIONS / path
    name = str(file)
    found = editor.open(name, file.read_text(encoding="utf-8"))
    assert [each for each in found if each["severity"] == 1] == []
    assert editor.ask("textDocument/documentSymbol", {"textDocument": {"uri": editor.uri(name)}})


@settings(max_examples=15)
@given(st.data())
def test_no_text_makes_it_leave(editor: Editor, data: st.DataObject) -> None:
    ending = data.draw(st.sampled_from(["ec", "mtl", "lars"]))
    source = {"ec": RULES, "mtl": "P(X) :- <>-[0,5] Q(X), not R(X) since[0,1] S(X).\n",
              "lars": "h(X) at T :- a(X) at T [5 #], not b(X) [3], X > 2.\n"}[ending]
    cut = data.draw(st.integers(0, len(source)))
    noise = data.draw(st.text(st.sampled_from("()[]{}.,:-'\"%=\\+ \n\tXx1_𝛼`#/*<>"), max_size=8))
    text = source[:cut] + noise + data.draw(st.sampled_from([source[cut:], ""]))
    name = f"any.{ending}"
    editor.open(name, text)
    line = text.count("\n", 0, cut)
    at = editor.at(name, line, data.draw(st.integers(0, 60)))
    for method in ("hover", "definition", "completion"):
        editor.ask(f"textDocument/{method}", at)
    editor.ask("textDocument/references", {**at, "context": {"includeDeclaration": True}})
    editor.ask("textDocument/documentSymbol", {"textDocument": {"uri": editor.uri(name)}})
    editor.ask("textDocument/formatting", {"textDocument": {"uri": editor.uri(name)}, "options": {
        "tabSize": 4, "insertSpaces": True}})


def test_folders_have_spaces_and_letters_of_any_language(tmp_path: Path) -> None:
    folder = tmp_path / "my rules ü"
    folder.mkdir()
    (folder / "the ports.ec").write_text("port(brest).\n", encoding="utf-8")
    started = Editor(folder)
    rule = "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), port(X).\n"
    assert started.open("a b.ec", rule) == []
    assert [each["code"] for each in started.change("a b.ec", rule.replace("T), port", "t), port"))] == ["bad-time"]
    assert started.change("a b.ec", rule) == []
    found = started.ask("textDocument/definition", started.at("a b.ec", 0, 50))
    assert [each["uri"] for each in found] == [started.uri("the ports.ec")]
    started.open("the ports.ec", "harbour(brest).\n")
    assert [each["code"] for each in started.change("a b.ec", rule + " ")] == ["missing-background"]
    assert started.leave() == 0


def test_addresses_are_given_back_as_the_editor_writes_them(editor: Editor) -> None:
    (editor.folder / "o p.ec").write_text("", encoding="utf-8")
    own = editor.uri("o p.ec").replace("o%20p", "%6F%20p")
    editor.tell("textDocument/didOpen", {"textDocument": {"uri": own, "languageId": "eventide-ec", "version": 1,
                                                          "text": RULES}})
    asked = {"textDocument": {"uri": own}, "position": {"line": 7, "character": 15}}
    assert {each["uri"] for each in editor.ask("textDocument/definition", asked)} == {own}


def test_texts_without_a_file_are_checked(editor: Editor) -> None:
    for uri, language, text in (("untitled:Untitled-1", "eventide-ec", RULES.replace("win(X), T", "win(X), t")),
                                ("untitled:Untitled-2", "eventide-mtl", "P(X) :- <>- Q(X).")):
        editor.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": language, "version": 1,
                                                              "text": text}})
        told = editor.told("textDocument/publishDiagnostics", uri)
        assert "error" in {"error" if each["severity"] == 1 else "" for each in told["diagnostics"]}


def test_memory_is_tidied_up_once_there_is_much_of_it() -> None:
    class Cyclic:
        def __init__(self) -> None:
            self.own = self

    gc.collect()
    gc.disable()
    try:
        first = weakref.ref(Cyclic())
        assert not tidy_up(2_000) and first() is not None
        last = [Cyclic() for _ in range(3_000)][-1]
        assert tidy_up(2_000) and first() is None
        assert not tidy_up(2_000) and last.own is last
    finally:
        gc.enable()
        gc.unfreeze()


def test_files_that_change_on_disk_change_what_is_shown(tmp_path: Path) -> None:
    started = Editor(tmp_path, workspace={"didChangeWatchedFiles": {"dynamicRegistration": True}})
    assert started.asked("client/registerCapability")["registrations"][0]["method"] == "workspace/didChangeWatchedFiles"
    rule = "initiatedAt(f(V)=true, T) :- happensAt(e(V), T), port(V).\n"
    assert [each["code"] for each in started.open("a.ec", rule)] == ["missing-background"]
    file = tmp_path / "ports.ec"
    file.write_text("port(brest).\n", encoding="utf-8")
    started.tell("workspace/didChangeWatchedFiles", {"changes": [{"uri": file.as_uri(), "type": 1}]})
    assert started.problems("a.ec") == []
    file.unlink()
    started.tell("workspace/didChangeWatchedFiles", {"changes": [{"uri": file.as_uri(), "type": 3}]})
    assert [each["code"] for each in started.problems("a.ec")] == ["missing-background"]
    assert started.leave() == 0


def test_every_request_has_an_answer(editor: Editor) -> None:
    assert editor.refused("textDocument/hover", {"nonsense": 1})["code"] == -32602
    assert editor.refused("textDocument/completion", {**editor.at("a.ec", 0, 0), "context": {"wrong": True}})
    assert editor.refused("textDocument/nonsense", {})["code"] == -32601
    assert editor.ask("textDocument/hover", editor.at("not-open.ec", 3, 3)) is None
    assert editor.ask("textDocument/hover", editor.at("a.ec", 10**9, 10**9)) is None


def test_after_shutdown_only_exit_is_obeyed(tmp_path: Path) -> None:
    started = Editor(tmp_path)
    started.ask("shutdown", None)
    assert started.refused("textDocument/hover", started.at("a.ec", 0, 0))["code"] == -32600
    started.tell("exit", None)
    assert started.process.wait(60) == 0


def test_messages_that_are_none_do_not_make_it_leave(editor: Editor) -> None:
    editor.send(b"Content-Length: 5\r\n\r\nhello")
    editor.tell("textDocument/didChange", {"nonsense": True})
    assert editor.open("n.ec", "port(a).") == []
    assert editor.ask("textDocument/hover", editor.at("unknown.txt", 3, 3)) is None


def test_it_ends_with_its_input(tmp_path: Path) -> None:
    started = Editor(tmp_path)
    assert started.process.stdin is not None
    started.process.stdin.close()
    assert started.process.wait(30) == 0
    assert started.process.stderr is not None and b"Traceback" not in started.process.stderr.read()


def test_an_interruption_is_told_by_the_exit_code(tmp_path: Path) -> None:
    started = Editor(tmp_path)
    started.open("a.ec", "port(a).")
    started.process.send_signal(signal.SIGINT)
    assert started.process.wait(30) == 130
    assert started.process.stderr is not None and b"Traceback" not in started.process.stderr.read()
