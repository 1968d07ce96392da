//go:build linux

package program_test

import (
	le "encoding/binary"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/prober"
	"muster/discovery/protocol/bedrock"
	"muster/discovery/report"
	"muster/host/wire"
	"muster/internal/freeport"
	"muster/internal/game"
)

// family is a game whose real server runs here.
type family struct {
	game string
	// command runs a server on an address, in a folder of its own.
	command func(t *testing.T, dir string, at netip.AddrPort) *exec.Cmd
	// tells is what the server says about itself.
	tells discovery.Info
	// gamedig or qstat is that program's type for the game. same lists the fields that both
	// understand, out of name, map, players and max.
	gamedig, qstat string
	same           string
}

// node runs a script on the servers that come from npm. See .ci/install.
func node(script string) func(t *testing.T, dir string, at netip.AddrPort) *exec.Cmd {
	return func(t *testing.T, dir string, at netip.AddrPort) *exec.Cmd {
		const modules = "/opt/muster-e2e/node_modules"
		script := fmt.Sprintf("const at = '%s', port = %d;\n", at.Addr(), at.Port()) + script
		cmd := exec.Command(modules+"/node/bin/node", "-e", script)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "NODE_PATH="+modules)
		return cmd
	}
}

// program runs one of Debian's servers, with {host}, {port} and {dir} filled in.
func program(args ...string) func(t *testing.T, dir string, at netip.AddrPort) *exec.Cmd {
	return func(t *testing.T, dir string, at netip.AddrPort) *exec.Cmd {
		fill := strings.NewReplacer("{host}", at.Addr().String(), "{port}", fmt.Sprint(at.Port()), "{dir}", dir)
		var filled []string
		for _, arg := range args {
			filled = append(filled, fill.Replace(arg))
		}
		cmd := exec.Command(filled[0], filled[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir)
		return cmd
	}
}

var families = []family{
	{"quakeworld", quakeWorld, discovery.Info{Name: "QW test", Map: "box", Mode: "ktx", MaxPlayers: 8},
		"protocol-quake1", "", "name players max"},
	{"teeworlds", program("/usr/games/teeworlds-server", "sv_register 0", "sv_name TW07", "bindaddr {host}", "sv_port {port}", "sv_map dm1"),
		discovery.Info{Name: "TW07", Map: "dm1", Mode: "DM", MaxPlayers: 8}, "", "", ""},
	{"ddnet", program("/usr/games/DDNet-Server", "sv_register 0", "sv_name DDNet test", "sv_port {port}", "sv_map dm1", "sv_max_clients 12"),
		discovery.Info{Name: "DDNet test", Map: "dm1", Mode: "TestDDraceNetwor", MaxPlayers: 12}, "", "tees", "name map players max"},
	{"luanti", luantiServer, discovery.Info{}, "", "", ""},
	{"minecraft", node(`require('minecraft-protocol').createServer({'online-mode': false, host: at, port, motd: '§aJava §ltest', maxPlayers: 20, version: '1.20.4'})`),
		discovery.Info{Name: "Java test", MaxPlayers: 20}, "protocol-minecraftvanilla", "", "players max"},
	{"bedrock", node(`const {Server} = require('jsp-raknet'), {default: Name} = require('jsp-raknet/js/utils/ServerName.js');
const name = new Name(); name.motd = '§cBedrock test'; name.players = {online: 3, max: 10}; name.name = 'world one'; name.gamemode = 'Survival';
new Server(at, port, name).listen()`),
		discovery.Info{
			Name:       "Bedrock test",
			Map:        "world one",
			Mode:       "Survival",
			Players:    3,
			MaxPlayers: 10,
		}, "protocol-minecraftbedrock", "", "name map players max"},
	{"sauerbraten", program("/usr/games/cube2-server", "-nCube test", "-c8", "-i{host}", "-j{port}", "-m"),
		discovery.Info{Name: "Cube test", Mode: "ffa", MaxPlayers: 8}, "", "cubes", "name players max"},
	{"mumble", mumbleServer, discovery.Info{MaxPlayers: 40}, "protocol-mumbleping", "", "players max"},
	{"openttd", openTTD, discovery.Info{Name: "OpenTTD test", Map: "64×64", Mode: "arctic", MaxPlayers: 10}, "openttd",
		"", "name players max"},
	{"redeclipse", redEclipse, discovery.Info{Name: "RE test", Map: "wet", Mode: "deathmatch", MaxPlayers: 32}, "", "", ""},
	{"jamulus", program("/usr/bin/Jamulus", "-s", "-n", "-p", "{port}", "--serverbindip", "{host}"), discovery.Info{}, "", "", ""},
	{"netpanzer", netPanzer, discovery.Info{
		Name:       "Panzer test",
		Map:        "Bullet Hole",
		Mode:       "Objective",
		MaxPlayers: 12,
	}, "", "gps", "name map players max"},
}

// atOnce is how long a running server on this machine may take to answer.
const atOnce = 200 * time.Millisecond

// TestFamilies plays a session on a real server of each family of games, from the list to the
// launch, with two players. Muster reads the same from the server as other programs do.
func TestFamilies(t *testing.T) {
	t.Parallel()
	for i, f := range families {
		t.Run(f.game, func(t *testing.T) {
			t.Parallel()
			// Below the ports that the system assigns, with room for the neighbouring ports.
			at := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(21000+10*i))
			dead := netip.AddrPortFrom(at.Addr(), at.Port()+5)
			start(t, f.game, f.command(t, t.TempDir(), at))
			file := writeFile(t, "servers.txt", fmt.Sprintf("%v\n%v\n", at, dead))
			var seen report.Measurement
			// A starting server may answer late: Mumble's listens before it makes its certificate.
			every(t, serverPause, f.game+"'s server answers at once", func() bool {
				seen = discoverOne(t, f.game, file, at)
				return seen.State == discovery.Answered && 0 < seen.RTT && time.Duration(seen.RTT) <= atOnce
			})
			info := discovery.Info{
				Name:       seen.Name,
				Map:        seen.Map,
				Mode:       seen.Mode,
				Players:    seen.Players,
				MaxPlayers: seen.MaxPlayers,
				Bots:       seen.Bots,
				Password:   seen.Password,
			}
			if info != f.tells {
				t.Errorf("it tells %+v, want %+v", info, f.tells)
			}
			f.agrees(t, at, info)
			f.saysWhoPlays(t, at)
			f.session(t, file, at)
		})
	}
}

