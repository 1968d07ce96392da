package quake3_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"muster/discovery"
	. "muster/discovery/quake3"
)

func TestParseStatusOfOpenArena(t *testing.T) {
	s, got, err := ParseStatus(answered(t, "openarena_getstatus.hex", "abc"))
	if err != nil || got != nonce {
		t.Fatalf("nonce %x, err = %v", got, err)
	}
	want := []Player{{Name: "Sorceress", Score: 1}, {Name: "Penguin"}, {Name: "Murielle"}, {Name: "Sarge"}}
	if !reflect.DeepEqual(s.Players, want) {
		t.Errorf("players = %+v, want %+v", s.Players, want)
	}
	if s.Info.Players != 4 || s.Info.Bots != 4 {
		t.Errorf("%d players, %d bots, want 4 of each", s.Info.Players, s.Info.Bots)
	}
}

func TestParseStatus(t *testing.T) {
	const head = "\xff\xff\xff\xffstatusResponse\n\\challenge\\" + nonceText
	ms := time.Millisecond
	for name, c := range map[string]struct {
		text string
		want Status
	}{
		"no players' block":  {head, Status{}},
		"empty players":      {head + "\n", Status{}},
		"NUL for players":    {head + "\n\x00", Status{}},
		"private seats":      {head + `\sv_maxclients\8\sv_privateClients\2` + "\n", Status{Info: discovery.Info{MaxPlayers: 6}}},
		"more private seats": {head + `\sv_maxclients\8\sv_privateClients\9` + "\n", Status{}},
		"a player and a bot": {head + "\n-3 45 \"^1Ann\"\n7 0 \"Sarge\"\n", Status{
			Info:    discovery.Info{Players: 2, Bots: 1},
			Players: []Player{{Name: "Ann", Score: -3, Ping: 45 * ms}, {Name: "Sarge", Score: 7}}}},
		"the server's counts": {head + `\clients\3\bots\1` + "\n1 45 \"Ann\"\n", Status{
			Info:    discovery.Info{Players: 3, Bots: 1},
			Players: []Player{{Name: "Ann", Score: 1, Ping: 45 * ms}}}},
		"team and text of DarkPlaces": {head + `\clients\2` + "\n1:22 45 2 \"Ann\"\n-666 9 0 \"Bob\"\n", Status{
			Info:    discovery.Info{Players: 2},
			Players: []Player{{Name: "Ann", Text: "1:22", Ping: 45 * ms}, {Name: "Bob", Score: -666, Ping: 9 * ms}}}},
		"no line end":   {head + "\n1 45 \"Ann\"", Status{Info: discovery.Info{Players: 1}, Players: []Player{{Name: "Ann", Score: 1, Ping: 45 * ms}}}},
		"no quotes":     {head + "\n1 45", Status{Info: discovery.Info{Players: 1}, Players: []Player{{Score: 1, Ping: 45 * ms}}}},
		"no ping":       {head + "\n\n1\n\"Ann\"\n", Status{}},
		"names in info": {"\xff\xff\xff\xffinfoResponse\n\\challenge\\" + nonceText + "\n1 45 \"Ann\"", Status{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := ParseStatus([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func FuzzParseStatus(f *testing.F) {
	f.Add(answered(f, "openarena_getstatus.hex", "abc"))
	f.Add(answered(f, "nexuiz_getstatus.hex", "xyz"))
	f.Add([]byte("\xff\xff\xff\xffstatusResponse\n\\challenge\\" + nonceText + "\n1:22 45 2 \"^1Ann\"\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, _, err := ParseStatus(b)
		if err != nil {
			if !errors.Is(err, discovery.ErrMalformed) {
				t.Errorf("err = %v", err)
			}
			return
		}
		for _, p := range s.Players {
			if p.Ping < 0 || p.Name != discovery.CleanText(p.Name) {
				t.Errorf("player %+v", p)
			}
		}
	})
}
