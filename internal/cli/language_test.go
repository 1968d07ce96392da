package cli_test

import (
	"strings"
	"testing"

	"muster/internal/cli"
)

// TestLanguage checks whose language is taken: the flag's, the user's settings', or the system's.
func TestLanguage(t *testing.T) {
	const english, accented = "\nhint: ", "\n[híñt:··] "
	for _, tt := range []struct{ flag, variable, config, all, lang, want string }{
		{want: english},
		{lang: "en-XA", want: accented},
		{lang: "xx_YY.UTF-8", want: english},
		{all: "C", lang: "en-XA", want: english},
		{all: "C", config: "language = 'en-XA'\n", want: accented},
		{all: "C", config: "language = 'en'\n", variable: "en-XA", want: accented},
		{variable: "en-XA", flag: "en_GB.UTF-8", want: english},
		{variable: "xx", want: english},
	} {
		cli.Configured(t, tt.config)
		t.Setenv("MUSTER_LANGUAGE", tt.variable)
		t.Setenv("LC_ALL", tt.all)
		t.Setenv("LANG", tt.lang)
		args := []string{"games", "nosuch"}
		if tt.flag != "" {
			args = append(args, "--language", tt.flag)
		}
		if o := muster(t, args...); !strings.Contains(o.err, tt.want) || o.code != 2 {
			t.Errorf("%+v: exit status %d\n%s", tt, o.code, o.err)
		}
	}
}
