package game

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"muster/discovery"
	"muster/discovery/hostport"
)

// Target is the destination of a launch, and what the game learns.
type Target struct {
	// Address is where players connect. QueryPort is where the server is asked; 0 means the same port.
	Address   netip.AddrPort
	QueryPort uint16
	// Password, Player and Room may be empty.
	Password, Player, Room string
}

// ValueError says that a value is unsafe for a game's command line. It does not show the value, which may be a
// password.
type ValueError struct{ What, Why string }

func (e *ValueError) Error() string { return fmt.Sprintf("game: %s %s", e.What, e.Why) }

// PlaceholderError says that a template has an unknown placeholder.
type PlaceholderError struct{ Placeholder string }

func (e *PlaceholderError) Error() string {
	return fmt.Sprintf("game: launch has the unknown placeholder %s; known are {address} {query} {host} {port} "+
		"{password} {/password} {password?} {player} {room} {game} {app_id}", e.Placeholder)
}

var errNoTemplate = errors.New("game: launch names no program")

// Template is the game's launch template on an operating system (GOOS), nil if it has none. For a URL, it puts the
// program that opens URLs there in front.
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

// isText distinguishes placeholders that people and strangers fill in from those that Muster fills in.
func isText(placeholder string) bool {
	return placeholder == "password" || placeholder == "player" || placeholder == "room"
}

// opener returns the program that opens URLs.
func opener(goos string) []string {
	switch goos {
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	case "darwin":
		return []string{"open"}
	}
	return []string{"xdg-open"}
}

// Command fills in a template and returns the program and its arguments. No shell sees them. An argument whose
// placeholder has no value disappears, together with the option (+password, -pw) right before it. Texts in a URL are
// escaped.
//
// Text in the braces around password belongs to it, and disappears without one: {/password}, {:password@},
// {?password=password}. {password?} itself expands to nothing; without a password, its argument disappears.
//
// An unsafe value is a [*ValueError]: consoles of games split their command lines at quotes, semicolons and plus signs,
// whatever the operating system does.
func (g Game) Command(template []string, t Target) ([]string, error) {
	values, err := g.values(t)
	if err != nil {
		return nil, err
	}
	return expand(template, values)
}

// commandFor is [Game.Command] for a target, with its password if the command can carry it. IsTyped reports whether the
// player must type it: the template has no place for it, or not for this one.
func (g Game) commandFor(template []string, t Target) (argv []string, isTyped bool, err error) {
	without := t
	without.Password = ""
	bare, err := g.Command(template, without)
	if err != nil || t.Password == "" {
		return bare, false, err
	}
	argv, err = g.Command(template, t)
	if unsafe := new(ValueError); errors.As(err, &unsafe) {
		return bare, true, nil // only the password was unsafe
	}
	isPassed := slices.ContainsFunc(argv, func(arg string) bool { return strings.Contains(arg, t.Password) && !slices.Contains(bare, arg) })
	return argv, !isPassed, err
}

