package host_test

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host"
	"muster/host/wire"
	"muster/internal/clock/clocktest"
)

var update = flag.Bool("update", false, "write the recorded conversations anew")

// TestRecordedConversations holds a player's conversations with a host on loopback, and compares them
// with those of docs/protocol. Authors of other players read them beside PROTOCOL.md.
func TestRecordedConversations(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		file string
		hold func(*recording)
	}{
		{"round.md", recordRound},
		{"whole-list.md", recordWholeList},
		{"vote.md", recordVote},
		{"back.md", recordBack},
		{"refused.md", recordRefusals},
	} {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			r := &recording{T: t, hasList: tt.file != "round.md", clock: clocktest.Hold(time.Now())}
			tt.hold(r)
			file := filepath.Join("../docs/protocol", tt.file)
			if *update {
				if err := os.WriteFile(file, []byte(r.text.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.text.String(); inflated(t, got) != inflated(t, string(want)) {
				t.Errorf("%s is not what is said today (go test ./host -run RecordedConversations -update):\n%s", file, got)
			}
		})
	}
}

// deflatedLine is a line of a recording with a list's packed bytes.
var deflatedLine = regexp.MustCompile(`(?m)^ +([0-9a-f]+) +deflated; .*$`)

// inflated returns a recording with the contents of its lists, because another release of flate may
// pack them in other bytes.
func inflated(t *testing.T, text string) string {
	return deflatedLine.ReplaceAllStringFunc(text, func(line string) string {
		packed, _ := hex.DecodeString(deflatedLine.FindStringSubmatch(line)[1])
		plain, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
		if err != nil {
			t.Errorf("%q does not inflate: %v", line, err)
		}
		return hex.EncodeToString(plain)
	})
}

// recording is a conversation as text: prose, and the messages both ways.
type recording struct {
	*testing.T
	text strings.Builder
	// names are the random words of this run, each with the word that the text has for it.
	names  []string
	clock  *clocktest.Held // so that a slow machine is not late
	server *httptest.Server
	ws     *websocket.Conn
	// hasList says that a list need not be shown any more.
	hasList bool
}

// recordedToken is the token of the player.
const recordedToken = "DFZ3G5NDNZ5DN3RNLGQXYJ2MYT"

// recordedList has what lists have: neighbours that share their markers, and an IPv6 server.
func recordedList(context.Context, string) ([]discovery.Server, error) {
	return []discovery.Server{
		{Addr: netip.MustParseAddrPort("192.0.2.7:27960"), Country: "DE", ASN: 3320},
		{Addr: netip.MustParseAddrPort("192.0.2.8:27960"), Country: "DE", ASN: 3320},
		{Addr: netip.MustParseAddrPort("198.51.100.4:27961"), Country: "NL"},
		{Addr: netip.MustParseAddrPort("[2001:db8::9]:27960"), Country: "NL"},
	}, nil
}

// opens opens a room, and returns its code and the organiser's secret.
func (r *recording) opens(settings wire.Settings) (code, secret string) {
	var h *host.Host
	h, r.server = serve(r.T, host.Config{List: recordedList, Clock: r.clock.Clock()})
	code, secret, err := h.Open(settings)
	if err != nil {
		r.Fatal(err)
	}
	r.names = append(r.names, code, "BAKODI")
	return code, secret
}

// prose writes a paragraph, apart from the messages before it.
func (r *recording) prose(text string) {
	if before := r.text.String(); before != "" && !strings.HasSuffix(before, "\n\n") {
		r.text.WriteString("\n")
	}
	r.text.WriteString(text + "\n\n")
}

// head writes the title and what the conversation is about.
func (r *recording) head(title, about string) {
	r.prose("# " + title)
	r.prose("A recorded conversation: `▶` is the player, `◀` the host. [README.md](README.md) says how to read it.")
	r.prose(about)
}

// connects opens the player's WebSocket.
func (r *recording) connects() {
	r.ws = socket(r.T, r.server, "/peer", nil)
}

