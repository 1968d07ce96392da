package game

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"muster/discovery"
	"muster/discovery/lists/master"
	"muster/discovery/regions"
	"muster/selection"
	"muster/selection/rules"
)

// fieldError is about a field of an entry, or of one of its lists, counted from 1.
type fieldError struct {
	field string
	list  int
	err   error
}

func (e *fieldError) Error() string { return e.err.Error() }
func (e *fieldError) Unwrap() error { return e.err }

// lineOf returns the line of a game's field in a file, of its entry if the field is missing there, or 0 without an
// entry. The decoder knows only the lines of what it cannot decode.
func lineOf(text, id, field string, list int) (line int) {
	inEntry, lists := false, 0
	n := 0
	for row := range strings.Lines(text) {
		n++
		row = strings.TrimSpace(row)
		if strings.HasPrefix(row, "[") {
			header := strings.NewReplacer(`"`, "", "'", "", " ", "").Replace(strings.Trim(strings.SplitN(row, "#", 2)[0], "[] \t"))
			isList := header == "game."+id+".lists"
			if isList {
				lists++
			}
			isRegions := header == "game."+id+".regions" && list == inRegions
			inEntry = header == "game."+id && list == 0 || isRegions || isList && lists == list
			if inEntry {
				line = n
			}
			continue
		}
		if key, _, found := strings.Cut(row, "="); inEntry && found && strings.Trim(strings.TrimSpace(key), `"'`) == field {
			return n
		}
	}
	return line
}

// asideProtocols are the protocols whose servers are asked at another port than players connect to, if
// the table says so.
var asideProtocols = []string{"unreal", "unreal2", "gamespy", "gamespy2", "gamespy3", "ase", "frostbite", "tcp"}

// complete fills in defaults, and refuses what cannot work.
func (g *Game) complete() error {
	g.Name = cmp.Or(g.Name, g.ID)
	g.Rule = cmp.Or(g.Rule, selection.Mean)
	if !g.Regions.IsZero() {
		g.ProtocolName, g.Port = cmp.Or(g.ProtocolName, regionsProtocol), cmp.Or(g.Port, regionsPort)
	}
	if g.AppID != 0 && g.ProtocolName == "" {
		g.takeFromSteam()
	}
	wrong := func(field, format string, a ...any) error {
		return &fieldError{field: field, err: fmt.Errorf(format, a...)}
	}
	switch {
	case !isID(g.ID):
		return wrong("", "an id is lower-case letters, digits, - and _")
	case g.ProtocolName == "":
		return wrong("protocol", `protocol "" is missing; Muster speaks %s. A game of Steam needs only its app_id`,
			strings.Join(Protocols(), ", "))
	case g.Protocol() == nil:
		return wrong("protocol", "protocol %q is none that Muster speaks: those are %s",
			discovery.CleanText(g.ProtocolName), strings.Join(Protocols(), ", "))
	case g.Port == 0:
		return wrong("port", "port is missing")
	case g.GapMS < 0 || g.GapMS > maxGap:
		return wrong("gap_ms", "gap_ms is between 0 and %d", maxGap)
	case g.QueryAbove != 0 && !slices.Contains(asideProtocols, g.ProtocolName):
		return wrong("query_above", "query_above is for the protocols %s", strings.Join(asideProtocols, ", "))
	case rules.Find(g.Rule) == nil:
		return wrong("rule", "rule %q is none of %v", g.Rule, selection.Rules())
	case strings.ContainsAny(g.MasterGame, " \t\r\n"):
		return wrong("master_game", "master_game is one word")
	case g.SRV != "" && !isService(g.SRV):
		return wrong("srv", "srv %q is no service such as _minecraft._tcp", discovery.CleanText(g.SRV))
	}
	for _, entry := range g.Protocols {
		if _, _, err := parseProtocol(entry); err != nil {
			return wrong("protocols", "%w", err)
		}
	}
	fields := []string{"launch", "launch_windows", "launch_darwin", "launch_linux"}
	for i, template := range [][]string{g.Launch, g.LaunchWindows, g.LaunchDarwin, g.LaunchLinux} {
		if err := checkTemplate(template); err != nil {
			return wrong(fields[i], "%w", err)
		}
	}
	if err := g.Type.check(); err != nil {
		return wrong("type", "%w", err)
	}
	if err := g.Delay.check(); err != nil {
		return wrong("delay", "%w", err)
	}
	if err := g.DelayLine.check(g.ProtocolName); err != nil {
		return wrong("delay_line", "%w", err)
	}
	if err := g.Transfer.check(); err != nil {
		return wrong("transfer", "%w", err)
	}
	for _, alias := range g.Aliases {
		if len(wordsOf(alias)) == 0 || len([]rune(alias)) > maxText {
			return wrong("aliases", "aliases: %q is no name of 1 to %d letters", discovery.CleanText(alias), maxText)
		}
	}
	for _, id := range g.Flatpak {
		if !flatpakID.MatchString(id) {
			return wrong("flatpak", "flatpak %q is no id such as org.xonotic.Xonotic", discovery.CleanText(id))
		}
	}
	if err := g.checkRegions(); err != nil {
		return err
	}
	for i, list := range g.Lists {
		if err := checkList(list); err != nil {
			return &fieldError{field: err.field, list: i + 1, err: fmt.Errorf("list %d: %w", i+1, err.err)}
		}
		g.Lists[i].BotsApart = g.BotsApart
	}
	return nil
}

