package fleet

import (
	"encoding/csv"
	"io"
	"net/netip"
	"strconv"

	"muster/discovery/protocol/quake3"
)

// serveMaster answers like dpmaster, with all datagrams of a list at once.
func (f *Fleet) serveMaster() {
	buf := make([]byte, maxQuery)
	f.untilClosed("the master", func() error {
		n, from, err := f.master.ReadFromUDPAddrPort(buf)
		if err == nil {
			f.list(buf[:n], from)
		}
		return err
	})
}

func (f *Fleet) list(request []byte, to netip.AddrPort) {
	q, err := quake3.ParseMasterQuery(request)
	f.mu.Lock()
	var listed []netip.AddrPort
	if err != nil {
		f.counts.malformed++
	} else {
		f.counts.lists++
		listed = f.listed(q)
	}
	f.mu.Unlock()
	if err != nil {
		return
	}
	for datagram := range quake3.MasterReplies(listed, q.Extended) {
		if _, err := f.master.WriteToUDPAddrPort(datagram, to); err != nil {
			f.log.Debug("fleet: master: send", "to", to, "err", err)
			return
		}
	}
}

// listed returns the servers that a query asks for: of the fleet's game, if it names one, and its
// protocol. For IPv4 that is all of them, without those that have no player or no seat unless it
// wants them.
func (f *Fleet) listed(q quake3.MasterQuery) []netip.AddrPort {
	game := f.options.Game
	if q.Game != "" && q.Game != game.Name || q.Protocol != game.Protocol || q.IPv6 && !q.IPv4 {
		return nil
	}
	var addrs []netip.AddrPort
	for i, s := range f.servers {
		info := &f.world.Servers[i].Info
		if (q.Empty || info.Players > 0) && (q.Full || info.Free() > 0) {
			addrs = append(addrs, s.Addr)
		}
	}
	return addrs
}

// WriteServers writes the servers as a CSV file with a header, as the commands read it.
func (f *Fleet) WriteServers(w io.Writer) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"addr", "country", "asn"}) // Error returns the errors
	for _, s := range f.servers {
		_ = out.Write([]string{s.Addr.String(), s.Country, strconv.FormatUint(uint64(s.ASN), 10)})
	}
	out.Flush()
	return out.Error()
}
