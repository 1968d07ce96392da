package main

import (
	"context"
	"errors"
	"strconv"
	"time"

	"muster-discord/internal/discord"
)

// do does what a person asks for by a command or a button.
func (h *handler) do(ctx context.Context, in discord.Interaction) discord.Response {
	l := discord.LanguageOf(in.Locale)
	switch {
	case in.Kind == discord.Complete:
		return h.complete(ctx, in.Options[in.Focused])
	case in.Kind == discord.Press:
		verb, ref, err := discord.ParseButton(in.Button)
		if err != nil {
			return whisper(l.Say("trouble"))
		}
		return h.press(ctx, l, in, verb, ref)
	case in.Subcommand == discord.Open:
		return h.open(ctx, l, in)
	}
	ref, ok := h.book.of(in.Channel)
	if !ok {
		return whisper(l.Say("none-here", "command", "/"+discord.CommandName+" "+discord.Open))
	}
	if in.Subcommand == discord.End {
		return h.close(ctx, l, in, ref)
	}
	ref.Language = discord.ShortOf(l.Tag)
	card, err := h.card(ctx, ref, "")
	if err != nil {
		return refused(l, err)
	}
	return discord.Post(card.Private())
}

// complete offers the games that a text may mean, none if the host does not answer.
func (h *handler) complete(ctx context.Context, text string) discord.Response {
	found, err := h.host.describe(ctx, text)
	if err != nil {
		h.log.Debug("no games are offered", "why", err)
	}
	return discord.Choose(found.Games)
}

// open opens a room.
func (h *handler) open(ctx context.Context, l *discord.Language, in discord.Interaction) discord.Response {
	text := in.Options[discord.OptionGame]
	found, err := h.host.describe(ctx, text)
	if err != nil {
		return refused(l, err)
	}
	game, ok := meant(text, found.Games)
	if !ok {
		return whisper(l.Say("which"))
	}
	if in.Guild != "" && h.guilds.isTooMuch(in.Guild, time.Now()) {
		return whisper(l.Say("trouble"))
	}
	settings := map[string]any{"game": game.ID}
	if n, err := strconv.Atoi(in.Options[discord.OptionPlayers]); err == nil {
		settings["players"] = n
	}
	if voice := in.Options[discord.OptionVoice]; voice != "" {
		settings["voice"] = voice
	}
	ref, secret, err := h.host.open(ctx, l, in.User, settings)
	if err != nil {
		return refused(l, err)
	}
	ref.Sealed = h.config.Seal(in.User, ref.Code, secret)
	h.book.note(in.Channel, ref)
	card, err := h.card(ctx, ref, secret)
	if err != nil {
		return refused(l, err)
	}
	h.watch(in, ref, secret, card)
	return discord.Post(card)
}

// meant returns the game that a text means: the one that the person picked, or the nearest if that leaves no doubt.
func meant(text string, found []discord.Game) (discord.Game, bool) {
	if text == "" || len(found) == 0 {
		return discord.Game{}, false
	}
	for _, g := range found {
		if g.ID == text || g.Name == text {
			return g, true
		}
	}
	return found[0], len(found) == 1 && !found[0].OtherNumber
}

// press carries out a button's action.
func (h *handler) press(
	ctx context.Context, l *discord.Language, in discord.Interaction, verb discord.Verb, ref discord.Ref,
) discord.Response {
	h.book.note(in.Channel, ref)
	if verb == discord.Close {
		return h.close(ctx, l, in, ref)
	}
	secret, mine := h.config.Unseal(in.User, ref.Code, ref.Sealed)
	if !mine && verb != discord.Refresh {
		return whisper(l.Say("only-organiser"))
	}
	switch verb {
	case discord.Organise:
		return discord.Post(discord.Steering(l, ref, h.host.link(ref, secret)))
	case discord.Start:
		if err := h.host.order(ctx, l, ref, secret, "go"); err != nil {
			return refused(l, err)
		}
	}
	card, err := h.card(ctx, ref, secret)
	if err != nil {
		return refused(l, err)
	}
	h.watch(in, ref, secret, card)
	return discord.Update(card)
}

// close ends a room for its organiser.
func (h *handler) close(ctx context.Context, l *discord.Language, in discord.Interaction, ref discord.Ref) discord.Response {
	secret, mine := h.config.Unseal(in.User, ref.Code, ref.Sealed)
	if !mine {
		return whisper(l.Say("only-organiser"))
	}
	err := h.host.order(ctx, l, ref, secret, "end")
	if err != nil && !isOver(err) {
		return refused(l, err)
	}
	over := discord.OverCard(l).Private()
	if in.Kind == discord.Press { // in place of the button that ended it
		return discord.Update(over)
	}
	return discord.Post(over)
}

// card returns the card of a room as it is now. secret is the organiser's, empty if it is unknown.
func (h *handler) card(ctx context.Context, ref discord.Ref, secret string) (discord.Message, error) {
	l := discord.LanguageOf(ref.Language)
	room, err := h.host.look(ctx, l, ref, secret)
	if isOver(err) {
		return discord.OverCard(l), nil
	}
	if err != nil {
		return discord.Message{}, err
	}
	return discord.Card(l, ref, room, h.host.link(ref, "")), nil
}

func whisper(text string) discord.Response { return discord.Post(discord.Whisper(text)) }

// maxSaid is how many letters of the host's sentences people are told: escaped there are at most twice as many, and
// Discord takes 2,000.
const maxSaid = 1000

// refused tells a person what the host says.
func refused(l *discord.Language, err error) discord.Response {
	var refusal *refusal
	if !errors.As(err, &refusal) || refusal.Message == "" {
		return whisper(l.Say("trouble"))
	}
	text := l.Sentence(refusal.Message)
	if refusal.Hint != "" {
		text += " " + l.Sentence(refusal.Hint)
	}
	return whisper(discord.Escape(discord.Cut(text, maxSaid)))
}
