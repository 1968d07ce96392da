package room_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"muster/discovery"
	"muster/discovery/plan/topology"
	"muster/discovery/sentence"
	"muster/host/room"
	"muster/host/room/people"
	"muster/host/room/roomtest"
	"muster/host/room/roster"
	"muster/host/wire"
	"muster/internal/catalogue"
)

// TestScenarios plays the sessions in testdata/scenarios: each step that happens to a room, and the
// room's answer. The README there describes the language. After each directive the room can be saved,
// and comes back as it was. Rewrite scenarios whose outcome should change with
//
//	go test ./host/room -run Scenarios -rewrite
func TestScenarios(t *testing.T) {
	seen := transitions{}
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		if strings.HasSuffix(path, ".md") {
			return
		}
		var s *scenario
		preludes := map[string]string{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if s == nil || d.Cmd == "open" {
				s = newScenario(seen)
			}
			s.TB = t
			switch d.Cmd {
			case "quietly", "again":
				lines := d.Input
				if named := (command{args: d.CmdArgs}); d.Cmd == "again" {
					lines = preludes[named.words()[0]]
				} else if name := named.value("as"); name != "" {
					preludes[name] = lines
				}
				for _, line := range strings.Split(strings.ReplaceAll(lines, "\n{", "{"), "\n") {
					line, input, is := strings.Cut(line, "{")
					if is {
						input = "{" + input
					}
					name, args, err := datadriven.ParseLine(line)
					if err != nil {
						d.Fatalf(t, "%v", err)
					}
					if name == "open" {
						s = newScenario(seen)
						s.TB = t
					}
					s.do(command{name, args, input})
				}
				if s.errors == 0 {
					s.text.Reset()
				}
			default:
				s.do(command{d.Cmd, d.CmdArgs, d.Input})
			}
			if s.Room != nil && s.Room.Snapshot().Room.Listed < 100 { // or this takes long
				same(t, s.Room, restored(t, s.Room))
			}
			return s.happened()
		})
	})
	seen.check(t)
}

// scenario is a session that writes down what happens.
type scenario struct {
	*roomtest.Session
	// text is what happened since the last directive, each line after the prefix. errors counts the
	// room's refusals.
	text   strings.Builder
	prefix string
	errors int
	// stage and noted are the stage and the log that were shown last.
	stage wire.Stage
	noted []wire.Note
	// pages are the credentials of people who act on a page.
	pages map[string]string
	mute  []people.ID
	lines room.Lines
	// seen are the transitions that any scenario has shown. phase is the room's last phase.
	seen  transitions
	phase string
	// plays are the pings of programs that answer questions while they play, and asides those
	// questions, counted by server in aside.
	plays  map[string]playing
	asides []room.Send
	aside  map[int]int
}

// playing are a player's pings, in ms, by server, and the map of all servers.
type playing struct {
	pings map[int]string
	on    string
}

func newScenario(seen transitions) *scenario {
	return &scenario{Session: &roomtest.Session{}, seen: seen, pages: map[string]string{}, plays: map[string]playing{}, aside: map[int]int{}}
}

// command is one line of a scenario.
type command struct {
	name  string
	args  []datadriven.CmdArg
	input string
}

// words returns the arguments without a value.
func (c command) words() (words []string) {
	for _, a := range c.args {
		if len(a.Vals) == 0 {
			words = append(words, a.Key)
		}
	}
	return words
}

// value returns the value of an argument, or nothing.
func (c command) value(key string) string {
	for _, a := range c.args {
		if a.Key == key {
			return strings.Join(a.Vals, ",")
		}
	}
	return ""
}

// number returns the value of an argument as a number, or 0.
func (c command) number(key string) int {
	n, _ := strconv.Atoi(c.value(key))
	return n
}

func (c command) list(key string) []string {
	if v := c.value(key); v != "" {
		return strings.Split(v, ",")
	}
	return nil
}

