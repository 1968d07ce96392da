#!/usr/bin/env node
// A player for Muster in one file: it joins a room, measures servers, votes, and says where to play. It needs nothing
// but Node 22, and follows the chapter "A minimal player" of PROTOCOL.md, which says what each part is for.
//
//     node player.mjs 'http://192.0.2.1:7777/#BAKODI_Q3KXOJ2VBBKZ6BPC' nora token.txt
//
// The file keeps the token, the proof that the seat is nora's: a program that starts again gets the seat back.
// The player asks servers as Quake III's and as Steam's are asked. It starts no game: a program around it reads its
// output, a line of JSON for each event, and acts on "launch". "heard" says that this very address has answered the
// player; ask the person before a game goes anywhere else.
//
// Left out, and what that costs: TLS by fingerprint (rooms of public hosts and local networks only), IPv6 servers
// and those that are listed by name (they are not chosen for this player), the servers of the player's own network, candidate places, and the results
// that the host still has after the program starts again (it asks those servers once more).
import dgram from 'node:dgram'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { inflateRawSync } from 'node:zlib'

const [link, name = 'nora', tokenFile] = process.argv.slice(2)
const [, code, key] = new URL(link).hash.match(/^#([^_~.]*)(?:_([^~.]+))?/)
const token = tokenFile && existsSync(tokenFile) ? readFileSync(tokenFile, 'utf8')
  : [...randomBytes(26)].map(b => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[b % 32]).join('')
if (tokenFile) writeFileSync(tokenFile, token, { mode: 0o600 })

const print = (event, more) => console.log(JSON.stringify({ event, ...more }))
const sleep = ms => new Promise(resolve => setTimeout(resolve, ms))

// ---- How game servers are asked: the question, and what an answer says. -------------------------------------------

const latin = text => Buffer.from(text, 'latin1')
const protocols = {
  quake3: {
    question: (_, sample) => latin(`\xff\xff\xff\xffgetinfo ${sample}`),
    read(answer, sample) {
      const [head, line = ''] = answer.toString('latin1').split('\n'), words = line.split('\\').slice(1), facts = {}
      for (let i = 0; i + 1 < words.length; i += 2) facts[words[i]] = words[i + 1]
      if (head !== '\xff\xff\xff\xffinfoResponse' || facts.challenge !== String(sample)) return {}
      const name = (facts.hostname ?? '').replace(/\^(x[0-9a-f]{3}|[^^])/gi, '') // without colours
      return { info: { name, map: facts.mapname ?? '', mode: facts.gametype ?? '', players: +facts.clients || 0,
        max_players: +facts.sv_maxclients || 0, password: (facts.g_needpass ?? facts.password) > 0 } }
    },
  },
  a2s: {
    question: challenge => Buffer.concat([latin('\xff\xff\xff\xffTSource Engine Query\0'), challenge ?? latin('')]),
    read(answer) {
      if (answer[4] === 0x41) return { challenge: answer.subarray(5, 9) } // send the question again with this behind it
      if (answer[4] !== 0x49) return {}
      const texts = [] // name, map, folder and game
      let at = 6
      for (let end; texts.length < 4 && (end = answer.indexOf(0, at)) > 0; at = end + 1) texts.push(answer.toString('utf8', at, end))
      if (answer.length < at + 8) return {}
      return { info: { name: texts[0], map: texts[1], mode: texts[2], players: answer[at + 2], max_players: answer[at + 3],
        bots: answer[at + 4], password: answer[at + 7] > 0 } }
    },
  },
}
const likeQuake3 = ['openarena', 'quake3', 'urbanterror', 'xonotic'] // the rest of Muster's table: muster games --json

// probe asks a server up to so many times, so far apart, and fills in the result. With first it stops at an answer.
function probe(server, game, result, { samples, every, first }) {
  const protocol = protocols[likeQuake3.includes(game) ? 'quake3' : 'a2s']
  Object.assign(result, { state: 'lost', rtts_ms: [], sent: 0 })
  return new Promise(resolve => {
    const socket = dgram.createSocket('udp4')
    let timer, at, counts
    const end = () => { clearTimeout(timer); socket.close(); resolve(result) }
    const send = () => { at = performance.now(); socket.send(protocol.question(server.challenge, result.sent)) }
    const sample = () => {
      if (result.sent === samples) return end()
      result.sent++
      counts = true
      send()
      timer = setTimeout(sample, every)
    }
    socket.on('error', () => { if (result.state === 'lost') result.state = 'refused'; end() }) // ICMP: nobody listens
    socket.on('message', message => {
      const { challenge, info } = protocol.read(message, result.sent)
      if (!challenge && !info) return
      if (counts) result.rtts_ms.push(performance.now() - at)
      counts = false
      result.state = 'answered'
      if (challenge) server.challenge = challenge
      if (challenge && !result.info) return send()
      result.info = info ?? result.info
      if (first) end()
    })
    socket.connect(server.port, server.host, sample)
  })
}

// ---- Binary frames. -----------------------------------------------------------------------------------------------

function varint(n) {
  const bytes = []
  for (; n > 127; n = Math.floor(n / 128)) bytes.push(n % 128 + 128)
  return [...bytes, n]
}
const zigzag = n => (n < 0 ? -2 * n - 1 : 2 * n)

// readList returns the round and the servers of a list, null for those that this player cannot ask.
function readList(frame) {
  let at = 1, round = 0
  for (let shift = 1, byte = 128; byte > 127; shift *= 128) round += ((byte = frame[at++]) & 127) * shift
  const records = inflateRawSync(frame.subarray(at)), servers = []
  for (let i = 0; i < records.length; i += 6) {
    const port = records.readUInt16BE(i + 4)
    if (port) servers.push({ host: records.subarray(i, i + 4).join('.'), port })
    else if (records.readUInt32BE(i) === 0xff000006) i += 18, servers.push(null) // an IPv6 server
    else if (records[i] === 255 && records.readUInt16BE(i + 2) === 7) i += 6 * records[i + 1], servers.push(null) // one by name
  }
  return { round, servers }
}

function report(round, first, now, probes) {
  const bytes = [2, round, first, now, probes.length].flatMap(varint)
  let time = 0, server = 0, tenths = 0 // each number is the difference to the one before
  for (const p of probes) {
    const code = ['lost', 'refused', 'forbidden'].indexOf(p.state)
    bytes.push(...varint((p.at - time) * 3), ...varint(zigzag(p.server - server)))
    bytes.push(...varint(code < 0 ? 3 + zigzag(p.tenths - tenths) : code))
    time = p.at, server = p.server, tenths = code < 0 ? p.tenths : tenths
  }
  return Uint8Array.from(bytes)
}

// infos writes what servers say of themselves.
function infos(round, probes) {
  const bytes = [3, round, probes.length].flatMap(varint), texts = []
  const text = s => {
    if (texts.includes(s)) return varint(texts.indexOf(s) + 1)
    texts.push(s)
    return [0, ...varint(Buffer.byteLength(s)), ...Buffer.from(s)]
  }
  let server = 0
  for (const { server: number, info } of probes) {
    bytes.push(...varint(zigzag(number - server)), info.password ? 1 : 0, ...varint(info.players), ...varint(info.max_players))
    bytes.push(...text(info.map), ...text(info.mode))
    server = number
  }
  return Uint8Array.from(bytes)
}

// ---- The room. ----------------------------------------------------------------------------------------------------

let socket, isIn = false, pause = 250, epoch = 0, me, isLeftOut = false, voted = 0, launched
let state = {}, listed = {}, round = newRound(0, '', [])
function say(message) {
  if (socket.readyState === WebSocket.OPEN) socket.send(message instanceof Uint8Array ? message : JSON.stringify(message))
}
const forbidden = server => ({ server, state: 'forbidden', rtts_ms: [], sent: 0 }) // not asked

function newRound(number, game, servers) {
  return { number, game, servers, began: performance.now(), todo: [], asked: new Set(), running: 0, probes: [], said: 0, looks: {} }
}

// work asks the next servers, 16 at a time.
function work(now) {
  while (now === round && now.running < 16 && now.todo.length) {
    const number = now.todo.shift(), server = now.servers[number], result = forbidden(number)
    if (now.asked.has(number)) continue
    now.asked.add(number)
    now.running++
    const asking = server && probe(server, now.game, result, { samples: 3, every: 1000, first: true })
    Promise.resolve(asking).then(() => {
      now.running--
      now.probes.push({ ...result, tenths: Math.round((result.rtts_ms[0] ?? 0) * 10), at: clock(now) })
      work(now)
    })
  }
}
const addressOf = server => `${server.host}:${server.port}`
const clock = now => Math.floor(performance.now() - now.began)

// Four times a second the player says what is new: first what servers say of themselves, then the results.
setInterval(() => {
  const fresh = isIn ? round.probes.slice(round.said) : [], told = fresh.filter(p => p.info)
  if (told.length) say(infos(round.number, told))
  if (fresh.length) say(report(round.number, round.said, clock(round), fresh))
  round.said += fresh.length
  if (!isIn || !round.own || round.done || round.todo.length || round.running) return
  round.done = true
  say({ type: 'done', round: round.number })
}, 250)

async function look(order) {
  const servers = order.servers.map(forbidden), every = Math.max(1000, order.every_ms ?? 0), samples = order.samples
  const verified = more => ({ type: 'verified', round: order.round, attempt: order.attempt, servers, more })
  await sleep(order.after_ms ?? 0)
  const soFar = samples > 5 && setInterval(() => say(verified(true)), every)
  await Promise.all(servers.map(one => {
    const server = round.servers[one.server]
    return server && probe(server, order.game, one, { samples, every })
  }))
  clearInterval(soFar)
  return verified()
}

const hear = {
  welcome(m) {
    if ((m.epoch ?? 0) < epoch) return socket.close() // from a host that no longer has the room
    print('welcome', { name: m.name })
    if (isIn) say({ type: 'again' }) // another host has the room: it hears everything from here on
    isIn = true, pause = 250, epoch = m.epoch ?? 0, me = m.name
    round.said = 0, round.done = false
  },
  room(m) {
    Object.assign(state, m) // each section replaces the one before
    const out = state.people?.find(person => person.name === me)?.left_out ?? false
    if (out !== isLeftOut) print('left_out', { is: isLeftOut = out })
    if (!state.agreement?.open || voted === state.room.round || !state.agreement.ballot.length) return
    voted = state.room.round
    print('vote', { addr: state.agreement.ballot[0] })
    say({ type: 'say', round: voted, what: 'vote', addr: state.agreement.ballot[0] })
    say({ type: 'say', round: voted, what: 'ready' })
  },
  measure(m) {
    if (m.round !== round.number) {
      const servers = listed.round === m.round ? listed.servers : []
      round = newRound(m.round, m.game, servers)
      if (m.strategy !== 'coordinated') round.todo = [...servers.keys()].sort(() => Math.random() - 0.5).slice(0, m.most || servers.length)
      print('measure', { round: m.round, servers: servers.length, strategy: m.strategy })
    }
    round.own = m.strategy !== 'coordinated'
    work(round)
  },
  ask(m) { if (m.round === round.number) round.todo.unshift(...m.servers ?? []), work(round) },
  look(m) { say({ type: 'near', game: m.game, servers: [] }) },
  survey(m) { say({ type: 'surveyed', attempt: m.attempt, places: m.places.map((_, number) => forbidden(number)) }) },
  async finalists(m) {
    if (m.round !== round.number || !m.servers?.length) return
    const asked = `${m.attempt}: ${m.servers}` // the room's next host may give the number to another look
    if (!round.looks[asked]) print('look', { servers: m.servers.length, samples: m.samples })
    say(await (round.looks[asked] ??= look(m)))
  },
  launch(m) {
    if ((m.epoch ?? 0) < epoch) return
    round.todo = []
    const isNew = launched?.round !== m.round || (m.again ?? 0) > launched.again
    const isHeard = round.probes.some(p => p.state === 'answered' && m.address === addressOf(round.servers[p.server]))
    if (isNew) print('launch', { round: m.round, address: m.address, password: m.password, heard: isHeard })
    if (isNew) launched = { round: m.round, again: m.again ?? 0 }
    say({ type: 'launched', round: m.round, state: 'launched' })
  },
  wait: m => print('wait', { message: m.message }),
  answer: m => print('answer', { message: m.message }),
  refused(m) {
    print('refused', { reason: m.reason, message: m.message })
    if (!['limited', 'busy', 'moved'].includes(m.reason)) process.exit(m.reason === 'ended' ? 0 : 1)
  },
}

;(function connect() {
  socket = new WebSocket(new URL('/peer', link.replace(/^http/, 'ws')))
  socket.binaryType = 'arraybuffer'
  socket.onopen = () => say({ type: 'hello', version: 2, code, key, name, token, asks: true })
  socket.onmessage = ({ data }) => {
    if (typeof data === 'string') return hear[JSON.parse(data).type]?.(JSON.parse(data))
    if (new Uint8Array(data)[0] === 1) listed = readList(Buffer.from(data))
  }
  socket.onclose = () => { isIn = false; setTimeout(connect, pause); pause = Math.min(5000, 2 * pause) }
})()
