package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"muster/discovery"
	"muster/internal/game"
)

// recording is what a server said, and the facts that the recorder reads from it.
type recording struct {
	repository, name string
	// kind is the protocol's name at the recorder. protocol is its name in the table of games,
	// empty if Muster does not know the protocol.
	kind, protocol string
	datagrams      [][]byte
	want           facts
	// refused reports that the recorder expects an error.
	refused bool
}

// fact names something that a server says about itself.
type fact string

const (
	name     fact = "name"
	level    fact = "map"
	players  fact = "players"
	seats    fact = "seats"
	bots     fact = "bots"
	version  fact = "version"
	password fact = "password"
	// listed is how many players the server names.
	listed fact = "listed"
)

// allFacts are the facts in the order of the report.
var allFacts = []fact{name, level, players, seats, bots, version, password, listed}

// facts are known facts, as text.
type facts map[fact]string

// result is a recording as a codec reads it.
type result struct {
	recording
	got facts
	err error
	// foreign are other protocols whose codecs take a datagram for an answer.
	foreign []string
}

// outcome is how a codec fares with a recording.
type outcome int

const (
	right outcome = iota
	// explained is a recording that differs for reasons in [differences].
	explained
	wrong
	// unread is a recording in a protocol that Muster does not know, or of an answer to
	// another question than Muster's.
	unread
)

func (r result) outcome() outcome {
	switch {
	case r.protocol == "":
		return unread
	case r.refused != (r.err != nil):
		if r.reason("") != "" {
			return unread
		}
		return wrong
	}
	all := right
	for _, f := range r.differing() {
		if r.reason(f) == "" {
			return wrong
		}
		all = explained
	}
	return all
}

// reason returns why a fact differs, or nothing.
func (r result) reason(f fact) string { return differences[r.repository+"/"+r.name][f] }

// differing returns the facts that the codec reads otherwise than the recorder.
func (r result) differing() (differing []fact) {
	if r.err != nil || r.refused {
		return nil
	}
	for _, f := range allFacts {
		if want, known := r.want[f]; known && !same(want, r.got[f]) {
			differing = append(differing, f)
		}
	}
	return differing
}

// kin are the protocols whose servers answer in the same form. Any answer is one over tcp.
var kin = map[string]string{"unreal": "gamespy", "mohaa": "quake3"}

// takers returns the other protocols whose codecs take one of the datagrams for an answer.
func (r recording) takers() (names []string) {
	for _, name := range game.Protocols() {
		if name == r.protocol || name == "tcp" || kin[name] != "" {
			continue
		}
		if _, err := parse(game.Game{ProtocolName: name}.Protocol(), r.datagrams); err == nil {
			names = append(names, name)
		}
	}
	return names
}

// decode reads a recording with its protocol's codec.
func decode(r recording) result {
	decoded := r.decode()
	decoded.foreign = decoded.takers()
	return decoded
}

func (r recording) decode() result {
	protocol := game.Game{ProtocolName: r.protocol}.Protocol()
	if protocol == nil {
		r.protocol = ""
		return result{recording: r}
	}
	if r.protocol == "quake3" {
		r.datagrams = withNonce(r.datagrams)
	}
	got := facts{}
	info, err := parse(protocol, r.datagrams)
	if err == nil {
		got = facts{
			name: info.Name, level: info.Map, version: info.Version,
			players: strconv.Itoa(info.Players), seats: strconv.Itoa(info.MaxPlayers), bots: strconv.Itoa(info.Bots),
			password: strconv.FormatBool(info.Password),
		}
	}
	if roll, ok := protocol.(discovery.Roll); ok {
		if info, other := parse(roll.Roll(), r.datagrams); other == nil && info.Roster != nil {
			n := 0
			for _, p := range info.Roster.Players {
				if p.Name != "" {
					n++
				}
			}
			got[listed] = strconv.Itoa(n)
			if len(r.want) == 1 && r.want[listed] != "" {
				err = nil // a recording of the list alone
			}
		}
	}
	return result{recording: r, got: got, err: err}
}

