package game

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"muster/internal/hint"
	"muster/internal/term"
	"muster/selection"
)

// entry is a game as programs read it.
type entry struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Aliases are other names that people use.
	Aliases  []string `json:"aliases,omitempty"`
	Protocol string   `json:"protocol"`
	Port     uint16   `json:"port"`
	// Lists are the kinds of its lists, empty if only people know its servers.
	Lists   []string `json:"lists"`
	Masters []string `json:"masters"`
	// URLs are the lists' addresses on the web.
	URLs []string `json:"urls,omitempty"`
	// Unsure says what could not be verified. Silent says why its servers answer nobody, and what to do instead.
	Unsure []string `json:"unsure"`
	// Sources say where its ports come from, and JoinSources its way of joining, with dates.
	Sources     []string       `json:"sources,omitempty"`
	JoinSources []string       `json:"join_sources,omitempty"`
	Silent      string         `json:"silent,omitempty"`
	AppID       uint32         `json:"app_id,omitempty"`
	By          selection.Rule `json:"by"`
	// Launch is empty if players start the game and type the address.
	Launch []string `json:"launch"`
	// Type says where in the game players type the address, and what.
	Type *typing `json:"type,omitempty"`
	// Regions are what players choose in place of a server.
	Regions []regionEntry `json:"regions,omitempty"`
}

// typing is [Typing] as programs read it.
type typing struct {
	Where string   `json:"where"`
	Text  []string `json:"text"`
}

// regionEntry is a region as programs read it. Measure is empty if the game measures its regions
// itself.
type regionEntry struct {
	Name    string `json:"name"`
	Set     string `json:"set"`
	Country string `json:"country,omitempty"`
	Measure string `json:"measure,omitempty"`
}

func (g Game) regions() (entries []regionEntry) {
	for _, r := range g.Regions.List {
		entries = append(entries, regionEntry{Name: r.Name, Set: cmp.Or(r.Set, r.Name), Country: r.Country, Measure: r.Measure})
	}
	return entries
}

// Document returns games as programs read them.
func Document(games []Game) any {
	document := struct {
		Format string  `json:"format"`
		Games  []entry `json:"games"`
	}{Format: "muster.games/1"}
	for _, g := range games {
		document.Games = append(document.Games, entry{
			ID: g.ID, Name: g.Name, Aliases: g.Aliases, Protocol: g.ProtocolName, Port: g.Port, Lists: g.Kinds(),
			Masters: append([]string{}, g.Masters...),
			URLs:    g.URLs(), Unsure: append([]string{}, g.Unsure...), Sources: g.References, JoinSources: g.JoinReferences, Silent: g.whySilent(),
			AppID: g.AppID, By: g.Rule, Launch: append([]string{}, g.Template(runtime.GOOS)...), Type: (*typing)(g.Type), Regions: g.regions(),
		})
	}
	return document
}

// Describe writes everything known about a game, one fact a line.
func (g Game) Describe(w io.Writer) {
	lists := slices.Concat([]string{cmp.Or(strings.Join(g.Kinds(), ", "), "by hand")}, g.Masters, g.URLs())
	var app []string
	if g.AppID != 0 {
		app = []string{fmt.Sprint(g.AppID)}
	}
	var typed []string
	if g.Type != nil {
		for _, text := range g.Type.Text {
			typed = append(typed, hint.Say(g.Type.key(), "text", text).Error())
		}
	}
	starts := cmp.Or(Show(g.Template(runtime.GOOS)), "by hand: Muster shows the address")
	var measured, listed []string
	if !g.Regions.IsZero() {
		starts = g.howToEnglish("…")
		measured = []string{"by a TCP handshake"}
		for _, r := range g.regions() {
			listed = append(listed, strings.TrimSuffix(fmt.Sprintf("%s: %s, %s", r.Name, r.Set, r.Measure), ", "))
		}
	}
	if g.Regions.IsPasted() {
		measured = []string{fmt.Sprintf("by the game: enter %s in its console, and say --regions FILE", g.Regions.Command)}
	}
	for _, fact := range [...]struct {
		what  string
		lines []string
	}{
		{"id", []string{g.ID}},
		{"name", []string{g.Name}},
		{"called", []string{strings.Join(g.Aliases, ", ")}},
		{"protocol", []string{g.ProtocolName}},
		{"port", []string{fmt.Sprint(g.Port)}},
		{"on Steam", app},
		{"lists", lists},
		{"starts", []string{starts}},
		{"by hand", typed},
		{"measured", measured},
		{"regions", listed},
		{"silent", []string{g.whySilent()}},
		{"unsure", g.Unsure},
		{"sources", g.References},
		{"joining", g.JoinReferences},
	} {
		for _, line := range fact.lines {
			if line != "" {
				fmt.Fprintf(w, "%-9s %s\n", fact.what, line)
				fact.what = ""
			}
		}
	}
}

// Overview shows games in a table.
func Overview(games []Game) *term.Table {
	t := &term.Table{Columns: []term.Column{term.Whole("ID"), term.Left("NAME"), term.Left("PROTOCOL"),
		term.Right("PORT"), term.Left("LIST"), term.Left("UNSURE")},
		Spare: []string{"PORT", "PROTOCOL", "UNSURE", "LIST"}}
	for _, g := range games {
		t.Add(g.ID, g.Name, g.ProtocolName, g.Port, cmp.Or(strings.Join(g.Kinds(), ", "), "by hand"), unsureOf(g))
	}
	return t
}

// unsureOf returns the table's warning about a game.
func unsureOf(g Game) string {
	unsure := strings.Join(g.Unsure, "; ")
	if g.Silent != "" {
		return "its servers do not answer; " + unsure
	}
	return unsure
}
