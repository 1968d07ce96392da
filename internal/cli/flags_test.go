package cli

import (
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/host/wire"
	"muster/internal/listing"
	"muster/selection"
)

// TestFetchedTablesServeAll checks that every list uses the tables that muster geo --update
// fetched.
func TestFetchedTablesServeAll(t *testing.T) {
	var lists listing.Sources
	testProgram(nil).bindLists(pflag.NewFlagSet("", pflag.ContinueOnError), &lists)
	if lists.Places.Tables != tablesFolder() || tablesFolder() == "" {
		t.Errorf("tables are in %q, and lists go by those in %q", tablesFolder(), lists.Places.Tables)
	}
}

// TestTextFlags checks that the command line trims texts as the page does, but not passwords and
// links. Otherwise Home would miss a room whose name ends in a blank.
func TestTextFlags(t *testing.T) {
	var got wire.Settings
	cmd := &cobra.Command{RunE: func(*cobra.Command, []string) error { return nil }}
	for _, in := range []wire.Section{wire.OfServers, wire.OfRoom, wire.OfEvening} {
		bindSettings(cmd, &got, in)
	}
	cmd.SetArgs([]string{"--room", " Fri\u202eday\x1b[31m  night ", "--map", "oa_dm1 ", "--password", " two  blanks ", "--voice", "https://discord.gg/" + strings.Repeat("a", 270)})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	want := wire.Settings{Name: "Friday[31m night", Wishes: selection.Wishes{Map: "oa_dm1"}, Password: " two  blanks ", Voice: "https://discord.gg/" + strings.Repeat("a", 270)}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
