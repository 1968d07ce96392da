package lobby

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/host/room"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/internal/hint"
	"muster/internal/invite"
	"muster/internal/term"
	"muster/peer"
)

// accented returns a screen in the language for tests, where all that comes from the catalogue stands
// between brackets.
func accented() (*term.Screen, *bytes.Buffer) {
	var out bytes.Buffer
	return term.NewScreen(term.New(&out, func(string) string { return "" }), catalogue.In(catalogue.Accented)), &out
}

// forgotten returns the letters of a text that stand outside all brackets, without some names.
func forgotten(text string, names ...string) (all []string) {
	for _, name := range names {
		text = strings.ReplaceAll(text, name, "")
	}
	var outside strings.Builder
	depth := 0
	for _, r := range text {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case depth == 0:
			outside.WriteRune(r)
		}
	}
	return regexp.MustCompile(`\pL+`).FindAllString(outside.String(), -1)
}

// TestErrorsAreTranslated checks the same of errors that keep a player or an organiser out.
func TestErrorsAreTranslated(t *testing.T) {
	to, base := invite.Link{Host: "192.0.2.1:7777"}, &url.URL{Scheme: "https", Host: "192.0.2.1"}
	var errs []error
	for _, err := range []error{peer.ErrNothingSuitable, peer.ErrCertificate, tls.RecordHeaderError{}, peer.ErrEncrypted, peer.ErrGone,
		peer.ErrProxyAlone, peer.ErrMisnamed, websocket.ErrBadHandshake, peer.ErrUnreachable,
		&tls.CertificateVerificationError{Err: x509.HostnameError{}}} {
		errs = append(errs, Explain(err, to))
	}
	for _, err := range []error{ErrNotPublic, ErrNotMuster, &Moved{"https://192.0.2.2"}, &Trouble{404}, &Trouble{503}, http.ErrSchemeMismatch} {
		errs = append(errs, ExplainAt(err, base))
	}
	for _, err := range errs {
		for _, line := range hint.Lines(catalogue.In(catalogue.Accented), err) {
			if words := forgotten(line, "muster:"); len(words) > 0 && !strings.HasPrefix(line, "--") {
				t.Errorf("not translated: %q in %s", words, line)
			}
		}
	}
}

// TestEveryWordIsTranslated checks that a player reads no text that is not of the catalogue, but names
// and what is typed.
func TestEveryWordIsTranslated(t *testing.T) {
	s, out := accented()
	orders := &Steering{Screen: s, Counts: true, Order: func(string, room.Action) {}}
	n := &View{Screen: s, Help: OrganiserHelp(false), Steers: orders, name: "ann", votes: true}
	yes, no, now := true, false, time.Now()
	failed := at(wire.Failed)
	failed.Room.Retry, failed.Choice = now, &wire.Choice{Advice: []wire.Advice{{Action: "await"}}}
	voice, searching, waiting, standing := at(wire.Gathering), at(wire.Refining), at(wire.Waiting), at(wire.Gathering)
	voice.Room.Voice, voice.People = "mumble://192.0.2.1", []wire.Person{{Name: "zoe", Guest: true, Estimate: &wire.Estimate{ErrorMS: 9}}}
	searching.Room.Search = &wire.Search{}
	waiting.Seats = &wire.Seats{Need: 3, Servers: []wire.SeatsOn{{Free: 2, Asked: 9}}}
	standing.Meeting = &wire.Meeting{Next: now.AddDate(1, 0, 0), Last: &wire.Last{Server: "srv", MeanMS: 9},
		Who: []wire.Attendee{{Name: "ann", Comes: &yes}, {Name: "ben", Comes: &no}}}
	vote, voted, locked := voting(), voting(), voting()
	voted.People[0].Vote, voted.People[1].Ready = voted.Voting.Ballot[2], true
	voted.Voting.LaunchAt = now
	addr := locked.Voting.Ballot[0]
	card := locked.Choice.Servers[addr]
	card.Password = true
	locked.Choice.Servers[addr] = card
	locked.Room.Round++
	for _, state := range []wire.Snapshot{at(wire.Gathering), voice, standing, at(wire.Measuring), searching, vote, voted, locked,
		at(wire.Launching), failed, waiting} {
		n.Room(state)
	}
	n.Help = PlayerHelp(invite.Link{Host: "192.0.2.1:7777"})
	n.stage = ""
	for _, state := range []wire.Snapshot{at(wire.Gathering), failed, at(wire.Failed), waiting} {
		n.Room(state)
		n.stage = ""
	}
	n.stage = wire.Measuring
	for _, e := range []peer.Event{
		peer.Progress{Probed: 9, Listed: 100}, peer.Disconnected{Err: peer.ErrGone, Gone: true}, peer.Joined{},
		peer.Disconnected{Err: wire.Refusal{Reason: wire.ReasonMoved}, Retry: time.Minute}, peer.Joined{},
		peer.Disconnected{Err: wire.Refusal{Reason: wire.ReasonBusy}}, peer.Joined{},
		peer.Disconnected{Err: wire.Refusal{Reason: wire.ReasonLimited}}, peer.Joined{},
		peer.Disconnected{Err: peer.ErrUnreachable, Retry: time.Minute},
	} {
		n.lost = now.Add(-time.Minute)
		n.Show(e)
	}
	n.Room(at(wire.Failed))
	n.hasEnded = false
	n.ends(wire.Refusal{Reason: wire.ReasonClosed})
	n.hasEnded, n.lost = false, time.Time{}
	n.ends(wire.Refusal{Reason: wire.ReasonClosed})
	for _, line := range []string{"count", "wait", "next", "", "x", "wait nobody"} {
		for _, stage := range []wire.Stage{wire.Measuring, wire.Launching} {
			orders.note(at(stage), now)
			orders.Typed(line, now.Add(time.Hour))
		}
	}
	for _, line := range []string{"x", "9", "1"} {
		room := vote
		if line == "1" {
			room.Voting.Ballot = []string{"x"}
		}
		_, wrong := wordOf(line, &room)
		s.Say("%s", s.Language.Say(wrong))
	}
	for _, own := range []string{"ann", "emil"} {
		room := banning()
		room.Match.Even = map[string]wire.Even{"ann": {SidesMS: 3, AllMS: 9}}
		n.name = own
		n.showMatch(room)
		room.Way = &wire.Way{Delay: &wire.DelayCommand{Command: "lag {ms}", MaxMS: 9, Program: "ezQuake"}}
		n.showMatch(room)
		_, wrong, _ := moveOf("2", &room)
		s.Say("%s", s.Language.Say(wrong))
	}
	s.Rests()
	names := []string{"ann", "ben", "zoe", "eve", "srv", "pro-g InstaGib", "RedEye TDM", "q3dm7", "CA", "US", "mumble://192.0.2.1",
		"emil", "Nightjars", "Tin Foxes", "Old Pier Duel", "dm6", "lag", "ezQuake"}
	for line := range strings.Lines(out.String()) {
		if words := forgotten(line, names...); len(words) > 0 {
			t.Errorf("not translated: %q in %s", words, line)
		}
	}
	if testing.Verbose() {
		t.Log(out)
	}
}