// do plays one line.
func (s *scenario) do(c command) {
	s.Helper()
	words := c.words()
	who := ""
	if len(words) > 0 {
		who = words[0]
	}
	switch c.name {
	case "open":
		s.open(c)
	case "join":
		for _, name := range words {
			s.join(name, c)
		}
	case "leave":
		s.step(room.Leave{Player: people.ID(who)})
	case "stir":
		s.step(room.PartialMessage{Player: people.ID(who)})
	case "list":
		s.list(c)
	case "free":
		s.free(c)
	case "report":
		s.report(who, words[1:])
	case "done":
		for _, name := range words {
			s.step(room.Hear{Player: people.ID(name), Message: wire.Done{Round: s.Round()}})
		}
	case "look":
		for _, name := range words {
			s.look(name, c)
		}
	case "plays":
		s.plays[who] = playing{map[int]string{}, c.value("map")}
		s.each(words[1:], func(server int, ping string) { s.plays[who].pings[server] = ping })
	case "asked":
		s.tell("%v", s.aside)
		clear(s.aside)
	case "say":
		m, err := wire.Unmarshal(wire.Frame{Data: []byte(c.input)})
		s.must(err)
		s.step(room.Hear{Player: people.ID(who), Message: m})
	case "started":
		for _, name := range words {
			s.step(room.Hear{Player: people.ID(name), Message: wire.Launched{Round: s.Round(), State: wire.LaunchStarted}})
		}
	case "enter":
		enter := room.Enter{Name: who, Token: "page of " + who}
		if name := c.value("link"); name != "" {
			enter.Secret = s.credential(name)
		}
		if at := c.value("from"); at != "" {
			enter.From = netip.MustParseAddr(at)
		}
		if s.step(room.Order{Credential: c.value("as"), Action: enter}) == nil {
			s.pages[who] = enter.Token
			s.step(room.PageOpened{Token: enter.Token})
		}
	case "page":
		for _, name := range words {
			s.step(room.PageOpened{Token: s.pages[name]})
		}
	case "shut":
		for _, name := range words {
			s.step(room.PageClosed{Token: s.pages[name]})
		}
	case "order":
		if by := c.value("as"); by != "" {
			s.order(by, who, c.input)
		} else {
			s.order(who, words[1], c.input)
		}
	case "go":
		s.step(room.Proceed{})
	case "busy":
		s.Busy = true
	case "turn":
		s.Busy = false
		s.step(room.Turn{})
	case "mute":
		s.mute = people.IDs(words)
	case "lines":
		s.lines.RoundTrips = map[people.ID]time.Duration{}
		for _, a := range c.args {
			d, err := time.ParseDuration(a.Vals[0])
			s.must(err)
			s.lines.RoundTrips[people.ID(a.Key)] = d
		}
		s.step(room.Tick{Lines: s.lines})
	case "wait":
		s.wait(who)
	case "until":
		s.until(wire.Stage(strings.Join(words, " ")))
	case "stop":
		d, err := time.ParseDuration(who)
		s.must(err)
		s.Now = s.Now.Add(d)
		s.step(room.Tick{})
	case "restart":
		after, err := time.ParseDuration(cmp.Or(c.value("after"), "0s"))
		s.must(err)
		s.Restarts(after)
	case "close":
		s.step(room.Close{})
	case "show":
		for _, path := range words {
			s.show(path)
		}
	default:
		s.Fatalf("no such directive: %s", c.name)
	}
}

func (s *scenario) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// open opens a room. Its settings are JSON, over those of a usual one.
func (s *scenario) open(c command) {
	settings := wire.Settings{Name: "Friday", Game: "openarena", By: "mean", Strategy: "conventional"}
	if c.input != "" {
		s.must(json.Unmarshal([]byte(c.input), &settings))
	}
	if players := c.value("players"); players != "" {
		settings.Players, _ = strconv.Atoi(players)
	}
	settings.Strategy = cmp.Or(c.value("strategy"), settings.Strategy)
	s.Session = roomtest.New(s.TB, settings)
	sees, takes := s.Stepped, s.Out
	s.Stepped = func(in room.Input, refusal error) {
		sees(in, refusal)
		s.notes()
		s.seen.pass(&s.phase, s.Room, s.TB)
	}
	s.Out = func(o room.Output) {
		s.tells(o)
		takes(o)
	}
	s.notes()
}

