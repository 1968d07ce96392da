#!/usr/bin/env python3
"""A league's site in sixty lines: it opens a match room for each pair of clans, hears by webhook where they
played, and lets the winners meet, until one is left.

    muster serve --listen 127.0.0.1:7777 --webhooks --leagues leagues.txt
    bracket.py http://127.0.0.1:7777 KEY openarena 8099 < clans.json

leagues.txt has the line "cup KEY 16 json+http://127.0.0.1:8099/", and clans.json is
{"Nightjars": ["ann", "bob"], ...}. A match prints a line of JSON with its sides' links, and one with its result.
Who has won is the game's to say: a real site asks its server, this one tosses a coin."""
import hashlib, hmac, http.server, json, queue, random, re, sys, threading, time, urllib.request

host, key, game, port = sys.argv[1:5]
clans = json.load(sys.stdin)
results = queue.Queue()


def signed(header, body):  # whether one of our own rooms says it, and now
    given = re.fullmatch(r"t=(\d{1,12}),sha256=([0-9a-f]{64})", header or "")
    return given and abs(time.time() - int(given[1])) < 300 and hmac.compare_digest(given[2],
        hmac.new(key.encode(), given[1].encode() + b"." + body, hashlib.sha256).hexdigest())


class Hook(http.server.BaseHTTPRequestHandler):  # what rooms tell: muster.announcement/1
    def do_POST(self):
        body = self.rfile.read(min(int(self.headers.get("Content-Length") or 0), 1 << 20))
        ours = signed(self.headers.get("Muster-Signature"), body)
        self.send_response(204 if ours else 403)
        self.end_headers()
        if not ours:
            return
        said = json.loads(body)
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
    rooms = {}  # by their ids: anybody may give a room any name
    for i, pair in enumerate(pairs):
        room = open_match("%s %d-%d" % (game, len(left), i + 1), *pair)
        rooms[room["go"].rsplit("/", 1)[1]] = pair
    left = []
    while len(left) < len(pairs):
        match = results.get(timeout=600)
        pair = rooms.pop(match["id"].rsplit("-", 1)[0], None)
        if not pair:
            continue  # another round of a room that has played
        left.append(random.choice(pair))
        print(json.dumps({"result": match, "winner": left[-1]}), flush=True)
