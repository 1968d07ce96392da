// The page of one room. All text from the room is shown as text, never as markup.

const byId = (id) => document.getElementById(id);
const code = location.hash.slice(1);

const stages = {
  gathering: "Waiting for players",
  listing: "Fetching the server list",
  measuring: "Everyone is measuring",
  chosen: "Looking at the best servers again",
  launching: "Everyone on the way",
  failed: "No server suits everyone",
};

/** Shows a member as a row: name, progress, what it is doing. */
function playerRow(member, listed) {
  const row = document.createElement("li");
  const name = document.createElement("span");
  name.textContent = member.organiser ? `${member.name} (organiser)` : member.name;
  const bar = document.createElement("progress");
  bar.max = Math.max(listed, 1);
  bar.value = member.done ? bar.max : member.probed;
  bar.setAttribute("aria-label", `${member.name} has measured ${member.probed} of ${listed} servers`);
  const doing = document.createElement("span");
  doing.textContent = doingOf(member, listed);
  row.classList.toggle("away", !member.connected || Boolean(member.left_out));
  row.append(name, bar, doing);
  return row;
}

function doingOf(member, listed) {
  if (member.launch === "failed") return `failed: ${member.detail ?? ""}`;
  if (member.launch) return member.launch.replace("-", " ");
  if (member.left_out) return "left out";
  if (!member.connected) return "away";
  if (listed === 0) return "here";
  return member.done ? `${member.answered} answered` : `${member.probed} of ${listed}`;
}

function logRow(note) {
  const row = document.createElement("li");
  const time = document.createElement("time");
  time.dateTime = note.at;
  time.textContent = new Date(note.at).toLocaleTimeString();
  row.append(time, note.text);
  return row;
}

function show(room) {
  byId("title").textContent = room.name || `Room ${room.code}`;
  document.title = `${byId("title").textContent} – Muster`;
  byId("stage").textContent = `${room.game} · ${stages[room.stage] ?? room.stage}`;
  byId("players").replaceChildren(...room.members.map((m) => playerRow(m, room.listed)));
  byId("log").replaceChildren(...room.log.toReversed().map(logRow));
  showChosen(room);
}

function showChosen(room) {
  const chosen = room.selection?.chosen;
  byId("chosen").hidden = !room.connect || !chosen;
  if (byId("chosen").hidden) return;
  byId("chosen-name").textContent = room.server;
  byId("connect").textContent = room.connect;
  const each = Object.entries(chosen.rtt_ms).map(([name, ms]) => `${name} ${Math.round(ms)} ms`);
  byId("chosen-why").textContent = `${Math.round(chosen.mean_ms)} ms on average: ${each.join(", ")}`;
}

async function refresh() {
  try {
    const reply = await fetch(`/api/rooms/${encodeURIComponent(code)}`, { cache: "no-store" });
    if (reply.status === 404) {
      byId("stage").textContent = "No room has this code. Ask the organiser for the link.";
      return;
    }
    show(await reply.json());
  } catch {
    byId("stage").textContent = "The host does not answer; trying again …";
  }
  setTimeout(refresh, 1000);
}

function copies(button, source) {
  byId(button).addEventListener("click", () => navigator.clipboard?.writeText(byId(source).textContent));
}

byId("join-line").textContent = `muster join ${location.href}`;
copies("copy-join", "join-line");
copies("copy-connect", "connect");
window.addEventListener("hashchange", () => location.reload());
if (code) refresh();
else byId("stage").textContent = "This link has no room code in it. Ask the organiser for the whole link.";
