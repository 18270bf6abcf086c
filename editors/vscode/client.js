// Starts `eventide lsp` and speaks the language server protocol with it. Plain JavaScript: no packages, no build step.
"use strict";

const { spawn } = require("child_process");
const vscode = require("vscode");

const LANGUAGES = ["eventide-ec", "eventide-mtl", "eventide-lars"];
const SEVERITIES = [null, "Error", "Warning", "Information", "Hint"];

/** One server process, and the questions it has not answered yet. */
class Server {
  constructor(command, diagnostics, lost) {
    this.waiting = new Map();
    this.number = 0;
    this.buffer = Buffer.alloc(0);
    this.diagnostics = diagnostics;
    this.left = false;
    this.process = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "pipe"] });
    this.process.on("error", (error) => this.end(`${command.join(" ")}: ${error.message}`, lost));
    this.process.on("exit", (code) => this.end(`${command.join(" ")} has left with code ${code}`, lost));
    this.process.stdin.on("error", () => {}); // told by "exit"
    this.process.stderr.on("data", () => {}); // an unread pipe would stop the server when it is full
    this.process.stdout.on("data", (data) => this.read(data));
    this.ready = this.ask("initialize", {
      processId: process.pid,
      rootUri: null,
      capabilities: { textDocument: { completion: { completionItem: { snippetSupport: true } } } },
    }).then(() => this.tell("initialized", {}));
    this.ready.catch(() => {});
  }

  end(reason, lost) {
    if (this.left) return;
    this.left = true;
    for (const { reject } of this.waiting.values()) reject(new Error(reason));
    this.waiting.clear();
    lost(reason);
  }

  send(message) {
    if (this.left) return;
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }), "utf8");
    this.process.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    this.process.stdin.write(body);
  }

  tell(method, params) {
    this.send({ method, params });
  }

  ask(method, params) {
    if (this.left) return Promise.reject(new Error("the language server is not running"));
    const id = ++this.number;
    const answer = new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
    this.send({ id, method, params });
    return answer;
  }

  read(data) {
    this.buffer = Buffer.concat([this.buffer, data]);
    for (;;) {
      const head = this.buffer.indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = /content-length: *(\d+)/i.exec(this.buffer.toString("ascii", 0, head));
      const end = head + 4 + (length ? Number(length[1]) : 0);
      if (this.buffer.length < end) return;
      const text = this.buffer.toString("utf8", head + 4, end);
      this.buffer = this.buffer.subarray(end);
      if (length) this.take(JSON.parse(text));
    }
  }

  take(message) {
    if (message.method === "textDocument/publishDiagnostics") {
      const found = message.params.diagnostics.map((each) => {
        const severity = vscode.DiagnosticSeverity[SEVERITIES[each.severity || 1]];
        const problem = new vscode.Diagnostic(range(each.range), each.message, severity);
        problem.code = each.code;
        problem.source = each.source;
        return problem;
      });
      this.diagnostics.set(vscode.Uri.parse(message.params.uri), found);
    } else if (message.method && message.id !== undefined) {
      this.send({ id: message.id, result: null }); // nothing that a server may ask is offered
    } else if (this.waiting.has(message.id)) {
      const { resolve, reject } = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (message.error) reject(new Error(message.error.message));
      else resolve(message.result);
    }
  }

  leave() {
    if (this.left) return Promise.resolve();
    const gone = new Promise((resolve) => this.process.on("exit", resolve));
    return this.ask("shutdown", null).then(() => {
      this.left = true;
      const body = JSON.stringify({ jsonrpc: "2.0", method: "exit" });
      this.process.stdin.end(`Content-Length: ${body.length}\r\n\r\n${body}`);
      return gone;
    }, () => {});
  }
}

const position = (place) => new vscode.Position(place.line, place.character);
const range = (place) => new vscode.Range(position(place.start), position(place.end));
const location = (place) => new vscode.Location(vscode.Uri.parse(place.uri), range(place.range));
const at = (document, place) => ({
  textDocument: { uri: document.uri.toString() },
  position: { line: place.line, character: place.character },
});
const isOurs = (document) => LANGUAGES.includes(document.languageId);

let server = null;

