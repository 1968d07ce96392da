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
	"muster/internal/catalogue/languages"
	"muster/internal/hint"
	"muster/internal/invite"
	"muster/internal/term"
	"muster/peer"
)

// accented returns a screen in the language for tests, where all that comes from the catalogue stands
// accented returns a screen in a language for tests, in which every text from the catalogue stands
// between brackets.
func accented() (*term.Screen, *bytes.Buffer) {
	var out bytes.Buffer
	return term.NewScreen(term.New(&out, func(string) string { return "" }), languages.In(catalogue.Accented)), &out
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
		for _, line := range hint.Lines(languages.In(catalogue.Accented), err) {
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
	n := &View{Screen: s, Help: OrganiserHelp(false), Typing: &Typing{screen: s}, name: "ann"}
	n.Typing.LeadTo("LINK")
	n.Typing.Order = func(string, room.Action) {}
	now := time.Now()
	failed := at(wire.Failed)
	failed.Room.Retry = now
	voice, searching, waiting, standing := at(wire.Gathering), at(wire.Refining), at(wire.Waiting), at(wire.Gathering)
	voice.Room.Voice = "mumble://192.0.2.1"
	searching.Room.Search = &wire.Search{}
	standing.Meeting = &wire.Meeting{Next: now}
	banning, voted := at(wire.Chosen), voting()
	banning.Match = &wire.Match{Turn: &wire.Turn{Number: 1, Kind: wire.Ban, Captain: "ann"}}
	voted.People[0].Vote, voted.People[1].Ready = voted.Voting.Ballot[2], true
	for _, state := range []wire.Snapshot{at(wire.Gathering), voice, standing, at(wire.Measuring), searching, voting(), voted, banning,
		at(wire.Launching), failed, waiting} {
		n.Room(state)
	}
	n.Help = PlayerHelp
	n.Typing.Order = nil
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
	n.Typing.Order = func(string, room.Action) {}
	for _, state := range []wire.Snapshot{at(wire.Measuring), at(wire.Launching), voting()} {
		n.Typing.note(&state, now)
		for _, line := range []string{"next", "", "x", "set x"} {
			n.Typing.typed(line, now.Add(time.Hour))
		}
	}
	s.Rests()
	names := []string{"ann", "ben", "pro-g InstaGib", "RedEye TDM", "q3dm7", "mumble://192.0.2.1", "LINK"}
	for line := range strings.Lines(out.String()) {
		if words := forgotten(line, names...); len(words) > 0 {
			t.Errorf("not translated: %q in %s", words, line)
		}
	}
	if testing.Verbose() {
		t.Log(out)
	}
}
