package regions

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"muster/discovery"
)

// Dump is the form of the pings that a game prints.
type Dump string

// SDR is the form of Team Fortress 2's console command tf_datacenter_ping_dump. It lists
// Valve's data centres, in ms; only status 1 is a measurement:
//
//	[SDR Ping] Ping data is current as of Sat Nov 23 23:14:27 2024. Pending refresh: 0, …
//	    ams: 0ms, status 2
//	   ams4: 107ms, status 1
//
// The source is what players posted in ValveSoftware/Source-1-Games, issues 6389
// (2024-10-15) and 6734 (2024-11-24).
const SDR Dump = "sdr"

// Dumps returns all forms.
func Dumps() []Dump { return []Dump{SDR} }

const (
	// MaxDump is the longest dump, in bytes. A real one has 40 lines.
	MaxDump = 64 << 10
	// longestPing is the largest ping that counts. A game gives up long before.
	longestPing = 10 * time.Second
)

// ParseDump reads the pings in a pasted text, by the region's code. It ignores lines of
// any other form, because consoles mix theirs. If a region occurs twice, its last ping
// counts: a console keeps earlier dumps. The error wraps [discovery.ErrMalformed] if
// the text is too long or has no ping.
func ParseDump(text string) (map[string]time.Duration, error) {
	if len(text) > MaxDump {
		return nil, fmt.Errorf("regions: %w: the dump has over %d bytes", discovery.ErrMalformed, MaxDump)
	}
	pings := map[string]time.Duration{}
	for line := range strings.Lines(text) {
		code, ping, ok := parseLine(strings.TrimSpace(line))
		switch {
		case !ok:
		case ping > 0:
			pings[code] = ping
		default:
			delete(pings, code)
		}
		if len(pings) > maxRegions {
			return nil, fmt.Errorf("regions: %w: the dump has over %d regions", discovery.ErrMalformed, maxRegions)
		}
	}
	if len(pings) == 0 {
		return nil, fmt.Errorf("regions: %w: the dump has no line such as \"fra: 24ms, status 1\"", discovery.ErrMalformed)
	}
	return pings, nil
}

// parseLine reads "fra: 24ms, status 1". The ping is 0 if the game has not measured it.
func parseLine(line string) (code string, ping time.Duration, ok bool) {
	code, rest, _ := strings.Cut(line, ": ")
	digits, status, found := strings.Cut(rest, "ms, status ")
	ms, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 16)
	if !found || err != nil || !isCode(code) {
		return "", 0, false
	}
	ping = time.Duration(ms) * time.Millisecond
	if strings.TrimSpace(status) != "1" || ping > longestPing {
		ping = 0
	}
	return code, ping, true
}
