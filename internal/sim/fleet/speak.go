package fleet

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"muster/discovery"
	"muster/discovery/protocol/a2s"
	"muster/discovery/protocol/ase"
	"muster/discovery/protocol/bedrock"
	"muster/discovery/protocol/doom3"
	"muster/discovery/protocol/gamespy"
	"muster/discovery/protocol/jamulus"
	"muster/discovery/protocol/luanti"
	"muster/discovery/protocol/mindustry"
	"muster/discovery/protocol/mumble"
	"muster/discovery/protocol/odamex"
	"muster/discovery/protocol/quake3"
	"muster/discovery/protocol/quakeworld"
	"muster/discovery/protocol/samp"
	"muster/discovery/protocol/satisfactory"
	"muster/discovery/protocol/sauerbraten"
	"muster/discovery/protocol/sqp"
	"muster/discovery/protocol/teeworlds"
	"muster/discovery/protocol/unreal2"
	"muster/discovery/protocol/zandronum"
)

// Kind is the protocol that a fleet's servers speak.
type Kind string

// These kinds of servers tell their players.
const (
	Quake3  Kind = "quake3"
	A2S     Kind = "a2s"
	GameSpy Kind = "gamespy"
	Unreal  Kind = "unreal"

	GameSpy2 Kind = "gamespy2"
	GameSpy3 Kind = "gamespy3"
	Unreal2  Kind = "unreal2"
	ASE      Kind = "ase"
)

// These kinds of servers know a single question, or two.
const (
	MOHAA        Kind = "mohaa"
	QuakeWorld   Kind = "quakeworld"
	Quake2       Kind = "quake2"
	DDNet        Kind = "ddnet"
	Teeworlds    Kind = "teeworlds"
	Luanti       Kind = "luanti"
	Bedrock      Kind = "bedrock"
	Sauerbraten  Kind = "sauerbraten"
	RedEclipse   Kind = "redeclipse"
	Mumble       Kind = "mumble"
	Mindustry    Kind = "mindustry"
	Doom3        Kind = "doom3"
	SAMP         Kind = "samp"
	SQP          Kind = "sqp"
	Zandronum    Kind = "zandronum"
	VCMP         Kind = "vcmp"
	Jamulus      Kind = "jamulus"
	Odamex       Kind = "odamex"
	Satisfactory Kind = "satisfactory"
)

// small returns the speaker of a small kind, or nil for other kinds.
func (k Kind) small() smallSpeaker {
	switch k {
	case MOHAA:
		return func(s speech) []byte { return quake3.AnswerMOHAA(s.request, *s.info) }
	case QuakeWorld:
		return func(s speech) []byte { return quakeworld.Answer(s.request, *s.info) }
	case Quake2:
		return func(s speech) []byte { return quakeworld.Answer2(s.request, *s.info) }
	case DDNet:
		return func(s speech) []byte { return teeworlds.AnswerDDNet(s.request, *s.info) }
	case Teeworlds:
		return func(s speech) []byte { return teeworlds.Answer(s.request, *s.info, s.token()) }
	case Luanti:
		return func(s speech) []byte { return luanti.Answer(s.request) }
	case Bedrock:
		return func(s speech) []byte { return bedrock.Answer(s.request, *s.info) }
	case Sauerbraten:
		return func(s speech) []byte { return sauerbraten.Answer(s.request, *s.info) }
	case RedEclipse:
		return func(s speech) []byte { return sauerbraten.AnswerRedEclipse(s.request, *s.info) }
	case Mumble:
		return func(s speech) []byte { return mumble.Answer(s.request, *s.info) }
	case Mindustry:
		return func(s speech) []byte { return mindustry.Answer(s.request, *s.info) }
	case Doom3:
		return func(s speech) []byte { return doom3.Answer(s.request, *s.info, s.names()) }
	case SAMP:
		return func(s speech) []byte { return samp.Answer(s.request, *s.info, s.names()) }
	case SQP:
		return func(s speech) []byte { return sqp.Answer(s.request, *s.info, s.token(), 0) }
	case Jamulus:
		return func(s speech) []byte { return jamulus.Answer(s.request, *s.info, s.names()) }
	case Odamex:
		return func(s speech) []byte { return odamex.Answer(s.request, *s.info, s.names()) }
	case Satisfactory:
		return func(s speech) []byte { return satisfactory.Answer(s.request, *s.info) }
	case Zandronum:
		return func(s speech) []byte { return zandronum.Answer(s.request, *s.info) }
	case VCMP:
		return func(s speech) []byte { return samp.AnswerVCMP(s.request, *s.info, s.names()) }
	}
	return nil
}

