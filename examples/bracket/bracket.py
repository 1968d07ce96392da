#!/usr/bin/env python3
"""A league's site in fifty lines: it opens a match room for each pair of clans, hears by webhook where they
played, and lets the winners meet, until one is left.

    muster serve --listen 127.0.0.1:7777 --webhooks --leagues leagues.txt
    bracket.py http://127.0.0.1:7777 KEY openarena 8099 < clans.json

leagues.txt has the line "cup KEY 16 json+http://127.0.0.1:8099/", and clans.json is
{"Nightjars": ["ann", "bob"], ...}. A match prints a line of JSON with its sides' links, and one with its result.
Who has won is the game's to say: a real site asks its server, this one tosses a coin."""
import http.server, json, queue, random, sys, threading, urllib.request

host, key, game, port = sys.argv[1:5]
clans = json.load(sys.stdin)
results = queue.Queue()


class Hook(http.server.BaseHTTPRequestHandler):  # what rooms tell: muster.announcement/1
    def do_POST(self):
        said = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()
        if said["kind"] == "choice" and "match" in said:
            results.put(said["match"])

    def log_message(self, *_):
        pass


hook = http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Hook)
threading.Thread(target=hook.serve_forever, daemon=True).start()


def post(path, body, secret):
    request = urllib.request.Request(host + path, json.dumps(body).encode(), {"Content-Type": "application/json",
        "Authorization": "Bearer " + secret})
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read() or "null")


def open_match(name, a, b):
    room = post("/api/rooms", {"game": game, "name": name, "players": len(clans[a]) + len(clans[b]), "match": "bo1",
        "side_a": a, "side_b": b, "by": "even-sides", "order": "pick", "turn_ms": 10000}, key)
    print(json.dumps({"match": name, "sides": {a: room["link"].replace("/#", "/?side=a#"), b: room["link"].replace("/#", "/?side=b#")}}), flush=True)
    return room


left = sorted(clans)
while len(left) > 1:
    pairs = list(zip(left[::2], left[1::2]))
    rooms = {"%s %d-%d" % (game, len(left), i + 1): pair for i, pair in enumerate(pairs)}
    opened = {name: open_match(name, *pair) for name, pair in rooms.items()}
    left = []
    while len(left) < len(pairs):
        match = results.get(timeout=600)
        left.append(random.choice(rooms[match["room"]]))
        print(json.dumps({"result": match, "winner": left[-1]}), flush=True)
