// What Home's program sends, as JSDoc types: see internal/home/home.go.

/** @typedef {import("../types.js").Sentence} Sentence */

/**
 * @typedef {object} Row a server, as in reports
 * @property {string} addr the address for questions
 * @property {number} [game_port] the port for players, if that is another one
 * @property {number} [rtt_ms]
 * @property {string} name
 * @property {string} map
 * @property {string} mode
 * @property {number} players
 * @property {number} max_players
 * @property {number} bots
 * @property {boolean} password
 * @property {string} country
 * @property {string} [sort] the name for sorting and searching
 */

/**
 * @typedef {object} Task
 * @property {boolean} running
 * @property {string} [what]
 * @property {string} [game]
 * @property {string[]} lines
 * @property {boolean} [open]
 * @property {Sentence[]} [error] what went wrong, and what to do about it
 * @property {"asking" | "launched" | "declined" | "by-hand" | "failed"} [launch] how the start of the game goes
 */

/** @typedef {{game: string, addr: string, name?: string}} Kept */
/** @typedef {{id: string, name: string, aliases?: string[], by: string, listed: boolean, here: boolean, where?: string, by_whom?: string, tells: boolean, steam?: boolean, silent?: Sentence, dump?: string}} Game dump is the console command of a game that measures its regions itself */
/** @typedef {{id: string, name: string, game: string, organiser: string, players: number, seats: number, open: boolean, via?: Sentence, unknown?: boolean}} Room via says who announces it if not its host, and unknown that nothing binds it to its host */
/** @typedef {{id: number, host?: string, code?: string, taken?: boolean, wrong?: Sentence[]}} Invitation */

/**
 * @typedef {object} State
 * @property {string} version
 * @property {string} name
 * @property {string} [at]
 * @property {string} kept the file of settings
 * @property {string} [launch]
 * @property {Task & {id: number, listed: number, asked: number, answered: number}} find
 * @property {Task & {id: number}} room the ID numbers the rooms
 * @property {Task} go
 * @property {Task & {name?: string, free: number, looks: number, goes: boolean}} watch
 * @property {Task & {line?: string, answered: number}} beacon the task that answers measurements
 * @property {{id: number, of: string, text: string}[]} questions
 * @property {Invitation[]} invitations
 * @property {Room[]} rooms
 * @property {{favourites: Kept[] | null, hidden: Kept[] | null}} servers
 * @property {Sentence[]} [trouble] what Home itself cannot do
 */

export {};
