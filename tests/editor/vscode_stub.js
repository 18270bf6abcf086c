// Runs the extension with a stand-in for the editor: opens a text, changes it, asks, and prints what came as JSON.
"use strict";

const Module = require("module");
const path = require("path");

const [extension, file, ...command] = process.argv.slice(2);
const listeners = {};
const providers = {};
const shown = [];
let arrived = () => {};
let problems = [];

class Position { constructor(line, character) { Object.assign(this, { line, character }); } }
class Range { constructor(start, end) { Object.assign(this, { start, end }); } }
class Plain { constructor(...parts) { this.parts = parts; } }
const disposable = { dispose() {} };
const on = (name) => (listener) => { listeners[name] = listener; return disposable; };
const offer = (name) => (languages, provider) => { providers[name] = provider; return disposable; };
const uri = { toString: () => `file://${file}` };
const document = { uri, languageId: "eventide-ec", version: 1, text: "", getText() { return this.text; } };

const vscode = {
  Position, Range, Hover: Plain, MarkdownString: Plain, Location: Plain, DocumentSymbol: Plain, SnippetString: Plain,
  CompletionItem: class { constructor(label, kind) { Object.assign(this, { label, kind }); } },
  Diagnostic: class { constructor(range, message, severity) { Object.assign(this, { range, message, severity }); } },
  DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
  TextEdit: { replace: (range, text) => ({ range, text }) },
  Uri: { parse: (text) => ({ toString: () => text }) },
  commands: { registerCommand: () => disposable },
  window: { showErrorMessage: (message) => { shown.push(message); arrived(); } },
  workspace: {
    textDocuments: [document],
    getConfiguration: () => ({ get: () => command }),
    onDidOpenTextDocument: on("open"), onDidChangeTextDocument: on("change"), onDidSaveTextDocument: on("save"),
    onDidCloseTextDocument: on("close"),
    createFileSystemWatcher: () => ({
      onDidCreate: on("created"), onDidChange: on("changed"), onDidDelete: on("deleted"), ...disposable,
    }),
  },
  languages: {
    createDiagnosticCollection: () => ({ set: (_, found) => { problems = found; arrived(); }, clear() {}, ...disposable }),
    registerHoverProvider: offer("hover"), registerDefinitionProvider: offer("definition"),
    registerReferenceProvider: offer("references"), registerCompletionItemProvider: offer("completion"),
    registerDocumentSymbolProvider: offer("symbols"), registerDocumentFormattingEditProvider: offer("formatting"),
  },
};
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));

const next = () => new Promise((resolve) => { arrived = resolve; });

async function main() {
  document.text = "initiatedAt(rich(X)=true, T) :-\n    happensAt(win(X), T).\nholdsFor(glad(X)=true, I) :- holdsFor(rich(X)=true, I).\n";
  const client = require(path.resolve(extension));
  const first = next();
  client.activate({ subscriptions: [] });
  await first;
  if (shown.length) {
    console.log(JSON.stringify({ shown }));
    return;
  }
  const before = problems.length;
  const whole = document.text;
  const second = next();
  document.text = document.text.replace("holdsFor(rich", "holdsFor(rihc");
  document.version = 2;
  listeners.change({ document });
  await second;
  const wrong = problems.map(({ code, severity, range }) => [code, severity, range.start.line, range.start.character]);
  const third = next();
  document.text = whole;
  document.version = 3;
  listeners.change({ document });
  await third;
  const place = new Position(2, 38);
  const hover = await providers.hover.provideHover(document, place);
  const definition = await providers.definition.provideDefinition(document, place);
  const references = await providers.references.provideReferences(document, place, { includeDeclaration: true });
  const completion = await providers.completion.provideCompletionItems(document, new Position(3, 0));
  const symbols = await providers.symbols.provideDocumentSymbols(document);
  const edits = await providers.formatting.provideDocumentFormattingEdits(document, { tabSize: 4, insertSpaces: true });
  await client.deactivate();
  console.log(JSON.stringify({
    before, wrong, hover: hover.parts[0].parts[0], definition: definition.length, references: references.length,
    completion: completion.map((each) => each.label), symbols: symbols.map((each) => each.parts[0]), edits: edits.length,
  }));
}

main().catch((error) => { console.error(error); process.exit(1); });
