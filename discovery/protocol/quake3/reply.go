package quake3

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"muster/discovery"
)

const (
	// gameName is ioquake3's name of its game for masters.
	gameName = "Quake3Arena"
	// gameFolder is the folder of the game's files.
	gameFolder = "baseq3"
)

// AppendInfoResponse appends an ioquake3 server's answer to getinfo. Its keys are in
// ioquake3's order, which is the reverse of how it sets them. An empty challenge leaves
// the key out. Info.Version is left out, as by ioquake3.
func AppendInfoResponse(b []byte, info discovery.Info, challenge string, protocol int) []byte {
	b = append(b, oob+infoResponse+"\n"...)
	b = appendLimit(b, "maxPing", info.MaxPing)
	b = appendLimit(b, "minPing", info.MinPing)
	b = appendPair(b, "g_needpass", flag(info.Password))
	b = appendPair(b, "pure", "1")
	b = appendPair(b, "gametype", info.Mode)
	b = appendPair(b, "sv_maxclients", strconv.Itoa(info.MaxPlayers))
	b = appendPair(b, "g_humanplayers", strconv.Itoa(info.Players-info.Bots))
	b = appendPair(b, "clients", strconv.Itoa(info.Players))
	b = appendPair(b, "mapname", info.Map)
	b = appendPair(b, "hostname", info.Name)
	b = appendPair(b, "protocol", strconv.Itoa(protocol))
	b = appendPair(b, "gamename", gameName)
	return appendPair(b, "challenge", challenge)
}

// AnswerMOHAA returns the answer of a MOHAA server in Muster's fleet to a request, nil
// if the server does not understand it.
func AnswerMOHAA(request []byte, info discovery.Info) []byte {
	r, err := ParseRequest(request)
	if err != nil || r.Command != "getinfo" || !bytes.HasPrefix(request, []byte(oob+toServer)) {
		return nil
	}
	b := AppendInfoResponse(nil, info, r.Challenge(), mohaaProtocol)
	return append([]byte(oob+fromServer), b[len(oob):]...)
}

// mohaaProtocol is the version of Allied Assault 1.11.
const mohaaProtocol = 8

// AppendStatusResponse appends an ioquake3 server's answer to getstatus: its public
// variables, then a line for each player. An empty challenge leaves the key out. QStat
// and gamedig take name, map and seats from the variables. They count players by the
// lines, and gamedig treats players with ping 0 as bots.
func AppendStatusResponse(b []byte, info discovery.Info, players []Player, challenge string, protocol int) []byte {
	b = append(b, oob+statusResponse+"\n"...)
	b = appendPair(b, "challenge", challenge)
	b = appendPair(b, "com_protocol", strconv.Itoa(protocol))
	b = appendPair(b, "sv_hostname", info.Name)
	b = appendPair(b, "sv_maxclients", strconv.Itoa(info.MaxPlayers))
	b = appendPair(b, "version", info.Version)
	b = appendPair(b, "com_gamename", gameName)
	b = appendPair(b, "g_gametype", info.Mode)
	b = appendPair(b, "mapname", info.Map)
	b = appendPair(b, "sv_privateClients", "0")
	b = appendLimit(b, "sv_minPing", info.MinPing)
	b = appendLimit(b, "sv_maxPing", info.MaxPing)
	b = appendPair(b, "gamename", gameFolder)
	b = appendPair(b, "g_needpass", flag(info.Password))
	b = append(b, '\n')
	for _, p := range players {
		b = fmt.Appendf(b, "%d %d \"", p.Score, p.Ping.Milliseconds())
		b = append(appendValue(b, p.Name), "\"\n"...)
	}
	return b
}

// appendPair appends a key with its value. Without a value there is no key, as in
// ioquake3's Info_SetValueForKey.
func appendPair(b []byte, key, value string) []byte {
	if value == "" {
		return b
	}
	b = append(b, '\\')
	b = append(b, key...)
	b = append(b, '\\')
	return appendValue(b, value)
}

// appendValue appends text without the bytes that have a meaning in info strings,
// quoted names and consoles.
func appendValue(b []byte, value string) []byte {
	for i := range len(value) {
		switch value[i] {
		case '\\', '"', ';', '\n', '\r', 0:
		default:
			b = append(b, value[i])
		}
	}
	return b
}

// appendLimit appends a ping limit in milliseconds, unless there is none.
func appendLimit(b []byte, key string, limit time.Duration) []byte {
	if limit <= 0 {
		return b
	}
	return appendPair(b, key, strconv.FormatInt(limit.Milliseconds(), 10))
}

func flag(set bool) string {
	if set {
		return "1"
	}
	return "0"
}
