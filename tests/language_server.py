#!/usr/bin/env python3
"""Speaks to `tercet lsp` as an editor does. Ends with "N passed, N failed"."""
import argparse
import json
import pathlib
import subprocess
import tempfile

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--tercet", required=True)
TERCET = str(pathlib.Path(parser.parse_args().tercet).resolve())
FOLDER = tempfile.TemporaryDirectory()
passed = failed = 0


def expect(what, ok, got=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAIL {what}: {got}")


class Server:
    def __init__(self, *arguments):
        self.process = subprocess.Popen([TERCET, "lsp", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=FOLDER.name)
        self.number = 0

    def send(self, text):
        data = text.encode() if isinstance(text, str) else text
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while (line := self.process.stdout.readline().strip()):
            name, value = line.split(b":")
            length = int(value) if name == b"Content-Length" else length
        return json.loads(self.process.stdout.read(length)) if length else None

    def notify(self, method, params):
        self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    def ask(self, method, params=None):
        self.number += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params or {}}))
        answer = self.receive()
        assert answer["id"] == self.number, answer
        return answer.get("result", answer.get("error"))

    def open(self, uri, text):
        self.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "tercet", "version": 1, "text": text}})
        return self.receive()["params"]

    def change(self, uri, *changes):
        self.notify("textDocument/didChange", {"textDocument": {"uri": uri, "version": 2}, "contentChanges": list(changes)})
        return self.receive()["params"]["diagnostics"]

    def at(self, method, uri, line, character):
        return self.ask("textDocument/" + method, {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}})


def place(line, begin, end):
    return {"start": {"line": line, "character": begin}, "end": {"line": line, "character": end}}


PROGRAM = """\
## x, k times as large.
fn scale(x, k=2) = x * k
let 𝒙 = "𝒙𝒙"; let rows = [[1, 2, 3], [4, 5, 6]]
fn total(m: i32[n, d]) {
  let rows = sum(m, axis=1)
  for r in rows { print(r) }
  scale(sum(rows))
}
print(total(rows), rows.scale(3))
let (first, second) = (rows[0] / 2, "a")
"""

server = Server("--stdio")
expect("asked too early", server.ask("textDocument/hover")["code"] == -32002)
capabilities = server.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})["capabilities"]
expect("capabilities", capabilities["hoverProvider"] and capabilities["definitionProvider"] and capabilities["textDocumentSync"]["change"] == 2, capabilities)
server.notify("initialized", {})
uri = "file://" + FOLDER.name + "/a%20program.tct"
opened = server.open(uri, PROGRAM)
expect("a good program", opened == {"uri": uri, "diagnostics": []}, opened)

# ---- hover ----
def hover(line, character):
    found = server.at("hover", uri, line, character)
    return found and found["contents"]["value"]

expect("hover over a function", hover(6, 4) == "```tercet\nfn scale(x, k=2)\n```\nx, k times as large.", hover(6, 4))
expect("hover over a global: its type", hover(8, 14) == "```tercet\nlet rows: i32[2, 3]\n```", hover(8, 14))
expect("hover over a local of the same name", hover(5, 12) == "```tercet\nlet rows\n```", hover(5, 12))
expect("hover over a parameter", hover(4, 17) == "```tercet\nm: i32[n, d]\n```", hover(4, 17))
expect("hover over a builtin", "sum(x, axis=" in (hover(4, 14) or ""), hover(4, 14))
expect("hover over a method", "fn scale" in (hover(8, 25) or ""), hover(8, 25))
expect("hover over a pattern", hover(9, 6) == "```tercet\nlet first: f32[3]\n```", hover(9, 6))
expect("hover over nothing", hover(2, 9) is None, hover(2, 9))
found = server.at("hover", uri, 2, 23)
expect("positions count UTF-16 units", found and found["range"] == place(2, 21, 25), found)

# ---- definition ----
def definition(line, character):
    found = server.at("definition", uri, line, character)
    return found and (found["uri"] == uri) and found["range"]

expect("definition of a function", definition(6, 4) == place(1, 3, 8), definition(6, 4))
expect("definition of a global", definition(8, 14) == place(2, 21, 25), definition(8, 14))
expect("definition of a local", definition(6, 13) == place(4, 6, 10), definition(6, 13))
expect("definition of a loop's variable", definition(5, 24) == place(5, 6, 7), definition(5, 24))
expect("definition of a builtin", definition(4, 14) is None, definition(4, 14))

