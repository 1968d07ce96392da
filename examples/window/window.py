#!/usr/bin/env python3
"""A party window in a browser: this passes lines between `muster rpc` and window.html, which draws and decides.

    window.py muster

It prints the window's address, which nobody else on this machine can guess, and ends with the window's Quit, with
Ctrl-C or with Muster. A launcher that draws its own windows needs none of this: it talks to Muster itself."""
import contextlib, http.server, pathlib, queue, secrets, signal, subprocess, sys, threading

muster = subprocess.Popen([sys.argv[1], "rpc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
key = "/" + secrets.token_urlsafe(16) + "/"
pages, newest, lock = [], [], threading.Lock()


class Bridge(http.server.BaseHTTPRequestHandler):
    def answer(self, status, kind, body=None):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body or b"")

    def do_GET(self):
        if self.path == key:
            self.answer(200, "text/html; charset=utf-8", pathlib.Path(__file__).with_name("window.html").read_bytes())
        elif self.path == key + "news":
            self.answer(200, "text/event-stream")
            lines = queue.Queue()
            with lock:  # a window that is opened again sees the room at once
                pages.append(lines)
                for line in newest:
                    lines.put(line)
            with contextlib.suppress(OSError):  # until the window is closed
                while line := lines.get():
                    self.wfile.write(b"data: " + line + b"\n")
            with lock:
                pages.remove(lines)
        else:
            self.answer(404, "text/plain")

    def do_POST(self):  # without the key no other site's page gets here
        if self.path == key + "call":
            muster.stdin.write(b" ".join(self.rfile.read(int(self.headers["Content-Length"])).split(b"\n")) + b"\n")
            muster.stdin.flush()
        self.answer(204 if self.path.startswith(key) else 404, "text/plain")

    def log_message(self, *_):
        pass


for end in (signal.SIGINT, signal.SIGTERM):
    signal.signal(end, lambda *_: muster.stdin.close())  # Muster leaves its room, and this ends after it
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Bridge)
threading.Thread(target=server.serve_forever, daemon=True).start()
print("window http://127.0.0.1:%d%s" % (server.server_port, key), flush=True)
for line in muster.stdout:
    with lock:
        newest = [line] if b'"method":"room"' in line else newest
        for page in pages:
            page.put(line)
