"""The language server: what editors ask over the protocol, answered from what was checked. Full texts are sent.

Editors count lines by \\n, \\r\\n and \\r only, the library of the protocol by Unicode's rules; so places are computed
here, and whole texts are synchronised instead of changes of them.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import TextDocument

from eventide.editor.checking import LANGUAGES, Checked, Checker, Language
from eventide.editor.completion import SuggestionKind, suggestions
from eventide.editor.describing import hover, kind_of, meant_at, name_length, places_of
from eventide.editor.formatting import formatted
from eventide.editor.names import Occurrence
from eventide.editor.places import Encoding, Lines, Range
from eventide.editor.protocol import AnsweringProtocol
from eventide.syntax.diagnostics import Diagnostic

SETTLE = 0.004
"""Seconds that a change waits for the next one: of changes that come together, the last alone is checked."""
_LONG = 0.2
"""Seconds from which on checking is long: then a change waits a quarter of that time, so that typing is undisturbed."""
REST = 0.05
"""Seconds without a change after which memory is tidied up: in the middle of a check that would be felt."""
_SOME, _MUCH = 10_000, 20_000
"""So many new objects are worth tidying up in a rest: those of ten checks of a program of usual size. So many must
be tidied up without one, right after an answer: where a key is held down there is no rest, and the more there are, the
longer it takes, up to a second."""
_WATCHED = "**/*.{ec,prolog,pl,lars,csv}"
"""Files that may be background."""
_SEVERITIES = {"error": lsp.DiagnosticSeverity.Error, "warning": lsp.DiagnosticSeverity.Warning,
               "info": lsp.DiagnosticSeverity.Information}
_ITEMS: dict[SuggestionKind, lsp.CompletionItemKind] = {
    "keyword": lsp.CompletionItemKind.Keyword, "fluent": lsp.CompletionItemKind.Property,
    "event": lsp.CompletionItemKind.Event, "predicate": lsp.CompletionItemKind.Function,
    "variable": lsp.CompletionItemKind.Variable, "value": lsp.CompletionItemKind.EnumMember}
_SYMBOLS = {"fluent": lsp.SymbolKind.Property, "event": lsp.SymbolKind.Event, "predicate": lsp.SymbolKind.Function}
_IDS: dict[str, Language] = {"eventide-ec": "ec", "prolog": "ec", "eventide-mtl": "mtl", "eventide-lars": "lars"}


class RuleServer(LanguageServer):
    """A server for one editor: the texts that are open, and what was found in them."""

    def __init__(self, version: str) -> None:
        super().__init__("eventide", version, text_document_sync_kind=lsp.TextDocumentSyncKind.Full,
                         protocol_cls=AnsweringProtocol)
        self._checker = Checker(self._open_text)
        self._known: dict[str, tuple[int | None, str, Checked]] = {}
        self.took: dict[str, float] = {}
        """By address, the seconds that the last check of a text took."""

    def opened(self, uri: str) -> TextDocument | None:
        """The open text of an address, however its characters are encoded; the library keeps addresses decoded."""
        found: TextDocument | None = self.workspace.text_documents.get(unquote(uri))
        return found

    def is_now(self, uri: str, version: int) -> bool:
        """Whether this is still the version of an open text."""
        document = self.opened(uri)
        return document is not None and document.version == version

    def _open_text(self, path: str) -> str | None:
        document = self.opened(from_fs_path(path) or "")
        return document.source if document is not None else None

    def language(self, uri: str) -> Language | None:
        """The language of a text: by its ending, or as the editor says."""
        document = self.workspace.get_text_document(uri)
        return LANGUAGES.get(Path(document.path or "").suffix) or _IDS.get(document.language_id or "")

    def checked(self, uri: str) -> Checked | None:
        """The text as it is now, checked; None for other files."""
        document = self.workspace.get_text_document(uri)
        language = self.language(uri)
        if language is None or self.opened(uri) is None:
            return None
        known = self._known.get(unquote(uri))
        if known is not None and known[:2] == (document.version, document.source):
            return known[2]
        begin = time.perf_counter()
        checked = self._checker.check(to_fs_path(uri) or uri, document.source, language)
        self.took[unquote(uri)] = time.perf_counter() - begin
        self._known[unquote(uri)] = (document.version, document.source, checked)
        return checked

    def settle(self, uri: str) -> float:
        """How many seconds a change of a text waits for the next one."""
        took = self.took.get(unquote(uri), 0.0)
        return SETTLE if took < _LONG else min(took / 4, 1.0)

    def forget(self, uri: str) -> None:
        """A text was closed, or what it depends on has changed."""
        self._known.pop(unquote(uri), None)

    def lines(self, text: str) -> Lines:
        """The places of a text, in the units that were agreed on with the editor."""
        encoding = self.workspace.position_encoding
        units: dict[str, Encoding] = {"utf-8": "utf-8", "utf-32": "utf-32"}
        return Lines(text, units.get(str(getattr(encoding, "value", encoding)), "utf-16"))

    def publish(self, uri: str) -> None:
        """Send the problems of a text."""
        checked = self.checked(uri)
        if checked is None:
            return
        lines = self.lines(checked.text)
        version = self.workspace.get_text_document(uri).version
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(
            uri, [_problem(each, lines) for each in checked.problems], version))

    def publish_all(self) -> None:
        """Check all texts anew: a file has changed that may be the background of any of them."""
        for document in list(self.workspace.text_documents.values()):
            self.forget(document.uri)
            self.publish(document.uri)

    def publish_readers(self, uri: str) -> None:
        """Check those texts anew of which an open file is the background, or was it before it changed."""
        path = to_fs_path(uri)
        for document in list(self.workspace.text_documents.values()):
            known = self._known.get(document.uri)
            if path is not None and known is not None and self._checker.reads(known[2], path):
                self.forget(document.uri)
                self.publish(document.uri)

    def location(self, checked: Checked, occurrence: Occurrence) -> lsp.Location:
        """The name of an occurrence, in whichever file it is."""
        source = occurrence.span.source
        text = checked.texts.get(source, "")
        lines = self.lines(text)
        begin = lines.offsets(occurrence.span)[0]
        end = begin + name_length(occurrence, text, begin)
        uri = source if "://" in source or not Path(source).is_absolute() else from_fs_path(source)
        document = self.opened(uri or source)  # the editor's own way of writing the address
        place = _range((lines.position(begin), lines.position(end)))
        return lsp.Location(uri or source if document is None else document.uri, place)


def build_server(version: str) -> RuleServer:
    """A server with everything that it answers."""
    server = RuleServer(version)

    @server.feature(lsp.INITIALIZED)
    def started(params: lsp.InitializedParams) -> None:
        workspace = server.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        if watching is not None and watching.dynamic_registration:
            server.client_register_capability(lsp.RegistrationParams([lsp.Registration(
                "background", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES,
                lsp.DidChangeWatchedFilesRegistrationOptions([lsp.FileSystemWatcher(_WATCHED)]))]))

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        server.publish(params.text_document.uri)
        server.publish_readers(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        uri, version = params.text_document.uri, params.text_document.version
        await asyncio.sleep(server.settle(uri))
        if not server.is_now(uri, version):
            return
        server.publish(uri)
        await asyncio.sleep(0)
        tidy_up(_MUCH)
        await asyncio.sleep(REST)
        if not server.is_now(uri, version):
            return
        server.publish_readers(uri)
        tidy_up(_SOME)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        server.publish_all()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def files_changed(params: lsp.DidChangeWatchedFilesParams) -> None:
        server.publish_all()

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        server.forget(params.text_document.uri)
        server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(params.text_document.uri, []))
        server.publish_readers(params.text_document.uri)  # what was not saved is not there any more

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        checked = server.checked(params.text_document.uri)
        if checked is None:
            return None
        lines = server.lines(checked.text)
        found = hover(checked, lines, _offset(lines, params.position))
        if found is None:
            return None
        text, begin, end = found
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text),
                         _range((lines.position(begin), lines.position(end))))

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def defined(params: lsp.DefinitionParams) -> list[lsp.Location]:
        return _places(server, params.text_document.uri, params.position, definitions=True)

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def referred(params: lsp.ReferenceParams) -> list[lsp.Location]:
        found = _places(server, params.text_document.uri, params.position, definitions=False)
        if params.context.include_declaration:
            return found
        own = _places(server, params.text_document.uri, params.position, definitions=True)
        return [place for place in found if place not in own]

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=["(", "=", " "]))
    def completed(params: lsp.CompletionParams) -> lsp.CompletionList:
        checked = server.checked(params.text_document.uri)
        if checked is None:
            return lsp.CompletionList(False, [])
        lines = server.lines(checked.text)
        offset = _offset(lines, params.position)
        begin, found = suggestions(checked, offset)
        replaced = _range((lines.position(begin), lines.position(offset)))
        return lsp.CompletionList(False, [lsp.CompletionItem(
            label=each.label, kind=_ITEMS[each.kind], detail=each.detail,
            documentation=each.says or None, insert_text_format=lsp.InsertTextFormat.Snippet,
            sort_text=f"{at:04}", text_edit=lsp.TextEdit(replaced, each.snippet)) for at, each in enumerate(found)])

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def outlined(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        checked = server.checked(params.text_document.uri)
        return [] if checked is None else list(_symbols(server, checked))

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def tidied(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        checked = server.checked(params.text_document.uri)
        better = None if checked is None else formatted(checked.text, checked.language)
        if checked is None or better is None:
            return []
        lines = server.lines(checked.text)
        return [lsp.TextEdit(_range(((0, 0), lines.position(len(checked.text)))), better)]

    return server


def tidy_up(most: int) -> bool:
    """Free what is not needed any more, if there are more new objects than so many."""
    if gc.get_count()[0] <= most:
        return False
    gc.collect()
    gc.freeze()  # rules that are remembered are not gone through again; as trees they leave by being counted
    return True


def serve(version: str) -> None:
    """Answer an editor on standard input and output until it leaves."""
    logging.basicConfig(level=logging.WARNING)  # on standard error
    server = build_server(version)
    gc.collect()
    gc.freeze()  # what was loaded so far stays: collecting it again and again would be felt while typing
    gc.set_threshold(1_000_000, 20, 50)  # some hundred checks without a rest
    server.start_io()


def _problem(problem: Diagnostic, lines: Lines) -> lsp.Diagnostic:
    place = lines.range(problem.span) if problem.span is not None else ((0, 0), (0, 0))
    message = problem.message if problem.hint is None else f"{problem.message}\n{problem.hint}"
    return lsp.Diagnostic(_range(place), message, _SEVERITIES[problem.severity], problem.code, source="eventide")


def _range(place: Range) -> lsp.Range:
    return lsp.Range(*(lsp.Position(*each) for each in place))


def _offset(lines: Lines, position: lsp.Position) -> int:
    return lines.offset((position.line, position.character))


def _places(server: RuleServer, uri: str, position: lsp.Position, *, definitions: bool) -> list[lsp.Location]:
    checked = server.checked(uri)
    if checked is None:
        return []
    lines = server.lines(checked.text)
    meant = meant_at(checked, lines, _offset(lines, position))
    if meant is None:
        return []
    return [server.location(checked, each) for each in places_of(checked, meant[0], definitions=definitions)]


def _symbols(server: RuleServer, checked: Checked) -> Iterable[lsp.DocumentSymbol]:
    """What the clauses of a text define, in order; facts of one predicate are one."""
    lines = server.lines(checked.text)
    facts: set[str] = set()
    for each in checked.names.occurrences:
        if each.role != "definition" or each.span.source != checked.source:
            continue
        is_fact = each.kind == "predicate" and each.template not in checked.names.levels
        if is_fact and each.template in facts:
            continue
        facts.add(each.template)
        begin = lines.offsets(each.span)[0]
        end = begin + name_length(each, checked.text, begin)
        whole = lines.range(each.clause)
        name = (lines.position(begin), lines.position(end))
        if not (whole[0] <= name[0] and name[1] <= whole[1]):
            whole = name
        value = "" if each.value is None else f"={each.value}"
        yield lsp.DocumentSymbol(f"{each.template}{value}", _SYMBOLS[each.kind], _range(whole), _range(name),
                                 kind_of(checked.names, each.template))
