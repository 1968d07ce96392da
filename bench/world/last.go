package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"muster/host/cluster/clustertest"
	"muster/host/wire"
)

// last is something that is done to a world that is whole again, and that has to go well.
type last struct {
	kind string
	// Meanwhile nobody is cut off for longer than most. isOfHost says that it takes a host, that of a room.
	most     time.Duration
	isOfHost bool
	do       func(*finale)
}

// lasts are what is done at last, each as often as the others.
var lasts = []last{
	{"then-drain", drainTime, true, (*finale).drain},
	{"then-lose", lossTime, true, (*finale).lose},
	{"then-vanish", silentTime, true, (*finale).vanish},
	{"then-slow", lossTime, true, (*finale).slow},
	{"then-lose-nats", lossTime, false, (*finale).loseNATS},
	{"then-go", 0, false, (*finale).goOn},
	{"then-restart", 0, false, (*finale).restart},
	{"then-quit", 0, false, (*finale).quit},
	{"then-silent", 0, false, (*finale).fallSilent},
	{"then-twin", 0, false, func(f *finale) { f.knock(f.p.name) }},
	{"then-newcomer", 0, false, func(f *finale) { f.knock("newcomer") }},
	{"then-remove", 0, false, func(f *finale) { f.part("remove", "removed", f.g.secret, map[string]any{"name": f.p.name}) }},
	{"then-leave", 0, false, func(f *finale) { f.part("leave", "left", f.page(f.p), nil) }},
	{"then-end", 0, false, (*finale).end},
}

// isThen says that an op is for the time after the faults, when all is whole.
func (o op) isThen() bool { return strings.HasPrefix(o.kind, "then-") }

// finale is a world that is whole again, and what is done to it: the op, to a player p of a room g.
type finale struct {
	*world
	op
	all    []*group
	g      *group
	p      *gamer
	broken []string
}

func (f *finale) fail(format string, args ...any) {
	f.broken = append(f.broken, fmt.Sprintf(format, args...))
}

// doLast does what comes at last, in a world that has been whole for a while, and returns what it breaks.
func (w *world) doLast(ops []op, all []*group) (broken []string) {
	f := &finale{world: w, all: all}
	time.Sleep(calmTime - settledTime)
	f.during("rest", 0, func() { time.Sleep(settledTime) })
	w.calm = time.Since(w.began)
	f.during("limit", 0, f.look)
	for _, o := range ops {
		at := slices.IndexFunc(lasts, func(l last) bool { return l.kind == o.kind })
		if at < 0 {
			continue
		}
		l := lasts[at]
		if l.isOfHost {
			o.a = w.owner(all[o.a%len(all)])
		}
		f.op, f.g = o, all[o.a/players%len(all)]
		f.p = f.g.players[o.a%players]
		if l.isOfHost && !w.isGone(o.a) && len(w.gone) < 2 || !l.isOfHost && !f.p.isOut.Load() {
			w.tell("night", "%v", o)
			f.during(l.kind, l.most, func() { l.do(f) })
		}
	}
	return f.broken
}

// during does something during which nobody is cut off for longer than most, but for the player to whom it
// is done.
func (f *finale) during(what string, most time.Duration, do func()) {
	from, but := time.Since(f.began), ""
	if do(); f.p != nil && most == 0 {
		but = f.p.name
	}
	f.spans = append(f.spans, span{from, time.Since(f.began), most, what, but})
}

// there returns the hosts that there are.
func (w *world) there() (all []int) {
	for i := range hosts {
		if !w.isGone(i) {
			all = append(all, i)
		}
	}
	return all
}

// visit looks at rooms at whose host nobody has called since it was lost. Whoever comes there finds them at once.
func (f *finale) visit(away int) {
	for n, g := range f.quiet {
		for i := range hosts {
			host := (n + 1 + i) % hosts
			if f.isGone(host) || host == away {
				continue
			}
			if l := f.world.look(host, g); l.status != http.StatusOK || l.told-l.asked > answerTime {
				f.fail("room %d, where nobody was, is shown by host %d after %v: %d", g.n, host, l.told-l.asked, l.status)
			}
		}
	}
}

// limits gives each room another limit. It takes no longer than most.
func (f *finale) limits(most time.Duration) {
	for _, g := range f.all {
		began := time.Since(f.began)
		f.order(g, "limit", f.host(g.n))
		for f.last(g).kept == 0 && time.Since(f.began)-began < most {
			time.Sleep(answerTime)
			f.order(g, "limit", f.host(g.n))
		}
		if last := f.last(g); last.kept == 0 || last.kept-began > most {
			f.fail("room %d does not get the limit %s", g.n, last.text)
		}
	}
}