function start(diagnostics) {
  const command = vscode.workspace.getConfiguration("eventide").get("command", ["eventide", "lsp"]);
  server = new Server(command, diagnostics, (reason) => {
    diagnostics.clear();
    vscode.window.showErrorMessage(`Eventide: ${reason}. Is it installed, and does eventide.command name it?`);
  });
  server.ready.then(() => vscode.workspace.textDocuments.forEach(opened), () => {});
}

function opened(document) {
  if (!isOurs(document)) return;
  const { uri, languageId, version } = document;
  server.tell("textDocument/didOpen", {
    textDocument: { uri: uri.toString(), languageId, version, text: document.getText() },
  });
}

function activate(context) {
  const diagnostics = vscode.languages.createDiagnosticCollection("eventide");
  const files = vscode.workspace.createFileSystemWatcher("**/*.{ec,prolog,pl,lars,csv}"); // what may be background
  const changed = (type) => (uri) => {
    const told = { changes: [{ uri: uri.toString(), type }] };
    server.ready.then(() => server.tell("workspace/didChangeWatchedFiles", told), () => {});
  };
  const ask = (method, params, made) => server.ask(`textDocument/${method}`, params).then(made, () => null);
  start(diagnostics);
  context.subscriptions.push(
    diagnostics,
    files,
    files.onDidCreate(changed(1)),
    files.onDidChange(changed(2)),
    files.onDidDelete(changed(3)),
    vscode.commands.registerCommand("eventide.restart", () => server.leave().then(() => start(diagnostics))),
    vscode.workspace.onDidOpenTextDocument((document) => server.ready.then(() => opened(document), () => {})),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (!isOurs(document)) return;
      server.tell("textDocument/didChange", {
        textDocument: { uri: document.uri.toString(), version: document.version },
        contentChanges: [{ text: document.getText() }],
      });
    }),
    vscode.workspace.onDidSaveTextDocument((document) => {
      if (isOurs(document)) {
        server.tell("textDocument/didSave", { textDocument: { uri: document.uri.toString() } });
      }
    }),
    vscode.workspace.onDidCloseTextDocument((document) => {
      if (isOurs(document)) {
        server.tell("textDocument/didClose", { textDocument: { uri: document.uri.toString() } });
      }
    }),
    vscode.languages.registerHoverProvider(LANGUAGES, {
      provideHover: (document, place) => ask("hover", at(document, place), (found) =>
        found && new vscode.Hover(new vscode.MarkdownString(found.contents.value), range(found.range))),
    }),
    vscode.languages.registerDefinitionProvider(LANGUAGES, {
      provideDefinition: (document, place) => ask("definition", at(document, place), (found) => found.map(location)),
    }),
    vscode.languages.registerReferenceProvider(LANGUAGES, {
      provideReferences: (document, place, { includeDeclaration }) =>
        ask("references", { ...at(document, place), context: { includeDeclaration } }, (found) => found.map(location)),
    }),
    vscode.languages.registerCompletionItemProvider(LANGUAGES, {
      provideCompletionItems: (document, place) => ask("completion", at(document, place), (found) =>
        found.items.map((each) => {
          const item = new vscode.CompletionItem(each.label, each.kind - 1); // the protocol counts kinds from 1
          item.detail = each.detail;
          item.documentation = each.documentation;
          item.sortText = each.sortText;
          item.range = range(each.textEdit.range);
          item.insertText = new vscode.SnippetString(each.textEdit.newText);
          return item;
        })),
    }, "(", "=", " "),
    vscode.languages.registerDocumentSymbolProvider(LANGUAGES, {
      provideDocumentSymbols: (document) =>
        ask("documentSymbol", { textDocument: { uri: document.uri.toString() } }, (found) => found.map((each) =>
          new vscode.DocumentSymbol(each.name, each.detail || "", each.kind - 1, range(each.range),
            range(each.selectionRange)))),
    }),
    vscode.languages.registerDocumentFormattingEditProvider(LANGUAGES, {
      provideDocumentFormattingEdits: (document, { tabSize, insertSpaces }) =>
        ask("formatting", { textDocument: { uri: document.uri.toString() }, options: { tabSize, insertSpaces } },
          (found) => found.map((each) => vscode.TextEdit.replace(range(each.range), each.newText))),
    }),
  );
}

function deactivate() {
  return server ? server.leave() : undefined;
}

module.exports = { activate, deactivate };