func (s *scenario) join(name string, c command) {
	token := "token of " + name
	hello := wire.Hello{
		Version: wire.Version,
		Code:    "BAKODI",
		Name:    name,
		Token:   cmp.Or(c.value("token"), token),
		As:      s.credential(c.value("as")),
		Asks:    c.value("asks") != "",
		Side:    wire.Side(c.value("side")),
		Browser: c.value("browser") != "",
	}
	hello.Discreet, hello.Program, hello.Line = c.number("discreet"), c.value("program"), c.number("line")
	hello.Beacon = uint16(c.number("beacon"))
	if version := c.value("version"); version != "" {
		hello.Editions = map[string]discovery.Edition{c.value("of"): {Version: version, Protocol: c.number("protocol")}}
	}
	from := room.Origin{Country: c.value("country")}
	if at := c.value("from"); at != "" {
		from.Addr = netip.MustParseAddr(at)
	}
	s.step(room.Join{Hello: hello, From: from, Token: token})
}

func (s *scenario) list(c command) {
	listed := room.Listed{List: topology.New(nil)}
	if reason := c.value("error"); reason != "" {
		listed.Err = fmt.Errorf("%s", reason)
	} else {
		countries := c.list("countries")
		n, err := strconv.Atoi(c.words()[0])
		s.must(err)
		servers := make([]discovery.Server, n)
		for i := range servers {
			if slices.Contains(c.words(), "apart") {
				servers[i] = spreadOut(n)[i]
			} else if !slices.Contains(c.words(), "unusable") {
				servers[i].Addr = addrOf(i)
			}
			if len(countries) > 0 {
				servers[i].Country = countries[i%len(countries)]
			}
		}
		listed.List = topology.New(room.Shared(servers, nil))
	}
	s.step(listed)
}

// free reports free seats of servers with 16 seats, from the first server on, and what else all of
// them say.
func (s *scenario) free(c command) {
	infos := wire.Infos{Round: s.Round()}
	s.each(c.words()[1:], func(server int, text string) {
		free, err := strconv.Atoi(text)
		s.must(err)
		infos.Servers = append(infos.Servers, wire.ServerInfo{Server: server, Info: discovery.Info{
			Map: "oa_dm1", Players: 16 - free, MaxPlayers: 16,
			Version: c.value("version"), Protocol: c.number("protocol"), OldestProtocol: c.number("oldest"),
		}})
	})
	s.step(room.Hear{Player: people.ID(c.words()[0]), Message: infos})
}

// report reports pings in ms, from the first server on. The word "lost" is no answer, "refused" and
// "forbidden" are two others.
func (s *scenario) report(who string, pings []string) {
	report := wire.Report{Round: s.Round()}
	s.each(pings, func(server int, ping string) {
		result := discovery.Result{Server: server, State: discovery.Answered}
		if state, is := map[string]discovery.State{
			"lost": discovery.Lost, "refused": discovery.Refused, "forbidden": discovery.Forbidden,
		}[ping]; is {
			result.State = state
		} else {
			ms, err := strconv.ParseFloat(ping, 64)
			s.must(err)
			result.RTT = time.Duration(ms * float64(time.Millisecond))
		}
		report.Results = append(report.Results, result)
	})
	s.step(room.Hear{Player: people.ID(who), Message: report})
}

// each calls a function with what is said of each server, from the first on; of a server after "-"
// nothing is. A prefix 5@ names the server, and 5-9@ names several.
func (s *scenario) each(texts []string, do func(server int, text string)) {
	server := 0
	for _, text := range texts {
		first, last := server, server
		if at, of, is := strings.Cut(text, "@"); is {
			from, to, isRange := strings.Cut(at, "-")
			var err error
			first, err = strconv.Atoi(from)
			s.must(err)
			if last = first; isRange {
				last, err = strconv.Atoi(to)
				s.must(err)
			}
			text = of
		}
		for server = first; server <= last; server++ {
			if text != "-" {
				do(server, text)
			}
		}
	}
}

