package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"muster/host/access"
	"muster/host/cluster/clustertest"
	"muster/host/wire"
)

// A night has so many hosts over so many NATS servers, and so many rooms with players each.
const (
	hosts       = 3
	natsServers = 3
	rooms       = 4
	players     = 4
	faults      = 20
	meetings    = 3 // of them meet an order
	gameServers = 24
	votes       = 3    // the room whose people vote
	loosest     = 2000 // ms, the first limit of rooms
	// Faults begin within faulty of the beginning and last at most longest, but for an outage: it lasts longer,
	// and may come when nobody orders anything any more. A night that is whole again must be over within mending.
	faulty  = 50 * time.Second
	longest = 12 * time.Second
	mending = 90 * time.Second
	// A night that takes so many steps, or so long by the machine's own clock, does not end.
	steps    = 500_000
	patience = 10 * time.Minute
	// farAway is how late what a server of NATS says comes, if it is far away.
	farAway = 400 * time.Millisecond
	// What is done to a whole world has times from then on, which only order it.
	then = 1000 * time.Hour
)

// op is a fault, or something that people do. It is done at a time and, if it lasts, undone later.
type op struct {
	at    time.Duration
	kind  string
	a, b  int
	lasts time.Duration
}

func (o op) String() string { return fmt.Sprintf("%v %s %d %d %v", o.at, o.kind, o.a, o.b, o.lasts) }

// parseOp reads an op as String writes it.
func parseOp(text string) (o op, err error) {
	var at, lasts string
	if _, err = fmt.Sscan(text, &at, &o.kind, &o.a, &o.b, &lasts); err != nil {
		return o, fmt.Errorf("%q is no operation: %w", text, err)
	}
	if o.at, err = time.ParseDuration(at); err == nil {
		o.lasts, err = time.ParseDuration(lasts)
	}
	return o, err
}

// kinds are the faults, each as often as the others.
var kinds = []string{
	"kill", "drain", "freeze", "jump", "nats-frozen", "nats-deaf", "nats-mute", "cut-hosts", "cut-player-up", "cut-player-down",
	"stop-nats", "cut-nats", "far", "lead", "step-down", "lose-acks", "fill", "slow", "lose-tail", "quit", "cut-line",
}

// meeting are the faults that meet the host of a room just as something is asked of the room.
var meeting = []string{"kill", "freeze", "nats-deaf", "nats-frozen", "nats-mute"}

// ofOwner begins the kinds of faults that take the host that has a room.
const ofOwner = "owner-"

// isOfNATS says that a fault takes one of the servers of NATS, or a part of what it knows.
func (o op) isOfNATS() bool {
	return slices.Contains([]string{"stop-nats", "cut-nats", "fill", "slow", "lose-tail", "outage"}, o.kind)
}

