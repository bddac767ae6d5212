#!/usr/bin/env python3
"""Speaks to `tercet kernel` as Jupyter does. Ends with "N passed, N failed"."""
import argparse
import hashlib
import hmac
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid

import zmq

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--tercet", required=True)
TERCET = str(pathlib.Path(parser.parse_args().tercet).resolve())
FOLDER = tempfile.TemporaryDirectory()
PATIENCE_MS = 60_000
KEY = b"a key"
passed = failed = 0


def expect(what, ok, got=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAIL {what}: {got}", flush=True)


def same(what, got, wanted):
    expect(what, got == wanted, f"{got!r}, not {wanted!r}")


def finish():
    print(f"{passed} passed, {failed} failed", flush=True)
    raise SystemExit(failed != 0)


def give_up(what):
    """Without an answer, everything behind it would only wait."""
    expect(what, False, "no answer")
    finish()


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Answer:
    """All that came for one request: the reply, and what was published until `idle`."""

    def __init__(self):
        self.reply, self.published = None, []

    def of(self, kind):
        return [content for k, content in self.published if k == kind]

    def kinds(self):
        return [kind for kind, _ in self.published if kind not in ("status", "execute_input")]

    def printed(self, name="stdout"):
        return "".join(s["text"] for s in self.of("stream") if s["name"] == name)

    def value(self):
        return "".join(r["data"]["text/plain"] for r in self.of("execute_result"))

    def complete(self):
        return self.reply is not None and {"execution_state": "idle"} in self.of("status")


class Client:
    def __init__(self, *flags, transport="tcp"):
        names = ["shell_port", "control_port", "iopub_port", "stdin_port", "hb_port"]
        ports = dict(zip(names, free_ports(5) if transport == "tcp" else range(1, 6)))
        address = "127.0.0.1" if transport == "tcp" else FOLDER.name + "/" + uuid.uuid4().hex[:8]
        self.file = file = pathlib.Path(FOLDER.name, uuid.uuid4().hex + ".json")
        file.write_text(json.dumps({**ports, "transport": transport, "ip": address, "key": KEY.decode(), "signature_scheme": "hmac-sha256"}))
        self.process = subprocess.Popen([TERCET, "kernel", "-f", str(file), *flags], cwd=FOLDER.name, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                        env={**os.environ, "JPY_PARENT_PID": str(os.getpid())})   # it ends when this test does
        self.context, self.session = zmq.Context(), uuid.uuid4().hex
        connect = lambda kind, name: self.connected(kind, f"{transport}://{address}{':' if transport == 'tcp' else '-'}{ports[name]}")
        self.shell, self.control = connect(zmq.DEALER, "shell_port"), connect(zmq.DEALER, "control_port")
        self.iopub, self.beat = connect(zmq.SUB, "iopub_port"), connect(zmq.REQ, "hb_port")
        self.answers = {}
        self.wait_until_listening()

    def connected(self, kind, address):
        s = self.context.socket(kind)
        s.linger = 0
        s.setsockopt(zmq.RCVHWM, 0)
        if kind == zmq.SUB:
            s.setsockopt(zmq.SUBSCRIBE, b"")
        s.connect(address)
        return s

    def wait_until_listening(self):
        """Publishing reaches us only some time after we have connected."""
        end = time.monotonic() + PATIENCE_MS / 1000
        while time.monotonic() < end:
            number = self.send(self.shell, "kernel_info_request", {})
            self.receive_until(lambda: self.answers[number].reply, 1000 if self.process.poll() is None else 0)
            if self.receive_until(self.answers[number].complete, 200):
                return
            if self.process.poll() is not None:
                give_up("the kernel starts: " + self.process.stderr.read().decode())
        give_up("the kernel answers")

    def send(self, channel, kind, content, key=KEY):
        number = uuid.uuid4().hex
        header = {"msg_id": number, "session": self.session, "username": "tester", "date": "2024-01-01T00:00:00.000000Z", "msg_type": kind, "version": "5.3"}
        self.answers[number] = Answer()
        self.send_parts(channel, [json.dumps(part).encode() for part in (header, {}, {}, content)], key)
        return number

    def send_parts(self, channel, parts, key=KEY):
        digest = hmac.new(key, b"".join(parts), hashlib.sha256).hexdigest().encode()
        channel.send_multipart([b"<IDS|MSG>", digest, *parts])

    def receive(self, channel):
        frames = channel.recv_multipart()
        begin = frames.index(b"<IDS|MSG>")
        digest, parts = frames[begin + 1], frames[begin + 2:begin + 6]
        assert hmac.new(KEY, b"".join(parts), hashlib.sha256).hexdigest().encode() == digest, "a wrong signature"
        header, parent, _, content = map(json.loads, parts)
        answer = self.answers.get(parent.get("msg_id"), Answer())
        if channel is self.iopub:
            answer.published.append((header["msg_type"], content))
        else:
            answer.reply_type, answer.reply = header["msg_type"], content

    def receive_until(self, done, patience_ms=PATIENCE_MS):
        poller, end = zmq.Poller(), time.monotonic() + patience_ms / 1000
        for channel in (self.shell, self.control, self.iopub):
            poller.register(channel, zmq.POLLIN)
        while not done() and time.monotonic() < end:
            for channel, _ in poller.poll(50):
                self.receive(channel)
        return bool(done())

    def ask(self, kind, content=None, channel=None):
        answer = self.answers[self.send(channel or self.shell, kind, content or {})]
        return self.completed(answer, kind)

    def start(self, code, **more):
        return self.answers[self.send(self.shell, "execute_request", {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False, "stop_on_error": True, **more})]

    def run(self, code, **more):
        return self.completed(self.start(code, **more), code[:60])

    def completed(self, answer, what):
        return answer if self.receive_until(answer.complete) else give_up(what)

    def printing(self, answer, text):
        """Waits until a running cell has printed."""
        return self.receive_until(lambda: text in answer.printed())

    def ends(self, seconds=30):
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "it runs on"


kernel = Client("--threads", "2")

# ---- who it is ----
info = kernel.ask("kernel_info_request").reply
same("the language", {k: info["language_info"][k] for k in ("name", "file_extension", "mimetype")},
     {"name": "tercet", "file_extension": ".tct", "mimetype": "text/x-tercet"})
expect("the kernel", info["status"] == "ok" and info["implementation"] == "tercet" and info["protocol_version"].startswith("5."), info)
kernel.beat.send(b"ping")
expect("the heart beats", kernel.beat.poll(PATIENCE_MS) and kernel.beat.recv() == b"ping")

# ---- values and state ----
cell = kernel.run("let x = [1, 2, 3]\nx * 2")
same("the value of the last expression", (cell.reply["status"], cell.value(), cell.kinds()), ("ok", "i32[3] [2, 4, 6]", ["execute_result"]))
count = cell.reply["execution_count"]
cell = kernel.run("sum(x)")
same("names stay", cell.value(), "i32 6")
same("cells are counted", (cell.reply["execution_count"], cell.of("execute_result")[0]["execution_count"], cell.of("execute_input")[0]["execution_count"]), (count + 1,) * 3)
same("ans", kernel.run("ans + 1").value(), "i32 7")
same("|> goes on from ans", kernel.run("|> (v => v * 2)").value(), "i32 14")
same("a statement has no value", kernel.run("let y = 2").kinds(), [])
same("nothing", (kernel.run("").reply["status"], kernel.run(" \n# a comment\n").reply["status"]), ("ok", "ok"))
same("functions over cells", (kernel.run("fn twice(v) = v * y").kinds(), kernel.run("(jit vmap twice)(x)").value()), ([], "i32[3] [2, 4, 6]"))
cell = kernel.run('print("quiet")\n41 + 1', silent=True)
same("a silent cell", (cell.reply["status"], cell.kinds(), cell.of("execute_input")), ("ok", [], []))
cell = kernel.run("let z = 1", user_expressions={"a": "z + 1", "b": "nothing_here"})
expect("user expressions", cell.reply["user_expressions"]["a"]["data"] == {"text/plain": "2"} and cell.reply["user_expressions"]["b"]["ename"] == "name", cell.reply)

# ---- prints ----
cell = kernel.run('for i in 0..3 { print("line", i) }\n"é𝒙"')
same("prints, then the value", (cell.printed(), cell.value(), cell.kinds()[-1]), ("line 0\nline 1\nline 2\n", 'str "é𝒙"', "execute_result"))
cell = kernel.start('print("first")\nvar i = 0\nwhile true { i += 1 }')
expect("a print is seen while the cell runs", kernel.printing(cell, "first\n") and not cell.reply, cell.printed())
kernel.ask("interrupt_request", channel=kernel.control)
kernel.completed(cell, "interrupt of what prints")
cell = kernel.run('for i in 0..200_000 { print("a line of some length with a number in it:", i) }')
lines = cell.printed().split("\n")
expect("many prints: all arrive, in order, in few messages", len(lines) == 200_001 and lines[199_999].endswith(": 199999") and len(cell.of("stream")) < 2000,
       (len(lines), len(cell.of("stream"))))
cell = kernel.run('print(join(repeat(["0123456789"], 2_000_000), ""))')
same("a huge text", (len(cell.printed()), cell.reply["status"]), (20_000_001, "ok"))

# ---- errors ----
def failing(what, code, name, message, shown):
    cell = kernel.run(code)
    error = (cell.of("error") or [{}])[0]
    expect(what, cell.reply["status"] == "error" and error.get("ename") == cell.reply["ename"] == name and message in error["evalue"] and
           error["evalue"] == cell.reply["evalue"] and shown in "\n".join(error["traceback"]) and error["traceback"] == cell.reply["traceback"], (cell.reply, error))
    return cell

cell = failing("an index", "print(1)\nx[\n  7]", "index", "7", "error[index]")
same("what ran before an error has printed", (cell.printed(), cell.kinds()), ("1\n", ["stream", "error"]))
expect("an error shows its place", any("7]" in line for line in cell.reply["traceback"]) and f"cell {cell.reply['execution_count']}:" in "".join(cell.reply["traceback"]), cell.reply)
prompt = subprocess.run([TERCET], input="let x = [1, 2, 3]\nx[7]\n", capture_output=True, text=True).stderr
cell = failing("an error has the text of the prompt", "x[7]", "index", "", "error[index]")
same("an error has the text of the prompt, in lines", [line.replace(f"cell {cell.reply['execution_count']}", "input 2") for line in cell.reply["traceback"]], prompt.splitlines())
failing("syntax", "let = 1", "syntax", "", "let = 1")
failing("a name", "nothing_here + 1", "name", "nothing_here", "error[name]")
failing("types", 'x + "a"', "type", "", "error[type]")
failing("compiled code", "(jit (v, i) => v[i])(x, 9)", "index", "9", "error[index]")
failing("a NUL", "let a = 1\0", "syntax", "", "error[syntax]")
failing("control characters and what is no character", "\x01\x7f\ufffe\U0010ffff", "syntax", "", "error[syntax]")
failing("deep brackets", "(" * 20_000, "limit", "nested too deeply", "error[limit]")
same("errors leave the session as it was", kernel.run("x + y").value(), "i32[3] [3, 4, 5]")
cell = kernel.run("1 / ", silent=True)
same("a silent error", (cell.reply["status"], cell.kinds()), ("error", []))

queue = [kernel.start('print("works")\nnothing_here'), kernel.start("var queued = 1"), kernel.start("queued")]
[kernel.completed(c, "cells behind a failing one") for c in queue]
same("... as aborted", [c.reply and c.reply["status"] for c in queue], ["error", "aborted", "aborted"])
expect("... and have not run", kernel.run("queued").reply["ename"] == "name" and [s["execution_state"] for s in queue[1].of("status")] == ["busy", "idle"], queue[1].published)
queue = [kernel.start("nothing_here", stop_on_error=False), kernel.start("x", stop_on_error=False)]
[kernel.completed(c, "cells behind a failing one") for c in queue]
same("unless all are to run", queue[1].value(), "i32[3] [1, 2, 3]")

# ---- commands of the prompt ----
same(":type", kernel.run(":type [1.0, 2.0]").printed(), "f32[2]\n")
expect(":help", ":explain" in kernel.run(":help").printed() and "sum(x, axis=" in kernel.run(" :help sum\n").printed(), kernel.run(":help sum").printed())
expect(":time", "ms" in kernel.run(":time sum(x)").printed())
expect(":help of nothing", kernel.run(":help nothing_here").reply["status"] == "error")
failing("an unknown command", ":bogus", "usage", "there is no command :bogus", ":help")
failing("a command without what it needs", ":type", "usage", "usage: :type EXPR", "")

# ---- completion, help, is it complete ----
def completion(code, at=None):
    reply = kernel.ask("complete_request", {"code": code, "cursor_pos": len(code) if at is None else at}).reply
    return reply["matches"], reply["cursor_start"], reply["cursor_end"]

kernel.run("let 𝒙_long = 1\nfn a_name_of_mine(v) = v")
same("completion of own names", completion("x + a_name_"), (["a_name_of_mine"], 4, 11))
same("completion within a cell counts code points", completion('"𝒙𝒙" + 𝒙_lo + 1', 11), (["𝒙_long"], 7, 11))
expect("completion of the library and of words", "segment_sum" in completion("segm")[0] and "while" in completion("whi")[0], completion("whi"))
same("completion of commands", completion(":ex"), ([":explain"], 0, 3))
same("completion of a bound of a slice", completion("x[0:a_name_")[0], ["a_name_of_mine"])
same("completion of nothing", completion("")[0], [])
same("completion at a place that is not there", completion("a_na", 99), (["a_name_of_mine"], 0, 4))


def inspection(code, at):
    reply = kernel.ask("inspect_request", {"code": code, "cursor_pos": at, "detail_level": 0}).reply
    return reply["found"] and reply["data"]["text/plain"]

help_text = kernel.run(":help sum").printed().rstrip("\n")
same("inspection is :help", inspection("1 + sum(x)", 5), help_text)
same("inspection behind the parenthesis", inspection("é + sum(", 8), help_text)
expect("inspection of a global", "i32[3]" in (inspection("x", 1) or ""), inspection("x", 1))
same("inspection of nothing", (inspection("nothing_here", 3), inspection("", 0), inspection("1 + 2", 2), inspection("x", -5) is False), (False, False, False, False))


def completeness(code):
    return kernel.ask("is_complete_request", {"code": code}).reply["status"]

for code, wanted in {"1 + 2": "complete", "": "complete", "fn f(x) = {\n  x": "incomplete", "f(1,": "incomplete", '"""text': "incomplete", "let = 1": "invalid",
                     "1 + )": "invalid", ":type x": "complete", "|> sum": "complete", "let a = 1\n": "complete", "nothing_here": "complete"}.items():
    same(f"is {code!r} complete", completeness(code), wanted)


def history(kind, **more):
    return kernel.ask("history_request", {"hist_access_type": kind, "output": False, "raw": True, "session": 0, **more}).reply["history"]

number = kernel.run("1 + 2").reply["execution_count"]
kernel.run("3 + 4", store_history=False)
kernel.run("1 + 2")
same("history: the last", history("tail", n=2), [[1, number, "1 + 2"], [1, number + 2, "1 + 2"]])
same("history: with values", history("tail", n=1, output=True), [[1, number + 2, ["1 + 2", "i32 3"]]])
same("history: a range", history("range", start=2, stop=3), [[1, 2, "sum(x)"]])
same("history: a search", (len(history("search", pattern="1 [+] ?")), history("search", pattern="1 + *", unique=True)), (2, [[1, number + 2, "1 + 2"]]))
same("history: the last of a search", (history("search", pattern="*", n=1)[0][1], history("search", pattern="3 + 4")), (number + 2, []))

# ---- interrupts ----
ENDLESS = {
    "interpreted": 'print("running")\nvar i = 0\nwhile true { i = i + 1 }',
    "empty": 'print("running")\nwhile true {}',
    "compiled": 'fn spin(x) = {\n  var a = x\n  while a > 0.0 { a = a + 1.0 - 1.0 }\n  a\n}\nprint("running")\n(jit spin)(1.0)',
    "text": 'print("running")\nvar s = ["a"]\nwhile true { s = upper(lower(s)) }',
    "printing": 'print("running")\nwhile true { print("on and on") }',
}
for what, code in ENDLESS.items():
    for way in ("message", "signal"):
        cell = kernel.start(code)
        expect(f"{what}: it runs", kernel.printing(cell, "running\n"), cell.reply)
        kernel.receive_until(lambda: False, 100)
        begin = time.monotonic()
        if way == "message":
            same("the reply to an interrupt", kernel.ask("interrupt_request", channel=kernel.control).reply_type, "interrupt_reply")
        else:
            kernel.process.send_signal(signal.SIGINT)
        kernel.completed(cell, f"{what}: stopped by {way}")
        took = time.monotonic() - begin
        expect(f"{what}: stopped by {way}", cell.reply["status"] == "error" and cell.reply["ename"] == "interrupt", cell.reply)
        expect(f"{what}: stopped soon", took < 1, took)     # about 10 ms; a machine may be busy
        same(f"{what}: the next cell runs", kernel.run("x").value(), "i32[3] [1, 2, 3]")
kernel.ask("interrupt_request", channel=kernel.control)
kernel.process.send_signal(signal.SIGINT)
same("an interrupt of nothing is forgotten", kernel.run("var i = 0\nwhile i < 100_000 { i += 1 }\ni").value(), "i32 100000")

# ---- what nobody should send ----
kernel.send_parts(kernel.shell, [b'{"msg_type": "execute_request"', b"{}", b"{}", b"{}"])
kernel.send_parts(kernel.shell, [b"\xff\xfe", b"{}", b"{}", b"{}"])
header = json.dumps({"msg_id": "bytes", "session": "s", "username": "u", "date": "", "msg_type": "execute_request", "version": "5.3"}).encode()
kernel.send_parts(kernel.shell, [header, b"{}", b"{}", b'{"code": "print(\xff\xfe)"}'])
kernel.send_parts(kernel.shell, [header, b"{}", b"{}", b'{"code": "print(\\ud800)"}'])
kernel.send_parts(kernel.shell, [header, b"{}", b"{}", b'{"code": 5}'])
kernel.send_parts(kernel.shell, [header, b"{}", b"{}", b"[1, 2]"])
kernel.send(kernel.shell, "execute_request", {"code": 'print("forged")'}, key=b"another key")
kernel.shell.send_multipart([b"", b"nothing"])
kernel.send(kernel.shell, "nothing_request", {})
kernel.control.send_multipart([b"nothing"])
same("bad messages are dropped, good ones answered", kernel.run("x").value(), "i32[3] [1, 2, 3]")
same("... on the control channel too", kernel.ask("kernel_info_request", channel=kernel.control).reply["implementation"], "tercet")
expect(":reset forgets", kernel.run(":reset").reply["status"] == "ok" and kernel.run("x").reply["ename"] == "name")
payload = kernel.run(":quit").reply["payload"]
same(":quit asks the notebook to leave", payload, [{"source": "ask_exit", "keepkernel": False}])

# ---- the end ----
answer = kernel.answers[kernel.send(kernel.control, "shutdown_request", {"restart": False})]
expect("shutdown is answered", kernel.receive_until(lambda: answer.reply) and answer.reply["restart"] is False, answer.reply)
same("shutdown", kernel.ends(), 0)

running = Client(transport="ipc")
cell = running.start('print("running")\nwhile true {}')
running.printing(cell, "running\n")
behind = running.start("while true {}")
answer = running.answers[running.send(running.control, "shutdown_request", {"restart": True})]
expect("shutdown while a cell runs", running.ends() == 0 and running.receive_until(lambda: answer.reply, 2000) and answer.reply["restart"] is True, running.process.returncode)
again = Client("--jit-all", transport="ipc")
same("a new kernel, with flags", again.run('fn f(x) = x + 1\nf(1)').value(), "i32 2")
again.process.terminate()
same("SIGTERM", again.ends(), -signal.SIGTERM)

orphan = subprocess.run([sys.executable, "-c", """if True:
    import os, subprocess, sys, time
    kernel = subprocess.Popen(sys.argv[1:], env={**os.environ, "JPY_PARENT_PID": str(os.getpid())}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1)
    print(kernel.pid if kernel.poll() is None else "has not started")
""", TERCET, "kernel", "-f", str(running.file)], capture_output=True, text=True).stdout.strip()
end = time.monotonic() + 20
while os.path.exists("/proc/" + orphan) and time.monotonic() < end:
    time.sleep(0.1)
expect("a kernel whose notebook is gone ends", orphan.isdigit() and not os.path.exists("/proc/" + orphan), orphan)
if orphan.isdigit() and os.path.exists("/proc/" + orphan):
    os.kill(int(orphan), signal.SIGKILL)

# ---- the command ----
def tercet(*arguments, **environment):
    done = subprocess.run([TERCET, *arguments], capture_output=True, text=True, env={**os.environ, **environment}, timeout=60)
    return done.returncode, done.stdout, done.stderr

home = pathlib.Path(FOLDER.name, "home folder")
spec = home / "jupyter/kernels/tercet/kernel.json"
same("install", tercet("kernel", "install", "--user", JUPYTER_DATA_DIR="", XDG_DATA_HOME=str(home)), (0, f"installed {spec}\n", ""))
installed = json.loads(spec.read_text())
same("the kernelspec", (installed["argv"], installed["language"], installed["display_name"]), ([TERCET, "kernel", "-f", "{connection_file}"], "tercet", "Tercet"))
same("install for Jupyter's own folder", tercet("kernel", "install", JUPYTER_DATA_DIR=str(home / "own"))[0], 0)
same("install with a prefix", tercet("kernel", "install", "--prefix", str(home / "usr"))[0], 0)
expect("... is there", (home / "own/kernels/tercet/kernel.json").is_file() and (home / "usr/share/jupyter/kernels/tercet/kernel.json").is_file())
status, _, err = tercet("kernel", "install", "--prefix", "/proc/nowhere")
expect("install where nobody may write", status == 1 and "cannot write" in err, err)
same("both", tercet("kernel", "install", "--user", "--prefix", "x")[0], 2)
status, _, err = tercet("kernel")
expect("no connection file", status == 2 and "--connection" in err, (status, err))
status, _, err = tercet("kernel", "-f", FOLDER.name + "/nothing.json")
expect("a connection file that is not there", status == 1 and "nothing.json" in err, (status, err))
pathlib.Path(FOLDER.name, "bad.json").write_text('{"transport": 5}')
status, _, err = tercet("kernel", "-f", FOLDER.name + "/bad.json")
expect("a bad connection file", status == 1 and "bad.json" in err, (status, err))
alone = pathlib.Path(FOLDER.name, "tercet")
os.link(TERCET, alone) if os.stat(TERCET).st_dev == os.stat(FOLDER.name).st_dev else alone.write_bytes(pathlib.Path(TERCET).read_bytes())
alone.chmod(0o755)
done = subprocess.run([alone, "kernel", "-f", "x"], capture_output=True, text=True)
expect("a build without the kernel", done.returncode == 1 and "xeus" in done.stderr and "tercet-kernel" in done.stderr, done)

finish()
