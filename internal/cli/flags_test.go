package cli

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/spf13/pflag"

	"muster/internal/listing"
)

// TestFetchedTablesServeAll: whoever gets a list goes by what muster geo --update fetched.
func TestFetchedTablesServeAll(t *testing.T) {
	var lists listing.Sources
	testProgram(nil).bindLists(pflag.NewFlagSet("", pflag.ContinueOnError), &lists)
	if lists.Places.Tables != tablesFolder() || tablesFolder() == "" {
		t.Errorf("tables are in %q, and lists go by those in %q", tablesFolder(), lists.Places.Tables)
	}
}

func TestPrefixes(t *testing.T) {
	var got []netip.Prefix
	flag := networks(&got)
	for _, text := range []string{"127.0.0.1", "192.0.2.0/24, ::1"} {
		if err := flag.Set(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	want := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("::1/128")}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if err := flag.Set("caddy"); err == nil {
		t.Error("a name is taken for a network")
	}
}