// script returns what happens in a night.
func script(seed uint64) (all []op) {
	random := mathrand.New(mathrand.NewPCG(seed, 1))
	// Nothing happens at round times, at which timers fire.
	moment := func(from, to time.Duration) time.Duration {
		return (from + time.Duration(random.Int64N(int64(to-from)))).Truncate(time.Millisecond) + time.Duration(len(all))*1017 + 331_000
	}
	for range faults - meetings {
		o := op{at: moment(4*time.Second, faulty), kind: kinds[random.IntN(len(kinds))], a: random.IntN(hosts), b: random.IntN(hosts - 1),
			lasts: moment(200*time.Millisecond, longest)}
		if o.b >= o.a {
			o.b++
		}
		switch o.kind {
		case "cut-player-up", "cut-player-down":
			o.b = random.IntN(rooms * players)
		case "quit":
			o.a = random.IntN(rooms * players)
		case "jump":
			o.b = random.IntN(7200) - 3600
		case "lead", "step-down", "lose-acks":
			o.b = random.IntN(len(streams))
		case "lose-tail":
			o.b = 1 + random.IntN(20)
		}
		all = append(all, o)
	}
	for range meetings {
		at, lasts, room := moment(10*time.Second, faulty), moment(4*time.Second, longest), random.IntN(rooms)
		order, most := "limit", 800*time.Millisecond
		if random.IntN(2) == 0 {
			order, most = "go", 6*time.Second // until people are sent
		}
		cut := at + moment(0, most) - 500*time.Millisecond
		all = append(all, op{at: at, kind: order, a: room},
			op{at: cut, kind: ofOwner + meeting[random.IntN(len(meeting))], a: room, lasts: lasts},
			// What the next host has promised, the one that comes back must not contradict.
			op{at: cut + max(lasts-700*time.Millisecond, 4*time.Second), kind: "limit", a: room})
		switch random.IntN(3) {
		case 0: // and another host while that one's rooms are adopted
			all = append(all, op{at: at + moment(2500*time.Millisecond, 6*time.Second), kind: "kill", a: random.IntN(hosts), lasts: lasts})
		case 1: // and NATS is far away, so that what takes some ms takes half a second
			kind := []string{"far", ofOwner + "far"}[random.IntN(2)]
			all = append(all, op{at: at - 2*time.Second + moment(0, time.Second), kind: kind, a: random.IntN(hosts), lasts: longest})
			if kind != "far" {
				all[len(all)-1].a = room
			}
		}
	}
	if random.IntN(10) == 0 {
		all = append(all, op{at: moment(30*time.Second, faulty+10*time.Second), kind: "outage", lasts: moment(65*time.Second, 80*time.Second)})
	}
	if random.IntN(8) == 0 {
		all = append(all, op{at: moment(20*time.Second, faulty), kind: "alone", a: random.IntN(rooms * players), lasts: moment(62*time.Second, 70*time.Second)})
	}
	for room := range rooms {
		for at := 10 * time.Second; at < faulty; at += time.Duration(3+random.IntN(15)) * time.Second {
			kind := "limit"
			if random.IntN(3) == 0 {
				kind = "go"
			}
			all = append(all, op{at: moment(at, at+time.Second), kind: kind, a: room})
			if room == votes {
				all = append(all, op{at: moment(at, at+time.Second), kind: []string{"vote", "vote", "ready"}[random.IntN(3)],
					a: room*players + random.IntN(players), b: random.IntN(100)})
			}
		}
	}
	if random.IntN(4) == 0 {
		all = append(all, op{at: moment(20*time.Second, faulty), kind: "gone", a: random.IntN(hosts)})
	}
	for _, n := range random.Perm(len(lasts))[:2] {
		o := op{at: then + time.Duration(n), kind: lasts[n].kind, a: random.IntN(rooms * players)}
		if lasts[n].isOfHost {
			o.a %= hosts
		}
		all = append(all, o)
	}
	if random.IntN(3) == 0 { // within what the lease stands, or much too fast
		all = append(all, op{at: moment(4*time.Second, faulty), kind: "rate", a: random.IntN(hosts), b: []int{84 + random.IntN(42), 200}[random.IntN(5)/4], lasts: moment(10*time.Second, 40*time.Second)})
	}
	if random.IntN(4) == 0 { // a machine whose connections to NATS are dead when it comes back
		at, lasts, room := moment(10*time.Second, faulty), moment(4*time.Second, longest), random.IntN(rooms)
		all = append(all, op{at: at, kind: ofOwner + "nats-deaf", a: room, lasts: lasts + time.Second}, op{at: at - 1, kind: ofOwner + "suspend", a: room, lasts: lasts},
			op{at: at + 300*time.Millisecond, kind: "limit", a: room}) // which the next owner acknowledges
	}
	if seed%(1<<31)%10 == 9 {
		all = onDisk(all, random, moment)
	}
	slices.SortStableFunc(all, func(a, b op) int { return cmp.Compare(a.at, b.at) })
	// NATS promises nothing to whoever loses a part of one disk while another server lacks something.
	return slices.DeleteFunc(all, func(o op) bool {
		return o.kind == "lose-tail" && slices.ContainsFunc(all, func(other op) bool {
			return other != o && other.isOfNATS() && other.at < o.at+o.lasts+20*time.Second && o.at < other.at+other.lasts+20*time.Second
		})
	})
}

