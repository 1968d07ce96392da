package favourites

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/discovery/lists/address"
	"muster/discovery/lists/master"
	"muster/discovery/lists/weblist"
	"muster/discovery/report/qstat"
)

// Muster reads and writes the lists of other programs in their own formats:
//
// 	text    192.0.2.1:27960 Ann's          an address a line, and what it is called
// 	qstat   Q3S 192.0.2.1:27960            QStat's list (quakestat -f), or its XML
// 	steam   "Filters" { "Favorites" {…     serverbrowser_hist.vdf
// 	muster  {"format":"muster.servers/1"…  this package's own file

// As is the form of a list.
type As string

const (
	AsText   As = "text"
	AsQStat  As = "qstat"
	AsSteam  As = "steam"
	AsMuster As = "muster"
)

// Forms returns all forms, the plainest first.
func Forms() []As { return []As{AsText, AsQStat, AsSteam, AsMuster} }

// For is the game that a list belongs to.
type For struct {
	// Game is the game's id. Port is the default for servers that are listed without a port.
	Game string
	Port uint16
	// Takes reports whether servers of a QStat type may belong to the game. QStatType is the one for its own lists, and
	// AppID Steam's number of the game, 0 if Steam has none.
	Takes     func(qstatType string) bool
	QStatType string
	AppID     uint32
}

// Brought is what a list contained. It counts what no list can keep, and describes it.
type Brought struct {
	Favourites, Hidden []Server
	// Passed counts entries that cannot be used: no address, or another game's. First is the first of them, as
	// the list has it.
	Passed int
	First  string
	// Lines are their lines, in a form that has lines.
	Lines *master.SkippedError
	// Beyond counts the servers that no longer fit.
	Beyond int
}

// maxRead bounds the reading: a list of more than a million lines, in bytes. The form is known by the first maxPeeked.
const (
	maxRead   = 64 << 20
	maxPeeked = 2 << 10
)

// Import reads a game's list in any of the forms.
func Import(r io.Reader, of For) (b Brought, err error) {
	in := bufio.NewReaderSize(io.LimitReader(r, maxRead), maxPeeked)
	start, _ := in.Peek(maxPeeked)
	switch start = bytes.TrimSpace(bytes.TrimPrefix(start, []byte("\ufeff"))); {
	case len(start) == 0:
		return b, master.ErrEmpty
	case start[0] == '<':
		err = b.xml(in, of)
	case start[0] == '{':
		err = b.own(in, of)
	case bytes.HasPrefix(bytes.ToLower(bytes.TrimPrefix(start, []byte(`"`))), []byte("filters")):
		err = b.steam(in, of)
	default:
		err = b.list(in, of)
	}
	if err == nil && len(b.Favourites)+len(b.Hidden) == 0 {
		err = fmt.Errorf("favourites: %w", master.ErrEmpty)
		if b.Passed > 0 {
			err = fmt.Errorf("favourites: no server of %s in it; the first that stands there is %q", of.Game, b.First)
		}
	}
	return b, err
}

// at returns the address of an entry, or the key of its name.
func (of For) at(host string, port uint16) netip.AddrPort {
	port = cmp.Or(port, of.Port)
	if addr, err := netip.ParseAddr(host); err == nil {
		return netip.AddrPortFrom(addr, port)
	}
	return hostport.Of(host, port)
}

func (b *Brought) put(s Server, ok bool, text string) {
	s.Addr, s.Name = hostport.At(discovery.Canonical(s.Addr.AddrPort)), titleOf(s.Name)
	switch {
	case !ok || !s.Addr.IsValid() || s.Addr.Port() == 0 || hostport.HasZone(s.Addr.Addr()) || discovery.ReachOf(s.Addr.Addr()) == discovery.NoReach,
		s.Addr.Addr().Is4() && s.Addr.Addr().IsLinkLocalUnicast(): // only Steam's relays lead to 169.254 addresses
		b.pass(text, 0)
	case len(b.Favourites) == most:
		b.Beyond++
	default:
		b.Favourites = append(b.Favourites, s)
	}
}

// pass counts an entry that cannot be used; its line is 0 if the form has none.
func (b *Brought) pass(text string, line int) {
	if line > 0 {
		b.Lines = b.Lines.Add(&master.ListError{Line: line})
	}
	if b.Passed++; b.Passed == 1 {
		text = discovery.CleanText(text)
		b.First = strings.ToValidUTF8(text[:min(len(text), longestTitle)], "")
	}
}

// longestTitle is the longest name that is kept, in bytes.
const longestTitle = 128

func titleOf(name string) string {
	name = discovery.CleanText(name)
	return strings.TrimSpace(strings.ToValidUTF8(name[:min(len(name), longestTitle)], ""))
}

// list reads a list of lines or a CSV; QStat's is one.
func (b *Brought) list(in io.Reader, of For) error {
	return master.EachEntry(in, "the list", func(e master.Entry) {
		if of.Takes != nil && !of.Takes(e.Type) {
			b.pass(strings.TrimSpace(e.Type+" "+e.Host), e.Line)
			return
		}
		b.put(Server{Game: of.Game, Addr: hostport.At(of.at(e.Host, e.Port)), Name: e.Name}, true, e.Host)
	}, func(wrong *master.ListError) { b.pass(wrong.Text, wrong.Line) })
}

