package interactions

import (
	"context"
	"errors"
	"strconv"

	"muster/host/access"
	"muster/host/wire"
	"muster/internal/catalogue"
	"muster/internal/discord"
)

// do does what a person asks for by a command or a button.
func (h *Handler) do(ctx context.Context, in discord.Interaction) discord.Response {
	l := discord.Language(in.Locale)
	if in.Kind == discord.Press {
		verb, ref, err := discord.ParseButton(in.Button)
		if err != nil {
			return whisper(l.Words("discord.trouble"))
		}
		return h.press(ctx, l, in, verb, ref)
	}
	if in.Subcommand == discord.Open {
		return h.open(ctx, l, in)
	}
	ref, ok := h.book.of(in.Channel)
	if !ok {
		return whisper(l.Words("discord.none-here", "command", "/"+discord.CommandName+" "+discord.Open))
	}
	if in.Subcommand == discord.End {
		return h.close(ctx, l, in, ref)
	}
	ref.Language = discord.ShortOf(l.Tag())
	card, err := h.card(ctx, l, ref)
	if err != nil {
		return refused(l, err)
	}
	return discord.Post(card.Private())
}

// open opens a room.
func (h *Handler) open(ctx context.Context, l *catalogue.Language, in discord.Interaction) discord.Response {
	game, ok := h.meant(in.Options[discord.OptionGame])
	if !ok {
		return whisper(l.Words("discord.which"))
	}
	if h.guilds.isTooMuch(in.Guild) {
		return refused(l, wire.Refuse(wire.ReasonBusy, "refused.too-much").Advising("refused.try-soon-hint"))
	}
	settings := map[string]any{"game": game.ID}
	if n, err := strconv.Atoi(in.Options[discord.OptionPlayers]); err == nil {
		settings["players"] = n
	}
	if voice := in.Options[discord.OptionVoice]; voice != "" {
		settings["voice"] = voice
	}
	key, err := h.rooms.open(ctx, in.User, settings)
	if err != nil {
		return refused(l, err)
	}
	ref := discord.Ref{
		Language: discord.ShortOf(l.Tag()), Code: key.Code, Key: key.Link, Sealed: h.Seal(in.User, key.Code, key.Secret),
	}
	h.book.note(in.Channel, ref)
	card, err := h.card(ctx, l, ref)
	if err != nil {
		return refused(l, err)
	}
	h.watch(in, ref, card)
	return discord.Post(card)
}

// meant returns the game that a text means: the one that the person picked, or the nearest if that leaves no doubt.
func (h *Handler) meant(text string) (discord.Game, bool) {
	found := h.Search(text)
	if text == "" || len(found) == 0 {
		return discord.Game{}, false
	}
	for _, g := range found {
		if g.ID == text || g.Name == text {
			return g, true
		}
	}
	return found[0], len(found) == 1 && !found[0].IsOther
}

// press does what a button says.
func (h *Handler) press(
	ctx context.Context, l *catalogue.Language, in discord.Interaction, verb discord.Verb, ref discord.Ref,
) discord.Response {
	h.book.note(in.Channel, ref)
	switch verb {
	case discord.Close:
		return h.close(ctx, l, in, ref)
	case discord.Organise:
		secret, mine := h.Unseal(in.User, ref.Code, ref.Sealed)
		if !mine {
			return whisper(l.Words("discord.only-organiser"))
		}
		return discord.Post(discord.Steering(l, ref, h.rooms.link(access.Key{Code: ref.Code, Link: ref.Key, Secret: secret})))
	case discord.Start:
		secret, mine := h.Unseal(in.User, ref.Code, ref.Sealed)
		if !mine {
			return whisper(l.Words("discord.only-organiser"))
		}
		if err := h.rooms.order(ctx, in.User, ref, secret, "go"); err != nil {
			return refused(l, err)
		}
	}
	card, err := h.card(ctx, discord.Language(ref.Language), ref)
	if err != nil {
		return refused(l, err)
	}
	h.watch(in, ref, card)
	return discord.Update(card)
}

// close ends a room for its organiser.
func (h *Handler) close(ctx context.Context, l *catalogue.Language, in discord.Interaction, ref discord.Ref) discord.Response {
	secret, mine := h.Unseal(in.User, ref.Code, ref.Sealed)
	if !mine {
		return whisper(l.Words("discord.only-organiser"))
	}
	err := h.rooms.order(ctx, in.User, ref, secret, "end")
	if err != nil && !isOver(err) {
		return refused(l, err)
	}
	over := discord.OverCard(l).Private()
	if in.Kind == discord.Press { // in place of the button that ended it
		return discord.Update(over)
	}
	return discord.Post(over)
}

// card returns the card of a room as it is now.
func (h *Handler) card(ctx context.Context, l *catalogue.Language, ref discord.Ref) (discord.Message, error) {
	document, err := h.rooms.look(ctx, ref)
	if isOver(err) {
		return discord.OverCard(l), nil
	}
	if err != nil {
		return discord.Message{}, err
	}
	return discord.Card(l, ref, discord.Room{
		Document: document, GameName: h.Name(document.Game), Link: h.rooms.link(access.Key{Code: ref.Code, Link: ref.Key}),
		Go: h.rooms.page("go/" + access.PublicID(ref.Key)),
	}), nil
}

func whisper(text string) discord.Response { return discord.Post(discord.Whisper(text)) }

// refused tells a person what the host says.
func refused(l *catalogue.Language, err error) discord.Response {
	var refusal *wire.Refusal
	if !errors.As(err, &refusal) || refusal.Says.IsZero() {
		return whisper(l.Words("discord.trouble"))
	}
	text := l.Capital(l.Say(refusal.Says))
	if !refusal.Advises.IsZero() {
		text += " " + l.Capital(l.Say(refusal.Advises))
	}
	return whisper(discord.EscapeText(text))
}
