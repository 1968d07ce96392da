//go:build linux

package program_test

import (
	le "encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/internal/freeport"
)

// darkPlaces starts DarkPlaces with the map of QuakeWorld's test and a program of functions that do
// nothing: those of the game are not free.
func darkPlaces(t *testing.T) netip.AddrPort {
	t.Helper()
	at, dir := netip.MustParseAddrPort(freeport.UDP(t)), t.TempDir()
	for file, content := range map[string][]byte{"id1/maps/box.bsp": boxMap(t), "id1/progs.dat": emptyProgram(t)} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("/usr/games/darkplaces-server", "-basedir", dir, "-ip", at.Addr().String(), "-port", fmt.Sprint(at.Port()), "+net_address_ipv6", "::1",
		"+sv_public", "0", "+sys_ticrate", "0.005", "+maxplayers", "8", "+net_connectfloodblockingtimeout", "0", "+net_getstatusfloodblockingtimeout", "0", "+map", "box")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir)
	start(t, "darkplaces", cmd)
	return at
}

// emptyProgram returns the smallest program in QuakeC (version 6) that the engine accepts: each function
// that it calls by name is one statement that returns.
func emptyProgram(t *testing.T) []byte {
	t.Helper()
	type function struct{ First, Locals, Count, Profile, Name, File, Arguments, Sizes0, Sizes1 int32 }
	functions, text := []function{{}}, []byte{0}
	for _, name := range []string{"worldspawn", "info_player_deathmatch", "main", "StartFrame", "PlayerPreThink", "PlayerPostThink", "ClientKill",
		"ClientConnect", "PutClientInServer", "ClientDisconnect", "SetNewParms", "SetChangeParms"} {
		functions = append(functions, function{First: 1, Locals: 28, Name: int32(len(text))})
		text = append(append(text, name...), 0)
	}
	const header, version = 15 * 4, 6
	head, body := []int32{version, 0}, []byte{}
	for _, part := range []struct {
		count int
		of    any
	}{{2, [2]int64{}}, {1, int64(0)}, {1, int64(0)}, {len(functions), functions}, {len(text), text}, {32, [32]int32{}}} { // statements, globals, fields, …, values
		head = append(head, int32(header+len(body)), int32(part.count))
		var err error
		if body, err = le.Append(body, le.LittleEndian, part.of); err != nil {
			t.Fatal(err)
		}
		body = append(body, make([]byte, -len(body)&3)...)
	}
	head = append(head, 1) // an entity's fields
	b, err := le.Append(nil, le.LittleEndian, head)
	if err != nil {
		t.Fatal(err)
	}
	return append(b, body...)
}

// playDarkPlaces connects a game to a server by an address, and plays until the server's status lists a
// ping. It returns that.
func playDarkPlaces(t *testing.T, by, server netip.AddrPort, name string) (ping time.Duration) {
	t.Helper()
	const (
		data, ack, unreliable = 0x10000, 0x20000, 0x100000 // flags of a packet, beside its length
		timeOf                = 7                          // svc_time
		headed                = 8
	)
	game, window := socket(t), socket(t)
	said, _ := ask(t, game, by, "getchallenge", "challenge ")
	challenge, _, _ := strings.Cut(said, "\x00")
	ask(t, game, by, "connect\\protocol\\darkplaces 3\\protocols\\DP7\\challenge\\"+challenge, "accept")
	sequence, moves := uint32(0), 0
	send := func(says []byte) {
		b := le.BigEndian.AppendUint32(nil, unreliable|uint32(headed+len(says)))
		b = append(le.BigEndian.AppendUint32(b, sequence), says...)
		sequence++
		if _, err := game.WriteToUDPAddrPort(b, by); err != nil {
			t.Fatal(err)
		}
	}
	b := make([]byte, 1<<16)
	eventually(t, name+" has a ping in the status", func() bool {
		if moves == 0 {
			send([]byte("\x04name " + name + "\x00\x04prespawn\x00\x04spawn\x00\x04begin\x00"))
		}
		for until := time.Now().Add(time.Second / 4); time.Now().Before(until); {
			_ = game.SetReadDeadline(until)
			n, err := game.Read(b)
			if err != nil || n < headed {
				continue
			}
			switch head := le.BigEndian.Uint32(b); {
			case head&data != 0:
				_, _ = game.WriteToUDPAddrPort(append(le.BigEndian.AppendUint32(nil, ack|headed), b[4:8]...), by)
			case head&unreliable != 0 && n > headed+5 && b[headed] == timeOf: // the game moves, and says what time it was
				says := le.LittleEndian.AppendUint32([]byte{3}, uint32(moves+1))
				says = append(append(says, b[headed+1:headed+5]...), make([]byte, 3*2+3*2+4+1+30)...)
				send(says)
				moves++
			}
		}
		status, _ := ask(t, window, server, "getstatus xyz", "statusResponse\n")
		for line := range strings.Lines(status) { // frags, ping, "name"
			var frags, ms int
			if _, err := fmt.Sscan(line, &frags, &ms); err == nil && strings.Contains(line, `"`+name+`"`) {
				ping = time.Duration(ms) * time.Millisecond
			}
		}
		return moves > 40 && ping > 0
	})
	send([]byte("\x02")) // it leaves
	return ping
}
