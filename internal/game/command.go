package game

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Target is where a launch goes, and what the game gets to know.
type Target struct {
	// Address is where players connect to.
	Address netip.AddrPort
	// Password, Player and Room may be empty.
	Password, Player, Room string
}

// ValueError says that a value must not get into a game's command line. It does
// not show the value: it may be a password.
type ValueError struct{ What, Why string }

func (e *ValueError) Error() string { return fmt.Sprintf("game: %s %s", e.What, e.Why) }

// PlaceholderError says that a template has a placeholder that does not exist.
type PlaceholderError struct{ Placeholder string }

func (e *PlaceholderError) Error() string {
	return fmt.Sprintf("game: launch has the unknown placeholder %s; known are {address} {host} {port} {password} {/password} {player} {room} {game} {app_id}", e.Placeholder)
}

var errNoTemplate = errors.New("game: launch names no program")

// Template is the game's launch template on an operating system (GOOS). A URL is
// put behind the program that opens URLs there. It is nil if the game has none.
func (g Game) Template(goos string) []string {
	own := map[string][]string{"windows": g.LaunchWindows, "darwin": g.LaunchDarwin, "linux": g.LaunchLinux}
	template := own[goos]
	if template == nil {
		template = g.Launch
	}
	if len(template) == 1 && isURL(template[0]) {
		return append(opener(goos), template...)
	}
	return slices.Clone(template)
}

func isURL(arg string) bool { return strings.Contains(arg, "://") }

// isText distinguishes placeholders that people fill in, and strangers, from those that
// Muster does.
func isText(placeholder string) bool {
	return placeholder == "password" || placeholder == "player" || placeholder == "room"
}

// opener is the program that opens URLs.
func opener(goos string) []string {
	switch goos {
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	case "darwin":
		return []string{"open"}
	}
	return []string{"xdg-open"}
}

// Command fills in a template: the program and its arguments, for no shell to
// see. An argument whose placeholder has no value is left out together with the
// option (+password, -pw) right before it. In a URL texts are escaped, and
// {/password} is a slash and the password, or nothing, as in RFC 6570.
//
// What cannot be passed on safely is a [*ValueError]: consoles of games split
// their command lines at quotes, semicolons and plus signs, whatever the
// operating system says.
func (g Game) Command(template []string, t Target) ([]string, error) {
	values, err := g.values(t)
	if err != nil {
		return nil, err
	}
	return expand(template, values)
}

// expand fills in a template with these values.
func expand(template []string, values map[string]string) ([]string, error) {
	var argv []string
	option := false // the last argument is an option that may need this one
	for i, arg := range template {
		filled, missing, err := fill(arg, values)
		switch {
		case err != nil:
			return nil, err
		case i == 0 && (missing || strings.TrimSpace(filled) == ""):
			return nil, errNoTemplate
		case !missing:
			argv = append(argv, filled)
		case option:
			argv = argv[:len(argv)-1]
		}
		option = !missing && i > 0 && filled == arg && (arg[:min(len(arg), 1)] == "+" || arg[:min(len(arg), 1)] == "-")
	}
	if len(argv) == 0 {
		return nil, errNoTemplate
	}
	return argv, nil
}

// values are what the placeholders stand for; empty is no value.
func (g Game) values(t Target) (map[string]string, error) {
	if !t.Address.IsValid() || t.Address.Port() == 0 || t.Address.Addr().Zone() != "" || t.Address.Addr().IsUnspecified() {
		return nil, &ValueError{What: "{address}", Why: "is none that players can connect to"}
	}
	values := map[string]string{
		"address": t.Address.String(), "host": t.Address.Addr().String(), "port": strconv.Itoa(int(t.Address.Port())),
		"password": t.Password, "/password": t.Password, "player": t.Player, "room": t.Room, "game": g.ID, "app_id": "",
	}
	if g.AppID != 0 {
		values["app_id"] = strconv.FormatUint(uint64(g.AppID), 10)
	}
	return values, nil
}

// unsafe is why a text must not reach a game's console, or is empty.
func unsafe(s string) string {
	if len(s) > 64 {
		return "is longer than 64 bytes"
	}
	if strings.HasPrefix(s, "-") || s != strings.TrimSpace(s) {
		return "starts with a dash, or starts or ends with a blank"
	}
	for _, r := range s {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar || strings.ContainsRune("\"'`;\\+$%{}", r) {
			return fmt.Sprintf("holds %q, which a game's console may take for a command", r)
		}
	}
	return ""
}

// fill replaces an argument's placeholders; missing if one has no value.
func fill(arg string, values map[string]string) (filled string, missing bool, err error) {
	var b strings.Builder
	for rest := arg; ; {
		before, after, found := strings.Cut(rest, "{")
		b.WriteString(before)
		if !found {
			return b.String(), missing, nil
		}
		name, tail, closed := strings.Cut(after, "}")
		value, known := values[name]
		if !closed || !known {
			return "", false, &PlaceholderError{Placeholder: "{" + name + strings.Repeat("}", len(after)-len(name)-len(tail))}
		}
		if why := unsafe(value); why != "" {
			return "", false, &ValueError{What: "{" + name + "}", Why: why}
		}
		rest = tail
		if isURL(arg) && isText(name) {
			value = inURL(value)
		}
		switch {
		case name != "/password":
			missing = missing || value == ""
			b.WriteString(value)
		case value != "":
			b.WriteString("/" + inURL(value))
		}
	}
}

// inURL is a text as a part of a URL that cannot become another part.
func inURL(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// checkTemplate fills in a template on trial; none at all is fine.
func checkTemplate(template []string) error {
	if template == nil {
		return nil
	}
	trial := Target{Address: netip.MustParseAddrPort("192.0.2.1:1"), Password: "p", Player: "p", Room: "r"}
	_, err := Game{ID: "g", AppID: 1}.Command(template, trial)
	return err
}

// show is a command for people to read, as one would type it, with the password
// masked.
func show(argv []string, password string) string {
	shown := make([]string, len(argv))
	for i, arg := range argv {
		if password != "" {
			arg = strings.ReplaceAll(arg, inURL(password), "***")
			arg = strings.ReplaceAll(arg, password, "***")
		}
		if arg == "" || strings.ContainsFunc(arg, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == '"' }) {
			arg = strconv.Quote(arg)
		}
		shown[i] = arg
	}
	return strings.Join(shown, " ")
}

// split takes a user's template apart at blanks. Single and double quotes keep
// blanks together and each other's kind as it is; a backslash is a backslash, as
// in the paths of Windows.
func split(template string) ([]string, error) {
	var argv []string
	var arg strings.Builder
	quote, inArg := rune(0), false
	for _, r := range template {
		switch {
		case r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, inArg = r, true
		case quote == 0 && unicode.IsSpace(r):
			if inArg {
				argv = append(argv, arg.String())
			}
			arg.Reset()
			inArg = false
		default:
			arg.WriteRune(r)
			inArg = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("game: launch command: a quote %c is never closed", quote)
	}
	if inArg {
		argv = append(argv, arg.String())
	}
	if len(argv) == 0 {
		return nil, errNoTemplate
	}
	return argv, nil
}