// look answers the newest second look with the player's earlier results. Full servers have no free
// seat any more. Ping, if given, is the player's new ping to all.
func (s *scenario) look(who string, c command) {
	asked, is := s.Looks[who]
	if !is {
		s.Fatalf("%s was not asked to look at anything", who)
	}
	verified := wire.Verified{Round: asked.Round, Attempt: asked.Attempt}
	for _, server := range asked.Servers {
		saw := s.Saw(who, server)
		seen := wire.Finalist{Server: server, State: saw.State, Sent: 3, Info: &discovery.Info{
			Name: fmt.Sprint("server ", server), Map: "oa_dm1", Players: 4, MaxPlayers: 16,
		}}
		if slices.Contains(c.list("full"), strconv.Itoa(server)) {
			seen.Info.Players = 16
		}
		if slices.Contains(c.list("lost"), strconv.Itoa(server)) {
			seen.State = discovery.Lost
		}
		if seen.State == discovery.Answered {
			ms := float64(saw.RTT.Microseconds()) / 1000
			if ping := c.value("ping"); ping != "" {
				ms, _ = strconv.ParseFloat(ping, 64)
			}
			seen.RTTs = []float64{ms}
		}
		verified.Servers = append(verified.Servers, seen)
	}
	s.step(room.Hear{Player: people.ID(who), Message: verified})
}

// actions are the actions of pages, by their names there.
var actions = map[string]func() room.Action{
	"vote":      func() room.Action { return &room.Vote{} },
	"veto":      func() room.Action { return &room.Veto{} },
	"move":      func() room.Action { return &room.Move{} },
	"moveon":    func() room.Action { return &room.MoveOn{} },
	"react":     func() room.Action { return &room.React{} },
	"ready":     func() room.Action { return &room.Ready{} },
	"go":        func() room.Action { return &room.Go{} },
	"apply":     func() room.Action { return &room.Apply{} },
	"handon":    func() room.Action { return &room.HandOn{Secret: "new secret"} },
	"renew":     func() room.Action { return &room.Renew{Secret: "new secret"} },
	"remove":    func() room.Action { return &room.Remove{} },
	"trust":     func() room.Action { return &room.Trust{} },
	"lock":      func() room.Action { return &room.Lock{} },
	"leave":     func() room.Action { return &room.Quit{} },
	"rename":    func() room.Action { return &room.Rename{} },
	"somewhere": func() room.Action { return &room.Somewhere{} },
	"bring":     func() room.Action { return &room.Bring{} },
	"hide":      func() room.Action { return &room.Hide{} },
	"strike":    func() room.Action { return &room.Strike{} },
	"arrived":   func() room.Action { return &room.Arrived{} },
	"reopen":    func() room.Action { return &room.Reopen{} },
	"allow":     func() room.Action { return &room.Allow{} },
	"without":   func() room.Action { return &room.Without{} },
	"more":      func() room.Action { return &room.More{} },
	"await":     func() room.Action { return &room.AwaitSeats{} },
	"unwait":    func() room.Action { return &room.Unwait{} },
	"end":       func() room.Action { return &room.End{} },
	"wake":      func() room.Action { return &room.Wake{} },
	"come":      func() room.Action { return &room.Come{} },
	"side":      func() room.Action { return &room.TakeSide{} },
	"captain":   func() room.Action { return &room.NameCaptain{} },
	"even":      func() room.Action { return &room.EvenPings{} },
	"ask_look":  func() room.Action { return &room.AskLook{} },
	"like":      func() room.Action { return &room.Like{} },
	"forget":    func() room.Action { return &room.Forget{} },
	"has":       func() room.Action { return &room.Has{} },
	"count":     func() room.Action { return &room.Count{} },
	"start":     func() room.Action { return &room.Started{} },
	"supply":    func() room.Action { return &room.Supply{} },
}

// credential returns the credential of somebody's page, the organiser's secret, a ticket, or the
// name itself.
func (s *scenario) credential(name string) string {
	if name == "organiser" {
		return "secret"
	}
	if who, is := strings.CutPrefix(name, "ticket of "); is {
		return roster.TicketOf(s.pages[who])
	}
	return cmp.Or(s.pages[name], name)
}

