// What Home's table costs for 30,000 servers, in ms of processor time: see
// bench/experiments/home.md. Run by node, as often as one likes.

import { Table } from "../static/home/table.js";

const servers = 30_000;
const batch = 500; // rows in a frame of the stream, as internal/home sends them

let seed = 1;
const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
const rows = Array.from({ length: servers }, (_, i) => ({
  addr: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}:27960`,
  rtt_ms: random() * 300,
  name: `Server ${random().toString(36).slice(2)} clan`,
  map: `q3dm${i % 40}`,
  mode: String(i % 5),
  players: i % 17,
  max_players: 16,
  bots: i % 3,
  password: false,
  country: ["DE", "US", "NL", "FR"][i % 4],
}));

/** @param {string} what @param {() => void} act */
function cost(what, act) {
  const before = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(before);
  console.log(`${what.padEnd(28)} ${((user + system) / 1000).toFixed(1)}`);
}

const table = new Table();
cost("fill, all batches", () => {
  for (let i = 0; i < servers - batch; i += batch) table.add(rows.slice(i, i + batch));
});
cost("the last batch", () => table.add(rows.slice(-batch)));
for (const by of ["name", "players", "map", "country", "ping"]) cost(`sort by ${by}`, () => table.sort(by));
for (const text of ["c", "cl", "cla", "clan", "x", ""]) {
  table.filter.text = text;
  cost(`filter "${text}"`, () => table.arrange());
}
