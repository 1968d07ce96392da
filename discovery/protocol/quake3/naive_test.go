package quake3_test

import (
	"strconv"
	"strings"

	"muster/discovery"
	. "muster/discovery/protocol/quake3"
)

// naiveInfo reads an infoResponse in the obvious way, for comparison.
func naiveInfo(b []byte) discovery.Info {
	text := strings.TrimPrefix(string(b), "\xff\xff\xff\xffinfoResponse\n")
	words := strings.Split(text, `\`)
	m := make(map[string]string)
	for i := 1; i+1 < len(words); i += 2 {
		m[words[i]] = words[i+1]
	}
	atoi := func(key string) int {
		n, _ := strconv.Atoi(m[key])
		return n
	}
	if _, err := strconv.ParseUint(m["challenge"], 16, 64); err != nil {
		return discovery.Info{}
	}
	return discovery.Info{
		Name:       CleanName(m["hostname"]),
		Map:        discovery.CleanText(m["mapname"]),
		Mode:       discovery.CleanText(m["gametype"]),
		Players:    atoi("clients"),
		MaxPlayers: atoi("sv_maxclients"),
		Bots:       atoi("clients") - atoi("g_humanplayers"),
		Password:   m["g_needpass"] == "1",
	}
}