// says sends a message, and writes it to the recording.
func (r *recording) says(m wire.Message) {
	r.Helper()
	frame, err := wire.Marshal(m)
	if err != nil {
		r.Fatal(err)
	}
	r.sends(frame)
}

func (r *recording) sends(frame wire.Frame) {
	r.Helper()
	r.shows("▶", frame)
	kind := websocket.TextMessage
	if frame.Binary {
		kind = websocket.BinaryMessage
	}
	if err := r.ws.WriteMessage(kind, frame.Data); err != nil {
		r.Fatal(err)
	}
}

// told waits for a message of the type of M, and shows it. It skips the room's state, which comes
// whenever something has changed, and fails at any other message.
func told[M wire.Message](r *recording) M {
	r.Helper()
	for {
		frame := r.reads()
		m, err := wire.Unmarshal(frame)
		if err != nil {
			r.Fatal(err)
		}
		if ask, is := m.(wire.Ask); is { // the order is each player's own
			slices.Sort(ask.Servers)
			frame, _ = wire.Marshal(ask)
		}
		if wanted, is := m.(M); is {
			r.shows("◀", frame)
			return wanted
		}
		if _, is := m.(wire.Room); !is {
			r.Fatalf("a %T came, want a %T", m, *new(M))
		}
	}
}

// later lets time pass until a message comes, as told does not.
func later[M wire.Message](r *recording) M {
	r.Helper()
	const step = 10 * time.Millisecond
	ticks, came := time.NewTicker(step), make(chan struct{})
	defer ticks.Stop()
	defer close(came)
	go func() {
		for {
			select {
			case <-ticks.C:
				r.clock.Advance(step)
			case <-came:
				return
			}
		}
	}()
	return told[M](r)
}

// hearsRoom waits until a section of the room's state is as wanted, and shows that section.
func (r *recording) hearsRoom(section string, is func(json.RawMessage) bool) {
	r.Helper()
	for {
		m, err := wire.Unmarshal(r.reads())
		if err != nil {
			r.Fatal(err)
		}
		room, isRoom := m.(wire.Room)
		if !isRoom {
			r.Fatalf("a %T came, want the room's %s", m, section)
		}
		if is(room[section]) {
			r.line("◀ %s", r.tidy(fmt.Sprintf(`{"type":"room",…,%q:%s,…}`, section, room[section])))
			return
		}
	}
}

func (r *recording) reads() wire.Frame {
	r.Helper()
	r.ws.SetReadDeadline(time.Now().Add(time.Minute))
	kind, data, err := r.ws.ReadMessage()
	if err != nil {
		r.Fatal(err)
	}
	return wire.Frame{Binary: kind == websocket.BinaryMessage, Data: data}
}

// line writes a line of an example.
func (r *recording) line(format string, a ...any) { fmt.Fprintf(&r.text, "    "+format+"\n", a...) }

// These values are others in each run.
var (
	randomPage = regexp.MustCompile(`"page":"[A-Z2-7]+"`)
	randomSeed = regexp.MustCompile(`"seed":\d+`)
	randomTurn = regexp.MustCompile(`"after_ms":[\d.]+`)
)

// tidy replaces what is another in each run.
func (r *recording) tidy(text string) string {
	text = randomPage.ReplaceAllString(text, `"page":"7YQUXVVMV3YHXRJT"`)
	text = randomSeed.ReplaceAllString(text, `"seed":1`)
	text = randomTurn.ReplaceAllString(text, `"after_ms":500.000`)
	return strings.NewReplacer(r.names...).Replace(text)
}