var streams = []string{"muster-rooms", "muster-hosts", "muster-large"}

// group is a room's people.
type group struct {
	n                 int
	code, key, secret string
	by                string // its rule
	players           []*gamer
	sent              int // orders
	busy              chan struct{}
}

// result is what came of a night.
type result struct {
	broken []string
	trace  string
	hash   string
}

// night plays one.
func night(t *testing.T, seed uint64, ops []op) (r result) {
	before := rand.Reader
	rand.Reader = &random{seed: seed}
	defer func() { rand.Reader = before }()
	w := &world{net: newNetwork(), servers: list(gameServers), owners: map[string]string{}, claims: map[string]*epochs{}}
	// A bubble's clock stands while a goroutine turns in circles, so this timer is none of the bubble's.
	defer time.AfterFunc(patience, func() { w.hang(fmt.Sprint("the night does not end within ", patience)) }).Stop()
	func() {
		defer func() {
			if why := recover(); why != nil {
				r.broken = append(r.broken, fmt.Sprint("the night does not end: ", why))
			}
		}()
		synctest.Test(t, func(*testing.T) { r.broken = w.play(seed, ops) })
	}()
	r.trace = w.told()
	sum := sha256.Sum256([]byte(r.trace))
	r.hash = hex.EncodeToString(sum[:8])
	return r
}

// told returns the trace as text. Within a nanosecond, goroutines have no order.
func (w *world) told() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	names := strings.NewReplacer(w.names...)
	lines := make([]string, len(w.trace))
	for i, l := range w.trace {
		lines[i] = fmt.Sprintf("%14v %s: %s\n", l.at, l.who, names.Replace(l.what))
	}
	at := func(i int) time.Duration { return w.trace[i].at }
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(at(i), at(j)), cmp.Compare(lines[i], lines[j])) })
	var all strings.Builder
	for _, i := range order {
		all.WriteString(lines[i])
	}
	return all.String()
}

// play lets the night pass, and returns which promises were broken.
func (w *world) play(seed uint64, ops []op) (broken []string) {
	w.began = time.Now()
	machines := hosts
	if slices.ContainsFunc(ops, op.isDisk) {
		machines, w.gone = 1, []int{1, 2}
		w.disk = newDisk(seed, func(format string, args ...any) { w.tell("disk", format, args...) })
		w.canonical(w.disk.folder, "disk")
		defer w.disk.close()
	} else {
		w.nats = clustertest.New(natsServers)
		w.nats.Trace(w)
		w.nats.Keeps(w.keeps)
		defer w.nats.Close()
	}
	for i := range machines {
		w.machines = append(w.machines, &machine{pending: map[*alarm]bool{}})
		w.hosts = append(w.hosts, w.start(i))
		time.Sleep(333_333 * time.Microsecond)
	}
	time.Sleep(time.Second)
	all, broken := w.gather(seed)
	unwatched := w.watch(all)
	w.suffer(ops, all)
	w.tell("night", "all is whole")
	unwatched()
	w.orders.Wait()
	whole := time.Since(w.began)
	for quiet := 0; quiet < 5 && time.Since(w.began) < whole+mending; quiet++ { // what waited may only begin now
		if len(w.waiting(all)) > 0 {
			w.hurry(all[votes%len(all)])
			quiet = -1
		}
		time.Sleep(time.Second)
	}
	if at, isSilent := w.disk.hasForgotten(); !at.IsZero() {
		broken = append(broken, w.checkForgotten(all, at.Sub(w.began), isSilent)...)
	} else {
		broken = append(broken, w.doLast(ops, all)...)
		broken = append(broken, w.check(all, ops)...)
	}
	w.tell("night", "over")
	w.mu.Lock()
	w.isOver = true
	w.mu.Unlock()
	w.disperse(all)
	return broken
}

