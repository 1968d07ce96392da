// What the host sends, as JSDoc types: see host/wire/snapshot.go for where it comes from.

/**
 * @typedef {object} Head
 * @property {string} code
 * @property {string} name
 * @property {string} game
 * @property {string} stage
 * @property {string} since
 * @property {string} [began] when the round's measuring began
 * @property {number} round
 * @property {number} players how many the group waits for, 0 for none
 * @property {string} by
 * @property {number[]} limits_ms
 * @property {string} map
 * @property {string} mode
 * @property {number} [prefer_ms] how much worse a server of the group's own may be
 * @property {number} [long_look_ms]
 * @property {string} strategy
 * @property {boolean} [agree] whether people vote; if undecided, they vote once two players have the page open
 * @property {string} [ended] when the session ended
 * @property {boolean} [guests_vote]
 * @property {boolean} locked
 * @property {number} listed
 * @property {number} [most_asked] the most servers that each player's program asks in the round; missing is all
 * @property {number} [own] servers of the organiser's own list
 * @property {string} [said] the age of the list's information about servers that say nothing themselves
 * @property {boolean} [paused]
 * @property {Sentence} [held] what everything waits for while the host cannot save the room
 * @property {string} [retry]
 * @property {"place" | "either"} [seeks] looks for a place for a server, or for a server first
 * @property {Sentence} [outlook] the forecast of a coordinated search
 * @typedef {Head & Record<string, any>} Room with the settings that the form names
 */

/** What players set in a game that has regions instead of servers. @typedef {{name: string, set: string, how: Sentence}} Region */
/** Something to tell people, by its key in the catalogue. @typedef {{key?: string, with?: Record<string, any>}} Sentence */

/**
 * @typedef {object} Field a setting in the form
 * @property {string} key
 * @property {string} type as in PROTOCOL.md; a newer host may have more
 * @property {number} [max] for a time in ms
 * @property {number} [max_length] in letters
 * @property {"ms" | "s" | "min"} [unit] in which people say it
 * @property {string[]} [choices] the values of a choice, the empty one for unset, or the rules
 * @property {string[]} [examples]
 * @property {string} [needs] the setting without which this one means nothing
 * @property {boolean} [rare] few people need it
 * @property {string} [words] begins the keys of its words in the catalogue
 * @property {("opening" | "page" | "whatif")[]} set who may set it
 */

/**
 * @typedef {object} Person
 * @property {string} name
 * @property {number} [arrival] the place in the order of arrival, from 0, for the whole session
 * @property {boolean} [organiser]
 * @property {boolean} [guest] has only a nickname
 * @property {boolean} peer has a program running, or had
 * @property {boolean} [browser] that program is the page, which measures places and starts no game
 * @property {boolean} connected the program
 * @property {boolean} page has the page open
 * @property {number} probed
 * @property {number} answered
 * @property {boolean} [done]
 * @property {boolean} [left_out]
 * @property {Sentence} [doubt]
 * @property {boolean} [able] its machine can start the game
 * @property {Sentence} [unable] why it cannot
 * @property {boolean} [delays] the program can hold the game's packets
 * @property {boolean} [types_password] types a server's password in the game
 * @property {{counted?: boolean, measured?: boolean, error_ms?: number, why?: Sentence}} [estimate] how a person without a program may count in the choice
 * @property {string} [launch]
 * @property {Sentence} [detail]
 * @property {boolean} [ready]
 * @property {boolean} [vetoed]
 * @property {string} [vote]
 * @property {boolean} [no_say] another guest on the same network has its say
 * @property {boolean} [asked] is asked for a vote at a terminal, too
 * @property {string} [version] the player's version of the game
 * @property {string} [country] the player's country
 * @property {boolean} [somewhere] hides it
 * @property {"a" | "b" | ""} [side] of a match
 */