// shows writes a message to the recording. JSON is written as it is. Binary frames are written in
// hex, with the meaning of each part.
func (r *recording) shows(arrow string, frame wire.Frame) {
	if !frame.Binary {
		r.line("%s %s", arrow, r.tidy(string(frame.Data)))
		return
	}
	names := map[byte]string{1: "list", 2: "report", 3: "infos"}
	name := names[frame.Data[0]]
	if name == "list" && r.hasList {
		r.line("%s %s, %d bytes: the same servers as in round.md, in round %d", arrow, name, len(frame.Data), frame.Data[1])
		return
	}
	r.hasList = r.hasList || name == "list"
	r.line("%s %s, %d bytes", arrow, name, len(frame.Data))
	parts := &anatomy{b: frame.Data}
	parts.of(name)
	for _, p := range parts.lines {
		r.line("      %-24s %s", p[0], p[1])
	}
}

// anatomy takes a binary frame apart.
type anatomy struct {
	b     []byte
	taken []string // hex of the line so far
	lines [][2]string
}

func (a *anatomy) number() int {
	n, size := binary.Uvarint(a.b)
	a.bytes(max(size, 1))
	return int(n)
}

func (a *anatomy) bytes(n int) []byte {
	n = min(n, len(a.b))
	taken := a.b[:n]
	a.b, a.taken = a.b[n:], append(a.taken, hex.EncodeToString(taken))
	return taken
}

func (a *anatomy) zigzag() int {
	n := a.number()
	return n>>1 ^ -(n & 1)
}

// means ends a line.
func (a *anatomy) means(format string, v ...any) {
	a.lines = append(a.lines, [2]string{strings.Join(a.taken, " "), fmt.Sprintf(format, v...)})
	a.taken = nil
}

func (a *anatomy) of(name string) {
	a.bytes(1)
	a.means("kind: %s", name)
	a.means("round %d", a.number())
	switch name {
	case "list":
		a.list()
	case "report":
		a.report()
	case "infos":
		a.infos()
	}
	if len(a.b) > 0 {
		a.bytes(len(a.b))
		a.means("left over")
	}
}

func (a *anatomy) list() {
	packed := a.bytes(len(a.b))
	plain, _ := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	a.means("deflated; inflated it is")
	for a.b = plain; len(a.b) > 0; {
		record := a.bytes(4)
		port := binary.BigEndian.Uint16(a.bytes(2))
		switch {
		case port != 0:
			a.means("%s", netip.AddrPortFrom(netip.AddrFrom4([4]byte(record)), port))
		case binary.BigEndian.Uint32(record) == 0xff000006:
			a.means("three records of IPv6 follow")
			addr := a.bytes(16)
			a.means("%s", netip.AddrFrom16([16]byte(addr)))
			a.means("its port %d", binary.BigEndian.Uint16(a.bytes(2)))
		case record[0] == 0xff:
			a.means("country %s from here on", record[1:3])
		default:
			a.means("AS %d from here on", binary.BigEndian.Uint32(record))
		}
	}
}

func (a *anatomy) report() {
	a.means("the first probe is the player's number %d", a.number())
	a.means("the clock says %d ms", a.number())
	count := a.number()
	a.means("probes: %d", count)
	at, server, tenths := 0, 0, 0
	for range count {
		if len(a.b) < 3 { // a probe has at least three numbers
			a.bytes(len(a.b))
			a.means("cut off")
			return
		}
		timing := a.number()
		at += timing / 3
		server += a.zigzag()
		number := a.number()
		what := []string{"lost", "refused", "forbidden", ""}[min(number, 3)]
		if number >= 3 {
			number -= 3
			tenths += number>>1 ^ -(number & 1)
			what = fmt.Sprintf("answered in %d.%d ms", tenths/10, tenths%10)
		}
		a.means("at %d ms server %d: %s", at, server, what)
	}
}

func (a *anatomy) infos() {
	count := a.number()
	a.means("servers: %d", count)
	server := 0
	var texts []string
	text := func() string {
		n := a.number()
		if n == 0 {
			texts = append(texts, string(a.bytes(a.number())))
			n = len(texts)
		}
		return texts[n-1]
	}
	for range count {
		server += a.zigzag()
		flags := a.bytes(1)[0]
		players, seats := a.number(), a.number()
		says := fmt.Sprintf("server %d: %d of %d players, map %s, mode %s", server, players, seats, text(), text())
		if flags&1 != 0 {
			says += ", has a password"
		}
		if flags&2 != 0 {
			says += fmt.Sprintf(", %d bots", a.number())
		}
		a.means("%s", says)
	}
}

