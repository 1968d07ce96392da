package master

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"muster/discovery"
	"muster/discovery/lists/address"
	"muster/discovery/lists/weblist"
)

// Steam is the list of a game's servers in Steam's Web API. It takes a key, which any
// Steam user gets for free.
type Steam struct {
	AppID uint32
	Key   SteamKey
	// Port is the servers' if the list has none.
	Port uint16
	// URL is the API's; empty is Steam's.
	URL string
}

// SteamKey is a user's key to Steam's Web API. It hides itself in all output.
type SteamKey string

const hidden = "***"

func (SteamKey) String() string               { return hidden }
func (SteamKey) GoString() string             { return hidden }
func (SteamKey) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// keyDigits is the length of a key, in hexadecimal digits.
const keyDigits = 32

// ParseSteamKey reads a key as its user pastes it.
func ParseSteamKey(text string) (SteamKey, error) {
	text = strings.ToUpper(strings.TrimSpace(text))
	if len(text) != keyDigits || strings.Trim(text, "0123456789ABCDEF") != "" {
		return "", fmt.Errorf("master: a key of Steam's Web API has %d digits from 0 to F, and this is none", keyDigits)
	}
	return SteamKey(text), nil
}

const (
	steamAPI = "https://api.steampowered.com/IGameServersService/GetServerList/v1/"
	// steamLimit is how many servers the API gives at once, at most.
	steamLimit = 10_000
	// An answer of steamFull or more servers counts as cut off.
	steamFull = steamLimit - steamLimit/100
	// steamAnswers are taken of one game: the API gives a key 200 in five minutes.
	steamAnswers = 40
	// steamPatience is for all of them: after that the answers so far are used.
	steamPatience = 50 * time.Second
)

// steamSplits divide a list that is too long for one answer into two: the servers that
// meet the filter and those that do not. The last split is by the map with most
// servers.
// (https://developer.valvesoftware.com/wiki/Master_Server_Query_Protocol#Filter)
var steamSplits = [...]string{`\noplayers\1`, `\secure\1`, `\linux\1`, `\white\1`}

// steamForm is the form of the API's answers
// (steammessages_gameservers.steamclient.proto, CGameServers_GetServerList_Response).
var steamForm = weblist.Form{
	Format: weblist.JSON, Rows: "response.servers", Address: "addr", GamePort: "gameport",
	Name: "name", Map: "map", Mode: "gametype", Players: "players", MaxPlayers: "max_players", Bots: "bots", Version: "version",
}

// CutShortError is a warning: a service has more servers than it gives.
type CutShortError struct {
	List    string
	Servers int
}

func (e *CutShortError) Error() string {
	return fmt.Sprintf("master: %s has more servers than it gives: taking %d", e.List, e.Servers)
}

// SteamKeyError reports that Steam rejects the key.
type SteamKeyError struct{}

func (*SteamKeyError) Error() string { return "Steam does not take the key" }

// Hint returns advice for the user.
func (*SteamKeyError) Hint() string {
	return "look it up at https://steamcommunity.com/dev/apikey, and give it to muster games --steam-key"
}

func (s Steam) name() string { return "Steam" }

func (s Steam) fetch(ctx context.Context, c Client) (Listing, error) {
	bounded, cancel := context.WithTimeout(ctx, steamPatience)
	defer cancel()
	asking := steamAsking{Steam: s, client: c, answers: steamAnswers}
	asking.URL = cmp.Or(asking.URL, steamAPI)
	err := asking.ask(bounded, fmt.Sprintf(`\appid\%d`, s.AppID), 0)
	var status *StatusError
	switch {
	case len(asking.rows) > 0 && err != nil:
		asking.warnings = append(asking.warnings, fmt.Errorf("master: %s: a part of its list is missing: %w", s.name(), err))
	case errors.As(err, &status) && (status.Code == http.StatusForbidden || status.Code == http.StatusUnauthorized):
		return Listing{}, &SteamKeyError{}
	case err != nil:
		return Listing{}, err
	}
	list := asking.list("")
	listing, err := c.place(ctx, list, asking.rows, asking.at)
	listing.Warnings = append(asking.warnings, listing.Warnings...)
	return listing, err
}

// steamAsking gets a list in several parts.
type steamAsking struct {
	Steam
	client   Client
	answers  int // that may still be requested
	rows     []weblist.Row
	at       time.Time // time of the oldest part
	warnings []error
}

// list returns one part of the list, as a list of its own.
func (a *steamAsking) list(filter string) WebList {
	query := url.Values{"filter": {filter}, "limit": {fmt.Sprint(steamLimit)}}
	return WebList{
		URLs: []string{a.URL + "?" + query.Encode()}, Secret: "&key=" + url.QueryEscape(string(a.Key)),
		Form: steamForm, Port: a.Port,
	}
}

