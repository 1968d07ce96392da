// Package recipe has, for each game, what its own server needs: the image, the variables, the ports, the memory, and
// what goes wrong. A host serves a recipe; the page makes of it, and of what a person types there, the texts that the
// person copies, so that no password leaves the browser.
//
//	recipes.toml ─▶ Of, All ─▶ GET /recipe/{game} ─▶ web/static/recipe.js ─▶ user data, compose, docker, LinuxGSM
//
// The table is edited by hand. Nothing in it was run: it tells what the sources say.
package recipe

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

// Format is the name of a recipe's JSON document.
const Format = "muster.recipe/1"

// Grade says how much of the work a text can do.
type Grade string

// These are the grades.
const (
	ByForm  Grade = "A" // a form and its texts are enough
	ByHand  Grade = "B" // the texts leave work by hand
	InWords Grade = "C" // nobody keeps an image: words alone
)

// Recipe is how a game's own server is started. As JSON it is the document that pages load.
type Recipe struct {
	Format string `toml:"-" json:"format"` // [Format]
	// Game is the game's id. Some games are in no other table of Muster.
	Game  string `toml:"-" json:"game"`
	Name  string `toml:"name" json:"name"`
	Grade Grade  `toml:"grade" json:"grade"`

	// Image is what Docker pulls, From the repository that makes it, and Seen the date of the newest commit there
	// that anybody saw, or a part of that date. State is empty for an image with commits within the last year.
	Image string `toml:"image" json:"image,omitempty"`
	From  string `toml:"from" json:"from,omitempty"`
	Seen  string `toml:"seen" json:"seen,omitempty"`
	State string `toml:"state" json:"state,omitempty"`
	// IsWine says that the server is a Windows program.
	IsWine bool `toml:"wine" json:"wine,omitempty"`
	// RunsOnARM says that the image runs on arm64, besides amd64.
	RunsOnARM bool `toml:"arm64" json:"arm64,omitempty"`

	// Licence is what a person must accept before.
	Licence *Licence `toml:"licence" json:"licence,omitempty"`
	// Env has constants as NAME=VALUE. Ask has variables for what a person says, and Made has those for secrets that
	// nobody needs to choose.
	Env  []string   `toml:"env" json:"env,omitempty"`
	Ask  []Variable `toml:"ask" json:"ask,omitempty"`
	Made []Variable `toml:"made" json:"made,omitempty"`
	// PasswordMin is the least length of a join password, and Avoid has characters that no value may have.
	PasswordMin int    `toml:"password_min" json:"password_min,omitempty"`
	Avoid       string `toml:"avoid" json:"avoid,omitempty"`

	// Command has the arguments behind the image, with {ROLE} for an answer or a secret; Flags has Docker's flags.
	Command []string `toml:"command" json:"command,omitempty"`
	Flags   []string `toml:"flags" json:"flags,omitempty"`
	// OnHostNet says that the container uses the machine's network, so that Docker publishes no ports.
	OnHostNet bool `toml:"host_net" json:"host_net,omitempty"`
	// OpenPorts must be open to play, QueryPorts for lists and pings; AdminPorts never. They are as 2456/udp.
	OpenPorts  []string `toml:"game" json:"open,omitempty"`
	QueryPorts []string `toml:"query" json:"query,omitempty"`
	AdminPorts []string `toml:"admin" json:"admin,omitempty"`
	// Volumes are paths in the container whose contents must stay.
	Volumes []string `toml:"volumes" json:"volumes,omitempty"`
	// LinuxGSM is the short name of the game there.
	LinuxGSM string `toml:"linuxgsm" json:"linuxgsm,omitempty"`

	// These are documented figures in GB, or 0.
	LeastMemory float64 `toml:"mem_min_gb" json:"mem_min_gb,omitempty"`
	GoodMemory  float64 `toml:"mem_rec_gb" json:"mem_rec_gb,omitempty"`
	Disk        float64 `toml:"disk_gb" json:"disk_gb,omitempty"`

	// Hand names the kinds of work by hand, Edit the files to edit with their keys, and Need in words what else it takes.
	Hand []string `toml:"hand" json:"hand,omitempty"`
	Edit []string `toml:"edit" json:"edit,omitempty"`
	Need []string `toml:"need" json:"need,omitempty"`
	// Join says how people get in, the usual way first: address, list, invite or console.
	Join []string `toml:"join" json:"join,omitempty"`
	// Relay is "yes" if people play over a relay and no port has to be open, and "option" if they can.
	Relay string `toml:"relay" json:"relay,omitempty"`
	// IsSilent says that the server answers nobody's ping.
	IsSilent bool `toml:"silent" json:"silent,omitempty"`
	// Mind has what goes wrong, in words.
	Mind []string `toml:"mind" json:"mind,omitempty"`
}

// Licence is a licence of the game's maker.
type Licence struct {
	Env string `toml:"env" json:"env"` // NAME=VALUE, which says that it is accepted
	Who string `toml:"who" json:"who"`
	URL string `toml:"url" json:"url,omitempty"`
}

// Variable is an environment variable for what plays a role: name, password, players, token, …
type Variable struct {
	Role string `json:"role"`
	Env  string `json:"env"`
}

// UnmarshalText reads ROLE=VARIABLE.
func (v *Variable) UnmarshalText(text []byte) error {
	role, env, found := strings.Cut(string(text), "=")
	if !found {
		return fmt.Errorf("recipe: %q is not ROLE=VARIABLE", text)
	}
	*v = Variable{role, env}
	return nil
}

//go:embed recipes.toml
var table []byte

// recipes are the recipes by game.
var recipes = sync.OnceValue(func() map[string]Recipe {
	read := map[string]Recipe{}
	if err := toml.NewDecoder(bytes.NewReader(table)).DisallowUnknownFields().Decode(&read); err != nil {
		panic(fmt.Sprintf("recipe: %v", err)) // the table is embedded above, and a test reads it
	}
	for id, r := range read {
		r.Format, r.Game = Format, id
		read[id] = r
	}
	return read
})

// Of returns a game's recipe.
func Of(game string) (Recipe, bool) {
	r, found := recipes()[game]
	return r, found
}

// All returns the recipes, ordered by game. They must not be changed.
func All() []Recipe {
	return slices.SortedFunc(maps.Values(recipes()), func(a, b Recipe) int { return strings.Compare(a.Game, b.Game) })
}
