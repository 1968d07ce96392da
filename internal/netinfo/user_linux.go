package netinfo

import (
	"encoding/binary"
	"encoding/hex"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// IsOwnUser reports whether a connection from client to server, both on this machine, belongs to this user or to
// root. Root may read everything anyway. If the kernel does not name the owner, the answer is no. If the tables
// cannot be read, as on other systems, everybody counts as the user.
func IsOwnUser(client, server net.Addr) bool {
	from, err := netip.ParseAddrPort(client.String())
	to, err2 := netip.ParseAddrPort(server.String())
	if err != nil || err2 != nil {
		return false
	}
	tables := 0
	for _, name := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		table, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		tables++
		if uid, is := uidOf(string(table), from, to); is {
			return uid == os.Getuid() || uid == 0
		}
	}
	return tables == 0
}

// uidOf returns the owner of the socket at the client's end of a connection, from a table of the kernel (proc(5),
// /proc/net/tcp). It ignores sockets that nobody holds any more, because the table assigns them to root.
func uidOf(table string, client, server netip.AddrPort) (uid int, ok bool) {
	const established = "01"
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) < 8 || fields[3] != established || !isAt(fields[1], client) || !isAt(fields[2], server) {
			continue
		}
		if uid, err := strconv.Atoi(fields[7]); err == nil {
			return uid, true
		}
	}
	return 0, false
}

// isAt reports whether the kernel's text, such as 0100007F:1E61, is an address and port. Each 32 bits are a number in
// this machine's byte order.
func isAt(text string, at netip.AddrPort) bool {
	address, port, _ := strings.Cut(text, ":")
	data, err := hex.DecodeString(address)
	number, err2 := strconv.ParseUint(port, 16, 16)
	if err != nil || err2 != nil || len(data)%4 != 0 {
		return false
	}
	for i := 0; i < len(data); i += 4 {
		binary.NativeEndian.PutUint32(data[i:], binary.BigEndian.Uint32(data[i:]))
	}
	addr, is := netip.AddrFromSlice(data)
	return is && addr.Unmap() == at.Addr().Unmap().WithZone("") && uint16(number) == at.Port()
}
