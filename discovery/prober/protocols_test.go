package prober

import (
	"fmt"
	"strings"

	"muster/discovery"
)

// marked is a protocol like Quake 3's: the reply returns our nonce.
//
//	ask NONCE  ->  info NONCE NAME
type marked struct{}

func (marked) AppendQuery(b []byte, nonce discovery.Nonce, _ []byte) []byte {
	return fmt.Appendf(b, "ask %016x", uint64(nonce))
}

func (marked) Parse(datagrams [][]byte) (discovery.Reply, error) {
	var nonce uint64
	info := &discovery.Info{}
	if _, err := fmt.Sscanf(string(datagrams[0]), "info %x %s", &nonce, &info.Name); err != nil {
		return discovery.Reply{}, fmt.Errorf("marked: %w", discovery.ErrMalformed)
	}
	return discovery.Reply{Nonce: discovery.Nonce(nonce), Echoed: true, Info: info}, nil
}

// markedReply returns the answer of a server of the marked protocol.
func markedReply(query string) string {
	return "info " + strings.TrimPrefix(query, "ask ") + " arena"
}

// plain is a protocol like A2S: no nonce, maybe a challenge, maybe parts.
//
//	ask|CHALLENGE  ->  challenge|CHALLENGE, info|NAME, or part|1 and part|2
type plain struct{}

func (plain) AppendQuery(b []byte, _ discovery.Nonce, challenge []byte) []byte {
	return append(append(b, "ask|"...), challenge...)
}

func (plain) Parse(datagrams [][]byte) (discovery.Reply, error) {
	kind, rest, _ := strings.Cut(string(datagrams[0]), "|")
	switch {
	case kind == "challenge":
		return discovery.Reply{Challenge: []byte(rest)}, nil
	case kind == "info" && len(datagrams) == 1:
		return discovery.Reply{Info: &discovery.Info{Name: rest}}, nil
	case kind == "part":
		return parseParts(datagrams)
	}
	return discovery.Reply{}, fmt.Errorf("plain: %w", discovery.ErrMalformed)
}

func parseParts(datagrams [][]byte) (discovery.Reply, error) {
	numbers := map[string]bool{}
	for _, d := range datagrams {
		number, isPart := strings.CutPrefix(string(d), "part|")
		if !isPart {
			return discovery.Reply{}, fmt.Errorf("plain: %w", discovery.ErrMalformed)
		}
		numbers[number] = true
	}
	if len(numbers) < 2 {
		return discovery.Reply{Incomplete: true}, nil
	}
	return discovery.Reply{Info: &discovery.Info{Name: "whole"}}, nil
}