// known reports whether a fleet's servers can be of the kind.
func (k Kind) known() bool {
	return k == Quake3 || k == A2S || k.named() != nil || k.small() != nil || k.stream() != nil
}

// smallSpeaker answers in one of the small protocols.
type smallSpeaker func(speech) []byte

func (answer smallSpeaker) answer(s speech) [][]byte { return one(answer(s)) }

// Game holds the names of a fleet's game.
type Game struct {
	// Name is the game's name at a master: "Quake3Arena".
	Name string
	// Protocol is the version of the game's protocol: 68, 71.
	Protocol int
	// QueryAbove is how far the query port lies above the players' port, which is listed.
	QueryAbove uint16
	// AppID is the Steam application of servers that have none of their own.
	AppID uint64
	// Version is the version that servers report. Without it Quake III servers report the world's,
	// and A2S servers "1.0.0.0": generated worlds only know Quake III's version.
	Version string
}

// defaultA2SVersion has the form of versions in the Source engine's games.
const defaultA2SVersion = "1.0.0.0"

// defaultMumbleVersion has three numbers, as Mumble's versions do.
const defaultMumbleVersion = "1.3.4"

// sign sets the facts about a server's game.
func (o Options) sign(info *discovery.Info) {
	info.AppID = cmp.Or(info.AppID, o.Game.AppID)
	switch {
	case o.Game.Version != "":
		info.Version = o.Game.Version
	case o.Kind == A2S:
		info.Version = defaultA2SVersion
	case o.Kind == Mumble:
		info.Version = defaultMumbleVersion
	}
}

// speaker is the protocol of a fleet's servers.
type speaker interface {
	// answer returns the datagrams of a reply, or none if the request is not one.
	answer(speech) [][]byte
}

// speech is a request to a server.
type speech struct {
	server  int
	info    *discovery.Info
	from    netip.AddrPort
	request []byte
}

// token returns the token that an asker must echo to a Teeworlds server: a different one for each
// server, address and port, and never the four bytes that stand for none.
func (s speech) token() [4]byte { return a2sSpeaker{}.challenge(s.server, s.from) }

func (s speech) names() (names []string) {
	for c := range castOf(0, s.server, s.info) {
		names = append(names, c.name)
	}
	return names
}

func (o Options) speaker() speaker {
	if o.Kind == A2S {
		return a2sSpeaker{seed: o.World.Seed, open: o.NoChallenge}
	}
	if answer := o.Kind.named(); answer != nil {
		return namedSpeaker{seed: o.World.Seed, to: answer}
	}
	if small := o.Kind.small(); small != nil {
		return small
	}
	if o.Kind.stream() != nil {
		return smallSpeaker(func(speech) []byte { return nil })
	}
	return quake3Speaker{seed: o.World.Seed, protocol: o.Game.Protocol}
}

// quake3Speaker answers like ioquake3.
type quake3Speaker struct {
	seed     uint64
	protocol int
}

// replySize is more than most replies need, in bytes.
const replySize = 512

func (q quake3Speaker) answer(s speech) [][]byte {
	r, err := quake3.ParseRequest(s.request)
	if err != nil {
		return nil
	}
	b := make([]byte, 0, replySize)
	switch r.Command {
	case "getinfo":
		return [][]byte{quake3.AppendInfoResponse(b, *s.info, r.Challenge(), q.protocol)}
	case "getstatus":
		var players []quake3.Player
		for c := range castOf(q.seed, s.server, s.info) {
			players = append(players, quake3.Player{Name: c.name, Score: c.score, Ping: c.ping})
		}
		return [][]byte{quake3.AppendStatusResponse(b, *s.info, players, r.Challenge(), q.protocol)}
	}
	return nil
}

// a2sSpeaker answers like a server of the Source engine.
type a2sSpeaker struct {
	seed uint64
	// open lets servers describe themselves without a challenge.
	open bool
}

// splitSize is how much of a long reply Source servers put into a datagram.
const splitSize = 1248

func (a a2sSpeaker) answer(s speech) [][]byte {
	r, err := a2s.ParseRequest(s.request)
	if err != nil {
		return nil
	}
	b := make([]byte, 0, replySize)
	demand := a.challenge(s.server, s.from)
	if !bytes.Equal(r.Challenge, demand[:]) && (r.Kind != a2s.Info || !a.open) {
		return [][]byte{a2s.AppendChallenge(b, demand)}
	}
	switch r.Kind {
	case a2s.Info:
		b = a2s.AppendInfo(b, *s.info)
	case a2s.Players:
		var players []a2s.Player
		for c := range castOf(a.seed, s.server, s.info) {
			players = append(players, a2s.Player{Name: c.name, Score: int32(c.score), Connected: c.connected})
		}
		b = a2s.AppendPlayers(b, players)
	case a2s.Rules:
		b = a2s.AppendRules(b, rulesOf(s.info))
	}
	return slices.Collect(a2s.SplitSource(b, binary.LittleEndian.Uint32(demand[:]), splitSize))
}

