package rpc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/report"
	"muster/discovery/sentence"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/home"
	"muster/internal/invite"
	"muster/internal/leak"
	"muster/internal/lobby"
	"muster/internal/rpc/jsonrpc"
	"muster/internal/term"
	"muster/peer"
)

// commands stand in for Muster's: each runs what the test gives.
type commands map[string]func(ctx context.Context, args []string, out io.Writer, t home.Terminal, f *lobby.Front) error

// launcher is a launcher as a test plays it.
type launcher struct {
	t     *testing.T
	in    *io.PipeWriter
	lines *bufio.Scanner
	log   *bytes.Buffer
	ended chan error
}

func serve(t *testing.T, all commands) *launcher {
	t.Helper()
	leak.Check(t)
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	l := &launcher{t: t, in: toServer, lines: bufio.NewScanner(fromServer), log: &bytes.Buffer{}, ended: make(chan error, 1)}
	l.lines.Buffer(nil, 16<<20)
	go func() {
		l.ended <- Serve(t.Context(), config(in, out, slog.New(slog.NewTextHandler(l.log, &slog.HandlerOptions{Level: slog.LevelDebug})), all))
		in.Close()
		out.Close()
	}()
	t.Cleanup(func() {
		toServer.Close()
		l.drain()
	})
	return l
}

// drain reads what the server still says.
func (l *launcher) drain() {
	for l.lines.Scan() {
	}
}

func config(in io.Reader, out io.Writer, log *slog.Logger, all commands) Config {
	return Config{
		In: in, Out: out, Version: "1.2.3", Language: "en", Logger: log,
		Command: func(ctx context.Context, args []string, out io.Writer, t home.Terminal, f *lobby.Front) error {
			return all[args[1]](ctx, args, out, t, f)
		},
	}
}

// says sends lines to the server.
func (l *launcher) says(lines ...string) {
	l.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(l.in, line+"\n"); err != nil {
			l.t.Fatal(err)
		}
	}
}

// hears returns the server's next line.
func (l *launcher) hears() string {
	l.t.Helper()
	if !l.lines.Scan() {
		l.t.Fatalf("the server says no more: %v", l.lines.Err())
	}
	return l.lines.Text()
}

// want compares the server's next lines.
func (l *launcher) want(lines ...string) {
	l.t.Helper()
	for _, want := range lines {
		if got := l.hears(); got != want {
			l.t.Errorf("the server says %s\nwant            %s", got, want)
		}
	}
}

func calling(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
}

// forever is a command that plays in a room until it is stopped.
func forever(ctx context.Context, _ []string, _ io.Writer, _ home.Terminal, f *lobby.Front) error {
	f.Enters(invite.Link{Host: "127.0.0.1:1", Code: "TABOMI", Key: "KEY"}, nil)
	f.Sees(peer.Joined{Name: "ann", Page: "MINE"})
	<-ctx.Done()
	return nil
}

// TestWrongCalls checks the answers to calls that are wrong, and that the next call works.
func TestWrongCalls(t *testing.T) {
	usage := func(context.Context, []string, io.Writer, home.Terminal, *lobby.Front) error {
		return hint.With(hint.Usagef("--max-rtt: a ping is wanted"), "such as 150ms")
	}
	l := serve(t, commands{"host": usage, "join": func(context.Context, []string, io.Writer, home.Terminal, *lobby.Front) error {
		return wire.Refuse(wire.ReasonLocked, "refused.locked")
	}, "discover": func(context.Context, []string, io.Writer, home.Terminal, *lobby.Front) error {
		return fmt.Errorf("%w: nobody answered", lobby.ErrNothing)
	}})
	for _, c := range []struct{ call, code, contains string }{
		{"{", "-32700", "no JSON"},
		{strings.Repeat("x", 2<<20), "-32700", "at most 1048576 bytes"},
		{calling(1, "nope", "{}"), "-32601", ""},
		{calling(1, "hello", `[]`), "-32602", "by name"},
		{calling(1, "hello", `{"version":2}`), "-32602", `"field":"version"`},
		{calling(1, "hello", `{"version":"1"}`), "-32602", `"field":"version"`},
		{calling(1, "hello", `{"clint":"x"}`), "-32602", `"field":"clint"`},
		{calling(1, "join", `{}`), "-32602", `"field":"link"`},
		{calling(1, "join", `{"link":"x","side":"c"}`), "-32602", `"field":"side"`},
		{calling(1, "join", `{"link":"x"}`), "-32002", `"reason":"locked"`},
		{calling(1, "host", `{"game":"openarena","settings":{"nope":1}}`), "-32602", `"field":"settings.nope"`},
		{calling(1, "host", `{"game":"openarena","settings":{"map":{}}}`), "-32602", `"field":"settings.map"`},
		{calling(1, "host", `{"game":"openarena","settings":{"limits_ms":[-1]}}`), "-32602", `"field":"settings.limits_ms","hint":"such as 150ms"`},
		{calling(1, "discover", `{"game":"openarena"}`), "-32003", "nobody answered"},
		{calling(1, "vote", `{"room":7,"number":1}`), "-32004", `"field":"room"`},
		{calling(1, "confirm", `{"room":7,"launch":1,"state":"started"}`), "-32004", `"field":"room"`},
		{calling(1, "confirm", `{"room":7,"launch":1,"state":"launched"}`), "-32602", `"field":"state"`},
	} {
		l.says(c.call)
		if said := l.hears(); !strings.Contains(said, `"code":`+c.code) || !strings.Contains(said, c.contains) {
			t.Errorf("%.80s is answered %s, want %s and %s", c.call, said, c.code, c.contains)
		}
	}
	l.says(calling(1, "rooms", `{}`))
	l.want(`{"jsonrpc":"2.0","id":1,"result":{"rooms":[]}}`)
}

