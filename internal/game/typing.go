package game

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"muster/discovery"
	"muster/discovery/hostport"
	"muster/host/wire"
)

// Typing says where in a game the player types a server's address, and in which form. It serves games that no program
// or link takes to a server, and players who start the game themselves.
type Typing struct {
	// Where is one of [typingPlaces].
	Where string `toml:"where"`
	// Text has one text for each field or line that the player fills in. It takes the placeholders of launch; a text
	// whose placeholder has no value is left out. {name}, the server's name, is for lists only.
	Text []string `toml:"text"`
}

// placeList is the game's own list of servers, where players look for a name.
const placeList = "list"

// typingPlaces are the places where players type an address. The sentence for each is type.PLACE in the catalogue.
var typingPlaces = []string{"browser", "console", "direct", "favourites", "launcher", placeList, "steam"}

// check reports what is wrong with where and how the player types.
func (t *Typing) check() error {
	switch {
	case t == nil:
		return nil
	case !slices.Contains(typingPlaces, t.Where):
		return fmt.Errorf("type: where %q is none of %v", discovery.CleanText(t.Where), typingPlaces)
	case len(t.Text) == 0 || len(t.Text) > 4:
		return errors.New("type: text has one to four texts")
	}
	trial := Target{Address: netip.MustParseAddrPort("192.0.2.1:1"), Password: "p", Player: "p", Room: "r"}
	_, err := Game{ID: "g", AppID: 1, Type: t}.typed(trial, "n")
	return err
}

// typed returns the texts that the player types to get to a server of this name.
func (g Game) typed(t Target, name string) (texts []string, err error) {
	if g.Type == nil {
		return nil, nil
	}
	values, err := g.values(t)
	if err != nil {
		return nil, err
	}
	if g.Type.Where == placeList {
		values["name"] = "" // known; its value may be anything, because no program reads it
	}
	for _, text := range g.Type.Text {
		if g.Type.Where == placeList && text == "{name}" {
			if name = discovery.CleanText(name); name != "" {
				texts = append(texts, name)
			}
			continue
		}
		filled, isMissing, err := fill(text, values)
		if err != nil {
			return nil, err
		}
		if !isMissing && strings.TrimSpace(filled) != "" {
			texts = append(texts, filled)
		}
	}
	return texts, nil
}

// key names the sentence of the catalogue that shows a text to type.
func (t *Typing) key() string { return "type." + t.Where }

// Typed returns where in a game players type a server's address, and what, without its password. It is nil if the table
// does not know.
func (t Table) Typed(id string, way wire.Way) *wire.Typed {
	g, err := t.Find(id)
	addr, badAddress := hostport.Parse(way.Connect)
	if err != nil || badAddress != nil || g.Type == nil {
		return nil
	}
	texts, err := g.typed(Target{Address: addr, QueryPort: way.QueryPort}, way.Server)
	if err != nil || len(texts) == 0 {
		return nil
	}
	return &wire.Typed{Where: g.Type.Where, Texts: texts}
}

// IsJoined reports whether the table has a source for the game's port and one for the way its players join, by a
// launch or by hand.
func (g Game) IsJoined() bool {
	isJoining := g.Type != nil || g.Launch != nil || g.LaunchWindows != nil || g.LaunchDarwin != nil || g.LaunchLinux != nil
	return isJoining && len(g.JoinReferences) > 0 && slices.ContainsFunc(g.References, namesPort)
}

// namesPort reports whether a source says that it is about a port.
func namesPort(source string) bool {
	_, what, _ := strings.Cut(source, ": ")
	return slices.ContainsFunc(strings.FieldsFunc(what, func(r rune) bool { return strings.ContainsRune(" ,;:", r) }), func(word string) bool {
		return word == "port" || word == "ports"
	})
}