// order orders something on somebody's page.
func (s *scenario) order(by, name, input string) {
	credential := s.credential(by)
	switch name {
	case "whatif":
		s.step(room.Order{Credential: credential, Action: room.WhatIf(input)})
		return
	case "settings":
		s.step(room.Order{Credential: credential, Action: room.Change{
			Settings: []byte(input), Games: []string{"openarena", "xonotic"}, MaxPlaces: 2, Posts: true,
		}})
		return
	}
	make, known := actions[name]
	if !known {
		s.Fatalf("no such action: %s", name)
	}
	action := make()
	if input != "" {
		s.must(json.Unmarshal([]byte(input), action))
	}
	s.step(room.Order{Credential: credential, Action: reflect.ValueOf(action).Elem().Interface().(room.Action)})
}

// step plays an input, and writes down what follows.
func (s *scenario) step(in room.Input) error {
	err := s.Step(in)
	if err != nil {
		s.errors++
		s.tell("refused: %v", err)
	}
	return err
}

// tells writes down an output.
func (s *scenario) tells(o room.Output) {
	switch o := o.(type) {
	case room.Send:
		if f, is := o.Message.(wire.Finalists); is && len(s.plays[string(o.To)].pings) > 0 {
			s.asides = append(s.asides, o)
			s.aside[f.Servers[0]]++
			break
		}
		s.tell("%s ← %s", cmp.Or(o.To, "all"), s.worded(o.Message))
		if w, is := o.Message.(wire.Welcome); is {
			s.pages[string(o.To)] = w.Page
		}
	case room.Dismiss:
		s.tell("%s is sent away: %s", o.Player, o.Why.Reason)
	case room.Fetch:
		text := fmt.Sprint("fetch the list of ", o.Game)
		if len(o.Servers) > 0 {
			text = fmt.Sprint("fetch ", o.Servers)
		}
		if len(o.Also) > 0 {
			text += fmt.Sprint(", and ", o.Also)
		}
		s.tell("%s", text)
	case room.Announce:
		s.tell("announce: %v", o.Announcement.Kind)
	case room.Answer:
		data, err := json.Marshal(o.Document)
		s.must(err)
		s.tell("answer: %s", data)
	}
}

// worded returns a message in few words, or its JSON.
func (s *scenario) worded(m wire.Message) string {
	switch m := m.(type) {
	case wire.Welcome:
		return "welcome"
	case wire.List:
		return fmt.Sprintf("list of %d", len(m.Servers))
	case wire.Measure:
		text := "measure"
		if m.Strategy != "conventional" {
			text += " " + m.Strategy
		}
		if m.Known > 0 {
			text += fmt.Sprintf(", %d known", m.Known)
		}
		return text
	case wire.Ask:
		return fmt.Sprintf("ask %v", m.Servers)
	case wire.Finalists:
		return fmt.Sprintf("look again at %v", m.Servers)
	case wire.Launch:
		return "go to " + m.Address
	case wire.Report:
		return fmt.Sprintf("report of %d", len(m.Results))
	case wire.Infos:
		return fmt.Sprintf("infos of %d", len(m.Servers))
	}
	frame, err := wire.Marshal(m)
	s.must(err)
	return string(frame.Data)
}

// notes writes down the stage and new lines of the log.
func (s *scenario) notes() {
	shown := s.Room.Snapshot()
	log := shown.Log
	isSame := func(a, b wire.Note) bool { return a.At.Equal(b.At) && a.Key == b.Key } // names may have changed
	last := len(log)
	for ; last > 0; last-- { // the room may say the same twice in a moment
		if known := min(last, len(s.noted)); known > 0 && slices.EqualFunc(log[last-known:last], s.noted[len(s.noted)-known:], isSame) {
			break
		}
	}
	for _, note := range log[last:] {
		s.tell("%s", note.String())
	}
	s.noted = slices.Clone(log)
	if shown.Room.Stage != s.stage {
		if s.stage != "" {
			s.tell("— %s —", shown.Room.Stage)
		}
		s.stage = shown.Room.Stage
	}
}