// gather opens the night's rooms, and returns those that have people, and what fails.
func (w *world) gather(seed uint64) (all []*group, broken []string) {
	for i := range rooms {
		g := &group{n: i, busy: make(chan struct{}, 1)}
		if why := w.open(g, i); why != "" {
			broken = append(broken, why)
			continue
		}
		all = append(all, g)
		for j := range players {
			one := w.gamer(g, i*players+j, seed)
			g.players = append(g.players, one)
			one.play()
			time.Sleep(97_003_017 * time.Nanosecond)
		}
	}
	for i := range hosts {
		g := &group{n: rooms + i}
		if why := w.open(g, i); why != "" {
			broken = append(broken, why)
		}
		w.quiet = append(w.quiet, g)
	}
	return all, broken
}

// suffer does the night's operations, each at its time, and undoes them.
func (w *world) suffer(ops []op, all []*group) {
	type undoing struct {
		at time.Duration
		op
		do func()
	}
	var undo []undoing
	// An operation that is late comes after what the last one has begun, not beside it.
	reach := func(at time.Duration) { time.Sleep(max(at-time.Since(w.began), 800*time.Nanosecond)) }
	pass := func(until time.Duration) {
		for len(undo) > 0 && undo[0].at <= until {
			reach(undo[0].at)
			w.tell("night", "undone: %v", undo[0].op)
			undo[0].do()
			w.welcome(undo[0].op, all)
			undo = undo[1:]
		}
		reach(until)
	}
	for _, o := range ops {
		if o.isThen() {
			continue
		}
		pass(o.at)
		w.tell("night", "%v", o)
		if back := w.do(o, all); back != nil {
			undo = append(undo, undoing{o.at + o.lasts, o, back})
			slices.SortStableFunc(undo, func(a, b undoing) int { return cmp.Compare(a.at, b.at) })
		}
	}
	if len(undo) > 0 {
		pass(undo[len(undo)-1].at)
	}
}

// disperse ends all programs and hosts.
func (w *world) disperse(all []*group) {
	for _, g := range all {
		for _, p := range g.players {
			p.stop()
		}
	}
	for _, h := range w.hosts {
		h.stop(false)
	}
	ended := make(chan struct{})
	go func() { w.work.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(5 * time.Minute):
		w.hang("not all has ended")
	}
}

// hang tells of a night that does not end, and ends the program: its goroutines cannot be ended.
func (w *world) hang(why string) {
	stacks := make([]byte, 1<<20)
	fmt.Printf("%s%s\n%s", w.told(), why, stacks[:runtime.Stack(stacks, true)])
	os.Exit(2)
}

