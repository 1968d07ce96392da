// The texts with which somebody starts a game's own server, made of its recipe (GET /recipe/GAME) and of what the
// person says. They are made here, in the browser: no answer is ever sent. Nothing here touches the page.
//
//	recipe + room ──▶ fieldsOf ──▶ a form ──▶ answers ──▶ textsOf ──▶ user data, compose, docker, LinuxGSM
//
// An answer is somebody's text, and the texts are for shells: each answer is cleaned (clean), bounded, and quoted for
// the place where it stands. Secrets have letters that mean nothing to a shell, or there is no text. Passwords that
// nobody chose are made on the machine.

/** @typedef {{role: string, env: string}} Variable */
/**
 * @typedef {object} Recipe
 * @property {string} game @property {string} name @property {"A" | "B" | "C"} grade
 * @property {string} [image] @property {string} [from] @property {string} [seen] @property {string} [state]
 * @property {boolean} [wine] @property {boolean} [arm64]
 * @property {{env: string, who: string, url?: string}} [licence]
 * @property {string[]} [env] @property {Variable[]} [ask] @property {Variable[]} [made]
 * @property {number} [password_min] @property {string} [avoid]
 * @property {string[]} [command] @property {string[]} [flags] @property {boolean} [host_net]
 * @property {string[]} [open] @property {string[]} [query] @property {string[]} [admin] @property {string[]} [volumes]
 * @property {string} [linuxgsm] @property {number} [mem_min_gb] @property {number} [mem_rec_gb] @property {number} [disk_gb]
 * @property {string[]} [hand] @property {string[]} [edit] @property {string[]} [need] @property {string[]} [join]
 * @property {string} [relay] @property {boolean} [silent] @property {string[]} [mind]
 */
/** What a person says, by role; licence is the tick. @typedef {Record<string, string | number | boolean | undefined>} Answers */
/** A field of the form: its label's key, and unit where it counts. @typedef {{role: string, key: string, type: "text" | "number" | "password", value: string, secret: boolean, unit?: string}} Field */
/** A text, and its pieces, of which those that are answers are marked. missing are the roles without which it is of no use. @typedef {{text: string, parts: {text: string, isAnswer: boolean}[], missing: string[]}} Text */
/** A sentence of the catalogue, or one of the recipe's own in English. @typedef {{key: string, with?: Record<string, string | number>} | {text: string}} Line */
/**
 * @typedef {object} Texts
 * @property {boolean} awaitsLicence whether the licence has no tick yet
 * @property {{role: string, key: string, with?: Record<string, number>}[]} wrong what is wrong with answers; then there are no texts
 * @property {Text | null} newMachine @property {Text | null} compose @property {Text | null} docker @property {Text | null} linuxgsm
 * @property {Line[]} open @property {Line[]} memory @property {Line[]} mind @property {Line[]} byHand
 * @property {Record<"newMachine" | "compose" | "docker" | "linuxgsm", Line[]>} then what to do with a text, and after it
 */

/** Stand around answers while a text is made. No answer has one: they are in the private use area. */
const [begin, end] = ["\uE000", "\uE001"];

/** The form's roles, in their order. */
const roles = ["name", "world", "token", "address", "owner", "password", "players", "memory", "whitelist"];
/** Secrets of the form. */
const secrets = ["password", "token"];
/** What nobody knows before there is a machine, or may know beside it: it is typed there. */
const late = ["address", "token"];

/** The bounds of answers, in letters, of lists, in names, and of user data, in bytes. */
const longest = 100;
const longestName = 40;
const mostNames = 64;
export const mostUserData = 16_384;

/** What a secret may have: letters that mean the same in an env file, in Compose and in a shell. */
const secretForm = /^[A-Za-z0-9._^+=:@%,/-]{1,200}$/;

/** A password that the machine makes, 18 hexadecimal digits, and the function of a shell that makes it. */
const random = "$(p)";
const maker = "p() { od -An -N9 -tx1 /dev/urandom | tr -d ' \\n'; };";

/** The roles that a recipe asks for. @param {Recipe} recipe */
function rolesOf(recipe) {
  const asked = new Set([...(recipe.ask ?? []).map(({ role }) => role), ...inCommand(recipe)]);
  return roles.filter((role) => asked.has(role) && (recipe.grade === "A" || late.includes(role)));
}

