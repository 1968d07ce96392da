package openapi

import (
	_ "embed"
	"reflect"
	"strings"
)

// componentNames are the components that are called otherwise than their Go type.
var componentNames = map[string]string{
	"rules.Name":             "Rule",
	"anomaly.Sign":           "Sign",
	"selection.Decision":     "DecidedBy",
	"wire.OpenGame":          "Game",
	"wire.Document":          "Room",
	"wire.History":           "Evenings",
	"wire.Session":           "Evening",
	"wire.Stay":              "EveningStay",
	"wire.Seat":              "EveningPlayer",
	"matchfile.get5":         "Get5Match",
	"matchfile.matchZy":      "MatchZyMatch",
	"matchfile.team":         "PluginTeam",
	"matchfile.spectators":   "PluginSpectators",
	"matchfile.tmt2":         "TMT2Match",
	"matchfile.tmt2Team":     "TMT2Team",
	"matchfile.tmt2Map":      "TMT2Map",
	"matchfile.tmt2Side":     "TMT2Side",
	"matchfile.tmt2Step":     "TMT2Step",
	"matchfile.tmt2Server":   "TMT2Server",
	"matchfile.tmt2Commands": "TMT2Commands",
}

// componentName returns what the document calls a type.
func componentName(t reflect.Type) string {
	if name, is := componentNames[goName(t)]; is {
		return name
	}
	return t.Name()
}

// provisional are the fields of stable answers that may change with any release. They tell how Muster searches
// and explains, so they follow its methods.
var provisional = []string{
	"Room.search", "Room.sites", "Room.look", "Selection.why", "Selection.doubts", "Selection.keep", "Selection.preference",
}

//go:embed words.txt
var wordsText string

// words are hand-written descriptions of components and fields. Their comments tell too little, or tell
// it to readers of the code. A line of words.txt has the name, a tab and the words. A * stands for any
// component or field.
var words = func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(wordsText) {
		name, said, _ := strings.Cut(strings.TrimSpace(line), "\t")
		all[name] = said
	}
	return all
}()