func expand(template []string, values map[string]string) ([]string, error) {
	var argv []string
	option := false // the last argument is an option that needs this one
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

// values returns the placeholders' values. Empty means no value.
func (g Game) values(t Target) (map[string]string, error) {
	if !t.Address.IsValid() || t.Address.Port() == 0 || hostport.HasZone(t.Address.Addr()) || t.Address.Addr().IsUnspecified() {
		return nil, &ValueError{What: "{address}", Why: "is none that players can connect to"}
	}
	values := map[string]string{
		"address": hostport.Text(t.Address), "query": hostport.Text(g.queryAddress(t)), "host": hostport.Host(t.Address.Addr()),
		"port":     strconv.Itoa(int(t.Address.Port())),
		"password": t.Password, "player": t.Player, "room": t.Room, "game": g.ID, "app_id": "",
	}
	if g.AppID != 0 {
		values["app_id"] = strconv.FormatUint(uint64(g.AppID), 10)
	}
	return values, nil
}

func (g Game) queryAddress(t Target) netip.AddrPort {
	port := cmp.Or(t.QueryPort, t.Address.Port())
	if aside, ok := g.Protocol().(discovery.Aside); ok {
		port = aside.QueryPort(port)
	}
	return netip.AddrPortFrom(t.Address.Addr(), port)
}

// unsafe returns why a text must not reach a game's console, or an empty text.
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

// fill replaces an argument's placeholders. missing says that one has no value.
func fill(arg string, values map[string]string) (filled string, missing bool, err error) {
	var b strings.Builder
	left := arg
	for {
		before, after, found := strings.Cut(left, "{")
		b.WriteString(before)
		if !found {
			return b.String(), missing, nil
		}
		braced, tail, closed := strings.Cut(after, "}")
		p, known := readPlaceholder(braced, values)
		if !closed || !known {
			return "", false, &PlaceholderError{Placeholder: "{" + braced + strings.Repeat("}", len(after)-len(braced)-len(tail))}
		}
		value := values[p.name]
		left = tail
		if why := p.unsafe(arg, value); why != "" && !slices.Contains(MatchFiles(), p.name) { // their paths are this program's own
			return "", false, &ValueError{What: "{" + p.name + "}", Why: why}
		}
		if isURL(arg) && isText(p.name) {
			value = inURL(value)
		}
		switch {
		case value == "":
			missing = missing || !p.isOptional()
		case !p.isCondition:
			b.WriteString(p.before + value + p.after)
		}
	}
}

// placeholder is the content of braces: a name, and any text that belongs to the password. A condition only asks
// whether there is a value.
type placeholder struct {
	name, before, after string
	isCondition         bool
}

// aroundPassword matches {/password}, {:password@} and {?password=password}.
var aroundPassword = regexp.MustCompile(`^([^A-Za-z_]*|.*=)password([^A-Za-z_]*)$`)

// readPlaceholder parses the content of braces, which must name one of the values.
func readPlaceholder(braced string, values map[string]string) (p placeholder, isKnown bool) {
	if _, isKnown = values[braced]; isKnown {
		return placeholder{name: braced}, true
	}
	if _, hasPassword := values["password"]; !hasPassword {
		return placeholder{}, false
	}
	if braced == "password?" {
		return placeholder{name: "password", isCondition: true}, true
	}
	around := aroundPassword.FindStringSubmatch(braced)
	if around == nil {
		return placeholder{}, false
	}
	return placeholder{name: "password", before: around[1], after: around[2]}, true
}

// isOptional reports whether the argument remains when there is no value.
func (p placeholder) isOptional() bool { return p.before+p.after != "" }

// unsafe returns why a value must not get into an argument, or an empty text. Some programs parse the argument
// themselves, as a line of their script or an address with options. There a password could become more than one part.
func (p placeholder) unsafe(arg, value string) string {
	isTakenApart := !isURL(arg) && (p.isOptional() || strings.ContainsAny(arg, " \t"))
	if at := strings.IndexFunc(value, isNotPlain); at >= 0 && p.name == "password" && isTakenApart {
		return "has a character that the game may take for something else"
	}
	return unsafe(value)
}

// isNotPlain reports whether a program that parses a line may give a character a special meaning.
func isNotPlain(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.", r)
}

// inURL escapes a text so that it stays one part of a URL.
func inURL(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// checkTemplate tests a template by filling it in. A missing template is valid.
func checkTemplate(template []string) error {
	if template == nil {
		return nil
	}
	trial := Target{Address: netip.MustParseAddrPort("192.0.2.1:1"), Password: "p", Player: "p", Room: "r"}
	_, err := Game{ID: "g", AppID: 1}.Command(template, trial)
	return err
}

// show returns a command as one would type it, with the password masked.
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

// split splits a user's template at blanks. Single and double quotes keep blanks, and each protects the other kind. A
// backslash is literal, as in Windows paths.
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