// ---- the conversations

// coordinating returns the settings of a room whose host names the servers, and of the players there.
func coordinating(players int) wire.Settings {
	s := friday(players)
	s.Strategy = wire.Coordinated
	return s
}

// The player's results in all conversations.
var (
	recordedProbes = []discovery.Result{
		{Server: 1, State: discovery.Answered, RTT: 23900 * time.Microsecond, At: 31 * time.Millisecond},
		{Server: 0, State: discovery.Answered, RTT: 24 * time.Millisecond, At: 33 * time.Millisecond},
		{Server: 3, State: discovery.Forbidden, At: 33 * time.Millisecond},
		{Server: 2, State: discovery.Lost, At: 3008 * time.Millisecond},
	}
	recordedInfos = []wire.ServerInfo{
		{Server: 1, Info: discovery.Info{Map: "oa_dm1", Mode: "0", Players: 4, MaxPlayers: 8, Bots: 2}},
		{Server: 0, Info: discovery.Info{Map: "oa_dm1", Mode: "4", Players: 0, MaxPlayers: 16, Password: true}},
	}
)

func (r *recording) hello(code string) {
	r.connects()
	r.says(wire.Hello{Version: wire.Version, Code: code, Name: "nora", Token: recordedToken})
	told[wire.Welcome](r)
	r.line("◀ {\"type\":\"room\",…}")
	told[wire.List](r)
}

// measured reports some of the player's results, from number first on.
func (r *recording) measured(first int, now time.Duration, results []discovery.Result, infos []wire.ServerInfo) {
	if len(infos) > 0 {
		r.says(wire.Infos{Round: 1, Servers: infos})
	}
	r.says(wire.Report{Round: 1, First: first, Now: now, Results: results})
}

// asked waits until the host names the first servers.
func (r *recording) asked() {
	told[wire.Measure](r)
	later[wire.Ask](r)
}

func (r *recording) measuredWhole() {
	told[wire.Measure](r)
	r.measured(0, 3250*time.Millisecond, recordedProbes, recordedInfos)
	r.says(wire.Done{Round: 1})
}

// verified answers the request for a second look.
func (r *recording) verified() {
	order := later[wire.Finalists](r)
	v := wire.Verified{Round: order.Round, Attempt: order.Attempt}
	for _, server := range order.Servers {
		v.Servers = append(v.Servers, wire.Finalist{
			Server: server, State: discovery.Answered, RTTs: []float64{24.1}, Sent: order.Samples,
			Info: &discovery.Info{Name: "Aggressor", Map: "oa_dm1", Mode: "0", Players: 4, MaxPlayers: 8},
		})
	}
	r.says(v)
}

// launched goes where the room goes.
func (r *recording) launched() {
	launch := later[wire.Launch](r)
	r.says(wire.Launched{Round: launch.Round, State: wire.LaunchStarted})
}

func recordRound(r *recording) {
	code, secret := r.opens(coordinating(1))
	r.head("A round", "The player says hello with a token that it has made itself. "+
		"The room waits for one player, so the round begins at once.")
	r.hello(code)
	r.prose("The list has four servers. The player cannot ask the last one, by IPv6. The host names the servers to ask.")
	r.asked()
	r.prose("Two servers answer at once, and say what they are. One stays silent: the player has asked it three times, a second apart.")
	r.measured(0, 250*time.Millisecond, recordedProbes[:3], recordedInfos)
	r.measured(3, 3250*time.Millisecond, recordedProbes[3:], nil)
	r.prose("One server is left: the other has a password. The player looks at it again, and goes there.")
	r.verified()
	r.launched()
	r.prose("The organiser wants another round, and ends the session in its midst.")
	orders(r.T, r.server, code, "go", secret, map[string]any{})
	told[wire.List](r)
	r.asked()
	orders(r.T, r.server, code, "end", secret, map[string]any{})
	told[wire.Refusal](r)
}