// look gives each room another limit, and looks at all that everybody is shown then.
func (f *finale) look() {
	f.visit(-1)
	f.limits(answerTime)
	time.Sleep(2 * answerTime)
	for _, g := range f.all {
		for _, p := range g.players {
			if s := f.newest(p.name); s.limit != f.last(g).text {
				f.fail("%s sees room %d with the limit %s, and not %s", p.name, g.n, s.limit, f.last(g).text)
			}
		}
		for _, i := range f.there() {
			of := f.world.look(i, g).of
			isSent := of.Phase.Name == wire.PhaseLaunching // an earlier order that nobody answered may begin a round now
			for _, m := range of.Members {
				at := slices.IndexFunc(g.players, func(p *gamer) bool { return p.name == m.Name })
				if at >= 0 && (!m.Connected || isSent && !f.isSaid(g.players[at], m.Launch)) {
					f.fail("%s is in room %d, and host %d shows it as %v, %q", m.Name, g.n, i, m.Connected, m.Launch)
				}
			}
		}
	}
}

// isSaid reports whether a player's program has said this of the launch last. What a program says that then ends
// may be lost.
func (w *world) isSaid(p *gamer, state wire.LaunchState) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return state == p.said || p.saidIn != p.lives && (state == wire.LaunchStarted || state == wire.LaunchByHand)
}

func (w *world) page(p *gamer) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return p.page
}

func (f *finale) lose() {
	f.noteGone(f.a)
	f.hosts[f.a].stop(true)
	time.Sleep(2 * lossTime)
	f.visit(-1)
}

// vanish takes a machine from the network, as when its power is cut: no connection to it ends by itself. A host
// ends its own in time, and only who called the machine itself waits longer.
func (f *finale) vanish() {
	others := map[string]bool{} // who called another host
	for _, g := range f.all {
		for _, p := range g.players {
			others[p.name] = p.at.Load() != int32(f.a)
		}
	}
	f.noteGone(f.a)
	h := f.hosts[f.a]
	f.net.forget(h.node)
	f.around(h.node)
	h.set(clustertest.Frozen)
	h.clock.hold(true)
	time.Sleep(lossTime)
	for n, g := range f.all {
		for _, m := range f.world.look(f.host(n), g).of.Members {
			if others[m.Name] && !m.Connected {
				f.fail("%s is not back, who called another host than the one that has vanished", m.Name)
			}
		}
	}
	time.Sleep(silentTime - lossTime)
	f.visit(-1)
	h.stop(true)
	h.clock.hold(false)
}

// isThere reports whether a player's program is in its room, as far as it knows.
func (w *world) isThere(p *gamer) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return away(w.seen, p.name, time.Since(w.began)-1, time.Since(w.began)) == 0
}

// drain ends a host in good order, while people go on asking it.
func (f *finale) drain() {
	h := f.hosts[f.a]
	for _, g := range f.all {
		if f.owner(g) != f.a || g.players[0].isOut.Load() {
			continue
		}
		settings := map[string]any{"settings": map[string]any{"limits_ms": []int{loosest - g.sent}}}
		for n := range 40 {
			f.orders.Go(func() {
				time.Sleep(time.Duration(n*2_003_003 + g.n*500_009))
				var says struct{ Reason string }
				status := f.ask(f.a, g, g.secret, "POST", "/api/rooms/-/settings", settings, &says)
				if status == http.StatusNotFound || says.Reason == wire.ReasonClosed {
					f.mu.Lock()
					defer f.mu.Unlock()
					f.fail("room %d is unknown or over, says host %d, which ends: %d, %s", g.n, f.a, status, says.Reason)
				}
			})
		}
	}
	time.Sleep(75 * time.Millisecond) // until the first of them are there
	h.stop(false)
	time.Sleep(drainTime)
	f.orders.Wait()
	<-h.ended
	f.visit(f.a)
	f.hosts[f.a] = f.start(f.a)
	time.Sleep(lossTime)
	f.visit(-1)
}

// slow makes a server of NATS lag behind, opens a room, and lets a host start again: it must not take what that
// server knows for what there is.
func (f *finale) slow() {
	lags := (f.nats.Leader(streams[0]) + 1 + f.a%2) % natsServers
	f.nats.Slow(lags, true)
	f.limits(answerTime)
	f.hosts[f.a].stop(true)
	time.Sleep(lossTime)
	g := &group{n: rooms + len(f.quiet)}
	if why := f.open(g, f.host((f.a+1)%hosts)); why != "" {
		f.fail("%s", why)
	}
	f.quiet = append(f.quiet, g)
	f.hosts[f.a] = f.start(f.a)
	for range 4 {
		time.Sleep(answerTime)
		f.visit(-1)
	}
	f.nats.Slow(lags, false)
	time.Sleep(answerTime)
}

