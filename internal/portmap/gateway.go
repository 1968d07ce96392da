package portmap

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"strings"

	"muster/internal/netinfo"
)

// ways returns all possible ways to the router.
func ways(log *slog.Logger) []protocol {
	list := upnps()
	local := netinfo.Source4()
	if !local.IsValid() {
		return list
	}
	at, ok := systemGateway()
	if !ok {
		at = likelyGateway(local)
	}
	log.Debug("asking a router", "at", at)
	return append([]protocol{newPCP(at, local), pmp{at}}, list...)
}

// systemGateway returns the default route's gateway, if the system has a file of routes.
func systemGateway() (netip.Addr, bool) {
	f, err := os.Open("/proc/net/route")
	if err != nil {
		return netip.Addr{}, false
	}
	defer f.Close()
	return gatewayOf(f)
}

// gatewayOf reads Linux' table of routes: interface, destination, gateway, …, in hexadecimal, least significant byte
// first.
func gatewayOf(r io.Reader) (netip.Addr, bool) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 || fields[1] != "00000000" {
			continue
		}
		b, err := hex.DecodeString(fields[2])
		if err == nil && len(b) == 4 {
			var a [4]byte
			binary.BigEndian.PutUint32(a[:], binary.LittleEndian.Uint32(b))
			return netip.AddrFrom4(a), a != [4]byte{}
		}
	}
	return netip.Addr{}, false
}

// likelyGateway returns the usual address of home routers: the first of 256.
func likelyGateway(local netip.Addr) netip.Addr {
	a := local.As4()
	a[3] = 1
	return netip.AddrFrom4(a)
}
