#!/usr/bin/env python3
"""A party window for a terminal, in fifty lines: it runs `muster rpc` beside itself.

    party.py muster host '{"game": "openarena", "settings": {"agree": true}}' openarena +connect {address}
    party.py muster join '{"link": "http://192.0.2.1:7777/#TABOMI", "name": "bob"}'

Type go to start the round, a number to vote, r when you are ready, and q to leave. The words at the end start the
game; without them you start it yourself. docs/rpc.md tells what else there is."""
import json, subprocess, sys, threading

program, method, params, *command = sys.argv[1:]
muster = subprocess.Popen([program, "rpc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
room, shown = None, None


def call(method, **params):
    muster.stdin.write(json.dumps({"jsonrpc": "2.0", "id": method, "method": method, "params": params}) + "\n")
    muster.stdin.flush()


def launch(to):  # Muster starts nothing by itself
    print("everyone goes to", to["name"], "at", to["address"], flush=True)
    state = "started" if command else "by_hand"
    if command:
        subprocess.Popen([word.replace("{address}", to["address"]) for word in command], stdin=subprocess.DEVNULL)
    call("confirm", room=to["room"], launch=to["launch"], state=state)


def show(state):
    global shown
    people = ", ".join(m["name"] + (" is ready" if m.get("ready") else "") for m in state["members"])
    pings = {s["addr"]: s["mean_ms"] for s in state.get("selection", {}).get("ranking", [])}
    ballot = ["  %d  %3.0f ms  %s" % (s["number"], pings.get(s["addr"], 0), s["name"] or s["addr"]) for s in state.get("ballot", [])]
    if shown != (shown := [state["stage"] + ": " + people, *ballot]):
        print("\n".join(shown), flush=True)


def hear():
    global room
    for message in map(json.loads, muster.stdout):
        news, said = message.get("method"), message.get("params")
        if "error" in message:
            print("muster:", message["error"]["message"], (message["error"].get("data") or {}).get("hint", ""), flush=True)
        elif message.get("id") == method:
            room = message["result"]["room"]
            print("link ", message["result"]["link"], flush=True)
        elif news in ("room", "launch"):
            show(said["document"]) if news == "room" else launch(said)


threading.Thread(target=hear, daemon=True).start()
call(method, **json.loads(params))
for line in map(str.strip, sys.stdin):
    if line == "q":
        break
    call("vote", room=room, number=int(line)) if line.isdigit() else call({"go": "start", "r": "ready"}.get(line, "state"), room=room)
muster.stdin.close()  # the end of its input ends Muster, too
muster.wait()
