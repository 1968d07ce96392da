package register

import (
	"regexp"
	"strings"
)

// plainPath matches paths that need no quotes. On desktops without an opener of their own, xdg-open does not understand
// quotes.
var plainPath = regexp.MustCompile(`^[0-9A-Za-z/._+@-]+$`)

// entry returns a desktop entry that passes links to a program. The program asks on a page, so it needs no terminal.
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

// quote escapes a path within the quotes of a desktop entry, which are parsed twice.
func quote(path string) string {
	return strings.NewReplacer(`\`, `\\\\`, "`", "\\\\`", `$`, `\\$`, `%`, `%%`).Replace(path)
}

// without removes a desktop entry from a list of defaults (mimeapps.list).
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
