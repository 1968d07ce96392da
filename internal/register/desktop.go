package register

import (
	"regexp"
	"strings"
)

// plainPath matches paths that need no quotes. The opener of desktops that have none of
// their own (xdg-open) finds no program behind quotes.
var plainPath = regexp.MustCompile(`^[0-9A-Za-z/._+@-]+$`)

// entry is a desktop entry that hands links on to a program, which asks on a page: it needs
// no terminal.
func entry(program string) string {
	quoted := program
	if !plainPath.MatchString(program) {
		quoted = `"` + quote(program) + `"`
	}
	return `[Desktop Entry]
Type=Application
Version=1.5
Name=Join a room with Muster
Comment=Opens links that begin with muster://
Exec=` + quoted + ` open %u
Terminal=false
NoDisplay=true
Icon=muster
MimeType=x-scheme-handler/muster;
`
}

// quote is a path within the quotes of a desktop entry, which are read twice.
func quote(path string) string {
	return strings.NewReplacer(`\`, `\\\\`, "`", "\\\\`", `$`, `\\$`, `%`, `%%`).Replace(path)
}

// without is a list of defaults (mimeapps.list) in which a desktop entry opens nothing
// more.
func without(list, desktop string) string {
	var kept strings.Builder
	for line := range strings.Lines(list) {
		key, value, isDefault := strings.Cut(strings.TrimSpace(line), "=")
		if !isDefault || key != "x-scheme-handler/muster" {
			kept.WriteString(line)
			continue
		}
		var others []string
		for name := range strings.SplitSeq(value, ";") {
			if name != "" && name != desktop {
				others = append(others, name)
			}
		}
		if len(others) > 0 {
			kept.WriteString(key + "=" + strings.Join(others, ";") + ";\n")
		}
	}
	return kept.String()
}
