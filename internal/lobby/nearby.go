package lobby

import (
	"context"
	"log/slog"
	"net/netip"
	"strconv"
	"strings"

	"muster/discovery/lists/lan"
	"muster/discovery/sentence"
	"muster/host/access"
	"muster/internal/catalogue"
	"muster/internal/hint"
	"muster/internal/invite"
	"muster/internal/term"
	"muster/peer"
)

// pasting returns an error with the hint to paste the organiser's line.
func pasting(says *hint.Said) error {
	return says.Advising("term.paste-hint", "command", "muster host", "line", "muster join http://…/#CODE")
}

// FindRoom finds a room on the local network, and asks the player to confirm it. code is the room's
// code, if the player gave it.
func FindRoom(ctx context.Context, c *term.Console, code string, log *slog.Logger) (invite.Link, error) {
	c.Tell("term.looking")
	looking, stop := context.WithTimeout(ctx, LookTime)
	defer stop()
	var found []lan.Found
	var err error // why nothing may have been found
	for found, err = range lan.Browse(looking, log) {
	}
	switch {
	case ctx.Err() != nil:
		return invite.Link{}, ctx.Err()
	case len(found) == 0:
		if err != nil {
			return invite.Link{}, pasting(hint.Say("term.cannot-look", "why", err))
		}
		return invite.Link{}, pasting(hint.Say("term.no-room-near"))
	}
	var list strings.Builder
	roomTable(c.Language, found).Write(term.Terminal{Writer: &list, Columns: c.Width()})
	c.Say("%s", strings.TrimSuffix(list.String(), "\n"))
	room, err := pick(ctx, c, found)
	if err != nil {
		return invite.Link{}, err
	}
	at, err := peer.Reach(ctx, room.Addrs)
	if err != nil {
		var all []string
		for _, a := range room.Addrs {
			all = append(all, a.String())
		}
		return invite.Link{}, Unreached(strings.Join(all, " / "), err)
	}
	return toward(ctx, c, room, at, code)
}

// roomTable numbers the rooms in a table. Package lan has already cleaned what strangers announce.
func roomTable(l *catalogue.Language, found []lan.Found) *term.Table {
	t := &term.Table{Columns: []term.Column{term.Right(""), term.Left(l.Words("term.column-room")), term.Left(l.Words("term.column-game")),
		term.Right(l.Words("term.column-players")), term.Left(l.Words("term.column-organiser")), term.Left("")}}
	for i, f := range found {
		players, remark := strconv.Itoa(f.Players), ""
		if f.Seats > 0 {
			players = l.Words("term.n-of", "n", f.Players, "all", f.Seats)
		}
		if f.Open {
			remark = l.Words("term.room-open")
		}
		t.Add(i+1, l.Say(called(f)), f.Game, players, f.Organiser, remark)
	}
	return t
}

// called returns a name for a room; anybody may announce one without a name.
func called(f lan.Found) sentence.Sentence {
	if f.Name == "" {
		return sentence.Of("term.no-name")
	}
	return sentence.Plain(f.Name)
}

// pick asks which room the player wants, or whether the only one is right.
func pick(ctx context.Context, c *term.Console, found []lan.Found) (lan.Found, error) {
	question := c.Words("term.join-it", "room", called(found[0]))
	if len(found) > 1 {
		question = c.Words("term.join-which", "last", len(found))
	}
	for {
		answer, ok := c.Ask(ctx, question+" ")
		switch {
		case !ok:
			return lan.Found{}, nobodyAnswers(ctx, found[0])
		case len(found) == 1 && c.Yes(answer):
			return found[0], nil
		case len(found) == 1:
			return lan.Found{}, hint.Say("term.not-joined")
		}
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(found) {
			return found[n-1], nil
		}
	}
}

// nobodyAnswers returns the error for scripts, with the flag that replaces the answer.
func nobodyAnswers(ctx context.Context, f lan.Found) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return hint.Say("term.nobody-answers").
		Advising("term.nobody-answers-hint", "command", "muster join "+LinkTo(f, f.Addrs[0], "CODE").String())
}

// toward returns the link to a room that was found. The announcement omits the code: players have
// it from the organiser.
func toward(ctx context.Context, c *term.Console, f lan.Found, at netip.AddrPort, code string) (invite.Link, error) {
	to := said(LinkTo(f, at, ""), code)
	if to.TLS && !access.IsFingerprint(to.Pin) {
		return to, pasting(hint.Say("term.no-fingerprint", "room", called(f)))
	}
	for to.Code == "" && !f.Open {
		answer, ok := c.Ask(ctx, c.Words("term.code")+" ")
		if !ok {
			return to, nobodyAnswers(ctx, f)
		}
		to = said(to, answer)
	}
	return to, nil
}

// said adds the code that the player typed, or pasted as part of a link.
func said(to invite.Link, answer string) invite.Link {
	key, _ := access.ParseKey(answer) // the code is in it in any case
	to.Code, to.Key = key.Code, key.Link
	return to
}
