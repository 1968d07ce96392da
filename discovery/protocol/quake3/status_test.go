package quake3_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"muster/discovery"
	. "muster/discovery/protocol/quake3"
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

// manifest is the variable in which CPMA's servers list files, a line each, as quakejs
// writes them: name, checksum and size.
const manifest = `\fs_manifest\baseq3/pak0.pk3@1566731103@479493658 linuxq3ademo.sh@857908472@49289197` + "\n" +
	"cpma/z-cpma-pak151.pk3@2483777038@12345678 cpma/map_cpm22.pk3@1147110141@2345678\n"

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
		"a player of MOHAA": {"\xff\xff\xff\xff\x01statusResponse\n\\challenge\\" + nonceText + "\n58 \"Ann\"\n0 \"^3Sarge 7\"\n", Status{
			Info:    discovery.Info{Players: 2, Bots: 1},
			Players: []Player{{Name: "Ann", Ping: 58 * ms}, {Name: "Sarge 7"}}}},
		"a manifest with line ends, CPMA": {head + `\mapname\cpm22` + manifest + `\g_needpass\1\gamename\cpma` + "\n3 45 \"Ann\"\n", Status{
			Info:    discovery.Info{Map: "cpm22", Password: true, Players: 1},
			Players: []Player{{Name: "Ann", Score: 3, Ping: 45 * ms}}}},
		"a manifest last, nobody plays": {head + `\g_needpass\1` + manifest + "\n", Status{Info: discovery.Info{Password: true}}},
		"a manifest last, one plays": {head + `\g_needpass\1` + manifest + "\n3 45 \"Ann\"\n", Status{
			Info:    discovery.Info{Password: true, Players: 1},
			Players: []Player{{Name: "Ann", Score: 3, Ping: 45 * ms}}}},
		"a challenge behind a manifest": {"\xff\xff\xff\xffstatusResponse\n" + `\g_needpass\1` + manifest +
			`\challenge\` + nonceText + "\n", Status{Info: discovery.Info{Password: true}}},
		"a backslash in a name": {head + "\n3 45 \"A\\nn\"\n4 46 \"Bob\"\n", Status{
			Info:    discovery.Info{Players: 2},
			Players: []Player{{Name: "A\\nn", Score: 3, Ping: 45 * ms}, {Name: "Bob", Score: 4, Ping: 46 * ms}}}},
		"no line end": {head + "\n1 45 \"Ann\"", Status{
			Info:    discovery.Info{Players: 1},
			Players: []Player{{Name: "Ann", Score: 1, Ping: 45 * ms}},
		}},
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
	f.Add([]byte("\xff\xff\xff\xff\x01statusResponse\n\\challenge\\" + nonceText + "\n58 \"Ann\"\n"))
	f.Add([]byte("\xff\xff\xff\xffstatusResponse\n" + manifest + "\\challenge\\" + nonceText + "\n3 45 \"Ann\"\n"))
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
