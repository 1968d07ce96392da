package operator

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"muster/host/operating"
	"muster/internal/term"
)

// ShowRooms shows the rooms as a table.
func ShowRooms(to term.Terminal, found operating.Listing, now time.Time) {
	table := term.Table{
		Columns: []term.Column{
			term.Whole("room"), term.Left("host"), term.Left("game"), term.Left("phase"), term.Right("for"), term.Right("open for"),
			term.Right("people"), term.Right("programs"), term.Right("pages"), term.Left(""),
		},
		Spare: []string{"pages", "open for", "host"},
	}
	for _, r := range found.Rooms {
		people := strconv.Itoa(r.People)
		if r.Wanted > 0 {
			people += "/" + strconv.Itoa(r.Wanted)
		}
		table.Add(r.ID, cmp.Or(r.Host, term.None), r.Game, phase(r), age(now.Sub(r.Since)), age(now.Sub(r.Opened)), people, r.Programs, r.Pages,
			marks(r))
	}
	if len(found.Rooms) > 0 {
		table.Write(to)
	}
	fmt.Fprintln(to, term.Count(len(found.Rooms), "room")+silent(found.Silent))
}

// silent names the hosts that did not answer.
func silent(hosts []string) string {
	if len(hosts) == 0 {
		return ""
	}
	return "; no answer from " + strings.Join(hosts, ", ") + ", so theirs are missing"
}

func phase(r operating.Room) string {
	if r.Asleep {
		return "asleep"
	}
	return string(r.Phase)
}

func marks(r operating.Room) string {
	var all []string
	if r.Stays {
		all = append(all, "stays")
	}
	if r.Held {
		all = append(all, "waits for its store")
	}
	return strings.Join(all, ", ")
}

// age returns a duration in its largest unit.
func age(d time.Duration) string {
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "min"}} {
		if d >= unit.of {
			return fmt.Sprintf("%d %s", d/unit.of, unit.name)
		}
	}
	return fmt.Sprintf("%d s", max(0, d)/time.Second)
}

// ShowRoom shows why a room is where it is.
func ShowRoom(to term.Terminal, e operating.Explained, now time.Time) {
	r := e.Room
	fmt.Fprintf(to, "%s  %s", to.Bold(r.ID), r.Game)
	if r.Host != "" {
		fmt.Fprintf(to, " on %s", r.Host)
	}
	fmt.Fprintf(to, ", %s for %s, open for %s", phase(r), age(now.Sub(r.Since)), age(now.Sub(r.Opened)))
	if r.Round > 0 {
		fmt.Fprintf(to, ", round %d", r.Round)
	}
	fmt.Fprintln(to)
	for _, wait := range e.Waits {
		fmt.Fprintf(to, "waits for %s\n", wait)
	}
	if len(e.People) > 0 {
		fmt.Fprintln(to)
	}
	for _, p := range e.People {
		fmt.Fprintf(to, "  player %-3d %s\n", p.Number, strings.Join(states(p), ", "))
	}
	if len(e.Log) > 0 {
		fmt.Fprintln(to)
	}
	for _, l := range e.Log {
		fmt.Fprintf(to, "  %s  %s\n", l.At.UTC().Format("Jan _2 15:04:05"), l.Says)
	}
}

// states says how a person is.
func states(p operating.Person) (all []string) {
	for _, state := range []struct {
		is   bool
		name string
	}{
		{p.Organiser, "organiser"}, {p.Program == "here", "program here"}, {p.Program == "away", "program away"},
		{p.Program == "", "no program"}, {p.Page, "page open"},
		{p.Probed > 0, fmt.Sprintf("%d servers asked, %d answered", p.Probed, p.Answered)}, {p.LeftOut, "left out"},
		{p.Doubted, "measurements doubted"}, {p.Ready, "ready"}, {p.Launch != "", "game " + string(p.Launch)},
	} {
		if state.is {
			all = append(all, state.name)
		}
	}
	return all
}

// ShowLimits shows the networks that ran into limits.
func ShowLimits(to term.Terminal, found operating.Limits, now time.Time) {
	table := term.Table{Columns: []term.Column{
		term.Whole("network"), term.Left("limit").AtLeast(14), term.Right("times"), term.Right("first before"), term.Right("last before"),
	}}
	for _, r := range found.Networks {
		table.Add(r.Network.String(), string(r.Limit), r.Times, age(now.Sub(r.First)), age(now.Sub(r.Last)))
	}
	if len(found.Networks) > 0 {
		table.Write(to)
		fmt.Fprintln(to, "of the last hour"+silent(found.Silent))
		return
	}
	fmt.Fprintln(to, "No network has run into a limit within the last hour"+silent(found.Silent)+".")
}