// parse gives a codec the datagrams. A recording also has answers to other questions,
// which a codec never gets in use. If it refuses them all together, it gets each datagram
// alone; of a connection it gets the bytes from each datagram on.
func parse(protocol discovery.Protocol, datagrams [][]byte) (*discovery.Info, error) {
	_, isStream := protocol.(discovery.Stream)
	reply, err := protocol.Parse(datagrams)
	for i := 0; reply.Info == nil && i < len(datagrams); i++ {
		part := datagrams[i:]
		if !isStream {
			part = part[:1]
		}
		reply, _ = protocol.Parse(part)
	}
	if reply.Info == nil {
		return nil, cmp.Or(err, fmt.Errorf("no information in %d datagrams", len(datagrams)))
	}
	return reply.Info, nil
}

// withNonce returns Quake 3's answers as they would be to Muster's question: it has a
// nonce, which the server returns.
func withNonce(datagrams [][]byte) [][]byte {
	var answers [][]byte
	for _, d := range datagrams {
		if head, rest, found := bytes.Cut(d, []byte("Response\n")); found {
			d = slices.Concat(head, []byte(`Response`+"\n"+`\challenge\0000000000000001`), []byte(`\`), bytes.TrimPrefix(rest, []byte(`\`)))
		}
		answers = append(answers, d)
	}
	return answers
}

// same reports whether two texts say the same fact. Recorders keep control characters and
// colours.
func same(want, got string) bool {
	return discovery.CleanText(want) == got || plain(want) == plain(got)
}

// plain returns a text without colours: Quake's ^1, Minecraft's §1 and Unreal's ESC with
// three letters.
func plain(text string) string {
	var kept []rune
	letters := []rune(text)
	for i := 0; i < len(letters); i++ {
		switch letters[i] {
		case '^', '§':
			i++
		case '\x1b':
			i += 3
		default:
			kept = append(kept, letters[i])
		}
	}
	return discovery.CleanText(string(kept))
}

// row is a line of the table.
type row struct {
	repository, kind string
	counts           [unread + 1]int
	facts            int
}

// report writes a table with a row for each protocol of each repository, and the
// differences.
func report(w io.Writer, results []result) {
	var rows []*row
	sum := &row{repository: "all"}
	for _, r := range results {
		i := slices.IndexFunc(rows, func(row *row) bool { return row.repository == r.repository && row.kind == r.kind })
		if i < 0 {
			i = len(rows)
			rows = append(rows, &row{repository: r.repository, kind: r.kind})
		}
		for _, row := range []*row{rows[i], sum} {
			row.counts[r.outcome()]++
			if r.err == nil && r.got != nil {
				row.facts += len(r.want)
			}
		}
	}
	table := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprintln(table, "| repository\t| protocol\t| right\t| explained\t| wrong\t| unread\t| facts\t|")
	fmt.Fprintln(table, "|---\t|---\t|---\t|---\t|---\t|---\t|---\t|")
	for _, row := range append(rows, sum) {
		fmt.Fprintf(table, "| %s\t| %s", row.repository, row.kind)
		for _, n := range row.counts {
			fmt.Fprintf(table, "\t| %d", n)
		}
		fmt.Fprintf(table, "\t| %d\t|\n", row.facts)
	}
	table.Flush()
	for _, r := range results {
		explain(w, r)
	}
	taken := 0
	for _, r := range results {
		if len(r.foreign) > 0 {
			taken++
			fmt.Fprintf(w, "%s %s: %s takes it for an answer, too\n", r.repository, r.name, strings.Join(r.foreign, ", "))
		}
	}
	fmt.Fprintf(w, "%d of %d recordings pass for answers in another protocol\n", taken, len(results))
}

// explain writes how a codec reads a recording otherwise than the recorder.
func explain(w io.Writer, r result) {
	const unknown = "not explained"
	if r.protocol != "" && r.refused != (r.err != nil) {
		fmt.Fprintf(w, "%s %s: refused %t, want %t: %v; %s\n",
			r.repository, r.name, r.err != nil, r.refused, r.err, cmp.Or(r.reason(""), unknown))
	}
	for _, f := range r.differing() {
		fmt.Fprintf(w, "%s %s: %s %q, want %q; %s\n", r.repository, r.name, f, r.got[f], r.want[f], cmp.Or(r.reason(f), unknown))
	}
}

// truth returns a password's flag as text.
func truth(text string) string {
	switch strings.ToLower(text) {
	case "", "0", "false", "public":
		return "false"
	}
	return "true"
}