func recordWholeList(r *recording) {
	code, _ := r.opens(friday(1))
	r.head("A round without coordination", "The room's strategy is `conventional`: each player measures the list whole, "+
		"and says `done`. No `ask` comes.")
	r.hello(code)
	r.measuredWhole()
	r.verified()
	r.launched()
}

func recordVote(r *recording) {
	settings := friday(1)
	settings.Agree = wire.Yes
	code, secret := r.opens(settings)
	r.head("A vote", "People vote in this room, after the second look. The room's state has the ballot.")
	r.hello(code)
	r.measuredWhole()
	r.verified()
	r.hearsRoom("agreement", func(section json.RawMessage) bool { return bytes.Contains(section, []byte(`"open":true`)) })
	r.prose("The player votes, and takes a server that is not on the ballot first. A word that does not count is answered.")
	r.says(wire.Say{Round: 1, What: wire.SayVote, Addr: hostport.At(netip.MustParseAddrPort("192.0.2.99:27960"))})
	told[wire.Answer](r)
	r.says(wire.Say{Round: 1, What: wire.SayVote, Addr: hostport.At(netip.MustParseAddrPort("192.0.2.8:27960"))})
	r.prose("The organiser does not wait for more votes.")
	orders(r.T, r.server, code, "go", secret, map[string]any{})
	r.launched()
}

func recordBack(r *recording) {
	code, _ := r.opens(coordinating(1))
	r.head("A lost connection", "The connection breaks when the player has reported three of four servers.")
	r.hello(code)
	r.asked()
	r.measured(0, 250*time.Millisecond, recordedProbes[:3], recordedInfos)
	// The room has the results once it shows them.
	for !bytes.Contains(r.reads().Data, []byte(`"answered":2`)) {
	}
	r.ws.Close()
	r.prose("The player's program starts again, with the token from its file and nothing else. The host says what it knows " +
		"of the player's results, and asks for the rest. A program that has only lost the connection would repeat its reports " +
		"after `welcome`, from the first probe on.")
	r.hello(code)
	told[wire.Measure](r)
	told[wire.Report](r)
	later[wire.Ask](r)
	r.measured(3, 3100*time.Millisecond, recordedProbes[3:], nil)
	r.verified()
	r.launched()
}

func recordRefusals(r *recording) {
	code, _ := r.opens(coordinating(2))
	r.head("Refusals", "Each of these ends the connection, and says why.")
	refused := func(prose string, say func()) {
		r.prose(prose)
		r.connects()
		say()
		told[wire.Refusal](r)
	}
	text := func(text string) wire.Frame { return wire.Frame{Data: []byte(text)} }
	refused("Another version:", func() { r.says(wire.Hello{Version: 1, Code: code, Name: "nora"}) })
	refused("A code that no room has:", func() { r.says(wire.Hello{Version: wire.Version, Code: "XUXUXU", Name: "nora"}) })
	refused("A field of the wrong type:", func() { r.sends(text(`{"type":"hello","version":2,"code":"BAKODI","name":7}`)) })
	refused("Anything before hello:", func() { r.says(wire.Done{Round: 1}) })
	member := func(frame wire.Frame) func() {
		return func() {
			r.says(wire.Hello{Version: wire.Version, Code: code, Name: "nora", Token: recordedToken})
			told[wire.Welcome](r)
			r.sends(frame)
		}
	}
	refused("A state of the launch that there is not:", member(text(`{"type":"launched","round":1,"state":"started"}`)))
	refused("A report that ends in the midst of its second probe:", member(wire.BinaryFrame([]byte{2, 1, 0, 100, 2, 30, 10, 0xe3, 3, 21})))
}
