package cli

import (
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/host/wire"
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

// TestPings: a plain number is in milliseconds wherever a flag takes a ping.
func TestPings(t *testing.T) {
	ms := time.Millisecond
	for text, want := range map[string][]time.Duration{
		"150": {150 * ms}, "150ms": {150 * ms}, "0.5s": {500 * ms}, "99.5": {99500 * time.Microsecond}, "100,150ms, 0.2s,250": {100 * ms, 150 * ms, 200 * ms, 250 * ms}, "0": {0},
	} {
		var got []time.Duration
		if err := pings(&got).Set(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", ".", "1e3", "-5", "150 ms", "ms", "1,,2", "inf", "0x10", "99999999999999999999"} {
		var got []time.Duration
		if err := pings(&got).Set(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
	var one time.Duration
	flag := aPing(&one, 200*ms)
	if one != 200*ms || flag.String() != "200ms" || flag.Set("90") != nil || one != 90*ms {
		t.Errorf("%v, %v", one, flag)
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

// TestTextFlags: the command line takes texts as the page does, and no less of a password or
// a link. Else Home shows no room whose name ends in a blank.
func TestTextFlags(t *testing.T) {
	var got wire.Settings
	cmd := &cobra.Command{RunE: func(*cobra.Command, []string) error { return nil }}
	bindSettings(cmd, &got)
	cmd.SetArgs([]string{"--room", " Fri\u202eday\x1b[31m  night ", "--map", "oa_dm1 ", "--password", " two  blanks ", "--voice", "https://discord.gg/" + strings.Repeat("a", 270)})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	want := wire.Settings{Name: "Friday[31m night", Map: "oa_dm1", Password: " two  blanks ", Voice: "https://discord.gg/" + strings.Repeat("a", 270)}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