// challenge returns the challenge that an asker must echo: a different one for each server, address
// and port, and never the four bytes that stand for none.
func (a a2sSpeaker) challenge(server int, from netip.AddrPort) [4]byte {
	h := fnv.New64a()
	b := binary.BigEndian.AppendUint64(nil, a.seed)
	b = binary.BigEndian.AppendUint64(b, uint64(server))
	addr := from.Addr().As16()
	b = binary.BigEndian.AppendUint16(append(b, addr[:]...), from.Port())
	_, _ = h.Write(b)
	sum := h.Sum64()
	return [4]byte{byte(sum), byte(sum >> 16), byte(sum >> 32), byte(sum>>48) &^ 0x80}
}

// named returns what servers answer that tell their players' names, or nil for other kinds. They
// tell no port: players connect where the list says.
func (k Kind) named() func(s speech, names []string) [][]byte {
	switch k {
	case GameSpy, Unreal:
		return func(s speech, names []string) [][]byte { return gamespy.Answer(s.request, *s.info, names, 0) }
	case GameSpy2:
		return func(s speech, names []string) [][]byte {
			return one(gamespy.AnswerSecond(s.request, *s.info, names, 0))
		}
	case GameSpy3:
		return func(s speech, names []string) [][]byte {
			return gamespy.AnswerThird(s.request, *s.info, names, 0, s.token())
		}
	case Unreal2:
		return func(s speech, names []string) [][]byte { return unreal2.Answer(s.request, *s.info, names, 0) }
	case ASE:
		return func(s speech, names []string) [][]byte { return one(ase.Answer(s.request, *s.info, names, 0)) }
	}
	return nil
}

// namedSpeaker answers with the names of a server's players.
type namedSpeaker struct {
	seed uint64
	to   func(s speech, names []string) [][]byte
}

func (n namedSpeaker) answer(s speech) [][]byte {
	var names []string
	for c := range castOf(n.seed, s.server, s.info) {
		names = append(names, c.name)
	}
	return n.to(s, names)
}

// one returns a datagram as a reply, or none for nil.
func one(b []byte) [][]byte {
	if b == nil {
		return nil
	}
	return [][]byte{b}
}

// rulesOf returns some of a server's public variables.
func rulesOf(info *discovery.Info) []a2s.Rule {
	password := "0"
	if info.Password {
		password = "1"
	}
	return []a2s.Rule{
		{Name: "deathmatch", Value: "1"}, {Name: "mp_friendlyfire", Value: "0"}, {Name: "mp_timelimit", Value: "20"},
		{Name: "sv_cheats", Value: "0"}, {Name: "sv_gravity", Value: "800"}, {Name: "sv_password", Value: password},
		{Name: "sv_visiblemaxplayers", Value: strconv.Itoa(info.MaxPlayers)},
	}
}

// character is a player on one of a fleet's servers.
type character struct {
	name      string
	score     int
	ping      time.Duration // 0 for a bot
	connected time.Duration
}

// surnames and epithets are the parts of players' names.
var (
	epithets = [...]string{"Quick", "Silent", "Old", "Lucky", "Grim", "Tiny", "Mad", "Calm"}
	surnames = [...]string{"Sarge", "Anarki", "Badger", "Heron", "Magpie", "Otter", "Wren", "Lynx", "Stoat", "Viper"}
)

// These constants limit the characters of texts.
const (
	maxScore     = 40
	shortestPing = 20  // milliseconds
	pingSpread   = 180 // milliseconds
	maxConnected = 2 * time.Hour
)

// castOf returns the players of a server: always the same ones, as many as info has, bots last.
func castOf(seed uint64, server int, info *discovery.Info) iter.Seq[character] {
	return func(yield func(character) bool) {
		rng := rand.New(rand.NewPCG(seed, uint64(server)))
		for i := range info.Players {
			c := character{
				name:      epithets[rng.IntN(len(epithets))] + surnames[rng.IntN(len(surnames))] + strconv.Itoa(i+1),
				score:     rng.IntN(maxScore),
				ping:      time.Duration(shortestPing+rng.IntN(pingSpread)) * time.Millisecond,
				connected: time.Duration(rng.IntN(int(maxConnected/time.Second))) * time.Second,
			}
			if i >= info.Players-info.Bots {
				c.ping = 0
			}
			if !yield(c) {
				return
			}
		}
	}
}