// saysWhoPlays asks the server who plays, if its protocol tells, and checks that nobody does.
func (f family) saysWhoPlays(t *testing.T, at netip.AddrPort) {
	t.Helper()
	games, err := game.Load(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	g, err := games.Find(f.game)
	if err != nil {
		t.Fatal(err)
	}
	roll, tells := g.Protocol().(discovery.Roll)
	if !tells {
		return
	}
	engine, err := prober.New(prober.Options{Protocol: roll.Roll(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	said := discovery.Result{}
	err = engine.Run(t.Context(), []discovery.Server{{Addr: at}}, discovery.NewConventional(1), func(r discovery.Result) { said = r })
	if err != nil || said.Info == nil || said.Info.Roster == nil || len(said.Info.Roster.Players) != 0 {
		t.Errorf("who plays: %+v, %v", said, err)
	}
}

// session plays with two players, who enter a room and are sent to the server.
func (f family) session(t *testing.T, file string, server netip.AddrPort) {
	t.Helper()
	at, home, out := freeport.TCP(t), t.TempDir(), t.TempDir()
	h := run(t, home, "host", "host", "--game", f.game, "--servers", file, "--listen", at, "--no-play", "--no-mdns",
		"--no-browser", "--players", "2")
	code, link := h.awaits(`(?m)^code +(\w+)$`)[1], h.awaits(`(?m)^link +(\S+)$`)[1]
	script := writeFile(t, "launch.sh", "#!/bin/sh\necho \"$2\" >\"$1\"\n")
	if err := os.Chmod(script, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range players[:2] {
		run(t, home, name, "join", link, "--name", name, "--launch", "auto", "--launch-command", script+" "+filepath.Join(out, name)+" {address}")
	}
	room := awaitRoom(t, at, code, "both have launched", func(r wire.Document) bool {
		return len(r.Members) == 2 && !slices.ContainsFunc(r.Members, func(m wire.Member) bool { return m.Launch != wire.LaunchStarted })
	})
	if s := room.Selection; s == nil || s.Chosen == nil || s.Chosen.Addr.AddrPort != server {
		t.Errorf("chosen: %+v, want %v\n%s", s, server, logOf(room))
	}
	for _, name := range players[:2] {
		eventually(t, name+"'s game was started", func() bool { return readFile(filepath.Join(out, name)) != "" })
		if got := readFile(filepath.Join(out, name)); got != server.String() {
			t.Errorf("%s's game was started with %q, want %v", name, got, server)
		}
	}
}

// discoverOne returns what muster discover says about a server.
func discoverOne(t *testing.T, game, file string, at netip.AddrPort) report.Measurement {
	t.Helper()
	cmd := command(t, t.TempDir(), "discover", "--game", game, "--servers", file, "--name", "ann", "--strategy", "conventional", "--json")
	out, err := cmd.Output()
	if err != nil && len(out) == 0 {
		t.Fatalf("%v: %v", cmd, err)
	}
	r, err := report.Read(strings.NewReader(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range r.Servers {
		if s.Addr.AddrPort == at {
			return s
		}
	}
	return report.Measurement{}
}

// agrees compares Muster's reading of the server with another program's.
func (f family) agrees(t *testing.T, at netip.AddrPort, info discovery.Info) {
	t.Helper()
	var theirs map[string]any
	switch {
	case f.gamedig != "":
		out, err := exec.Command("gamedig", "--type", f.gamedig, at.String(), "--givenPortOnly", "--maxRetries=5").Output()
		if err != nil {
			t.Fatal(err)
		}
		var state struct {
			Name, Map              string
			NumPlayers, MaxPlayers any
		}
		if err := json.Unmarshal(out, &state); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		theirs = map[string]any{"name": bedrock.CleanName(state.Name), "map": state.Map, "players": state.NumPlayers, "max": state.MaxPlayers}
	case f.qstat != "":
		out, err := exec.Command("/usr/bin/quakestat", "-xml", "-utf8", "-"+f.qstat, at.String()).Output()
		if err != nil {
			t.Fatal(err)
		}
		var document struct {
			Servers []told `xml:"server"`
		}
		if err := xml.Unmarshal(out, &document); err != nil || len(document.Servers) != 1 {
			t.Fatalf("%v: %s", err, out)
		}
		s := document.Servers[0]
		name, _, _ := strings.Cut(s.Name, " [") // DDNet tells old browsers its true seats there
		theirs = map[string]any{"name": name, "map": s.Map, "players": s.Players, "max": s.Max}
	}
	ours := map[string]any{"name": info.Name, "map": info.Map, "players": info.Players, "max": info.MaxPlayers}
	for word := range strings.FieldsSeq(f.same) {
		if fmt.Sprint(theirs[word]) != fmt.Sprint(ours[word]) {
			t.Errorf("%s: %v, the other program says %v", word, ours[word], theirs[word])
		}
	}
}

func luantiServer(t *testing.T, dir string, at netip.AddrPort) *exec.Cmd {
	config := writeFile(t, "minetest.conf", fmt.Sprintf("server_announce = false\nbind_address = %v\nname = admin\n", at.Addr()))
	return program("/usr/games/minetestserver", "--world", dir, "--gameid", "minetest", "--config", config, "--port", "{port}")(t, dir, at)
}

func mumbleServer(t *testing.T, dir string, at netip.AddrPort) *exec.Cmd {
	config := writeFile(t, "murmur.ini",
		fmt.Sprintf(
			"database=%s/murmur.sqlite\nhost=%v\nport=%d\nusers=40\nregisterName=\nbonjour=False\nlogfile=\npidfile=\nuname=root\n", dir, at.Addr(), at.Port()))
	return program("/usr/sbin/murmurd", "-fg", "-ini", config)(t, dir, at)
}

// openTTD runs a server that registers nowhere.
func openTTD(t *testing.T, dir string, at netip.AddrPort) *exec.Cmd {
	config := writeFile(t, "openttd.cfg", "[network]\nserver_name = OpenTTD test\nserver_game_type = "+
		"local\nmax_clients = 10\n[game_creation]\nmap_x = 6\nmap_y = 6\nlandscape = arctic\n")
	return waiting(t, program("/usr/games/openttd", "-D", "{host}:{port}", "-c", config, "-g")(t, dir, at))
}

// redEclipse runs the server without the game's data, because no client loads the map here. -ss1
// keeps it off the server list.
func redEclipse(t *testing.T, dir string, at netip.AddrPort) *exec.Cmd {
	const installed = "/opt/muster-e2e/redeclipse"
	if err := os.WriteFile(filepath.Join(dir, "servinit.cfg"),
		[]byte("sv_serverdesc \"RE test\"\nsv_defaultmode 2\nsv_defaultmap wet\nsv_rotatemode 0\nsv_rotatemuts 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := program(installed+"/usr/lib/games/redeclipse/redeclipse-server", "-h{dir}", "-ss1", "-si{host}", "-sp{port}")(t, dir, at)
	cmd.Dir, cmd.Env = installed+"/usr/share/games/redeclipse", append(cmd.Env, "REDECLIPSE_DATADIR="+installed+"/data")
	return cmd
}

// netPanzer runs a server that answers questions only if it has a master to report to. No master
// runs on this machine.
func netPanzer(t *testing.T, dir string, at netip.AddrPort) *exec.Cmd {
	config := filepath.Join(dir, ".netpanzer", "config", "server.cfg")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	settings := fmt.Sprintf("server.port = %d\nserver.bindaddress = \"%v\"\nserver.public = "+
		"true\nserver.masterservers = \"127.0.0.1\"\nplayer.name = \"Panzer test\"\ngame.maxplayers = "+
		"12\ngame.map = \"Bullet Hole\"\ngame.mapcycle = \"Bullet Hole\"\n", at.Port(), at.Addr())
	if err := os.WriteFile(config, []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	return waiting(t, program("/usr/games/netpanzer", "-d")(t, dir, at))
}

// waiting makes a program wait for terminal input that never comes. At the end of its input it
// would ask again and again.
func waiting(t *testing.T, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	words, silent, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { words.Close(); silent.Close() })
	cmd.Stdin = words
	return cmd
}

// quakeWorld runs MVDSV with KTX. The map is an empty box, because the game's own maps are not
// free.
func quakeWorld(t *testing.T, dir string, at netip.AddrPort) *exec.Cmd {
	for file, content := range map[string][]byte{"qw/maps/box.bsp": boxMap(t)} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/usr/lib/quakeworld/ktx", filepath.Join(dir, "ktx")); err != nil {
		t.Fatal(err)
	}
	return program("/usr/games/mvdsv", "-ip", "{host}", "-port", "{port}", "-game", "ktx", "+sv_progtype", "1",
		"+hostname", "QW test", "+maxclients", "8", "+map", "box")(t, dir, at)
}

// boxMap returns the smallest map that Quake's engine accepts (BSP 29): a plane, a node and two
// leaves, one of them solid.
func boxMap(t *testing.T) []byte {
	t.Helper()
	type box struct{ Min, Max [3]int16 }
	within := box{[3]int16{-64, -64, -64}, [3]int16{64, 64, 64}}
	type leaf struct {
		Contents, Vis int32
		box
		Faces   [2]uint16
		Ambient [4]byte
	}
	const empty, solid = -1, -2
	lumps := []any{
		[]byte("{\n\"classname\" \"worldspawn\"\n}\n{\n\"classname\" \"info_player_deathmatch\"\n\"origin\" \"0 0 0\"\n}\n\x00"),
		struct { // plane
			Normal [3]float32
			Dist   float32
			Type   int32
		}{Normal: [3]float32{1}, Dist: -64},
		int32(0), [3]float32{}, nil, // textures, vertices, visibility
		struct { // node
			Plane    int32
			Children [2]int16
			box
			Faces [2]uint16
		}{Children: [2]int16{-2, -1}, box: within},
		[10]int32{}, nil, nil, // texture infos, faces, light
		struct { // clip node
			Plane    int32
			Children [2]int16
		}{Children: [2]int16{empty, solid}},
		[2]leaf{{Contents: solid, Vis: -1, box: within}, {Contents: empty, Vis: -1, box: within}},
		nil, [2]uint16{}, int32(0), // mark surfaces, edges, surface edges
		struct { // model
			Min, Max, Origin [3]float32
			Heads            [4]int32
			Leaves           int32
			Faces            [2]int32
		}{Min: [3]float32{-64, -64, -64}, Max: [3]float32{64, 64, 64}, Leaves: 1},
	}
	const version, entry = 29, 8
	head, body := le.LittleEndian.AppendUint32(nil, version), []byte{}
	for _, lump := range lumps {
		at, err := len(body), error(nil)
		if lump != nil {
			if body, err = le.Append(body, le.LittleEndian, lump); err != nil {
				t.Fatal(err)
			}
		}
		body = append(body, make([]byte, (math.MaxUint32-len(body)+1)%4)...)
		head = le.LittleEndian.AppendUint32(head, uint32(4+entry*len(lumps)+at))
		head = le.LittleEndian.AppendUint32(head, uint32(len(body)-at))
	}
	return append(head, body...)
}