// loseNATS stops the server of NATS that leads, and takes its disk away. The others have everything. Once the
// server is back with an empty one it has, too.
func (f *finale) loseNATS() {
	leads := max(0, f.nats.Leader(streams[0]))
	f.nats.Stop(leads)
	f.nats.LoseTail(leads, 1<<30)
	f.limits(lossTime)
	f.nats.Start(leads)
	time.Sleep(lossTime)
	f.visit(-1)
	f.limits(answerTime)
}

// goOn sends a room into the next round, in which all of its players count.
func (f *finale) goOn() {
	f.order(f.g, "go", f.host(f.a))
	if f.last(f.g).kept == 0 {
		f.fail("room %d does not go on", f.g.n)
	}
	f.await()
}

// await waits for the end of a round.
func (f *finale) await() {
	for began, first := time.Now(), true; first || time.Since(began) < roundTime && len(f.waiting([]*group{f.g})) > 0; first = false {
		time.Sleep(answerTime)
		f.hurry(f.g)
	}
	waiting := f.waiting([]*group{f.g})
	for _, who := range waiting {
		f.fail("a round takes longer than a minute: %s", who)
	}
	if why := f.uncounted(f.g); len(waiting) == 0 && why != "" {
		f.fail("room %d: %s", f.g.n, why)
	}
}

// restart ends a player's program while it measures. It starts again at once, and counts.
func (f *finale) restart() {
	f.order(f.g, "go", f.host(f.a))
	time.Sleep(300 * time.Millisecond)
	f.p.stop()
	<-f.p.ended
	f.p.play()
	f.await()
}

func (f *finale) quit() {
	f.p.stop()
	<-f.p.ended
	time.Sleep(2 * answerTime)
	f.showsAway("whose program has ended")
	f.p.play()
	time.Sleep(answerTime)
}

// fallSilent cuts a player's line without an end. The player and the others hear of it in time.
func (f *finale) fallSilent() {
	from := time.Since(f.began)
	back := f.around(f.p.name)
	time.Sleep(silentTime)
	f.showsAway("whose line is silent")
	f.mu.Lock()
	told := isTold(f.seen, f.p.name, from, time.Since(f.began))
	f.mu.Unlock()
	if !told {
		f.fail("%s is not told of a silent line", f.p.name)
	}
	back()
	time.Sleep(lossTime)
	if !f.isThere(f.p) {
		f.fail("%s does not come back, whose line was silent", f.p.name)
	}
}

// showsAway looks whether a room shows that its player is away.
func (f *finale) showsAway(why string) {
	for _, m := range f.world.look(f.host(f.a), f.g).of.Members {
		if m.Name == f.p.name && m.Connected {
			f.fail("%s is shown as there, %s", f.p.name, why)
		}
	}
}

// knock lets somebody come to a full room under a name, who has no token of a player. The room says why not.
func (f *finale) knock(name string) {
	if slices.ContainsFunc(f.g.players, func(p *gamer) bool { return p.isOut.Load() }) {
		return
	}
	comer := f.gamer(f.g, f.op.a, 1)
	comer.name, comer.ip, comer.called = f.p.name+" again", "203.0.113.99", name
	comer.isOut.Store(true)
	comer.play()
	time.Sleep(2 * answerTime)
	if s := f.newest(comer.name); s.left == "" {
		f.fail("%s is not told that room %d is full", comer.name, f.g.n)
	}
	comer.stop()
	<-comer.ended
}

// part lets a player go out of a room: for good, and for everybody.
func (f *finale) part(path, kind, as string, body map[string]any) {
	f.p.isOut.Store(true)
	kept := f.begin(word{room: f.g, kind: kind, who: f.p.name})
	if status := f.ask(f.host(f.a), f.g, as, "POST", "/api/rooms/-/"+path, body, nil); status != http.StatusNoContent {
		f.fail("%s cannot be %s: %d", f.p.name, kind, status)
	}
	kept()
	time.Sleep(2 * answerTime)
	if f.newest(f.p.name).left == "" {
		f.fail("%s goes on, who was %s", f.p.name, kind)
	}
	for _, i := range f.there() {
		f.world.look(i, f.g)
	}
}

func (f *finale) end() {
	kept := f.begin(word{room: f.g, kind: "ended"})
	for _, p := range f.g.players {
		p.isOut.Store(true)
	}
	if status := f.ask(f.host(f.a), f.g, f.g.secret, "POST", "/api/rooms/-/end", nil, nil); status != http.StatusNoContent {
		f.fail("room %d does not end: %d", f.g.n, status)
	}
	kept()
	time.Sleep(lossTime)
	for _, p := range f.g.players {
		if f.newest(p.name).left == "" {
			f.fail("%s goes on in room %d, which is over", p.name, f.g.n)
		}
	}
	for _, i := range f.there() {
		if f.world.look(i, f.g).status != http.StatusGone {
			f.fail("host %d does not say that room %d is over", i, f.g.n)
		}
	}
}
