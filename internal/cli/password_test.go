package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/pflag"
)

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