// TestArguments checks the command lines that calls become.
func TestArguments(t *testing.T) {
	var got []string
	note := func(_ context.Context, args []string, _ io.Writer, _ home.Terminal, _ *lobby.Front) error {
		got = slices.Clone(args)
		return errors.New("over")
	}
	l := serve(t, commands{"host": note, "join": note, "discover": note})
	for _, c := range []struct{ method, params, want string }{
		{"join", `{"link":"--code=x","name":"--at=y","rate":12.5,"memory":false}`,
			"--language=en join --name=--at=y --memory=false --rate=12.5 --share-lists=never --launch=auto -- --code=x"},
		{"host", `{"game":"openarena","settings":{"players":2,"limits_ms":[100,150.5],"agree":true,"wait_ms":60000,"map":"dm17","by":"mean"}}`,
			"--language=en host --game=openarena --port-map=false --share-lists=never --launch=auto --here=true --new=true " +
				"--vote=true --by=mean --map=dm17 --max-rtt=100ms,150.5ms --players=2 --wait-for-seats=60000ms"},
		{"host", `{"game":"openarena","at":"https://muster.example","resume":true,"no_play":true,"port_map":true}`,
			"--language=en host --game=openarena --at=https://muster.example --no-play=true --port-map=true --share-lists=never --launch=auto"},
		{"discover", `{"game":"openarena","max_rtt_ms":80,"master":["a:1","b:2"],"not_full":true,"nearest":3}`,
			"--language=en discover --game=openarena --nearest=3 --max-rtt=80ms --not-full=true --master=a:1 --master=b:2 --json=true --top=0"},
	} {
		l.says(calling(1, c.method, c.params))
		l.hears()
		if slices.Sort(got); strings.Join(got, " ") != sorted(c.want) {
			t.Errorf("%s %s is %q, want %q", c.method, c.params, got, c.want)
		}
	}
}

func sorted(words string) string {
	all := strings.Fields(words)
	slices.Sort(all)
	return strings.Join(all, " ")
}

