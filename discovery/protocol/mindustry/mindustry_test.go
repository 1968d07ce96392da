package mindustry_test

import (
	"strings"
	"testing"

	"muster/discovery"
	"muster/discovery/internal/codectest"
	. "muster/discovery/protocol/mindustry"
)

// shaped is a reply in the form of writeServerData. It is not recorded, because we do
// not have the program.
const shaped = "\x10[red]My[]\nserver" + "\x09Frontline" + "\x00\x00\x00\x05" + "\x00\x00\x00\x22" + "\x00\x00\x00\x92" +
	"\x08official" + "\x02" + "\x00\x00\x00\x14" + "\x05about" + "\x00" + "\x19\xa7"

func TestParse(t *testing.T) {
	if got := string((Protocol{}).AppendQuery(nil, 7, nil)); got != "\xfe\x01" {
		t.Errorf("AppendQuery = %q", got)
	}
	named := shaped[:len(shaped)-3] + "\x05flood" + "\x19\xa7"
	open := "\x01a\x01b" + string(make([]byte, 12)) + "\x06custom" + "\x00" + string(make([]byte, 4)) + "\x00"
	for name, c := range map[string]struct {
		text string
		want discovery.Info
	}{
		"server": {shaped, discovery.Info{
			Name:       "My server",
			Map:        "Frontline",
			Mode:       "attack",
			Version:    "146 official",
			Protocol:   146,
			Players:    5,
			MaxPlayers: 20,
		}},
		"a mode with a name": {named, discovery.Info{
			Name:       "My server",
			Map:        "Frontline",
			Mode:       "flood",
			Version:    "146 official",
			Protocol:   146,
			Players:    5,
			MaxPlayers: 20,
		}},
		"as many as come": {open, discovery.Info{Name: "a", Map: "b", Mode: "survival", Version: "custom", MaxPlayers: 1000}},
	} {
		reply, err := Protocol{}.Parse([][]byte{[]byte(c.text)})
		if err != nil || reply.Echoed || *reply.Info != c.want {
			t.Errorf("%s: %+v, %v, want %+v", name, reply.Info, err, c.want)
		}
		again, err := Protocol{}.Parse([][]byte{Answer([]byte("\xfe\x01"), c.want)})
		if err != nil || again.Info.Name != c.want.Name || again.Info.Players != c.want.Players || again.Info.MaxPlayers != c.want.MaxPlayers {
			t.Errorf("%s, the fleet's: %+v, %v", name, again.Info, err)
		}
	}
	codectest.Refuses(t, Protocol{}, map[string]string{"nothing": "", "noise": "hello world", "cut short": open[:len(open)-1],
		"a mode that is none": strings.Replace(shaped, "official\x02", "official\x05", 1),
		"too many players":    strings.Replace(shaped, "\x00\x00\x00\x05", "\x00\x01\x00\x05", 1),
		"control characters":  strings.Replace(shaped, "[red]", "re\x00d]", 1),
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(shaped))
	codectest.Fuzz(f, Protocol{})
}
