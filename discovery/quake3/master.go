package quake3

import "strconv"

// MasterQuery is what a client asks of a master.
//
//	"getservers"    [SP game] SP protocol *(SP filter)
//	"getserversExt"  SP game  SP protocol *(SP filter)
//
// Masters send nobody but the servers that are neither empty nor full unless
// the filters empty and full ask for these too. (dpmaster, doc/techinfo.txt)
type MasterQuery struct {
	// Game is the game's name, one word. DarkPlaces' games and every extended
	// query need one; Quake III Arena's masters want none in a plain query.
	Game string
	// Protocol is the version that the listed servers speak: 68, 71, 3.
	Protocol int
	// Extended asks for IPv6 servers too, where the master knows the query.
	Extended bool
	// IPv4 and IPv6 choose the families in an extended query; neither is both.
	IPv4, IPv6 bool
	// Empty and Full ask for servers without players and without free seats.
	Empty, Full bool
}

// AppendMasterQuery appends the datagram that asks a master for its list.
func AppendMasterQuery(b []byte, q MasterQuery) []byte {
	b = append(b, oob+"getservers"...)
	if q.Extended {
		b = append(b, "Ext"...)
	}
	if q.Game != "" {
		b = append(b, ' ')
		b = append(b, q.Game...)
	}
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(q.Protocol), 10)
	for _, f := range q.filters() {
		if *f.set {
			b = append(b, ' ')
			b = append(b, f.word...)
		}
	}
	return b
}

// ParseMasterQuery reads a client's query as dpmaster does: a plain query may
// leave out the game, and unknown filters are passed over.
func ParseMasterQuery(b []byte) (MasterQuery, error) {
	r, err := ParseRequest(b)
	if err != nil {
		return MasterQuery{}, err
	}
	q := MasterQuery{Extended: r.Command == "getserversExt"}
	if !q.Extended && r.Command != "getservers" {
		return MasterQuery{}, malformed("%s is not for masters", r.Command)
	}
	args := r.Args
	if len(args) > 0 && (q.Extended || !isProtocol(args[0])) {
		q.Game, args = args[0], args[1:]
	}
	if len(args) == 0 || !isProtocol(args[0]) {
		return MasterQuery{}, malformed("a query without protocol number")
	}
	q.Protocol, _ = strconv.Atoi(args[0])
	for _, word := range args[1:] {
		q.apply(word)
	}
	return q, nil
}

func (q *MasterQuery) apply(word string) {
	for _, f := range q.filters() {
		if f.word == word {
			*f.set = true
		}
	}
}

type filter struct {
	word string
	set  *bool
}

// filters are the words that may follow the protocol, in dpmaster's order. Only
// an extended query chooses address families.
func (q *MasterQuery) filters() []filter {
	fs := []filter{{"empty", &q.Empty}, {"full", &q.Full}}
	if q.Extended {
		fs = append([]filter{{"ipv4", &q.IPv4}, {"ipv6", &q.IPv6}}, fs...)
	}
	return fs
}

// isProtocol distinguishes a protocol number from the name of a game.
func isProtocol(word string) bool {
	n, err := strconv.ParseUint(word, 10, 31)
	return err == nil && strconv.FormatUint(n, 10) == word
}
