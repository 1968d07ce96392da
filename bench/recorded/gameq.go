package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// gameQ is how GameQ's results name a protocol and its facts.
type gameQ struct {
	protocol string
	// keys are the names of facts, several if games differ.
	keys map[fact][]string
}

// ofGameQ are the protocols by GameQ's names.
var ofGameQ = map[string]gameQ{
	"source": {"a2s", map[fact][]string{
		name: {"hostname"}, level: {"map"}, players: {"num_players"}, seats: {"max_players"}, bots: {"num_bots"},
		version: {"version"}, password: {"password"},
	}},
	"won": {"a2s", map[fact][]string{
		name: {"hostname"}, level: {"map"}, players: {"num_players"}, seats: {"max_players"}, password: {"password"},
	}},
	"quake3": {"quake3", map[fact][]string{
		name: {"sv_hostname"}, level: {"mapname"}, players: {"clients"}, seats: {"sv_maxclients"}, password: {"g_needpass", "pswrd"},
	}},
	"gta5m":    {"quake3", map[fact][]string{name: {"hostname"}, level: {"mapname"}, players: {"clients"}, seats: {"sv_maxclients"}}},
	"gamespy":  {"gamespy", ofGamespy},
	"gamespy2": {"gamespy2", ofGamespy},
	"gamespy3": {"gamespy3", ofGamespy},
	"bf3":      {"frostbite", ofFrostbite},
	"bfbc2":    {"frostbite", ofFrostbite},
	"quake2": {"quake2", map[fact][]string{
		name: {"hostname"}, level: {"mapname"}, players: {"clients"}, seats: {"maxclients"}, version: {"version"}, password: {"password"},
	}},
	"doom3": {"doom3", map[fact][]string{
		name: {"si_name"}, level: {"si_map"}, players: {"clients", "numplayers"}, seats: {"si_maxPlayers"}, password: {"si_usepass"},
	}},
	"etqw": {"doom3", map[fact][]string{
		name: {"name"}, level: {"map"}, players: {"numplayers"}, seats: {"maxPlayers"}, password: {"needPass"},
	}},
	"unreal2": {"unreal2", map[fact][]string{
		name: {"servername"}, level: {"mapname"}, players: {"numplayers"}, seats: {"maxplayers"},
	}},
	"raknet": {"bedrock", map[fact][]string{
		name: {"motd_line_1"}, players: {"num_players"}, seats: {"max_players"}, version: {"version"},
	}},
	"teeworlds": {"ddnet", map[fact][]string{
		name: {"hostname"}, level: {"map"}, players: {"num_players_total"}, seats: {"maxplayers_total"}, version: {"version"},
	}},
	"ase": {"ase", map[fact][]string{
		name: {"servername"}, level: {"map"}, players: {"num_players"}, seats: {"max_players"}, version: {"version"}, password: {"password"},
	}},
	"openttd": {"openttd", map[fact][]string{
		name: {"hostname"}, level: {"map"}, players: {"clients"}, seats: {"max_clients"}, version: {"version"}, password: {"password"},
	}},
	"samp": {"samp", map[fact][]string{
		name: {"servername"}, players: {"num_players"}, seats: {"max_players"}, version: {"version"}, password: {"password"},
	}},
}

var (
	ofGamespy = map[fact][]string{
		name: {"hostname"}, level: {"mapname", "map"}, players: {"numplayers"}, seats: {"maxplayers"}, bots: {"numbots"},
		version: {"gamever", "version"}, password: {"password"},
	}
	ofFrostbite = map[fact][]string{
		name: {"hostname"}, level: {"map"}, players: {"num_players"}, seats: {"max_players"}, version: {"version"}, password: {"password"},
	}
)

// readGameQ reads the recordings of Austinb/GameQ: the datagrams of a server with lines of
// two bars between them, and GameQ's result by the server's address.
func readGameQ(checkout fs.FS) ([]recording, error) {
	const end = "_response.txt"
	files, err := fs.Glob(checkout, "tests/Protocols/Providers/*/*"+end)
	if err != nil {
		return nil, err
	}
	var recordings []recording
	for _, file := range files {
		packets, err := fs.ReadFile(checkout, file)
		if err != nil {
			return nil, err
		}
		text, err := fs.ReadFile(checkout, strings.TrimSuffix(file, end)+"_result.json")
		if err != nil {
			return nil, err
		}
		var servers map[string]map[string]any
		if err := json.Unmarshal(text, &servers); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		r := recording{name: path.Base(path.Dir(file)) + "/" + strings.TrimSuffix(path.Base(file), end), want: facts{}}
		for d := range strings.SplitSeq(string(packets), "\n||\n") {
			r.datagrams = append(r.datagrams, []byte(d))
		}
		for _, server := range servers {
			r.tell(server)
		}
		if r.kind == "bfbc2" && len(r.datagrams) > 1 { // asked for the version first
			r.datagrams[0], r.datagrams[1] = r.datagrams[1], r.datagrams[0]
		}
		recordings = append(recordings, r)
	}
	return recordings, nil
}

// tell notes what GameQ's result says.
func (r *recording) tell(server map[string]any) {
	r.kind, _ = server["gq_protocol"].(string)
	known := ofGameQ[r.kind]
	r.protocol = known.protocol
	if online, _ := server["gq_online"].(bool); !online {
		r.refused = true
	}
	for f, keys := range known.keys {
		for _, key := range keys {
			value, is := server[key]
			if !is {
				continue
			}
			if r.want[f] = text(value); f == password {
				r.want[f] = truth(r.want[f])
			}
			break
		}
	}
	if list, ok := server["players"].([]any); ok && known.protocol != "" {
		r.want[listed] = strconv.Itoa(named(list))
	}
}

// named returns how many players of a list have a name. The others are connecting, or
// the server hides them.
func named(list []any) (n int) {
	for _, player := range list {
		about, _ := player.(map[string]any)
		for _, key := range []string{"name", "player", "playername", "Name"} {
			if plain(text(about[key])) != "" {
				n++
				break
			}
		}
	}
	return n
}

// text returns a value of JSON as text.
func text(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case bool:
		return fmt.Sprint(v)
	case float64:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprint(value)
}
