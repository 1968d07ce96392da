package favourites

import (
	"net/netip"
	"path/filepath"
	"testing"

	"muster/discovery"
	"muster/discovery/hostport"
)

func TestSet(t *testing.T) {
	one := Server{Game: "openarena", Addr: hostport.At(netip.MustParseAddrPort("[::ffff:192.0.2.1]:27960")), Name: "Ann's\x1b[31m"}
	file := filepath.Join(t.TempDir(), "muster", "servers.json")
	s, err := Read(file)
	if err != nil || len(s.Favourites)+len(s.Hidden) > 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	for _, step := range []struct {
		kind              Kind
		is                bool
		favourite, hidden int
	}{
		{Favourite, true, 1, 0}, {Favourite, true, 1, 0}, {Hidden, false, 1, 0}, {Hidden, true, 0, 1},
		{Favourite, false, 0, 1}, {Favourite, true, 1, 0},
	} {
		if s, err = s.Set(step.kind, one, step.is); err != nil || len(s.Favourites) != step.favourite || len(s.Hidden) != step.hidden {
			t.Errorf("after %s %v: %+v, %v", step.kind, step.is, s, err)
		}
	}
	if err := s.Write(file); err != nil {
		t.Fatal(err)
	}
	again, err := Read(file)
	if err != nil || len(again.Favourites) != 1 || again.Favourites[0].Addr.String() != "192.0.2.1:27960" ||
		again.Favourites[0].Name != discovery.CleanText(one.Name) {
		t.Errorf("kept as %+v, %v", again, err)
	}
	if _, err := s.Set(Favourite, Server{Game: "x"}, true); err == nil {
		t.Error("a favourite without an address")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"format":"muster.servers/1","favourites":[{"game":"openarena","addr":"192.0.2.1:27960","name":"Ann's"}],"hidden":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parse(data)
		if err != nil {
			return
		}
		for _, list := range [][]Server{s.Favourites, s.Hidden} {
			for _, o := range list {
				if !o.Addr.IsValid() || o.Game == "" || o.Name != discovery.CleanText(o.Name) {
					t.Errorf("%+v", o)
				}
			}
		}
	})
}