/**
 * @typedef {object} Ranked
 * @property {string} addr
 * @property {number} score
 * @property {number} mean_ms
 * @property {number} max_ms
 * @property {number} stdev_ms
 * @property {{a: number, b: number}} [side_mean_ms] the average pings of two sides that have players
 * @property {Record<string, number>} rtt_ms
 * @property {Record<string, number>} [extra_ms] how far each ping is above the player's own best, if the rule uses that
 * @property {Record<string, number>} [worst_ms] the ping that 95 of 100 packets kept, after a long look
 * @property {boolean} [ours] one of the group's own
 * @property {Record<string, number>} [loss]
 * @property {Record<string, number>} [jitter_ms]
 */

/**
 * @typedef {object} Selection
 * @property {string} by
 * @property {string[]} players
 * @property {{a: string[], b: string[]}} [sides] who is on which side
 * @property {Ranked | null} chosen
 * @property {Ranked[]} ranking
 * @property {Record<string, number>} culled
 * @property {number} [limit_ms]
 * @property {Record<string, number>} [estimated_ms] the players whose pings are estimates, and their usual error
 */

/**
 * @typedef {object} Server
 * @property {string} name
 * @property {string} [map]
 * @property {string} [mode]
 * @property {string} [version] in its own words, or its protocols
 * @property {string} [mod] what players need besides the game
 * @property {string[]} [other_version] players who have another version
 * @property {string[]} [shut_out] those of them whom the server does not let in
 * @property {number} players
 * @property {number} max_players
 * @property {boolean} [password]
 * @property {string} [country]
 * @property {boolean} [as_listed] some of it comes from the list
 */

/**
 * What decided, with the figures that it compares, ms.
 * @typedef {object} Decided
 * @property {"rule" | "quality" | "weights" | "seats" | "kept" | "ours" | "vote"} by
 * @property {string} measure
 * @property {number} ms
 * @property {string} [other]
 * @property {number} [other_ms]
 * @property {number} [score]
 * @property {number} [other_score]
 * @property {number} [votes]
 * @property {number} [of]
 * @property {boolean} [open]
 */

/**
 * @typedef {object} Advice
 * @property {string} action
 * @property {{limit_ms?: number, name?: string, servers?: number}} argument of the action, as it is
 * @property {number} [servers] how many would suit then
 * @property {string} [addr] the best of them
 * @property {number} [seats] how many a wait is for
 * @property {number} [most] how many servers a player's program may then have to ask; missing is the whole list
 */

/**
 * @typedef {object} Choice
 * @property {Selection} selection
 * @property {Decided} [decided] what decided the choice
 * @property {Advice[]} [advice] what the organiser can do
 * @property {{addr: string, limit_ms: number, rtt_ms: Record<string, number>}} [miss] the nearest server over the limit
 * @property {{addr: string, limit_ms: number, rtt_ms: Record<string, number>}} [over] the target, with the pings of players whom the limit leaves out
 * @property {Sentence[]} explain
 * @property {Record<string, Server>} servers
 * @property {string} [player]
 * @property {string} [target]
 */

/**
 * @typedef {object} Agreement
 * @property {boolean} open
 * @property {Sentence} [rule] how votes decide
 * @property {string} [launch_at]
 * @property {string[]} vetoes
 * @property {string[]} ballot
 * @property {number[]} [numbers] the candidates' numbers
 * @property {Option[]} [choices] the candidates that differ, in an order that stays
 */

/**
 * @typedef {object} Option a choice that people have seen
 * @property {string} addr
 * @property {string} kind what it is the best in
 * @property {number} [gain_ms] the figure that the kind is named after
 * @property {number} [players] how many have their own best ping there
 * @property {string} [payer] the player who pays most for it
 * @property {number} [cost_ms] how much
 * @property {boolean} [gone] it is no candidate any more
 * @property {string} [name] its name, if it is gone
 * @property {string} [by] who has vetoed it
 */

/**
 * @typedef {object} Played
 * @property {number} round
 * @property {string} at
 * @property {string} game
 * @property {string} server
 * @property {string} connect
 * @property {string} [map]
 * @property {string} by
 * @property {number} mean_ms
 * @property {number} max_ms
 * @property {string[]} players
 * @property {string} [country]
 * @property {Record<string, number>} [rtt_ms] the pings that players measured there
 * @property {string[]} [voted] who voted in the round
 * @property {boolean} [place] it has found a place: connect is nobody's address
 */

