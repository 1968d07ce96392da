package minecraft

import (
	"errors"
	"strings"
	"testing"

	"muster/discovery"
)

func TestParseAnnouncement(t *testing.T) {
	for _, c := range []struct {
		text string
		port uint16
		name string
	}{
		{"[MOTD]ann - Home[/MOTD][AD]54321[/AD]", 54321, "ann - Home"},
		{"[MOTD]\u00a7aann\u00a7r - [x] ü[/MOTD][AD]25565[/AD]\x00\x00", 25565, "ann - [x] ü"},
		{"[MOTD]old[/MOTD][AD]192.168.1.7:25566[/AD]", 25566, "old"},
		{"[MOTD][/MOTD][AD]1[/AD]", 1, ""},
		{"[MOTD]a\x1b[2J\u202e[/MOTD][AD]2[/AD]", 2, "a[2J"},
		{"[MOTD]no port[/MOTD]", 0, ""},
		{"[MOTD]no end[/MOTD][AD]54321", 0, ""},
		{"[AD]54321[/AD]", 0, ""},
		{"[MOTD]x[/MOTD][AD]0[/AD]", 0, ""},
		{"[MOTD]x[/MOTD][AD]65536[/AD]", 0, ""},
		{"[MOTD]x[/MOTD][AD]-1[/AD]", 0, ""},
		{"[MOTD]x[/MOTD][AD][/AD]", 0, ""},
		{"[MOTD]" + strings.Repeat("x", maxAnnouncement) + "[/MOTD][AD]54321[/AD]", 0, ""},
		{"", 0, ""},
	} {
		port, info, err := Protocol{}.ParseAnnouncement([]byte(c.text))
		if port != c.port || info != (discovery.Info{Name: c.name}) || (err == nil) != (c.port > 0) ||
			err != nil && !errors.Is(err, discovery.ErrMalformed) {
			t.Errorf("%.60q: %d, %+v, %v", c.text, port, info, err)
		}
	}
}

func FuzzParseAnnouncement(f *testing.F) {
	f.Add([]byte("[MOTD]ann - Home[/MOTD][AD]54321[/AD]"))
	f.Add([]byte("[MOTD]\u00a7[/MOTD][AD]192.168.1.7:1[/AD]"))
	f.Fuzz(func(t *testing.T, datagram []byte) {
		port, info, err := Protocol{}.ParseAnnouncement(datagram)
		if (port == 0) != (err != nil) || info.Name != discovery.CleanText(info.Name) || info != (discovery.Info{Name: info.Name}) {
			t.Errorf("%q: %d, %+v, %v", datagram, port, info, err)
		}
	})
}