/** The roles in the command. @param {Recipe} recipe */
const inCommand = (recipe) => (recipe.command ?? []).flatMap((word) => /^\{(\w+)\}$/.exec(word)?.[1] ?? []);

/** The memory for some people, in GB, where the image can be told. @param {number} people */
export const memoryFor = (people) => (people <= 4 ? 2 : people <= 8 ? 3 : 4 + Math.floor(people / 16) * 2);

/** The seats where nobody says otherwise. */
const seats = 4;

/** What a room knows of the answers. @param {Recipe} recipe @param {{name?: string, people?: string[]}} room @returns {Answers} */
export function knownOf(recipe, room) {
  const people = room.people ?? [];
  const name = clean(room.name || recipe.name, longest, recipe.avoid);
  return { name, world: name, players: Math.max(people.length, seats), memory: memoryFor(people.length), whitelist: namesOf(people.join(",")).join(", ") };
}

/** The form for a recipe, with what the room knows. @param {Recipe} recipe @param {{name?: string, people?: string[]}} room @returns {Field[]} */
export function fieldsOf(recipe, room) {
  const known = knownOf(recipe, room);
  return rolesOf(recipe).map((role) => {
    const secret = secrets.includes(role);
    const counts = role === "players" || role === "memory";
    return { role, key: `recipe.${role}`, type: secret ? "password" : counts ? "number" : "text", value: String(known[role] ?? ""), secret, ...(role === "memory" && { unit: "GB" }) };
  });
}

/**
 * A text without what breaks lines, hides, or starts something in the scripts of images: controls, characters without
 * a form, quotation marks of shells, and what they expand.
 * @param {unknown} value @param {number} [most] @param {string} [avoid]
 */
