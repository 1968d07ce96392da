package room

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/topology"
	"muster/host/wire"
)

func essence(r *Room) string {
	var b strings.Builder
	var dump func(path string, v reflect.Value)
	dump = func(path string, v reflect.Value) {
		if v.IsZero() {
			return
		}
		switch v.Kind() {
		case reflect.Pointer, reflect.Interface:
			fmt.Fprintf(&b, "%s is %v\n", path, v.Elem().Type())
			dump(path, v.Elem())
		case reflect.Struct:
			if v.Type().String() == "evidence.word" { // there are many
				fmt.Fprintf(&b, "%s %v %v %v\n", path, v.FieldByName("by"), v.FieldByName("info").Elem(), v.FieldByName("at"))
				return
			}
			switch v.Type() {
			case reflect.TypeFor[time.Time](), reflect.TypeFor[netip.AddrPort](), reflect.TypeFor[netip.Addr](), reflect.TypeFor[netip.Prefix]():
				fmt.Fprintf(&b, "%s %v\n", path, v)
				return
			}
			for i := range v.NumField() {
				name := v.Type().Field(i).Name
				if !volatile[name] {
					dump(path+"."+name, v.Field(i))
				}
			}
		case reflect.Slice, reflect.Array:
			for i := range v.Len() {
				dump(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
			}
		case reflect.Map:
			keys := v.MapKeys()
			slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			for _, k := range keys {
				dump(fmt.Sprintf("%s[%v]", path, k), v.MapIndex(k))
			}
		default:
			fmt.Fprintf(&b, "%s %v\n", path, v)
		}
	}
	dump("room", reflect.ValueOf(r).Elem())
	return b.String()
}

func same(t testing.TB, a, b *Room) {
	t.Helper()
	if x, y := essence(a), essence(b); x != y {
		x, y, _ = differ(x, y)
		t.Errorf("the rooms differ: %s\n%s", x, y)
	}
}

func differ(x, y string) (string, string, bool) {
	xs, ys := strings.Split(x, "\n"), strings.Split(y, "\n")
	for i := range min(len(xs), len(ys)) {
		if xs[i] != ys[i] {
			return xs[i], ys[i], true
		}
	}
	return fmt.Sprint(len(xs), " lines"), fmt.Sprint(len(ys), " lines"), false
}

func restored(t testing.TB, r *Room) *Room {
	t.Helper()
	data, err := r.Save()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Restore(data, topology.New)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func public(addr string) Origin { return Origin{Addr: netip.MustParseAddr(addr)} }

const (
	guestGone     = 30 * time.Minute
	guestsUnknown = 32
	tokenLength   = 26
)

func reason(err error) string {
	var refusal *wire.Refusal
	errors.As(err, &refusal)
	if refusal == nil {
		return ""
	}
	return refusal.Reason
}

func (n *session) acts(credential string, a Action) error {
	n.Helper()
	return n.step(Order{Credential: credential, Action: a})
}

func (n *session) person(name string) wire.Person {
	people := n.view().People
	if i := slices.IndexFunc(people, func(p wire.Person) bool { return p.Name == name }); i >= 0 {
		return people[i]
	}
	return wire.Person{}
}

func (n *session) guests() (names []string) {
	for p := range n.room.roster.People() {
		if !p.IsPlayer {
			names = append(names, p.Name)
		}
	}
	return names
}

func (n *session) hasGuest(name string) bool { return slices.Contains(n.guests(), name) }

var (
	frankfurt = located("9.9.9.1", "DE", 3320)
	berlin    = located("9.9.8.1", "DE", 3320)
	chicago   = located("8.8.8.1", "US", 7018)
)

func withGuest(t *testing.T, from Origin) *session {
	t.Helper()
	n := newSession(t, settings(2))
	n.room.settings.Agree = wire.Yes
	n.origins["ann"], n.origins["bob"] = frankfurt, chicago
	n.step(Order{Action: Enter{Name: "zoe", Token: "zoe's token", Origin: from}})
	n.step(PageOpened{"zoe's token"})
	n.join("ann")
	return n
}

func (n *session) plays() {
	n.Helper()
	n.join("bob")
	n.listed(3)
	n.informs("ann", 12, 12, 12)
	n.measures("ann", 20, 40, 10)
	n.measures("bob", 60, 38, -1)
	n.done("ann", "bob")
	n.verifies("ann")
	n.verifies("bob")
	n.inStage(wire.Chosen)
}

func (n *session) lookAgain() {
	for range maxTries {
		for _, p := range n.room.round.players {
			if _, verifying := n.room.phase.(*Verifying); verifying && n.room.round.attendance.Of(p.name).Here && !n.isOut(p.name) {
				n.verifies(p.name)
			}
		}
	}
}

var (
	office = []netip.Prefix{netip.MustParsePrefix("10.9.0.0/24"), netip.MustParsePrefix("fd00:9::/64")}
	// hidden is known on its network alone, shown to the internet, too, as the
	// second of listOf.
	hidden = LocalServer{Addr: netip.MustParseAddrPort("10.9.0.5:27960"), Networks: office, Info: discovery.Info{Name: "Hidden", Map: "oa_dm1", MaxPlayers: 16}}
	shown  = LocalServer{Addr: netip.MustParseAddrPort("10.9.0.6:27960"), Networks: office, Public: addr(1), Info: discovery.Info{Name: "Shown", Map: "oa_dm1", MaxPlayers: 16}}
)

func (n *session) comes(name, from string) {
	n.Helper()
	hello := wire.Hello{Version: wire.Version, Code: n.room.Keys().Code, Name: name, Token: n.tokens[name]}
	if err := n.step(Join{hello, Origin{Near: netip.MustParseAddr(from)}, "token of " + name}); err != nil {
		n.Fatalf("%s is refused: %v", name, err)
	}
	n.tokens[name] = n.tokenOf(name)
}

func got[M wire.Message](n *session, name string) M {
	n.Helper()
	var newest M
	found := false
	for _, m := range n.sent[name] {
		if m, ok := m.(M); ok {
			newest, found = m, true
		}
	}
	if !found {
		n.Errorf("%s was sent no %T", name, newest)
	}
	return newest
}

func standing(t *testing.T, every string) *session {
	s := settings(0)
	s.Every = every
	n := newSession(t, s)
	n.as["ann"] = n.room.Keys().Secret
	return n
}

var volatile = map[string]bool{
	"now": true, "stepped": true, "ticked": true, "due": true, "hasStopped": true, "out": true, "binds": true, "revision": true, "cost": true, "Here": true, "pages": true, "onlookers": true, "podium": true, "briefed": true, "estimators": true, "pageClosed": true, "renamed": true,
	"search": true, "turns": true, "late": true, "tree": true, "packed": true, "groups": true, "places": true,
	"record": true, "relaxed": true, "doors": true, "waitable": true, "lately": true, "returned": true, "isMute": true, "allSince": true,
	"Said": true, "Dated": true, // TestSaidSaved has what of it is kept
	"able": true, "came": true, "isListLost": true, "supplied": true, "upcoming": true, "wasUsed": true, "keyMade": true, "lookSince": true, "lookFor": true,
}

func located(addr, country string, asn uint32) Origin {
	at := netip.MustParseAddr(addr)
	return Origin{Addr: at, Near: at, Country: country, ASN: asn}
}