func (s *scenario) tell(format string, args ...any) {
	fmt.Fprintf(&s.text, s.prefix+format+"\n", args...)
}

// happened returns the text since its last call.
func (s *scenario) happened() string {
	text := s.text.String()
	s.text.Reset()
	s.errors = 0
	return text
}

// tick lets as much time pass as the host would, and writes down what happens.
func (s *scenario) tick(end time.Time, from time.Time) {
	next := s.Room.Next()
	if least := s.Now.Add(tick); next.Before(least) {
		next = least
	}
	if next.After(end) {
		next = end
	}
	s.Now = next
	s.prefix = fmt.Sprintf("+%v ", s.Now.Sub(from))
	s.step(room.Tick{Mute: s.mute, Lines: s.lines})
	s.answerAsides()
	s.prefix = ""
}

func (s *scenario) wait(text string) {
	d, err := time.ParseDuration(text)
	s.must(err)
	from := s.Now
	for end := s.Now.Add(d); s.Now.Before(end); {
		s.tick(end, from)
	}
}

// until lets time pass till the room is in a stage, an hour at most.
func (s *scenario) until(stage wire.Stage) {
	from := s.Now
	for end := s.Now.Add(time.Hour); s.Now.Before(end) && s.Room.Stage() != stage; {
		s.tick(end, from)
	}
	if s.Room.Stage() != stage {
		s.tell("still %s after an hour", s.Room.Stage())
	}
}

// answerAsides answers the questions to programs whose players play; a server without a ping is lost.
func (s *scenario) answerAsides() {
	for ; len(s.asides) > 0; s.asides = s.asides[1:] {
		who, asked := s.asides[0].To, s.asides[0].Message.(wire.Finalists)
		seen := wire.Finalist{Server: asked.Servers[0], State: discovery.Lost, Sent: 1}
		if ms, err := strconv.ParseFloat(s.plays[string(who)].pings[seen.Server], 64); err == nil {
			seen.State, seen.RTTs = discovery.Answered, []float64{ms}
			seen.Info = &discovery.Info{Map: s.plays[string(who)].on, Players: 4, MaxPlayers: 16}
		}
		s.step(room.Hear{Player: who, Message: wire.Verified{Round: asked.Round, Attempt: asked.Attempt, Servers: []wire.Finalist{seen}}})
	}
}

// show writes the value at a path of the snapshot, such as room.stage or choice.chosen.addr. It says
// sentences in English.
func (s *scenario) show(path string) {
	data, err := json.Marshal(s.Room.Snapshot())
	s.must(err)
	var at any
	s.must(json.Unmarshal(data, &at))
	s.tell("%s: %s", path, strings.Join(found(told(at), strings.Split(path, ".")), " "))
}

// told returns a value with English in place of its sentences, outside the log.
func told(at any) any {
	switch at := at.(type) {
	case map[string]any:
		_, isNote := at["at"]
		if _, is := at["key"].(string); is && !isNote {
			var of sentence.Sentence
			data, _ := json.Marshal(at)
			if json.Unmarshal(data, &of) == nil {
				return catalogue.InEnglish().Say(of)
			}
		}
		for name := range at {
			at[name] = told(at[name])
		}
	case []any:
		for i := range at {
			at[i] = told(at[i])
		}
	}
	return at
}

// found returns the values at a path, in JSON. An asterisk stands for every element of a list.
func found(at any, path []string) (texts []string) {
	if len(path) == 0 {
		data, _ := json.Marshal(at)
		return []string{string(data)}
	}
	switch at := at.(type) {
	case map[string]any:
		return found(at[path[0]], path[1:])
	case []any:
		if path[0] == "*" {
			for _, element := range at {
				texts = append(texts, found(element, path[1:])...)
			}
			return texts
		}
		if i, err := strconv.Atoi(path[0]); err == nil && i < len(at) {
			return found(at[i], path[1:])
		}
	}
	return []string{"nothing"}
}
