package matchfile

import (
	"encoding/json"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/protocol/quake3"
	"muster/discovery/protocol/quakeworld"
)

// sourceRow is a player of Source's status: number, name, Steam ID, time, ping. The two kinds of IDs are
// STEAM_1:1:12 and [U:1:25].
var sourceRow = regexp.MustCompile(`(?m)^#\s*\d+(?:\s+\d+)?\s+"(.*)"\s+(?:STEAM_\d:([01]):(\d+)|\[U:1:(\d+)\])\s+\S+\s+(\d+)\s`)

// individual is what a SteamID64 adds to the number of a person's account.
const individual = 76561197960265728

// Pings returns the pings of a status, by name, and by SteamID64 where it has Steam IDs.
func Pings(status []byte) map[string]time.Duration {
	for _, protocol := range []discovery.Roll{quake3.Protocol{}, quakeworld.Protocol{}, quakeworld.Quake2{}} {
		if reply, err := protocol.Roll().Parse([][]byte{status}); err == nil && reply.Info != nil {
			return reply.Info.Roster.Pings()
		}
	}
	var roster, accounts discovery.Roster
	var ktx struct {
		Players []struct {
			Name string  `json:"name"`
			Ping float64 `json:"ping"`
		} `json:"players"`
	}
	if json.Unmarshal(status, &ktx) == nil {
		for _, one := range ktx.Players {
			ping := time.Duration(one.Ping * float64(time.Millisecond))
			roster.Players = append(roster.Players, discovery.Player{Name: discovery.CleanText(one.Name), Ping: ping})
		}
	}
	for _, row := range sourceRow.FindAllStringSubmatch(string(status), -1) {
		number := func(text string) uint64 { n, _ := strconv.ParseUint(text, 10, 32); return n }
		account := 2*number(row[3]) + number(row[2]) + number(row[4])
		ping := time.Duration(number(row[5])) * time.Millisecond
		roster.Players = append(roster.Players, discovery.Player{Name: discovery.CleanText(strings.TrimSpace(row[1])), Ping: ping})
		accounts.Players = append(accounts.Players, discovery.Player{Name: strconv.FormatUint(individual+account, 10), Ping: ping})
	}
	pings := accounts.Pings()
	maps.Copy(pings, roster.Pings())
	return pings
}