# ---- completion, symbols, formatting ----
def labels(line, character):
    return [i["label"] for i in server.at("completion", uri, line, character)["items"]]

expect("completion of a name", labels(6, 3)[:1] == ["scale"] and "scan" in labels(6, 5) and labels(6, 6) == ["scale"], labels(6, 3))
expect("completion of locals", "rows" in labels(6, 14) and "m" in labels(6, 2) and "m" not in labels(8, 0), labels(6, 14))
expect("completion of words", "while" in labels(7, 0) and "segment_sum" in labels(7, 0))
symbols = server.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
expect("symbols", [s["name"] for s in symbols] == ["scale", "𝒙", "rows", "total", "first", "second"], symbols)
options = {"textDocument": {"uri": uri}, "options": {"tabSize": 2, "insertSpaces": True}}
expect("formatting of what has the layout", server.ask("textDocument/formatting", options) == [{"range": {"start": {"line": 0, "character": 0}, "end": {"line": 10, "character": 0}}, "newText": PROGRAM}] or
       server.ask("textDocument/formatting", options) == [], server.ask("textDocument/formatting", options))

# ---- changes and diagnostics ----
found = server.change(uri, {"range": place(8, 12, 16), "text": "row"})
expect("an unknown name", len(found) == 1 and found[0]["range"] == place(8, 12, 15) and found[0]["code"] == "name" and "`row` is not defined\nhelp: " in found[0]["message"], found)
found = server.change(uri, {"range": place(8, 12, 15), "text": "rows"}, {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}, "text": "# é\n"})
expect("put right again", found == [], found)
expect("what is defined has moved", definition(7, 4) == place(2, 3, 8), definition(7, 4))
found = server.change(uri, {"text": "let x = (1 + 2\nlet y = 1 && 2\n"})
expect("syntax errors", [d["code"] for d in found] == ["syntax", "syntax"] and found[1]["range"] == place(1, 10, 12), found)
expect("formatting of what cannot be read", server.ask("textDocument/formatting", options) is None)
found = server.change(uri, {"text": "fn f(x: f32[n]) = x @ [1, 2, 3] + x[none, none]\nfn g(a: f32[3]) = a @ ones(4)"})
expect("sizes that do not fit", any(d["code"] == "shape" and d["range"]["start"]["line"] == 1 for d in found), found)
found = server.change(uri, {"text": "let a=1\n"})
edits = server.ask("textDocument/formatting", options)
expect("formatting", edits == [{"range": {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}, "newText": "let a = 1\n"}], edits)
pathlib.Path(FOLDER.name, "part.tct").write_text("let x = (1\n")
found = server.change(uri, {"text": 'import "part.tct"\nprint(part.x)\n'})
expect("an error in what is imported", len(found) == 1 and "part.tct:1: " in found[0]["message"], found)
found = server.change(uri, {"text": "x" * 100_000 + "(" * 5000})
expect("a text that is too deep", len(found) >= 1, len(found))

# ---- what nobody should send ----
expect("an unknown request", server.ask("textDocument/nothing")["code"] == -32601)
server.notify("$/cancelRequest", {"id": 7})
server.send("{ no json")
expect("no JSON", server.receive()["error"]["code"] == -32700)
server.send(b"\xff\xfe\"")
expect("no text", server.receive()["error"]["code"] == -32700)
server.send("[1, 2]")
expect("no message", server.receive()["error"]["code"] == -32600)
expect("a document that is not open", server.at("hover", "file:///other.tct", 0, 0) is None)
expect("a position outside", server.at("hover", uri, 99, 99) is None and server.at("definition", uri, -3, -9) is None)
server.notify("textDocument/didChange", {"contentChanges": 5})
server.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
closed = server.receive()["params"]
expect("closed", closed == {"uri": uri, "diagnostics": []}, closed)
expect("shutdown", server.ask("shutdown") is None)
expect("after shutdown", server.ask("textDocument/hover")["code"] == -32600)
server.notify("exit", {})
expect("exit", server.process.wait(timeout=20) == 0, server.process.returncode)

silent = Server()
silent.process.stdin.close()
expect("an editor that is gone", silent.process.wait(timeout=20) == 1, silent.process.returncode)

print(f"{passed} passed, {failed} failed")
raise SystemExit(failed != 0)