/** @typedef {{country?: string, listed: number, answered?: number, open?: number}} Place how many servers a country has, how many of them answered, and how many of those could still win */

/**
 * @typedef {object} LeaderOf
 * @property {number} id
 * @property {boolean} complete all have measured it
 * @property {number} mean_ms
 * @property {number} max_ms
 * @property {number} stdev_ms
 * @property {number} figure_ms the rule's figure
 * @property {number} [extra_ms] how far anybody's ping is above their own best at most, if the rule uses that
 * @property {Record<string, number>} rtt_ms
 * @property {Record<string, number>} [predicted_ms] the expected pings of players who have not measured it
 * @typedef {Server & LeaderOf} Leader one of the best servers so far
 */

/** @typedef {{at: string, name: string, country?: string, lat?: number, lon?: number, offers?: {provider: string, region?: string}[], home?: boolean}} Candidate a candidate place; at stands for a server's address, and home is the computer of a player */

/** @typedef {{candidates: Candidate[], machines: number, providers: {name: string, n: number}[], people: Record<string, {asked: number, answered: number, done?: boolean, browser?: boolean}>}} Places machines see the address of whoever measures; people are the players */

/** @typedef {{round: number, leaders: Leader[], answered: number, places: Place[] | null}} Standing the leading servers, and where all servers are */

/**
 * @typedef {{addr: string, name?: string, by?: string[]}} Brought a server that people have brought
 * @typedef {{sent: number, rtt_ms: number, loss: number, jitter_ms: number, worst_ms: number}} Line what a long look shows of a player's connection
 * @typedef {{until: string, finalists: {addr: string, name?: string, lines: Record<string, Line>}[]}} LongLook
 * @typedef {object} SeatsOf
 * @property {string} addr
 * @property {number} mean_ms
 * @property {number} max_ms
 * @property {Record<string, number> | null} rtt_ms
 * @property {number} free -1 if that is not known
 * @property {string} [at] when that was seen
 * @property {string} [next] when somebody looks again
 * @property {boolean} [checks] one player has seen seats, and another checks that
 * @property {number} asked by all together
 * @property {number} most the most seats that were free at once
 * @property {number} from with to: the usual range
 * @property {number} to
 * @property {Sentence} [dropped] why it is not watched any more
 * @typedef {Server & SeatsOf} SeatsOn
 */

/**
 * @typedef {object} Seats a wait for seats
 * @property {number} need
 * @property {string[]} [for] the players who are left outside
 * @property {string} began
 * @property {string} until
 * @property {SeatsOn[]} servers
 * @property {SeatsOn[]} [instead]
 * @property {string} [by] the player who looks now
 * @property {string} [target]
 * @property {string} [launch_at]
 * @property {Sentence} [news]
 * @property {Sentence} [over] why the wait ended
 * @property {Sentence} [chance] what was seen
 */

/**
 * @typedef {object} State the newest state of everything
 * @property {number} now the host's clock when it spoke last, ms
 * @property {number} heard our clock at that time, ms
 * @property {string} waits why there is no news of the room, for people; empty while there is
 * @property {{name?: string, organiser?: boolean, guest?: boolean, link: string, join: string, outside?: string, password?: string}} you the password is the game server's, once the room goes there
 * @property {Room} room
 * @property {{name: string, since_ms: number, left_ms?: number, turn?: number}} phase
 * @property {{id: string, name: string, silence?: Sentence}[] | null} games silence is why its servers answer nobody
 * @property {Person[]} people
 * @property {({at: string} & Sentence)[]} log
 * @property {Choice | null} choice
 * @property {Choice | null} whatif
 * @property {Agreement} agreement
 * @property {{connect: string, query_port?: number, server: string, link?: string, typed?: {where: string, texts: string[]}, delay?: {command: string, most_ms: number, program?: string}, transfer?: string, region?: Region, place?: Candidate} | null} way
 * @property {Played[] | null} evening
 * @property {Standing | null} standing
 * @property {Places | null} [places] of a round that looks for a place
 * @property {Meeting | null} [meeting] of a standing room
 * @property {{favourites: Brought[], hidden: Brought[]}} lists the servers that people have brought
 * @property {LongLook | null} [look] the progress of a long look
 * @property {Seats | null} seats
 * @property {Moving | null} [moving] what becomes of people since the launch
 * @property {Reaction[]} [reactions]
 * @property {Match | null} [match] if two sides play against each other
 * @property {Record<string, number> | null} [own] in a match, the reader's own pings by server, ms
 */

