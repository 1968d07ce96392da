package register

import (
	"strings"
	"testing"
)

// TestEntry checks that any path stays one word of the entry's command.
func TestEntry(t *testing.T) {
	for program, want := range map[string]string{
		"/usr/bin/muster":                `Exec=/usr/bin/muster open %u`,
		"/home/ann/My games/muster":      `Exec="/home/ann/My games/muster" open %u`,
		"/home/ann/100%u/$(x)/`y`/a\\b/": "Exec=\"/home/ann/100%%u/\\\\$(x)/\\\\`y\\\\`/a\\\\\\\\b/\" open %u",
	} {
		if got := entry(program); !strings.Contains(got, "\n"+want+"\n") {
			t.Errorf("for %s the entry is\n%s\nwant %s", program, got, want)
		}
	}
	for _, program := range []string{"muster", `/a"b`, "/a\nExec=calc", ""} {
		if where, err := Add(program); err == nil {
			t.Errorf("%q is registered in %s", program, where)
		}
	}
}

// TestWithout checks that other programs' defaults stay.
func TestWithout(t *testing.T) {
	const list = "[Default Applications]\ntext/html=firefox.desktop\nx-scheme-handler/muster=muster-open.desktop\nx-scheme-handler/steam=steam.desktop;\n\n[Added Associations]\nx-scheme-handler/muster=muster-open.desktop;other.desktop;\n"
	const want = "[Default Applications]\ntext/html=firefox.desktop\nx-scheme-handler/steam=steam.desktop;\n\n[Added Associations]\nx-scheme-handler/muster=other.desktop;\n"
	if got := without(list, "muster-open.desktop"); got != want {
		t.Errorf("left is\n%s\nwant\n%s", got, want)
	}
	if got := without(want, "muster-open.desktop"); got != want {
		t.Errorf("the second time left is\n%s", got)
	}
}
