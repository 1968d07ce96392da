package lobby

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

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
	to := keyIn(code)
	heard := len(found)
	found = leadingTo(found, to.Fingerprint)
	switch {
	case ctx.Err() != nil:
		return invite.Link{}, ctx.Err()
	case len(found) == 0 && heard > 0:
		return invite.Link{}, otherHost()
	case len(found) == 0:
		if err != nil {
			return invite.Link{}, pasting(hint.Brief(err))
		}
		return invite.Link{}, pasting(hint.Say("term.no-room-near"))
	}
	var list strings.Builder
	roomTable(c.Language, found).Write(term.Terminal{Writer: &list, Columns: c.Width()})
	c.Say("%s", strings.TrimSuffix(list.String(), "\n"))
	for i, f := range found {
		for _, line := range origin(f) {
			c.Say("%d  %s", i+1, c.Wrap(c.Language.Say(line), 3))
		}
	}
	room, err := pick(ctx, c, found)
	if err != nil {
		return invite.Link{}, err
	}
	at, err := ReachRoom(ctx, room)
	if err != nil {
		return invite.Link{}, err
	}
	return toward(ctx, c, room, at, code)
}

// leadingTo returns the rooms that lead to the host of a link with this fingerprint. Without one all do.
func leadingTo(found []lan.Found, fingerprint string) []lan.Found {
	if fingerprint == "" {
		return found
	}
	return slices.DeleteFunc(slices.Clone(found), func(f lan.Found) bool { return f.Fingerprint != fingerprint })
}

// otherHost returns the error for a link whose host nobody announces.
func otherHost() error {
	return hint.Say("term.other-host").Advising("term.other-host-hint", "command", "muster join LINK")
}

// ReachRoom returns the address at which the host of a room answers.
func ReachRoom(ctx context.Context, room lan.Found) (netip.AddrPort, error) {
	find := peer.Reach
	if room.Relayed { // nobody has shown that a way leads there from here
		find = peer.Knock
	}
	at, err := find(ctx, room.Addrs)
	if err == nil || ctx.Err() != nil {
		return at, err
	}
	var all []string
	for _, a := range room.Addrs {
		all = append(all, a.String())
	}
	if room.Relayed {
		return at, unrouted(strings.Join(all, " / "), err)
	}
	return at, Unreached(strings.Join(all, " / "), err)
}

// origin says who announces a room if its host does not, and what that means.
func origin(f lan.Found) (lines []sentence.Sentence) {
	if by := f.AnnouncedBy(); !by.IsZero() {
		lines = append(lines, by)
	}
	if f.IsUnknown() {
		lines = append(lines, sentence.Of("found.unknown", "room", called(f)))
	}
	return lines
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
	to, err := saidOf(LinkTo(f, at, ""), code)
	if err != nil {
		return to, err
	}
	if to.TLS && !access.IsFingerprint(to.Pin) {
		return to, pasting(hint.Say("term.no-fingerprint", "room", called(f)))
	}
	for to.Code == "" && !f.Open {
		answer, ok := c.Ask(ctx, c.Words("term.code")+" ")
		if !ok {
			return to, nobodyAnswers(ctx, f)
		}
		if to, err = saidOf(to, answer); err != nil {
			return to, err
		}
	}
	return to, nil
}

// saidOf is said for a room that somebody announces. It refuses a link to another host.
func saidOf(to invite.Link, answer string) (invite.Link, error) {
	if key := keyIn(answer); key.Fingerprint != "" && key.Fingerprint != to.Pin {
		return to, otherHost()
	}
	return said(to, answer), nil
}

// said adds the code that the player typed, or pasted as part of a link.
func said(to invite.Link, answer string) invite.Link {
	key := keyIn(answer)
	to.Code, to.Key = key.Code, key.Link
	return to
}

// keyIn returns the key that the player typed, or pasted as part of a link.
func keyIn(answer string) access.Key {
	key, _ := access.ParseKey(answer[strings.LastIndex(answer, "#")+1:]) // the code is in it in any case
	return key
}

// LookTime is how long to search the local network: Wi-Fi delays multicast, and phones sleep.
const LookTime = 3 * time.Second

// maxSought limits how many addresses are tried in turn, because anybody may announce rooms.
const maxSought = 16

// seek returns a function that searches the local network for a link's host, because routers assign
// new addresses. The peer checks whether it is really the host.
func seek(to invite.Link, log *slog.Logger) func(context.Context) []peer.Place {
	return func(ctx context.Context) (places []peer.Place) {
		if to.TLS && to.Pin == "" {
			return nil // only its name proves that it is the same host
		}
		looking, stop := context.WithTimeout(ctx, LookTime)
		defer stop()
		var found []lan.Found
		for found = range lan.Browse(looking, log) {
		}
		for _, f := range found {
			for _, at := range f.Addrs {
				if f.Fingerprint != to.Pin || len(places) == maxSought {
					continue
				}
				place := peer.Place{URL: LinkTo(f, at, to.Code).Endpoint()}
				if to.Pin != "" {
					place.TLS = peer.Pinned(to.Pin)
				}
				places = append(places, place)
			}
		}
		return places
	}
}

// LinkTo returns the link to a room that was found, at one of its addresses.
func LinkTo(f lan.Found, at netip.AddrPort, code string) invite.Link {
	return invite.Link{Host: at.String(), Code: code, Pin: f.Fingerprint, TLS: f.Fingerprint != ""}
}
