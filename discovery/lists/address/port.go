package address

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// IsPortLine reports whether a line has only a port: "Port: 27015", which belongs to the
// address in the line beside it.
func IsPortLine(line string) bool {
	words := slices.DeleteFunc(scan(line), func(t token) bool { return t.isGap || isMark(t.text) })
	return len(words) == 2 && isPort(words[0].text) && isNumber(words[1].text)
}

// addPorts gives addresses the ports that stand beside them. If a number may be a port or something
// else, the line is unclear.
func (l *reader) addPorts(chosen []int) error {
	for _, i := range chosen {
		if l.tokens[i].Port != 0 || l.tokens[i].isLink && l.next(i) >= 0 && l.isCounted(l.next(i)) {
			continue
		}
		if err := l.addNext(i); err != nil {
			return err
		}
	}
	lone := slices.DeleteFunc(slices.Clone(chosen), func(i int) bool { return l.tokens[i].Port != 0 })
	labelled, others := l.labelled()
	switch {
	case len(lone) == 0:
		for _, at := range labelled {
			if port, _ := number(l.tokens[at].text); port != l.tokens[chosen[0]].Port && len(chosen) == 1 {
				return l.unclear(chosen[0], port)
			}
		}
		return nil
	case len(labelled) == 1 && len(chosen) == 1:
		l.tokens[lone[0]].Port, _ = number(l.tokens[labelled[0]].text)
		l.taken[labelled[0]] = true
		return nil
	case len(labelled) > 0 || len(others) > 0:
		port, _ := number(l.tokens[append(labelled, others...)[0]].text)
		return l.unclear(lone[0], port)
	}
	for i, t := range l.tokens {
		port, isPort := number(t.text)
		isYear := port >= firstYear && port <= lastYear
		if isPort && isNumber(t.text) && !t.isGap && !t.isOut && !t.isQuoted && !l.taken[i] && !l.isCounted(i) && port >= firstPort && !isYear {
			return l.unclear(lone[0], port)
		}
	}
	return nil
}

// addNext takes the number after an address as its port.
func (l *reader) addNext(i int) error {
	next := l.next(i)
	if next < 0 {
		return l.endsWell(i)
	}
	isNamed := strings.Contains(l.textBetween(i, next), ":") || strings.HasSuffix(l.tokens[i].text, ":") || strings.HasPrefix(l.tokens[next].text, ":")
	if at := l.next(next); isPort(l.tokens[next].text) && at >= 0 {
		next, isNamed = at, true
		if _, ok := number(l.tokens[at].text); isNumber(l.tokens[at].text) && !ok {
			return wrong(l.text, "%s", wantAddress)
		}
	}
	t := l.tokens[next]
	if t.isOut || !isNumber(t.text) || l.isCounted(next) {
		return nil
	}
	port, ok := number(t.text)
	after := l.next(next)
	isYear := port >= firstYear && port <= lastYear && after >= 0 && !isNumber(l.tokens[after].text) && strings.Trim(l.textBetween(i, next)+l.textBetween(next, after), " ") == ""
	isSmall := port < firstPort && (!isNamed || after >= 0 && !isPort(l.tokens[max(l.before(next), 0)].text))
	if !ok || isYear && !isNamed || isSmall {
		return l.unclear(i, port)
	}
	l.tokens[i].Port, l.taken[next] = port, true
	return nil
}

// endsWell refuses an address with a colon at the end of the line: its port is missing.
func (l *reader) endsWell(i int) error {
	if t := l.tokens[i]; !t.isLink && strings.HasSuffix(t.text, ":") {
		return wrong(l.field(t), "%s", wantAddress)
	}
	return nil
}

// isCounted reports whether a number counts something: 12/24, or 24 players.
func (l *reader) isCounted(i int) bool {
	if !isNumber(l.tokens[i].text) {
		return false
	}
	if before := l.before(i); before >= 0 && l.textBetween(before, i) == "/" && isNumber(l.tokens[before].text) {
		return true
	}
	next := l.next(i)
	if next < 0 {
		return false
	}
	word := bare(l.tokens[next].text)
	return slices.Contains(units, word) || strings.TrimSpace(l.textBetween(i, next)) == "/" && isNumber(word)
}

// labelled returns the numbers after the word port: the server's, and others such as a
// query port. An option's port beside an address with a port is the player's own.
func (l *reader) labelled() (servers, others []int) {
	for _, i := range l.words {
		of, is := portOfWhat(l.tokens[i].text)
		next := l.next(i)
		if !is || next < 0 || l.taken[next] || !isNumber(l.tokens[next].text) || strings.Trim(l.textBetween(i, next), " \t:=\"'(*`") != "" {
			continue
		}
		if before := l.before(i); of == "" && before >= 0 {
			of = bare(l.tokens[before].text)
		}
		switch {
		case slices.Contains(otherPorts, of):
			others = append(others, next)
		case !strings.ContainsAny(l.tokens[i].text[:1], "+-") || !slices.ContainsFunc(l.tokens, func(t token) bool { return t.rank == sure && t.Port != 0 }):
			servers = append(servers, next)
		}
	}
	return servers, others
}

// unclear says what to write in place of an address and a number.
func (l *reader) unclear(i int, port uint16) error {
	a := l.tokens[i].Address
	with := Address{a.Host, port}
	text := strings.TrimSpace(l.text)
	network := fmt.Sprintf("%s/%d", a.Host, port)
	_, noNetwork := netip.ParsePrefix(network)
	switch {
	case a.Port == 0 && noNetwork == nil && strings.Contains(text, network):
		return wrong(text, "one server: %s is a network, so write a line for each server in it", network)
	case port == 0:
		return wrong(text, "plain: write only %s, or %s:PORT", a, strings.TrimSuffix(a.String(), ":0"))
	case a.Port != 0:
		return wrong(text, "plain: write only %s or only %s", a, with)
	}
	return wrong(text, "plain: write %s if %d is its port, or else only %s", with, port, a)
}