// TestBatch checks that a batch gets one answer, and none if it has only notifications.
func TestBatch(t *testing.T) {
	l := serve(t, nil)
	l.says(`[{"jsonrpc":"2.0","method":"rooms"},{"jsonrpc":"2.0","method":"nope"}]`,
		`[{"jsonrpc":"2.0","id":1,"method":"rooms"},{"jsonrpc":"2.0","method":"rooms"},{"jsonrpc":"2.0","id":"2","method":"nope"},5]`)
	l.want(`[{"jsonrpc":"2.0","id":1,"result":{"rooms":[]}},` +
		`{"jsonrpc":"2.0","id":"2","error":{"code":-32601,"message":"there is no such method; hello lists them"}},` +
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a call is an object"}}]`)
}

// TestCancel checks that calls which wait can be cancelled by their id, a text or a number, and that
// an id is used once at a time.
func TestCancel(t *testing.T) {
	waits := func(ctx context.Context, _ []string, _ io.Writer, _ home.Terminal, _ *lobby.Front) error {
		<-ctx.Done()
		return ctx.Err()
	}
	l := serve(t, commands{"join": waits, "discover": waits})
	l.says(calling(1, "join", `{"link":"x"}`), calling(1, "rooms", `{}`))
	l.want(`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"the call with this id is not answered yet"}}`)
	l.says(`{"jsonrpc":"2.0","id":"d","method":"discover","params":{"game":"openarena"}}`,
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`)
	l.want(`{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"cancelled"}}`)
	l.says(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"d"}}`)
	l.want(`{"jsonrpc":"2.0","id":"d","error":{"code":-32800,"message":"cancelled"}}`)
	l.says(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"d"}}`, calling(1, "rooms", `{}`))
	l.want(`{"jsonrpc":"2.0","id":1,"result":{"rooms":[]}}`)
}

// TestDiscover checks that discover tells of servers while it goes on, and returns the report.
func TestDiscover(t *testing.T) {
	l := serve(t, commands{"discover": func(_ context.Context, _ []string, out io.Writer, on home.Terminal, _ *lobby.Front) error {
		on.Listed(2)
		on.Found(report.Measurement{State: discovery.Lost})
		on.Found(report.Measurement{State: discovery.Answered, Name: "The tavern"})
		_, err := io.WriteString(out, `{"format":"muster.report/1"}`)
		return err
	}})
	l.says(calling(5, "discover", `{"game":"openarena"}`))
	for said := ""; !strings.Contains(said, "muster.report/1"); {
		said = l.hears()
		var found struct{ Params Found }
		if err := json.Unmarshal([]byte(said), &found); err != nil {
			t.Fatal(err)
		}
		if p := found.Params; p.Asked == 2 && (p.Listed != 2 || p.Answered != 1 || string(p.Request) != "5" || len(p.Servers) != 1) {
			t.Errorf("found is %s", said)
		}
	}
}

// TestEnd checks that the end of the input ends a room at once, and that nothing of a link or a
// name is in the log.
func TestEnd(t *testing.T) {
	l := serve(t, commands{"join": forever})
	l.says(calling(1, "join", `{"link":"http://127.0.0.1:1/#TABOMI_KEY","name":"ann"}`))
	l.want(`{"jsonrpc":"2.0","id":1,"result":{"room":1,"code":"TABOMI","link":"http://127.0.0.1:1/#TABOMI_KEY",` +
		`"page":"http://127.0.0.1:1/#TABOMI_KEY.MINE","name":"ann"}}`)
	l.says(calling(2, "KEY", `{"MINE":1}`))
	l.hears()
	l.in.Close()
	l.drain()
	if err := <-l.ended; err != nil {
		t.Error(err)
	}
	for _, secret := range []string{"KEY", "MINE", "TABOMI", "ann"} {
		if strings.Contains(l.log.String(), secret) {
			t.Errorf("the log tells %s:\n%s", secret, l.log)
		}
	}
}

// TestDeadLauncher checks that a launcher whose pipe is broken ends everything.
func TestDeadLauncher(t *testing.T) {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(t.Context(), config(in, out, slog.New(slog.DiscardHandler), commands{"join": forever}))
	}()
	defer toServer.Close()
	fromServer.Close()
	io.WriteString(toServer, calling(1, "join", `{"link":"x"}`)+"\n")
	select {
	case err := <-ended:
		if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("the server ends with %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the server goes on without a launcher")
	}
}

// TestUnreadRoom checks that a launcher which reads nothing holds up neither the room nor the end,
// and that it is told what it has missed.
func TestUnreadRoom(t *testing.T) {
	done := make(chan struct{})
	l := serve(t, commands{"join": func(ctx context.Context, _ []string, _ io.Writer, on home.Terminal, f *lobby.Front) error {
		f.Enters(invite.Link{Host: "127.0.0.1:1", Code: "TABOMI"}, nil)
		f.Sees(peer.Joined{Name: "ann", Page: "MINE"})
		for i := range 10000 {
			f.Sees(peer.RoomChanged{Room: wire.Snapshot{Room: wire.Head{Round: i}}})
			fmt.Fprintf(on.Out, "line %d\n", i)
		}
		close(done)
		<-ctx.Done()
		return nil
	}})
	l.says(calling(1, "join", `{"link":"x"}`))
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the room waits for its reader")
	}
	l.hears() // the answer
	states, texts := 0, 0
	for states < 10000 || texts < 10000 {
		var said struct {
			Method string
			Params struct {
				Document     struct{ Round int }
				Missed, Lost int
				Texts        []string
			}
		}
		if err := json.Unmarshal([]byte(l.hears()), &said); err != nil {
			t.Fatal(err)
		}
		p := said.Params
		if said.Method == "room" {
			if states += 1 + p.Missed; p.Document.Round != states-1 {
				t.Fatalf("state %d is round %d", states, p.Document.Round)
			}
		}
		if texts += len(p.Texts) + p.Lost; len(p.Texts) > maxTexts {
			t.Fatalf("%d lines are kept", len(p.Texts))
		}
	}
}

// TestLaunch checks what a launcher makes of a launch, and that Muster starts a game only if it is
// asked to. It would fail here, because there is no such program.
func TestLaunch(t *testing.T) {
	screen := term.NewScreen(term.Terminal{Writer: io.Discard}, catalogue.InEnglish())
	muster := &game.Launcher{Starts: game.StartAuto, Command: "/nowhere/game +connect {address}",
		Console: term.NewConsole(strings.NewReader(""), screen, func(string) {}, func() {})}
	told, next := make(chan wire.LaunchState, 10), make(chan struct{}, 10)
	l := serve(t, commands{"join": func(ctx context.Context, args []string, out io.Writer, on home.Terminal, f *lobby.Front) error {
		f.Enters(invite.Link{Host: "127.0.0.1:1", Code: "TABOMI"}, nil)
		f.Sees(peer.Joined{Name: "ann", Page: "MINE"})
		for range 5 {
			<-next
			f.Launch(ctx, wire.Launch{Round: 1, Game: "openarena", Address: "192.0.2.1:27960", Password: "pw"}, sentence.Sentence{},
				func(s wire.LaunchState, why sentence.Sentence) {
					if len(why.With) > 300 {
						t.Errorf("the room is told %d bytes of why", len(why.With))
					}
					told <- s
				}, muster)
		}
		<-ctx.Done()
		return nil
	}})
	l.says(calling(1, "join", `{"link":"x"}`))
	l.hears()
	for i, c := range []struct {
		states string
		want   wire.LaunchState
	}{
		{"started", wire.LaunchStarted}, {"refused", wire.LaunchDeclined}, {"asking by_hand", wire.LaunchByHand}, {"asking failed", wire.LaunchFailed},
		{"muster", wire.LaunchFailed},
	} {
		next <- struct{}{}
		l.want(fmt.Sprintf(`{"jsonrpc":"2.0","method":"launch","params":{"room":1,"launch":%d,"round":1,"game":"openarena",`+
			`"address":"192.0.2.1:27960","name":"","password":"pw"}}`, i+1))
		for state := range strings.FieldsSeq(c.states) {
			l.says(calling(2, "confirm",
				fmt.Sprintf(`{"room":1,"launch":%d,"state":%q,"why":%q}`, i+1, state, strings.Repeat("why ", 1000))))
			l.want(`{"jsonrpc":"2.0","id":2,"result":{}}`)
		}
		if asked, got := <-told, <-told; asked != wire.LaunchAsking || got != c.want {
			t.Errorf("%s: the room is told %s and %s, want %s", c.states, asked, got, c.want)
		}
	}
	l.says(calling(3, "confirm", `{"room":1,"launch":1,"state":"started"}`))
	l.want(`{"jsonrpc":"2.0","id":3,"error":{"code":-32004,"message":"launch 1 of this room does not wait for an answer",` +
		`"data":{"field":"launch"}}}`)
}

// TestMany checks the bounds on rooms and discoveries.
func TestMany(t *testing.T) {
	waits := func(ctx context.Context, _ []string, _ io.Writer, _ home.Terminal, _ *lobby.Front) error {
		<-ctx.Done()
		return ctx.Err()
	}
	l := serve(t, commands{"join": waits, "discover": waits})
	for i := range maxRooms {
		l.says(calling(i, "join", `{"link":"x"}`))
	}
	l.says(calling(50, "join", `{"link":"x"}`))
	if said := l.hears(); !strings.Contains(said, `"id":50`) || !strings.Contains(said, "-32005") {
		t.Errorf("the ninth room: %s", said)
	}
	for i := range maxLooks {
		l.says(calling(100+i, "discover", `{"game":"x"}`))
	}
	l.says(calling(51, "discover", `{"game":"x"}`))
	if said := l.hears(); !strings.Contains(said, `"id":51`) || !strings.Contains(said, "-32005") {
		t.Errorf("the fifth discovery: %s", said)
	}
}

// TestShutdown checks that shutdown is answered, and ends the program.
func TestShutdown(t *testing.T) {
	l := serve(t, commands{"join": forever})
	l.says(calling(1, "join", `{"link":"x"}`))
	l.hears()
	l.says(calling(2, "shutdown", `{}`))
	l.want(`{"jsonrpc":"2.0","id":2,"result":{}}`)
	l.drain()
	if err := <-l.ended; err != nil {
		t.Error(err)
	}
}

// TestUnreadLog checks that a log which nobody reads holds nothing up, and counts what is missing.
func TestUnreadLog(t *testing.T) {
	r, w := io.Pipe()
	log, end := NewLog(w, slog.LevelInfo)
	for i := range 2000 {
		log.Info("line", "n", i)
	}
	kept, dropped := 0, 0
	for lines := bufio.NewScanner(r); kept+dropped < 2000 && lines.Scan(); {
		n := 0
		if _, err := fmt.Sscanf(lines.Text(), "%d lines of the log were dropped", &n); err != nil {
			kept++
		}
		dropped += n
	}
	r.Close()
	end()
	if kept+dropped != 2000 || kept < maxLog || kept > maxLog+1 {
		t.Errorf("%d lines are kept, and %d dropped", kept, dropped)
	}
}

// FuzzServe checks that whatever a launcher sends, the server writes only JSON-RPC, and ends with its
// input.
func FuzzServe(f *testing.F) {
	for _, seed := range []string{
		calling(1, "join", `{"link":"x"}`) + "\n" + calling(2, "confirm", `{"room":1,"launch":1,"state":"muster"}`),
		calling(1, "host", `{"game":"x","settings":{"limits_ms":[1e400]}}`) + "\n[1,2",
		`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}` + "\n" + calling(3, "order", `{"room":1,"action":"react"}`),
		calling(1, "discover", `{"game":"x","master":["--json"]}`) + "\n" + calling(1, "leave", `{"room":1}`) + "\n" + calling(4, "shutdown", `null`),
	} {
		f.Add([]byte(seed))
	}
	over := func(_ context.Context, args []string, _ io.Writer, _ home.Terminal, _ *lobby.Front) error {
		for _, arg := range args[2:] {
			if arg == "--" {
				break
			}
			if !strings.HasPrefix(arg, "--") || !strings.Contains(arg, "=") {
				return fmt.Errorf("no flag with a value: %q", arg)
			}
		}
		return errors.New("over")
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		var out bytes.Buffer
		Serve(t.Context(), config(bytes.NewReader(input), &out, slog.New(slog.DiscardHandler), commands{"join": over, "host": over, "discover": over}))
		for line := range bytes.Lines(out.Bytes()) {
			if !json.Valid(line) || bytes.Contains(line, []byte("no flag with a value")) {
				t.Fatalf("the server says %s", line)
			}
		}
	})
}

// TestUnreadBatches checks that batches whose answers nobody reads take bounded memory, and that every
// call of them is answered, if not with what it asked for.
func TestUnreadBatches(t *testing.T) {
	const batches, length, failures = 64, 1 << 14, 1 << 20 // all failures together are smaller than that
	s := &Server{out: jsonrpc.NewOutbox(io.Discard), lines: make(chan struct{}, batches)}
	text := strings.Repeat("x", length)
	var answers []func(any)
	for range batches {
		s.lines <- struct{}{}
		answers = append(answers, s.batched(jsonrpc.MaxBatch))
	}
	for range jsonrpc.MaxBatch {
		for _, answer := range answers { // all of them remain incomplete to the end
			answer(jsonrpc.Result(json.RawMessage("1"), text))
		}
	}
	if unread := s.out.Unread(); unread < jsonrpc.MaxUnread || unread > jsonrpc.MaxUnread+failures || s.held.Load() != 0 {
		t.Errorf("%d bytes wait, and %d are held", unread, s.held.Load())
	}
	waits, stop := context.WithCancel(t.Context())
	stop()
	if s.out.Await(waits); waits.Err() == nil || s.out.Unread() < jsonrpc.MaxUnread {
		t.Error("it is not waited for what is unread")
	}
	over, end := context.WithCancel(t.Context())
	end()
	if err := s.out.Run(over); err != nil || s.out.Unread() != 0 || len(s.lines) != 0 {
		t.Errorf("read, %d bytes wait, and %d lines are worked on: %v", s.out.Unread(), len(s.lines), err)
	}
	s.out.Await(t.Context())
}