// do does an operation, and returns how to undo it, nil if nothing has to be.
func (w *world) do(o op, all []*group) (undo func()) {
	both := func(a, b string) func() {
		w.net.cut(link{a, b}, true)
		return func() { w.net.cut(link{a, b}, false) }
	}
	if kind, is := strings.CutPrefix(o.kind, ofOwner); is {
		g := all[o.a%len(all)]
		if o.kind, o.a = kind, w.owner(g); strings.HasPrefix(kind, "nats-") {
			w.doubt(o.a, 3*time.Second, g)
		}
	}
	switch o.kind {
	case "kill", "drain":
		h := w.hosts[o.a]
		h.stop(o.kind == "kill")
		return func() {
			if w.hosts[o.a] == h && !w.isGone(o.a) {
				if o.kind == "drain" {
					<-h.ended // two processes do not listen at one port
				}
				w.hosts[o.a] = w.start(o.a)
			}
		}
	case "gone": // for the rest of the night: the other hosts have its rooms then
		w.noteGone(o.a)
		w.hosts[o.a].stop(true)
	case "freeze", "suspend": // a process, or a machine, whose clock is then set at the end
		h := w.hosts[o.a]
		h.set(clustertest.Frozen)
		h.clock.hold(true)
		if o.kind == "suspend" {
			h.clock.run(standing)
		}
		undo := w.around(h.node)
		heard := w.deafen(all, func(p *gamer) bool { return int(p.at.Load()) == o.a })
		return func() {
			heard()
			if o.kind == "suspend" {
				h.clock.jump(int64(o.lasts / time.Second))
				h.clock.run(100)
				w.doubt(o.a, 0, all...)
			}
			h.clock.hold(false)
			h.set(clustertest.Whole)
			undo()
		}
	case "jump":
		if m := w.machines[o.a]; m.percent != standing { // nobody can tell how long a suspended one was if its date is set
			m.jump(int64(o.b))
		}
	case "rate":
		w.machines[o.a%len(w.machines)].run(o.b)
		return func() { w.machines[o.a%len(w.machines)].run(100) }
	case "nats-frozen", "nats-deaf", "nats-mute":
		h := w.hosts[o.a]
		h.set(map[string]clustertest.LineState{"nats-frozen": clustertest.Frozen, "nats-deaf": clustertest.Deaf, "nats-mute": clustertest.Mute}[o.kind])
		return func() {
			h.set(clustertest.Whole)
			if o.kind != "nats-frozen" {
				h.line.Cut() // a gap in a stream of bytes ends it
			}
		}
	case "far":
		h := w.hosts[o.a]
		h.far.Store(int64(farAway))
		h.line.Cut() // the next one is longer
		return func() { h.far.Store(0); h.line.Cut() }
	case "cut-line":
		w.hosts[o.a].line.Cut()
	case "cut-hosts":
		return both(w.hosts[o.a].node, w.hosts[o.b].node)
	case "cut-player-up":
		back, heard := both(fmt.Sprintf("p%02d", o.b), w.hosts[o.a].node), w.deafen(all, func(p *gamer) bool { return p.n == o.b })
		return func() { back(); heard() }
	case "cut-player-down":
		return both(w.hosts[o.a].node, fmt.Sprintf("p%02d", o.b))
	case "stop-nats":
		return w.stopNATS(o.a)
	case "outage":
		var back [natsServers]func()
		for i := range natsServers {
			back[i] = w.stopNATS(i)
		}
		return func() {
			for _, start := range back {
				start()
			}
		}
	case "cut-nats":
		w.nats.Cut(o.a, o.b, true)
		return func() { w.nats.Cut(o.a, o.b, false) }
	case "lead":
		w.nats.Lead(streams[o.b], o.a)
	case "step-down":
		w.nats.StepDown(streams[o.b])
	case "lose-acks":
		w.nats.LoseAcks(streams[o.b], 1+o.a)
	case "fill":
		w.nats.Fill(o.a, true)
		return func() {
			w.nats.Fill(o.a, false)
			if w.stops[o.a] == 0 {
				w.nats.Start(o.a)
			}
		}
	case "slow":
		w.nats.Slow(o.a, true)
		return func() { w.nats.Slow(o.a, false) }
	case "lose-tail":
		start := w.stopNATS(o.a)
		w.nats.LoseTail(o.a, o.b)
		return start
	case "quit":
		g := all[o.a/players%len(all)].players[o.a%players]
		g.stop()
		w.see(sighting{who: g.name, room: g.room, lost: true})
		ended := g.ended
		return func() {
			if <-ended; ended == g.ended { // otherwise another quit has begun it again
				g.play()
			}
		}
	case "alone": // a player, from all hosts
		return w.around(fmt.Sprintf("p%02d", o.a))
	case "limit", "go":
		g := all[o.a%len(all)]
		host := w.host(g.n + int(o.at/time.Second))
		w.orders.Go(func() { w.order(g, o.kind, host) })
	case "vote", "ready":
		w.orders.Go(func() { w.speak(all[o.a/players%len(all)].players[o.a%players], o.kind, o.b) })
	default:
		return w.doDisk(o)
	}
	return nil
}