/**
 * @typedef {object} Comer somebody who may come
 * @property {string} name
 * @property {number} [arrival]
 * @property {boolean} [comes] to the next date; missing if the person has not said
 * @property {boolean} [here]
 * @property {boolean} [played] in the last session
 * @property {boolean} [liked]
 */

/**
 * @typedef {object} Camp one side of a match
 * @property {"a" | "b"} side
 * @property {string} name empty if nobody has said it
 * @property {string} [captain]
 * @property {string[]} players
 * @property {boolean} [asks] has asked for a long look
 */

/**
 * @typedef {object} Turn the move that the room waits for
 * @property {number} number among all moves
 * @property {"ban" | "pick" | "object"} kind
 * @property {"server" | "map"} of
 * @property {"a" | "b" | ""} side empty if both may move, or the organiser
 * @property {string} captain
 * @property {string[]} [captains] those who may move, if both may
 * @property {boolean} [blind] neither sees the other's move
 * @property {boolean} [admin] the organiser moves
 * @property {string} [delay] who may ask for a delay in place of another server
 * @property {number} nth
 * @property {number} total
 * @property {string} until
 */

/** @typedef {{number: number, kind: "ban" | "pick" | "object" | "delay" | "accept", of: "server" | "map", side: "a" | "b" | "", by?: string, what: string, at: string}} Move by is missing if the clock ran out */
/** @typedef {Server & {addr: string, means_ms: [number, number], gone?: number}} MatchServer means_ms are the sides' averages, 0 if unknown; gone is the number of the move that banned it */
/** @typedef {{name: string, gone?: number, picked?: number}} MatchMap */

/**
 * @typedef {object} Match
 * @property {number} best_of
 * @property {[Camp, Camp]} camps
 * @property {Turn} [turn]
 * @property {Move[]} moves
 * @property {MatchServer[]} servers
 * @property {MatchMap[]} maps
 * @property {boolean} [decided]
 * @property {string} [server]
 * @property {string[]} [play] the maps in the order in which they are played
 * @property {{name: string, connect: string, map?: string}[]} [venues] the maps' servers, if a law has them on two
 * @property {{league: string, says: string[], said?: Sentence[], minping_ms?: number}} [law] the league's law
 * @property {Record<string, {sides_ms: number, all_ms: number}>} [even] by player, the delays that would make pings even
 * @property {{agreed?: string[], added_ms?: Record<string, number>, ended?: string}} [evened] what captains agreed to about them, and the delays of players' programs
 */

/** @typedef {{name: string, sign: string, at: string}} Reaction a sign that a person sent in the last two seconds */
/** @typedef {{at: string, server: string, country?: string, map?: string, mean_ms: number}} Last where a room played last */
/** @typedef {{proposal?: {why: Sentence, addr: string, at: string, asked: string[], answers: Record<string, "after-map" | "no">, tells_map?: boolean}, places: {way: NonNullable<State["way"]>, players: string[]}[]}} Moving a proposal to move on, and the servers where people are */
/** @typedef {{next?: string, quorum?: number, pledged?: number, who: Comer[], evenings: number, last?: Last}} Meeting */
/** @typedef {{at: string, server: string, connect: string, map?: string, mean_ms: number, players: {name: string, ping_ms?: number, liked?: boolean}[]}} Stay */
/** @typedef {{began: string, ended?: string, stays: Stay[]}} Evening */

export {};