func (b *Brought) xml(in io.Reader, of For) error {
	r, err := qstat.ReadXML(in)
	if err != nil {
		return err
	}
	for _, m := range r.Servers {
		b.put(Server{Game: of.Game, Addr: m.Addr, Name: m.Name}, true, m.Addr.String())
	}
	return nil
}

func (b *Brought) steam(in io.Reader, of For) error {
	servers, err := weblist.ReadRemembered(in)
	if err != nil {
		return err
	}
	for _, s := range servers {
		at, wrong := address.One(s.Address)
		switch {
		case !s.Favourite:
		case s.AppID != 0 && s.AppID != of.AppID:
			b.pass(cmp.Or(s.Name, s.Address), 0)
		default:
			b.put(Server{Game: of.Game, Addr: hostport.At(of.at(at.Host, at.Port)), Name: s.Name}, wrong == nil, s.Address)
		}
	}
	return nil
}

func (b *Brought) own(in io.Reader, of For) error {
	data, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	s, err := parse(data)
	if err != nil {
		return fmt.Errorf("favourites: %w: %w", discovery.ErrMalformed, err)
	}
	for _, one := range s.Favourites {
		b.put(one, one.Game == of.Game, one.Addr.String())
	}
	favourites := b.Favourites
	b.Favourites = nil
	for _, one := range s.Hidden {
		b.put(one, one.Game == of.Game, one.Addr.String())
	}
	b.Favourites, b.Hidden = favourites, b.Favourites
	return nil
}

// Export writes favourites of a game in a form that others read.
func Export(w io.Writer, as As, of For, servers []Server) error {
	out := bufio.NewWriter(w) // keeps the first error
	switch as {
	case AsMuster:
		return Servers{Favourites: servers}.writeTo(w)
	case AsText:
		for _, s := range servers {
			fmt.Fprintln(out, lineOf(s))
		}
	case AsQStat:
		for _, s := range servers {
			fmt.Fprintf(out, "%s %s\n", of.QStatType, s.Addr)
		}
	case AsSteam:
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
		fmt.Fprint(out, "\"Filters\"\n{\n\t\"Favorites\"\n\t{\n")
		for i, s := range servers {
			fmt.Fprintf(out,
				"\t\t\"%d\"\n\t\t{\n\t\t\t\"name\"\t\t\"%s\"\n"+
					"\t\t\t\"address\"\t\t\"%s\"\n\t\t\t\"LastPlayed\"\t\t\"0\"\n\t\t\t\"appid\"\t\t\"%d\"\n\t\t\t\"accountid\"\t\t\"0\"\n\t\t}\n",
				i+1, quoted.Replace(titleOf(s.Name)), s.Addr, of.AppID)
		}
		fmt.Fprint(out, "\t}\n\t\"History\"\n\t{\n\t}\n}\n")
	default:
		return fmt.Errorf("favourites: no form %q", discovery.CleanText(string(as)))
	}
	return out.Flush()
}

// lineOf returns a server's line, which is read as this server. A "#" would begin a comment and cut the name, and an
// address in a name stands between quotation marks.
func lineOf(s Server) string {
	name := strings.ReplaceAll(titleOf(s.Name), "#", "")
	for _, line := range []string{s.Addr.String() + " " + name, s.Addr.String() + ` "` + strings.ReplaceAll(name, `"`, "'") + `"`} {
		if at, err := address.One(line); err == nil && at.String() == s.Addr.String() {
			return strings.TrimSpace(line)
		}
	}
	return s.Addr.String()
}

// Of returns the servers of one game.
func (s Servers) Of(kind Kind, game string) (of []Server) {
	list := s.Favourites
	if kind == Hidden {
		list = s.Hidden
	}
	for _, one := range list {
		if one.Game == game {
			of = append(of, one)
		}
	}
	return of
}

// Merge adds servers to a list, as [Servers.Set] does with one. It returns how many are new there, and how many found
// no room.
func (s Servers) Merge(kind Kind, servers []Server, now time.Time) (merged Servers, added, beyond int) {
	type key struct {
		game string
		addr netip.AddrPort
	}
	list, other := slices.Clone(s.Favourites), s.Hidden
	if kind == Hidden {
		list, other = slices.Clone(s.Hidden), s.Favourites
	}
	known, moved := map[key]bool{}, map[key]bool{}
	for _, one := range list {
		known[key{one.Game, one.Addr.AddrPort}] = true
	}
	for _, one := range servers {
		one.Added = now
		at := key{one.Game, one.Addr.AddrPort}
		switch {
		case known[at]:
		case len(list) >= most:
			beyond++
		default:
			known[at], moved[at] = true, true
			list = append(list, one)
			added++
		}
	}
	other = slices.DeleteFunc(slices.Clone(other), func(o Server) bool { return moved[key{o.Game, o.Addr.AddrPort}] })
	if s.Favourites, s.Hidden = list, other; kind == Hidden {
		s.Favourites, s.Hidden = other, list
	}
	return s, added, beyond
}