// stopNATS stops a server of NATS. It starts again when all faults that have stopped it are undone.
func (w *world) stopNATS(server int) (start func()) {
	w.stops[server]++
	w.nats.Stop(server)
	return func() {
		if w.stops[server]--; w.stops[server] == 0 {
			w.nats.Start(server)
		}
	}
}

func (w *world) noteGone(host int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gone = append(w.gone, host)
}

func (w *world) isGone(host int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.gone, host)
}

// around cuts a node off from everybody.
func (w *world) around(node string) (undo func()) {
	var cut []link
	for i := range rooms * players {
		cut = append(cut, link{fmt.Sprintf("p%02d", i), node})
	}
	for _, h := range w.hosts {
		cut = append(cut, link{h.node, node})
	}
	cut = append(cut, link{"organiser", node})
	for _, l := range cut {
		w.net.cut(l, true)
		w.net.cut(link{l.to, l.from}, true)
	}
	return func() {
		for _, l := range cut {
			w.net.cut(l, false)
			w.net.cut(link{l.to, l.from}, false)
		}
	}
}

// ask sends a request to a host with somebody's credential, and returns the answer's status, 0 for none.
func (w *world) ask(host int, g *group, as, method, path string, body, into any) int {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+w.web(host)+path, bytes.NewReader(text))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if g.code != "" {
		r.Header.Set("Muster-Code", g.code)
		r.Header.Set("Muster-Key", g.key)
		r.Header.Set("Authorization", "Bearer "+as)
	}
	time.Sleep(time.Duration(g.n) * 1021) // two that ask at one time would dial in any order
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, to string) (net.Conn, error) {
		return w.net.dial(ctx, "organiser", "203.0.113.200:0", to)
	}}
	answer, err := transport.RoundTrip(r)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	if into != nil && answer.StatusCode != http.StatusNoContent && json.NewDecoder(answer.Body).Decode(into) != nil {
		return 0
	}
	return answer.StatusCode
}

// open opens a room at a host.
func (w *world) open(g *group, n int) (why string) {
	var opened wire.Opened
	g.by = []string{"mean", "minimax", "fairness", "mean"}[n]
	settings := map[string]any{"game": game, "players": players, "by": g.by, "name": "night", "limits_ms": []int{loosest}}
	if g.n == votes {
		settings["agree"] = true
	}
	status := w.ask(w.host(n), g, "", "POST", "/api/rooms", settings, &opened)
	if status != http.StatusCreated {
		return fmt.Sprintf("a whole world opens no room: %d", status)
	}
	_, link, _ := strings.Cut(opened.OrganiserLink, "#")
	key, err := access.ParseKey(link)
	if err != nil {
		return err.Error()
	}
	g.code, g.key, g.secret = opened.Code, key.Link, key.Secret
	w.begin(word{room: g, kind: "limit", text: fmt.Sprint(loosest)})()
	return ""
}

// order gives a room another limit of pings, which keeps nobody out, or sends it on to the next round.
func (w *world) order(g *group, kind string, host int) {
	g.busy <- struct{}{}
	defer func() { <-g.busy }()
	g.sent++
	path, body, limit := "go", map[string]any{"stage": wire.Launching}, ""
	if kind == "limit" {
		limit = fmt.Sprint(loosest - g.sent)
		path, body = "settings", map[string]any{"settings": map[string]any{"limits_ms": []int{loosest - g.sent}}}
	}
	kept := w.begin(word{room: g, kind: kind, text: limit})
	status := w.ask(host, g, g.secret, "POST", "/api/rooms/-/"+path, body, nil)
	w.tell("organiser", "room %d, %s %s, by host %d: %d", g.n, kind, limit, host, status)
	if status == http.StatusNoContent {
		kept()
	}
}