// ask gets the servers that meet a filter, in two halves if they are too many.
func (a *steamAsking) ask(ctx context.Context, filter string, split int) error {
	a.answers--
	got, warnings, err := a.list(filter).get(ctx, a.client)
	if _, is := errors.AsType[*weblist.MissingError](err); is {
		return nil // Steam omits the list if it is empty
	}
	if err != nil {
		return err
	}
	if a.at.IsZero() || got.At.Before(a.at) {
		a.at = got.At
	}
	if got.Listed < steamFull {
		a.rows, a.warnings = append(a.rows, got.Rows...), append(a.warnings, warnings...)
		return nil
	}
	by := ""
	if split < len(steamSplits) {
		by = steamSplits[split]
	} else {
		by = commonMap(got.Rows)
	}
	if by == "" || a.answers < 2 || strings.Contains(filter, by) {
		a.rows = append(a.rows, got.Rows...)
		a.warnings = append(append(a.warnings, warnings...), &CutShortError{List: a.name(), Servers: got.Listed})
		return nil
	}
	err = a.ask(ctx, filter+by, split+1)
	if err == nil {
		err = a.ask(ctx, filter+`\nor\1`+by, split+1)
	}
	return err
}

// commonMap returns the filter for the map with most servers.
func commonMap(rows []weblist.Row) string {
	count := make(map[string]int)
	best := ""
	for _, row := range rows {
		m := row.Info.Map
		if m == "" || strings.ContainsAny(m, `\`) {
			continue
		}
		if count[m]++; count[m] > count[best] || count[m] == count[best] && m < best {
			best = m
		}
	}
	if best == "" || count[best] == len(rows) {
		return ""
	}
	return `\map\` + best
}

// SteamFiles are the servers that Steam remembers for the user of this machine:
// favourites and history.
type SteamFiles struct {
	Files []string
	AppID uint32
	// Port is the servers' if the list has none.
	Port uint16
}

// DamagedError says that a file of Steam's cannot be read whole.
type DamagedError struct {
	File string
	Err  error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("Steam's file %s is damaged: %v", e.File, e.Err)
}

// Unwrap returns what is wrong with the file.
func (e *DamagedError) Unwrap() error { return e.Err }

// Hint says what a user can do about it.
func (e *DamagedError) Hint() string {
	return "let Steam write it anew (View, Game Servers: add a favourite, then quit Steam), or take a saved list with --servers FILE"
}

func (s SteamFiles) name() string { return "Steam's favourites and history" }

// fetch reads the files. An error in one of several is a warning.
func (s SteamFiles) fetch(ctx context.Context, c Client) (Listing, error) {
	var rows []weblist.Row
	var warnings []error
	seen := make(map[string]bool)
	for _, file := range s.Files {
		known, err := readRemembered(file)
		if err != nil {
			warnings = append(warnings, err)
		}
		for _, server := range known {
			at, err := address.One(server.Address)
			if err != nil || server.AppID != 0 && server.AppID != s.AppID || seen[server.Address] {
				continue
			}
			seen[server.Address] = true
			rows = append(rows, weblist.Row{Address: at.String(), Info: discovery.Info{Name: server.Name}})
		}
	}
	// The user's own choice may be on the user's own network.
	listing, err := c.place(ctx, WebList{URLs: []string{"http://localhost"}, Label: s.name(), Port: s.Port}, rows, time.Now())
	if errors.Is(err, ErrEmpty) && len(warnings) > 0 {
		return listing, warnings[0]
	}
	listing.Warnings = append(warnings, listing.Warnings...)
	return listing, err
}

// readRemembered returns what a file remembers, up to its damage.
func readRemembered(file string) (known []weblist.Remembered, err error) {
	f, err := os.Open(file)
	if err == nil {
		defer f.Close()
		known, err = weblist.ReadRemembered(f)
	}
	if path, is := errors.AsType[*os.PathError](err); is {
		err = path.Err
	}
	if err != nil {
		return known, &DamagedError{File: file, Err: err}
	}
	return known, nil
}

// IsWorthAsking reports whether the files hold a server of the game, or one of them is
// damaged and may have held it.
func (s SteamFiles) IsWorthAsking() bool {
	for _, file := range s.Files {
		known, err := readRemembered(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return true
		}
		for _, server := range known {
			if _, err := address.One(server.Address); err == nil && (server.AppID == 0 || server.AppID == s.AppID) {
				return true
			}
		}
	}
	return false
}