export function clean(value, most = longest, avoid = "") {
  const seen = String(value ?? "").slice(0, 64 * most).replaceAll(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|[`$\\"]/gu, " ");
  const kept = [...seen].filter((letter) => !avoid.includes(letter)).join("");
  return [...kept.replaceAll(/ +/g, " ").trim()].slice(0, most).join("").trim();
}

/** Names with commas between them. @param {unknown} value */
function namesOf(value) {
  return [...new Set(String(value ?? "").split(",").map((name) => clean(name, longestName)))].filter(Boolean).slice(0, mostNames);
}

/** A whole number within bounds, or nothing. @param {unknown} value @param {number} most */
function count(value, most) {
  const n = Math.round(Number(value));
  return n >= 1 ? String(Math.min(n, most)) : "";
}

/** An answer as the variable has it, not yet quoted. @param {Recipe} recipe @param {string} role @param {Answers} answers */
function valueOf(recipe, role, answers) {
  switch (role) {
    case "players":
      return count(answers.players, 999);
    case "memory":
      return count(answers.memory, 512) && `${count(answers.memory, 512)}G`;
    case "whitelist":
      return namesOf(answers.whitelist).join(",");
    case "password":
    case "token":
      return String(answers[role] ?? "").trim();
    default:
      return clean(answers[role], longest, recipe.avoid);
  }
}

/** Words of a command: some servers read theirs as one line, in which a plus or a minus begins another option. @param {string} value */
function inWords(value) {
  return value.replaceAll(/[^\p{L}\p{M}\p{N} ._-]/gu, " ").split(" ").map((word) => word.replace(/^[-.]+/, "")).filter(Boolean).join(" ");
}

/** @param {string} text */
const marked = (text) => (text ? begin + text + end : "");

/** A word for a shell. @param {string} value */
function word(value) {
  return /^[A-Za-z0-9_.,:@%+=/-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}

/** A value for Compose: a string of YAML in which a dollar is a dollar. @param {string} value */
const yaml = (value) => JSON.stringify(value).replaceAll("$", "$$$$");

/** A constant, NAME=VALUE, as its two halves. @param {string} constant @returns {[string, string]} */
function halves(constant) {
  const at = constant.indexOf("=");
  return [constant.slice(0, at), constant.slice(at + 1)];
}

/** What the container is told: plain variables, secret ones, and words behind the image. @typedef {{plain: [string, string, boolean][], secret: [string, string][], words: (string | {env: string} | {answer: string})[], missing: string[]}} Told */

/** @param {Recipe} recipe @param {Answers} answers @param {boolean} isNew the machine does not exist yet: no secret that anybody has typed */
function told(recipe, answers, isNew) {
  /** @type {Told} */
  const all = { plain: (recipe.env ?? []).map((constant) => [...halves(constant), false]), secret: [], words: [], missing: [] };
  if (recipe.licence && answers.licence === true) all.plain.unshift([...halves(recipe.licence.env), true]);
  for (const { role, env } of recipe.ask ?? []) {
    const value = valueOf(recipe, role, answers);
    if (late.includes(role)) {
      if (value === "" || isNew) {
        all.missing.push(role);
        all.secret.push([env, ""]);
      } else if (secrets.includes(role)) all.secret.push([env, value]);
      else all.plain.push([env, value, true]);
    } else if (role === "password") all.secret.push([env, isNew || value === "" ? random : value]);
    else if (value !== "") all.plain.push([env, value, true]);
  }
  for (const { env } of recipe.made ?? []) all.secret.push([env, random]);
  for (const each of recipe.command ?? []) {
    const role = /^\{(\w+)\}$/.exec(each)?.[1];
    if (!role) all.words.push(each);
    else if (role === "rcon" || role === "admin" || role === "password") {
      const value = role === "password" ? valueOf(recipe, role, answers) : "";
      all.secret.push([role.toUpperCase(), isNew || value === "" ? random : value]);
      all.words.push({ env: role.toUpperCase() });
    } else all.words.push({ answer: inWords(valueOf(recipe, role, answers)) || (role === "players" ? String(seats) : inWords(recipe.name)) });
  }
  return all;
}

/** The ports that are published, once each. @param {Recipe} recipe */
const published = (recipe) => [...new Set([...(recipe.open ?? []), ...(recipe.query ?? [])])];

/** The volumes' names with their paths. @param {Recipe} recipe @returns {[string, string][]} */
function volumesOf(recipe) {
  const paths = recipe.volumes ?? [];
  const last = (/** @type {string} */ path) => path.split("/").at(-1) ?? "";
  const named = (/** @type {string} */ path) => (paths.filter((other) => last(other) === last(path)).length > 1 ? path.slice(1).replaceAll("/", "-") : last(path)).replace(/^\./, "").toLowerCase();
  return paths.map((path) => [named(path), path]);
}

/** Lines for a shell that write the secrets into a file that only its owner reads. @param {Told} all @param {string} file */
function secretsInto(all, file) {
  const makes = all.secret.some(([, value]) => value === random);
  const written = all.secret.map(([env, value]) => `"${env}=${value === random ? value : marked(value)}"`);
  const writes = ["printf '%s\\n'", ...written, `> ${file})`];
  return makes ? [`(umask 077; ${maker}`, ...filled(writes)] : filled(["(umask 077;", ...writes]);
}

/** The lines of a docker command, without what joins them. @param {Recipe} recipe @param {Told} all @param {string} file where the secrets are */
function dockerRun(recipe, all, file) {
  const inEnv = all.secret.some(([env]) => !all.words.some((each) => typeof each === "object" && "env" in each && each.env === env));
  const lines = [`docker run -d --name ${recipe.game} --restart unless-stopped`];
  const ways = [...(inEnv ? [`--env-file ${file}`] : []), ...(recipe.flags ?? []), ...(recipe.host_net ? ["--network host"] : published(recipe).map((port) => `-p ${port.replace(/^(\d+)/, "$1:$1")}`)), ...volumesOf(recipe).map(([name, path]) => `-v ${recipe.game}-${name}:${path}`)];
  lines.push(...filled(ways));
  lines.push(...filled(all.plain.map(([env, value, isAnswer]) => `-e ${env}=${isAnswer ? marked(word(value)) : word(value)}`)));
  const words = all.words.map((each) => (typeof each === "string" ? word(each) : "env" in each ? `"$${each.env}"` : marked(word(each.answer))));
  lines.push(...filled([recipe.image ?? "", ...words]));
  return lines;
}

/** One command on several lines. @param {string[]} lines */
const inShell = (lines) => lines.join(" \\\n  ").replaceAll("; \\\n", ";\n");

/** The letters in which a line should end. */
const width = 88;

/** Puts words into as few lines as hold them. @param {string[]} words */
function filled(words) {
  /** @type {string[]} */
  const lines = [];
  for (const each of words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + each.length < width) lines[lines.length - 1] = `${last} ${each}`;
    else lines.push(each);
  }
  return lines;
}

/** Whether a command reads secrets as variables. @param {Told} all */
const reads = (all) => all.words.some((each) => typeof each === "object" && "env" in each);

/** @param {Recipe} recipe @param {Answers} answers */
function dockerOf(recipe, answers) {
  const all = told(recipe, answers, false);
  const file = `${recipe.game}.env`;
  const before = all.secret.length > 0 ? `${inShell(secretsInto(all, file))} &&\n${reads(all) ? `. ./${file} &&\n` : ""}` : "";
  return textOf(before + inShell(dockerRun(recipe, all, file)) + "\n", all.missing);
}

/** User data for a machine that does not exist yet. @param {Recipe} recipe @param {Answers} answers */
function newMachineOf(recipe, answers) {
  const all = told(recipe, answers, true);
  const file = `/srv/${recipe.game}.env`;
  const run = [...(reads(all) ? [`. ${file};`] : []), ...dockerRun(recipe, all, file)];
  const block = (/** @type {string[]} */ lines) => `  - >-\n${lines.map((line) => `    ${line}\n`).join("")}`;
  const isLate = all.missing.length > 0;
  const script = isLate ? `write_files:\n  - path: ${scriptOf(recipe)}\n    content: |\n${`${inShell(run)}\n`.replaceAll(/^/gm, "      ").trimEnd()}\n` : "";
  const secret = all.secret.length > 0 ? block(secretsInto(all, file)) : "";
  const text = `#cloud-config\npackages: [docker.io]\n${script}runcmd:\n${secret}${isLate ? block([`docker pull ${recipe.image}`]) : block(run)}`;
  return new TextEncoder().encode(text).length > mostUserData ? null : textOf(text, []);
}

/** Where the command waits that a person runs. @param {Recipe} recipe */
const scriptOf = (recipe) => `/srv/${recipe.game}.sh`;

/** A shell's lines that write compose.yaml and the secrets beside it, and start both. @param {Recipe} recipe @param {Answers} answers */
function composeOf(recipe, answers) {
  const all = told(recipe, answers, false);
  const secret = all.secret.length > 0 ? `${inShell(secretsInto(all, ".env"))}\n` : "";
  return textOf(`mkdir -p ${recipe.game} && cd ${recipe.game}\n${secret}cat > compose.yaml <<'END'\n${composeFile(recipe, all)}END\ndocker compose up -d\n`, all.missing);
}

/** @param {Recipe} recipe @param {Told} all */
function composeFile(recipe, all) {
  const list = (/** @type {string[]} */ of) => `[${of.join(", ")}]`;
  const lines = [`image: ${recipe.image}`, "restart: unless-stopped"];
  for (const flag of recipe.flags ?? []) lines.push(...composeFlag(flag));
  if (recipe.host_net) lines.push("network_mode: host");
  else if (published(recipe).length > 0) lines.push(`ports: ${list(published(recipe).map((port) => yaml(port.replace(/^(\d+)/, "$1:$1"))))}`);
  const volumes = volumesOf(recipe);
  lines.push(`volumes: ${list(volumes.map(([name, path]) => yaml(`${name}:${path}`)))}`);
  if (all.secret.length > 0 && (recipe.command ?? []).length === 0) lines.push("env_file: .env");
  if (all.plain.length > 0) lines.push("environment:", ...all.plain.map(([env, value, isAnswer]) => `  ${env}: ${isAnswer ? marked(yaml(value)) : yaml(value)}`));
  if (all.words.length > 0) lines.push(`command: ${list(all.words.map((each) => (typeof each === "string" ? yaml(each) : "env" in each ? `"\${${each.env}}"` : marked(yaml(each.answer)))))}`);
  return `services:\n  ${recipe.game}:\n${lines.map((line) => `    ${line}\n`).join("")}volumes: {${volumes.map(([name]) => `${name}: {}`).join(", ")}}\n`;
}

/** A flag of Docker's, as Compose has it. @param {string} flag @returns {string[]} */
function composeFlag(flag) {
  const [name, value] = halves(flag.includes("=") ? flag : `${flag}=`);
  switch (name) {
    case "-i":
      return ["stdin_open: true"];
    case "-t":
      return ["tty: true"];
    case "--stop-timeout":
      return [`stop_grace_period: ${value}s`];
    case "--cap-add":
      return [`cap_add: [${value}]`];
    case "--memory":
      return [`mem_limit: ${value}`];
    case "--memory-reservation":
      return [`mem_reservation: ${value}`];
    case "--security-opt":
      return [`security_opt: ["${value}"]`];
    case "--ulimit": {
      const [what, bounds] = halves(value);
      const [soft, hard] = bounds.split(":");
      return [`ulimits: {${what}: {soft: ${soft}, hard: ${hard}}}`];
    }
    default:
      throw new Error(`Compose knows no ${flag}`); // a test makes all texts of the table
  }
}

/** @param {Recipe} recipe */
function linuxGSMOf(recipe) {
  const user = `${recipe.linuxgsm}server`;
  return textOf(`sudo useradd -m -s /bin/bash ${user}\nsudo -iu ${user} curl -Lo linuxgsm.sh https://linuxgsm.sh\nsudo -iu ${user} bash linuxgsm.sh ${user}\nsudo -iu ${user} ./${user} install\nsudo -iu ${user} ./${user} start\n`, []);
}

/** Takes the marks out of a text. @param {string} source @param {string[]} missing @returns {Text} */
function textOf(source, missing) {
  const parts = source.split(new RegExp(`(${begin}[^${end}]*${end})`)).filter(Boolean).map((part) => (part.startsWith(begin) ? { text: part.slice(1, -1), isAnswer: true } : { text: part, isAnswer: false }));
  return { text: parts.map(({ text }) => text).join(""), parts, missing };
}

/** What is wrong with the secrets. @param {Recipe} recipe @param {Answers} answers */
function wrongOf(recipe, answers) {
  /** @type {Texts["wrong"]} */
  const wrong = [];
  for (const role of rolesOf(recipe).filter((one) => secrets.includes(one))) {
    const value = valueOf(recipe, role, answers);
    if (value === "") continue;
    if (!secretForm.test(value) || [...(recipe.avoid ?? "")].some((letter) => value.includes(letter))) wrong.push({ role, key: "recipe.wrong-letters" });
    else if (role === "password" && value.length < (recipe.password_min ?? 0)) wrong.push({ role, key: "recipe.wrong-short", with: { n: recipe.password_min ?? 0 } });
  }
  return wrong;
}

/** Ports as people read them: "2456, 2457 UDP". @param {string[]} ports */
export function portsInWords(ports) {
  return ["tcp", "udp"].map((protocol) => [protocol, ports.filter((port) => port.endsWith(`/${protocol}`)).map((port) => port.split("/")[0]).join(", ")]).filter(([, numbers]) => numbers).map(([protocol, numbers]) => `${numbers} ${protocol.toUpperCase()}`).join(", ");
}

/** @param {Recipe} recipe @returns {Line[]} */
function openOf(recipe) {
  const game = recipe.open ?? [];
  const lists = (recipe.query ?? []).filter((port) => !game.includes(port));
  const admin = recipe.admin ?? [];
  /** @type {Line[]} */
  const lines = [game.length > 0 ? { key: "recipe.open-game", with: { ports: portsInWords(game) } } : { key: "recipe.open-none" }];
  if (lists.length > 0) lines.push({ key: "recipe.open-lists", with: { ports: portsInWords(lists) } });
  if (admin.length > 0) lines.push({ key: recipe.host_net ? "recipe.open-block" : "recipe.open-shut", with: { ports: portsInWords(admin), n: admin.length } });
  return lines;
}

/** @param {Recipe} recipe @param {Answers} answers @returns {Line[]} */
function memoryOf(recipe, answers) {
  const [least, good] = [recipe.mem_min_gb ?? 0, recipe.mem_rec_gb ?? 0];
  const own = rolesOf(recipe).includes("memory") ? count(answers.memory, 512) : "";
  /** @type {Line[]} */
  const lines = [];
  if (own) lines.push({ key: "recipe.memory-own", with: { gb: Number(own) } }, ...(least ? [{ key: "recipe.memory-alone", with: { gb: least } }] : []));
  else if (least && good) lines.push({ key: "recipe.memory-both", with: { least, good } });
  else if (least || good) lines.push({ key: "recipe.memory-least", with: { gb: least || good } });
  else lines.push({ key: "recipe.memory-unknown" });
  if (recipe.disk_gb) lines.push({ key: "recipe.disk", with: { gb: recipe.disk_gb } });
  if (!recipe.arm64) lines.push({ key: "recipe.amd64" });
  return lines;
}

/** @param {Recipe} recipe @returns {Line[]} */
function mindOf(recipe) {
  const shared = (recipe.admin ?? []).filter((port) => port.endsWith("/tcp") && recipe.open?.includes(port.replace("/tcp", "/udp")));
  return [
    ...(recipe.mind ?? []).map((text) => ({ text })),
    ...(shared.length > 0 ? [{ key: "recipe.mind-udp" }] : []),
    ...(recipe.relay === "yes" ? [{ key: "recipe.mind-relay" }] : recipe.silent ? [{ key: "recipe.mind-silent" }] : []),
    ...(recipe.wine ? [{ key: "recipe.mind-wine" }] : []),
    ...(recipe.state && recipe.state !== "none" ? [{ key: "recipe.mind-old" }] : []),
  ];
}

/** The kinds of work by hand that come before the last, which is to edit files. */
const byHand = ["claim", "account", "files", "world-upload", "device-login", "image", "token"];

/** @param {Recipe} recipe @returns {Line[]} */
function byHandOf(recipe) {
  const hand = recipe.hand ?? [];
  const kinds = byHand.filter((kind) => hand.includes(kind) && (kind !== "token" || !recipe.need));
  const files = (recipe.edit ?? []).join("; ");
  return [
    ...(recipe.need ?? []).map((text) => ({ text })),
    ...kinds.map((kind) => ({ key: `recipe.hand.${kind}` })),
    ...(files ? [{ key: "recipe.hand.edit", with: { files } }] : hand.includes("config-edit") ? [{ key: "recipe.hand.config-edit" }] : []),
  ];
}

/** Where passwords are that the machine has made, and what to type there. @param {Recipe} recipe @param {string} file @param {boolean} isNew @param {Answers} answers @returns {Line[]} */
function afterOf(recipe, file, isNew, answers) {
  const all = told(recipe, answers, isNew);
  /** @type {Line[]} */
  const lines = [];
  if (isNew && all.missing.length > 0) lines.push({ key: "recipe.then-late", with: { names: all.secret.filter(([, value]) => value === "").map(([env]) => env).join(", "), file, command: `sudo sh ${scriptOf(recipe)}` } });
  if (all.secret.some(([, value]) => value === random)) lines.push({ key: "recipe.then-passwords", with: { command: isNew ? `sudo cat ${file}` : `cat ${file}` } });
  return lines;
}

/** All that a person copies and reads. @param {Recipe} recipe @param {Answers} answers @returns {Texts} */
export function textsOf(recipe, answers) {
  const wrong = wrongOf(recipe, answers);
  const hasTexts = recipe.grade !== "C" && Boolean(recipe.image) && wrong.length === 0;
  return {
    awaitsLicence: recipe.licence !== undefined && answers.licence !== true,
    wrong,
    newMachine: hasTexts && recipe.grade === "A" ? newMachineOf(recipe, answers) : null,
    compose: hasTexts ? composeOf(recipe, answers) : null,
    docker: hasTexts ? dockerOf(recipe, answers) : null,
    linuxgsm: recipe.linuxgsm ? linuxGSMOf(recipe) : null,
    open: openOf(recipe),
    memory: memoryOf(recipe, answers),
    mind: mindOf(recipe),
    byHand: byHandOf(recipe),
    then: {
      newMachine: [{ key: "recipe.then-machine" }, ...afterOf(recipe, `/srv/${recipe.game}.env`, true, answers)],
      compose: [{ key: "recipe.then-compose" }, ...afterOf(recipe, ".env", false, answers)],
      docker: [{ key: "recipe.then-docker" }, ...afterOf(recipe, `${recipe.game}.env`, false, answers)],
      linuxgsm: [{ key: "recipe.then-linuxgsm" }],
    },
  };
}
