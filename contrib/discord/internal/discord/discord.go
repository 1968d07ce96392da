// Package discord reads what Discord sends to an application's endpoint, and writes the answers: cards of rooms with
// buttons, choices of games, and the description of the command.
//
//	request ─▶ Verifier ─▶ Parse ─▶ Interaction ─▶ (the program asks the host) ─▶ Card ─▶ Response
//
// The package keeps nothing about rooms. The buttons of a card carry all that a later press needs, see [Ref], so that
// cards outlive a restart, and work at each of several copies of the program.
package discord

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Kind is a type of interaction, as Discord numbers them.
type Kind int

// These are the types that an application without modals gets.
const (
	Ping Kind = iota + 1
	Command
	Press
	Complete
)

// Interaction is what a person did.
type Interaction struct {
	Kind        Kind
	Application string
	// Token lets the application edit its answer for 15 minutes. It is a secret, and no log has it.
	Token string
	// Guild is empty in direct messages. User is never empty, unless the interaction is a ping.
	Guild, Channel, User string
	// Locale is the person's language.
	Locale string
	// Subcommand and Options belong to a command. The option that the person types is Focused.
	Subcommand string
	Options    map[string]string
	Focused    string
	// Button is the pressed button's id.
	Button string
}

// CommandName is the name of the one command. The names of its subcommands and options follow.
const (
	CommandName = "muster"
	Open        = "open"
	Status      = "status"
	End         = "end"

	OptionGame    = "game"
	OptionPlayers = "players"
	OptionVoice   = "voice"
)

var errForeign = errors.New("discord: an interaction that this program did not ask for")

// request is an interaction in Discord's form. It has the fields that this program reads.
type request struct {
	Type          Kind   `json:"type"`
	ApplicationID string `json:"application_id"`
	Token         string `json:"token"`
	GuildID       string `json:"guild_id"`
	ChannelID     string `json:"channel_id"`
	Locale        string `json:"locale"`
	User          *user  `json:"user"`
	Member        struct {
		User *user `json:"user"`
	} `json:"member"`
	Data struct {
		Name     string   `json:"name"`
		Options  []option `json:"options"`
		CustomID string   `json:"custom_id"`
	} `json:"data"`
}

type user struct {
	ID string `json:"id"`
}

// option is a subcommand with options of its own, or an option with a value.
type option struct {
	Name    string          `json:"name"`
	Value   json.RawMessage `json:"value"`
	Focused bool            `json:"focused"`
	Options []option        `json:"options"`
}

// Parse reads the body of a verified request.
func Parse(body []byte) (Interaction, error) {
	var r request
	if err := json.Unmarshal(body, &r); err != nil {
		return Interaction{}, fmt.Errorf("discord: %w", err)
	}
	in := Interaction{
		Kind: r.Type, Application: r.ApplicationID, Token: r.Token, Guild: r.GuildID, Channel: r.ChannelID, Locale: r.Locale,
		Options: map[string]string{}, Button: r.Data.CustomID,
	}
	for _, u := range []*user{r.User, r.Member.User} {
		if u != nil {
			in.User = u.ID
		}
	}
	switch in.Kind {
	case Ping:
		return in, nil
	case Command, Complete:
		if r.Data.Name != CommandName || len(r.Data.Options) != 1 {
			return Interaction{}, errForeign
		}
		in.readOptions(r.Data.Options[0])
	case Press:
	default:
		return Interaction{}, errForeign
	}
	if !areIDs(in.Application, in.User, in.Channel) || in.Guild != "" && !areIDs(in.Guild) || !isToken(in.Token) {
		return Interaction{}, errors.New("discord: an interaction without its ids")
	}
	return in, nil
}

// readOptions reads a subcommand. Numbers become their digits.
func (in *Interaction) readOptions(sub option) {
	in.Subcommand = sub.Name
	for _, o := range sub.Options {
		var text string
		if json.Unmarshal(o.Value, &text) != nil {
			text = string(o.Value)
		}
		in.Options[o.Name] = text
		if o.Focused {
			in.Focused = o.Name
		}
	}
}

// areIDs reports whether all texts are Discord's numbers.
func areIDs(texts ...string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return !isMadeOf(text, 20, isDigit) })
}

// isToken reports whether a text can stand in a URL as a token.
func isToken(text string) bool {
	return isMadeOf(text, 1000, func(c byte) bool { return isAlphanumeric(rune(c)) || c == '-' || c == '_' || c == '.' || c == '=' })
}

func isMadeOf(text string, most int, of func(byte) bool) bool {
	for i := range len(text) {
		if !of(text[i]) {
			return false
		}
	}
	return text != "" && len(text) <= most
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