// takeFromSteam completes an entry that has little but its id on Steam: Steam lists its servers, which are asked as nearly
// all of Steam's are, and starts the game.
func (g *Game) takeFromSteam() {
	const usualPort = 27015 // where a list or a pasted address gives none
	g.ProtocolName, g.Port = "a2s", cmp.Or(g.Port, usualPort)
	if g.Launch == nil && g.LaunchWindows == nil && g.LaunchDarwin == nil && g.LaunchLinux == nil {
		g.Launch = []string{"steam://connect/{query}{/password}"}
	}
}

// A game of regions is measured by TCP handshakes, mostly at the port of HTTPS.
const (
	regionsProtocol = "tcp"
	regionsPort     = 443
)

// checkRegions refuses regions that cannot work.
func (g *Game) checkRegions() error {
	if err := g.Regions.Check(); err != nil {
		field := ""
		if in := new(regions.Error); errors.As(err, &in) {
			field = in.Field
		}
		return &fieldError{field: field, list: inRegions, err: fmt.Errorf("regions: %w", err)}
	}
	if !g.Regions.IsZero() && (g.ProtocolName != regionsProtocol || g.Lists != nil || g.Masters != nil) {
		return &fieldError{field: "protocol", err: errors.New("a game of regions has no lists, no masters, and the protocol tcp")}
	}
	return nil
}

// maxGap is longer than any server stays silent, in ms.
const maxGap = 10_000

// maxEvery is a day, in minutes: servers come and go.
const maxEvery = 24 * 60

// checkList reports what is wrong with a list, and the field.
func checkList(list master.WebList) *fieldError {
	if len(list.URLs) == 0 {
		return &fieldError{field: "urls", err: errors.New("urls is missing")}
	}
	for _, at := range list.URLs {
		if err := master.CheckURL(at); err != nil {
			return &fieldError{field: "urls", err: err}
		}
	}
	if list.Every < 0 || list.Every > maxEvery {
		return &fieldError{field: "every_minutes", err: fmt.Errorf("every_minutes %d is not 0 to %d", list.Every, maxEvery)}
	}
	if err := list.Check(); err != nil {
		field, _, _ := strings.Cut(err.Error(), " ") // its message begins with the field's name
		return &fieldError{field: field, err: err}
	}
	return nil
}

// isService reports whether a text is a service in the domain name system: _NAME._PROTOCOL (RFC 2782).
func isService(s string) bool {
	name, protocol, found := strings.Cut(s, "._")
	return found && strings.HasPrefix(name, "_") && isID(name[1:]) && isID(protocol)
}
