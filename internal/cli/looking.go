package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"muster/discovery/lan"
	"muster/host/access"
)

// lookTime is how long the local network is looked over: Wi-Fi keeps multicast
// back, and phones sleep.
const lookTime = 3 * time.Second

// look finds a room on the local network, and asks whether that is the one.
func (j *join) look(ctx context.Context, c *asking) (invitation, error) {
	c.say("looking for rooms on the local network …")
	found, err := findRooms(ctx, j.program)
	switch {
	case ctx.Err() != nil:
		return invitation{}, ctx.Err()
	case len(found) == 0 && err != nil:
		return invitation{}, hinted(err, pasteHint)
	case len(found) == 0:
		return invitation{}, hinted(errors.New("no room is announced on the local network"), pasteHint)
	}
	var list strings.Builder
	listRooms(&list, found, width(c.w))
	c.say("%s", strings.TrimSuffix(list.String(), "\n"))
	room, err := j.pick(ctx, c, found)
	if err != nil {
		return invitation{}, err
	}
	at, err := reach(ctx, room.Addrs, knock)
	if err != nil {
		return invitation{}, err
	}
	return j.toward(ctx, c, room, at)
}

const pasteHint = "paste the line that muster host printed: muster join http://…/#CODE"

// findRooms is what is announced within lookTime. The error says why nothing
// may have been heard.
func findRooms(ctx context.Context, p *program) (found []lan.Found, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	for rooms, failed := range lan.Browse(ctx, p.logger()) {
		found, err = rooms, failed
	}
	return found, err
}

// listRooms shows rooms, numbered; what strangers announce was cleaned by lan.
func listRooms(w io.Writer, found []lan.Found, width int) {
	t := table{columns: []column{{"", right}, {"ROOM", left}, {"GAME", left}, {"PLAYERS", right}, {"ORGANISER", left}, {"", left}}}
	for i, f := range found {
		t.add(fmt.Sprint(i+1), called(f), f.Game, seats(f.Room), f.Organiser, remark(f.Room))
	}
	t.write(w, width)
}

// called is what to call a room: anybody may announce one without a name.
func called(f lan.Found) string { return cmp.Or(f.Name, "(no name)") }

func seats(r lan.Room) string {
	if r.Seats == 0 {
		return fmt.Sprint(r.Players)
	}
	return fmt.Sprintf("%d of %d", r.Players, r.Seats)
}

func remark(r lan.Room) string {
	if r.Open {
		return "open"
	}
	return ""
}

// asking puts questions before there is a console: what was typed, or piped in,
// ahead of a question is its answer.
type asking struct {
	*screen
	in *bufio.Reader
}

// ask puts a question. ok is false if nobody can answer.
func (a *asking) ask(ctx context.Context, question string) (answer string, ok bool) {
	a.screen.ask(question)
	read := make(chan string, 1)
	go func() { // a read of standard input cannot be called back
		defer close(read)
		if line, err := a.in.ReadString('\n'); err == nil || line != "" {
			read <- strings.TrimSpace(line)
		}
	}()
	select {
	case answer, ok = <-read:
	case <-ctx.Done():
	}
	if ok && isTerminal(a.w) {
		a.answered()
	} else {
		a.unask()
	}
	return answer, ok
}

// pick asks which room, or whether the only one.
func (j *join) pick(ctx context.Context, c *asking, found []lan.Found) (lan.Found, error) {
	question := fmt.Sprintf("join %s? [Y/n] ", called(found[0]))
	if len(found) > 1 {
		question = fmt.Sprintf("which one? [1-%d] ", len(found))
	}
	for {
		answer, ok := c.ask(ctx, question)
		switch {
		case !ok:
			return lan.Found{}, nobodyAnswers(ctx, found[0])
		case len(found) == 1 && yes(answer):
			return found[0], nil
		case len(found) == 1:
			return lan.Found{}, errDeclined
		}
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(found) {
			return found[n-1], nil
		}
	}
}

var errDeclined = errors.New("no room was joined")

// nobodyAnswers is for scripts: what to say instead of answering.
func nobodyAnswers(ctx context.Context, f lan.Found) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return hinted(errors.New("nobody can answer: standard input has ended"),
		"name the room and its code: muster join "+invitation{host: f.Addrs[0].String(), code: "CODE", pin: f.Fingerprint, tls: f.Fingerprint != ""}.link())
}

// toward is the way into a room that was found, at one of its addresses. The code
// was not announced: who has it was told by the organiser.
func (j *join) toward(ctx context.Context, c *asking, f lan.Found, at netip.AddrPort) (invitation, error) {
	to := invitation{host: at.String(), code: access.CanonicalCode(j.code), tls: f.Fingerprint != ""}
	if to.tls && !access.IsFingerprint(f.Fingerprint) {
		return to, hinted(fmt.Errorf("%s announces a fingerprint that is none", called(f)), pasteHint)
	}
	to.pin = f.Fingerprint
	for to.code == "" && !f.Open {
		answer, ok := c.ask(ctx, "the room's code: ")
		if !ok {
			return to, nobodyAnswers(ctx, f)
		}
		to.code = access.CanonicalCode(answer)
	}
	return to, nil
}
