package cli

import (
	"os"
	"path/filepath"
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
		testProgram(nil).bindSettings(cmd, &got, in)
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

// TestPassword checks that the game server's password can stay off the command line, which every
// user of the machine can read.
func TestPassword(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("club night\r\nignored\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	notepad := filepath.Join(t.TempDir(), "password.txt")
	if err := os.WriteFile(notepad, []byte("\ufeffclub night\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		args      []string
		env, want string
		wrong     bool
	}{
		{name: "none"},
		{name: "in the command line", args: []string{"--password", "a"}, env: "b", want: "a"},
		{name: "in a file", args: []string{"--password-file", file}, env: "b", want: "club night"},
		{name: "in a file of Windows' editor", args: []string{"--password-file", notepad}, want: "club night"},
		{name: "in the environment", env: "b", want: "b"},
		{name: "twice", args: []string{"--password", "a", "--password-file", file}, wrong: true},
		{name: "in no file", args: []string{"--password-file", file + ".gone"}, wrong: true},
	} {
		h, flags := &hostCommand{program: &program{env: func(string) string { return c.env }}}, pflag.NewFlagSet("host", pflag.ContinueOnError)
		flags.StringVar(&h.settings.Password, "password", "", "")
		flags.StringVar(&h.password, "password-file", "", "")
		h.given, h.give = flags.Changed, flags.Set
		if err := flags.Parse(c.args); err != nil {
			t.Fatal(err)
		}
		err := h.takeSecret("password", h.password)
		if (err != nil) != c.wrong || !c.wrong && (h.settings.Password != c.want || h.given("password") != (c.want != "")) {
			t.Errorf("%s: %q, %v, want %q", c.name, h.settings.Password, err, c.want)
		}
	}
}

// TestSections checks the help of long commands. It has each flag once, and only help itself stands in
// no section.
func TestSections(t *testing.T) {
	for _, name := range []string{"host", "serve", "discover"} {
		cmd, _, err := Command().Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		cmd.InitDefaultHelpFlag()
		help := cmd.UsageString()
		for _, want := range []string{"Usage:\n  muster " + name, "\nExamples:\n  muster " + name, "\nWhere servers are listed:\n",
			"\nOther:\n  -h, --help   help for " + name + "\n\nGlobal Flags:\n      --language TAG"} {
			if !strings.Contains(help, want) {
				t.Errorf("the help of %s has no %q:\n%s", name, want, help)
			}
		}
		cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if n := strings.Count(help, "\n      --"+flag.Name+" ") + strings.Count(help, "\n      --"+flag.Name+"["); flag.Name != "help" && !flag.Hidden && n != 1 {
				t.Errorf("the help of %s lists --%s %d times", name, flag.Name, n)
			}
		})
	}
}
